"""The `wordline` command. Libraries that draw or read tables are imported where they are used,
so that `wordline --help` answers at once."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

import click

import wordline
from wordline import folder, interruption, outputs, plain, reading
from wordline._wordline import WordlineError
from wordline.cache import SIZES
from wordline.command import (
    DONE,
    FAILED,
    MISUSED,
    NOTHING_WRITTEN,
    fault,
    guarded,
    simulate,
)
from wordline.mrc import SIZES as CURVE_SIZES
from wordline.reading import CHOICES

Command = TypeVar("Command", bound=Callable[..., object])
PAGE = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


def main(args: Sequence[str] | None = None) -> int:
    """Runs any command and returns its exit code; see `wordline.command`."""
    return guarded(lambda: _called(args))


def _called(args: Sequence[str] | None) -> object:
    try:
        return cli.main(args, prog_name="wordline", standalone_mode=False)
    except click.Abort:
        return fault(NOTHING_WRITTEN, interruption.exit_code())
    except click.ClickException as misuse:
        return fault(_usage(misuse), MISUSED)


def _usage(misuse: click.ClickException) -> str:
    message = misuse.format_message().rstrip(".")
    context = misuse.ctx if isinstance(misuse, click.UsageError) else None
    help_page = f"{context.command_path} --help" if context else "wordline --help"
    return f"{message[:1].lower()}{message[1:]}; see `{help_page}`".replace("\n", " ")


class _Command(click.Command):
    """A command whose faults of usage name its own help page."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as misuse:
            misuse.ctx = misuse.ctx or ctx
            raise


class _Group(click.Group):
    """A group of such commands."""

    command_class = _Command
    group_class = type


class _ManyTraces(_Command):
    """A command whose --trace takes every value up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, list(_each_with_its_option("--trace", args)))
        except click.MissingParameter as missing:
            raise click.UsageError(
                "missing DEVICE; name it first, as in `wordline run d4 --trace disk.csv`", ctx
            ) from missing


def _each_with_its_option(option: str, args: Sequence[str]) -> Iterator[str]:
    taking = False
    for index, arg in enumerate(args):
        if arg == option:
            taking = True
            if index + 1 == len(args) or plain.is_option(args[index + 1]):
                yield arg
        elif plain.is_option(arg):
            taking = False
            yield arg
        elif taking:
            yield from (option, arg)
        else:
            yield arg


def _files(command: str) -> Callable[[Command], Command]:
    """Puts the files that a command writes where its help has `{files}`."""

    def add(function: Command) -> Command:
        function.__doc__ = (function.__doc__ or "").replace("{files}", outputs.told(command))
        return function

    return add


STRICT = {"on_bad_line": "error", "time_order": "error", "align": "error", "volumes": "one"}
AS_RECORDED = STRICT | {"time_order": "sort", "align": "keep", "volumes": "shared"}
# Caches know no time.
UNTIMED = AS_RECORDED | {"time_order": "file"}


COLUMNS = (
    "The columns of a table in no known format, by number from 1 or by name in the header: "
    f"{reading.COLUMNS}. time is in s, ms, us, ns, ps or filetime (100 ns), or left out; offset "
    "and bytes in bytes, sectors (512), KiB, MiB or pages of a size such as 4k; op is R, W, "
    "read, write, trim, flush and the like, or as spelled in op=3:1=read:0=write; volume is a "
    "number, or text if volume=2:names. Values equal in all lines are fixed: bytes=fixed:4KiB, "
    "op=fixed:read. The delimiter is the tab, semicolon or comma of the first line, else white "
    "space, or as in delimiter=space."
)


def _reader_options(defaults: dict[str, str]) -> Callable[[Command], Command]:
    """The options of everything that reads a trace."""

    def add(command: Command) -> Command:
        for option in reversed(
            [
                click.option(
                    "--format",
                    metavar="NAME",
                    help="Format of the trace. [default: "
                    "detected by content; `wordline trace formats` lists them]",
                ),
                click.option(
                    "--columns",
                    metavar="FIELD=COLUMN:UNIT,...",
                    help=COLUMNS,
                ),
                _choice(
                    "on_bad_line",
                    "A line that cannot be parsed: stop, or skip and count it.",
                    defaults["on_bad_line"],
                ),
                click.option(
                    "--time-gaps",
                    default="keep",
                    show_default=True,
                    metavar="keep|cut=TIME|scale=FACTOR@TIME",
                    help="Pauses, and clocks that jump. cut=1s: a gap between timestamps of more "
                    "than 1 s, or a clock that goes back by more, becomes a gap of 1 s. "
                    "scale=0.01@1s: the excess over 1 s shrinks to a hundredth. Units: ps, "
                    "ns, us, ms, s, min, h, d.",
                ),
                _choice(
                    "time_order",
                    "A timestamp earlier than the previous one: stop, clamp to the previous one, "
                    "sort, or keep file order and ignore time.",
                    defaults["time_order"],
                ),
                _choice(
                    "align",
                    "An offset or size that is not a multiple of 512 bytes: stop, expand to whole "
                    "sectors, or keep it.",
                    defaults["align"],
                ),
                click.option(
                    "--volumes",
                    default=defaults["volumes"],
                    show_default=True,
                    metavar="one|stack|shared|N",
                    help="A trace of several volumes: reject it, concatenate them, map all to "
                    "the same addresses, or replay only volume N.",
                ),
            ]
        ):
            command = option(command)
        return command

    return add


def _choice(name: str, text: str, default: str) -> Callable[..., Any]:
    return click.option(
        "--" + name.replace("_", "-"),
        type=click.Choice(CHOICES[name]),
        default=default,
        show_default=True,
        help=text,
    )


def _device(command: Command) -> Command:
    """DEVICE and --set."""
    command = click.option(
        "--set", "overrides", multiple=True, metavar="KEY=VALUE", callback=_pairs,
        help="Override a configuration key, such as ftl.gc.victim=fifo; repeatable.",
    )(command)  # fmt: skip
    return click.argument("device")(command)


def _pairs(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for value in values:
        try:
            pairs.append(plain.pair(value))
        except ValueError:
            raise click.BadParameter(
                f"{value!r} is not KEY=VALUE, such as ftl.gc.victim=fifo"
            ) from None
    return pairs


def _streams(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, list[str]]:
    streams: dict[str, list[str]] = {}
    for value in values:
        name, equals, files = value.partition("=")
        listed = [file for file in files.split(",") if file]
        if not equals or not name or not listed:
            raise click.BadParameter(f"{value!r} is not NAME=FILE, such as db=disk.csv")
        streams.setdefault(name, []).extend(listed)
    return streams


@click.group(cls=_Group, context_settings=PAGE)
@click.version_option(package_name="wordline", message="%(package)s %(version)s")
def cli() -> None:
    """Simulate an SSD under a recorded or generated load.

    \b
    Start here:
      wordline devices                         the bundled devices
      wordline run d4 --trace disk.csv.gz      simulate one of them under a trace
      wordline run d4 --trace disk.csv.gz --set ftl.gc.victim=fifo
      wordline devices d4 > mine.toml          write a device of your own
      wordline config check mine.toml          and check it
      wordline cache disk.csv.gz lru,arc 1%    caches without a device: hits per policy

    Every command has its own --help, with examples. Ctrl-C, SIGTERM and SIGHUP end any of them
    in order, with exit code 130, 143 and 129.
    """


@cli.command(cls=_ManyTraces, context_settings=PAGE)
@_device
@click.option(
    "--trace",
    "trace",
    multiple=True,
    metavar="FILE...",
    help="Block trace to replay; several are replayed one after the other. [default: the "
    "device's [workload] table]",
)
@click.option(
    "--stream",
    "streams",
    multiple=True,
    metavar="NAME=FILE[,FILE...]",
    callback=_streams,
    help="Block trace of one of several streams replayed concurrently; repeatable. A "
    "NAME that the device's [[streams]] do not declare is a stream with their defaults.",
)
@click.option(
    "--fio",
    metavar="JOBFILE",
    help="Load from a fio job file: each job is a stream; sizes in per cent refer to the "
    "device. Options without a counterpart in simulation are listed, or rejected.",
)
@click.option(
    "--fio-section",
    metavar="JOB",
    help="Run only this job of --fio. [default: all, concurrently]",
)
@click.option(
    "--slowdown",
    is_flag=True,
    help="Then run each stream alone, to measure how much the others slow it down; takes about "
    "as long again.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="Seed of every random choice.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for the results; replaced if it holds those of a run, rejected if it holds "
    "anything else. [default: out/DEVICE-TRACE, numbered if taken]",
)
@click.option(
    "--requests",
    is_flag=True,
    help="Also write requests.parquet: one row per request, with the latency breakdown.",
)
@click.option(
    "--max-requests",
    type=int,
    metavar="N",
    help="End after N requests. [default: the whole input]",
)
@_choice(
    "fit", "A request beyond the device's end: stop, wrap around, or scale all addresses.", "error"
)
@_reader_options(STRICT)
@click.option(
    "--verify",
    is_flag=True,
    help="Track every page and stop at the first read that does not return the newest write.",
)
@click.option(
    "--power-cut-every",
    type=int,
    metavar="N",
    help="Cut power at random, once in N requests on average, and recover, which reads "
    "the whole device; with --verify every page is checked after each cut. [default: never]",
)
@click.option(
    "--timeline",
    metavar="FILE",
    help="Also write a timeline of channels, dies and planes for Perfetto.",
)
@click.option(
    "--timeline-from",
    default="0",
    show_default=True,
    metavar="TIME",
    help="Simulated time at which the timeline starts, such as 10ms (ps, ns, us, ms, s).",
)
@click.option(
    "--timeline-until",
    metavar="TIME",
    help="Simulated time at which the timeline ends. [default: 100ms after its start]",
)
@click.option(
    "--progress/--no-progress",
    default=None,
    help="Progress bar on standard error. [default: if that is a terminal]",
)
@click.option("--no-report", is_flag=True, help="Do not write report.html.")
@click.option("--json", "as_json", is_flag=True, help="Print summary.json instead of the tables.")
@_files("run")
def run(
    device: str,
    **options: Any,
) -> int:
    """Simulate DEVICE, a TOML file or the name of a preset, and write the results.

    \b
    Examples:
      wordline run d4 --trace disk.csv.gz
      wordline run mine.toml --trace monday.csv tuesday.csv --seed 7 --out results/week
      wordline run d4 --trace disk.csv.gz --fit wrap --set ftl.over_provisioning_ratio=0.28
      wordline run mine.toml                 the load of its [workload] table or [[streams]]
      wordline run d4 --stream db=disk.csv.gz --stream log=log.csv --slowdown
      wordline run d4 --fio job.fio
      wordline run d4 --trace disk.csv.gz --timeline disk.pftrace --timeline-until 20ms

    The folder receives {files}. It appears complete or not at all.

    Ctrl-C, SIGTERM, or an error in the middle of a trace, ends the run; the results so far are
    kept, marked partial. Exit code: 0 done, 1 ended early, 2 bad command or input, 130 Ctrl-C, 143
    SIGTERM.
    """
    return simulate(device, **options)


@cli.group(context_settings=PAGE)
def trace() -> None:
    """Inspect and convert block traces.

    \b
    Examples:
      wordline trace stat disk.csv.gz
      wordline trace convert disk.csv.gz disk.spc --to spc
      wordline trace formats
    """


@trace.command(context_settings=PAGE)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_reader_options(AS_RECORDED)
@click.option(
    "--idle-threshold-s",
    type=float,
    default=1.0,
    show_default=True,
    metavar="S",
    help="An idle period above this many seconds is long.",
)
@click.option(
    "--page-read-us",
    type=float,
    default=0.0,
    show_default=True,
    metavar="US",
    help="Time to read a 4 KiB page, in microseconds; the device is not idle meanwhile.",
)
@click.option(
    "--page-program-us",
    type=float,
    default=0.0,
    show_default=True,
    metavar="US",
    help="Time to program a 4 KiB page, in microseconds; the device is not idle meanwhile.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def stat(files: tuple[str, ...], as_json: bool, **options: Any) -> None:
    """Print statistics of a trace: requests, sizes, footprint, sequential share, idle periods.

    Several files count as one trace, replayed one after the other.

    \b
    Examples:
      wordline trace stat disk.csv.gz
      wordline trace stat --on-bad-line skip --json disk.csv.gz
      wordline trace stat --columns time=1:us,offset=4:sectors,bytes=5,op=3 mine.txt
      wordline trace stat --page-read-us 183.2 --page-program-us 860.36 disk.csv.gz
    """
    answer = wordline.trace_stat(files, **options)
    if as_json:
        click.echo(json.dumps(answer, indent=2))
        return
    from wordline.terminal import print_stat

    print_stat(cast("dict[str, Any]", answer))


@trace.command(context_settings=PAGE)
@click.argument("files", nargs=-1, required=True, metavar="IN... OUT")
@click.option("--to", required=True, metavar="NAME", help="Format to write.")
@_reader_options(AS_RECORDED)
def convert(files: tuple[str, ...], to: str, **options: Any) -> None:
    """Convert the trace IN... to the file OUT in another format.

    \b
    Examples:
      wordline trace convert disk.csv.gz disk.spc --to spc
      wordline trace convert monday.csv tuesday.csv both.csv --to msr
    """
    if len(files) < 2:
        raise click.UsageError("name the trace to read and the file to write")
    *sources, target = files
    done = wordline.trace_convert(sources, target, to=to, **options)
    from wordline.provenance import formats

    for line in formats(done["files"]):
        click.echo(f"read {line}")
    click.echo(f"wrote {target}: {done['written']:,} requests")
    for note in done["notes"]:
        click.echo(f"Note: {note}")


@trace.command(context_settings=PAGE)
def formats() -> None:
    """List the trace formats, with their file extensions.

    All of them can be read; `wordline trace convert --to` says which can be written.

    \b
    Example:
      wordline trace formats
    """
    from wordline.terminal import print_rows

    known = wordline.trace_formats()
    print_rows(
        ["format", "files", "what it is"],
        ([one["name"], one["extension"], one["description"]] for one in known),
    )


def _page_options(command: Command) -> Command:
    """The options of what makes pages of the requests of a trace."""
    for option in reversed(
        [
            click.option(
                "--page-bytes",
                type=int,
                default=4096,
                show_default=True,
                metavar="N",
                help="Requests are split into pages of N bytes; a part of a page counts as the "
                "page.",
            ),
            click.option(
                "--max-requests",
                type=int,
                metavar="N",
                help="Take the first N requests of the trace. [default: all]",
            ),
            click.option(
                "--out",
                type=click.Path(path_type=Path),
                metavar="DIR",
                help="Folder for the numbers and a page with a plot; a former result there is "
                "replaced. [default: none is written]",
            ),
            click.option(
                "--progress/--no-progress",
                default=None,
                help="Progress bar on standard error. [default: if that is a terminal]",
            ),
            click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table."),
        ]
    ):
        command = option(command)
    return command


@cli.command(context_settings=PAGE)
@click.argument("trace")
@click.argument("policy", default="lru", metavar="[POLICY[,POLICY]...]")
@click.argument("size", default=",".join(SIZES), metavar="[SIZE[,SIZE]...]")
@_page_options
@_reader_options(UNTIMED)
@_files("cache")
def cache(
    trace: str,
    policy: str,
    size: str,
    out: Path | None,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Run replacement policies over TRACE: hits of each policy at each size.

    POLICY is a name from `wordline policies buffer.replacement`, with parameters behind colons if
    there are any, or `all`. SIZE is in pages (4096p), in bytes (64MiB, 1GB), or a share of the
    distinct pages of the trace (0.01, 1%). By default: lru, at 0.1%, 1% and 10%.

    No device, no time: requests are split into pages, and each policy runs over them with an empty
    cache. Trims remove pages; flushes are ignored and counted. Traces of keys (keys32le, keys64le,
    oracle-general) are read fastest; a key is a page.

    \b
    Examples:
      wordline cache disk.csv.gz
      wordline cache disk.csv.gz lru,arc,s3-fifo,belady 1%,10%
      wordline cache disk.csv.gz all 64MiB,1GiB --out out/policies
      wordline cache keys.bin arc:p=real,arc:p=integer 76327p --format keys64le

    With --out, the folder receives {files}. Exit code: 0 done, 2 bad command or input, 130 Ctrl-C,
    143 SIGTERM.
    """
    watch = sys.stderr.isatty() if progress is None else progress
    if out:
        folder.check(out, "cache")
    result = wordline.cache(trace, policy, size, progress=watch, **options)
    files = result.write(out) if out else []
    if as_json:
        click.echo(json.dumps(result.summary, indent=2))
        return
    from wordline.terminal import print_cache

    print_cache(result.summary, files)


@cli.command(context_settings=PAGE)
@click.argument("trace")
@click.option(
    "--method",
    "methods",
    default="exact",
    show_default=True,
    metavar="NAME[,NAME]...",
    help="exact (stack distances), shards (a sample of the pages), aet (a model of the times "
    "between requests).",
)
@click.option(
    "--rate",
    type=float,
    metavar="R",
    help="SHARDS samples this share of the pages. [default: 0.01]",
)
@click.option(
    "--samples",
    type=int,
    metavar="N",
    help="SHARDS samples N pages, at a rate that it lowers as needed.",
)
@click.option(
    "--sizes",
    default=",".join(CURVE_SIZES),
    metavar="SIZE[,SIZE]...",
    help="Sizes of the table, as of `wordline cache`. [default: 0.1% to 100% of the pages]",
)
@click.option(
    "--accuracy",
    is_flag=True,
    help="Also say how far SHARDS (by rate, and by samples, 8192 if not given) and AET are from "
    "the exact curve, over 20 independent hashes.",
)
@click.option(
    "--seed", type=int, default=1, show_default=True, metavar="N", help="Chooses the sampled pages."
)
@_page_options
@_reader_options(UNTIMED)
@_files("mrc")
def mrc(
    trace: str,
    methods: str,
    out: Path | None,
    as_json: bool,
    progress: bool | None,
    **options: Any,
) -> None:
    """Compute the miss-ratio curve of TRACE: the misses of an LRU cache of any size.

    Reads and writes count alike; trims are left out. SHARDS holds no more than its sample in
    memory, unless other methods are asked for too.

    \b
    Examples:
      wordline mrc disk.csv.gz
      wordline mrc disk.csv.gz --method exact,shards,aet --out out/curve
      wordline mrc huge.csv.zst --method shards --rate 0.001
      wordline mrc disk.csv.gz --accuracy --sizes 64MiB,1GiB

    With --out, the folder receives {files}. Exit code: 0 done, 2 bad command or input, 130 Ctrl-C,
    143 SIGTERM.
    """
    watch = sys.stderr.isatty() if progress is None else progress
    if out:
        folder.check(out, "mrc")
    result = wordline.mrc(trace, methods, progress=watch, **options)
    files = result.write(out) if out else []
    if as_json:
        click.echo(json.dumps(result.summary, indent=2))
        return
    from wordline.terminal import print_mrc

    print_mrc(result.summary, files)


@cli.command(context_settings=PAGE)
@click.argument("family", required=False)
def policies(family: str | None) -> None:
    """List the policies, or those of one FAMILY, with the papers behind them.

    \b
    Examples:
      wordline policies
      wordline policies ftl.gc.victim
    """
    from wordline.terminal import print_policies

    print_policies(wordline.policies(family))


@cli.command(context_settings=PAGE)
@click.argument("name", required=False)
def devices(name: str | None) -> None:
    """List the bundled devices, or print one as TOML to start your own from.

    \b
    Examples:
      wordline devices
      wordline devices d4 > mine.toml
    """
    known = wordline.presets()
    if name is None:
        from wordline.terminal import print_rows

        print_rows(["device", "what it is"], ([one["name"], one["description"]] for one in known))
        return
    text = next((one["text"] for one in known if one["name"] == name), None)
    if text is None:
        names = ", ".join(one["name"] for one in known)
        raise WordlineError(f"no device is called '{name}'; the devices are {names}")
    click.echo(text, nl=not text.endswith("\n"))


@cli.group(context_settings=PAGE)
def config() -> None:
    """Check, explain and complete device files.

    \b
    Examples:
      wordline config check mine.toml
      wordline config show d4 --set ftl.gc.victim=fifo
      wordline config schema > wordline.schema.json
    """


@config.command(context_settings=PAGE)
@_device
def check(device: str, overrides: list[tuple[str, str]]) -> None:
    """Check DEVICE without running it; errors show their line and how to fix them.

    Also says what memory a run takes beside that of the program: when it begins, with the device
    filled as precondition.fill_ratio has it, and at most. What cannot fit is a fault.

    \b
    Example:
      wordline config check mine.toml
    """
    wordline.config.check(device, overrides)
    memory = wordline.config.memory(device, overrides)
    from wordline.units import size

    if memory["refusal"]:
        raise WordlineError(f"{device}: {memory['refusal']}")
    click.echo(f"{device}: no fault found")
    click.echo(
        f"A run takes {size(memory['prepared_bytes'])} of memory when it begins, "
        f"{size(memory['most_bytes'])} when all of the device has been written to, "
        f"and {size(memory['reserved_bytes'])} of address space"
    )
    if memory["note"]:
        click.echo(f"Note: {memory['note']}")


@config.command(context_settings=PAGE)
def schema() -> None:
    """Print the JSON schema of a device file, for editors that complete and check TOML.

    \b
    Example:
      wordline config schema > wordline.schema.json
    """
    click.echo(json.dumps(wordline.config.schema(), indent=2))


@config.command(context_settings=PAGE)
@_device
def show(device: str, overrides: list[tuple[str, str]]) -> None:
    """Print DEVICE as TOML with every default filled in.

    \b
    Examples:
      wordline config show d4
      wordline config show mine.toml --set ftl.gc.victim=fifo
    """
    text = wordline.config.show(device, overrides)
    click.echo(text, nl=not text.endswith("\n"))


@config.command("import-mqsim", context_settings=PAGE)
@click.argument("file", metavar="SSDCONFIG.XML")
@click.option(
    "--workload", metavar="FILE", help="Workload file of MQSim; its flows become [[streams]]."
)
@click.option(
    "--scenario",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="IO_Scenario of the workload file to use.",
)
def import_mqsim(file: str, workload: str | None, scenario: int) -> None:
    """Print the device of an MQSim configuration as TOML. What is not modelled is told on
    standard error and in comments.

    \b
    Examples:
      wordline config import-mqsim ssdconfig.xml > mine.toml
      wordline config import-mqsim ssdconfig.xml --workload workload.xml --scenario 2 > mine.toml
    """
    from wordline.mqsim import imported

    made = imported(file, workload, scenario)
    for note in made.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(made.toml, nl=False)


@cli.command(context_settings=PAGE)
@click.argument("works", nargs=-1, metavar="[rr4k|rw4k|sw128k|replay]...")
@click.option(
    "--trace",
    "trace",
    multiple=True,
    metavar="FILE",
    help="Trace for `replay`; repeatable. Each is measured alone.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1, 99),
    default=1,
    show_default=True,
    help="Runs of each workload; the one with the median CPU time is shown.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Record the figures in FILE, and show the previous ones beside them. [default: none]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def bench(
    works: tuple[str, ...], trace: tuple[str, ...], repeat: int, record: Path | None, as_json: bool
) -> None:
    """Measure how fast Wordline simulates device d4.

    \b
      rr4k     1,000,000 random 4 KiB reads, queue depth 32, from a sequentially filled device
      rw4k     1,000,000 random 4 KiB writes, queue depth 32, in steady state
      sw128k   80,000 sequential 128 KiB writes, queue depth 32
      replay   each --trace in turn, parsing included

    Without arguments, all of them. Each runs in a process of its own, measured from outside:
    CPU seconds are user and system time of the whole process, memory is its peak. The model
    alone is that without the start of Python and the writing of results, but with the filling
    of the device. Preconditioning of rw4k to its steady state is a line of its own.

    The limit is what this machine would allow a simulator that does nothing but order the same
    events and find the same pages; it is measured, too.

    \b
    Examples:
      wordline bench rr4k
      wordline bench --repeat 3 --json > bench.json
      wordline bench replay --trace disk.csv.gz
      wordline bench --record out/bench.json
    """
    from wordline import bench as benchmark

    chosen = benchmark.chosen(works, trace)
    former = benchmark.read_record(record) if record else []
    if record:
        outputs.check_file(record)
    results = [benchmark.measured(work, repeat) for work in chosen]
    benchmark.compare(results, former)
    if as_json:
        click.echo(json.dumps(results, indent=2))
    else:
        from wordline.terminal import print_bench

        print_bench(results)
    if record:
        benchmark.write_record(record, results, former)


@cli.command(context_settings=PAGE)
@click.argument("sweeps", nargs=-1, metavar="[requests|dies|capacity|depth]...")
@click.option(
    "--repeat",
    type=click.IntRange(1, 99),
    default=3,
    show_default=True,
    help="Runs of each point; the one with the least CPU time counts.",
)
@click.option("--quick", is_flag=True, help="A twentieth of the requests: a preview, not a result.")
@click.option("--full", is_flag=True, help="Up to 100,000,000 requests, which take minutes each.")
@click.option(
    "--count/--no-count",
    default=None,
    help="Count the cache misses of points that cost more than they may, with valgrind. "
    "[default: if it is installed, without --quick]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("out/growth"),
    show_default=True,
    help="Folder for the results; previous ones there are replaced.",
)
@_files("growth")
def growth(out: Path, **options: Any) -> int:
    """Measure whether the cost of a request stays flat at scale.

    \b
      requests  10,000 to 10,000,000 of them
      dies      8 to 4,096, in a device of equal capacity
      capacity  1 GiB to 16 TiB, of which equally many pages are used
      depth     1 to 65,536 requests under way

    Without arguments, all of them. The folder receives {files}. Exit code:
    0 every series is flat, or flat apart from cache misses; 1 one is not.

    \b
    Examples:
      wordline growth
      wordline growth dies --repeat 5 --out out/dies
    """
    from wordline.growth import command

    return command(folder.check(out, "growth"), **options)


@cli.command(context_settings=PAGE)
@click.argument("name", required=False)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder for the results; a previous study there is replaced. [default: out/study-NAME]",
)
@click.option(
    "--traces",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Folder with recorded traces that the study may use besides the bundled one.",
)
@click.option("--quick", is_flag=True, help="Fewer requests: a preview, not a result.")
@click.option(
    "--full",
    is_flag=True,
    help="As many requests as in the publication, for a study that takes fewer.",
)
@_files("study")
def study(name: str | None, out: Path | None, traces: Path | None, quick: bool, full: bool) -> int:
    """Reproduce the figures of a publication and compare; without NAME, list the studies.

    Each figure is shown with the published numbers, ours, the difference, and what the document
    claims of it. The folder receives {files}. Exit code: 0 every claim is as asserted, 1 one is
    not.

    \b
    Examples:
      wordline study
      wordline study nand
      wordline study nand --traces ~/traces --out results/nand
    """
    from wordline import study as studies
    from wordline.study import outcome, terminal

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
    place = folder.check(out or Path("out") / f"study-{name}", "study")
    setup = studies.Setup(quick, sorted(traces.iterdir()) if traces else (), full=full)
    result = outcome.run(chosen, setup, terminal.print_figure)
    terminal.print_end(result, result.write(place))
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


@cli.command("fio-logs", context_settings=PAGE)
@click.argument("results", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("prefix", metavar="PREFIX")
@click.option(
    "--log-avg-msec",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="MS",
    help="One line per interval of N milliseconds; 0: one per request.",
)
def fio_logs(results: Path, prefix: str, log_avg_msec: int) -> None:
    """Write the results in DIR as fio writes its logs, for fio-plot and the like.

    The run has to be made with --requests. For each stream N, from 1, there is PREFIX_lat.N.log,
    with _slat (until the device took the request), _clat (from there on), _bw and _iops.

    \b
    Examples:
      wordline fio-logs out/d4-job logs/d4
      wordline fio-logs --log-avg-msec 100 out/d4-job logs/d4
    """
    from wordline import fio_logs as logs

    for file in logs.write(results, prefix, log_avg_msec):
        click.echo(f"wrote {file}")


@cli.command(context_settings=PAGE)
@click.argument("results", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File to write. [default: DIR/report.html]",
)
def report(results: Path, out: Path | None) -> None:
    """Draw report.html again from the results in DIR.

    \b
    Example:
      wordline report out/d4-disk
    """
    from wordline.report import from_folder

    page = from_folder(results)
    target = folder.write_file(
        out or results / "report.html", lambda part: part.write_text(page, encoding="utf-8")
    )
    click.echo(f"wrote {target}")
