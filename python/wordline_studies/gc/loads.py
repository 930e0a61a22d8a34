"""Loads fitted to table 7.1."""

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log
from random import Random

from wordline_studies.figure import Setup
from wordline_studies.generated import Request

PAGE = 4096
BLOCK = 128
# Planes of a disk of 64 GiB, and consecutive pages that are allocated to one plane.
PLANES, STRIPE = 64, 8
# Number of logical blocks of 512 KiB that the loads address per disk of 64 GB. These are 96 % of
# the capacity, less than the user capacity of 97 % under every scheme.
OF_64_GB = 125_952
# Writes cause GC, so the number of writes is fixed. Of each disk, the requests with this many
# writes are simulated: 600,000 requests of disk 5.
WRITES = 140_600
DAYS = 5
# A pause is short if it is neither zero nor longer than a second; the shares of section 7.6 add up
# to 100 %. The lower bound is the shortest pause measured on a disk (section 7.4.1).
SHORT_US = (1.8, 1_000_000.0)
LONG_FROM_S = 1.0
# Section 7.6: 35.9 % of the requests follow without a pause, 29.5 % after a short one, 34.6 % after
# a long one. `AT_ONCE` is the first share among requests without a long pause, `LONG_OF_PAUSES` the
# share of long ones among pauses.
AT_ONCE = 35.9 / (35.9 + 29.5)
LONG_OF_PAUSES = 34.6 / (34.6 + 29.5)
# Write-intensive sections: section 7.6.2, figure 7.11, and section 7.6 (set-up).
BUSY_BACK_TO_BACK, BUSY_WRITES = 0.9, 0.8
# Share of long pauses among the pauses of a section. Chosen after seeing results; section 7.6.1
# says that even short pauses are very rare.
BUSY_LONG_OF_PAUSES = 0.05
# On a disk with high intensity, every fourth stretch of requests is such a section (assumed).
STRETCHES, EVERY = 32, 4
# Sizes of four sets of logical blocks, each of which holds a quarter of the written pages. The
# most written blocks come first. Measured with this striping on the 10,554 writes among the first
# 100,000 requests of disk 5, the available excerpt.
QUARTERS = (770, 2_636, 3_053, 3_054)
# Mean length of the long pauses of the disk that has the most long pauses. Seconds.
LEAST_LONG_MEAN_S = 2.0


@dataclass(frozen=True)
class Row:
    """A disk: numbers of write and read requests (table 6.1, msnfs1 to msnfs6), KiB in total and
    written, and the share of requests after a long pause in per cent (table 7.1)."""

    writes: int
    reads: int
    kib: int
    written_kib: int
    idle_percent: float

    @property
    def requests(self) -> int:
        """Number of requests of both kinds."""
        return self.writes + self.reads

    @property
    def write_share(self) -> float:
        """Share of writes among the requests."""
        return self.writes / self.requests

    @property
    def write_pages(self) -> float:
        """Mean size of a write. Pages."""
        return self.written_kib * 1024 / self.writes / PAGE

    @property
    def read_pages(self) -> float:
        """Mean size of a read. Pages; 1 without reads."""
        if not self.reads:
            return 1.0
        return (self.kib - self.written_kib) * 1024 / self.reads / PAGE


# Written KB of disk 0: as printed; the printed total of 79,776,520 KB is the sum with this number.
# Table 2.2 (20.7 KB per write) would need another digit.
TABLE = {
    0: Row(1_467_625, 41_772, 32_490_240, 3_051_918, 38.6),
    1: Row(2_100_032, 121_697, 35_383_340, 17_722_159, 81.3),
    2: Row(500, 0, 1_958, 1_958, 56.6),
    3: Row(4_014, 338, 2_392_445, 2_387_767, 83.0),
    4: Row(3_003_205, 9_624_191, 117_607_983, 24_835_283, 42.4),
    5: Row(3_040_098, 9_941_612, 130_033_924, 31_777_436, 41.3),
}
LOW, HIGH = (0, 1, 2, 3), (4, 5)
# Disks of each SSD of an array, by the name of the SSD.
SIX_SSDS = {f"SSD{disk}": (disk,) for disk in TABLE}
THREE_SSDS = {"SSD0": (0, 1), "SSD1": (2, 5), "SSD2": (3, 4)}


@dataclass(frozen=True)
class Kind:
    """Statistics of requests: share of writes, mean pages of a write and of a read, shares of
    requests that follow without a pause and after a long one, and the mean long pause in
    seconds."""

    writes: float
    write_pages: float
    read_pages: float
    back_to_back: float
    long: float
    long_mean_s: float


def writes_of(setup: Setup) -> int:
    """Returns the largest number of writes that are simulated per disk. A quick study simulates a
    sixteenth, at which every claim that it tests has the verdict of an eighth."""
    return setup.requests(WRITES // 2 if setup.quick else WRITES)


def count(writes: int, disk: int) -> int:
    """Returns the number of requests of a disk of which about `writes` are writes.

    If the table has fewer writes, all of its requests are simulated, scaled down if `writes` is
    less than `WRITES`.
    """
    row = TABLE[disk]
    most = round(row.requests * min(1.0, writes / WRITES))
    return min(most, round(writes / row.write_share))


def duration_s(writes: int) -> float:
    """Returns the expected duration of the loads of all disks. Seconds."""
    most = max(count(writes, disk) * row.idle_percent / 100 for disk, row in TABLE.items())
    return LEAST_LONG_MEAN_S * most


def simulated(writes: int, disks: Sequence[int]) -> float:
    """Returns the simulated share of the requests of a member: the smallest share among its
    disks."""
    return min(count(writes, disk) / TABLE[disk].requests for disk in disks)


def busy(disk: int, long: float = BUSY_LONG_OF_PAUSES, long_mean_s: float = 2.0) -> Kind:
    """Returns the statistics of a write-intensive section. `long` is the share of long pauses among
    its pauses."""
    row = TABLE[disk]
    return Kind(
        BUSY_WRITES,
        row.write_pages,
        row.read_pages,
        BUSY_BACK_TO_BACK,
        (1 - BUSY_BACK_TO_BACK) * long,
        long_mean_s,
    )


def kinds(disk: int, many: int, duration_s: float) -> tuple[Kind, Kind]:
    """Returns the statistics of `many` requests of a disk over `duration_s` seconds, outside and
    inside write-intensive sections."""
    row = TABLE[disk]
    long = row.idle_percent / 100
    mean = duration_s / (many * long)
    none = (1 - long) * AT_ONCE
    if disk in LOW:
        kind = Kind(row.write_share, row.write_pages, row.read_pages, none, long, mean)
        return kind, kind
    section = busy(disk, long_mean_s=mean)
    inside, outside = 1 / EVERY, 1 - 1 / EVERY
    calm = Kind(
        (row.write_share - inside * section.writes) / outside,
        row.write_pages,
        row.read_pages,
        (none - inside * section.back_to_back) / outside,
        (long - inside * section.long) / outside,
        mean,
    )
    return calm, section


def page_of(block: int, place: int) -> int:
    """Returns the host page at a position of a logical block. Rows of 8 pages are striped over the
    planes."""
    row, column = divmod(place, STRIPE)
    group, plane = divmod(block, PLANES)
    return ((group * (BLOCK // STRIPE) + row) * PLANES + plane) * STRIPE + column


def block_of(page: int) -> int:
    """Returns the logical block of a host page."""
    row, plane = divmod(page // STRIPE, PLANES)
    return row // (BLOCK // STRIPE) * PLANES + plane


def quarters(blocks: int, sizes: Sequence[int] = QUARTERS, seed: int = 1) -> list[list[int]]:
    """Returns random, disjoint sets of the logical blocks of a disk, with the given sizes. Each set
    takes an equal share of the writes."""
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
    short_us: tuple[float, float] = SHORT_US,
) -> Iterator[Request]:
    """Yields `many` requests. `kind` gives the statistics of each by its index. The requests depend
    on the arguments only."""
    random = Random(seed)  # noqa: S311
    parts = quarters(blocks, sizes, seed)
    orders = log(short_us[1] / short_us[0])
    now = 0.0
    for index in range(many):
        one = kind(index)
        writes = random.random() < one.writes
        mean = one.write_pages if writes else one.read_pages
        pages = max(1, int(mean) + (random.random() < mean % 1))
        part = parts[int(random.random() * len(parts))]
        block = part[int(random.random() * len(part))]
        row, column = random.random() * BLOCK // STRIPE, random.random()
        within = STRIPE * row + column * max(1, STRIPE + 1 - pages) // 1
        anywhere = int(random.random() * (blocks * BLOCK - pages))
        there = page_of(block, int(within))
        first = min(there, blocks * BLOCK - pages) if writes else anywhere
        yield Request(round(now), writes, first, pages)
        pause, length = random.random(), random.random()
        if pause < one.long:
            now += 1e9 * (LONG_FROM_S - (one.long_mean_s - LONG_FROM_S) * log(1 - length))
        elif pause >= one.long + one.back_to_back:
            now += 1e3 * short_us[0] * exp(orders * length)


def of_disk(
    writes: int,
    disk: int,
    blocks: int = OF_64_GB,
    sizes: Sequence[int] = QUARTERS,
    many: int | None = None,
) -> Iterator[Request]:
    """Returns the load of a disk, optionally with a given number of requests."""
    many = many or count(writes, disk)
    calm, section = kinds(disk, many, duration_s(writes))
    stretch = max(1, many // STRETCHES)
    return requests(
        lambda index: section if index // stretch % EVERY == EVERY - 1 else calm,
        many,
        1 + disk,
        blocks,
        sizes,
    )


def in_turn(load: Iterable[Request], blocks: int = OF_64_GB) -> Iterator[Request]:
    """Yields the load with its writes spread over the logical blocks: no block is written again
    before all others have been. Reads do not change."""
    places = [place for part in quarters(blocks) for place in part]
    writes = 0
    for one in load:
        first = one.first
        if one.writes:
            place = page_of(places[writes % len(places)], 0)
            first = min(place, blocks * BLOCK - one.pages)
            writes += 1
        yield Request(one.at, one.writes, first, one.pages)


def of_member(writes: int, disks: Sequence[int]) -> Iterator[Request]:
    """Yields the merged loads of a member's disks, with the same share of each. Each disk has its
    own address range."""
    share = simulated(writes, disks)
    loads = (of_disk(writes, disk, many=round(share * TABLE[disk].requests)) for disk in disks)
    shifted = (_shifted(load, place) for place, load in enumerate(loads))
    return heapq.merge(*shifted, key=lambda one: one.at)


def _shifted(load: Iterable[Request], place: int) -> Iterator[Request]:
    first = place * OF_64_GB * BLOCK
    return (Request(one.at, one.writes, first + one.first, one.pages) for one in load)
