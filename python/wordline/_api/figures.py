"""Metrics of a summary by path: numbers, strings and Booleans."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Figures: TypeAlias = "dict[str, float | int | str | bool | None]"
"""Metrics of a summary by path."""

# The speed of a run varies between repetitions. The other entries have their own columns.
LEFT_OUT = ("speed", "schema", "version", "digest", "seed", "error", "partial")


def figures(summary: Mapping[str, Any]) -> Figures:
    """Returns the numbers, strings and Booleans of a summary by path, without lists and the entries
    in LEFT_OUT."""
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
