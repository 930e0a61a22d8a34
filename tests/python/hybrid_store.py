"""Reference model of a flash cache in front of a disk, written only from the text of OP-FCL. Flash
and disk serve the parts of a request in sequence."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence

READ_US, PROGRAM_US, COPY_US, ERASE_US = 125.0, 300.0, 225.0, 1_500.0
SEEK_READ_US, SEEK_WRITE_US, TRANSFER_US = 4_500.0, 4_900.0, 4096 / 72


class Log:
    """A page-mapped flash with one open block for host writes and moved pages. GC reclaims the
    block with the fewest valid pages when fewer than `kept` blocks are free. The last page of a
    block holds the map."""

    def __init__(self, blocks: int, data_pages: int, kept: int) -> None:
        self.valid: list[set[int]] = [set() for _ in range(blocks)]
        self.by_valid: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(data_pages + 1)]
        self.place: dict[int, int] = {}
        self.free = list(range(blocks))
        self.open, self.used = self.free.pop(), 0
        self.data_pages, self.kept = data_pages, kept
        self.erases, self.us = 0, 0.0

    def drop(self, page: int) -> None:
        """Invalidates the copy of a page."""
        block = self.place.pop(page, None)
        if block is None:
            return
        full = self.by_valid[len(self.valid[block])].pop(block, self) is None
        self.valid[block].remove(page)
        if full:
            self.by_valid[len(self.valid[block])][block] = None

    def _put(self, page: int) -> None:
        self.valid[self.open].add(page)
        self.place[page] = self.open
        self.used += 1
        if self.used == self.data_pages:
            self.us += PROGRAM_US
            self.by_valid[len(self.valid[self.open])][self.open] = None
            self.open, self.used = self.free.pop(), 0

    def program(self, page: int) -> None:
        """Writes a page, and runs GC if too few blocks are free."""
        self.drop(page)
        self._put(page)
        self.us += PROGRAM_US
        while len(self.free) < self.kept:
            least = next(blocks for blocks in self.by_valid if blocks)
            victim, _ = least.popitem(last=False)
            moved, self.valid[victim] = self.valid[victim], set()
            for one in sorted(moved):
                self._put(one)
                self.us += COPY_US
            self.free.append(victim)
            self.us += ERASE_US
            self.erases += 1


class Store:
    """A cache with one list of `capacity` pages, or with a read list and a write list, which have
    `shares` of the capacity."""

    def __init__(self, log: Log, capacity: int, group: int, shares: Sequence[float] = ()) -> None:
        self.log, self.group = log, group
        self.lists: list[OrderedDict[int, bool]] = [OrderedDict() for _ in shares or (1,)]
        self.room = [round(capacity * share) for share in shares or (1,)]
        self.disk_us, self.read_us = 0.0, 0.0
        self.requests = self.pages = self.hits = self.destaged = 0

    def play(self, requests: Iterable[tuple[bool, int, int]]) -> None:
        """Serves requests. A request is a tuple: whether it writes, its first page, and its number
        of pages."""
        for writes, first, count in requests:
            self.requests += 1
            self.pages += count
            span = range(first, first + count)
            if writes:
                for page in span:
                    self._write(page)
            else:
                self._read(span)

    @property
    def mean_us(self) -> float:
        """Mean latency of a request in microseconds."""
        return (self.log.us + self.disk_us + self.read_us) / self.requests

    def _write(self, page: int) -> None:
        writes = self.lists[-1]
        if page in writes:
            self.hits += 1
        else:
            if self.lists[0].pop(page, None) is not None:
                self.log.drop(page)
            self._make_room(len(self.lists) - 1)
        writes[page] = True
        writes.move_to_end(page)
        self.log.program(page)

    def _read(self, span: range) -> None:
        missed: list[int] = []
        for page in span:
            held = next((one for one in self.lists if page in one), None)
            if held is None:
                missed.append(page)
                continue
            self.hits += 1
            self.read_us += READ_US
            held.move_to_end(page)
        if missed:
            self.disk_us += SEEK_READ_US + (missed[-1] - missed[0] + 1) * TRANSFER_US
        for page in missed:
            self._make_room(0)
            self.lists[0][page] = False
            self.log.program(page)

    def _make_room(self, at: int) -> None:
        own = self.lists[at]
        if len(own) < self.room[at]:
            return
        leaving = [own.popitem(last=False) for _ in range(min(self.group, len(own)))]
        dirty = sorted(page for page, is_dirty in leaving if is_dirty)
        for page, before in zip(dirty, [-2, *dirty], strict=False):
            self.disk_us += TRANSFER_US + (SEEK_WRITE_US if page != before + 1 else 0)
        self.read_us += READ_US * len(dirty)
        self.destaged += len(dirty)
        for page, _ in leaving:
            self.log.drop(page)
