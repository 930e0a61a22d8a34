"""`wordline trace`: statistics, conversion, formats."""

import json
from typing import Any, cast

import click

import wordline
from wordline._api.options import AS_RECORDED, JSON, QUIET, Options, reader, value
from wordline._render.units import many
from wordline.cli.command import command, group
from wordline.cli.streams import note

STAT: Options = {
    **reader(AS_RECORDED),
    "--idle-threshold-s": value("S", "Idle periods above this many seconds count as long.", 1.0),
    **{
        f"--page-{op}-us": value(
            "US",
            f"Time to {op} a 4 KiB page, in microseconds, which is not idle time.",
            0.0,
        )
        for op in ("read", "program")
    },
    **JSON,
}
CONVERT: Options = {
    "--to": value("NAME", "Format to write.", required=True),
    **reader(AS_RECORDED),
    **QUIET,
}


@group()
def trace() -> None:
    """Inspect and convert block traces.

    \b
    Examples:
      wordline trace stat disk.csv.gz
      wordline trace convert disk.csv.gz disk.spc --to spc
      wordline trace formats
    """


@command(STAT, of=trace)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
def stat(files: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Print statistics of a trace.

    Requests, sizes, footprint, sequential share and idle periods.

    Several files count as one trace, one after the other.

    \b
    Examples:
      wordline trace stat disk.csv.gz
      wordline trace stat --on-bad-line skip --json disk.csv.gz
      wordline trace stat mine.txt
          --columns time=1:us,offset=4:sectors,bytes=5,op=3
      wordline trace stat disk.csv.gz
          --page-read-us 183.2 --page-program-us 860.36
    """
    answer = wordline.trace_stat(files, **options)
    if as_json:
        click.echo(json.dumps(answer, indent=2))
        return
    from wordline._render.terminal.traces import print_stat

    print_stat(cast("dict[str, Any]", answer))


@command(CONVERT, of=trace)
@click.argument("files", nargs=-1, required=True, metavar="IN... OUT")
def convert(files: tuple[str, ...], to: str, **options: Any) -> None:
    """Convert a trace to another format.

    With - as OUT, the trace is written to standard output and messages to standard error.

    \b
    Examples:
      wordline trace convert disk.csv.gz disk.spc --to spc
      wordline trace convert monday.csv tuesday.csv both.csv --to msr
      wordline trace convert disk.csv.gz - --to msr | gzip > disk.msr.gz
    """
    if len(files) < 2:
        raise click.UsageError("too few files; name the trace to read and the file to write")
    *sources, target = files
    piped = target == "-"
    done = wordline.trace_convert(sources, target, to=to, **options)
    from wordline._render.trace_format_text import formats

    say = note if piped else click.echo
    for line in formats(done["files"]):
        say(f"read {line}")
    written = "standard output" if piped else target
    say(f"wrote {written}: {many(done['written'], 'request')}")
    for text in done["notes"]:
        say(f"Note: {text}")


@command(of=trace)
def formats() -> None:
    """List the trace formats.

    All of them can be read; some can also be written (`wordline trace convert --to`).

    \b
    Example:
      wordline trace formats
    """
    from wordline._render.terminal.console import print_rows

    known = wordline.trace_formats()
    print_rows(
        ["format", "files", "description"],
        ([one["name"], one["extension"], one["description"]] for one in known),
    )
