"""Text that is written without rich, compared with that of rich."""

import io
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from wordline._render.terminal import blocks, rich_blocks
from wordline._render.terminal.block import Grid, Line

WORDS = st.text(st.sampled_from("abcµ–±,.:%0123"), min_size=1, max_size=12)
TEXTS = st.lists(WORDS, min_size=1, max_size=40).map(" ".join)
SHORT = st.lists(WORDS, min_size=1, max_size=2).map(" ".join)


@st.composite
def lines(draw: st.DrawFn) -> Line:
    bold = draw(st.sampled_from(["", "trace.csv.gz", "a b"]))
    return Line(draw(TEXTS), bold=bold, dim=not bold and draw(st.booleans()))


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    columns = draw(st.integers(1, 5))
    rows = st.lists(st.lists(SHORT, min_size=columns, max_size=columns), min_size=1, max_size=4)
    headings, *cells = draw(rows)
    words = [
        max((word for cell in column for word in cell.split()), key=len)
        for column in zip(headings, *cells, strict=True)
    ]
    least = draw(st.sampled_from([(), [len(word) for word in words]]))
    return Grid(
        headings=headings,
        rows=cells,
        title=draw(st.just("") | SHORT),
        caption=draw(st.just("") | SHORT),
        left=draw(st.booleans()),
        least=least,
    )


@given(st.lists(lines() | grids(), max_size=4), st.sampled_from([72, 80, 100]))
def test_text_equals_that_of_rich(shown: list[Line | Grid], columns: int) -> None:
    text = blocks.rendered(shown, columns)
    if text is None:
        return
    console = Console(file=io.StringIO(), width=columns, highlight=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rich_blocks, "console", lambda: console)
        rich_blocks.show(shown)
    assert isinstance(console.file, io.StringIO)
    assert text == console.file.getvalue()


@pytest.mark.parametrize(
    "text", ["", "two  spaces", "wide 漢", "tab\there", "x" * 81, "a\nb", "\x1b[1m"]
)
def test_other_text_is_left_to_rich(text: str) -> None:
    assert blocks.rendered([Line(text)], 80) is None
    if text:
        assert blocks.rendered([Grid(headings=["a"], rows=[[text]])], 80) is None or "  " in text


def test_tables_that_do_not_fit_are_left_to_rich() -> None:
    fits = Grid(headings=["a", "b"], rows=[["x" * 40, "y" * 35]])
    assert blocks.rendered([fits], 80) is not None
    assert blocks.rendered([fits], 79) is None
    assert blocks.rendered([Grid(headings=["a"], rows=[["b"]], title="longer")], 80) is None


@pytest.mark.parametrize(
    "args", [["cache", "{}", "lru,arc", "1%,10%"], ["mrc", "{}", "--method", "exact,shards"]]
)
@pytest.mark.parametrize("columns", ["40", "72", "80", "200"])
def test_commands_print_the_same_without_rich(args: list[str], columns: str) -> None:
    """A forced terminal without colours has the text of a pipe."""
    trace = Path(__file__).parents[2] / "traces" / "postgresql-mixed.csv.gz"
    command = [word.format(trace) for word in args]

    def said(**variables: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "wordline", *command],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={"PATH": "", "PYTHONUTF8": "1", "COLUMNS": columns, **variables},
            check=True,
        )
        return done.stdout

    assert said() == said(TTY_COMPATIBLE="0")
