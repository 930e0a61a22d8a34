"""Commands that convert the results of a run: `wordline fio-logs` and `wordline report`."""

from pathlib import Path

import click

from wordline._api.options import QUIET, REPORT, Options, value
from wordline._internal import output_folder
from wordline.cli.command import command

FIO_LOGS: Options = {
    "--log-avg-msec": value(
        "MS",
        "Milliseconds per line of a log; 0 for one line per request.",
        0,
        of=click.IntRange(min=0),
    ),
    **QUIET,
}


@command(FIO_LOGS, name="fio-logs")
@click.argument("results", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("prefix", metavar="PREFIX")
def fio_logs(results: Path, prefix: str, log_avg_msec: int) -> None:
    """Convert results to fio log files.

    fio-plot and similar tools read them.

    The run must have used --requests. For each stream N, counted from 1, the command writes
    PREFIX_lat.N.log, and a log each for _slat (until the device accepts the request), _clat (from
    then to completion), _bw and _iops.

    \b
    Examples:
      wordline fio-logs out/d4-job logs/d4
      wordline fio-logs --log-avg-msec 100 out/d4-job logs/d4
    """
    from wordline._importers.fio import logs

    for file in logs.write(results, prefix, log_avg_msec):
        click.echo(f"wrote {file}")


@command(REPORT)
@click.argument("results", metavar="DIR", type=click.Path(path_type=Path))
def report(results: Path, out: Path | None) -> None:
    """Rebuild the HTML report of a run.

    \b
    Example:
      wordline report out/d4-disk
    """
    from wordline._render.report import from_folder

    page = from_folder(results)
    target = output_folder.write_file(
        out or results / "report.html", lambda part: output_folder.write_text(part, page)
    )
    click.echo(f"wrote {target}")
