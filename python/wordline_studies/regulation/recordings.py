"""The loads: traces replayed twice, and the access kinds of their pages."""

import csv
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import wordline
from wordline_studies import generated
from wordline_studies.figure import Figure, Setup
from wordline_studies.regulation.plots import AGAINST

KNOWN = {
    "hm_0": ("hm_0",),
    "web_3": ("web_3",),
    "rsrch_1": ("rsrch_1",),
    "Financial1": ("financial1-first",),
    "hplajw": ("hplajw",),
    "mayun2": ("mayun2",),
    "slideshow": ("slideshow_exec",),
    "movie": ("nexus5-movie",),
}
"""Recorded traces, and the words in the names of their files."""
THRESHOLD = 0.95
"""A page counts as read-only if at least this share of its accesses are reads, and as write-only if
at least this share are writes: almost all (section 4.1.1)."""
RECORDINGS = (
    "web_3 and rsrch_1 are complete traces of MSR Cambridge. The others are excerpts, or traces "
    "of other systems. slideshow and movie represent loads of media players. No claim is tested "
    "on recorded traces."
)
BETWEEN_NS = 1_000_000_000
"""Pause between the last request of the first pass and the first of the second, at the recorded
rate. Nanoseconds."""
FEW_READS = 1.0
"""A trace with a smaller share of reads is excluded from means of reads, and one with a smaller
share of writes from means of writes. Per cent."""


@dataclass(frozen=True)
class Request:
    """A request for pages of a trace. Times in nanoseconds, pages numbered from 0 in address
    order."""

    at: int
    writes: bool
    first: int
    pages: int


@dataclass(frozen=True)
class Recording:
    """The requests of a trace, in numbered pages."""

    requests: tuple[Request, ...]
    pages: int
    page_bytes: int

    @cached_property
    def read_percent(self) -> float:
        """Share of reads among the requests. Per cent."""
        return 100 * sum(not one.writes for one in self.requests) / len(self.requests)

    @property
    def both_percent(self) -> float:
        """Share of pages that are both read and written (overlap). Per cent."""
        both = sum(reads > 0 and writes > 0 for reads, writes in self._uses.values())
        return 100 * both / self.pages

    @cached_property
    def _uses(self) -> dict[int, tuple[int, int]]:
        """Number of reads and of writes, by page."""
        reads, writes = Counter[int](), Counter[int]()
        for one in self.requests:
            (writes if one.writes else reads).update(range(one.first, one.first + one.pages))
        return {page: (reads[page], writes[page]) for page in range(self.pages)}

    def used(self, page: int) -> str:
        """Returns the kind of a page by all of its accesses: `read`, `write` or `both`."""
        reads, writes = self._uses[page]
        if reads >= THRESHOLD * (reads + writes):
            return "read"
        return "write" if writes >= THRESHOLD * (reads + writes) else "both"

    def of_their_kind(self, writes: bool) -> float:
        """Returns the share of page reads that go to read-only pages, or of page writes that go to
        write-only pages. Per cent; 0 if there are none."""
        own = self._kinds["write" if writes else "read"][writes]
        return 100 * own / max(1, sum(of[writes] for of in self._kinds.values()))

    @cached_property
    def _kinds(self) -> dict[str, list[int]]:
        """Number of reads and of writes of pages, by the kind of the page."""
        counts: dict[str, list[int]] = {"read": [0, 0], "write": [0, 0], "both": [0, 0]}
        for page, uses in self._uses.items():
            of = counts[self.used(page)]
            for number, many in enumerate(uses):
                of[number] += many
        return counts

    @property
    def interleaved_percent(self) -> float:
        """Share of page accesses that go to pages of the kind `both`. Per cent."""
        return 100 * sum(self._kinds["both"]) / sum(map(sum, self._kinds.values()))

    @property
    def expected_percent(self) -> float:
        """Share of page accesses that are not reads of write-only pages or writes of read-only
        pages. Per cent."""
        other = self._kinds["read"][1] + self._kinds["write"][0]
        return 100 * (1 - other / sum(map(sum, self._kinds.values())))

    def changes(self, window: int) -> dict[str, float]:
        """Returns the share of accesses at which the kind detected from the last `window` accesses
        to the page changes, by the kind of the page. The first access to a page does not count. Per
        cent; kinds of which no page is accessed twice are absent."""
        history: dict[int, deque[bool]] = {}
        before: dict[int, str] = {}
        changed, seen = Counter[str](), Counter[str]()
        for one in self.requests:
            for page in range(one.first, one.first + one.pages):
                told = history.setdefault(page, deque(maxlen=window))
                told.append(one.writes)
                found = _detected(told)
                if page in before:
                    seen[self.used(page)] += 1
                    changed[self.used(page)] += found != before[page]
                before[page] = found
        return {kind: 100 * changed[kind] / many for kind, many in seen.items()}

    def accuracy(self, window: int) -> float:
        """Returns the share of page accesses at which the last `window` accesses to the page,
        including this one, show its kind as defined by `used`. Per cent."""
        history: dict[int, deque[bool]] = {}
        right = seen = 0
        for one in self.requests:
            for page in range(one.first, one.first + one.pages):
                told = history.setdefault(page, deque(maxlen=window))
                told.append(one.writes)
                right += _detected(told) == self.used(page)
                seen += 1
        return 100 * right / seen

    def played(self, passes: int, faster: float) -> Iterator[Request]:
        """Yields the requests `passes` times, at `faster` times the rate."""
        span = self.requests[-1].at + BETWEEN_NS
        for number in range(passes):
            for one in self.requests:
                at = round((one.at + number * span) / faster)
                yield Request(at, one.writes, one.first, one.pages)


def _detected(accesses: Iterable[bool]) -> str:
    """Returns the kind of a page from its last accesses: "read", "write" or "both". An access is
    `True` if it is a write."""
    told = set(accesses)
    return "both" if len(told) > 1 else ("write" if True in told else "read")


def trace(setup: Setup, name: str, recording: Recording, passes: int, faster: float = 1.0) -> Path:
    """Returns the path of the trace file of a recording; see `Recording.played`. It is written
    once."""
    scale = recording.page_bytes // 4096

    def requests() -> Iterator[generated.Request]:
        for one in recording.played(passes, faster):
            yield generated.Request(one.at, one.writes, one.first * scale, one.pages * scale)

    key = (name, len(recording.requests), recording.pages, recording.page_bytes, passes, faster)
    return setup.generated.trace(key, requests)


def beside(figures: Iterable[Figure]) -> list[Figure]:
    """Returns the figures for recorded traces, as shown next to those for the loads: without
    published values, and without claims."""
    return [
        replace(
            one,
            id=f"{one.id}, recordings",
            title=f"{one.title}, under recorded traces",
            rows=[replace(row, published=None) for row in one.rows],
            plots=[plot for plot in one.plots if plot.title != AGAINST],
            claims=(),
            explanation=[RECORDINGS],
        )
        for one in figures
    ]


def recordings(
    setup: Setup, page_bytes: int, names: Iterable[str] = tuple(KNOWN)
) -> dict[str, Recording]:
    """Returns the available recorded traces in pages of `page_bytes`.

    Missing ones are noted in the setup. A quick study uses the first tenth of each.
    """
    found: dict[str, Recording] = {}
    for name in names:
        words = KNOWN[name]
        named = [path for path in setup.traces if any(word in path.name.lower() for word in words)]
        if not named:
            setup.miss(name)
            continue
        largest = max(named, key=lambda path: (path.stat().st_size, path.name))
        found[name] = _read(largest, page_bytes, 10 if setup.quick else 1)
    return found


def _read(path: Path, page_bytes: int, part: int) -> Recording:
    with TemporaryDirectory(prefix="wordline-study-") as name:
        rows = Path(name) / "trace.csv"
        wordline.trace_convert(path, rows, to="wordline", on_bad_line="skip", time_order="clamp")
        with rows.open(encoding="utf-8") as file:
            told = [
                _placed(row, page_bytes)
                for row in csv.DictReader(file)
                if row["op"] in ("read", "write")
            ]
    return ranked(told[: max(1, len(told) // part)], page_bytes)


def _placed(row: Mapping[str, str], page_bytes: int) -> Request:
    first, size = int(row["offset_bytes"]), int(row["size_bytes"])
    start, end = first // page_bytes, -(-(first + max(1, size)) // page_bytes)
    base = int(row.get("volume") or 0) << 44
    return Request(int(row["time_ns"]), row["op"] == "write", base + start, end - start)


def ranked(requests: list[Request], page_bytes: int) -> Recording:
    """Returns the recording of the requests, with pages numbered from 0 in address order and times
    that start at 0."""
    pages = sorted({page for one in requests for page in range(one.first, one.first + one.pages)})
    rank = {page: number for number, page in enumerate(pages)}
    begin = requests[0].at
    return Recording(
        tuple(Request(one.at - begin, one.writes, rank[one.first], one.pages) for one in requests),
        len(pages),
        page_bytes,
    )
