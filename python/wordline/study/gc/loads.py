"""Loads fitted to table 7.1."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random

from wordline.study.figure import Setup
from wordline.study.traces import Request

PAGE = 4096
BLOCK = 128
# Logical blocks of 512 KiB that a disk of each array has at least: its 97 % less rounding.
OF_64_GB, OF_128_GB = 126_000, 252_000
REQUESTS = 48_000
DAYS = 5
# Measured at a disk (section 7.4.1).
SHORT_US = (1.8, 15_200.0)
LONG_FROM_S = 1.0
# Section 7.6: 35.9 % of the requests come at once, 29.5 % after a short pause, 34.6 % after a long
# one. Of those without a long pause, so many come at once; of the pauses, so many are long.
AT_ONCE = 35.9 / (35.9 + 29.5)
LONG_OF_PAUSES = 34.6 / (34.6 + 29.5)
# A write-intensive section: section 7.6.2, figure 7.11, and section 7.6 (set-up).
BUSY_BACK_TO_BACK, BUSY_WRITES = 0.9, 0.8
# Of a disk with high intensity every fourth stretch of requests is such a section (assumed).
STRETCHES, EVERY = 16, 4
# Blocks of 512 KiB that hold a quarter of the written pages each, most written first: measured of
# the 10,554 writes among the first 100,000 requests of disk 5 that are to be had.
QUARTERS = (516, 2_290, 3_053, 3_054)
# Mean of the long pauses of the disk with most of them.
LEAST_LONG_MEAN_S = 2.0


@dataclass(frozen=True)
class Row:
    """A row of table 7.1: requests, KiB of them and of the writes, share with a long pause."""

    requests: int
    kib: int
    written_kib: int
    idle_percent: float

    @property
    def pages(self) -> float:
        """Mean size of a request."""
        return self.kib * 1024 / self.requests / PAGE

    @property
    def writes(self) -> float:
        """Share of the requests, for the table does not tell sizes of reads and writes apart."""
        return self.written_kib / self.kib


TABLE = {
    0: Row(1_509_397, 32_490_240, 3_051_918, 38.6),
    1: Row(2_221_728, 35_383_340, 17_722_159, 81.3),
    2: Row(500, 1_958, 1_958, 56.6),
    3: Row(4_352, 2_392_445, 2_387_767, 83.0),
    4: Row(12_627_396, 117_607_983, 24_835_283, 42.4),
    5: Row(12_981_710, 130_033_924, 31_777_436, 41.3),
}
LOW, HIGH = (0, 1, 2, 3), (4, 5)
# Which disks are on a member, by its name.
SIX_SSDS = {f"SSD{disk}": (disk,) for disk in TABLE}
THREE_SSDS = {"SSD0": (0, 1), "SSD1": (2, 5), "SSD2": (3, 4)}


@dataclass(frozen=True)
class Kind:
    """What requests are like. Shares of requests, pages, seconds."""

    writes: float
    pages: float
    back_to_back: float
    long: float
    long_mean_s: float


def count(setup: Setup, disk: int) -> int:
    """Requests of a disk: all of the row, or as many as are simulated."""
    return min(TABLE[disk].requests, setup.requests(REQUESTS))


def duration_s(setup: Setup) -> float:
    """How long the loads of all disks last, but for chance."""
    most = max(count(setup, disk) * row.idle_percent / 100 for disk, row in TABLE.items())
    return LEAST_LONG_MEAN_S * most


def kinds(setup: Setup, disk: int) -> tuple[Kind, Kind]:
    """What requests of a disk are like, outside and inside write-intensive sections."""
    row = TABLE[disk]
    long = row.idle_percent / 100
    mean = duration_s(setup) / (count(setup, disk) * long)
    pages = row.pages
    none = (1 - long) * AT_ONCE
    if disk in LOW:
        kind = Kind(row.writes, pages, none, long, mean)
        return kind, kind
    busy = Kind(
        BUSY_WRITES, pages, BUSY_BACK_TO_BACK, (1 - BUSY_BACK_TO_BACK) * LONG_OF_PAUSES, mean
    )
    inside, outside = 1 / EVERY, 1 - 1 / EVERY
    calm = Kind(
        (row.writes - inside * busy.writes) / outside,
        pages,
        (none - inside * busy.back_to_back) / outside,
        (long - inside * busy.long) / outside,
        mean,
    )
    return calm, busy


def quarters(blocks: int, sizes: Sequence[int] = QUARTERS, seed: int = 1) -> list[list[int]]:
    """Blocks of a disk of `blocks` that take a share of the writes each."""
    places = Random(seed).sample(range(blocks), sum(sizes))  # noqa: S311
    parts: list[list[int]] = []
    for size in sizes:
        parts.append(places[:size])
        places = places[size:]
    return parts


def requests(
    kind: Callable[[int], Kind],
    many: int,
    seed: int,
    blocks: int = OF_64_GB,
    sizes: Sequence[int] = QUARTERS,
) -> Iterator[Request]:
    """So many requests, the same every time; `kind` says what each of them is like."""
    random = Random(seed)  # noqa: S311
    parts = quarters(blocks, sizes, seed)
    orders = log(SHORT_US[1] / SHORT_US[0])
    now = 0.0
    for index in range(many):
        one = kind(index)
        writes = random.random() < one.writes
        pages = max(1, int(one.pages) + (random.random() < one.pages % 1))
        within = max(1, BLOCK + 1 - pages) if pages <= BLOCK else BLOCK
        part = parts[int(random.random() * len(parts))]
        block = part[int(random.random() * len(part))]
        offset = int(random.random() * within)
        anywhere = int(random.random() * (blocks * BLOCK - pages))
        first = min(block * BLOCK + offset, blocks * BLOCK - pages) if writes else anywhere
        yield Request(round(now), writes, first, pages)
        pause, length = random.random(), random.random()
        if pause < one.long:
            now += 1e9 * (LONG_FROM_S - (one.long_mean_s - LONG_FROM_S) * log(1 - length))
        elif pause >= one.long + one.back_to_back:
            now += 1e3 * SHORT_US[0] * exp(orders * length)


def of_disk(setup: Setup, disk: int, blocks: int = OF_64_GB) -> Iterator[Request]:
    """The load of a disk."""
    calm, busy = kinds(setup, disk)
    many = count(setup, disk)
    stretch = max(1, many // STRETCHES)
    return requests(
        lambda index: busy if index // stretch % EVERY == EVERY - 1 else calm,
        many,
        1 + disk,
        blocks,
    )


def in_turn(load: Iterable[Request], blocks: int = OF_64_GB) -> Iterator[Request]:
    """The same load, but that no write comes to a logical block before all others that are written
    have had one."""
    places = [place for part in quarters(blocks) for place in part]
    writes = 0
    for one in load:
        first = one.first
        if one.writes:
            first = min(places[writes % len(places)] * BLOCK, blocks * BLOCK - one.pages)
            writes += 1
        yield Request(one.at, one.writes, first, one.pages)


def of_member(setup: Setup, disks: Sequence[int]) -> Iterator[Request]:
    """The loads of disks that lie one behind the other on a member."""
    if len(disks) == 1:
        return of_disk(setup, disks[0])
    shifted = (_shifted(of_disk(setup, disk), place) for place, disk in enumerate(disks))
    return heapq.merge(*shifted, key=lambda one: one.at)


def _shifted(load: Iterable[Request], place: int) -> Iterator[Request]:
    first = place * OF_64_GB * BLOCK
    return (Request(one.at, one.writes, first + one.first, one.pages) for one in load)
