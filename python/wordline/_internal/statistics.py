"""Statistics of repeated runs: confidence intervals, significance of differences, effects.

A statistic is None if there are too few values to compute it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, lgamma, log, log1p, sqrt

CONFIDENCE = 0.95
HALF_WIDTH = " ±"
"""Suffix of a column that holds the half widths of the confidence intervals of another column."""


@dataclass(frozen=True)
class Interval:
    """A mean and the half width of its confidence interval; None if no group has two values."""

    mean: float
    half_width: float | None
    count: int


@dataclass(frozen=True)
class Difference:
    """Two means, the half width of the confidence interval of second minus first, and the two-sided
    p value of the difference; None if a side has no group of two values."""

    first: Interval
    second: Interval
    half_width: float | None
    p_value: float | None

    @property
    def exceeds_noise(self) -> bool | None:
        """Whether the difference is significant: p below 0.05."""
        return None if self.p_value is None else self.p_value < 1 - CONFIDENCE


def mean(values: Sequence[float]) -> float:
    """Returns the mean. Raises ZeroDivisionError without values."""
    return sum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """Returns the sample variance of at least two values."""
    middle = mean(values)
    return sum((value - middle) ** 2 for value in values) / (len(values) - 1)


def interval(*groups: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Returns the mean of all values with its Student t interval. The groups may have different
    means; the variance within a group is assumed to be equal in all groups."""
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
    """Compares the means of two sides, each of one or more groups as in `interval`, by Welch's
    two-sided t-test."""
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
    """Variance of a mean, and its degrees of freedom."""

    variance: float
    freedom: int


def _spread(groups: Sequence[Sequence[float]]) -> _Spread | None:
    """Returns the variance of the mean of all values, from the variance within groups; None if no
    group has two values."""
    count = sum(map(len, groups))
    freedom = sum(len(own) - 1 for own in groups if own)
    if not freedom:
        return None
    within = sum(variance(own) * (len(own) - 1) for own in groups if len(own) > 1)
    return _Spread(within / freedom / count, freedom)


def explained(groups: Mapping[object, Sequence[float]]) -> float | None:
    """Returns the share of the variance that the groups explain (eta squared); None if nothing
    varies."""
    every = [value for values in groups.values() for value in values]
    if not every:
        return None
    middle = mean(every)
    whole = sum((value - middle) ** 2 for value in every)
    between = sum(len(values) * (mean(values) - middle) ** 2 for values in groups.values())
    return between / whole if whole > 0 else None


@lru_cache(4096)
def t_quantile(probability: float, freedom: float) -> float:
    """Returns a quantile of Student's t distribution, by bisection of `t_distribution`."""
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
    """Returns the cumulative distribution function of Student's t distribution at `t`."""
    if t < 0:
        return 1 - t_distribution(-t, freedom)
    return 1 - _beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2


def _beta(a: float, b: float, x: float) -> float:
    """Returns the regularised incomplete beta function (Abramowitz and Stegun, 26.5.8)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta(b, a, 1 - x)
    scale = exp(a * log(x) + b * log1p(-x) + lgamma(a + b) - lgamma(a) - lgamma(b)) / a
    # Continued fraction, by Lentz's method.
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
