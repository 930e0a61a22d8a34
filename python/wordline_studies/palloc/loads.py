"""Loads of table 3.1, generated, and recorded traces."""

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
# Scheduler of the reading, and a scheduler in which no request blocks another.
NCQ, IMMEDIATE = "ncq", "immediate"
# Placement of data written before the run.
FIRST_READ, BY_ADDRESS = "first-read", "address"
# Words in the names of traces of the document's workloads.
KNOWN = {
    "fin": ("financial", "fin1", "fin2"),
    "msnfs": ("msnfs",),
    "usr": ("usr_", "-usr"),
    "web": ("websearch",),
    "sql": ("tpcc", "sql"),
    # web_3 has 21,330 writes and 10,050 reads, like sql4 of table 6.1.
    "sql3": ("web_3",),
}


@dataclass(frozen=True)
class Load:
    """A row of table 3.1: data volume, share of data written, mean sizes.

    From table 6.1, for the trace of the same name: numbers of writes and reads, and the share of
    random ones in per cent. Sizes are in pages of 2 KiB and the share of writes is a share of the
    data, although the table says KB and does not say of which total. Two facts support this: data
    over the requests of table 6.1 give 2.07 to 2.15 KB per unit of size (sql, usr, msnfs), and the
    shares of data of these requests equal the table's within 1 %. The published financial traces
    (3.8 KB per write, 2.3 KB per read) and web searches (15 KB per read) agree. The load uses data
    over requests, which has more digits: fin2 has 1.42 pages per write where the table has 1.
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
        """Share of writes among the requests. Per cent."""
        return 100 * self.writes / (self.writes + self.reads)

    @property
    def generated(self) -> tuple[float, float]:
        """Mean sizes of a write and a read in pages: data over requests.

        A share of data written below 1 % has too few digits; the size of a write is then the
        table's.
        """
        written = self.data_written_percent / 100 * self.megabytes
        write = _pages(written, self.writes)
        read = _pages(self.megabytes - written, self.reads)
        return (write if self.data_written_percent >= 1 else self.write_pages, read)

    @property
    def random_percent(self) -> float:
        """Share of random requests among writes and reads. Per cent."""
        random = self.writes * self.random_writes_percent + self.reads * self.random_reads_percent
        return random / (self.writes + self.reads)

    def workload(self, count: int) -> dict[str, Value]:
        """Returns workload settings that give these means. The size of a request is one of the two
        whole numbers of pages around the mean."""
        write, read = self.generated
        return {
            "workload.requests": count,
            "workload.read_ratio": round(1 - self.write_percent / 100, 6),
            "workload.request_bytes": sizes(read),
            "workload.write_bytes": sizes(write),
            "workload.align_bytes": PAGE,
            "workload.pattern.mixed.random_ratio": round(self.random_percent / 100, 6),
        }


def _pages(megabytes: float, count: int) -> float:
    """Returns the mean size of `count` requests for a data volume, rounded to a hundredth of a
    page."""
    return round(megabytes * 1e6 / count / PAGE, 2)


def sizes(pages: float) -> Value:
    """Returns one size, or two adjacent whole sizes in the proportion that gives the mean."""
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
    "The loads are generated and fitted to tables 3.1 and 6.1. Sizes are whole pages whose means "
    "are data over requests. Shares of writes and of random requests are those of the requests: "
    "table 3.1 gives random reads, table 6.1 also random writes, and their sum is generated. "
    "Requests start at a page boundary: random ones anywhere on the device, others at the end of "
    "the previous request."
)


@dataclass(frozen=True)
class Variant:
    """A device variant; the defaults are those of the reading.

    Fields: placement of writes by address ("static") or by arrival ("dynamic"), scheduler,
    placement of data written before the run, whether static writes get their pages on issue (never
    with `IMMEDIATE`), outstanding requests, and other settings.
    """

    places: str = "static"
    queue: str = NCQ
    layout: str = FIRST_READ
    on_issue: bool = True
    depth: int = DEPTH
    more: Mapping[str, Value] = field(default_factory=dict[str, Value])

    def overrides(self, order: str) -> dict[str, Value]:
        """Returns settings that override those of the preset for allocation strategy `order`."""
        made: dict[str, Value] = {
            "ssd.scheduler": self.queue,
            "precondition.layout": self.layout,
            f"ftl.allocate.{self.places}.order": order,
        }
        if self.places == "static":
            made["ftl.allocate.static.on_issue"] = self.allocates_on_issue
        return made

    @property
    def allocates_on_issue(self) -> bool:
        """Whether a write gets its page on issue. Dynamic allocation and `IMMEDIATE`, which holds
        no writes, allocate on arrival."""
        return self.places == "static" and self.on_issue and self.queue != IMMEDIATE

    @property
    def words(self) -> str:
        """Description for a label."""
        pages = "on issue" if self.allocates_on_issue else "on arrival"
        more = "".join(f", {key} {value}" for key, value in self.more.items())
        return f"{self.places}, {self.queue}, {self.layout}, {pages}{more}"


DOCUMENT, ADDRESS = Variant(), Variant(layout=BY_ADDRESS)


def requests(setup: Setup) -> int:
    """Returns the number of requests of a load. It is small enough that reads seldom repeat a page,
    because the document does not say how often they do."""
    return QUICK if setup.quick else FULL if setup.full else REQUESTS


def smaller(setup: Setup) -> dict[str, Value]:
    """Returns settings with fewer blocks than in the preset, in proportion to the requests below
    `FULL`, so that reads repeat pages equally often. With `--quick`, the proportion is
    approximate."""
    if setup.full:
        return {}
    return {"nand.geometry.blocks_per_plane": QUICK_BLOCKS if setup.quick else BLOCKS}


def beside(setup: Setup) -> list[str]:
    """Returns the loads of figures without claims: those that the text discusses and the two with
    hardly any writes, or all with `--full`."""
    return list(TABLE) if setup.full else ["msnfs", "fin2", "web", "sql2"]


def closed(
    setup: Setup,
    load: str,
    order: str,
    traces: dict[str, Path],
    variant: Variant = DOCUMENT,
    count: int | None = None,
) -> Case:
    """Returns the case of a load in a closed loop at constant queue depth."""
    depth, count = variant.depth, count or requests(setup)
    label = f"{load}, QD {depth}, {variant.words}, {order}"
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
    """Returns the case of a load in an open loop: generated requests arrive at a rate,
    independently of each other, recorded ones by time stamp."""
    overrides, count = {**variant.overrides(order), **variant.more}, requests(setup)
    if load in TABLE:
        label = f"{load}, {rates[load]} requests per second, {variant.words}, {order}"
        arrival: dict[str, Value] = {"workload.arrival.poisson.iops": rates[load]}
        made = smaller(setup) | overrides | TABLE[load].workload(count) | arrival
        return Case(DEVICE, label, made)
    label = f"{load}, by time stamp, {variant.words}, {order}"
    return Case(DEVICE, label, overrides, traces[load], count)
