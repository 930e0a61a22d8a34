"""Options of the command line, each declared once for both parsers: `click`, and `argv`, which
works without click.

A declaration has the keywords of `click.option` as plain data, because this module is imported at
every start. Further keywords: `name` is the parameter, if the flag has another name; `type` is a
click type, a tuple of choices, or "path"; `parse` converts all values of a `multiple` option and
raises ValueError if one is invalid; `short` is a one-letter flag.
"""

from __future__ import annotations

from wordline._api.trace_input import CHOICES, COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

Options: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""Declarations of options by flag."""

STRICT = {"on_bad_line": "error", "time_order": "error", "align": "error", "volumes": "one"}
AS_RECORDED = STRICT | {"time_order": "sort", "align": "keep", "volumes": "shared"}
# Cache simulations ignore time.
UNTIMED = AS_RECORDED | {"time_order": "file"}


def name(flag: str, declared: Mapping[str, Any]) -> str:
    """Returns the name of the parameter that an option sets."""
    return declared.get("name") or flag.split("/")[0].lstrip("-").replace("-", "_")


def pairs(values: Sequence[str]) -> list[tuple[str, str]]:
    """Splits each KEY=VALUE into a pair. Raises ValueError."""
    found: list[tuple[str, str]] = []
    for text in values:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{text!r} is not KEY=VALUE, such as ftl.gc.victim=fifo")
        found.append((key.strip(), value.strip()))
    return found


def streams(values: Sequence[str]) -> dict[str, list[str]]:
    """Returns the files of each stream from NAME=FILE[,FILE...]. Raises ValueError."""
    found: dict[str, list[str]] = {}
    for text in values:
        key, equals, files = text.partition("=")
        listed = [file for file in files.split(",") if file]
        if not equals or not key or not listed:
            raise ValueError(f"{text!r} is not NAME=FILE, such as db=disk.csv")
        found.setdefault(key, []).extend(listed)
    return found


def choice(word: str, text: str, default: str) -> dict[str, Any]:
    """Declares an option of the trace reader that takes one of its `CHOICES`."""
    return {"type": CHOICES[word], "default": default, "show_default": True, "help": text}


def flag(text: str) -> dict[str, Any]:
    """Declares an option without a value."""
    return {"is_flag": True, "help": text}


def value(
    metavar: str, text: str, default: object = None, of: Any = None, **more: Any
) -> dict[str, Any]:
    """Declares an option whose value has type `of`, by default the type of the default value, else
    str. The help shows the default."""
    declared = {"type": of or (str if default is None else type(default)), "metavar": metavar}
    shown = {} if default is None else {"default": default, "show_default": True}
    return {**declared, **shown, "help": text, **more}


def reader(defaults: Mapping[str, str]) -> Options:
    """Declares the options of every command that reads a trace."""
    return {
        "--format": value(
            "NAME",
            "Trace format; `wordline trace formats` lists them. [default: detected from the "
            "content]",
        ),
        "--columns": value(
            "FIELD=COLUMN:UNIT,...",
            "Columns of a table in an unknown format, by number (from 1) or by name in the "
            f"header: {COLUMNS}. Units of time: s, ms, us, ns, ps or filetime (100 ns); time may "
            "be left out. Units of offset and bytes: bytes, sectors (512), KiB, MiB, or pages of "
            "a size such as 4k. op is R, W, read, write, trim, flush or similar, or is mapped: "
            "op=3:1=read:0=write. volume is a number, or text with volume=2:names. A value that "
            "all lines share: bytes=fixed:4KiB, op=fixed:read. The delimiter is the tab, semicolon "
            "or comma of the first line, else white space; delimiter=space overrides it.",
        ),
        "--on-bad-line": choice(
            "on_bad_line",
            "Unparsable line: stop, or skip and count it.",
            defaults["on_bad_line"],
        ),
        "--time-gaps": value(
            "keep|cut=TIME|scale=FACTOR@TIME",
            "Long pauses and clock jumps. cut=1s: a gap of more than 1 s between time stamps, or "
            "a jump back of more than 1 s, becomes a gap of 1 s. scale=0.01@1s: the excess over "
            "1 s shrinks to a hundredth. Units: ps, ns, us, ms, s, min, h, d.",
            "keep",
        ),
        "--time-order": choice(
            "time_order",
            "Time stamp earlier than the previous one: stop, clamp to the previous one, sort, or "
            "keep file order and ignore time.",
            defaults["time_order"],
        ),
        "--align": choice(
            "align",
            "Offset or size that is not a multiple of 512 bytes: stop, expand to whole sectors, "
            "or keep it.",
            defaults["align"],
        ),
        "--volumes": value(
            "one|stack|shared|N",
            "Trace of several volumes: reject it, concatenate the volumes, map all to the same "
            "addresses, or replay only volume N.",
            defaults["volumes"],
        ),
    }


SET: Options = {
    "--set": value(
        "KEY=VALUE",
        "Override a configuration key, such as ftl.gc.victim=fifo; repeatable.",
        name="overrides",
        multiple=True,
        parse=pairs,
    )
}
QUIET: Options = {"--quiet": {**flag("Print only errors and the output of --json."), "short": "-q"}}
PROGRESS: Options = {
    "--progress/--no-progress": {
        "default": None,
        "help": "Progress bar on standard error. [default: if it is a terminal]",
    },
    **QUIET,
}
JSON: Options = {"--json": {"name": "as_json", **flag("Print JSON instead of a table.")}}

RUN: Options = {
    **SET,
    "--trace": value(
        "FILE...",
        "Block trace to replay; several are replayed one after the other. [default: the load "
        "in the device file]",
        multiple=True,
    ),
    "--stream": value(
        "NAME=FILE[,FILE...]",
        "Block trace of one of several concurrent streams; repeatable. A NAME that is not in "
        "the device's [[streams]] gets their defaults.",
        name="streams",
        multiple=True,
        parse=streams,
    ),
    "--fio": value(
        "JOBFILE",
        "Take the load from a fio job file. Each job is a stream; sizes in per cent refer to the "
        "device. Options that cannot be simulated are listed or rejected.",
    ),
    "--fio-section": value("JOB", "Run only this job of --fio. [default: all, concurrently]"),
    "--slowdown": flag(
        "Also run each stream alone, to measure how much the others slow it down. Takes about "
        "twice as long."
    ),
    "--seed": value("N", "Seed of every random choice. [default: 1, or that of --from]", of=int),
    "--out": value(
        "DIR",
        "Folder for the results. Previous results of a run are replaced; a folder with other "
        "content is rejected. [default: out/DEVICE-TRACE, numbered if taken]",
        of="path",
    ),
    "--requests": flag(
        "Also write requests.parquet: one row per request, with its latency components."
    ),
    "--max-requests": value("N", "Stop after N requests. [default: the whole input]", of=int),
    "--fit": choice(
        "fit",
        "Request beyond the end of the device: stop, wrap around, or scale all addresses.",
        "error",
    ),
    **reader(STRICT),
    "--verify": flag(
        "Track every page; stop at the first read that does not return the newest write."
    ),
    "--power-cut-every": value(
        "N",
        "Cut the power at random, once per N requests on average, and recover by reading the "
        "whole device. With --verify, every page is checked after each cut. [default: never]",
        of=int,
    ),
    "--from": value(
        "FILE",
        "Start from a state that `wordline prepare` wrote, instead of [precondition]. Without "
        "DEVICE, also use the device of that state.",
        of="path",
        name="prepared",
    ),
    "--checkpoint-every": value(
        "TIME",
        "Write a checkpoint into the results folder at this interval, such as 60s (ms, s, min, "
        "h), and on interruption; `wordline resume` continues from it. [default: never]",
    ),
    "--timeline": value("FILE", "Also write a timeline of flash and hard disks for Perfetto."),
    "--timeline-from": value(
        "TIME",
        "Start of the timeline in simulated time, such as 10ms (ps, ns, us, ms, s).",
        "0",
    ),
    "--timeline-until": value(
        "TIME", "End of the timeline in simulated time. [default: 100ms after its start]"
    ),
    **PROGRESS,
    "--no-report": flag("Do not write report.html."),
    "--json": {"name": "as_json", **flag("Print summary.json instead of the tables.")},
}

READER_OF_RUN: Options = {"--fit": RUN["--fit"], **reader(STRICT)}
ON: Options = {
    "--jobs": value("N", "Number of processes on this machine. [default: one per core]", of=int),
    "--on": value(
        "dask://HOST:PORT", "Run on the workers of a Dask cluster. [default: this machine]"
    ),
}
SWEEP: Options = {
    **SET,
    "--trace": {**RUN["--trace"], "help": "Block trace to replay; several are varied like a key."},
    "--vary": value(
        "KEY=V1,V2,...|LOW:HIGH:STEP",
        "Key and its values, combined with the values of every other key; repeatable. A range "
        "includes HIGH if a step meets it. KEY is a configuration key, device, trace, or an "
        "option such as max_requests.",
        multiple=True,
        parse=pairs,
    ),
    "--zip": value(
        "KEY=V1,V2,... KEY=...",
        "Keys that vary together, in one argument and separated by spaces; repeatable.",
        multiple=True,
    ),
    "--when": value(
        "CONDITION",
        "Run only the points that meet this condition, such as \"ftl.gc.victim == 'fifo' or "
        'ftl.over_provisioning_ratio > 0.1"; repeatable.',
        multiple=True,
    ),
    "--seeds": value("N|S1,S2,...", "Seeds of each point: their number, or a list.", "1"),
    "--max-requests": RUN["--max-requests"],
    **READER_OF_RUN,
    **ON,
    "--out": value(
        "DIR",
        "Folder for the results; an interrupted sweep continues there. [default: out/sweep-NAME]",
        of="path",
    ),
    **PROGRESS,
    **JSON,
}
SEARCH: Options = {
    **SET,
    "--trace": value("FILE", "Block trace to replay. [default: the load in the device file]"),
    "--vary": value(
        "KEY=V1,V2,...|LOW:HIGH[:STEP|:log]",
        "Key and the values to choose from; repeatable.",
        multiple=True,
        parse=pairs,
    ),
    "--minimise": value(
        "METRIC",
        "Metric to minimise, such as latency.write.p99_us, or a varied key; one or two objectives "
        "in total.",
        multiple=True,
    ),
    "--maximise": value("METRIC", "Metric or varied key to maximise.", multiple=True),
    "--subject-to": value(
        "BOUND",
        "Bound on a metric or varied key, such as 'flash.write_amplification < 2'; repeatable.",
        multiple=True,
    ),
    "--trials": value("N", "Number of configurations to try.", 50),
    "--sampler": {
        "type": ("tpe", "random", "nsga2", "grid"),
        "default": "tpe",
        "show_default": True,
        "help": "Optuna sampler that chooses the next configuration.",
    },
    "--pruner": {
        "type": ("none", "median", "halving", "hyperband"),
        "default": "none",
        "show_default": True,
        "help": "Optuna pruner that stops poor trials at the request counts of --rungs.",
    },
    "--rungs": value("N1,N2,...", "Request counts at which the pruner decides."),
    "--seed": value("N", "Seed of the sampler and of the runs.", 1),
    "--max-requests": RUN["--max-requests"],
    **READER_OF_RUN,
    **ON,
    "--out": value(
        "DIR",
        "Folder for the results; an interrupted search continues there. [default: "
        "out/search-DEVICE]",
        of="path",
    ),
    **PROGRESS,
    **JSON,
}
COMPARE: Options = {
    "--out": value("FILE", "Also write an HTML page, such as compare.html.", of="path"),
    **JSON,
}
PREPARE: Options = {
    **SET,
    "--out": value("FILE", "File for the state. [default: out/DEVICE.wls]", of="path", short="-o"),
    "--seed": value("N", "Seed of every random choice.", 1),
    "--spare-areas": flag(
        "Also save the spare area of each page (20 bytes per page), which recovery needs in runs "
        "with --power-cut-every."
    ),
    **PROGRESS,
}
SERVE: Options = {
    **SET,
    "--socket": value("PATH", "Unix socket of the device.", "wordline.sock", of="path"),
    "--tcp": value(
        "PORT",
        "Also listen on this TCP port of 127.0.0.1; 0 chooses a free one. Every user of this "
        "machine can connect. [default: only the Unix socket]",
        of=int,
    ),
    "--data": value(
        "FILE",
        "Sparse file that keeps the data of the device. [default: in memory]",
        of="path",
    ),
    "--clock": {
        "type": ("simulated", "real"),
        "default": "simulated",
        "show_default": True,
        "help": "simulated: simulated time passes only while requests are in progress. real: it "
        "follows the wall clock, and replies are held until they are due.",
    },
    "--scale": value("N", "Wall-clock seconds per simulated second, with --clock real.", 1.0),
    "--think-time": value(
        "N",
        "Simulated seconds per second in which no request is in progress, with the simulated "
        "clock. 1: pauses of the clients are charged as observed; 0: not at all.",
        0.0,
    ),
    "--record": value(
        "FILE",
        "Record all requests in this trace file. Its replay has the same digest.",
        of="path",
    ),
    "--power-cuts": {
        "is_flag": True,
        "help": "Allow `wordline control SOCKET power-cut`. Takes memory for writes that are not "
        "durable yet.",
    },
    "--metrics": value(
        "PORT|unix:PATH",
        "Serve metrics for Prometheus at this port of 127.0.0.1 (0 chooses a free one), or on a "
        "Unix socket.",
    ),
    "--page/--no-page": {
        "default": None,
        "help": "Show the load of the device on standard error, refreshed every second. "
        "[default: if it is a terminal]",
    },
    "--seed": value("N", "Seed of every random choice.", 1),
    "--from": RUN["--from"],
    "--out": value(
        "DIR",
        "Folder for the results. [default: out/DEVICE-live, numbered if taken]",
        of="path",
    ),
    "--no-report": RUN["--no-report"],
    **QUIET,
    "--json": RUN["--json"],
}

CONTROL: Options = {
    **QUIET,
    "--json": {"name": "as_json", "is_flag": True, "help": "Print the result as JSON."},
}

RESUME: Options = {
    "--checkpoint-every": value(
        "TIME", "Time between checkpoints, such as 60s. [default: that of the interrupted run]"
    ),
    **PROGRESS,
    "--no-report": RUN["--no-report"],
    "--json": RUN["--json"],
}

REPORT: Options = {
    "--out": value("FILE", "File to write. [default: DIR/report.html]", of="path"),
    **QUIET,
}

# Options of the commands that split the requests of a trace into pages.
PAGES: Options = {
    "--page-bytes": value(
        "N",
        "Page size in bytes. Requests are split into pages; part of a page counts as the page.",
        4096,
    ),
    "--max-requests": value(
        "N", "Use only the first N requests of the trace. [default: all]", of=int
    ),
    "--out": value(
        "DIR",
        "Folder for the results and an HTML page; previous results there are replaced. "
        "[default: none]",
        of="path",
    ),
    **PROGRESS,
    **JSON,
    **reader(UNTIMED),
}


def parameters() -> dict[str, tuple[str, bool]]:
    """Returns, for the flag of each option of runs and of the trace reader, the parameter that it
    sets, and whether the option takes no value."""
    tables = (PREPARE, PAGES, SEARCH, SWEEP, RUN)
    return {
        flag: (name(flag, declared), "is_flag" in declared)
        for table in tables
        for flag, declared in table.items()
    }


def flags(*tables: Options) -> dict[str, str]:
    """Returns the flags of the options in these tables, by parameter."""
    return {
        name(flag, declared): flag.split("/")[0]
        for table in tables
        for flag, declared in table.items()
    }
