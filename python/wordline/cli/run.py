"""`wordline run`."""

from __future__ import annotations

import os

from wordline._internal import interruption
from wordline._internal.claim import claimed
from wordline._wordline import WordlineError
from wordline.cli.exit import DONE, FAILED, fault
from wordline.cli.streams import is_quiet, note, shows_progress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from wordline._api.result import Result


def simulate(
    device: str | None,
    trace: Sequence[str] = (),
    streams: Mapping[str, Sequence[str]] | None = None,
    out: str | os.PathLike[str] | None = None,
    no_report: bool = False,
    as_json: bool = False,
    progress: bool | None = None,
    requests: bool = False,
    timeline: str | None = None,
    fio: str | None = None,
    fio_section: str | None = None,
    prepared: str | None = None,
    **options: Any,
) -> int:
    """Implements `wordline run`. Parameters have the names that click gives the options. `options`
    are those of `wordline.run`."""
    from wordline._api import simulation
    from wordline._api.timeline import require_outside
    from wordline._internal import limits, output_folder

    if not no_report and (reason := limits.short_of_tables(limits.RUN_BYTES)):
        raise WordlineError(f"{reason}, or leave the report out with --no-report")
    if fio or fio_section:
        options["overrides"] = _with_jobs(device or "", options.get("overrides"), fio, fio_section)
        load = [*trace, fio or ""]
    else:
        load = list(trace)
    default = _default_out(device or os.fspath(prepared or ""), load, streams or {})
    place = output_folder.check(out or output_folder.unused(default), "run")
    require_outside(timeline, place)
    if options.get("checkpoint_every"):
        # Checkpoints are written into the folder of the run, so its name must be final here.
        out, options["checkpoint"] = place, os.path.join(place, "checkpoint.wls")
    options |= {
        "streams": streams,
        "progress": shows_progress(progress),
        "requests": requests,
        "timeline": timeline,
        "prepared": prepared,
    }
    # Without --out, the results go to an unused folder, which needs no claim.
    with claimed(None if out is None else place):
        return ended(
            lambda: simulation.run(device, list(trace), **options),
            out or default,
            numbered=out is None,
            no_report=no_report,
            as_json=as_json,
            timeline=timeline,
        )


def go_on(
    folder: str,
    checkpoint_every: str | None = None,
    no_report: bool = False,
    as_json: bool = False,
    progress: bool | None = None,
) -> int:
    """Implements `wordline resume`. Parameters have the names that click gives the options."""
    from wordline._api import simulation, state
    from wordline._internal import output_folder

    place = output_folder.check(folder, "run")
    job = state.resumable(place, checkpoint_every)
    with claimed(place):
        return ended(
            lambda: simulation.finished(job, shows_progress(progress), None),
            place,
            no_report=no_report,
            as_json=as_json,
        )


def ended(
    run: Callable[[], Result],
    out: str | os.PathLike[str],
    *,
    numbered: bool = False,
    no_report: bool,
    as_json: bool,
    timeline: str | None = None,
) -> int:
    """Runs a simulation, writes its results and prints them; returns the exit code."""
    from wordline._api import simulation

    # The results are on disk before a signal can end the command. The report follows, because
    # drawing it takes as long as a short run.
    with interruption.undisturbed([]):
        try:
            result = run()
            code, reason = DONE, ""
        except simulation.RunError as early:
            result, code, reason = early.result, FAILED, str(early)
        except simulation.Interrupted as early:
            result, code, reason = early.result, interruption.exit_code(), "interrupted"
        try:
            files = simulation.write(result, out, numbered=numbered)
        except WordlineError as lost:
            _show(result, [], as_json=as_json)
            return fault(str(lost), FAILED)
    place = os.path.dirname(files[0])
    try:
        files += [] if no_report else [simulation.draw(result, place)]
    except WordlineError as lost:
        _show(result, files, as_json=as_json)
        return fault(str(lost), FAILED)
    _show(result, files, as_json=as_json)
    if timeline and os.path.exists(timeline) and not as_json:
        print(f"Timeline: {timeline}; open it at https://ui.perfetto.dev")
    if reason:
        resumable = any(file.endswith("checkpoint.wls") for file in files)
        go_on = f"; `wordline resume {place}` continues the run" if resumable else ""
        fault(f"{reason}; the results up to that point are in {place}{go_on}", code)
    return code


def _with_jobs(
    device: str, overrides: Sequence[tuple[str, str]] | None, file: str | None, section: str | None
) -> list[tuple[str, str]]:
    """Adds the streams of a job file to the overrides."""
    if file is None:
        raise WordlineError("--fio-section: no job file; name it with --fio")
    from wordline._importers.fio import load
    from wordline.config import settings

    jobs = load(file, device, overrides, section)
    for text in jobs.notes:
        note(f"note: {text}")
    return [*settings(overrides), *settings({"streams": jobs.streams})]


def _default_out(device: str, trace: Sequence[str], streams: Iterable[str]) -> str:
    if trace:
        work = "stdin" if trace[0] == "-" else _name(trace[0]).split(".")[0]
    else:
        work = "-".join(streams)[:100] or "generated"
    name = _name(device).removesuffix(".toml").removesuffix(".wls")
    return os.path.join("out", f"{name}-{work}")


def _name(path: str) -> str:
    """Returns the last component of a path."""
    return os.path.basename(path.rstrip(os.sep))


def _show(result: Result, files: list[str], *, as_json: bool) -> None:
    if as_json:
        from wordline._api.result import summary_text

        print(summary_text(result), flush=True)
        return
    if is_quiet():
        return
    from pathlib import Path

    # Some imports turn KeyboardInterrupt into another exception.
    with interruption.undisturbed():
        from wordline._render.terminal.run import print_summary

    print_summary(result.summary, [Path(file) for file in files])
