"""Checks of the files and options of the trace reader."""

import os
from collections.abc import Mapping, Sequence

from wordline._internal.arguments import choice, shown
from wordline._internal.arguments import path as arguments_path
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    OnBadLine: TypeAlias = Literal["error", "skip"]
    TimeOrder: TypeAlias = Literal["error", "clamp", "sort", "file"]
    Align: TypeAlias = Literal["error", "expand", "keep"]
    Volumes: TypeAlias = Literal["one", "stack", "shared"] | int
    Fit: TypeAlias = Literal["error", "wrap", "scale"]

Traces: "TypeAlias" = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

COLUMNS = "time=1:us,offset=4:sectors,bytes=5,op=3"

# File name of the bundled trace.
BUNDLED = "postgresql-mixed.csv.gz"
CHOICES = {
    "on_bad_line": ("error", "skip"),
    "time_order": ("error", "clamp", "sort", "file"),
    "align": ("error", "expand", "keep"),
    "volumes": ("one", "stack", "shared"),
    "fit": ("error", "wrap", "scale"),
}
# Literal types of the choices, created on first use because `typing` is slow to import.
_TYPES = {
    "OnBadLine": "on_bad_line",
    "TimeOrder": "time_order",
    "Align": "align",
    "Volumes": "volumes",
    "Fit": "fit",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _TYPES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from typing import Literal

        words = Literal[CHOICES[_TYPES[name]]]
        return words | int if name == "Volumes" else words


def trace_options(
    format: str | None,
    on_bad_line: str,
    time_order: str,
    align: str,
    volumes: str | int,
    fit: str = "error",
    columns: str | None = None,
    time_gaps: str = "keep",
) -> dict[str, object]:
    """Checks and returns the options of the trace reader. Raises TypeError or WordlineError."""
    if format is not None:
        require_format("format", format)
    if columns is not None and not isinstance(columns, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"columns must be a string such as {COLUMNS!r}, not {shown(columns)}")
    if not isinstance(time_gaps, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"time_gaps must be a string such as 'cut=1s', not {shown(time_gaps)}")
    return {
        "format": format,
        "columns": columns,
        "time_gaps": time_gaps,
        "on_bad_line": choice("on_bad_line", on_bad_line, CHOICES["on_bad_line"]),
        "time_order": choice("time_order", time_order, CHOICES["time_order"]),
        "align": choice("align", align, CHOICES["align"]),
        "volumes": _volumes(volumes),
        "fit": choice("fit", fit, CHOICES["fit"]),
    }


def bundled() -> str:
    """Returns the path of the bundled trace."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(package, "bundled", BUNDLED)


def paths(trace: Traces | None, name: str = "trace") -> list[str]:
    """Returns the paths in `trace` as strings. The name of the bundled trace stands for that trace
    unless a file has the same name. Raises TypeError, which calls the parameter `name`, if they are
    not paths."""
    if trace is None:
        return []
    if isinstance(trace, str | bytes | os.PathLike) or hasattr(trace, "read"):
        return [_path(trace, name)]
    try:
        listed = list(trace)
    except TypeError:
        listed = [trace]
    return [_path(one, name) for one in listed]


def named(streams: Mapping[str, Traces] | None) -> list[tuple[str, list[str]]]:
    """Returns the trace files of streams by name. Raises TypeError or WordlineError."""
    if streams is None:
        return []
    if not isinstance(streams, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"streams must be a mapping of names to traces, not {shown(streams)}")
    return [(_stream_name(name), _some(name, trace)) for name, trace in streams.items()]


def _stream_name(name: object) -> str:
    if not isinstance(name, str):
        raise TypeError(f"the name of a stream must be a string, not {shown(name)}")
    import re

    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        raise WordlineError(
            f"streams: {shown(name)} is not the name of a stream; give 1 to 64 letters, digits, "
            "- and _"
        )
    return name


def _some(name: str, trace: Traces) -> list[str]:
    files = paths(trace)
    if not files:
        raise WordlineError(f"streams: {name} has no trace; name a file, or leave the stream out")
    return files


def _path(one: object, name: str) -> str:
    path = arguments_path(name, one, "a path or a list of paths")
    try:
        usable = path != "" and b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise WordlineError(f"{name}: {shown(path)} is not the path of a file; check the path")
    return bundled() if path == BUNDLED and name != "out" and not os.path.lexists(path) else path


def require_format(parameter: str, name: object) -> None:
    """Raises TypeError or WordlineError unless `name` is a trace format. `parameter` is its
    name in messages."""
    if not isinstance(name, str):
        raise TypeError(f"{parameter} must be a string, not {shown(name)}")
    from wordline._api.catalogue import trace_formats

    known = [one["name"] for one in trace_formats()]
    if name not in known:
        raise WordlineError(f"{parameter}: '{name}' is not one of {', '.join(known)}")


def _volumes(value: str | int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise TypeError(f"volumes must be one, stack, shared or a number, not {shown(value)}")
    number = value.isascii() and value.isdecimal() and int(value) < 2**32
    if value not in CHOICES["volumes"] and not number:
        raise WordlineError(f"volumes: '{value}' is not one, stack, shared or a volume's number")
    return value
