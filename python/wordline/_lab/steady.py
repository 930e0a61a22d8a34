"""Steady state as in SNIA's Solid State Storage Performance Test Specification 2.0.2.

Over a window of rounds, two criteria hold: the values differ by at most 20 % of their average, and
their least-squares line rises or falls by at most 10 % of the average.
"""

from collections.abc import Sequence
from dataclasses import dataclass

ROUNDS = 5
MOST_RANGE = 0.20
MOST_SLOPE = 0.10


@dataclass(frozen=True)
class Window:
    """Consecutive rounds: index of the first round, average of the values, and their range and
    slope as fractions of the average."""

    first: int
    average: float
    range: float
    slope: float

    @property
    def is_steady(self) -> bool:
        """Whether both criteria hold."""
        return self.range <= MOST_RANGE and self.slope <= MOST_SLOPE


def window(values: Sequence[float], first: int = 0) -> Window:
    """Computes the criteria of these rounds, with a least-squares line. The average must be
    positive."""
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
    """Returns the first steady window of `rounds` rounds; None if there is none."""
    for first in range(len(values) - rounds + 1):
        found = window(values[first : first + rounds], first)
        if found.is_steady:
            return found
    return None
