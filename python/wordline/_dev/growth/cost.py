"""What a request costs at every point of a sweep, and what of it cache misses explain."""

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

# What costs may differ by: the largest of a series over its least.
MOST_RATIO = 1.5
# What a request costs at least. Short runs may take no longer than their start, which varies.
LEAST_NS = 1.0
LATENCY_ROUNDS, LATENCY_READS = 8, 1 << 16


@dataclass(frozen=True)
class Run:
    """One process. Processor seconds are those of the simulation, preconditioning apart."""

    cpu_s: float
    precondition_cpu_s: float
    events: int
    resident_bytes: int
    peak_bytes: int
    digest: str


@dataclass(frozen=True)
class Cost:
    """A point, measured: the least of its runs. What a run of one request takes, to build the
    device and to end, is `start_s` and is not in `ns_per_request`. `latency_ns` is a read of a
    random place of as much memory as the run has touched."""

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
        """The same for an event: requests do not take equally many everywhere."""
        return self.ns_per_request / self.events_per_request

    @property
    def misses_ns(self) -> float | None:
        """What cache misses cost a request at most: each the whole of `latency_ns`, none at the
        same time as another. None if they were not counted."""
        return None if self.counted is None else self.counted.misses * self.latency_ns


@dataclass(frozen=True)
class Line:
    """A series, measured."""

    name: str
    costs: Sequence[Cost]

    @property
    def least(self) -> Cost:
        """The point where a request costs least."""
        return min(self.costs, key=lambda cost: cost.ns_per_request)

    @property
    def least_by_event(self) -> Cost:
        """The point where an event costs least."""
        return min(self.costs, key=lambda cost: cost.ns_per_event)

    @property
    def largest(self) -> Cost:
        """The point where a request costs most."""
        return max(self.costs, key=lambda cost: cost.ns_per_request)

    @property
    def ratio(self) -> float:
        """The largest cost of a request over the least."""
        return self.largest.ns_per_request / self.least.ns_per_request

    @property
    def event_ratio(self) -> float:
        """The largest cost of an event over the least."""
        return _spread([cost.ns_per_event for cost in self.costs])

    @property
    def dear(self) -> list[Cost]:
        """The points that cost more than they may beside the least, by request or by event."""
        request, event = self.least.ns_per_request, self.least_by_event.ns_per_event
        return [
            cost
            for cost in self.costs
            if max(cost.ns_per_request / request, cost.ns_per_event / event) > MOST_RATIO
        ]

    def explained_ns(self, cost: Cost) -> float | None:
        """What the cache misses add that a point has beyond the fewest of its series, at most. None
        if they were not counted."""
        known = [ns for other in self.costs if (ns := other.misses_ns) is not None]
        return None if cost.misses_ns is None else cost.misses_ns - min(known)

    @property
    def ratio_left(self) -> float | None:
        """The worse of the two ratios without that; None if they were not counted where it
        matters."""
        if any(self.explained_ns(cost) is None for cost in self.dear):
            return None
        left = [cost.ns_per_request - (self.explained_ns(cost) or 0.0) for cost in self.costs]
        events = [ns / cost.events_per_request for ns, cost in zip(left, self.costs, strict=True)]
        by_request = max(left) / self.least.ns_per_request
        return max(1.0, by_request, max(events) / self.least_by_event.ns_per_event)

    @property
    def instruction_ratio(self) -> float | None:
        """The most instructions over the fewest, the worse of by request and by event; None if they
        were not counted."""
        known = [(one.counted.instructions, one) for one in self.costs if one.counted]
        if not known:
            return None
        by_event = [count / one.events_per_request for count, one in known]
        return max(_spread([count for count, _ in known]), _spread(by_event))

    @property
    def verdict(self) -> str:
        """`flat`, `flat apart from cache misses`, `grows`, or `grows, misses not counted`. Misses
        explain nothing if there are more instructions to a request too."""
        if not self.dear:
            return "flat"
        left, instructions = self.ratio_left, self.instruction_ratio
        if left is None or instructions is None:
            return "grows, misses not counted"
        flat = max(left, instructions) <= MOST_RATIO
        return "flat apart from cache misses" if flat else "grows"


@dataclass(frozen=True)
class Measured:
    """A sweep, measured."""

    sweep: Sweep
    lines: Sequence[Line]


Progress = Callable[[int, int, str], object]
"""Hears how many runs are done, how many there are, and which comes next."""


def measured(
    sweeps: Sequence[Sweep], repeat: int, progress: Progress, *, counts: bool
) -> list[Measured]:
    """Measures every point `repeat` times, and as often with a single request, which says what
    starting and ending cost: of equally many, the least are equally lucky. The order is random, so
    that a machine that is slower for a while is not slower for one end of a sweep. With `counts`,
    instructions and misses are counted of the points that cost more than they may, and of the
    least beside them.

    Raises WordlineError if a run fails."""
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
    """Processor time of a read that waits for the one before it, at random in so much memory,
    rounded to a half octave."""
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
