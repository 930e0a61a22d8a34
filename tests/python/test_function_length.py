"""No function is longer than a limit, so that each can be read at once."""

import ast
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

SOURCE = Path(__file__).parents[2] / "python"
MOST = 60
"""Maximum number of lines of a function without its signature and docstring."""
DECLARATIONS = {"Figure"}
"""Calls whose lines do not count. The figure of a study is a single declaration, a table of rows,
claims and texts, and splitting it would not make it more readable."""
LONGER: dict[str, str] = {}
"""Functions that may be longer, such as `wordline_studies.gc.worst._worst`, with the reason."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(node: ast.AST) -> set[int]:
    assert isinstance(node, ast.stmt | ast.expr)
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def length(function: Function) -> int:
    """Returns the number of lines of a function that count."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    lines = {line for statement in body for line in lines_of(statement)}
    if body:
        lines = set(range(min(lines), max(lines) + 1))
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in DECLARATIONS:
            lines -= lines_of(node)
    return len(lines)


def functions(tree: ast.AST, place: str) -> Iterator[tuple[str, Function]]:
    """Yields all functions below a node by name, including those in classes and functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, Function | ast.ClassDef):
            name = f"{place}.{node.name}"
            if isinstance(node, Function):
                yield name, node
            yield from functions(node, name)
        else:
            yield from functions(node, place)


def too_long() -> dict[str, int]:
    """Returns the functions of the packages that exceed the limit, with their numbers of lines."""
    found: dict[str, int] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        for name, function in functions(ast.parse(path.read_text(encoding="utf-8")), module):
            if (lines := length(function)) > MOST:
                found[name] = lines
    return found


def test_no_function_is_too_long() -> None:
    found = too_long()
    assert found.keys() - LONGER.keys() == set()
    assert LONGER.keys() - found.keys() == set(), (
        "these functions are within the limit; remove them from LONGER"
    )


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def f(): return 1", 1),
        ('def f(a,\n      b):\n    """Two\n    lines."""\n    return a\n', 1),
        ("def f():\n    a = 1\n\n    # why\n    return a\n", 4),
        ("def f():\n    a = 1\n    return Figure(\n        a,\n        2,\n    )\n", 1),
        ("async def f():\n    def g():\n        return 1\n    return g\n", 3),
        ('def f():\n    """Nothing."""\n', 0),
    ],
)
def test_signatures_docstrings_and_declarations_do_not_count(text: str, lines: int) -> None:
    (function,) = ast.parse(dedent(text)).body
    assert isinstance(function, Function)
    assert length(function) == lines


def test_nested_functions_are_found() -> None:
    text = "class A:\n    def f(self):\n        def g(): pass\nif 1:\n    async def h(): pass\n"
    assert [name for name, _ in functions(ast.parse(text), "m")] == ["m.A.f", "m.A.f.g", "m.h"]
