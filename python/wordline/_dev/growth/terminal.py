"""Terminal output of `wordline growth`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from wordline._dev.growth.cost import MOST_RATIO, Line, Measured
from wordline._render.terminal.console import NARROWED_WIDTH, console, narrowed
from wordline._render.terminal.progress import ProgressBar
from wordline._render.units import ABSENT, figures

RATIOS = ("per request", "per event", "without misses", "instructions")


class Bar(ProgressBar):
    """A progress bar on standard error: completed processes, and remaining time."""

    def __init__(self) -> None:
        super().__init__(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )

    def show(self, done: int, total: int, what: str) -> None:
        """Draws the progress."""
        self._progress.update(self._task, completed=done, total=total, description=what)


def print_growth(found: Sequence[Measured], written: Sequence[Path]) -> None:
    """Prints a row per series, and the path of the page."""
    shown = console(least=NARROWED_WIDTH)
    columns = ("ns per request", *RATIOS)
    shown.print(narrowed(columns, tuple(reversed(RATIOS)), partial(_table, found)))
    shown.print(f"Flat: the largest cost of a series is at most {MOST_RATIO} times its smallest.")
    for path in written:
        shown.print(Text(f"Wrote {path}"), soft_wrap=True)


def _table(found: Sequence[Measured], columns: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("sweep", no_wrap=True)
    # Columns have equal widths, so that the terminal is divided evenly.
    table.add_column("load", min_width=8, overflow="fold")
    for column in columns:
        table.add_column("\n".join(column.rsplit(" ", 1)), justify="right", no_wrap=True)
    table.add_column("verdict", min_width=8, overflow="fold")
    for one in found:
        for line in one.lines:
            cells = _numbers(line)
            numbers = (cells[column] for column in columns)
            table.add_row(one.sweep.name, line.name, *numbers, _verdict(line))
    return table


def _numbers(line: Line) -> dict[str, str]:
    low, high = line.least.ns_per_request, line.largest.ns_per_request
    left = line.ratio_left if line.dear else None
    ratios = (line.ratio, line.event_ratio, left, line.instruction_ratio)
    return {
        "ns per request": f"{low:,.0f} to {high:,.0f}",
        **dict(zip(RATIOS, map(_times, ratios), strict=True)),
    }


def _times(ratio: float | None) -> str:
    return ABSENT if ratio is None else f"x {figures(ratio)}"


def _verdict(line: Line) -> Text:
    style = "green" if line.verdict.startswith("flat") else "yellow"
    return Text(line.verdict, style=style)
