"""Command `wordline study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wordline import WordlineError
from wordline._api.options import ON, PROGRESS, Options, flag, value
from wordline._internal import interruption, output_folder, written
from wordline._internal.claim import claimed
from wordline._render import units
from wordline.cli.command import command
from wordline.cli.exit import DONE, FAILED, fault
from wordline.cli.streams import is_quiet, shows_progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from wordline_studies.figure import Setup, Study
    from wordline_studies.results import Results
    from wordline_studies.runs import Runs
    from wordline_studies.terminal import Shown

ALL = "all"

STUDY: Options = {
    "--out": value(
        "DIR",
        "Folder for the results; replaces an earlier study in it. [default: out/study-NAME]",
        of="path",
    ),
    "--traces": value(
        "DIR",
        "Folder with recorded traces for the study to use in addition to the bundled trace.",
        of=click.Path(path_type=Path, exists=True, file_okay=False),
    ),
    "--quick": flag("Simulate fewer requests: a preview, not a result."),
    **ON,
    **PROGRESS,
    "--full": flag(
        "Simulate at, or closer to, the published scale. Only for studies that scale down by "
        "default."
    ),
}


@command(STUDY, writes="study")
@click.argument("name", required=False)
def study(
    name: str | None,
    out: Path | None,
    traces: Path | None,
    quick: bool,
    full: bool,
    jobs: int | None,
    on: str | None,
    progress: bool | None,
) -> int:
    """Reproduce the figures of a publication.

    Without NAME, list the studies.

    Prints each figure: published and simulated values, their differences, and claims. Progress goes
    to standard error, as a line every 30 s if it is not a terminal. A run that several figures use
    is simulated once. To continue an interrupted study, start the same command again. The folder
    contains {files}. Exit code: 0 if every claim has the expected outcome, 1 if one does not.

    `all` runs every study, each in a folder of DIR [default: out], and writes an overview of all
    studies to the folder `studies` there (index.html, studies.json).

    \b
    Examples:
      wordline study
      wordline study nand
      wordline study nand --traces ~/traces --out results/nand
      wordline study all --quick
    """
    import wordline_studies as studies
    from wordline_studies import figure, terminal
    from wordline_studies.runs import Runs

    if name is None:
        _require_name({"--out": out, "--traces": traces, "--quick": quick, "--full": full})
        terminal.print_studies(studies.STUDIES)
        return DONE
    every = name == ALL
    chosen = [studies.load(one) for one in (studies.STUDIES if every else (name,))]
    _require_more(name, chosen, quick=quick, full=full)
    places = {
        one.name: output_folder.check(
            (out or Path("out")) / f"study-{one.name}" if every or not out else out, "study"
        )
        for one in chosen
    }
    place = (
        output_folder.check((out or Path("out")) / "studies", "study all")
        if every
        else places[name]
    )
    recorded = sorted(traces.iterdir()) if traces else ()
    line = shows_progress(progress)
    shown = terminal.Shown(line=line, lines=progress is None and not line and not is_quiet())
    with claimed(place):
        runs = Runs(str(Path(place) / "points.jsonl"), on=on, jobs=jobs, heard=shown.runs)
        setups = {
            one.name: figure.Setup(quick, recorded, full=full and one.shortened, runs=runs)
            for one in chosen
        }
        try:
            with shown, runs:
                if not every:
                    return _one(chosen[0], setups[name], place, shown)
                return _all(chosen, setups, places, place, shown)
        except KeyboardInterrupt:
            return fault(_interrupted(runs, place), interruption.exit_code())


def _one(study: Study, setup: Setup, place: str, shown: Shown) -> int:
    from wordline_studies import results, terminal

    result = results.run(study, setup, shown.figure)
    terminal.print_end(result, result.write(Path(place)))
    return _verdict([result])


def _all(
    studies: Sequence[Study],
    setups: Mapping[str, Setup],
    places: Mapping[str, str],
    place: str,
    shown: Shown,
) -> int:
    """Runs the studies one after the other. If one cannot be run, the others still are."""
    from wordline_studies import results, terminal
    from wordline_studies.overview import Overview

    done: list[Results] = []
    faults: dict[str, str] = {}
    for study in studies:
        shown.study(study)
        try:
            result = results.run(study, setups[study.name], shown.figure)
            terminal.print_end(result, result.write(Path(places[study.name])))
        except WordlineError as broken:
            faults[study.name] = str(broken)
        else:
            done.append(result)
    overview = Overview(done, faults)
    links = {one.study.name: f"../study-{one.study.name}/index.html" for one in done}
    terminal.print_overview(overview, overview.write(Path(place), links))
    for name, text in faults.items():
        fault(f"{name}: {text}", FAILED)
    return FAILED if faults else _verdict(done)


def _verdict(done: Sequence[Results]) -> int:
    failed = [one for result in done for one in result.failed]
    for figure, claim in failed:
        fault(f"{figure.title}: {claim.text}: {claim.detail}", FAILED)
    return FAILED if failed else DONE


def _require_more(name: str, chosen: Sequence[Study], *, quick: bool, full: bool) -> None:
    """Raises a usage error if --full is given with --quick, or for a study that is not scaled down
    by default."""
    if full and (quick or not any(one.shortened for one in chosen)):
        raise click.UsageError(
            "--full and --quick exclude each other; leave one out"
            if quick
            else f"--full: the study '{name}' is not scaled down by default; leave the option out",
            click.get_current_context(),
        )


def _interrupted(runs: Runs, place: str) -> str:
    if runs.unwritten:
        return f"interrupted; {runs.unwritten}"
    if not runs.kept:
        return f"interrupted; {written.sentence()}"
    kept = units.many(runs.kept, "point")
    return (
        f"interrupted; {place} keeps the results of {kept}; start the same command again to "
        "continue"
    )


def _require_name(options: dict[str, object]) -> None:
    """Raises a usage error for options without a study name. They have no effect on the list of
    studies."""
    given = [option for option, value in options.items() if value]
    if given:
        raise click.UsageError(
            f"{' and '.join(given)} without NAME; name a study, as in `wordline study nand`",
            click.get_current_context(),
        )
