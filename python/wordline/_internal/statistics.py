"""The statistics of repeated runs: confidence intervals, differences beyond noise, effects.

Numbers come as sequences of floats. What cannot be said of so few is None.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt

CONFIDENCE = 0.95
HALF_WIDTH = " ±"
"""Ends the name of a column with the half widths of the intervals of another."""


@dataclass(frozen=True)
class Interval:
    """A mean and the half width of its confidence interval; None of a single number."""

    mean: float
    half_width: float | None
    count: int


@dataclass(frozen=True)
class Difference:
    """Two means, the half width of the confidence interval of the second less the first, and how
    probable so large a difference is of equal means; None if one is of a single number."""

    first: Interval
    second: Interval
    half_width: float | None
    p_value: float | None

    @property
    def exceeds_noise(self) -> bool | None:
        """Whether equal means would differ so much in fewer than 5 % of all cases."""
        return None if self.p_value is None else self.p_value < 1 - CONFIDENCE


def mean(values: Sequence[float]) -> float:
    """The mean. Raises ZeroDivisionError of no values."""
    return sum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """The sample variance of two values or more."""
    middle = mean(values)
    return sum((value - middle) ** 2 for value in values) / (len(values) - 1)


def interval(*groups: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The mean of all values, and its interval of Student's t. Values of several groups differ by
    noise within a group alone, by equally much in each: what the groups differ by is no noise."""
    values = [value for own in groups for value in own]
    spread = _spread(groups)
    if spread is None:
        return Interval(mean(values), None, len(values))
    width = t_quantile(0.5 + confidence / 2, spread.freedom) * sqrt(spread.variance)
    return Interval(mean(values), width, len(values))


def difference(
    first: Sequence[Sequence[float]],
    second: Sequence[Sequence[float]],
    confidence: float = CONFIDENCE,
) -> Difference:
    """The means of two sides, each of one group of values or of several as of `interval`, and
    Welch's t-test, two-sided."""
    sides = interval(*first), interval(*second)
    spreads = _spread(first), _spread(second)
    if spreads[0] is None or spreads[1] is None:
        return Difference(*sides, None, None)
    apart = abs(sides[0].mean - sides[1].mean)
    total = spreads[0].variance + spreads[1].variance
    if total == 0:
        return Difference(*sides, 0.0, 0.0 if apart else 1.0)
    freedom = total**2 / sum(one.variance**2 / one.freedom for one in (spreads[0], spreads[1]))
    width = t_quantile(0.5 + confidence / 2, freedom) * sqrt(total)
    return Difference(*sides, width, 2 * (1 - t_distribution(apart / sqrt(total), freedom)))


@dataclass(frozen=True)
class _Spread:
    """The variance of a mean, and its degrees of freedom."""

    variance: float
    freedom: int


def _spread(groups: Sequence[Sequence[float]]) -> _Spread | None:
    """Of the mean of all values, by the variance within groups; None if none has two values."""
    count = sum(map(len, groups))
    freedom = sum(len(own) - 1 for own in groups if own)
    if not freedom:
        return None
    within = sum(variance(own) * (len(own) - 1) for own in groups if len(own) > 1)
    return _Spread(within / freedom / count, freedom)


def explained(groups: Mapping[object, Sequence[float]]) -> float | None:
    """The share of the variance that the groups explain (eta squared); None if nothing varies."""
    every = [value for values in groups.values() for value in values]
    if not every:
        return None
    middle = mean(every)
    whole = sum((value - middle) ** 2 for value in every)
    between = sum(len(values) * (mean(values) - middle) ** 2 for values in groups.values())
    return between / whole if whole > 0 else None


@lru_cache(4096)
def t_quantile(probability: float, freedom: float) -> float:
    """The quantile of Student's t distribution, by bisection of `t_distribution`."""
    if probability < 0.5:
        return -t_quantile(1 - probability, freedom)
    low, high = 0.0, 1.0
    while t_distribution(high, freedom) < probability:
        if high > 1e300:
            return inf
        high *= 2
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if t_distribution(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return high


def t_distribution(t: float, freedom: float) -> float:
    """The probability of a value of Student's t not above `t`."""
    if t < 0:
        return 1 - t_distribution(-t, freedom)
    return 1 - _beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2


def _beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function (Abramowitz and Stegun, 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    scale = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
    # The continued fraction, by the method of Lentz.
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 1000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(1 - c * d) < 1e-15:
            break
    return scale * fraction
