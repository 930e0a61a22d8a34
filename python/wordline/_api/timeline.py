"""Options of the timeline of a run: its file, and the simulated time that it covers."""

from __future__ import annotations

import os

from wordline._api import spelling
from wordline._internal import arguments, written
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PICOSECONDS = {"ps": 1, "ns": 10**3, "us": 10**6, "µs": 10**6, "ms": 10**9, "s": 10**12}
LATEST = 2**64 - 1


def timeline_options(
    timeline: str | os.PathLike[str] | None, start: str, end: str | None, traces: Sequence[str]
) -> dict[str, object]:
    """Checks and returns the simulator's options for the timeline. Raises TypeError or
    WordlineError."""
    if timeline is None:
        if end is None and start == "0":
            return {}
        if end is not None or picoseconds("timeline_from", start) != 0:
            raise WordlineError(
                spelling.message(
                    "--timeline-from and --timeline-until need a timeline; name its file with "
                    "--timeline"
                )
            )
        return {}
    path = _path(timeline)
    for trace in traces:
        if path.exists() and os.path.exists(trace) and path.samefile(trace):  # noqa: PTH110
            raise WordlineError(f"{path}: is the trace itself; name another file for the timeline")
    written.expect(str(path))
    return {
        "timeline": str(path),
        "timeline_from_ps": picoseconds("timeline_from", start),
        "timeline_until_ps": None if end is None else picoseconds("timeline_until", end),
    }


def require_outside(timeline: str | os.PathLike[str] | None, out: str) -> None:
    """Raises WordlineError if the timeline is in the results folder, which is replaced as a
    whole."""
    if timeline is not None and _path(timeline).resolve().is_relative_to(out):
        raise WordlineError(
            f"{os.fspath(timeline)}: is in the folder of the results, which is replaced as a "
            "whole; name a file outside it for the timeline"
        )


def picoseconds(name: str, time: str) -> int:
    """Converts a time such as "10ms" to picoseconds, rounding down.

    Units are ps, ns, us, ms and s; 0 needs no unit. Raises TypeError or WordlineError.
    """
    if not isinstance(time, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"{name} must be a string such as '10ms', not {arguments.shown(time)}")
    import re
    from decimal import Decimal

    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([a-zµ]*)", time.strip())
    number = Decimal(found[1]) if found else Decimal()
    scale = PICOSECONDS.get(found[2], 1 if number == 0 and not found[2] else 0) if found else 0
    if not scale:
        raise WordlineError(
            f"{name}: '{time}' is not a time; write a number and ps, ns, us, ms or s"
        )
    if number * scale > LATEST:
        raise WordlineError(f"{name}: {time} is beyond the 213 days that the clock covers")
    return int(number * scale)


def seconds(name: str, time: str | float) -> float:
    """Converts a duration such as "60s" or "5min", or a number of seconds, to seconds. Raises
    WordlineError."""
    if isinstance(time, int | float) and not isinstance(time, bool):
        found = float(time)
    else:
        units = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
        text = str(time).strip()
        unit = text.lstrip("0123456789. ")
        try:
            found = float(text.removesuffix(unit)) * units[unit or "s"]
        except (KeyError, ValueError):
            raise WordlineError(
                f"{name}: {arguments.shown(time)} is not a time; write a number and ms, s, min or h"
            ) from None
    if not 0 <= found < 1e9:
        raise WordlineError(f"{name}: {arguments.shown(time)} is out of range; give 0s to 1e9 s")
    return found


def _path(timeline: str | os.PathLike[str]) -> Path:
    path = arguments.path("timeline", timeline, "the path of a file")
    if not path or "\0" in path:
        raise WordlineError(
            f"timeline: {arguments.shown(path)} is not the path of a file; name a file"
        )
    from pathlib import Path

    return Path(path)
