"""Runs of loads on flash of several capacities and over-provisioning ratios, under the schemes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, log, nan
from pathlib import Path
from statistics import fmean

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Numbers, Setup
from wordline_studies.measures import or_nan
from wordline_studies.read_cache.loads import TABLE, part
from wordline_studies.read_cache.schemes import ALL, Scheme

PUBLISHED = Numbers("wordline_studies.read_cache")
DEVICE = "xia2017-read-cache"
GB = (3, 4, 5, 6)
OPS = (15, 25, 35)
FULL_PAGES_PER_GB = 262_144
BLOCK_PAGES = 64
THRESHOLD = 0.05
# Microseconds that a miss, a page program, a page relocation and a block erase take.
MISS_US, PROGRAM_US, MOVE_US, ERASE_US = 5_000, 200, 225, 1_500


@dataclass(frozen=True)
class Point:
    """A cell of the figures: load, flash capacity in GB, over-provisioning in per cent."""

    load: str
    gb: int
    op: int


@dataclass(frozen=True)
class Cell:
    """Results of a scheme at a point. The hit ratio `hit` is in per cent, response times are in
    microseconds."""

    hit: float
    erases: int
    mean_us: float
    deviation_us: float
    revived: int
    moved: int
    amplification: float
    requests: int = 1
    read_pages: int = 0
    fills: int = 0
    missed: int = 0
    """Requests with at least one missing page."""
    evicted: int = 0
    resident: int = 0
    suspected: int = 0
    """Pages in suspected queues at the end."""

    @staticmethod
    def of(summary: Summary) -> "Cell":
        """Takes the results from a summary."""
        cache, flash = summary["cache"], summary["flash"]
        assert cache is not None
        return Cell(
            hit=100 * or_nan(cache["hit_ratio"]),
            erases=flash["erases"],
            mean_us=or_nan(summary["latency"]["read"]["mean_us"]),
            deviation_us=or_nan(cache["read_deviation_us"]),
            revived=cache["suspected_hits"],
            moved=flash["gc_pages_moved"],
            amplification=or_nan(flash["page_write_amplification"]),
            requests=summary["input"]["requests"],
            read_pages=cache["pages_read"],
            fills=cache["fills"],
            missed=summary["disks"][0]["reads"],
            evicted=cache["evicted"],
            resident=cache["resident_pages"],
            suspected=cache["suspected_pages"],
        )


Cells = Mapping[tuple[Point, Scheme], Cell]


def case(
    load: str,
    trace: Path,
    pages: int,
    op: int,
    scheme: Scheme,
    more: Mapping[str, Value] | None = None,
) -> Case:
    """Returns the case of a load on flash of the given number of pages, one request at a time."""
    blocks = pages // BLOCK_PAGES
    settings: dict[str, Value] = {
        "nand.geometry.blocks_per_plane": blocks,
        "ftl.over_provisioning_ratio": op / 100,
        "ftl.gc.start_free_pages": int(THRESHOLD * blocks * BLOCK_PAGES),
        "disk.capacity_bytes": 1 << 50,
        "replay.mode.closed-loop.queue_depth": 1,
        **scheme.overrides,
        **(more or {}),
    }
    overridden = [f"{key} = {value}" for key, value in (more or {}).items()]
    label = ", ".join([load, str(scheme), f"{blocks} blocks", f"{op} %", *overridden])
    return Case(DEVICE, label, settings, trace)


def grid(setup: Setup, paths: Mapping[str, Path]) -> dict[tuple[Point, Scheme], Cell]:
    """Runs every scheme on every cell of the fitted loads."""
    cases = {
        (Point(load, gb, op), scheme): case(
            load, paths[load], gb * FULL_PAGES_PER_GB // part(setup, load), op, scheme
        )
        for load in TABLE
        for gb in GB
        for op in OPS
        for scheme in ALL
    }
    return {key: Cell.of(summary) for key, summary in required(setup, cases).items()}


def collecting_us(cell: Cell) -> int:
    """Returns the time of all relocations and erases. Microseconds."""
    return MOVE_US * cell.moved + ERASE_US * cell.erases


def valid_percent(cell: Cell) -> float:
    """Returns the mean share of valid pages in a victim block. Per cent; NaN without erases."""
    return 100 * cell.moved / (BLOCK_PAGES * cell.erases) if cell.erases else nan


def gain(cells: Cells, point: Point, base: Scheme, other: Scheme) -> float:
    """Returns the hit ratio of `other` minus that of `base`. Percentage points."""
    return cells[point, other].hit - cells[point, base].hit


def geometric_hit(cells: Cells, gb: int, op: int, scheme: Scheme) -> float:
    """Returns the geometric mean over the loads of the hit ratios. Per cent."""
    return geometric(cells[Point(load, gb, op), scheme].hit for load in TABLE)


def geometric(values: Iterable[float]) -> float:
    """Returns the geometric mean of the positive values; NaN if there are none."""
    known = [value for value in values if value > 0]
    return exp(fmean(log(value) for value in known)) if known else nan


def mean_gain(cells: Cells, gb: int, op: int, base: Scheme, other: Scheme) -> float:
    """Returns the gain of the geometric mean hit ratio from `base` to `other`. Percentage
    points."""
    return geometric_hit(cells, gb, op, other) - geometric_hit(cells, gb, op, base)


def less(cells: Cells, gb: int, op: int, base: Scheme, other: Scheme) -> float:
    """Returns the reduction of the mean response time from `base` to `other`. Per cent."""
    return less_percent(mean_us(cells, gb, op, base), mean_us(cells, gb, op, other))


def fewer(cells: Cells, point: Point, base: Scheme, other: Scheme) -> float | None:
    """Returns the erases that `other` saves, in per cent of the erases of `base`; None if `base`
    has none."""
    before = cells[point, base].erases
    return 100 * (1 - cells[point, other].erases / before) if before else None


def known(values: Iterable[float | None]) -> list[float]:
    """Returns the values that are not None."""
    return [value for value in values if value is not None]


def mean_us(cells: Cells, gb: int, op: int, scheme: Scheme) -> float:
    """Returns the geometric mean over the loads of the mean response times. Microseconds."""
    return geometric(cells[Point(load, gb, op), scheme].mean_us for load in TABLE)


def deviation_us(cells: Cells, gb: int, op: int, scheme: Scheme) -> float:
    """Returns the geometric mean over the loads of the standard deviations of response times.
    Microseconds."""
    return geometric(cells[Point(load, gb, op), scheme].deviation_us for load in TABLE)


def less_percent(first: float, second: float) -> float:
    """Returns the reduction from `first` to `second`. Per cent; NaN if `first` is 0."""
    return 100 * (1 - second / first) if first else nan
