"""Parts of the output of a command: lines and tables."""

from collections.abc import Sequence
from typing import NamedTuple


class Line(NamedTuple):
    """A line of text, which is wrapped between words. `bold` precedes `text`."""

    text: str
    bold: str = ""
    dim: bool = False


class Grid(NamedTuple):
    """A table. Columns are right-justified, except the first if `left`. `least` are the minimum
    widths of the columns; with `least`, only cells of the first column may wrap."""

    headings: list[str]
    rows: list[list[str]]
    title: str = ""
    caption: str = ""
    left: bool = False
    least: Sequence[int] = ()
