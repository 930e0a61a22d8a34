"""Claims of the document about figures 9 and 13: sizes over time."""

from collections.abc import Mapping
from dataclasses import dataclass

from wordline_studies.figure import Claim
from wordline_studies.op_fcl.claims import LARGE, SMALL
from wordline_studies.op_fcl.loads import TABLE
from wordline_studies.op_fcl.runs import title
from wordline_studies.outcome import IN_POINTS

SEGMENT_GB = 0.25
"""A step of the sizes (table 2)."""
STEADY = (
    "the document's reason is that the load changes; the fitted loads hardly change: the sizes of "
    "Exchange and MSN change by less than a step in a period of that length (figures 9, 13)"
)
NOISE_ONLY = (
    "the traces change over time, and the fitted loads draw from the same law throughout, so that "
    "sizes follow noise only"
)
FEW_CHANGES = f"{NOISE_ONLY}, and Search Engine is still filling its cache"


@dataclass(frozen=True)
class Course:
    """Sizes of OP-FCL's lists over the run: requests completed, and GB at full scale."""

    requests: list[int]
    reads_gb: list[float]
    writes_gb: list[float]
    flash_gb: float

    @property
    def whole_gb(self) -> list[float]:
        """Sizes of both lists together. GB."""
        return [read + write for read, write in zip(self.reads_gb, self.writes_gb, strict=True)]

    def settled(self) -> tuple[float, float]:
        """Returns the mean sizes of the lists after the first third of the run. GB."""
        return self._mean(len(self.requests) // 3, len(self.requests))

    def drift_percent(self) -> float:
        """Returns by how much the mean size of both lists in the last third of the run exceeds that
        in the second third. Per cent."""
        third = len(self.requests) // 3
        before, last = (sum(self._mean(third * at, third * (at + 1))) for at in (1, 2))
        return 100 * (last / before - 1)

    def range_percent(self) -> float:
        """Returns the largest minus the smallest size of both lists together after the first third
        of the run. Per cent of the flash."""
        late = self.whole_gb[len(self.requests) // 3 :]
        return 100 * (max(late) - min(late)) / self.flash_gb

    def turns(self) -> int:
        """Returns how often the size turns after the first third of the run, by at least a step
        each time."""
        late = self.whole_gb[len(self.requests) // 3 :]
        low = high = late[0]
        turns, rising = 0, 0
        for value in late:
            low, high = min(low, value), max(high, value)
            if rising >= 0 and value <= high - SEGMENT_GB:
                turns, rising, low = turns + (rising > 0), -1, value
            elif rising <= 0 and value >= low + SEGMENT_GB:
                turns, rising, high = turns + (rising < 0), 1, value
        return turns

    def settles_at(self) -> float:
        """Returns the share of the run after which the size is within a step of its mean in the
        last third, at most two thirds. Per cent."""
        whole = self.whole_gb
        early = 2 * len(whole) // 3
        goal = sum(whole[early:]) / len(whole[early:])
        apart = [at for at in range(early) if abs(whole[at] - goal) > SEGMENT_GB]
        return 100 * (max(apart, default=-1) + 1) / len(whole)

    def _mean(self, first: int, end: int) -> tuple[float, float]:
        reads, writes = self.reads_gb[first:end], self.writes_gb[first:end]
        return sum(reads) / len(reads), sum(writes) / len(writes)


def claims(found: Mapping[str, Course]) -> list[Claim]:
    """Returns the claims on figures 9 and 13."""
    return [*_small(found), *_large(found), *(_steady(name, found[name]) for name in LARGE)]


def _small(found: Mapping[str, Course]) -> list[Claim]:
    turns = {name: found[name].turns() for name in ("financial", "home")}
    reads, writes = found["search"].settled()
    whole, flash = reads + writes, found["search"].flash_gb
    settles = found["search"].settles_at()
    return [
        Claim(
            "Financial and Home: the cached size rises and falls repeatedly (turns at least twice "
            f"by a step of {1024 * SEGMENT_GB:g} MB or more, after the first third of the run)",
            min(turns.values()) >= 2,
            ", ".join(f"{title(name)} {count} turns" for name, count in turns.items()),
            NOISE_ONLY,
            quick=False,
            ids=("O-064",),
        ),
        Claim(
            "OP-FCL gives Search Engine most of the flash (more than half)",
            whole > flash / 2,
            f"{whole:.2f} of {flash:g} GB",
            ids=("O-067",),
        ),
        Claim(
            "OP-FCL gives nearly all of Search Engine's cache to reads (at least "
            f"{100 - IN_POINTS:g} %)",
            100 * reads / whole >= 100 - IN_POINTS,
            f"{100 * reads / whole:.1f} %",
            ids=("O-068",),
        ),
        Claim(
            "Search Engine: the cached size takes some time to settle (longer than "
            f"{IN_POINTS:g} % of the run)",
            settles > IN_POINTS,
            f"{settles:.0f} % of the run",
            ids=("O-070",),
        ),
    ]


def _large(found: Mapping[str, Course]) -> list[Claim]:
    drift = {name: found[name].drift_percent() for name in LARGE}
    first = {name: 100 * found[name].whole_gb[0] / sum(found[name].settled()) for name in LARGE}
    ranges = {name: one.range_percent() for name, one in found.items()}
    return [
        Claim(
            "Exchange and MSN: the cache grows from empty (at first less than half of its later "
            f"size), then its size is stable (within {IN_POINTS:g} % from the second to the last "
            "third of the run)",
            max(first.values()) < 50 and max(map(abs, drift.values())) <= IN_POINTS,
            ", ".join(
                f"{title(name)} first {first[name]:.0f} %, then {drift[name]:+.1f} %"
                for name in LARGE
            ),
            quick=False,
            ids=("O-083",),
        ),
        Claim(
            "The cached sizes of the large loads change over a larger range than those of the "
            "small loads (largest minus smallest size after the first third of the run, relative "
            "to the flash)",
            min(ranges[name] for name in LARGE) > max(ranges[name] for name in SMALL),
            ", ".join(f"{title(name)} {value:.1f} %" for name, value in ranges.items()),
            FEW_CHANGES,
            quick=False,
            ids=("O-101",),
        ),
    ]


def _steady(name: str, course: Course) -> Claim:
    load = TABLE[name]
    periods = (load.reads.requests(1) + load.writes.requests(1)) / (1 << 20)
    a_period = course.drift_percent() / (periods / 3)
    return Claim(
        "Reason: between the second and the last third of the run, the total size of "
        f"{title(name)}'s lists changes by less than one size step (1.6 %) per period of 2^20 "
        "requests",
        abs(a_period) < 100 / 64,
        f"{a_period:+.1f} %",
        quick=False,
    )
