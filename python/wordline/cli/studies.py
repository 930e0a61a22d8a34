"""`wordline study`."""

from pathlib import Path

import click

from wordline import output_folder
from wordline.cli.command import command
from wordline.cli.exit import DONE, FAILED, fault
from wordline.cli.options import ON, Options, flag, value

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
    heard = terminal.Progress().heard
    runs = Runs(str(Path(place) / "points.jsonl"), on=on, jobs=jobs, heard=heard)
    recorded = sorted(traces.iterdir()) if traces else ()
    setup = studies.Setup(quick, recorded, full=full, runs=runs)
    result = results.run(chosen, setup, terminal.print_figure)
    terminal.print_end(result, result.write(Path(place)))
    for figure, claim in result.failed:
        fault(f"{figure.title}: {claim.text}: {claim.detail}", FAILED)
    return FAILED if result.failed else DONE


def _require_name(options: dict[str, object]) -> None:
    """Refuses the options given, which mean nothing to a list of studies."""
    given = [option for option, value in options.items() if value]
    if given:
        raise click.UsageError(
            f"{' and '.join(given)} without NAME; name a study, as in `wordline study nand`",
            click.get_current_context(),
        )
