"""Bursts in which generated loads arrive, as measured in traces of MSR Cambridge."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf
from random import Random

SAMPLES = 10_000


@dataclass(frozen=True)
class Bursts:
    """Lengths of bursts and gaps between their requests, as cumulative distributions (see `drawn`).

    `lengths` pairs cumulative shares of bursts with numbers of requests, `gaps_us` cumulative
    shares of gaps with durations in microseconds. Requests of a direction that follow one another
    within a millisecond form a burst.
    """

    lengths: Sequence[tuple[float, float]]
    gaps_us: Sequence[tuple[float, float]]

    @cached_property
    def mean(self) -> float:
        """Mean number of requests per burst."""
        return sum(self._length((n + 0.5) / SAMPLES) for n in range(SAMPLES)) / SAMPLES

    def length(self, random: Random) -> int:
        """Draws the number of requests of a burst."""
        return self._length(random.random())

    def gap_ns(self, random: Random) -> float:
        """Draws the time between two requests of a burst. Nanoseconds."""
        return 1000 * drawn(self.gaps_us, random.random())

    def _length(self, share: float) -> int:
        return ceil(drawn(self.lengths, share))


# Measured over the 13,743 writes of rsrch_1. Only 0.3 % of its requests are reads.
WRITES = Bursts(
    (
        (0.363, 1),
        (0.476, 2),
        (0.754, 3),
        (0.812, 4),
        (0.902, 8),
        (0.95, 18),
        (0.981, 36),
        (0.991, 41),
        (0.995, 47),
        (1.0, 96),
    ),
    (
        (0.0, 0.0),
        (0.1, 0.3),
        (0.2, 0.9),
        (0.3, 2.3),
        (0.4, 3.9),
        (0.5, 7.9),
        (0.6, 16.8),
        (0.7, 37.9),
        (0.8, 59.3),
        (0.9, 83.1),
        (0.95, 118.6),
        (0.98, 218.3),
        (0.99, 305.4),
        (0.995, 372.3),
        (1.0, 993.2),
    ),
)
# Measured over the 10,050 reads of web_3, the only complete trace with many reads. The reads of
# hm_0, of which there is an excerpt of 1,000 requests, also arrive in shorter bursts than its
# writes, with longer gaps.
READS = Bursts(
    (
        (0.831, 1),
        (0.944, 2),
        (0.969, 3),
        (0.979, 4),
        (0.986, 5),
        (0.99, 6),
        (0.995, 7),
        (0.997, 9),
        (0.999, 12),
        (0.9996, 16),
        (0.9999, 26),
        (1.0, 83),
    ),
    (
        (0.0, 0.0),
        (0.1, 1.2),
        (0.2, 3.3),
        (0.3, 8.9),
        (0.4, 16.8),
        (0.5, 29.1),
        (0.6, 80.7),
        (0.7, 147.5),
        (0.8, 195.2),
        (0.9, 483.0),
        (0.95, 683.6),
        (0.98, 839.5),
        (0.99, 918.4),
        (0.995, 963.2),
        (1.0, 996.0),
    ),
)


@dataclass(frozen=True)
class Arrivals:
    """Bursts of a load in which the share `write_share` of the requests write.

    The requests of a burst all read or all write. In hm_0, rsrch_1 and web_3, 99 % of the requests
    that arrive within a millisecond of the previous request have its direction.
    """

    write_share: float
    reads: Bursts = READS

    @cached_property
    def mean_length(self) -> float:
        """Mean number of requests per burst."""
        return 1 / ((1 - self.write_share) / self.reads.mean + self.write_share / WRITES.mean)

    def next(self, random: Random) -> tuple[bool, Bursts]:
        """Draws the direction of a burst. Returns whether it writes, and the bursts of that
        direction."""
        writes = random.random() * WRITES.mean < self.write_share * self.mean_length
        return writes, WRITES if writes else self.reads


def drawn(steps: Sequence[tuple[float, float]], share: float) -> float:
    """Returns the value at a cumulative share. `steps` are pairs of cumulative share and value,
    interpolated linearly."""
    place = min(bisect_right(steps, (share, inf)), len(steps) - 1)
    if place == 0:
        return steps[0][1]
    (low, first), (high, last) = steps[place - 1], steps[place]
    return first + (last - first) * (share - low) / (high - low)
