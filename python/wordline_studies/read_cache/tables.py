"""Tables 2 and 3, and the examples of figures 2 and 7."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import wordline
from wordline import config
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.read_cache.loads import FITTED, TABLE, WEB, part
from wordline_studies.read_cache.runs import DEVICE, PUBLISHED, THRESHOLD, Cells, Point
from wordline_studies.read_cache.schemes import LRU, PLAIN, ZM, Scheme

PAGE_KIB = 4
PAGES_PER_GIB = 262_144


def tables(setup: Setup, cells: Cells, footprints: Mapping[str, int]) -> Figure:
    """Returns the figure of the set-up and the loads, compared with those of the document."""
    device = tomllib.loads(config.show(DEVICE, {}))
    geometry, timing = device["nand"]["geometry"], device["nand"]["timing"]
    page = geometry["page_bytes"] / 1024
    ours = {
        "page size": page,
        "block size": page * geometry["pages_per_block"],
        "share of free pages below which GC starts": 100 * THRESHOLD,
        "time of a page read": timing["read_ns"] / 1e3,
        "time of a page program": timing["program_ns"] / 1e3,
        "time of a block erase": timing["erase_ns"] / 1e6,
        "time of a disk access": device["disk"]["model"]["constant"]["access_ms"],
    }
    rows = [
        Row(what, value, PUBLISHED("table 2", what).unit, PUBLISHED("table 2", what))
        for what, value in ours.items()
    ]
    parts = ", ".join(f"{name} 1/{part(setup, name)}" for name in TABLE)
    for load in TABLE:
        cell, times = cells[Point(load, 3, 15), PLAIN[0]], part(setup, load)
        found = {
            "number of requests": float(cell.requests * times),
            "mean request size": PAGE_KIB * cell.read_pages / cell.requests,
            "size of the address space": None,
        }
        rows += [
            Row(
                f"{load}: {what}",
                value,
                PUBLISHED("table 3", f"{load}: {what}").unit,
                PUBLISHED("table 3", f"{load}: {what}"),
            )
            for what, value in found.items()
        ]
        published = PUBLISHED("footprint", f"{load}: footprint") if load in WEB else None
        size = footprints[load] * times / PAGES_PER_GIB
        rows.append(Row(f"{load}: footprint", size, "GB", published))
    return Figure(
        id="tables-2-3",
        title="Set-up and loads",
        section="2.4",
        measured=f"The device `{DEVICE}` and the loads. Numbers of requests and footprints are "
        f"multiplied by the factor by which the load is scaled down ({parts}).",
        rows=rows,
        explanation=[
            FITTED,
            "The address space of WebSearch1 to 3 is that of one of three units and does not show "
            "how many pages are read. The published footprints are those of the same recorded "
            "traces in the paper on ARC (N. Megiddo and D. Modha, FAST 2003). The address space "
            "of DevDivRelease and MSNFS is exactly 20,000,000 sectors, to which the addresses of "
            "the recorded traces were folded.",
        ],
    )


@dataclass(frozen=True)
class Example:
    """A worked example: flash of four blocks of 4 pages, a queue that fills three blocks, and
    single-page reads, one at a time.

    The first reads lead to the state of the picture; the others are the example. GC starts when a
    write finds no free page, or when the active block is full and fewer than `threshold` blocks are
    free.
    """

    check: str
    threshold: int
    before: tuple[int, ...]
    steps: tuple[tuple[int, ...], ...]


PLACED = (30, 31, 32, 0, 33, 34, 1, 35, 36, 37, 38, 39)
"""Logical pages by physical page: LPN 0 is at PPN 3, LPN 1 at PPN 6."""
FIGURE_2 = Example(
    check="each-page",
    threshold=0,
    before=(*PLACED, *(page for page in PLACED[1:] if page > 1), PLACED[0]),
    steps=((15, 23, 12, 0, 1),),
)
"""LPN 0 and LPN 1 are the oldest pages. The picture shows no GC. GC that relocates pages would have
no free space on this device, so nothing is relocated."""
FIGURE_7 = Example(
    check="full-block",
    threshold=1,
    before=(20, 21, 22, 23, 24, 25, 26, 27, 15, 30, 0, 31, 20, 24, 21, 22, 23, 25, 26, 27, 15, 0),
    steps=((40, 41, 42, 43), (15, 0)),
)
"""The third block holds LPN 15, LPN 0 and the two oldest pages. Of the two next oldest pages, each
of the other two blocks holds one. Four misses fill the fourth block."""


def examples(_setup: Setup) -> Figure:
    """Returns the figure of the examples of figures 2 and 7, which the study replays."""
    aware, zero = Scheme(LRU, aware=True, reclaim=ZM), Scheme(LRU, reclaim=ZM)
    _, two = _played(FIGURE_2, aware)
    _, without = _played(FIGURE_2, zero)
    _, erased, again = _played(FIGURE_7, zero)
    return Figure(
        id="2-7",
        title="Worked examples",
        section="figures 2, 7",
        measured="Single-page reads on flash of four blocks of four pages, with a queue of 12 "
        "pages. Figure 2: LPN 0 and 1 are the oldest pages; LPN 15, 23, 12, 0 and 1 are read. "
        "Figure 7: when the fourth block is full, the block of LPN 15 and 0 has two invalid "
        "pages, more than any other block, so GC erases it; then LPN 15 and 0 are read again.",
        rows=_example_rows(two, without, erased),
        claims=[
            Claim(
                "Figure 2: FLRU misses three pages, revives two and programs three; five pages "
                "are evicted, no block is erased, and three pages are suspected at the end",
                two
                == {
                    "misses": 3,
                    "revived": 2,
                    "programs": 3,
                    "evicted": 5,
                    "erases": 0,
                    "moved": 0,
                    "dropped": 0,
                    "suspected": 3,
                },
                _listed(two),
            ),
            Claim(
                "Figure 2: LRU without suspected queues misses all five pages",
                without["misses"] == 5,
                _listed(without),
            ),
            Claim(
                "Figure 7: zero-migration erases one block, relocates nothing and drops two pages",
                (erased["erases"], erased["moved"], erased["dropped"]) == (1, 0, 2),
                _listed(erased),
            ),
            Claim(
                "Figure 7: the next two missed pages enter the cache without an eviction",
                (again["misses"], again["evicted"]) == (2, 0),
                _listed(again),
                ids=("X3-045",),
            ),
        ],
    )


Counts: TypeAlias = dict[str, int]

COUNTED = {
    "misses": "number of missed pages",
    "revived": "number of revived pages",
    "programs": "number of page programs",
    "evicted": "number of evicted pages",
    "erases": "number of block erases",
    "moved": "number of relocated pages",
    "dropped": "number of dropped pages",
    "suspected": "number of suspected pages at the end",
}


def _example_rows(two: Counts, without: Counts, erased: Counts) -> list[Row]:
    return [
        Row(
            "figure 2: evicted pages that are read again and revived",
            float(two["revived"]),
            "requests",
            PUBLISHED("2", "evicted pages that are read again and revived"),
        ),
        Row(
            "figure 2: page programs saved per revival",
            (without["programs"] - two["programs"]) / two["revived"],
            "operations",
            PUBLISHED("2", "page programs saved per revival"),
        ),
        Row(
            "figure 7: valid pages dropped by GC",
            float(erased["dropped"]),
            "pages",
            PUBLISHED("7", "valid pages dropped by GC"),
        ),
        *(
            Row(f"figure {number}: {COUNTED[what]}", float(value), "")
            for number, found in (("2", two), ("7", erased))
            for what, value in found.items()
        ),
    ]


def _listed(counts: Counts) -> str:
    return ", ".join(f"{value} {what}" for what, value in counts.items() if value)


def _played(example: Example, scheme: Scheme) -> list[Counts]:
    """Returns the counts before the example and in each of its steps. `suspected` is the number of
    pages in suspected queues at the end of each."""
    pages, sums = example.before, list[Counts]()
    for step in ((), *example.steps):
        pages = (*pages, *step)
        sums.append(_counted(_summary(example, pages, scheme)))
    first = sums[:1]
    return first + [
        {what: value - (0 if what == "suspected" else before[what]) for what, value in now.items()}
        for before, now in pairwise(sums)
    ]


def _counted(summary: Summary) -> Counts:
    cache, flash = summary["cache"], summary["flash"]
    assert cache is not None
    return {
        "misses": cache["misses"],
        "revived": cache["suspected_hits"],
        "programs": cache["fills"],
        "evicted": cache["evicted"],
        "erases": flash["erases"],
        "moved": flash["gc_pages_moved"],
        "dropped": cache["dropped"],
        "suspected": cache["suspected_pages"],
    }


def _summary(example: Example, pages: tuple[int, ...], scheme: Scheme) -> Summary:
    settings: dict[str, Value] = {
        "nand.geometry.blocks_per_plane": 4,
        "nand.geometry.pages_per_block": 4,
        "ftl.over_provisioning_ratio": 0.25,
        "ftl.gc.check": example.check,
        "ftl.gc.start_free_pages": 0,
        "ftl.gc.start_free_blocks": example.threshold,
        "ftl.gc.hard_free_blocks": 0,
        "replay.mode.closed-loop.queue_depth": 1,
        **scheme.overrides,
    }
    lines = [f"0,read,{page * 4096},4096,0" for page in pages]
    with TemporaryDirectory(prefix="wordline-study-") as folder:
        trace = Path(folder) / "example.csv"
        trace.write_text("\n".join(["time_ns,op,offset_bytes,size_bytes,volume", *lines, ""]))
        return wordline.run(DEVICE, trace, overrides=settings, requests=False).summary
