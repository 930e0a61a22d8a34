"""Cost per request at every point of a sweep, and the part of the cost due to cache misses."""

import json
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from wordline._dev.growth.count import Count, count
from wordline._dev.growth.sweeps import Point, Sweep, command
from wordline._internal.process import ended
from wordline._wordline import MemoryTable, WordlineError

# Allowed ratio of the largest to the smallest cost of a series.
MOST_RATIO = 1.5
# Minimum cost per request in ns. The start takes about as long as a short run, and varies, so that
# their difference can be negative.
LEAST_NS = 1.0
LATENCY_ROUNDS, LATENCY_READS = 8, 1 << 16


@dataclass(frozen=True)
class Run:
    """Result of one process. `cpu_s` excludes preconditioning."""

    cpu_s: float
    precondition_cpu_s: float
    events: int
    resident_bytes: int
    peak_bytes: int
    digest: str


@dataclass(frozen=True)
class Cost:
    """Cost of a point: the minimum over its runs. `start_s` is the time of a run with a single
    request, which builds the device and ends; `ns_per_request` excludes it. `latency_ns` is the
    time of a random read in as much memory as the run has touched."""

    at: int
    requests: int
    ns_per_request: float
    events_per_request: float
    start_s: float
    precondition_s: float
    resident_bytes: int
    peak_bytes: int
    latency_ns: float
    digest: str
    counted: Count | None = None

    @property
    def ns_per_event(self) -> float:
        """Cost per event. The number of events per request varies between points."""
        return self.ns_per_request / self.events_per_request

    @property
    def misses_ns(self) -> float | None:
        """Upper limit of the cost of cache misses per request: each takes `latency_ns`, without
        overlap. None if misses were not counted."""
        return None if self.counted is None else self.counted.misses * self.latency_ns


@dataclass(frozen=True)
class Line:
    """Measurements of a series."""

    name: str
    costs: Sequence[Cost]

    @property
    def least(self) -> Cost:
        """Point with the smallest cost per request."""
        return min(self.costs, key=lambda cost: cost.ns_per_request)

    @property
    def least_by_event(self) -> Cost:
        """Point with the smallest cost per event."""
        return min(self.costs, key=lambda cost: cost.ns_per_event)

    @property
    def largest(self) -> Cost:
        """Point with the largest cost per request."""
        return max(self.costs, key=lambda cost: cost.ns_per_request)

    @property
    def ratio(self) -> float:
        """Ratio of the largest to the smallest cost per request."""
        return self.largest.ns_per_request / self.least.ns_per_request

    @property
    def event_ratio(self) -> float:
        """Ratio of the largest to the smallest cost per event."""
        return _spread([cost.ns_per_event for cost in self.costs])

    @property
    def dear(self) -> list[Cost]:
        """Points that exceed the allowed ratio to the smallest cost, per request or per event."""
        request, event = self.least.ns_per_request, self.least_by_event.ns_per_event
        return [
            cost
            for cost in self.costs
            if max(cost.ns_per_request / request, cost.ns_per_event / event) > MOST_RATIO
        ]

    def explained_ns(self, cost: Cost) -> float | None:
        """Returns the cost of the cache misses of a point minus the smallest such cost of a counted
        point, in ns per request. Both are upper limits. None if misses of the point were not
        counted."""
        known = [ns for other in self.costs if (ns := other.misses_ns) is not None]
        return None if cost.misses_ns is None else cost.misses_ns - min(known)

    @property
    def ratio_left(self) -> float | None:
        """Larger of the two ratios after subtracting the cost of misses; None if misses of a point
        above the allowed ratio were not counted."""
        if any(self.explained_ns(cost) is None for cost in self.dear):
            return None
        left = [cost.ns_per_request - (self.explained_ns(cost) or 0.0) for cost in self.costs]
        events = [ns / cost.events_per_request for ns, cost in zip(left, self.costs, strict=True)]
        by_request = max(left) / self.least.ns_per_request
        return max(1.0, by_request, max(events) / self.least_by_event.ns_per_event)

    @property
    def instruction_ratio(self) -> float | None:
        """Ratio of the most to the fewest instructions, the larger of per request and per event;
        None if they were not counted."""
        known = [(one.counted.instructions, one) for one in self.costs if one.counted]
        if not known:
            return None
        by_event = [count / one.events_per_request for count, one in known]
        return max(_spread([count for count, _ in known]), _spread(by_event))

    @property
    def verdict(self) -> str:
        """`flat`, `flat apart from cache misses`, `grows`, or `grows, misses not counted`. Misses
        explain a difference only if the number of instructions does not also grow."""
        if not self.dear:
            return "flat"
        left, instructions = self.ratio_left, self.instruction_ratio
        if left is None or instructions is None:
            return "grows, misses not counted"
        flat = max(left, instructions) <= MOST_RATIO
        return "flat apart from cache misses" if flat else "grows"


@dataclass(frozen=True)
class Measured:
    """Measurements of a sweep."""

    sweep: Sweep
    lines: Sequence[Line]


Progress = Callable[[int, int, str], object]
"""Receives the number of completed runs, the total, and the next run."""


def measured(
    sweeps: Sequence[Sweep], repeat: int, progress: Progress, *, counts: bool
) -> list[Measured]:
    """Measures every point `repeat` times, and the same number of times with a single request, to
    subtract start and end. Each cost is the minimum over its runs. The order is random, so that a
    temporary slowdown of the machine does not affect one end of a sweep. With `counts`,
    instructions and misses are counted for points that exceed the allowed ratio, and for the
    cheapest points of their series: per request and per event.

    Raises WordlineError if a run fails.
    """
    points = [point for sweep in sweeps for series in sweep.series for point in series.points]
    both = [(place, of) for place, point in enumerate(points) for of in (point, point.of(1))]
    work = both * repeat
    random.Random(1).shuffle(work)  # noqa: S311 - an order
    runs: list[list[Run]] = [[] for _ in points]
    starts: list[list[Run]] = [[] for _ in points]
    for number, (place, point) in enumerate(work):
        progress(number, len(work), "measuring")
        (runs if point is points[place] else starts)[place].append(_run(point))
    costs = iter([_cost(*of_point) for of_point in zip(points, runs, starts, strict=True)])
    found = [
        Measured(sweep, [Line(one.name, [next(costs) for _ in one.points]) for one in sweep.series])
        for sweep in sweeps
    ]
    return _counted(found, progress) if counts else found


def _counted(found: Sequence[Measured], progress: Progress) -> list[Measured]:
    wanted = [
        ((one.sweep.name, line.name, cost.at), point)
        for one in found
        for series, line in zip(one.sweep.series, one.lines, strict=True)
        for point, cost in zip(series.points, line.costs, strict=True)
        if line.dear and cost in (*line.dear, line.least, line.least_by_event)
    ]
    counts: dict[tuple[str, str, int], Count] = {}
    for number, (key, point) in enumerate(wanted):
        progress(number, len(wanted), "counting")
        counts[key] = count(point)

    def with_counts(sweep: str, line: Line) -> Line:
        costs = line.costs
        return replace(
            line,
            costs=[
                replace(cost, counted=counts.get((sweep, line.name, cost.at))) for cost in costs
            ],
        )

    return [
        replace(one, lines=[with_counts(one.sweep.name, line) for line in one.lines])
        for one in found
    ]


def _cost(point: Point, runs: Sequence[Run], starts: Sequence[Run]) -> Cost:
    best = min(runs, key=lambda run: run.cpu_s)
    start_s = min(run.cpu_s for run in starts)
    return Cost(
        at=point.at,
        requests=point.requests,
        ns_per_request=max(LEAST_NS, 1e9 * (best.cpu_s - start_s) / (point.requests - 1)),
        events_per_request=best.events / point.requests,
        start_s=start_s,
        precondition_s=min(run.precondition_cpu_s for run in runs),
        resident_bytes=best.resident_bytes,
        peak_bytes=best.peak_bytes,
        latency_ns=_latency_ns(best.resident_bytes),
        digest=best.digest,
    )


def _run(point: Point) -> Run:
    try:
        done = ended(command(point))
    except WordlineError as fault:
        raise WordlineError(f"a run failed: {fault}") from fault
    summary: dict[str, Any] = json.loads(done.output)
    speed = summary["speed"]
    return Run(
        cpu_s=speed["cpu_s"] - speed["precondition_cpu_s"],
        precondition_cpu_s=speed["precondition_cpu_s"],
        events=speed["events"],
        resident_bytes=speed["resident_bytes"],
        peak_bytes=done.peak_memory_bytes,
        digest=summary["digest"],
    )


def _latency_ns(touched_bytes: int) -> float:
    """Returns the CPU time of a dependent random read in this much memory. The size is rounded to
    half an octave."""
    return _latency_of_half_octave(round(2 * math.log2(max(touched_bytes, 64))))


@cache
def _latency_of_half_octave(half_octave: int) -> float:
    table = MemoryTable(int(2 ** (half_octave / 2)))

    def round_ns() -> float:
        start = time.process_time_ns()
        table.walk(LATENCY_READS)
        return (time.process_time_ns() - start) / LATENCY_READS

    return min(round_ns() for _ in range(LATENCY_ROUNDS))


def _spread(values: Sequence[float]) -> float:
    return max(values) / min(values)
