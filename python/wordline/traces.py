"""Block traces: what is in them, and turning one format into another."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict, cast

from wordline import _wordline
from wordline._wordline import WordlineError
from wordline.arguments import choice
from wordline.stat import TraceStat

Traces: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
OnBadLine: TypeAlias = Literal["error", "skip"]
TimeOrder: TypeAlias = Literal["error", "clamp", "sort"]
Align: TypeAlias = Literal["error", "expand", "keep"]
Volumes: TypeAlias = Literal["one", "stack", "shared"] | int
Fit: TypeAlias = Literal["error", "wrap", "scale"]

CHOICES = {
    "on_bad_line": ("error", "skip"),
    "time_order": ("error", "clamp", "sort"),
    "align": ("error", "expand", "keep"),
    "volumes": ("one", "stack", "shared"),
    "fit": ("error", "wrap", "scale"),
}


class TraceFormat(TypedDict):
    """A trace format that can be read; `extension` is the usual ending of its files' names."""

    name: str
    extension: str
    description: str


def trace_formats() -> list[TraceFormat]:
    """The formats that can be read. Each is recognised by content, plain, .gz, .zst or .xz."""
    return cast("list[TraceFormat]", json.loads(_wordline.formats()))


def trace_stat(
    trace: Traces,
    *,
    format: str | None = None,
    on_bad_line: OnBadLine = "error",
    time_order: TimeOrder = "sort",
    align: Align = "keep",
    volumes: Volumes = "shared",
    idle_threshold_s: float = 1.0,
    page_read_us: float = 0.0,
    page_program_us: float = 0.0,
) -> TraceStat:
    """What is in a trace: requests, duration, sizes, footprint, sequential share, gaps, idleness.

    Several files count as one trace, played one after the other. By default the recording is taken
    as it is, in order of time, its volumes side by side with addresses of their own. Raises
    WordlineError, naming file, line and column, if a file cannot be read.

    An idle period begins when a request has been executed, which takes `page_read_us` or
    `page_program_us` for each of its pages of 4 KiB, and ends when the next request comes; one
    above `idle_threshold_s` is long.
    """
    options = trace_options(format, on_bad_line, time_order, align, volumes)
    rule = {
        "idle_threshold_s": _number("idle_threshold_s", idle_threshold_s),
        "page_read_us": _number("page_read_us", page_read_us),
        "page_program_us": _number("page_program_us", page_program_us),
    }
    answer = _wordline.trace_stat(paths(trace), options | rule)
    return cast("TraceStat", json.loads(answer))


def trace_convert(
    trace: Traces,
    out: str | os.PathLike[str],
    *,
    to: str,
    format: str | None = None,
    on_bad_line: OnBadLine = "error",
    time_order: TimeOrder = "sort",
    align: Align = "keep",
    volumes: Volumes = "shared",
) -> dict[str, Any]:
    """Writes a trace in the format `to`; the file appears whole or not at all.

    Returns how many requests were `written` and `left_out`, and `notes` on what the format could
    not keep. Raises WordlineError if a file cannot be read or written.
    """
    options = trace_options(format, on_bad_line, time_order, align, volumes)
    (target,) = paths(out)
    if not isinstance(to, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"to must be the name of a format, not {to!r}")
    for source in map(Path, paths(trace)):
        if source.exists() and Path(target).exists() and source.samefile(target):
            raise WordlineError(f"{target}: is the trace itself; name another file to write")
    answer = _wordline.trace_convert(paths(trace), target, to, options)
    return cast("dict[str, Any]", json.loads(answer))


def trace_options(
    format: str | None,
    on_bad_line: str,
    time_order: str,
    align: str,
    volumes: str | int,
    fit: str = "error",
) -> dict[str, object]:
    """The reader's options, checked. Raises TypeError or WordlineError."""
    if format is not None:
        _require_format(format)
    return {
        "format": format,
        "on_bad_line": choice("on_bad_line", on_bad_line, CHOICES["on_bad_line"]),
        "time_order": choice("time_order", time_order, CHOICES["time_order"]),
        "align": choice("align", align, CHOICES["align"]),
        "volumes": _volumes(volumes),
        "fit": choice("fit", fit, CHOICES["fit"]),
    }


def paths(trace: Traces | None) -> list[str]:
    """The trace files as strings. Raises TypeError if they are not paths."""
    if trace is None:
        return []
    listed = [trace] if isinstance(trace, str | os.PathLike) else list(trace)
    return [_path(one) for one in listed]


def named(streams: Mapping[str, Traces] | None) -> list[tuple[str, list[str]]]:
    """The trace files of streams, by name. Raises TypeError or WordlineError."""
    if streams is None:
        return []
    if not isinstance(streams, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"streams must be a mapping of names to traces, not {streams!r}")
    return [(_stream_name(name), _some(name, trace)) for name, trace in streams.items()]


def _stream_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a stream must be a string, not {name!r}")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise WordlineError(
            f"streams: {name!r} is not the name of a stream; give 1 to 64 letters, digits, - and _"
        )
    return name


def _some(name: str, trace: Traces) -> list[str]:
    files = paths(trace)
    if not files:
        raise WordlineError(f"streams: {name} has no trace; name a file, or leave the stream out")
    return files


def _path(one: object) -> str:
    path = os.fspath(one) if isinstance(one, str | os.PathLike) else None  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
    if not isinstance(path, str):
        raise TypeError(f"trace must be a path or a list of paths, not {one!r}")
    try:
        usable = path != "" and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise WordlineError(f"trace: {path!r} is not the path of a file; check the path")
    return path


def _number(name: str, value: object) -> float:
    """A number; its range is checked where it is used."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise WordlineError(f"{name}: {value} is too large; give a smaller number") from None


def _require_format(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"format must be a string, not {name!r}")
    known = [one["name"] for one in trace_formats()]
    if name not in known:
        raise WordlineError(f"format: '{name}' is not one of {', '.join(known)}")


def _volumes(value: str | int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise TypeError(f"volumes must be one, stack, shared or a number, not {value!r}")
    number = value.isascii() and value.isdecimal() and int(value) < 2**32
    if value not in CHOICES["volumes"] and not number:
        raise WordlineError(f"volumes: '{value}' is not one, stack, shared or a volume's number")
    return value
