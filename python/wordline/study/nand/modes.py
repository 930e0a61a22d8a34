"""Packages, operation modes and charts that the figures share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from wordline.config import Value
from wordline.figures import LINEAR, figure, line
from wordline.package import Package, Report
from wordline.study.figure import Numbers, Setup

PUBLISHED = Numbers("wordline.study.nand")
MLC = "jung2013-mlc1"
SLC = "jung2013-slc"

# Rows that a cache command joins: enough that what its first and last row cannot overlap is small.
ROWS = 32
COLOURS = ("#3b86c6", "#d8731c", "#12a07a", "#c2457f", "#e0a30a", "#7a6bc9", "#8b929c", "#7cc0ea")
OPERATIONS: tuple[Literal["program", "read"], ...] = ("program", "read")
WORDS = {"program": "writes (swr)", "read": "reads (srd)"}


@dataclass(frozen=True)
class Mode:
    """An operation mode: the scheduler that gives it its planes, and rows in a command."""

    name: str
    scheduler: str
    rows: int


LEGACY = Mode("legacy", "die-first", 1)
CACHE = Mode("cache", "die-first", ROWS)
TWO = Mode("2x", "plane-first", 1)
TWO_CACHE = Mode("2x cache", "plane-first", ROWS)
MODES = (LEGACY, CACHE, TWO, TWO_CACHE)


def part(
    setup: Setup,
    device: str = MLC,
    *,
    dies: int = 1,
    planes: int = 2,
    mode: Mode = LEGACY,
    more: Mapping[str, Value] | None = None,
) -> Package:
    """A package of a device; `more` are keys below `nand`."""
    more = more or {}
    overrides: dict[str, Value] = {
        "nand.geometry.dies_per_package": dies,
        "nand.geometry.planes_per_die": planes,
        "nand.scheduler": mode.scheduler,
    }
    overrides |= {f"nand.{key}": value for key, value in more.items()}
    said = ", ".join(f"{key} {value}" for key, value in more.items())
    label = f"{device}, {dies} x {planes} planes, {mode.scheduler}" + (f", {said}" if said else "")
    return setup.package(device, overrides, label)


def stream(
    setup: Setup,
    package: Package,
    operation: Literal["program", "read"],
    mode: Mode = LEGACY,
    requests: int = 8192,
) -> Report:
    """Requests of a page each, as many under way as every die and plane can use."""
    return package.stream(operation, requests=setup.requests(requests), cache_rows=mode.rows)


def gain(first: float, last: float) -> float:
    """By how much the last is above the first. Per cent."""
    return 100 * (last / first - 1)


def bars(
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    unit: str,
    colours: Sequence[str] = COLOURS,
    **more: Any,
) -> dict[str, Any]:
    """Grouped or stacked bars: a group a name, a colour a series."""
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": name,
            "x": list(names),
            "y": list(values),
            "marker": {"color": colour},
            "hovertemplate": f"%{{x}}, {name}: %{{y:.3~f}} {unit}<extra></extra>",
        }
        for (name, values), colour in zip(series.items(), colours, strict=False)
    ]
    layout: dict[str, Any] = {
        "barmode": "group",
        "yaxis": {"title": {"text": unit}, **LINEAR},
        "xaxis": {"type": "category"},
    }
    return figure(data, height=320, **(layout | more))


def lines(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    x_title: str,
    y_title: str,
    *,
    log: bool = False,
) -> dict[str, Any]:
    """A line a series. A logarithmic x axis is labelled with the values."""
    data = [
        line(name, colour, [float(one) for one in x], list(values))
        for (name, values), colour in zip(series.items(), COLOURS, strict=False)
    ]
    axis: dict[str, Any] = {
        "title": {"text": x_title},
        "tickvals": list(x),
        "ticktext": [f"{one:g}" for one in x],
    }
    if log:
        axis["type"] = "log"
    y_axis = {"title": {"text": y_title}, **LINEAR}
    return figure(data, height=320, xaxis=axis, yaxis=y_axis)
