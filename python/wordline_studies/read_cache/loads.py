"""Loads fitted to table 3 and written as traces, and recorded traces."""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path
from random import Random

from wordline_studies.figure import Setup
from wordline_studies.generated import Request

SIZES = (2, 4, 6, 8)
SHARES = (0.601, 0.122, 0.078, 0.198)
"""Sizes of requests in pages and their shares, measured over the first 24,783 requests of
WebSearch1. All requests are aligned to 8 KiB. The excerpt has hardly any repeats and thus no
hits."""
UPSTREAM = 460_000
"""Pages of an LRU cache above the device that filters the load. Upstream caches filtered the
original traces: the excerpt has no repeats at short distances."""

HOT = 50
"""Number of extents so popular that the upstream cache never drops them. Each is read from the
device once; later reads of it hit upstream. While the contents of the upstream cache are replaced
once, the least popular of them is expected to be chosen more than 50 times."""


@dataclass(frozen=True)
class Load:
    """A row of table 3: number of pages read, and assumptions on what the table does not give.

    Extents are chosen by Zipf's law. Their lengths are `SIZES` with the upstream cache; in
    Microsoft traces they are 8 or 2 pages.
    """

    pages: int
    extents: int
    exponent: float
    web: bool
    eights: float = 0.0
    regular: int = 0
    """Shape of the Erlang distribution of the intervals between two reads of an extent; 0 for
    independent reads."""


TABLE = {
    "websearch1": Load(3_995_316, 390_000, 1.5, web=True),
    "websearch2": Load(17_253_074, 456_000, 1.5, web=True),
    "websearch3": Load(16_407_702, 456_000, 1.5, web=True),
    "devdivrelease": Load(7_418_675, 0, 0.30, web=False, eights=0.435),
    "msnfs": Load(4_980_736, 0, 0.64, web=False, eights=0.287),
}
FULL_PART, QUICK_PART = 4, 256
FEWEST_PAGES = 600_000
"""Smallest number of pages that a scaled load reads, except with `--quick`. A load is divided by
the greatest whole number that leaves this many. With 350,000, FLRU's share of saved erases at 15 %
over-provisioning is 2 percentage points smaller than at full size, and has another outcome."""
SPARE = 1.1
"""Time for which regular reads are drawn, divided by the expected length of the load."""
UNIFORM, REGULAR = "uniform", "regular"
OTHERS = {
    UNIFORM: Load(7_418_675, 0, 0.0, web=False, eights=0.435),
    REGULAR: Load(16_407_702, 450_000, 0.6, web=True, regular=3),
}
"""Loads that are not in the table: one with equally popular pages, and one that is as long as
WebSearch3 and reads its pages at regular intervals."""
MICROSOFT_PAGES = 2_500_000
"""Address space of the Microsoft traces in pages: 20,000,000 sectors."""
WEB = ("websearch1", "websearch2", "websearch3")
FITTED = (
    "The loads are fitted to table 3, which gives the number of requests and the address space, "
    "but not the locality. WebSearch: extents of 2, 4, 6 and 8 pages, with the shares of its "
    "first 24,783 requests, are chosen by Zipf's law with an exponent of 1.5. An LRU cache of "
    "460,000 pages filters the load; its hits do not reach the device. The number of extents is "
    "fitted to the footprint, and the size of that cache to the hit ratios of LRU and ARC on "
    "WebSearch2 at 3 GB and OP 15 %, the only ones in the text. DevDivRelease and MSNFS: extents "
    "of 8 or 2 pages over 2.5 million pages are chosen by Zipf's law with exponents of 0.30 and "
    "0.64. Reads repeat pages as often as the first requests of the recorded traces, whose "
    "addresses are folded to 20,000,000 sectors. The text gives no hit ratio for them."
)


def requests(name: str, part: int) -> Iterator[Request]:
    """Yields the reads of a load scaled down by `part`. Deterministic."""
    load = (TABLE | OTHERS)[name]
    random = Random(f"{name}/{part}")  # noqa: S311
    extents = _extents(load, random, part)
    random.shuffle(extents)
    weights = [(rank + 1) ** -load.exponent for rank in range(len(extents))]
    if load.regular:
        yield from _regular(load, random, extents, weights, part)
        return
    left = load.pages // part
    room, hot = UPSTREAM // part, HOT if load.web else 0
    for first, pages in extents[:hot]:
        room -= pages
        left -= pages
        yield Request(0, False, first, pages)
    upstream: OrderedDict[int, None] = OrderedDict()
    others, ranks = range(hot, len(extents)), list(accumulate(weights[hot:]))
    while True:
        for chosen in random.choices(others, cum_weights=ranks, k=10_000):
            first, pages = extents[chosen]
            if load.web:
                if chosen in upstream:
                    upstream.move_to_end(chosen)
                    continue
                upstream[chosen] = None
                room -= pages
                while room < 0:
                    room += extents[upstream.popitem(last=False)[0]][1]
            left -= pages
            yield Request(0, False, first, pages)
            if left <= 0:
                return


def _regular(
    load: Load, random: Random, extents: list[tuple[int, int]], weights: list[float], part: int
) -> Iterator[Request]:
    """Yields reads of the extents; the intervals between the reads of an extent are
    Erlang-distributed. The load starts at a random point within an interval."""
    volume = sum(weight * pages for weight, (_, pages) in zip(weights, extents, strict=True))
    reads: list[tuple[float, int]] = []
    for chosen, weight in enumerate(weights):
        scale = volume / (weight * load.pages / part * load.regular)
        at = random.random() * random.gammavariate(load.regular + 1, scale)
        while at < SPARE:
            reads.append((at, chosen))
            at += random.gammavariate(load.regular, scale)
    left = load.pages // part
    for _, chosen in sorted(reads):
        first, pages = extents[chosen]
        left -= pages
        yield Request(0, False, first, pages)
        if left <= 0:
            return


def _extents(load: Load, random: Random, part: int) -> list[tuple[int, int]]:
    """Returns the first page and length of each extent, in consecutive order."""
    extents: list[tuple[int, int]] = []
    place = 0
    if load.web:
        for pages in random.choices(SIZES, SHARES, k=load.extents // part):
            extents.append((place, pages))
            place += pages
        return extents
    while place < MICROSOFT_PAGES // part:
        pages = 8 if random.random() < load.eights else 2
        extents.append((place, pages))
        place += pages
    return extents


def part(setup: Setup, name: str) -> int:
    """Returns the factor by which a load and its flash are scaled down from the document's."""
    if setup.quick or setup.full:
        return QUICK_PART if setup.quick else FULL_PART
    return (TABLE | OTHERS)[name].pages // FEWEST_PAGES


def written(setup: Setup, names: Iterable[str] = tuple(TABLE)) -> dict[str, Path]:
    """Writes loads as traces and returns their paths by load."""
    return {
        name: setup.generated.trace((name, many), partial(requests, name, many))
        for name, many in ((name, part(setup, name)) for name in names)
    }
