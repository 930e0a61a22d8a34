"""Packages, operation modes and charts that the figures share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wordline._api.package import Package, Report
from wordline._render import charts
from wordline._render.plotly import Figure
from wordline.config import Value
from wordline_studies.figure import Numbers, Setup

PUBLISHED = Numbers("wordline_studies.nand")
MLC = "jung2013-mlc1"
SLC = "jung2013-slc"

# Rows per cache command: enough that the first and last row, which cannot overlap, have a small
# share.
ROWS = 32
# The shortest program takes 650,000 cycles of 1 ns (section 2.8.2); the slowest are those of table
# 2.1. These are the program times of figure 2.16 and of the package of two dies.
FROM_650_US: Mapping[str, Value] = {"timing.program_ns": [650_000, 2_200_000]}
COLOURS = ("#3b86c6", "#d8731c", "#12a07a", "#c2457f", "#e0a30a", "#7a6bc9", "#8b929c", "#7cc0ea")
OPERATIONS: tuple[Literal["program", "read"], ...] = ("program", "read")
WORDS = {"program": "writes (swr)", "read": "reads (srd)"}


@dataclass(frozen=True)
class Mode:
    """An operation mode: its scheduler, which selects the planes, and its rows per command."""

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
    """Builds a package of a device. `more` are keys below `nand`."""
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
    """Runs single-page requests, with as many outstanding as all dies and planes can use, and
    returns the report. A quick study runs fewer than `requests`."""
    return package.stream(operation, requests=setup.requests(requests), cache_rows=mode.rows)


def bars(
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    unit: str,
    colours: Sequence[str] = COLOURS,
    *,
    stacked: bool = False,
) -> Figure:
    """Draws grouped or stacked bars: a group per name, a colour per series."""
    values = {
        name: dict(zip(series, own, strict=True))
        for name, own in zip(names, zip(*series.values(), strict=True), strict=True)
    }
    return charts.bars(
        values,
        dict(zip(series, colours, strict=False)),
        unit,
        stacked=stacked,
        height=320,
        digits=".3~f",
    )


def lines(
    x: Sequence[float],
    series: Mapping[str, Sequence[float]],
    x_title: str,
    unit: str,
    *,
    log: bool = False,
) -> Figure:
    """Draws a line per series. An axis of swept points is labelled at these points."""
    return charts.sweep(x, series, dict(zip(series, COLOURS, strict=False)), x_title, unit, log=log)
