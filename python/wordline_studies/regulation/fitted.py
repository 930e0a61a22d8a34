"""Loads fitted to table 8 of Xia 2017, whose traces of MSR Cambridge both studies use."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, log
from random import Random
from typing import Literal, TypeAlias

from wordline_studies.bursts import Arrivals as Bursts
from wordline_studies.regulation.recordings import Recording, Request, ranked

Arrivals: TypeAlias = Literal["bursts", "mixed", "spaced"]
"""Arrivals of requests. In `bursts`, the requests of a burst all read or all write, with the
lengths and gaps of the reads of web_3 and of the writes of rsrch_1. `mixed` are these bursts, and
`spaced` are bursts of a fixed length with longer gaps; in both, each request reads or writes
independently of the others."""
PAGES_PER_REQUEST = 2 / 3
"""Number of distinct pages of 8 KiB that a load accesses, per request. Assumed for loads for which
no table gives this number."""
WEEK_S, HALF_DAY_S = 7 * 86_400, 43_200
OTHERS = 5.0
"""Overlap of the traces for which the document says only that it is below 10 %. Per cent."""
SPACED_NS = 2_000_000
"""Median gap between the requests of a burst of `SPACED` requests. Nanoseconds."""
SPACED = 8
"""Requests per burst of loads with spaced requests."""


@dataclass(frozen=True)
class Load:
    """A row of table 8, and its overlap: the share of the address space that is both read and
    written.

    The address space is in units of 1e9 bytes. `written_gib` is the amount of distinct data
    written, if table 6 gives it, in GiB.
    """

    requests: int
    read_percent: float
    kib: float
    gb: float
    overlap_percent: float = OTHERS
    duration_s: float = WEEK_S
    written_gib: float | None = None

    @property
    def pages_per_request(self) -> float:
        """Number of distinct pages of 8 KiB that the load accesses, per request."""
        if self.written_gib is None:
            return PAGES_PER_REQUEST
        both = self.overlap_percent / 100
        written = both + (1 - both) * (1 - self.read_percent / 100)
        return self.written_gib * 2**30 / 8192 / self.requests / written

    @property
    def volume_bytes(self) -> float:
        """Data that the trace reads and writes. Bytes."""
        return self.requests * self.kib * 1024


# The size and the address space that table 8 gives for Financial1 are those that table 3 gives for
# WebSearch1. With the mean size of table 6, the written volume is that of table 6, which also gives
# how much of it is distinct data.
TABLE = {
    "financial1": Load(5_334_857, 23.16, 7.2, 16.67, 41, HALF_DAY_S, 3.6),
    "hm0": Load(3_993_316, 35.5, 7.99, 13.94, 42),
    "hm1": Load(609_311, 95.34, 15.16, 25.44, 28),
    "mds0": Load(1_211_034, 11.89, 9.20, 33.92),
    "proj0": Load(4_224_524, 12.48, 38.04, 16.24),
    "rsrch0": Load(1_433_655, 9.32, 8.93, 16.89),
    "rsrch2": Load(207_587, 65.69, 4.09, 81.65),
    "src0": Load(1_557_814, 11.34, 7.21, 15.63, 10),
    "stg0": Load(2_030_915, 15.19, 11.58, 10.82),
    "ts0": Load(1_801_734, 17.58, 9.01, 21.97),
    "wdev0": Load(1_143_261, 20.08, 9.08, 16.96),
    "wdev2": Load(181_266, 0.1, 8.15, 33.92),
    "web0": Load(2_029_945, 29.88, 14.99, 33.91),
    "web1": Load(160_891, 54.11, 29.07, 67.83),
    "web3": Load(31_380, 32.03, 38.14, 169.58),
}


@cache
def load(
    name: str, count: int, page_bytes: int, arrivals: Arrivals = "bursts", seed: int = 1
) -> Recording:
    """Returns `count` requests of a load."""
    return made(TABLE[name], count, page_bytes, arrivals, seed)


def made(
    row: Load, count: int, page_bytes: int, arrivals: Arrivals = "bursts", seed: int = 1
) -> Recording:
    """Returns `count` requests of a load with the statistics of a row."""
    random = Random(seed)  # noqa: S311
    places = _Places(row, count, page_bytes, random)
    of = _spaced(row, count, random) if arrivals == "spaced" else _measured(row, count, random)
    requests: list[Request] = []
    for at, writes in of:
        if arrivals == "mixed":
            writes = 100 * random.random() >= row.read_percent  # noqa: PLW2901
        requests.append(places.request(at, writes))
    return ranked(requests, page_bytes)


def space_pages(name: str, recording: Recording) -> int:
    """Returns the address space of a load in pages, at the scale of its requests, but at least the
    pages that it accesses.

    The pages that it reads or writes are then the same multiple of the space as in table 8.
    """
    accesses = sum(one.pages for one in recording.requests)
    row = TABLE[name]
    return max(recording.pages, ceil(accesses * row.gb * 1e9 / row.volume_bytes))


class _Places:
    """Addresses and sizes of a load's requests.

    The address space holds extents that are only read, extents that are read and written, and
    extents that are only written, in this order. All are equally popular.
    """

    def __init__(self, row: Load, count: int, page_bytes: int, random: Random) -> None:
        self._random, self._overlap = random, row.overlap_percent
        self._mean = max(1.0, row.kib * 1024 / page_bytes)
        self._extent = ceil(self._mean)
        extents = round(count * row.pages_per_request * max(1, 8192 // page_bytes) / self._extent)
        both = round(extents * row.overlap_percent / 100)
        reads = round((extents - both) * row.read_percent / 100)
        self._both = (reads, reads + both)
        self._own = {False: (0, reads), True: (reads + both, extents)}

    def request(self, at: float, writes: bool) -> Request:
        random = self._random.random
        overlaps = 100 * random() < self._overlap
        first, last = self._both if overlaps else self._own[writes]
        pages = int(self._mean) + (random() < self._mean % 1)
        place = first + int(random() * max(1, last - first))
        return Request(round(at), writes, place * self._extent, pages)


def _measured(row: Load, count: int, random: Random) -> Iterator[tuple[float, bool]]:
    """Yields the arrival time and direction of each request of a load, in bursts with the lengths
    and gaps measured in traces."""
    arrivals = Bursts(1 - row.read_percent / 100)
    between = 1e9 * arrivals.mean_length * row.duration_s / row.requests
    start, done = 0.0, 0
    while done < count:
        writes, bursts = arrivals.next(random)
        length = min(bursts.length(random), count - done)
        now = start
        for _ in range(length):
            yield now, writes
            now += bursts.gap_ns(random)
        done += length
        start = max(now, start - between * log(1 - random.random()))


def _spaced(row: Load, count: int, random: Random) -> Iterator[tuple[float, bool]]:
    """Yields the arrival time and direction of each request of a load, in bursts of fixed
    length."""
    between = 1e9 * SPACED * row.duration_s / row.requests
    now = 0.0
    for number in range(count):
        mean_gap = SPACED_NS / log(2) if number % SPACED else between
        now -= mean_gap * log(1 - random.random())
        yield now, 100 * random.random() >= row.read_percent
