"""The figures of a summary: its numbers, words and answers by their paths."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Figures: TypeAlias = "dict[str, float | int | str | bool | None]"
"""The figures of a summary by their paths."""

# How fast a run was differs from one time to the next; the others stand in columns of their own.
LEFT_OUT = ("speed", "schema", "version", "digest", "seed", "error", "partial")


def figures(summary: Mapping[str, Any]) -> Figures:
    """The numbers, words and answers of a summary by their paths; lists are left out."""
    found: Figures = {}
    for key, value in summary.items():
        if key not in LEFT_OUT:
            _flatten(key, value, found)
    return found


def _flatten(path: str, value: object, found: Figures) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            _flatten(f"{path}.{key}", inner, found)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, float | int | str | bool) or value is None:
        found[path] = value
