"""The loads: those of table 3.1, generated, and recorded traces."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wordline.config import Value
from wordline.study.cases import Case
from wordline.study.figure import Setup
from wordline.study.palloc.runs import DEPTH, DEVICE

REQUESTS = 100_000
# Blocks a plane where it has to be quick: enough that nothing is collected, as with the preset's.
QUICK: dict[str, Value] = {"nand.geometry.blocks_per_plane": 64}
PAGE = 2048
# The queue that blocks nothing. The others are named by what two requests must not share to be
# under way together: "die", "package", "channel".
IMMEDIATE = "immediate"
# What files of the document's workloads may be called.
KNOWN = {
    "fin": ("financial", "fin1", "fin2"),
    "msnfs": ("msnfs",),
    "usr": ("usr_", "-usr"),
    "web": ("websearch",),
    "sql": ("tpcc", "sql"),
}


@dataclass(frozen=True)
class Load:
    """A row of table 3.1, as it has to be read.

    Sizes are in pages of 2 KiB and the share of writes is one of the data, though the table says
    KB and does not say of what the share is: data over the requests of table 6.1 give 2.07 to 2.15
    KiB for every unit of size (sql, usr, msnfs), and the shares of data of those requests are the
    table's within one per cent. The financial traces as published (3.8 KB a write, 2.3 KB a read)
    and the web searches (15 KB a read) say the same.
    """

    data_written_percent: float
    write_pages: float
    read_pages: float
    random_percent: float

    @property
    def write_percent(self) -> float:
        """Share of the requests that write."""
        writes = self.data_written_percent / self.write_pages
        reads = (100 - self.data_written_percent) / self.read_pages
        return 100 * writes / (writes + reads)

    def workload(self, requests: int) -> dict[str, Value]:
        """Requests that have these means; their sizes are the whole numbers of pages next to the
        mean."""
        return {
            "workload.requests": requests,
            "workload.read_ratio": round(1 - self.write_percent / 100, 6),
            "workload.request_bytes": _sizes(self.read_pages),
            "workload.write_bytes": _sizes(self.write_pages),
            "workload.align_bytes": PAGE,
            "workload.pattern.mixed.random_ratio": round(self.random_percent / 100, 6),
        }


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
    "fin1": Load(84.6, 1.5, 1, 96.9),
    "fin2": Load(21.5, 1, 1, 97.4),
    "msnfs": Load(93.9, 10, 23.5, 87.2),
    "usr": Load(27, 5, 20, 92.2),
    "web": Load(0.1, 4, 7.5, 93.5),
    "sql0": Load(40.2, 4, 14.5, 89.9),
    "sql1": Load(14.55, 4.5, 22.5, 73.6),
    "sql2": Load(0.3, 10.5, 26.5, 71.9),
    "sql3": Load(37.12, 10, 37, 56.8),
}
FITTED = (
    "The loads are generated, fitted to table 3.1: shares of data written and of random requests "
    "are the table's, sizes are whole pages with the means of the table, which count pages of 2 "
    "KiB (data over requests of table 6.1 say so), requests begin at a page, random ones anywhere "
    "on the device, the others where the one before ended."
)


def device(setup: Setup) -> dict[str, Value]:
    """What the device differs in from the preset."""
    return QUICK if setup.quick else {}


@dataclass(frozen=True)
class Variant:
    """A device, by default the document's: pages placed by their address ("static") or as they come
    ("dynamic"), the queue (see IMMEDIATE), how many requests at a time, what else differs."""

    places: str = "static"
    queue: str = "package"
    depth: int = DEPTH
    more: Mapping[str, Value] = field(default_factory=dict[str, Value])

    def overrides(self, setup: Setup, order: str) -> dict[str, Value]:
        """What the device differs in from the preset."""
        queue: dict[str, Value] = (
            {"ssd.scheduler": IMMEDIATE}
            if self.queue == IMMEDIATE
            else {"ssd.scheduler.vaq.conflict": self.queue}
        )
        placed = {f"ftl.allocate.{self.places}.order": order}
        return {**device(setup), **queue, **placed}


DOCUMENT = Variant()


def closed(
    setup: Setup,
    load: str,
    order: str,
    traces: dict[str, Path],
    variant: Variant = DOCUMENT,
    requests: int = REQUESTS,
) -> Case:
    """A load on a device that has as many requests as it takes at any time."""
    depth = variant.depth
    label = f"{load}, {depth} at a time, {variant.queue}, {variant.places} {order}"
    label += "".join(f", {key} {value}" for key, value in variant.more.items())
    overrides = variant.overrides(setup, order)
    count = setup.requests(requests)
    if load in TABLE:
        arrival: dict[str, Value] = {"workload.arrival.closed-loop.queue_depth": depth}
        made = {**overrides, **TABLE[load].workload(count), **arrival, **variant.more}
        return Case(DEVICE, label, made)
    mode: dict[str, Value] = {"replay.mode.closed-loop.queue_depth": depth}
    return Case(DEVICE, label, {**overrides, **mode, **variant.more}, traces[load], count)


def timed(
    setup: Setup, load: str, order: str, rates: dict[str, float], traces: dict[str, Path]
) -> Case:
    """A load as it arrives, on the document's queue, placed by address: generated requests at a
    rate, independently of each other; recorded ones by their time stamps."""
    label = f"{load}, as it arrives, static {order}"
    overrides = DOCUMENT.overrides(setup, order)
    count = setup.requests(REQUESTS)
    if load in TABLE:
        arrival: dict[str, Value] = {"workload.arrival.poisson.iops": rates[load]}
        return Case(DEVICE, label, overrides | TABLE[load].workload(count) | arrival)
    return Case(DEVICE, label, overrides, traces[load], count)
