"""Loads of table III, generated and written as traces."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log
from pathlib import Path
from random import Random
from typing import TypeAlias

from wordline_studies.bursts import READS, Arrivals, Bursts, drawn
from wordline_studies.figure import Setup
from wordline_studies.generated import Request

PAGE = 4096
# Number of pages of a large request. Of the writes of rsrch_1, half have 4 KiB and a twentieth 64
# KiB.
LARGE = 16
# The traces of MSR Cambridge last a week. Financial2 is assumed to last half a day.
WEEK_S, HALF_DAY_S = 7 * 86_400, 43_200


@dataclass(frozen=True)
class Again:
    """Repetition of requests of a kind (reads or writes).

    A request repeats an earlier one of its kind with probability `share`. `ages` is the cumulative
    distribution (see `drawn`) of the age of the earlier request, in requests of the kind or, if
    `in_pages`, in pages.
    """

    share: float
    ages: Sequence[tuple[float, float]]
    in_pages: bool = False


@dataclass(frozen=True)
class Hot:
    """Share of the small requests of a kind that go to hot addresses, and the number of these
    addresses. Each is equally likely."""

    share: float
    places: int


Reuse: TypeAlias = Again | Hot
NEVER = Hot(0, 1)


@dataclass(frozen=True)
class Load:
    """A load of table III: number of requests, share of writes, mean size, address space, sizes of
    reads and writes, and repetition.

    The sizes of reads and writes are means in pages: a request has `small` pages or sixteen.
    """

    requests: int
    writes_percent: float
    kib: float
    gb: float
    duration_s: float
    small: int
    read_pages: float
    write_pages: float
    reads: Reuse
    writes: Reuse
    bursts: bool = True

    @property
    def rate(self) -> float:
        """Arrival rate. Requests per second."""
        return self.requests / self.duration_s

    @property
    def pages(self) -> int:
        """Size of the address space. Pages."""
        return int(self.gb * 1e9) // PAGE


def _small_writes(requests: int, writes: float, kib: float, gb: float, reuse: float) -> Load:
    """Returns a load with writes of two pages. The size of the reads is chosen so that the mean
    size of a request is `kib`."""
    share = writes / 100
    reads = (kib / 4 - 2 * share) / (1 - share)
    again = Again(reuse, _log_uniform(8192))
    return Load(
        requests, writes, kib, gb, WEEK_S, 2, reads, 2, Again(0.5, _log_uniform(2048)), again
    )


def _small_reads(requests: int, writes: float, kib: float, gb: float, again: Hot) -> Load:
    """Returns a load with reads of two pages. The size of the writes is chosen so that the mean
    size of a request is `kib`. `again.share` is the share of the written pages that go to hot
    addresses."""
    share = writes / 100
    pages = (kib / 4 - 2 * (1 - share)) / share
    small = 2 * (1 - (pages - 2) / (LARGE - 2))
    hot = Hot(again.share * pages / small, again.places)
    return Load(requests, writes, kib, gb, WEEK_S, 2, 2, pages, NEVER, hot)


def _log_uniform(most: int) -> tuple[tuple[float, float], ...]:
    """Returns a log-uniform distribution of ages from 1 to `most`: each octave is equally
    likely."""
    octaves = most.bit_length() - 1
    return tuple((octave / octaves, 2.0**octave) for octave in range(octaves + 1))


# Sizes and address spaces are those of table 8 of Q. Xia's thesis (2017), which uses the same
# traces: requests and shares of reads are equal, sizes twice those of table III. wdev_2 has only
# writes, of 8.15 KB. Financial2 is not in that table. Recorded traces repeat requests at all
# distances. Here, half of the reads repeat at log-uniform ages up to 2,048 reads, and writes at
# ages up to 8,192 writes (chosen after seeing results). The share of writes that repeat follows
# from the document's share of clean replacements, 76 % of web_0 and 40 % of ts_0: each page that
# enters must be evicted. For proj_0, the published share of less than 5 % does not determine it; 12
# % as in rsrch_1 is used. Half of the writes of wdev_2 repeat within 1 MiB, which fits in a buffer
# of 4 MiB next to the other writes. For Financial2 the share is that of the first 30,000 requests
# of Financial1.
TABLE = {
    "web_0": _small_writes(2_029_945, 70.12, 14.99, 33.91, 0.77),
    "ts_0": _small_writes(1_801_734, 82.42, 9.01, 21.97, 0.74),
    "proj_0": _small_reads(4_224_524, 87.52, 38.04, 16.24, Hot(0.12, 64)),
    "wdev_2": _small_reads(181_266, 99.89, 8.15, 33.92, Hot(0.5, 128)),
    "financial2": Load(
        3_698_866,
        17.65,
        2.42,
        53.69,
        HALF_DAY_S,
        1,
        1,
        1,
        Hot(0.45, 64),
        Hot(0.5, 64),
        bursts=False,
    ),
}
# Measured on hplajw, a week of a workstation (HP Labs, 1992): page writes between two writes of a
# page, and page reads between two reads of a page. 93.0 % of the writes and 69.7 % of the reads are
# repeated.
RECORDED = {
    "writes": Again(
        0.93,
        (
            (0, 1),
            (0.1, 2),
            (0.2, 3),
            (0.3, 6),
            (0.4, 31),
            (0.5, 83),
            (0.6, 141),
            (0.7, 279),
            (0.8, 666),
            (0.9, 1627),
            (0.95, 3279),
            (0.98, 8350),
            (0.99, 14128),
            (1, 46965),
        ),
        in_pages=True,
    ),
    "reads": Again(
        0.697,
        (
            (0, 1),
            (0.1, 5),
            (0.2, 16),
            (0.3, 41),
            (0.4, 614),
            (0.5, 1234),
            (0.6, 1812),
            (0.7, 2237),
            (0.8, 3276),
            (0.9, 4923),
            (0.95, 6485),
            (0.98, 7649),
            (0.99, 10602),
            (1, 15354),
        ),
        in_pages=True,
    ),
}
RECORDED_LOADS = {
    f"{load}, recorded reuse": replace(TABLE[load], **RECORDED) for load in ("web_0", "ts_0")
}
RESIZED_LOADS = {
    f"{load}, reads as large as on {other}": replace(
        TABLE[load], read_pages=TABLE[other].read_pages
    )
    for load, other in (("web_0", "ts_0"), ("ts_0", "web_0"))
}
LOADS = TABLE | RECORDED_LOADS | RESIZED_LOADS
FITTED = (
    "The loads are fitted. Requests and shares of writes are those of table III. Mean sizes and "
    "address spaces are those of the same traces in Q. Xia's thesis (table 8), whose sizes are "
    "twice those of table III. A request has two pages of 4 KiB or sixteen (financial2: one). "
    "Whether reads or writes are larger follows from the document's shares of clean replacements. "
    "Requests of web_0 and ts_0 repeat at all distances. Small requests of the other loads go to "
    "a few hot addresses or anywhere, large ones anywhere. Arrival rates are not given; those of "
    "the recorded traces are used, which last a week (MSR Cambridge) and half a day (Financial2). "
    "Requests of MSR Cambridge arrive in bursts that only read or only write, with the lengths "
    "and gaps of the writes of rsrch_1 and the reads of web_3. Requests of Financial2 arrive one "
    "at a time."
)


@dataclass(frozen=True)
class Playback:
    """Replay of a load: largest number of requests, factor on its rate, whether requests arrive in
    bursts (if those of the load do) or one at a time, divisor of its address space, and bursts of
    the reads."""

    requests: int
    faster: float = 1.0
    bursts: bool = True
    part: int = 1
    reads: Bursts = READS


class _Places:
    """Addresses and sizes of requests of a kind."""

    def __init__(self, load: Load, reuse: Reuse, mean: float, pages: int, random: Random) -> None:
        self._reuse, self._small, self._mean = reuse, load.small, mean
        self._pages, self._random = pages, random
        self._before: list[tuple[int, int]] = []
        self._hot: list[int] = []
        if isinstance(reuse, Hot):
            self._hot = random.sample(range(pages // load.small), reuse.places)

    def next(self) -> tuple[int, int]:
        """Returns the first page and number of pages of the next request."""
        if isinstance(self._reuse, Hot):
            return self._to_hot(self._reuse)
        one = self._before_or_fresh(self._reuse)
        self._before.append(one)
        return one

    def _before_or_fresh(self, reuse: Again) -> tuple[int, int]:
        if self._random.random() < reuse.share:
            age = drawn(reuse.ages, self._random.random())
            age = max(1, round(age / self._small if reuse.in_pages else age))
            if age <= len(self._before):
                return self._before[-age]
        return self._fresh()

    def _to_hot(self, reuse: Hot) -> tuple[int, int]:
        first, size = self._fresh()
        if size == self._small and self._random.random() < reuse.share:
            first = self._hot[int(self._random.random() * len(self._hot))] * size
        return first, size

    def _fresh(self) -> tuple[int, int]:
        is_large = self._random.random() < (self._mean - self._small) / (LARGE - self._small)
        size, place = LARGE if is_large else self._small, self._random.random()
        if is_large:
            return int(place * (self._pages - LARGE)), size
        return int(place * (self._pages // size)) * size, size


def requests(load: Load, played: Playback) -> Iterator[Request]:
    """Yields the requests of a load, at most as many as the load has. They depend on the arguments
    only."""
    random = Random(1)  # noqa: S311
    pages = load.pages // played.part
    reads = _Places(load, load.reads, load.read_pages, pages, random)
    places = {False: reads, True: _Places(load, load.writes, load.write_pages, pages, random)}
    share = load.writes_percent / 100
    arrivals = Arrivals(share, played.reads) if load.bursts and played.bursts else None
    mean = arrivals.mean_length if arrivals else 1.0
    gap = 1e9 * mean / load.rate / played.faster
    many = min(played.requests, load.requests)
    start, done = 0.0, 0
    while done < many:
        writes, bursts = arrivals.next(random) if arrivals else (random.random() < share, None)
        length = min(bursts.length(random) if bursts else 1, many - done)
        now = start
        for _ in range(length):
            first, size = places[writes].next()
            yield Request(round(now), writes, first, size)
            now += bursts.gap_ns(random) if bursts else 0.0
        done += length
        start = max(now, start - gap * log(1 - random.random()))


def written(setup: Setup, played: Mapping[str, tuple[str, Playback]]) -> dict[str, Path]:
    """Writes loads as traces and returns their paths by name. Each value of `played` gives the load
    and how it is replayed."""
    return {
        name: setup.generated.trace((load, one), partial(requests, LOADS[load], one))
        for name, (load, one) in played.items()
    }
