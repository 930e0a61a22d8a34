"""Describes the confidence interval of a fitted constant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wordline._calibration.error_fit import Constant


def interval_text(constant: Constant) -> str:
    """Returns the interval of a constant, or the reason why there is none."""
    if constant["held"]:
        return "not fitted"
    if constant["low"] is None or constant["high"] is None:
        return "not determined by the data"
    return f"{constant['low']:.4g} to {constant['high']:.4g}"
