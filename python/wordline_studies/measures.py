"""Metrics that studies take from summaries."""

from collections.abc import Callable, Mapping
from math import nan
from typing import TypeAlias, TypeVar

from wordline.summary import Summary

Key = TypeVar("Key")
Measure: TypeAlias = Callable[[Summary], float]


def or_nan(value: float | None) -> float:
    """Returns the value, or NaN for a metric without observations. A row with NaN counts as not
    measured; 0 would be a measurement."""
    return nan if value is None else value


def over(runs: Mapping[Key, Summary], measure: Measure) -> dict[Key, float]:
    """Returns a metric of each run."""
    return {key: measure(summary) for key, summary in runs.items()}


def over_loads(
    found: Mapping[str, Mapping[Key, Summary]], measure: Measure
) -> dict[str, dict[Key, float]]:
    """Returns a metric of each run of each load."""
    return {load: over(runs, measure) for load, runs in found.items()}


def gain(first: float, last: float) -> float:
    """Returns the increase from `first` to `last`. Per cent."""
    return 100 * (last / first - 1)


def iops(summary: Summary) -> float:
    """Returns the requests completed per second."""
    return summary["throughput"]["iops"]


def latency_us(summary: Summary) -> float:
    """Returns the mean response time of reads and writes. Microseconds."""
    return or_nan(summary["latency"]["all"]["mean_us"])


def idle_percent(summary: Summary) -> float:
    """Returns the share of time in which the dies are idle. Per cent."""
    return 100 * summary["execution"]["idle"]
