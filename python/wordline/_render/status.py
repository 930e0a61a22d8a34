"""Numbers of a live device's status, of all its requests and of those since an earlier status."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

OPS = ("read", "write", "trim", "flush")
BYTES = {"read": "read_bytes", "write": "written_bytes"}
PERCENTILES = {"p99_us": 0.99, "p99_9_us": 0.999}


@dataclass(frozen=True)
class Served:
    """Requests of one operation that were served in some simulated time."""

    count: int
    iops: float | None
    mb_per_s: float | None
    """None for operations without data."""
    latency: Mapping[str, float | None]
    """`mean_us` and PERCENTILES."""


def served(status: Mapping[str, Any], op: str) -> Served:
    """Returns the requests of an operation from the first arrival to the last completion."""
    summary = status["summary"]
    latency = summary["latency"][op]
    count = latency["count"]
    time = summary["time"]
    span = time["last_completion_s"] - time["measured_from_s"]
    return _served(status, op, span, count, latency)


def served_since(status: Mapping[str, Any], before: Mapping[str, Any], op: str) -> Served:
    """Returns the requests of an operation since an earlier status. Percentiles are at most 1/16
    too high."""
    past = before if _continues(status, before) else None
    buckets = dict(map(tuple, status["histograms"][op]))
    for end, count in past["histograms"][op] if past else ():
        buckets[end] -= count
    count = sum(buckets.values())
    latency: dict[str, float | None] = {"mean_us": _mean(status, past, op, count)}
    longest = status["summary"]["latency"][op]["max_us"]
    latency |= {key: _percentile(buckets, share, longest) for key, share in PERCENTILES.items()}
    span = status["live"]["simulated_s"] - before["live"]["simulated_s"]
    return _served(status, op, span, count, latency, past)


def _continues(status: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Returns False if a warm-up has ended since the earlier status, and counts began again."""
    key = "measured_from_s"
    return all(
        status["summary"]["latency"][op]["count"] >= before["summary"]["latency"][op]["count"]
        for op in OPS
    ) and (
        status["summary"]["time"][key] == before["summary"]["time"][key]
        or before["summary"]["input"]["requests"] == 0
    )


def _served(
    status: Mapping[str, Any],
    op: str,
    span_s: float,
    count: int,
    latency: Mapping[str, float | None],
    past: Mapping[str, Any] | None = None,
) -> Served:
    mb: float | None = None
    if op in BYTES:
        moved = status["summary"]["input"][BYTES[op]]
        moved -= past["summary"]["input"][BYTES[op]] if past else 0
        mb = moved / span_s / 1e6 if span_s > 0 else None
    return Served(count, count / span_s if span_s > 0 else None, mb, latency)


def _mean(
    status: Mapping[str, Any], past: Mapping[str, Any] | None, op: str, count: int
) -> float | None:
    if count == 0:
        return None
    total = _sum_us(status, op) - (_sum_us(past, op) if past else 0.0)
    return max(total, 0.0) / count


def _sum_us(status: Mapping[str, Any], op: str) -> float:
    latency = status["summary"]["latency"][op]
    return latency["count"] * (latency["mean_us"] or 0.0)


def _percentile(buckets: Mapping[float, int], share: float, longest: float) -> float | None:
    left = share * sum(buckets.values())
    for end in sorted(buckets):
        left -= buckets[end]
        if left <= 0 < buckets[end]:
            return min(end, longest)
    return None
