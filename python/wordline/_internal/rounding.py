"""Rounding of numbers for results files."""

from collections.abc import Mapping
from math import isnan
from typing import Any


def rounded(value: Any) -> Any:
    """Rounds floats to nine significant digits, so that files are the same on every machine. NaN
    becomes None, which JSON can represent."""
    if isinstance(value, float):
        return None if isnan(value) else float(f"{value:.9g}")
    if isinstance(value, Mapping):
        return {str(key): rounded(one) for key, one in value.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    return value
