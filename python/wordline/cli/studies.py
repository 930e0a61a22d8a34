"""`wordline study`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wordline import interruption, output_folder, units
from wordline.cli.command import command
from wordline.cli.exit import DONE, FAILED, NOTHING_WRITTEN, fault
from wordline.cli.options import ON, PROGRESS, Options, flag, value
from wordline.cli.streams import shows_progress

if TYPE_CHECKING:
    from wordline.study.runs import Runs

STUDY: Options = {
    "--out": value(
        "DIR",
        "Folder for the results; a previous study there is replaced. [default: out/study-NAME]",
        of="path",
    ),
    "--traces": value(
        "DIR",
        "Folder with recorded traces that the study may use besides the bundled one.",
        of=click.Path(path_type=Path, exists=True, file_okay=False),
    ),
    "--quick": flag("Fewer requests: a preview, not a result."),
    **ON,
    **PROGRESS,
    "--full": flag("As many requests as in the publication, for a study that takes fewer."),
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
    """Reproduce the figures of a publication and compare; without NAME, list the studies.

    Each figure is shown with the published numbers, ours, the difference, and what the document
    claims of it. Standard error says twice a minute how far it is. Each run is made once, and a
    study that was stopped goes on where it was. The folder receives {files}. Exit code: 0 every
    claim is as asserted, 1 one is not.

    \b
    Examples:
      wordline study
      wordline study nand
      wordline study nand --traces ~/traces --out results/nand
    """
    from wordline import study as studies
    from wordline.study import results, terminal
    from wordline.study.runs import Runs

    if name is None:
        _require_name({"--out": out, "--traces": traces, "--quick": quick, "--full": full})
        terminal.print_studies(studies.STUDIES)
        return DONE
    chosen = studies.load(name)
    if full and (quick or not chosen.shortened):
        raise click.UsageError(
            "--full and --quick: leave one of them out"
            if quick
            else f"--full: the study '{name}' has no more requests; leave it out",
            click.get_current_context(),
        )
    place = output_folder.check(out or Path("out") / f"study-{name}", "study")
    recorded = sorted(traces.iterdir()) if traces else ()
    line = shows_progress(progress)
    shown = terminal.Shown(line=line, lines=progress is None and not line)
    runs = Runs(str(Path(place) / "points.jsonl"), on=on, jobs=jobs, heard=shown.runs)
    setup = studies.Setup(quick, recorded, full=full, runs=runs)
    try:
        with shown, runs:
            result = results.run(chosen, setup, shown.figure)
    except KeyboardInterrupt:
        return fault(_interrupted(runs, place), interruption.exit_code())
    terminal.print_end(result, result.write(Path(place)))
    for figure, claim in result.failed:
        fault(f"{figure.title}: {claim.text}: {claim.detail}", FAILED)
    return FAILED if result.failed else DONE


def _interrupted(runs: Runs, place: str) -> str:
    if runs.unwritten:
        return f"interrupted; {runs.unwritten}"
    if not runs.kept:
        return NOTHING_WRITTEN
    kept = units.many(runs.kept, "point")
    return f"interrupted; {place} keeps {kept}, and the same command goes on from there"


def _require_name(options: dict[str, object]) -> None:
    """Refuses the options given, which mean nothing to a list of studies."""
    given = [option for option, value in options.items() if value]
    if given:
        raise click.UsageError(
            f"{' and '.join(given)} without NAME; name a study, as in `wordline study nand`",
            click.get_current_context(),
        )
