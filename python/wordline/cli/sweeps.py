"""`wordline sweep`, `search` and `compare`."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordline._api import options
from wordline._api.options import STRICT
from wordline._internal import interruption, output_folder, small_file
from wordline._internal.arguments import toml_value
from wordline._render import units
from wordline._wordline import WordlineError
from wordline.cli.command import command, device_argument
from wordline.cli.exit import DONE, FAILED, fault, interrupted
from wordline.cli.many_traces import ManyTraces
from wordline.cli.streams import note, shows_progress

if TYPE_CHECKING:
    from wordline._sweep import Sweep
    from wordline._sweep.plan import Plan

MANY_POINTS = 10_000
"""Number of points from which their check takes a second or more, so that the command announces
it."""


@command(options.SWEEP, writes="sweep", name="sweep", cls=ManyTraces)
@device_argument(metavar="PLAN.toml|DEVICE")
def sweep_command(
    device: str,
    out: Path | None,
    jobs: int | None,
    on: str | None,
    progress: bool | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Run all combinations of varied keys.

    Points run on all cores of this machine, or on a cluster.

    Every point is checked before the first one runs. Points run in parallel processes, as many as
    cores and memory allow. A point that fails reports why; the others continue. Ctrl-C
    keeps the completed points; the same command then continues with the rest.

    \b
    Examples:
      wordline sweep plan.toml
      wordline sweep d4 --trace a.csv b.csv --vary ftl.gc.victim=greedy,fifo
          --seeds 10
      wordline sweep d4 --trace a.csv
          --vary ftl.over_provisioning_ratio=0.07:0.28:0.07
      wordline sweep plan.toml --on dask://head:8786
      wordline sweep report out/sweep-plan

    The folder contains {files}. Exit code: 0 done, 1 a point failed, 2 invalid command or plan, 130
    Ctrl-C, 143 SIGTERM.
    """
    from wordline._sweep import SweepInterrupted, plan, sweep

    chosen = _plan(device, given)
    count = plan.most(chosen)
    if count > MANY_POINTS:
        note(f"{units.many(count, 'point')}; all are checked before the first one runs")
    place = output_folder.check(out or Path("out", f"sweep-{_name(device)}"), "sweep")
    try:
        done = sweep(chosen, on=on, jobs=jobs, out=place, progress=shows_progress(progress))
    except SweepInterrupted as early:
        if not len(early.sweep):
            return interrupted()
        _show(early.sweep, place, as_json=as_json)
        return fault(
            f"interrupted after {units.many(len(early.sweep), 'point')}; repeat the command to "
            "continue",
            interruption.exit_code(),
        )
    _show(done, place, as_json=as_json)
    if done.failed:
        points = units.many(len(done), "point")
        return fault(f"{units.whole(done.failed)} of {points} failed: {_faults(done)}", FAILED)
    return DONE


def _plan(device: str, given: dict[str, Any]) -> Plan:
    """Builds the plan from the arguments."""
    from wordline._sweep import plan

    changed = _changed(given)
    if device.endswith(".toml") and _is_plan(device):
        if names := _on_command_line(given):
            told = ", ".join(names)
            raise WordlineError(f"{device}: is a plan; set {told} in it, or name a device instead")
        return plan.read(device)
    table: dict[str, Any] = {"device": device, "seeds": _seeds(given["seeds"])}
    if given["trace"]:
        table["trace"] = list(given["trace"])
    table["set"] = {key: toml_value(value) for key, value in given["overrides"]}
    table["vary"] = {key: _values(key, text) for key, text in given["vary"]}
    table["zip"] = [dict(_zipped(text)) for text in given["zip"]]
    table["when"] = list(given["when"])
    table["options"] = {key: changed[key] for key in plan.OPTIONS if key in changed}
    return plan.of_table(table)


def _on_command_line(given: dict[str, Any]) -> list[str]:
    """Returns the flags of the options that were given on the command line."""
    context = click.get_current_context()
    source = click.core.ParameterSource.COMMANDLINE
    return [
        max(one.opts, key=len)
        for one in context.command.params
        if one.name in given and context.get_parameter_source(str(one.name)) is source
    ]


def _is_plan(path: str) -> bool:
    try:
        return "device" in tomllib.loads(small_file.text(path))
    except (OSError, ValueError, WordlineError):
        return False


def _values(key: str, text: str) -> object:
    """Returns the values of --vary, from a comma-separated list or a range."""
    if ":" in text and "," not in text:
        from wordline._sweep.plan import span

        return span(key, text)
    return [toml_value(word) for word in _split(text)]


def _split(text: str) -> list[str]:
    """Splits at commas outside brackets, braces and quotes."""
    words, depth, quoted = [""], 0, ""
    for letter in text:
        if quoted:
            quoted = "" if letter == quoted else quoted
        elif letter in "\"'":
            quoted = letter
        depth += (letter in "[{") - (letter in "]}")
        if letter == "," and not depth and not quoted:
            words.append("")
        else:
            words[-1] += letter
    return [word.strip() for word in words]


def _zipped(text: str) -> list[tuple[str, list[Any]]]:
    try:
        return [
            (key, [toml_value(one) for one in _split(value)])
            for key, value in options.pairs(text.split())
        ]
    except ValueError as fault:
        raise WordlineError(f"--zip: {fault}") from None


def _seeds(text: str) -> int | list[int]:
    try:
        listed = [int(word) for word in text.split(",")]
    except ValueError:
        raise WordlineError(
            f"--seeds {text}: not a whole number or a list of them; give the number of seeds, or a "
            "list such as 1,2,3"
        ) from None
    return listed if len(listed) > 1 else listed[0]


def _name(device: str) -> str:
    return Path(device).name.removesuffix(".toml")


def _faults(done: Sweep) -> str:
    faults = done.table()["error"].drop_nulls().unique(maintain_order=True).to_list()
    more = f"; and {units.many(len(faults) - 1, 'other reason')}" if len(faults) > 1 else ""
    return f"{faults[0]}{more}"


def _show(done: Sweep, place: str, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(done.table().to_dicts()))
        return
    from wordline._render.terminal.sweep import print_sweep

    print_sweep(done, place)


@command(options.REPORT, name="sweep-report")
@click.argument("folder", metavar="DIR")
def sweep_report(folder: str, out: Path | None) -> None:
    """Rebuild the HTML report of a sweep.

    It shows all combinations, the effect of each key, and the Pareto front.

    \b
    Example:
      wordline sweep report out/sweep-plan
    """
    from wordline._sweep import Sweep

    path = Sweep.of(folder).report(out or Path(folder, "report.html"))
    click.echo(f"wrote {path}")


@command(options.SEARCH, writes="search", name="search")
@device_argument()
def search_command(
    device: str,
    trace: str | None,
    vary: list[tuple[str, str]],
    rungs: str | None,
    overrides: list[tuple[str, str]],
    out: Path | None,
    as_json: bool,
    progress: bool | None,
    **given: Any,
) -> int:
    """Search for the best configuration.

    The best configuration minimises or maximises one or two metrics of DEVICE, within bounds.

    \b
    Examples:
      wordline search demo --trace disk.csv.gz --trials 60
          --minimise latency.write.p99_us
          --subject-to "flash.write_amplification < 2"
          --vary ftl.gc.victim=greedy,fifo
          --vary ftl.over_provisioning_ratio=0.1:0.4
      wordline search demo --trace disk.csv.gz
          --minimise latency.write.p99_us --minimise ftl.over_provisioning_ratio
          --vary ftl.over_provisioning_ratio=0.1:0.4

    The folder contains {files}. Exit code: 0 done, 1 no trial meets the bounds, 2 invalid command,
    130 Ctrl-C, 143 SIGTERM.
    """
    from wordline._search import SearchInterrupted, search
    from wordline._sweep.plan import OPTIONS

    place = output_folder.check(out or Path("out", f"search-{_name(device)}"), "search")
    chosen = {key: given.pop(key) for key in tuple(given) if key not in OPTIONS}
    try:
        found = search(
            device,
            trace,
            vary={key: _choices(text) for key, text in vary},
            overrides={key: toml_value(text) for key, text in overrides},
            rungs=_numbers(rungs),
            out=place,
            progress=shows_progress(progress),
            **chosen,
            **_changed(given),
        )
        code = DONE if found.best() else FAILED
    except SearchInterrupted as early:
        found, code = early.search, interruption.exit_code()
    if as_json:
        print(json.dumps(found.table().to_dicts()))
    else:
        from wordline._render.terminal.search import print_search

        print_search(found, place)
    if code not in (DONE, FAILED):
        return fault("interrupted; repeat the command to continue", code)
    return code


@command(options.COMPARE, name="compare")
@click.argument("results", metavar="DIR DIR...", nargs=-1, required=True)
def compare_command(results: tuple[str, ...], out: Path | None, as_json: bool) -> None:
    """Compare results and test the differences.

    Each DIR holds the results of `wordline run` or `wordline sweep`; changes are relative to the
    first. Runs of a sweep that differ only in their seed are repetitions: compare sweeps over
    several seeds to measure noise.

    \b
    Examples:
      wordline compare out/greedy out/fifo
      wordline compare out/sweep-greedy out/sweep-fifo --out compare.html
    """
    from wordline._sweep.compared import compare

    found = compare(*results)
    if as_json:
        print(json.dumps(found.table().to_dicts()))
    else:
        from wordline._render.terminal.comparison import print_comparison

        print_comparison(found)
    if out:
        click.echo(f"wrote {found.report(out)}")


def _changed(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the options whose value differs from the default."""
    return {
        key: value
        for key, value in given.items()
        if value not in (None, "keep", "error", (), [], {}) and STRICT.get(key) != value
    }


def _choices(text: str) -> Any:
    """Returns a range unchanged, or the values of a comma-separated list."""
    return text if ":" in text and "," not in text else [toml_value(word) for word in _split(text)]


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(word) for word in text.split(",")] if text else []
    except ValueError:
        raise WordlineError(
            f"--rungs {text}: not a list of request counts; give whole numbers, such as 5000,20000"
        ) from None
