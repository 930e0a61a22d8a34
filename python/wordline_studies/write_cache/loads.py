"""Loads fitted to table 6 and written as traces, recorded traces, and the writes that fill a cache
before them. All are single-page writes."""

import csv
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import accumulate, islice
from math import log
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import wordline
from wordline_studies.figure import Setup
from wordline_studies.write_cache.schemes import RATIOS, START

GB_PAGES = 262_144
BLOCK_PAGES = 64
PART, FULL_PART, QUICK_PART = 16, 8, 64
"""Factors by which 4 GB of flash and its loads are scaled down. Those of 16 GB are scaled down by
four times as much."""
EXPONENTS = (0.6, 0.9, 1.1)
"""Zipf exponents of loads whose skew is not known."""
MSNFS_EXPONENT = 0.5
"""Zipf exponent of MSNFS, from the recorded trace that table 6 describes: its first 24,424 page
writes are to 23,863 pages (23,944 with this exponent, 23,466 with 0.6)."""
DISTANCES = (0, 1, 4, 9, 19, 34, 54, 98, 329, 2765, 5821)
"""Deciles of the reuse distances in the recorded trace of Financial1: number of distinct other
pages between two writes of a page, over its first 34,490 page writes, of which 27,880 are repeats.
No Zipf law that has the working set of table 6 repeats pages at such short distances."""
DISTANT = 0.067
"""Share of the writes of Financial1 that are neither first writes, by table 6, nor repeats within
the first writes of the recorded trace."""
OUTSIDE = 1 << 32
"""First page of the writes that fill a cache. It is beyond the pages of all loads."""
GOLDEN = (5**0.5 - 1) / 2
"""Golden ratio. The fractional parts of its multiples are evenly spread."""
MOST = 32
"""Upper bound of the number of objects, as a multiple of the number whose mean sizes add up to the
working set."""
HEADER = "time_ns,op,offset_bytes,size_bytes,volume\n"
RUN_RATIO = 1.02
"""Ratio of the last rank to the first in a run of ranks that a sum treats as equal."""


@dataclass(frozen=True)
class Row:
    """A row of table 6: distinct pages, write volume and flash in GB, request size in KB, and the
    window of section 4.4 in flash capacities."""

    working_set_gb: float
    request_kb: float
    volume_gb: float
    flash_gb: int
    window: float


TABLE = {
    "Financial1": Row(3.6, 7.2, 28.8, 4, 2.0),
    "Homes": Row(5.0, 3.9, 66.8, 4, 2.0),
    "Exchange": Row(23.29, 12.4, 131.69, 16, 2.5),
    "MSNFS": Row(23.03, 11.12, 74.01, 16, 2.5),
}


@dataclass(frozen=True)
class Fit:
    """A row of the table and the locality of its writes, which the table does not give.

    The Zipf exponent of its objects, or None for reuse distances as recorded. Then a share
    `distant` of the writes is to any earlier page.
    """

    name: str
    exponent: float | None
    distant: float = 0.0

    def __str__(self) -> str:
        if self.exponent is not None:
            return f"{self.name}, a = {self.exponent:g}"
        return f"{self.name}, distant repeats" if self.distant else self.name

    @property
    def is_main(self) -> bool:
        """Whether this is the load of its row that every figure shows."""
        return self == MAIN[self.name]

    @property
    def is_skewed(self) -> bool:
        """Whether the exponent is above 1."""
        return self.exponent is not None and self.exponent > 1

    @property
    def row(self) -> Row:
        """Row of the table."""
        return TABLE[self.name]

    def part(self, part: int) -> int:
        """Returns the factor by which the load is scaled down if loads of 4 GB are scaled down by
        `part`."""
        return part * self.row.flash_gb // 4

    @property
    def mean_pages(self) -> float:
        """Mean request size. Pages, at least one."""
        return max(1.0, self.row.request_kb / 4)

    def writes(self, part: int) -> int:
        """Returns the number of page writes."""
        return round(self.row.volume_gb * GB_PAGES / self.part(part))

    def working_set(self, part: int) -> int:
        """Returns the number of distinct pages written."""
        return round(self.row.working_set_gb * GB_PAGES / self.part(part))


MAIN = {
    "Financial1": Fit("Financial1", None),
    "Homes": Fit("Homes", 0.9),
    "Exchange": Fit("Exchange", 0.9),
    "MSNFS": Fit("MSNFS", MSNFS_EXPONENT),
}
FITS = (
    MAIN["Financial1"],
    *(Fit("Homes", exponent) for exponent in EXPONENTS),
    *(Fit("Exchange", exponent) for exponent in EXPONENTS[1:]),
    MAIN["MSNFS"],
)
"""Loads of the figures. Exchange takes at most 2 ms at 65 % (section 4.5.2), which an exponent of
0.6 exceeds."""
QUICK = tuple(MAIN.values())
"""Loads that a quick study runs."""
FITTED = (
    "The loads are fitted to table 6, which gives distinct pages, volume and mean request size of "
    "the writes, but not the locality. Where the first writes of the recorded trace are "
    "available, the locality is theirs. Financial1 writes new pages as often as table 6 says; its "
    "other writes repeat pages at the reuse distances of the recorded trace. Of the first 34,490 "
    "page writes of this trace, 81 % are repeats, all within 6,610 pages. In MSNFS, Homes and "
    "Exchange, objects have geometric sizes with the mean of the requests, and Zipf's law chooses "
    "among as many objects as make the expected distinct pages equal the working set. The first "
    "24,424 page writes of MSNFS are to 23,863 pages, which needs an exponent a of 0.5. The "
    "exponent of Homes is not known; 0.6, 0.9 and 1.1 are run. Exchange is run with 0.9 and 1.1; "
    "with 0.6, its response time exceeds the 2 ms that section 4.5.2 gives for 65 % "
    "over-provisioning."
)
WARM = (
    "Caches are full at the start, as formula 4.4 assumes. They are filled with dirty pages that "
    "the load does not access until the flash has been programmed once; the results of a run "
    "without the load are subtracted, which is exact with one request at a time. Before the load, "
    "a dynamic cache sees one window of such writes, which cycle through as many pages as a cache "
    "at 35 % over-provisioning holds, so that it chooses 35 %. The first window of the load "
    "begins empty."
)


def capacity(part: int) -> int:
    """Returns the number of pages of the flash: of 4 GB, or of 16 GB with loads scaled down four
    times more."""
    return 4 * GB_PAGES // part


def cached(op: int, pages: int) -> int:
    """Returns C_user, the number of cached pages, at an over-provisioning in per cent."""
    return (100 - op) * pages // 100


def objects(fit: Fit, part: int) -> int:
    """Returns K, the number of objects for which the expected distinct pages equal the working
    set. The load has an exponent."""
    writes, wanted = fit.writes(part), fit.working_set(part)
    low = int(wanted / fit.mean_pages)
    high = MOST * low
    while low < high:
        middle = (low + high) // 2
        if distinct(middle, fit, writes) < wanted:
            low = middle + 1
        else:
            high = middle
    return low


def distinct(count: int, fit: Fit, writes: float) -> float:
    """Returns the expected number of distinct pages after `writes` page writes to `count` objects.

    Treats ranks within 2 % of each other as equal, with the mean object size.
    """
    assert fit.exponent is not None
    runs = [
        (middle**-fit.exponent, width, size)
        for middle, width, size in _ranks(count, fit.mean_pages)
    ]
    total = sum(width * weight for weight, width, _ in runs)
    mean = sum(width * size * weight for weight, width, size in runs) / total
    draws = writes / mean
    return sum(width * size * (1 - (1 - weight / total) ** draws) for weight, width, size in runs)


def _ranks(count: int, mean: float) -> Iterator[tuple[float, int, float]]:
    """Yields the middle and the length of each run of ranks, and the size of its objects."""
    first = 1
    while first <= count:
        last = min(count, int(first * RUN_RATIO))
        yield (
            (first + last) / 2,
            last - first + 1,
            _size(first - 1, mean) if first == last else mean,
        )
        first = last + 1


def pages(fit: Fit, part: int) -> Iterator[int]:
    """Yields the written pages in order. Deterministic."""
    random = Random(f"{fit}/{part}")  # noqa: S311
    if fit.exponent is None:
        return _repeated(random, fit, part)
    count, mean = objects(fit, part), fit.mean_pages
    sizes = [_size(rank, mean) for rank in range(count)]
    firsts = [0, *accumulate(sizes)]
    weights = list(accumulate((rank + 1) ** -fit.exponent for rank in range(count)))
    return islice(_chosen(random, weights, firsts), fit.writes(part))


def _repeated(random: Random, fit: Fit, part: int) -> Iterator[int]:
    """Yields new pages with the share of table 6, and repeats at the recorded reuse distances,
    scaled down as the load."""
    writes = fit.writes(part)
    new = fit.working_set(part) / writes
    nearest = DISTANCES[-1] // part + 1
    recent: list[int] = []
    first = 0
    for _ in range(writes):
        drawn = random.random()
        if drawn < new or not recent:
            page, first = first, first + 1
        elif drawn < new + fit.distant:
            page = random.randrange(first)
            if page in recent:
                recent.remove(page)
        else:
            page = recent.pop(-1 - min(_distance(random, part), len(recent) - 1))
        recent.append(page)
        if len(recent) > 2 * nearest:
            del recent[:-nearest]
        yield page


def _distance(random: Random, part: int) -> int:
    """Returns a reuse distance from `DISTANCES`, interpolated between the deciles."""
    place = random.random() * (len(DISTANCES) - 1)
    low = int(place)
    near, far = DISTANCES[low : low + 2]
    return int((near + (far - near) * (place - low)) / part)


def _chosen(random: Random, weights: list[float], firsts: list[int]) -> Iterator[int]:
    ranks = range(len(weights))
    while True:
        for one in random.choices(ranks, cum_weights=weights, k=10_000):
            yield from range(firsts[one], firsts[one + 1])


def _size(rank: int, mean: float) -> int:
    """Returns the size of an object.

    Sizes are geometric, and even over each run of ranks, so that the sizes of the first few objects
    do not dominate the load.
    """
    if mean <= 1:
        return 1
    left = 1 - (0.5 + rank * GOLDEN) % 1
    return 1 + int(log(left) / log(1 - 1 / mean))


def unrelated(count: int, among: int) -> Iterator[int]:
    """Yields `count` writes that cycle through `among` pages that no load writes."""
    return (OUTSIDE + index % among for index in range(count))


def uniform(count: int, among: int) -> Iterator[int]:
    """Yields `count` writes to `among` equally popular pages."""
    random = Random("uniform")  # noqa: S311
    return (random.randrange(among) for _ in range(count))


@dataclass(frozen=True)
class Fills:
    """Traces that fill caches on a flash of the given size.

    `static` writes as many distinct pages as the flash has. The others precede dynamic caches, by
    window in flash capacities.
    """

    static: Path
    dynamic: Mapping[float, Path]


class Folder:
    """Temporary traces, each written once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths: dict[str, Path] = {}

    def trace(self, name: str, written: Iterable[int]) -> Path:
        """Returns the path of a trace of page writes. A trace of that name is written only once."""
        if name not in self._paths:
            self._paths[name] = self._folder / f"{len(self._paths)}.csv"
            write(self._paths[name], written)
        return self._paths[name]

    def extents(self, name: str, count: int, pages: int) -> Path:
        """Returns the path of a trace of consecutive writes of `pages` pages each."""
        if name not in self._paths:
            self._paths[name] = self._folder / f"{len(self._paths)}.csv"
            rows = (f"0,write,{one * pages << 12},{pages << 12},0\n" for one in range(count))
            self._paths[name].write_text(HEADER + "".join(rows), encoding="utf-8")
        return self._paths[name]

    def load(self, fit: Fit, part: int) -> Path:
        """Returns the path of the trace of a fitted load."""
        return self.trace(f"{fit}/{part}", pages(fit, part))

    def fills(self, flash: int, windows: Iterable[float] = RATIOS) -> Fills:
        """Returns the traces that fill caches on a flash of the given size."""
        start = cached(START, flash)
        return Fills(
            self.trace(f"static/{flash}", unrelated(flash, flash)),
            {
                one: self.trace(f"{one}/{flash}", unrelated(round(one * flash), start))
                for one in windows
            },
        )


@contextmanager
def folder() -> Generator[Folder]:
    """Yields an empty temporary folder."""
    with TemporaryDirectory(prefix="wordline-study-") as name:
        yield Folder(Path(name))


def write(path: Path, written: Iterable[int]) -> None:
    """Writes a trace of single-page writes of 4 KiB."""
    with path.open("w", encoding="utf-8") as file:
        file.write(HEADER)
        file.writelines(f"0,write,{page << 12},4096,0\n" for page in written)


KNOWN = {
    "desktop mayun2": ("mayun2",),
    "hplajw": ("hplajw",),
    "cloudphysics-io": ("cloudphysics-io",),
}
"""Recorded traces with enough writes, and the words in the names of their files."""
SHARES = {"desktop mayun2": (0.8, 0.1), "hplajw": (0.8,)}
"""Flash capacities as shares of the pages that the recorded trace writes."""


def files(setup: Setup, names: Iterable[str]) -> dict[str, Path]:
    """Returns the paths of the named recorded traces. Missing ones are noted in the setup."""
    found: dict[str, Path] = {}
    for name in names:
        words = KNOWN[name]
        named = [path for path in setup.traces if any(word in path.name.lower() for word in words)]
        if named:
            found[name] = max(named, key=lambda path: (path.stat().st_size, path.name))
        else:
            setup.miss(name)
    return found


def recordings(setup: Setup, names: Iterable[str]) -> dict[str, list[int]]:
    """Returns the pages that each recorded trace writes, in order."""
    return {name: _written(path) for name, path in files(setup, names).items()}


def _written(path: Path) -> list[int]:
    """Returns the 4 KiB pages that the writes of a recorded trace access, in order."""
    with TemporaryDirectory(prefix="wordline-study-") as name:
        rows = Path(name) / "trace.csv"
        wordline.trace_convert(path, rows, to="wordline", on_bad_line="skip", time_order="clamp")
        with rows.open(encoding="utf-8") as file:
            writes = [
                (int(row["offset_bytes"]), int(row["size_bytes"]), int(row.get("volume") or 0))
                for row in csv.DictReader(file)
                if row["op"].lower() in ("write", "w")
            ]
    return [
        (volume << 40) + page
        for first, size, volume in writes
        for page in range(first >> 12, (first + size + 4095) >> 12)
    ]
