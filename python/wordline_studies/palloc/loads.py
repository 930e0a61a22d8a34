"""The loads: those of table 3.1, generated, and recorded traces."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wordline.config import Value
from wordline_studies.cases import Case
from wordline_studies.figure import Setup
from wordline_studies.palloc.runs import DEPTH, DEVICE

REQUESTS, FULL, QUICK = 15_000, 20_000, 2_000
BLOCKS, QUICK_BLOCKS = 384, 64
PAGE = 2048
# Queues: that of the reading, and the one that blocks nothing.
NCQ, IMMEDIATE = "ncq", "immediate"
# How the data lie that were there before the run.
FIRST_READ, BY_ADDRESS = "first-read", "address"
# What files of the document's workloads may be called.
KNOWN = {
    "fin": ("financial", "fin1", "fin2"),
    "msnfs": ("msnfs",),
    "usr": ("usr_", "-usr"),
    "web": ("websearch",),
    "sql": ("tpcc", "sql"),
    # 21,330 writes and 10,050 reads, as sql4 of table 6.1.
    "sql3": ("web_3",),
}


@dataclass(frozen=True)
class Load:
    """A row of table 3.1: data, the share of them that is written, mean sizes. From table 6.1, for
    the recording of the same name: requests that write and read, and how many of each are random.

    Sizes are in pages of 2 KiB and the share of writes is one of the data, though the table says
    KB and does not say of what the share is: data over the requests of table 6.1 give 2.07 to 2.15
    KB for every unit of size (sql, usr, msnfs), and the shares of data of those requests are the
    table's within one per cent. The financial traces as published (3.8 KB a write, 2.3 KB a read)
    and the web searches (15 KB a read) say the same. Data over requests have more digits, and are
    what is generated: fin2 writes 1.42 pages where the table has 1.
    """

    megabytes: float
    data_written_percent: float
    write_pages: float
    read_pages: float
    writes: int
    reads: int
    random_writes_percent: float
    random_reads_percent: float

    @property
    def write_percent(self) -> float:
        """Share of the requests that write."""
        return 100 * self.writes / (self.writes + self.reads)

    @property
    def generated(self) -> tuple[float, float]:
        """Mean sizes of a write and a read in pages, data over requests. A share of data below one
        per cent has too few digits for that: the table's size stands for it."""
        written = self.data_written_percent / 100 * self.megabytes
        write = _pages(written, self.writes)
        read = _pages(self.megabytes - written, self.reads)
        return (write if self.data_written_percent >= 1 else self.write_pages, read)

    @property
    def random_percent(self) -> float:
        """Share of the requests that are random, of writes and reads together."""
        random = self.writes * self.random_writes_percent + self.reads * self.random_reads_percent
        return random / (self.writes + self.reads)

    def workload(self, count: int) -> dict[str, Value]:
        """Requests that have these means; their sizes are the whole numbers of pages next to the
        mean."""
        write, read = self.generated
        return {
            "workload.requests": count,
            "workload.read_ratio": round(1 - self.write_percent / 100, 6),
            "workload.request_bytes": _sizes(read),
            "workload.write_bytes": _sizes(write),
            "workload.align_bytes": PAGE,
            "workload.pattern.mixed.random_ratio": round(self.random_percent / 100, 6),
        }


def _pages(megabytes: float, count: int) -> float:
    """Mean size of so many requests for so many data, to a hundredth of a page."""
    return round(megabytes * 1e6 / count / PAGE, 2)


def _sizes(pages: float) -> Value:
    """A size, or the two next to it in the proportion that gives it as their mean."""
    whole, share = divmod(pages, 1)
    if not share:
        return int(whole) * PAGE
    return [
        {"bytes": int(whole) * PAGE, "weight": 1 - share},
        {"bytes": (int(whole) + 1) * PAGE, "weight": share},
    ]


TABLE = {
    "fin1": Load(18057, 84.6, 1.5, 1, 4_099_354, 1_235_633, 97.86, 96.98),
    "fin2": Load(8846, 21.5, 1, 1, 653_082, 3_046_112, 99.2, 97.49),
    "msnfs": Load(32490, 93.9, 10, 23.5, 1_467_625, 41_772, 87.23, 99.79),
    "usr": Load(50727, 27, 5, 20, 1_333_406, 904_483, 94.23, 92.2),
    "web": Load(15985, 0.1, 4, 7.5, 212, 1_055_236, 99.06, 93.53),
    "sql0": Load(30433, 40.2, 4, 14.5, 1_423_458, 606_487, 93.5, 89.91),
    "sql1": Load(4676, 14.55, 4.5, 22.5, 73_833, 87_058, 16.07, 73.66),
    "sql2": Load(276407, 0.3, 10.5, 26.5, 38_963, 5_136_405, 92.95, 71.96),
    "sql3": Load(1196, 37.12, 10, 37, 21_330, 10_050, 46.89, 86.95),
}
FITTED = (
    "The loads are generated, fitted to tables 3.1 and 6.1: sizes are whole pages whose means are "
    "data over requests, shares of writes and of random requests those of the requests (table 3.1 "
    "has the random reads, table 6.1 the random writes too, and both together are what is "
    "generated), requests begin at a page, random ones anywhere on the device, the others where "
    "the one before ended."
)


@dataclass(frozen=True)
class Variant:
    """A device, by default the reading's: writes placed by their address ("static") or as they come
    ("dynamic"), the queue, how the data lie that were there before, whether writes get their pages
    when they are issued, how many requests at a time, what else differs."""

    places: str = "static"
    queue: str = NCQ
    layout: str = FIRST_READ
    on_issue: bool = True
    depth: int = DEPTH
    more: Mapping[str, Value] = field(default_factory=dict[str, Value])

    def overrides(self, order: str) -> dict[str, Value]:
        """What the device differs in from the preset."""
        made: dict[str, Value] = {
            "ssd.scheduler": self.queue,
            "precondition.layout": self.layout,
            f"ftl.allocate.{self.places}.order": order,
        }
        if self.places == "static":
            made["ftl.allocate.static.on_issue"] = self.on_issue and self.queue != IMMEDIATE
        return made

    @property
    def words(self) -> str:
        """What it is, for a label."""
        pages = "on issue" if self.on_issue else "on arrival"
        more = "".join(f", {key} {value}" for key, value in self.more.items())
        return f"{self.places}, {self.queue}, {self.layout}, {pages}{more}"


DOCUMENT, ADDRESS = Variant(), Variant(layout=BY_ADDRESS)


def requests(setup: Setup) -> int:
    """How many of a load. Few enough that reads seldom come back to a page: how often they do is
    not published."""
    return QUICK if setup.quick else FULL if setup.full else REQUESTS


def smaller(setup: Setup) -> dict[str, Value]:
    """Fewer blocks than the preset's, as there are fewer requests than the `FULL` that the reading
    has on it: how often reads come back to a page is the same."""
    if setup.full:
        return {}
    return {"nand.geometry.blocks_per_plane": QUICK_BLOCKS if setup.quick else BLOCKS}


def beside(setup: Setup) -> list[str]:
    """The loads of figures that have no claims: those that the text speaks of and the two that are
    nearly all reads, or all with `--full`."""
    return list(TABLE) if setup.full else ["msnfs", "fin2", "web", "sql2"]


def closed(
    setup: Setup,
    load: str,
    order: str,
    traces: dict[str, Path],
    variant: Variant = DOCUMENT,
    count: int | None = None,
) -> Case:
    """A load on a device that has as many requests as it takes at any time."""
    depth, count = variant.depth, count or requests(setup)
    label = f"{load}, {depth} at a time, {variant.words}, {order}"
    overrides = variant.overrides(order)
    if load in TABLE:
        arrival: dict[str, Value] = {"workload.arrival.closed-loop.queue_depth": depth}
        made = {**smaller(setup), **overrides, **TABLE[load].workload(count), **arrival}
        made |= variant.more
        return Case(DEVICE, label, made)
    mode: dict[str, Value] = {"replay.mode.closed-loop.queue_depth": depth}
    return Case(DEVICE, label, {**overrides, **mode, **variant.more}, traces[load], count)


def timed(
    setup: Setup,
    load: str,
    order: str,
    rates: dict[str, float],
    traces: dict[str, Path],
    variant: Variant = DOCUMENT,
) -> Case:
    """A load as it arrives: generated requests at a rate, independently of each other; recorded
    ones by their time stamps."""
    overrides, count = {**variant.overrides(order), **variant.more}, requests(setup)
    if load in TABLE:
        label = f"{load}, {rates[load]} a second, {variant.words}, {order}"
        arrival: dict[str, Value] = {"workload.arrival.poisson.iops": rates[load]}
        made = smaller(setup) | overrides | TABLE[load].workload(count) | arrival
        return Case(DEVICE, label, made)
    label = f"{load}, as it arrives, {variant.words}, {order}"
    return Case(DEVICE, label, overrides, traces[load], count)
