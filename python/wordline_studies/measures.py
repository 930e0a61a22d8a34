"""What studies read off a summary."""

from collections.abc import Callable, Mapping
from typing import TypeAlias, TypeVar

from wordline.summary import Summary

Key = TypeVar("Key")
Measure: TypeAlias = Callable[[Summary], float]


def over(runs: Mapping[Key, Summary], measure: Measure) -> dict[Key, float]:
    """A measure of each run."""
    return {key: measure(summary) for key, summary in runs.items()}


def over_loads(
    found: Mapping[str, Mapping[Key, Summary]], measure: Measure
) -> dict[str, dict[Key, float]]:
    """A measure of each run of each load."""
    return {load: over(runs, measure) for load, runs in found.items()}


def gain(first: float, last: float) -> float:
    """By how much the last is above the first. Per cent."""
    return 100 * (last / first - 1)


def iops(summary: Summary) -> float:
    """Requests completed a second."""
    return summary["throughput"]["iops"]


def latency_us(summary: Summary) -> float:
    """Mean response time of reads and writes."""
    return summary["latency"]["all"]["mean_us"] or 0.0


def idle_percent(summary: Summary) -> float:
    """Share of the dies' time in which they did nothing."""
    return 100 * summary["execution"]["idle"]
