"""Steady state, as SNIA's Solid State Storage Performance Test Specification 2.0.2 defines it.

Over a window of rounds two criteria hold: the values differ by no more than 20 % of their average,
and the best straight line through them rises or falls by no more than 10 % of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

ROUNDS = 5
MOST_RANGE = 0.20
MOST_SLOPE = 0.10


@dataclass(frozen=True)
class Window:
    """Rounds in a row: the first of them, and of their values the average, and range and slope as
    shares of it."""

    first: int
    average: float
    range: float
    slope: float

    @property
    def is_steady(self) -> bool:
        """Whether both criteria hold."""
        return self.range <= MOST_RANGE and self.slope <= MOST_SLOPE


def window(values: Sequence[float], first: int = 0) -> Window:
    """The criteria of these rounds; a straight line is fitted by least squares. The average has to
    be positive."""
    count = len(values)
    average = sum(values) / count
    middle = (count - 1) / 2
    spread = sum((place - middle) ** 2 for place in range(count))
    rise = sum((place - middle) * value for place, value in enumerate(values)) / spread
    return Window(
        first,
        average,
        (max(values) - min(values)) / average,
        abs(rise) * (count - 1) / average,
    )


def first_steady(values: Sequence[float], rounds: int = ROUNDS) -> Window | None:
    """The first window of so many rounds that is steady; None if there is none."""
    for first in range(len(values) - rounds + 1):
        found = window(values[first : first + rounds], first)
        if found.is_steady:
            return found
    return None
