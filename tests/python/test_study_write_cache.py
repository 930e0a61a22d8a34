"""Study `write-cache`: loads, caches and claims."""

import json
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, islice
from pathlib import Path
from random import Random
from typing import cast

import pytest

import wordline_studies as studies
from wordline.config import Value
from wordline_studies.cases import required
from wordline_studies.figure import Setup
from wordline_studies.published import Range
from wordline_studies.results import run
from wordline_studies.write_cache import claims, windows
from wordline_studies.write_cache.loads import (
    BLOCK_PAGES,
    DISTANCES,
    DISTANT,
    FITS,
    MAIN,
    QUICK,
    TABLE,
    Fit,
    cached,
    distinct,
    folder,
    objects,
    pages,
    write,
)
from wordline_studies.write_cache.model import choice, equation, latency_us
from wordline_studies.write_cache.runs import (
    PUBLISHED,
    Cell,
    Device,
    Fitted,
    curves,
    dynamics,
    schemes,
    statics,
    victims,
)
from wordline_studies.write_cache.schemes import CLEAR, HALF, KEEP, OPS, START, TRACKERS, Dynamic

PART = 64
FLASH = 128 * BLOCK_PAGES


@pytest.mark.slow
def test_no_claim_has_an_unexpected_outcome(tmp_path: Path) -> None:
    place = tmp_path / "write-cache"
    run(studies.load("write-cache"), Setup()).write(place)
    told = json.loads((place / "study.json").read_text())
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []


@pytest.mark.parametrize(
    "fit",
    [
        Fit("Financial1", 0.9),
        MAIN["Financial1"],
        Fit("Financial1", None, DISTANT),
        Fit("Homes", 0.6),
        MAIN["MSNFS"],
    ],
)
def test_loads_have_the_volume_and_the_working_set_of_the_table(fit: Fit) -> None:
    written = list(pages(fit, PART))
    assert len(written) == fit.writes(PART)
    assert abs(len(set(written)) / fit.working_set(PART) - 1) < 0.03
    assert written == list(pages(fit, PART))


def test_the_share_of_first_writes_follows_from_the_table() -> None:
    for name, row in TABLE.items():
        _, most = cast("Range", PUBLISHED("14", f"{name}: highest possible hit ratio").value)
        assert 100 * (1 - row.working_set_gb / row.volume_gb) == pytest.approx(most, abs=0.05)


def test_financial1_repeats_pages_at_the_recorded_distances() -> None:
    """Distances are scaled down as the load. The greatest deciles are long enough to compare."""
    last: dict[int, int] = {}
    order: list[int] = []
    distances: list[int] = []
    for at, page in enumerate(islice(pages(MAIN["Financial1"], 4), 40_000)):
        if page in last:
            place = bisect_left(order, last[page])
            distances.append(len(order) - 1 - place)
            del order[place]
        order.append(at)
        last[page] = at
    distances.sort()
    for decile in (8, 9):
        found = 4 * distances[decile * len(distances) // 10]
        assert found == pytest.approx(DISTANCES[decile], rel=0.15)


def test_msnfs_writes_as_many_pages_early_as_its_recording() -> None:
    fit = MAIN["MSNFS"]
    assert distinct(objects(fit, 1), fit, 24_424) == pytest.approx(23_863, rel=0.005)


def test_loads_with_more_skew_need_more_objects() -> None:
    counts = [objects(Fit("Financial1", exponent), PART) for exponent in (0.6, 0.9, 1.1)]
    assert counts == sorted(counts)


def test_the_equation_has_the_tabulated_roots() -> None:
    """The roots are valid shares of victims. GC keeps 5 % of the flash free."""
    assert equation(15) == pytest.approx(0.797, abs=5e-4)
    assert equation(35) == pytest.approx(0.443, abs=5e-4)


def test_latency_matches_a_hand_calculation() -> None:
    """Half of 64 pages are relocated in 7.2 ms, an erase takes 1.5 ms, 32 pages are gained. Every
    fifth write reads a page and destages it."""
    assert latency_us(0.5, 0.2) == pytest.approx(200 + 8700 / 32 + 0.2 * 5025)
    assert choice({15: (0.8, 0.2), 35: (0.4, 0.25), 85: (0.0, 0.6)}) == 35


def skewed(count: int, among: int) -> list[int]:
    """Returns pages to write, chosen by Zipf's law with an exponent of 0.9."""
    random = Random(7)
    weights = list(accumulate((rank + 1) ** -0.9 for rank in range(among)))
    return random.choices(range(among), cum_weights=weights, k=count)


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[tuple[Device, Path, list[int]]]:
    """Yields a flash of 128 blocks, and a load that writes more than ten times its size."""
    written = skewed(100_000, FLASH)
    path = tmp_path / "load.csv"
    write(path, written)
    with folder() as traces:
        yield Device(FLASH, traces.fills(FLASH, [2.0])), path, written


def test_formula_4_5_gives_the_latency_of_a_full_cache(
    loaded: tuple[Device, Path, list[int]],
) -> None:
    """Uses the exact miss ratio of the load, from stack distances, and the measured U."""
    on, path, _ = loaded
    cells = statics(Setup(), {"load": (on, path)})["load"]
    exact, _ = curves(path, FLASH, "exact")
    for op in OPS:
        assert 1 - cells[op].hits / cells[op].pages == pytest.approx(exact[op], abs=1e-9)
        expected = latency_us(cells[op].victims, exact[op])
        assert cells[op].mean_us == pytest.approx(expected, rel=0.01)


class Twin:
    """Minimal write cache: an LRU list, a page map, one active block, greedy GC."""

    def __init__(self, flash: int, op: int) -> None:
        self.most = cached(op, flash)
        self.kept = int(0.05 * flash)
        self.entries: OrderedDict[int, int] = OrderedDict()
        self.blocks: list[set[int]] = [set() for _ in range(flash // BLOCK_PAGES)]
        self.free = list(range(1, len(self.blocks)))
        self.open, self.used = 0, 0
        self.misses = self.erases = self.moved = 0

    def write(self, page: int) -> None:
        if page in self.entries:
            self.blocks[self.entries.pop(page)].discard(page)
        else:
            self.misses += 1
            if len(self.entries) == self.most:
                old, block = self.entries.popitem(last=False)
                self.blocks[block].discard(old)
        self.entries[page] = self.program(page)
        while len(self.free) * BLOCK_PAGES + BLOCK_PAGES - self.used < self.kept:
            self.collect()

    def program(self, page: int) -> int:
        if self.used == BLOCK_PAGES:
            self.open, self.used = self.free.pop(0), 0
        self.blocks[self.open].add(page)
        self.used += 1
        return self.open

    def collect(self) -> None:
        others = set(range(len(self.blocks))) - set(self.free) - {self.open}
        victim = min(others, key=lambda block: len(self.blocks[block]))
        left, self.blocks[victim] = sorted(self.blocks[victim]), set()
        for page in left:
            self.entries[page] = self.program(page)
        self.moved += len(left)
        self.erases += 1
        self.free.append(victim)


@pytest.mark.parametrize("op", [15, 35, 55])
def test_an_independent_model_agrees_with_the_simulation(
    loaded: tuple[Device, Path, list[int]], op: int
) -> None:
    """Misses agree exactly; erases and relocations agree except for the choice among equal
    victims."""
    on, path, written = loaded
    twin = Twin(FLASH, op)
    for page in range(FLASH):
        twin.write(10**9 + page)
    before = (twin.misses, twin.erases, twin.moved)
    for page in written:
        twin.write(page)
    cell = statics(Setup(), {"load": (on, path)})["load"][op]
    assert cell.pages - cell.hits == twin.misses - before[0]
    assert cell.erases == pytest.approx(twin.erases - before[1], rel=0.02)
    assert cell.moved == pytest.approx(twin.moved - before[2], rel=0.04)


class Recent:
    """Pages in order of their last write."""

    def __init__(self) -> None:
        self.last: dict[int, int] = {}
        self.places: list[int] = []
        self.at = 0

    def write(self, page: int) -> int | None:
        """Returns the number of distinct other pages written since the last write of the page;
        None for the first write."""
        distance = None
        if page in self.last:
            place = bisect_left(self.places, self.last[page])
            distance = len(self.places) - 1 - place
            del self.places[place]
        self.places.append(self.at)
        self.last[page] = self.at
        self.at += 1
        return distance


class Moving(Twin):
    """The minimal write cache with a list that changes its size after each window, by one page per
    write."""

    def __init__(self, flash: int, tracker: str, table: Sequence[float]) -> None:
        super().__init__(flash, START)
        self.flash, self.tracker, self.table = flash, tracker, table
        self.target = self.most
        self.recent = Recent()
        self.distances: list[int | None] = []
        self.seen = self.evicted = self.resized = 0

    def write(self, page: int) -> None:
        self.evicted += page not in self.entries and len(self.entries) == self.most
        super().write(page)
        self.distances.append(self.recent.write(page))
        self.seen += 1
        if self.tracker == HALF and self.seen == self.flash:
            self.distances = []
        if self.seen == 2 * self.flash:
            self.choose()
        if len(self.entries) > self.target:
            old, block = self.entries.popitem(last=False)
            self.blocks[block].discard(old)
            self.resized += 1
        self.most = max(self.target, len(self.entries))

    def choose(self) -> None:
        """Chooses the over-provisioning with the shortest response time by formula 4.5, the first
        if several are equal."""
        costs: dict[int, float] = {}
        for op, valid in zip(OPS, self.table, strict=True):
            size = cached(op, self.flash)
            hits = sum(one is not None and one < size for one in self.distances)
            costs[op] = latency_us(valid, 1 - hits / len(self.distances))
        self.target = cached(min(OPS, key=lambda op: costs[op]), self.flash)
        self.seen, self.distances = 0, []
        if self.tracker != KEEP:
            self.recent = Recent()

    @property
    def spent_us(self) -> float:
        """Time of evictions and GC, without the destages of a shrinking list."""
        return self.erases * 1500 + self.moved * 225 + self.evicted * 5025


@pytest.mark.parametrize("tracker", TRACKERS)
def test_an_independent_model_of_the_dynamic_cache_agrees(
    loaded: tuple[Device, Path, list[int]], tracker: str
) -> None:
    """Both choose the same sizes. Hits, erases and response times agree."""
    on, path, written = loaded
    table = [equation(op) for op in OPS]
    one = Dynamic(2.0, tracker)
    cell = dynamics(Setup(), {"load": (on, path)}, {"load": table}, {"load": [one]})["load"][one]
    twin = Moving(FLASH, tracker, table)
    for index in range(2 * FLASH):
        twin.write(10**9 + index % cached(START, FLASH))
    before = (twin.misses, twin.erases, twin.spent_us)
    for page in written:
        twin.write(page)
    assert cell.held == len(twin.entries)
    assert cell.resized == pytest.approx(twin.resized, rel=0.02)
    assert cell.pages - cell.hits == pytest.approx(twin.misses - before[0], rel=0.01)
    assert cell.erases == pytest.approx(twin.erases - before[1], rel=0.03)
    spent = twin.spent_us - before[2] + 200 * len(written)
    assert cell.response_us == pytest.approx(spent, rel=0.01)


@pytest.mark.parametrize("tracker", TRACKERS)
def test_writes_that_fill_a_dynamic_cache_are_not_counted(
    loaded: tuple[Device, Path, list[int]], tracker: str
) -> None:
    """The writes that fill the cache do not resize it and are not counted."""
    on, path, _ = loaded
    cells = statics(Setup(), {"load": (on, path)})["load"]
    one = Dynamic(2.0, tracker)
    fill = on.case("fill", one.overrides(on.pages, victims(cells)), [on.fills.dynamic[2.0]])
    assert Cell.of(required(Setup(), {"fill": fill})["fill"]).divisions == 0
    cell = dynamics(Setup(), {"load": (on, path)}, {"load": victims(cells)}, {"load": [one]})
    found = cell["load"][one]
    assert found.pages == 100_000
    assert found.resized > 0


def resized(on: Device, path: Path, more: Mapping[str, Value] | None = None) -> Cell:
    """Runs a load on a dynamic cache that may shrink, with victims as full as in the equation."""
    one, table = Dynamic(2.0, CLEAR), {"load": [equation(op) for op in OPS]}
    return dynamics(Setup(), {"load": (on, path)}, table, {"load": [one]}, more)["load"][one]


def dies(count: int) -> dict[str, Value]:
    """Returns the settings that divide the flash of 128 blocks over `count` dies."""
    return {
        "nand.geometry.dies_per_package": count,
        "nand.geometry.blocks_per_plane": FLASH // BLOCK_PAGES // count,
        "ftl.gc.start_free_pages": int(0.05 * FLASH) // count,
    }


ERASE_SHARE_US = 1500 / BLOCK_PAGES
"""Erase time per page program if victims are empty. Microseconds."""


@pytest.mark.parametrize("count", [1, 2, 8])
def test_a_destage_waits_on_its_die_for_work_of_its_request(
    loaded: tuple[Device, Path, list[int]], count: int
) -> None:
    """A destage starts with a request.

    After a hit, it waits for the read of the previous destage, the program of 200 us and its GC.
    After a miss, it waits for the read of the evicted page. Both waits occur on the same die only.
    Then it takes 25 us of flash time and 5 ms of disk time. While a list shrinks, GC takes less
    time than otherwise, but at least an erase per block.
    """
    on, path, _ = loaded
    cell = resized(on, path, dies(count))
    hit = cell.hits / cell.pages
    collections = (cell.moved * 225 + cell.erases * 1500) / cell.pages
    least, most = (
        5025 + (hit * (25 + 200 + one) + (1 - hit) * 25) / count
        for one in (ERASE_SHARE_US, collections)
    )
    assert cell.resized > 500
    assert least * 0.998 <= cell.resize_us / cell.resized <= most * 1.002
    assert most / least < 1.02


def test_a_destage_among_hits_waits_for_one_program(tmp_path: Path) -> None:
    """The load cycles through a thousand pages: the cache shrinks to the smallest size, all writes
    hit, and victims are empty. No write waits for the disk."""
    path = tmp_path / "load.csv"
    write(path, (page % 1000 for page in range(24_000)))
    with folder() as traces:
        cell = resized(Device(FLASH, traces.fills(FLASH, [2.0])), path)
    assert cell.resized == cached(START, FLASH) - cached(85, FLASH)
    wait = 25 + 200 + ERASE_SHARE_US
    assert cell.resize_us / cell.resized == pytest.approx(5025 + wait, rel=1e-4)
    misses = cell.pages - cell.hits
    assert misses == 1000
    spent = cell.pages * 200 + misses * 5025 + cell.moved * 225 + cell.erases * 1500
    assert cell.response_us == pytest.approx(spent + cell.resized * 25, rel=1e-3)


def test_a_destage_takes_one_disk_access_if_flash_takes_no_time(
    loaded: tuple[Device, Path, list[int]],
) -> None:
    on, path, _ = loaded
    at_once = dict.fromkeys((f"nand.timing.{one}_ns" for one in ("read", "program", "erase")), 1)
    cell = resized(on, path, at_once)
    assert cell.resized > 500
    assert cell.resize_us / cell.resized == pytest.approx(5000, rel=1e-4)


def _cell(op: int, mean_us: float) -> Cell:
    return Cell(
        pages=1000,
        hits=900 - 5 * op,
        response_us=1000 * mean_us,
        erases=2000 - 10 * op,
        moved=0,
        resized=0,
        resize_us=0.0,
        divisions=0,
        held=cached(op, FLASH),
    )


def _found() -> Fitted:
    """Returns results of static caches with the optimum at 35 %, and of dynamic ones that stay
    there."""
    static = {op: _cell(op, 1000 + 10 * abs(op - START)) for op in OPS}
    return Fitted(
        FLASH,
        dict.fromkeys(QUICK, static),
        {fit: dict.fromkeys(schemes(fit, Setup()), static[START]) for fit in QUICK},
        {fit: (static, dict.fromkeys(schemes(fit, Setup()), static[START])) for fit in QUICK},
    )


def _holding(found: Fitted) -> dict[str, bool | None]:
    told = [*claims.hits(found), *claims.responses(found), *claims.dynamic(found)]
    told += [*claims.erases(found), *windows.sensitivity(found)]
    return {claim.text.split(":")[0] + claim.text[-8:]: claim.holds for claim in told}


def test_claims_can_fail_and_hold() -> None:
    found = _found()
    assert claims.one_turn(found.static[QUICK[0]])
    assert claims.never_rises(found.static[QUICK[0]])
    assert claims.erases_fall(found.static[QUICK[0]])
    assert claims.law(found.static[QUICK[0]]) > 1
    flat = {op: replace(_cell(op, 1000 + op), hits=op, erases=op) for op in OPS}
    assert not claims.one_turn(flat)
    assert not claims.never_rises(flat)
    assert not claims.erases_fall(flat)
    held = _holding(found)
    slower = replace(
        found,
        dynamic={
            fit: {one: replace(cell, response_us=2 * cell.response_us) for one, cell in by.items()}
            for fit, by in found.dynamic.items()
        },
    )
    assert _holding(slower) != held


def test_response_times_with_two_minima_have_more_than_one_turning_point() -> None:
    cells = {op: _cell(op, 1000 + 100 * (op % 20 == 5)) for op in OPS}
    assert not claims.one_turn(cells)


def test_the_schemes_of_a_load_include_its_window_and_no_duplicates() -> None:
    for fit in FITS:
        for setup in (Setup(), Setup(quick=True)):
            found = schemes(fit, setup)
            assert Dynamic(fit.row.window, CLEAR) in found
            assert len(set(found)) == len(found)
