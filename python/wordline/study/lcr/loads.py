"""The loads: those of table III, generated and written as traces."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil, log
from pathlib import Path
from random import Random

from wordline.study import traces
from wordline.study.traces import Request

PAGE = 4096
# Where pages that are not hot may lie: 50 GiB of the 54 that the device has for its user.
PAGES = 50 * 2**18
# Pages of a large request: of the writes of rsrch_1 half have 4 KiB, a twentieth has 64.
LARGE = 16
# The traces of MSR Cambridge are of a week; Financial2 is taken for one of half a day.
WEEK_S, HALF_DAY_S = 7 * 86_400, 43_200
# Measured of the 13,780 requests of rsrch_1 (MSR Cambridge, 99.7 % writes), where requests less
# than a millisecond apart are one burst: the share of the bursts that have so many requests at
# most, and the share of the gaps within bursts that are so long at most, in microseconds. In 99 %
# of the cases a request does what the one before it in its burst did, in hm_0 and web_3 as well,
# which read and write.
BURSTS = (
    (0.363, 1), (0.476, 2), (0.754, 3), (0.812, 4), (0.902, 8), (0.95, 18), (0.981, 36),
    (0.991, 41), (0.995, 47), (1.0, 96),
)  # fmt: skip
GAPS_US = (
    (0.0, 0.0), (0.1, 0.3), (0.2, 0.9), (0.3, 2.3), (0.4, 3.9), (0.5, 7.9), (0.6, 16.8),
    (0.7, 37.9), (0.8, 59.3), (0.9, 83.1), (0.95, 118.6), (0.98, 218.3), (0.99, 305.4),
    (0.995, 372.3), (1.0, 993.2),
)  # fmt: skip


@dataclass(frozen=True)
class Load:
    """A row of table III, how large its reads and writes are, and how often pages come again.

    Sizes in pages, means. `hot_reads` and `hot_writes` are shares of the requests of one page that
    go to one of `hot_pages`.
    """

    requests: int
    writes_percent: float
    kib: float
    duration_s: float
    read_pages: float
    write_pages: float
    hot_reads: float
    hot_writes: float
    hot_pages: int
    bursts: bool = True

    @property
    def rate(self) -> float:
        """Requests a second."""
        return self.requests / self.duration_s


def _small_writes(requests: int, writes: float, kib: float, again: float) -> Load:
    """Writes of a page, and reads that are as large as makes the mean size."""
    share = writes / 100
    reads = (kib / 4 - share) / (1 - share)
    return Load(requests, writes, kib, WEEK_S, reads, 1, 0, again, 64)


def _small_reads(requests: int, writes: float, kib: float, again: float, hot_pages: int) -> Load:
    """Reads of a page, and writes that are as large as makes the mean size. Of the written pages
    so many come `again`."""
    share = writes / 100
    pages = (kib / 4 - 1 + share) / share
    small = 1 - (pages - 1) / (LARGE - 1)
    return Load(requests, writes, kib, WEEK_S, 1, pages, 0, again * pages / small, hot_pages)


# The document gives how many of the replacements are clean. What comes in has to leave, so that if
# reads do not come again (of web_3 3 %, of hm_0 6 % do) the writes that do follow from it: 45.5 %
# of web_0, 39 % of ts_0. Less than 5 % clean in proj_0 leaves that open: 12 % as in rsrch_1. Of
# wdev_2 half come again, in a mebibyte, which a buffer of 4 MiB holds beside what does not.
# Of Financial2 as many as in the first 30,000 requests of Financial1.
TABLE = {
    "web_0": _small_writes(2_029_945, 70.12, 7.64, 0.455),
    "ts_0": _small_writes(1_801_734, 82.42, 4.64, 0.39),
    "proj_0": _small_reads(4_224_524, 87.52, 19.06, 0.12, 64),
    "wdev_2": _small_reads(181_266, 99.89, 4.08, 0.5, 256),
    "financial2": Load(3_698_866, 17.65, 2.42, HALF_DAY_S, 1, 1, 0.45, 0.5, 64, bursts=False),
}
FITTED = (
    "The loads are fitted to table III: requests, share of writes and mean size are the table's. A "
    "request has one page of 4 KiB or sixteen; which of reads and writes are the larger ones is as "
    "the document's shares of clean replacements need it. A request of a page goes to one of a few "
    "hot pages or anywhere in 50 GiB, one of sixteen anywhere. Arrival rates are not given: those "
    "of the recordings are taken, a week of MSR Cambridge and half a day of Financial2. Requests "
    "of MSR Cambridge come in bursts that only read or only write, with the lengths and gaps "
    "measured of rsrch_1; those of Financial2 come one by one."
)


def drawn(steps: Sequence[tuple[float, float]], share: float) -> float:
    """The value that this share of a distribution does not exceed."""
    place = min(bisect_right(steps, share, key=_share), len(steps) - 1)
    if place == 0:
        return steps[0][1]
    (low, first), (high, last) = steps[place - 1], steps[place]
    return first + (last - first) * (share - low) / (high - low)


def _share(step: tuple[float, float]) -> float:
    return step[0]


def _length(share: float) -> int:
    return ceil(drawn(BURSTS, share))


# Requests of a burst, mean.
BURST_MEAN = sum(_length((n + 0.5) / 10_000) for n in range(10_000)) / 10_000


@dataclass(frozen=True)
class Playback:
    """How a load is run: so many requests, at so many times its rate, in bursts or one by one, on
    so many pages."""

    requests: int
    faster: float = 1.0
    bursts: bool = True
    pages: int = PAGES


def requests(load: Load, played: Playback) -> Iterator[Request]:
    """The requests of a load, the same every time."""
    random = Random(1)  # noqa: S311
    hot = random.sample(range(played.pages), load.hot_pages)
    bursts = load.bursts and played.bursts
    gap = 1e9 * (BURST_MEAN if bursts else 1.0) / load.rate / played.faster
    many = min(played.requests, load.requests)
    start, done = 0.0, 0
    while done < many:
        length = min(_length(random.random()) if bursts else 1, many - done)
        writes = 100 * random.random() < load.writes_percent
        now = start
        for _ in range(length):
            yield _one(load, random, hot, played.pages, round(now), writes)
            now += 1000 * drawn(GAPS_US, random.random())
        done += length
        start = max(now, start - gap * log(1 - random.random()))


def _one(
    load: Load, random: Random, hot: Sequence[int], pages: int, at: int, writes: bool
) -> Request:
    mean = load.write_pages if writes else load.read_pages
    share = load.hot_writes if writes else load.hot_reads
    size, place, again = random.random(), random.random(), random.random()
    if size < (mean - 1) / (LARGE - 1):
        return Request(at, writes, int(place * (pages - LARGE)), LARGE)
    if again < share:
        return Request(at, writes, hot[int(place * len(hot))], 1)
    return Request(at, writes, int(place * pages), 1)


def written(
    played: Mapping[str, tuple[str, Playback]],
) -> AbstractContextManager[dict[str, Path]]:
    """Traces of loads for as long as they are needed. By a name of one's own: load and how it is
    run."""
    return traces.written(
        {name: requests(TABLE[load], one) for name, (load, one) in played.items()}
    )
