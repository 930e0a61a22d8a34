"""The summary counts the bytes of writes exactly as two small models of a drive do.

Both models track whole pages and dirty sectors only. Without a DRAM buffer each write programs
every page that it touches; with an LRU buffer a page is programmed when it is evicted. The free
blocks have room for all writes, so that garbage collection never runs.
"""

import random
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import pytest

import wordline
from wordline._render.programmed_text import parts

PAGE = 16384
SECTOR = 512
PAGES = 1024
"""Number of pages that the host can address."""
WRITES = 1200
DEVICE = """\
schema = 1
name = "large-pages"
[ssd]
channels = 2
ways = 1
[nand.geometry]
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 32
page_bytes = 16384
[ftl]
over_provisioning_ratio = 0.5
[host]
queue_depth = 1
[replay]
mode = "closed-loop"
"""

Write = tuple[int, int]
"""Offset and length in bytes."""


class Programmed(NamedTuple):
    pages: int
    host_bytes: int
    fill_bytes: int


def writes(unit: int, most: int, *, pages: int = PAGES, seed: int = 1) -> list[Write]:
    """Returns writes of up to `most` bytes at random addresses, both in multiples of `unit`."""
    draw = random.Random(seed)
    drawn: list[Write] = []
    for _ in range(WRITES):
        size = draw.randint(1, most // unit) * unit
        drawn.append((draw.randrange((pages * PAGE - size) // unit + 1) * unit, size))
    return drawn


def pieces(write: Write) -> list[tuple[int, int, int]]:
    """Returns the pages of a write, each with the start and end of its bytes in the page."""
    offset, size = write
    first, last = offset // PAGE, (offset + size - 1) // PAGE
    return [
        (page, max(offset - page * PAGE, 0), min(offset + size - page * PAGE, PAGE))
        for page in range(first, last + 1)
    ]


def without_buffer(load: list[Write]) -> Programmed:
    """Counts the bytes of a device that programs each page of a write whole."""
    pages = host = 0
    for write in load:
        for _, begin, end in pieces(write):
            pages += 1
            host += end - begin
    return Programmed(pages, host, pages * PAGE - host)


def with_buffer(load: list[Write], frames: int) -> Programmed:
    """Counts the bytes of a device that programs the least recently written page when another page
    needs its frame."""
    dirty: OrderedDict[int, set[int]] = OrderedDict()
    pages = host = 0
    for write in load:
        for page, begin, end in pieces(write):
            sectors = dirty.pop(page, set())
            if not sectors and len(dirty) == frames:
                _, evicted = dirty.popitem(last=False)
                pages += 1
                host += len(evicted) * SECTOR
            dirty[page] = sectors | set(range(begin // SECTOR, end // SECTOR))
    return Programmed(pages, host, pages * PAGE - host)


def require_counted(place: Path, load: list[Write], expected: Programmed, buffer: str = "") -> None:
    """Checks that the summary of a run of `load` equals `expected` to the byte."""
    (place / "drive.toml").write_text(DEVICE + buffer)
    lines = (f"{1000 * at},write,{offset},{size},0\n" for at, (offset, size) in enumerate(load))
    (place / "writes.csv").write_text(
        "time_ns,op,offset_bytes,size_bytes,volume\n" + "".join(lines)
    )
    result = wordline.run("drive.toml", "writes.csv", requests=False)
    flash = result.summary["flash"]
    assert flash["gc_runs"] == 0
    counted = flash["programmed"]
    got = Programmed(flash["page_programs"], counted["host_bytes"], counted["fill_bytes"])
    assert got == expected
    written = sum(size for _, size in load)
    assert flash["host_written_bytes"] == written
    assert flash["programmed_bytes"] == expected.pages * PAGE
    assert flash["write_amplification"] == expected.pages * PAGE / written
    assert flash["page_write_amplification"] == 1.0
    assert sum(size for _, size, _ in parts(flash)) == expected.pages * PAGE
    (smart,) = result.smart
    assert smart["physical_media_written_bytes"] == expected.pages * PAGE


@pytest.mark.parametrize(
    ("unit", "most"),
    [(SECTOR, 3 * PAGE), (SECTOR, PAGE // 4), (PAGE // 4, PAGE // 4), (PAGE, 2 * PAGE)],
    ids=["sectors", "few sectors", "quarters", "whole pages"],
)
def test_each_write_programs_the_pages_that_it_touches(place: Path, unit: int, most: int) -> None:
    load = writes(unit, most)
    expected = without_buffer(load)
    assert (expected.fill_bytes == 0) == (unit == PAGE)
    require_counted(place, load, expected)


@pytest.mark.parametrize("frames", [16, 64])
@pytest.mark.parametrize(
    ("unit", "most"), [(PAGE // 4, PAGE // 4), (SECTOR, 2 * PAGE)], ids=["quarters", "sectors"]
)
def test_a_buffer_programs_a_page_when_it_is_evicted(
    place: Path, unit: int, most: int, frames: int
) -> None:
    load = writes(unit, most, pages=96)
    expected = with_buffer(load, frames)
    assert expected.fill_bytes > 0
    buffer = f'[buffer]\ncapacity_kib = {frames * PAGE // 1024}\nreplacement = "lru"\n'
    require_counted(place, load, expected, buffer)
