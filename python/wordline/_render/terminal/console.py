"""The terminal, and output that several commands share."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

LEAST_WIDTH = 72
"""Minimum width of tables in columns. On a narrower terminal lines wrap."""
NARROWED_WIDTH = 40
"""Minimum width of tables that can leave out columns."""


def console(*, stderr: bool = False, least: int = LEAST_WIDTH) -> Console:
    """Returns the console of standard output or standard error, at least `least` columns wide."""
    there = Console(highlight=False, stderr=stderr)
    if there.width < least:
        wide = 80 if there.width == 0 else least
        return Console(highlight=False, stderr=stderr, width=wide)
    return there


def print_rows(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Prints a table. Only its last column may wrap."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in headings:
        table.add_column(heading, no_wrap=heading != headings[-1], overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def print_figures(headings: Sequence[str], rows: Iterable[Sequence[str]], spare: int) -> None:
    """Prints a table. On a narrow terminal leaves out some of its last `spare` columns."""
    listed = [list(row) for row in rows]

    def make(columns: Sequence[str]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        places = [headings.index(column) for column in columns]
        for column in columns:
            table.add_column(column, no_wrap=True)
        for row in listed:
            table.add_row(*(Text(row[place]) for place in places))
        return table

    left_out = list(reversed(headings[len(headings) - spare :]))
    console().print(narrowed(headings, left_out, make))


def print_files(shown: Console, files: Sequence[Path]) -> None:
    """Prints the paths of the files of a result."""
    if not files:
        return
    report = next((path for path in files if path.name == "report.html"), None)
    others = ", ".join(path.name for path in files if path != report)
    shown.print(f"Files in {_near(files[0].parent)}: {others}", soft_wrap=True, markup=False)
    if report:
        shown.print(Text("Report: ", style="bold") + Text(str(_near(report))), soft_wrap=True)


def narrowed(
    columns: Sequence[str], spare: Sequence[str], make: Callable[[Sequence[str]], Table]
) -> Table:
    """Returns the table that `make` makes of the columns. On a narrow terminal leaves out the
    `spare` columns, in the order given."""
    left = list(columns)
    for column in spare:
        if _least_width(make(left)) <= console(least=NARROWED_WIDTH).width:
            break
        left.remove(column)
    return make(left)


def _least_width(table: Table) -> int:
    """Returns the minimum width of a table whose foldable columns are as narrow as possible."""
    for column in table.columns:
        if column.overflow == "fold":
            column.max_width = column.min_width
    shown = console()
    return Measurement.get(shown, shown.options.update_width(1 << 16), table).maximum


def _near(path: Path) -> Path:
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) and path != here else path
