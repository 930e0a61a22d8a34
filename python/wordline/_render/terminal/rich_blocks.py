"""Lines and tables on standard output, with rich."""

from collections.abc import Iterable

from rich import box
from rich.table import Table
from rich.text import Text

from wordline._render.terminal.block import Grid, Line
from wordline._render.terminal.console import console


def show(blocks: Iterable[Line | Grid]) -> None:
    """Prints lines and tables."""
    shown = console()
    for block in blocks:
        shown.print(_text(block) if isinstance(block, Line) else _table(block))


def _text(line: Line) -> Text:
    if line.bold:
        return Text(line.bold, style="bold").append(line.text, style="not bold")
    return Text(line.text, style="dim" if line.dim else "")


def _table(grid: Grid) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    if grid.title:
        table.title, table.title_justify = Text(grid.title, style="bold"), "left"
    if grid.caption:
        table.caption, table.caption_justify = Text(grid.caption, style="dim"), "left"
    for place, heading in enumerate(map(Text, grid.headings)):
        justify = "left" if grid.left and place == 0 else "right"
        if not grid.least:
            table.add_column(heading, justify=justify)
        elif place == 0:
            table.add_column(heading, justify=justify, min_width=grid.least[0], overflow="fold")
        else:
            table.add_column(heading, justify=justify, no_wrap=True, min_width=grid.least[place])
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table
