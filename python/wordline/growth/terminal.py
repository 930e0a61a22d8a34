"""What the terminal shows of growth."""

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from wordline.growth.cost import MOST_RATIO, Line, Measured
from wordline.units import ABSENT, figures


class Bar:
    """A progress bar on standard error: processes done, and time to go."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def show(self, done: int, total: int, what: str) -> None:
        """Draws how far it has come."""
        self._progress.update(self._task, completed=done, total=total, description=what)


def print_growth(found: Sequence[Measured], written: Sequence[Path]) -> None:
    """A row for each series, and where the page is."""
    console = Console(highlight=False)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("sweep", "load"):
        table.add_column(name, overflow="fold")
    for name in ("ns a request", "by request", "by event", "without misses", "instructions"):
        table.add_column(name, justify="right")
    table.add_column("verdict", overflow="fold")
    for one in found:
        for line in one.lines:
            table.add_row(one.sweep.title, line.name, *_numbers(line), _verdict(line))
    console.print(table)
    console.print(f"Flat: the largest cost of a series is at most {MOST_RATIO} times its least.")
    for path in written:
        console.print(Text(f"Wrote {path}"), soft_wrap=True)


def _numbers(line: Line) -> list[str]:
    low, high = line.least.ns_per_request, line.largest.ns_per_request
    left = line.ratio_left if line.dear else None
    return [f"{low:,.0f} to {high:,.0f}", *map(_times, (line.ratio, line.event_ratio, left)),
            _times(line.instruction_ratio)]  # fmt: skip


def _times(ratio: float | None) -> str:
    return ABSENT if ratio is None else f"x {figures(ratio)}"


def _verdict(line: Line) -> Text:
    style = "green" if line.verdict.startswith("flat") else "yellow"
    return Text(line.verdict, style=style)
