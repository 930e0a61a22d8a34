"""Terminal output of trace statistics."""

from collections.abc import Callable, Iterable
from typing import Any, cast

from rich import box
from rich.table import Table
from rich.text import Text

from wordline._render.terminal.console import console
from wordline._render.trace_format_text import formats
from wordline._render.units import ABSENT, US_PER_S, duration, figures, share, size, whole


def print_stat(stat: dict[str, Any]) -> None:
    """Prints the statistics of a trace in groups."""
    shown = console()
    for line in formats(stat["files"]):
        shown.print(Text(f"Read: {line}"))
    for note in stat["notes"]:
        shown.print(Text(f"Note: {note}", style="dim"))
    told = {key: value for key, value in stat.items() if not isinstance(value, list)}
    single = {key: value for key, value in told.items() if not isinstance(value, dict)}
    groups = {key: value for key, value in told.items() if key not in single}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
    table.add_column(min_width=34)
    table.add_column(justify="right", min_width=14)
    for name, group in {"requests": single, **groups}.items():
        table.add_section()
        table.add_row(Text(STAT_GROUPS.get(name, name.replace("_", " ")), style="bold"), "")
        for label, text in _stat_rows(cast("dict[str, Any]", group), ""):
            table.add_row(Text(f"  {label}"), text)
    shown.print(table)


STAT_GROUPS = {
    "footprint": "footprint, in pages of 4 KiB",
    "gaps": "gaps between arrivals",
    "idle": "idle periods, all volumes together",
    "reuse": "reuse distance",
    "trace": "actions of the reader",
}
STAT_UNITS: dict[str, Callable[[float], str]] = {
    "bytes": size,
    "mib": lambda mib: size(mib * 2**20),
    "percent": lambda percent: share(percent / 100),
    "ms": lambda ms: duration(ms * 1e3),
    "s": lambda s: duration(s * US_PER_S),
    "us": duration,
}


def _stat_rows(group: dict[str, Any], prefix: str) -> Iterable[tuple[str, str]]:
    for key, value in group.items():
        if isinstance(value, dict):
            label = f"{prefix}{key.replace('_', ' ')}: "
            yield from _stat_rows(cast("dict[str, Any]", value), label)
        else:
            label, text = _measured(key, value)
            yield prefix + label, text


def _measured(key: str, value: float | str | None) -> tuple[str, str]:
    """Splits a key from its unit, and formats the value with the unit."""
    words = key.split("_")
    unit = next((word for word in words if word in STAT_UNITS), None)
    if unit:
        words.remove(unit)
    label = " ".join(words) or "all"
    if unit == "percent" and "of" not in words:
        label += ", share"
    if value is None:
        return label, ABSENT
    if isinstance(value, bool):
        return label, "yes" if value else "no"
    if isinstance(value, str):
        return label, value
    if unit:
        return label, STAT_UNITS[unit](value)
    return label, whole(value) if isinstance(value, int) else figures(value)
