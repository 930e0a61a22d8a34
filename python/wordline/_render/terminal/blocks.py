"""Lines and tables on standard output.

If standard output is a file or a pipe, they are written without rich, whose import takes longer
than the rest of a short command. The text is the same as that of rich.
"""

import os
import sys
from collections.abc import Iterable, Sequence

from wordline._render.terminal.block import Grid, Line

LEAST_WIDTH = 72
"""Minimum width of the output in columns. On a narrower terminal lines wrap."""
DEFAULT_WIDTH = 80
NARROW = frozenset("–±µ…×")
"""Characters beyond ASCII that certainly take one column."""


def width() -> int:
    """Returns the width of the output in columns."""
    found = _plain_width()
    if found is not None:
        return found
    from wordline._render.terminal.console import console

    return console().width


def show(blocks: Iterable[Line | Grid]) -> None:
    """Prints lines and tables."""
    blocks = list(blocks)
    columns = _plain_width()
    text = None if columns is None else rendered(blocks, columns)
    if text is None:
        from wordline._render.terminal import rich_blocks

        rich_blocks.show(blocks)
    else:
        sys.stdout.write(text)


def rendered(blocks: Iterable[Line | Grid], columns: int) -> str | None:
    """Returns the text of lines and tables, or None if it needs rich."""
    lines: list[str] = []
    for block in blocks:
        own = _wrapped(block, columns) if isinstance(block, Line) else _grid(block, columns)
        if own is None:
            return None
        lines += own
    return "".join(f"{line}\n" for line in lines)


def _plain_width() -> int | None:
    """Returns the width of an output without styles, or None if it may have styles."""
    special = ("FORCE_COLOR", "TTY_COMPATIBLE", "JUPYTER_COLUMNS", "JUPYTER_LINES")
    encoding = getattr(sys.stdout, "encoding", None) or ""
    if (
        os.name == "nt"
        or "ipykernel" in sys.modules
        or any(name in os.environ for name in special)
        or not encoding.lower().startswith("utf")
        or sys.stdout.isatty()
    ):
        return None
    found = _width_of_terminal()
    if found >= LEAST_WIDTH:
        return found
    return LEAST_WIDTH if found else DEFAULT_WIDTH


def _width_of_terminal() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit():
        return int(columns)
    for stream in (sys.__stdin__, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None:
                return os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH
        except (OSError, ValueError):
            continue
    return DEFAULT_WIDTH


def _is_narrow(text: str) -> bool:
    """Returns True if each character takes one column."""
    rest = text.translate(dict.fromkeys(map(ord, NARROW)))
    return rest.isascii() and (not rest or rest.isprintable())


def _wrapped(line: Line, columns: int) -> list[str] | None:
    """Returns the lines of a text that is wrapped between words."""
    text = line.bold + line.text
    words = text.split(" ")
    if not _is_narrow(text) or "" in words or max(map(len, words)) > columns:
        return None
    lines = [""]
    for number, word in enumerate(words):
        spaced = word if number + 1 == len(words) else f"{word} "
        if len(lines[-1]) + len(word) > columns:
            lines.append("")
        lines[-1] += spaced
    return [line if len(line) <= columns else line.rstrip() for line in lines]


def _grid(grid: Grid, columns: int) -> list[str] | None:
    """Returns the lines of a table that fits, with a line below the headings."""
    cells = [grid.headings, *grid.rows]
    texts = [*grid.headings, *(cell for row in grid.rows for cell in row), grid.title, grid.caption]
    least = grid.least or [0] * len(grid.headings)
    widths = [
        max(minimum, *map(len, column))
        for minimum, column in zip(least, zip(*cells, strict=True), strict=True)
    ]
    total = sum(widths) + 3 * len(widths) - 1
    if total > columns or max(len(grid.title), len(grid.caption)) > total:
        return None
    if not all(map(_is_narrow, texts)):
        return None

    def row(own: Sequence[str]) -> str:
        first = own[0].ljust(widths[0]) if grid.left else own[0].rjust(widths[0])
        rest = (cell.rjust(wide) for cell, wide in zip(own[1:], widths[1:], strict=True))
        return f" {'   '.join([first, *rest])} "

    empty = " " * total
    head, *rows = map(row, cells)
    lines = [empty, head, f" {'─' * (total - 2)} ", *rows, empty]
    if grid.title:
        lines.insert(0, grid.title.ljust(total))
    if grid.caption:
        lines.append(grid.caption.ljust(total))
    return lines
