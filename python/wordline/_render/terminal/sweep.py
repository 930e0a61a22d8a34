"""Terminal output of a sweep."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, SpinnerColumn, TextColumn

from wordline._internal.statistics import HALF_WIDTH
from wordline._render.metric import Metric, key_name, metric, value_text
from wordline._render.terminal.console import print_figures
from wordline._render.terminal.progress import ProgressBar, clock
from wordline._render.units import many

if TYPE_CHECKING:
    from wordline._sweep import Sweep
    from wordline._sweep.engine import State

SHOWN = (
    "latency.read.p99_us",
    "latency.write.p99_us",
    "throughput.iops",
    "flash.write_amplification",
)
OF_CACHE = ("cache.hit_ratio", "flash.erases")
"""Metrics of flash in front of a disk, shown first."""
MOST_ROWS = 24


class Line(ProgressBar):
    """Progress of a sweep: points done, running and failed; remaining time."""

    def __init__(self) -> None:
        super().__init__(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[left]}", style="dim"),
            left="",
            fraction=None,
        )

    def show(self, state: State) -> None:
        """Draws the progress of a sweep."""
        failed = f", {state.failed} failed" if state.failed else ""
        left = "" if state.left_s is None else f"{clock(state.left_s)} left"
        self._fill(
            (state.done + state.failed) / state.total,
            f"{state.done} of {many(state.total, 'point')}, {state.running} running{failed}",
            left=left,
        )


def print_sweep(sweep: Sweep, place: str) -> None:
    """Prints metrics of each combination of keys, and the path of the table of points."""
    table = sweep.table()
    done = table.filter(table["status"] == "done")
    if done.height:
        _print_figures(sweep)
    counts = f"{many(done.height, 'point')} done"
    failed = f", {sweep.failed} failed" if sweep.failed else ""
    print(f"{counts}{failed}; {Path(place, 'points.parquet')} has one row per point")


def _print_figures(sweep: Sweep) -> None:
    rows = sweep.intervals()
    keys = [key for key in sweep.keys if key != "seed"]
    figures = (*(OF_CACHE if "cache.hit_ratio" in rows.columns else ()), *SHOWN)
    shown = [metric(figure) for figure in figures if figure in rows.columns]
    titles = [*map(key_name, keys), *(one.name for one in shown)]
    first = rows.head(MOST_ROWS).to_dicts()
    print_figures(titles, (_cells(row, keys, shown) for row in first), spare=len(shown) - 1)
    if rows.height > MOST_ROWS:
        print(f"and {many(rows.height - MOST_ROWS, 'more combination')}")


def _cells(row: dict[str, Any], keys: list[str], shown: list[Metric]) -> list[str]:
    cells = [value_text(row[key]) for key in keys]
    return cells + [one.text(row[one.path], row[one.path + HALF_WIDTH]) for one in shown]
