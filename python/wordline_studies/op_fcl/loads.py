"""Loads fitted to table 1 and written as traces."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from math import ceil, exp, floor, log1p
from pathlib import Path
from random import Random
from typing import TypeAlias

from wordline import WordlineError
from wordline_studies.figure import Setup
from wordline_studies.generated import Request

PAGE_KB = 4.0
PAGES_PER_GB = 262_144
KB_PER_GB = 1 << 20
APART_NS = 100_000_000
"""Interval between requests replayed by time stamp. It is longer than the work that a request
leaves behind. Nanoseconds."""
DRIVE_PAGES = 140 * 1_000_000_000 // 4096
"""Number of pages of the positioned disk. Requests are spread over the whole disk where seeks
matter."""
SPREAD_PAGES = 64
CHUNK_PAGES = 1024
"""Chunk size of the large store. Its volumes, one per disk, take the addresses in turn in
chunks."""
MOST_EXTENTS = 1 << 60
EXACT_RANKS = 512
"""Number of ranks of a Zipf law that are summed one by one. Higher ranks are summed in groups."""


@dataclass(frozen=True)
class Class:
    """Reads or writes of a row of table 1: working set, mean request size and amount, and the
    exponent of the Zipf law, which the table does not give."""

    set_gb: float
    mean_kb: float
    amount_gb: float
    exponent: float

    def requests(self, part: int) -> int:
        """Returns the number of requests at scale `part`."""
        return max(1, round(self.amount_gb * KB_PER_GB / self.mean_kb / part))

    @property
    def pages(self) -> float:
        """Mean request size. Pages."""
        return max(1.0, self.mean_kb / PAGE_KB)


Parts: TypeAlias = Mapping[str, int]
"""Factor by which flash and load are scaled down, by name of the load."""


@dataclass(frozen=True)
class Load:
    """A row of table 1: whole working set, reads, writes, and whether the load runs on the large
    store."""

    name: str
    title: str
    total_gb: float
    reads: Class
    writes: Class
    large: bool = False

    def part(self, parts: Parts) -> int:
        """Returns the factor by which the load is scaled down."""
        return parts[self.name]


TABLE = {
    load.name: load
    for load in (
        Load("financial", "Financial", 3.8, Class(1.2, 5.7, 6.9, 1.0), Class(3.6, 7.2, 28.8, 1.0)),
        Load("home", "Home", 17.2, Class(13.5, 22.2, 15.3, 0.0), Class(5.0, 3.9, 66.8, 1.1)),
        Load(
            "search",
            "Search Engine",
            5.4,
            Class(5.4, 15.1, 15.6, 0.3),
            Class(0.001, 8.6, 0.001, 0.0),
        ),
        Load(
            "exchange",
            "Exchange",
            79.35,
            Class(74.12, 9.89, 114.36, 1.0),
            Class(23.29, 12.4, 131.69, 0.8),
            True,
        ),
        Load(
            "msn",
            "MSN",
            37.98,
            Class(30.93, 11.48, 107.23, 0.8),
            Class(23.03, 11.12, 74.01, 0.8),
            True,
        ),
    )
}
FITTED = (
    "The loads are fitted to table 1, which gives working sets, mean sizes and amounts, but not "
    "the locality. Reads and writes are extents of the mean size, rounded down or up, drawn by a "
    "truncated Zipf law. The number of extents makes the expected working set equal the published "
    "one. Read and write extents overlap by as much as the sum of their working sets exceeds the "
    "whole working set. The exponents (reads and writes: Financial 1.0 and 1.0, Home 0 and 1.1, "
    "Search Engine 0.3, Exchange 1.0 and 0.8, MSN 0.8 and 0.8) were chosen after seeing results; "
    "another figure shows the optimum over the exponent. Search Engine's working set of writes, "
    "0.1 GB, is impossible with 0.001 GB of writes."
)


def distinct(extents: int, exponent: float, draws: int) -> float:
    """Returns the expected number of distinct extents in `draws` draws from a Zipf law over
    `extents`."""
    ranks = list(_groups(extents))
    whole = sum(count * rank**-exponent for rank, count in ranks)
    return sum(count * _drawn(rank**-exponent / whole, draws) for rank, count in ranks)


def _drawn(share: float, draws: int) -> float:
    return 1.0 - exp(draws * log1p(-share)) if share < 1 else 1.0


def _groups(extents: int) -> Iterator[tuple[float, int]]:
    """Yields the mean rank of each group of ranks and the number of ranks in the group: one up to
    rank `EXACT_RANKS`, then at most 1 % of the rank."""
    first = 1
    while first <= extents:
        count = 1 if first <= EXACT_RANKS else min(first // 100, extents - first + 1)
        yield first + (count - 1) / 2, count
        first += count


def extents_of(one: Class, part: int) -> int:
    """Returns the number of extents for which the expected working set is that of the table.

    Raises WordlineError if the law is too steep for that working set.
    """
    draws = one.requests(part)
    wanted = one.set_gb * PAGES_PER_GB / part / one.pages
    low = max(1, floor(wanted))
    if wanted >= 0.999 * draws:
        return max(low, draws)
    high = 2 * low
    while distinct(high, one.exponent, draws) < wanted:
        if high > MOST_EXTENTS:
            raise WordlineError(
                f"a Zipf law of exponent {one.exponent:g} does not reach {one.set_gb:g} GB of "
                f"distinct extents in {one.amount_gb:g} GB of requests; choose a smaller exponent"
            )
        high *= 2
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (
            (middle, high) if distinct(middle, one.exponent, draws) < wanted else (low, middle)
        )
    return high


class _Extents:
    """Extents that a class draws.

    Each new extent takes the next position in a space as large as the working set. Positions are
    shuffled.
    """

    def __init__(self, one: Class, part: int, random: Random) -> None:
        self._random = random
        self._groups = [
            (round(rank - (count - 1) / 2), count, rank**-one.exponent * count)
            for rank, count in _groups(extents_of(one, part))
        ]
        self._weights = list(accumulate(weight for _, _, weight in self._groups))
        self._placed: dict[int, tuple[int, int]] = {}
        low, high = floor(one.pages), ceil(one.pages)
        wanted = one.set_gb * PAGES_PER_GB / part
        self.pages = 0
        self._free: list[tuple[int, int]] = []
        while self.pages < wanted:
            pages = high if random.random() < one.pages - low else low
            self._free.append((self.pages, pages))
            self.pages += pages
        self._most = high
        random.shuffle(self._free)
        self._beyond = -high

    def draw(self) -> tuple[int, int]:
        """Returns the first page and the number of pages of an extent. Once the working set is
        full, new extents are placed after it."""
        group = self._random.choices(self._groups, cum_weights=self._weights)[0]
        rank = group[0] + self._random.randrange(group[1])
        found = self._placed.get(rank)
        if found is None:
            found = self._placed[rank] = self._place()
        return found

    def _place(self) -> tuple[int, int]:
        if self._free:
            return self._free.pop()
        self._beyond += self._most
        return self.pages + self._beyond, self._most


@dataclass(frozen=True)
class Bursts:
    """Reads that come only in one of `of` stretches of `requests` requests at full scale."""

    requests: int
    of: int

    def share(self, mean: float, at: int, part: int) -> float:
        """Returns the share of writes at request `at` of a load whose mean share is `mean`."""
        reading = at // max(1, self.requests // part) % self.of == 0
        return 1.0 - self.of * (1.0 - mean) if reading else 1.0


def requests(name: str, load: Load, part: int, bursts: Bursts | None = None) -> Iterator[Request]:
    """Yields the load at scale `part`. Deterministic."""
    random = Random(f"{name}/{part}")  # noqa: S311
    spaces = [_Extents(one, part, random) for one in (load.reads, load.writes)]
    offset = 2 * round(load.total_gb * PAGES_PER_GB / part)
    common = round((load.reads.set_gb + load.writes.set_gb - load.total_gb) * PAGES_PER_GB / part)
    left = [load.reads.requests(part), load.writes.requests(part)]
    share = left[1] / sum(left)
    for at in range(sum(left)):
        writes = bursts.share(share, at, part) if bursts else share
        is_write = bool(left[1]) and (not left[0] or random.random() < writes)
        left[is_write] -= 1
        first, pages = spaces[is_write].draw()
        # Reads take addresses upwards from the offset, writes downwards, except for the pages that
        # they share.
        place = offset + first if is_write else offset + common - first - pages
        volume = place // CHUNK_PAGES % 3 if load.large else 0
        yield Request(at * APART_NS, is_write, place, pages, volume)


def with_exponents(load: Load, reads: float, writes: float) -> Load:
    """Returns the load with other exponents. The numbers of extents are fitted again."""
    return replace(
        load,
        reads=replace(load.reads, exponent=reads),
        writes=replace(load.writes, exponent=writes),
    )


def spread(load: Load, part: int, many: Iterable[Request]) -> Iterator[Request]:
    """Yields the requests, spread over the whole disk in chunks of `SPREAD_PAGES`."""
    times = max(1, DRIVE_PAGES * part // round(4 * load.total_gb * PAGES_PER_GB))
    for one in many:
        chunk, inside = divmod(one.first, SPREAD_PAGES)
        yield one._replace(first=chunk * times * SPREAD_PAGES + inside)


def written(setup: Setup, loads: Mapping[str, Load], parts: Parts) -> dict[str, Path]:
    """Writes scaled loads as traces and returns their paths by name."""
    return {
        name: setup.generated.trace(
            (name, load, load.part(parts)), partial(requests, name, load, load.part(parts))
        )
        for name, load in loads.items()
    }


def written_over_a_disk(setup: Setup, loads: Mapping[str, Load], parts: Parts) -> dict[str, Path]:
    """Writes scaled loads, spread over the positioned disk, as traces and returns their paths by
    name."""
    return {
        name: setup.generated.trace(
            ("spread", name, load, load.part(parts)),
            lambda name=name, load=load: spread(
                load, load.part(parts), requests(name, load, load.part(parts))
            ),
        )
        for name, load in loads.items()
    }


def named(names: Iterable[str]) -> dict[str, Load]:
    """Returns the loads of the table with these names."""
    return {name: TABLE[name] for name in names}
