"""Confidence intervals and tests, against published values and an independent computation."""

import math
from itertools import pairwise

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordline._internal import statistics

# Published tables of Student's t: degrees of freedom, probability, quantile.
PUBLISHED = [
    (1, 0.975, 12.7062),
    (2, 0.975, 4.30265),
    (4, 0.975, 2.77645),
    (9, 0.975, 2.26216),
    (9, 0.95, 1.83311),
    (30, 0.975, 2.04227),
    (120, 0.995, 2.61742),
    (1, 0.75, 1.0),
]


@pytest.mark.parametrize(("freedom", "probability", "quantile"), PUBLISHED)
def test_quantiles_match_published_tables(
    freedom: int, probability: float, quantile: float
) -> None:
    assert statistics.t_quantile(probability, freedom) == pytest.approx(quantile, rel=1e-5)
    assert statistics.t_quantile(1 - probability, freedom) == pytest.approx(-quantile, rel=1e-5)


@given(t=st.floats(0, 50), freedom=st.floats(1, 200))
def test_the_distribution_is_the_integral_of_the_density(t: float, freedom: float) -> None:
    x = numpy.linspace(0, t, 20_001)
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2))
    density = scale / math.sqrt(freedom * math.pi) * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
    area = float(numpy.trapezoid(density, x))
    assert statistics.t_distribution(t, freedom) == pytest.approx(0.5 + area, abs=2e-5)


def test_the_interval_has_its_nominal_coverage() -> None:
    random = numpy.random.default_rng(1)
    covered = 0
    for values in random.normal(10, 2, (4000, 5)):
        found = statistics.interval(values.tolist())
        assert found.half_width is not None
        covered += abs(found.mean - 10) <= found.half_width
    assert 0.935 < covered / 4000 < 0.965


def test_welchs_test_has_a_false_positive_rate_of_five_per_cent() -> None:
    random = numpy.random.default_rng(2)
    pairs = zip(random.normal(0, 1, (3000, 6)), random.normal(0, 3, (3000, 4)), strict=True)
    tests = [statistics.difference([one.tolist()], [other.tolist()]) for one, other in pairs]
    assert 0.03 < sum(bool(test.exceeds_noise) for test in tests) / 3000 < 0.07


def test_welch_matches_a_worked_example() -> None:
    # Means 3 and 6, variances 2.5 and 10, five values each: t = 1.8974, 5.8824 degrees of freedom;
    # p from numerical integration of the density.
    found = statistics.difference([[1, 2, 3, 4, 5]], [[2, 4, 6, 8, 10]])
    assert found.p_value == pytest.approx(0.107531, abs=1e-6)
    assert found.exceeds_noise is False


def test_differences_between_groups_are_not_noise() -> None:
    # Standard error of the mean of all values, by least squares with a column per group.
    random = numpy.random.default_rng(3)
    groups = [(10.0**place + random.normal(0, 2, 3 + place)).tolist() for place in range(4)]
    values = numpy.concatenate(groups)
    columns = numpy.zeros((len(values), len(groups)))
    start = 0
    for place, own in enumerate(groups):
        columns[start : start + len(own), place] = 1
        start += len(own)
    fitted, residuals, *_ = numpy.linalg.lstsq(columns, values)
    weights = columns.sum(axis=0) / len(values)
    freedom = len(values) - len(groups)
    covariance = numpy.linalg.inv(columns.T @ columns) * residuals[0] / freedom
    error = math.sqrt(weights @ covariance @ weights)
    found = statistics.interval(*groups)
    assert found.mean == pytest.approx(weights @ fitted)
    assert found.half_width == pytest.approx(
        2.144787 * error, rel=1e-5
    )  # t with 14 degrees of freedom, published
    assert freedom == 14


def test_grouped_sides_have_a_false_positive_rate_of_five_per_cent() -> None:
    random = numpy.random.default_rng(4)
    beyond = 0
    for _ in range(3000):
        sides = [
            [(middle + random.normal(0, spread, 3)).tolist() for middle in (0, 50, 900)]
            for spread in (1, 3)
        ]
        beyond += bool(statistics.difference(*sides).exceeds_noise)
    assert 0.03 < beyond / 3000 < 0.07


def test_a_single_number_has_no_interval() -> None:
    assert statistics.interval([3.0]) == statistics.Interval(3.0, None, 1)
    assert statistics.difference([[3.0]], [[4.0, 5.0]]).exceeds_noise is None
    assert statistics.difference([[3.0, 3.0]], [[3.0, 3.0]]).exceeds_noise is False
    assert statistics.difference([[3.0, 3.0]], [[4.0, 4.0]]).exceeds_noise is True


def test_explained_shares_of_the_variance_match_known_groups() -> None:
    # Two groups, 1 and 3 from a midpoint: all of the variance is between them.
    assert statistics.explained({"a": [1.0, 1.0], "b": [3.0, 3.0]}) == pytest.approx(1.0)
    assert statistics.explained({"a": [1.0, 3.0], "b": [3.0, 1.0]}) == pytest.approx(0.0)
    assert statistics.explained({"a": [2.0], "b": [2.0]}) is None


def test_quantiles_are_monotonic() -> None:
    rising = [statistics.t_quantile(p / 100, 7) for p in range(1, 100)]
    assert all(one < other for one, other in pairwise(rising))
