"""Loads under schemes: the first pass, and the second, whose pages have a history."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path
from statistics import fmean
from typing import Literal, TypeAlias, cast

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Setup
from wordline_studies.regulation.recordings import FEW_READS, Recording, trace

REGULATION = "ftl.regulation"
PASSES = (1, 2)
Op: TypeAlias = Literal["read", "write"]
ByMode: TypeAlias = Literal["host_reads", "host_writes"]
BY_MODE: tuple[ByMode, ...] = ("host_reads", "host_writes")
Wait: TypeAlias = Literal["queue_us", "die_wait_us", "bus_wait_us", "gc_us"]
WAITS: tuple[Wait, ...] = ("queue_us", "die_wait_us", "bus_wait_us", "gc_us")
Key: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Device:
    """A preset, its page size in bytes, and its number of user pages."""

    name: str
    page: int
    user_pages: float


@dataclass(frozen=True)
class Told:
    """Results of a pass.

    Mean response times are in microseconds, zero if there are no requests of that kind. `wait_us`
    is the mean time for which a request waits in the queue of the device, for a die, for a channel
    or for GC, also in microseconds. Wear is in medium-mode programs. `rewrites` are pages
    re-written per page that the host reads or writes, in per cent. `by_mode` counts pages of the
    host's reads and writes by program mode.
    """

    reads: int
    writes: int
    read_us: float
    write_us: float
    wait_us: float
    wear: float
    rewrites: float
    erases: int
    by_mode: Mapping[str, Mapping[str, int]]

    @property
    def all_us(self) -> float:
        """Mean response time of reads and writes. Microseconds."""
        done = self.reads + self.writes
        total = self.reads * self.read_us + self.writes * self.write_us
        return total / done if done else nan

    def share(self, op: ByMode, mode: str) -> float:
        """Returns the share of the host's reads or writes of pages in a program mode. Per cent; NaN
        if there are none."""
        counts = self.by_mode[op]
        return 100 * counts[mode] / sum(counts.values()) if any(counts.values()) else nan


def case(
    device: Device, label: str, trace: Path, recording: Recording, settings: Mapping[str, Value]
) -> Case:
    """Returns the case of a recording on the device. The pages of the recording are written before
    the run."""
    told = [f"{key} = {value}" for key, value in settings.items()]
    fill: dict[str, Value] = {
        "precondition.fill_ratio": min(1.0, (recording.pages + 1) / device.user_pages)
    }
    return Case(device.name, ", ".join([label, *told]), fill | dict(settings), trace)


def passes(
    setup: Setup,
    device: Device,
    found: Mapping[str, Recording],
    schemes: Mapping[str, Mapping[str, Value]],
    *,
    faster: float = 1.0,
    sized: Mapping[str, Mapping[str, Value]] | None = None,
) -> dict[Key, list[Told]]:
    """Runs the first and the second pass of each recording under each scheme. `sized` has settings
    of the device by recording."""
    cases = {
        (name, scheme, number): case(
            device,
            f"{name}, {scheme}, {number} x"
            + (f", {faster:g} times the rate" if faster != 1 else ""),
            trace(setup, name, recording, number, faster),
            recording,
            {**settings, **(sized or {}).get(name, {})},
        )
        for name, recording in found.items()
        for scheme, settings in schemes.items()
        for number in PASSES
    }
    runs = required(setup, cases)
    return {
        (name, scheme): [
            told(runs[name, scheme, 1]),
            told(runs[name, scheme, 2], runs[name, scheme, 1]),
        ]
        for name in found
        for scheme in schemes
    }


def told(whole: Summary, first: Summary | None = None) -> Told:
    """Returns the results of a run, less those of `first`, a run of its beginning."""

    def less(of: float, before: float) -> float:
        return of - before

    counts = {op: _count(whole, op) - (_count(first, op) if first else 0) for op in OPS}
    sums = {op: less(_sum(whole, op), _sum(first, op) if first else 0.0) for op in OPS}
    means = {op: sums[op] / counts[op] if counts[op] else 0.0 for op in OPS}
    waits = less(_waits(whole), _waits(first) if first else 0.0)
    wear = less(_wear(whole), _wear(first) if first else 0.0)
    rewrites = less(_rewrites(whole), _rewrites(first) if first else 0.0)
    pages = less(_pages(whole), _pages(first) if first else 0.0)
    return Told(
        counts["read"],
        counts["write"],
        means["read"],
        means["write"],
        waits / max(1, sum(counts.values())),
        wear,
        100 * rewrites / max(1.0, pages),
        whole["flash"]["erases"] - (first["flash"]["erases"] if first else 0),
        {op: _by_mode(whole, first, op) for op in BY_MODE},
    )


OPS: tuple[Op, ...] = ("read", "write")


def _count(summary: Summary, op: Op) -> int:
    return summary["latency"][op]["count"]


def _sum(summary: Summary, op: Op) -> float:
    return _count(summary, op) * (summary["latency"][op]["mean_us"] or 0.0)


def together(first: Told, second: Told) -> Told:
    """Returns the results of two passes together. Means and `rewrites` are weighted by requests."""

    def mean(a: float, b: float, many: int, more: int) -> float:
        return (many * a + more * b) / (many + more) if many + more else 0.0

    every = first.reads + first.writes, second.reads + second.writes
    return Told(
        first.reads + second.reads,
        first.writes + second.writes,
        mean(first.read_us, second.read_us, first.reads, second.reads),
        mean(first.write_us, second.write_us, first.writes, second.writes),
        mean(first.wait_us, second.wait_us, *every),
        first.wear + second.wear,
        mean(first.rewrites, second.rewrites, *every),
        first.erases + second.erases,
        {
            op: {mode: count + second.by_mode[op][mode] for mode, count in of.items()}
            for op, of in first.by_mode.items()
        },
    )


def _waits(summary: Summary) -> float:
    """Returns the total waiting time of reads and writes. Microseconds."""
    return sum(
        _count(summary, op) * sum(summary["breakdown"][op][part] or 0.0 for part in WAITS)
        for op in OPS
    )


def _wear(summary: Summary) -> float:
    regulation = summary["regulation"]
    return regulation["wear"] if regulation else 0.0


def _rewrites(summary: Summary) -> float:
    regulation = summary["regulation"]
    return float(regulation["rewrites"]) if regulation else 0.0


def _pages(summary: Summary) -> float:
    regulation = summary["regulation"]
    if not regulation:
        return 0.0
    return float(sum(sum(_modes(regulation[op]).values()) for op in BY_MODE))


def _modes(told: object) -> dict[str, int]:
    """Returns the pages by mode, with the type that a summary gives."""
    return cast("dict[str, int]", told)


def _by_mode(whole: Summary, first: Summary | None, op: ByMode) -> dict[str, int]:
    regulation = whole["regulation"]
    before = first["regulation"] if first else None
    if not regulation:
        return {}
    earlier = _modes(before[op]) if before else {}
    return {mode: count - earlier.get(mode, 0) for mode, count in _modes(regulation[op]).items()}


def change(ours: float, base: float) -> float:
    """Returns the change relative to `base`. Per cent; NaN if `base` is 0."""
    return 100 * (ours / base - 1) if base else nan


def reading(found: Mapping[str, Recording]) -> list[str]:
    """Returns the recordings with enough reads to count in means of reads."""
    return [name for name, one in found.items() if one.read_percent >= FEW_READS]


def writing(found: Mapping[str, Recording]) -> list[str]:
    """Returns the recordings with enough writes to count in means of writes."""
    return [name for name, one in found.items() if one.read_percent <= 100 - FEW_READS]


def mean_change(
    runs: Mapping[Key, list[Told]], names: list[str], scheme: str, base: str, turn: int, of: str
) -> float:
    """Returns the mean change of a metric from scheme `base` to `scheme`, over the recordings.
    `turn` is the index of the pass, and `of` the attribute of `Told`. Per
    cent; NaN without recordings."""
    if not names:
        return nan
    return fmean(
        change(getattr(runs[name, scheme][turn], of), getattr(runs[name, base][turn], of))
        for name in names
    )
