"""Statistics and conversion of block traces."""

import json
import os
from pathlib import Path
from typing import Any, cast

from wordline import _wordline
from wordline._api.trace_input import (
    Align,
    OnBadLine,
    TimeOrder,
    Traces,
    Volumes,
    paths,
    require_format,
    trace_options,
)
from wordline._api.trace_stat import TraceStat
from wordline._internal import written
from wordline._internal.arguments import path
from wordline._wordline import WordlineError


def trace_stat(
    trace: Traces,
    *,
    format: str | None = None,
    columns: str | None = None,
    on_bad_line: OnBadLine = "error",
    time_order: TimeOrder = "sort",
    time_gaps: str = "keep",
    align: Align = "keep",
    volumes: Volumes = "shared",
    idle_threshold_s: float = 1.0,
    page_read_us: float = 0.0,
    page_program_us: float = 0.0,
) -> TraceStat:
    """Returns statistics of a trace: requests, duration, sizes, footprint, sequential share, gaps
    and idle periods.

    Several files count as one trace, replayed one after the other. By default, requests are sorted
    by time, sizes and offsets are kept, and each volume has its own addresses. Raises WordlineError
    with file, line and column if a file cannot be read.

    `columns` states the meaning of the columns of a table in an unknown format, such as
    "time=1:us,offset=4:sectors,bytes=5,op=3" (`wordline trace stat --help`).

    An idle period begins when a request has been executed, which takes `page_read_us` or
    `page_program_us` per page of 4 KiB, and ends when the next request arrives. It is long if it
    exceeds `idle_threshold_s`.
    """
    options = trace_options(
        format, on_bad_line, time_order, align, volumes, columns=columns, time_gaps=time_gaps
    )
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
    columns: str | None = None,
    on_bad_line: OnBadLine = "error",
    time_order: TimeOrder = "sort",
    time_gaps: str = "keep",
    align: Align = "keep",
    volumes: Volumes = "shared",
) -> dict[str, Any]:
    """Writes a trace in the format `to`. The file appears complete or not at all. With "-" as
    `out`, the trace is written to standard output while it is read.

    Returns the number of requests `written` and `left_out`, and `notes` on information that the
    format cannot hold. Raises WordlineError if a file cannot be read or written.
    """
    options = trace_options(
        format, on_bad_line, time_order, align, volumes, columns=columns, time_gaps=time_gaps
    )
    (target,) = paths(path("out", out), "out")
    require_format("to", to)
    for source in map(Path, paths(trace)):
        if source.exists() and Path(target).exists() and source.samefile(target):
            raise WordlineError(f"{target}: is the trace itself; name another file to write")
    if target != "-":
        written.expect(os.path.realpath(target))
    answer = _wordline.trace_convert(paths(trace), target, to, options)
    return cast("dict[str, Any]", json.loads(answer))


def _number(name: str, value: object) -> float:
    """Returns a number; the simulator checks its range. Raises TypeError or WordlineError."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, not {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise WordlineError(f"{name}: {value} is too large; give a smaller number") from None
