"""The options of the command line, each declared once: what `click` makes of them, and what `argv`
reads without it, comes from here.

A declaration has the words that `click.option` takes, as plain data, because it is imported at
every start. Beside them: `name` is the parameter, if it is not the flag's; a tuple as `type` are
the words to choose from, "path" is a path; `parse` makes the value of all
that was given to a `multiple` option, and raises ValueError with what is wrong.
"""

from __future__ import annotations

from wordline.trace_input import CHOICES, COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypeAlias

Options: TypeAlias = "Mapping[str, Mapping[str, Any]]"
"""Declarations by their flags."""

STRICT = {"on_bad_line": "error", "time_order": "error", "align": "error", "volumes": "one"}
AS_RECORDED = STRICT | {"time_order": "sort", "align": "keep", "volumes": "shared"}
# Caches know no time.
UNTIMED = AS_RECORDED | {"time_order": "file"}


def name(flag: str, declared: Mapping[str, Any]) -> str:
    """The parameter that an option sets."""
    return declared.get("name") or flag.split("/")[0].lstrip("-").replace("-", "_")


def pairs(values: Sequence[str]) -> list[tuple[str, str]]:
    """Each KEY=VALUE as a pair. Raises ValueError."""
    found: list[tuple[str, str]] = []
    for text in values:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ValueError(f"{text!r} is not KEY=VALUE, such as ftl.gc.victim=fifo")
        found.append((key.strip(), value.strip()))
    return found


def streams(values: Sequence[str]) -> dict[str, list[str]]:
    """Each NAME=FILE[,FILE...] as the files of a stream. Raises ValueError."""
    found: dict[str, list[str]] = {}
    for text in values:
        key, equals, files = text.partition("=")
        listed = [file for file in files.split(",") if file]
        if not equals or not key or not listed:
            raise ValueError(f"{text!r} is not NAME=FILE, such as db=disk.csv")
        found.setdefault(key, []).extend(listed)
    return found


def choice(word: str, text: str, default: str) -> dict[str, Any]:
    """One of the words that `CHOICES` has for an option of the reader."""
    return {"type": CHOICES[word], "default": default, "show_default": True, "help": text}


def flag(text: str) -> dict[str, Any]:
    """An option without a value."""
    return {"is_flag": True, "help": text}


def value(
    metavar: str, text: str, default: object = None, of: Any = None, **more: Any
) -> dict[str, Any]:
    """A value `of` a type, by default that of its default, or text. A default is shown."""
    declared = {"type": of or (str if default is None else type(default)), "metavar": metavar}
    shown = {} if default is None else {"default": default, "show_default": True}
    return {**declared, **shown, "help": text, **more}


def reader(defaults: Mapping[str, str]) -> Options:
    """The options of everything that reads a trace."""
    return {
        "--format": value(
            "NAME",
            "Format of the trace. [default: detected by content; `wordline trace formats` "
            "lists them]",
        ),
        "--columns": value(
            "FIELD=COLUMN:UNIT,...",
            "The columns of a table in no known format, by number from 1 or by name in "
            f"the header: {COLUMNS}. time is in s, ms, us, ns, ps or filetime (100 ns), or left "
            "out; offset and bytes in bytes, sectors (512), KiB, MiB or pages of a size such as "
            "4k; op is R, W, read, write, trim, flush and the like, or as spelled in "
            "op=3:1=read:0=write; volume is a number, or text if volume=2:names. Values equal in "
            "all lines are fixed: bytes=fixed:4KiB, op=fixed:read. The delimiter is the tab, "
            "semicolon or comma of the first line, else white space, or as in delimiter=space.",
        ),
        "--on-bad-line": choice(
            "on_bad_line",
            "A line that cannot be parsed: stop, or skip and count it.",
            defaults["on_bad_line"],
        ),
        "--time-gaps": value(
            "keep|cut=TIME|scale=FACTOR@TIME",
            "Pauses, and clocks that jump. cut=1s: a gap between timestamps of more than "
            "1 s, or a clock that goes back by more, becomes a gap of 1 s. scale=0.01@1s: the "
            "excess over 1 s shrinks to a hundredth. Units: ps, ns, us, ms, s, min, h, d.",
            "keep",
        ),
        "--time-order": choice(
            "time_order",
            "A timestamp earlier than the previous one: stop, clamp to the previous one, sort, or "
            "keep file order and ignore time.",
            defaults["time_order"],
        ),
        "--align": choice(
            "align",
            "An offset or size that is not a multiple of 512 bytes: stop, expand to whole "
            "sectors, or keep it.",
            defaults["align"],
        ),
        "--volumes": value(
            "one|stack|shared|N",
            "A trace of several volumes: reject it, concatenate them, map all to the same "
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
PROGRESS: Options = {
    "--progress/--no-progress": {
        "default": None,
        "help": "Progress bar on standard error. [default: if that is a terminal]",
    }
}
JSON: Options = {"--json": {"name": "as_json", **flag("Print JSON instead of a table.")}}

RUN: Options = {
    **SET,
    "--trace": value(
        "FILE...",
        "Block trace to replay; several are replayed one after the other. [default: the "
        "device's [workload] table]",
        multiple=True,
    ),
    "--stream": value(
        "NAME=FILE[,FILE...]",
        "Block trace of one of several streams replayed concurrently; repeatable. A NAME "
        "that the device's [[streams]] do not declare is a stream with their defaults.",
        name="streams",
        multiple=True,
        parse=streams,
    ),
    "--fio": value(
        "JOBFILE",
        "Load from a fio job file: each job is a stream; sizes in per cent refer to the "
        "device. Options without a counterpart in simulation are listed, or rejected.",
    ),
    "--fio-section": value("JOB", "Run only this job of --fio. [default: all, concurrently]"),
    "--slowdown": flag(
        "Then run each stream alone, to measure how much the others slow it down; takes about as "
        "long again."
    ),
    "--seed": value("N", "Seed of every random choice.", 1),
    "--out": value(
        "DIR",
        "Folder for the results; replaced if it holds those of a run, rejected if it "
        "holds anything else. [default: out/DEVICE-TRACE, numbered if taken]",
        of="path",
    ),
    "--requests": flag(
        "Also write requests.parquet: one row per request, with the latency breakdown."
    ),
    "--max-requests": value("N", "End after N requests. [default: the whole input]", of=int),
    "--fit": choice(
        "fit",
        "A request beyond the device's end: stop, wrap around, or scale all addresses.",
        "error",
    ),
    **reader(STRICT),
    "--verify": flag(
        "Track every page and stop at the first read that does not return the newest write."
    ),
    "--power-cut-every": value(
        "N",
        "Cut power at random, once in N requests on average, and recover, which reads the whole "
        "device; with --verify every page is checked after each cut. [default: never]",
        of=int,
    ),
    "--timeline": value("FILE", "Also write a timeline of channels, dies and planes for Perfetto."),
    "--timeline-from": value(
        "TIME",
        "Simulated time at which the timeline starts, such as 10ms (ps, ns, us, ms, s).",
        "0",
    ),
    "--timeline-until": value(
        "TIME", "Simulated time at which the timeline ends. [default: 100ms after its start]"
    ),
    **PROGRESS,
    "--no-report": flag("Do not write report.html."),
    "--json": {"name": "as_json", **flag("Print summary.json instead of the tables.")},
}

# Of what makes pages of the requests of a trace.
PAGES: Options = {
    "--page-bytes": value(
        "N",
        "Requests are split into pages of N bytes; a part of a page counts as the page.",
        4096,
    ),
    "--max-requests": value("N", "Take the first N requests of the trace. [default: all]", of=int),
    "--out": value(
        "DIR",
        "Folder for the numbers and a page with a plot; a former result there is "
        "replaced. [default: none is written]",
        of="path",
    ),
    **PROGRESS,
    **JSON,
    **reader(UNTIMED),
}
