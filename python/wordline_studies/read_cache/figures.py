"""Figures 4 to 10 and tables 2 to 4, from the same runs."""

from collections.abc import Callable, Mapping, Sequence
from math import nan

from wordline._render.charts import bars
from wordline._render.plotly import Figure as Drawing
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.read_cache import claims, migration, reasons, responses, tables
from wordline_studies.read_cache.loads import TABLE, part, written
from wordline_studies.read_cache.runs import (
    GB,
    OPS,
    PUBLISHED,
    Cell,
    Cells,
    Point,
    deviation_us,
    fewer,
    gain,
    geometric_hit,
    grid,
    known,
    less,
    mean_gain,
    mean_us,
)
from wordline_studies.read_cache.schemes import (
    ALL,
    BASE,
    COLOURS,
    FARC,
    FLRU,
    MOVE,
    PLAIN,
    ZM,
    Scheme,
    pairs,
)

CELLS = claims.CELLS
SHOWN = tuple(scheme for scheme in ALL if scheme.reclaim in (MOVE, ZM))
READING = (
    "GC treats suspected pages as invalid; a revival makes them valid again. Free space is "
    "checked before every replacement, and an entry leaves its suspected queue before another is "
    "evicted. Capacities count all physical pages, of which 5 % stay free. Over-provisioning "
    "reduces the number of pages in the queues. Hit ratios count pages of 4 KiB.",
    "Entries that zero-migration drops leave ghost entries in ARC's lists, and relocated pages go "
    "to the host's active block. The text states neither; the figure Other readings shows the "
    "alternatives.",
    "One request is outstanding at a time. A request takes 25 µs per page read from flash, 5 ms "
    "if any page misses, 200 µs per page that is then programmed, and the time of the GC runs "
    "that these programs cause. Pages that hit are read during the disk access. No other reading "
    "that was tried gives savings closer to the published ones (see Other readings).",
)


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures that share the runs of all schemes."""
    paths = written(setup)
    cells = grid(setup, paths)
    own, footprints = reasons.curves(setup, paths)
    more = reasons.others(setup, paths)
    times = part(setup, "websearch2")
    parts = ", ".join(f"{name} 1/{part(setup, name)}" for name in TABLE)
    measured = (
        "Loads fitted to table 3 on flash of 3 to 6 GB, both scaled down to a part of the "
        f"document's ({parts}). The flash has one plane with blocks of 64 pages, and GC is "
        "greedy. FLRU and FARC are LRU and ARC with suspected queues; -ZM stands for "
        "zero-migration, -CZM for its conditional variant."
    )
    return [
        tables.tables(setup, cells, footprints),
        _hits(cells, measured),
        _erases(cells, measured, times),
        _migration(cells, measured),
        _responses(cells, measured),
        reasons.figure(setup, cells, own, footprints, more),
    ]


def _hits(cells: Cells, measured: str) -> Figure:
    grown = {
        gb: {
            base: geometric_hit(cells, gb, 15, base) - geometric_hit(cells, 3, 15, base)
            for base in PLAIN
        }
        for gb in GB[1:]
    }
    return Figure(
        id="4-5",
        title="Hit ratios with suspected queues",
        section="figures 4, 5",
        measured=measured,
        rows=_hit_rows(cells),
        plots=[
            _plot(
                "Hit ratio",
                "Geometric mean of the hit ratios over the loads.",
                "%",
                SHOWN[:4],
                lambda gb, op, scheme: geometric_hit(cells, gb, op, scheme),
            ),
            Plot(
                "Gain in hit ratio from a larger flash",
                "Geometric mean of the hit ratios at 15 % over-provisioning, minus its value at 3 "
                "GB (figure 5b).",
                bars(
                    {
                        f"{gb} GB": {str(base): grown for base, grown in one.items()}
                        for gb, one in grown.items()
                    },
                    COLOURS,
                    "points",
                ),
            ),
            *_by_load("Hit ratio", "%", SHOWN[:4], lambda point, scheme: cells[point, scheme].hit),
        ],
        claims=claims.hits(cells),
        explanation=list(READING),
        data={
            "hit_percent": _data(cells, lambda cell: cell.hit),
            "grown_points": {
                f"{gb} GB": {str(base): value for base, value in one.items()}
                for gb, one in grown.items()
            },
        },
    )


def _hit_rows(cells: Cells) -> list[Row]:
    second = Point("websearch2", 3, 15)
    gains = {scheme: [claims.best_gain(cells, scheme, op) for op in OPS] for scheme in (FLRU, FARC)}
    return [
        *(
            Row(
                f"websearch2, {scheme}, 3 GB, OP 15 %: hit ratio",
                cells[second, scheme].hit,
                "%",
                PUBLISHED("4", f"websearch2, {scheme}, 3 GB, OP 15 %: hit ratio"),
            )
            for scheme in PLAIN
        ),
        *(
            Row(
                f"{load}, 3 GB, OP 15 %: gain in hit ratio of FLRU over LRU",
                gain(cells, Point(load, 3, 15), BASE[FLRU], FLRU),
                "points",
                PUBLISHED("4", "3 GB, OP 15 %: largest gain in hit ratio of FLRU over LRU"),
            )
            for load in ("websearch1", "websearch2")
        ),
        *(
            Row(
                f"3 GB, OP {op} %: largest gain in hit ratio of {scheme} over {BASE[scheme]}, of "
                "all loads",
                best,
                "points",
                PUBLISHED(
                    "4",
                    f"3 GB, OP {op} %: largest gain in hit ratio of {scheme} over {BASE[scheme]}",
                ),
            )
            for scheme, own in gains.items()
            for op, best in zip(OPS, own, strict=True)
            if (scheme, op) != (FLRU, 15)
        ),
        *(
            Row(
                f"3 GB, OP {op} %: gain in the geometric mean of the hit ratios of {scheme} over "
                f"{base}",
                mean_gain(cells, 3, op, base, scheme),
                "points",
                PUBLISHED(
                    "5",
                    f"3 GB, OP {op} %: gain in the geometric mean of the hit ratios of {scheme} "
                    f"over {base}",
                )
                if scheme == FLRU
                else None,
            )
            for scheme, base in BASE.items()
            for op in OPS
        ),
    ]


def _erases(cells: Cells, measured: str, times: int) -> Figure:
    return Figure(
        id="6",
        title="Erases with suspected queues",
        section="figure 6",
        measured=measured,
        rows=_erase_rows(cells, times),
        plots=[
            _plot(
                "Number of erases",
                "Number of erases, summed over the loads, relative to LRU in the same cell.",
                "erases relative to LRU",
                SHOWN[:4],
                lambda gb, op, scheme: _share(cells, gb, op, scheme),
            ),
            *_by_load("Number of erases", "erases relative to LRU", SHOWN[:4], _normalised(cells)),
        ],
        claims=claims.erases(cells),
        explanation=[
            "For WebSearch2 at 3 GB and OP 15 %, the text gives fewer than 300,000 erases for LRU "
            "and more than 400,000 for ARC. If relocated pages share the host's active block, the "
            "fitted load causes more erases than the respective number with both policies; if "
            "they have their own active block, fewer. The latter counts are within the tolerance "
            "of both numbers (see Other readings).",
        ],
        data={"erases": _data(cells, lambda cell: float(cell.erases))},
    )


def _erase_rows(cells: Cells, times: int) -> list[Row]:
    second = Point("websearch2", 3, 15)
    full = {scheme: float(cells[second, scheme].erases * times) for scheme in PLAIN}
    return [
        *(
            Row(
                f"OP {op} %: reduction of erases by {scheme} relative to {base}, mean over loads "
                "and sizes",
                _mean(
                    known(
                        fewer(cells, Point(load, gb, op), base, scheme)
                        for load in TABLE
                        for gb in GB
                    )
                ),
                "%",
            )
            for scheme, base in BASE.items()
            for op in OPS
        ),
        *(
            Row(
                f"OP 15 %: reduction of erases by {scheme} relative to {BASE[scheme]}, mean over "
                "loads, at the size with the smallest",
                claims.least_saved(cells, scheme),
                "%",
                PUBLISHED(
                    "6",
                    f"OP 15 %: reduction of erases by {scheme} relative to {BASE[scheme]}, at "
                    "least",
                ),
            )
            for scheme in BASE
        ),
        *(
            Row(
                f"websearch2, {scheme}, 3 GB, OP 15 %: number of erases, multiplied by {times} "
                f"(published: {bound} bound)",
                count,
                "erases",
                PUBLISHED("6", f"websearch2, {scheme}, 3 GB, OP 15 %: number of erases"),
            )
            for (scheme, count), bound in zip(full.items(), ("upper", "lower"), strict=True)
        ),
        Row(
            "OP 35 %: reduction of erases by suspected queues, largest of all cells",
            claims.best_saved(cells),
            "%",
            PUBLISHED(
                "6", "OP 35 %: reduction of erases by suspected queues, largest of all cells"
            ),
        ),
    ]


def _migration(cells: Cells, measured: str) -> Figure:
    losses = {
        f"{migration.DROPPING[scheme]}, {gb} GB, OP {op} %": value
        for (gb, op, scheme), value in migration.losses(cells).items()
    }
    return Figure(
        id="8",
        title="Zero-migration",
        section="figure 8, table 4",
        measured=measured,
        rows=_migration_rows(cells, losses),
        plots=[
            _plot(
                "Number of erases",
                "Number of erases, summed over the loads, relative to LRU in the same cell.",
                "erases relative to LRU",
                ALL,
                lambda gb, op, scheme: _share(cells, gb, op, scheme),
            ),
            *_by_load("Number of erases", "erases relative to LRU", ALL, _normalised(cells)),
        ],
        claims=migration.migration(cells),
        explanation=[
            "Conditional zero-migration relocates the pages in the head halves of the queues, "
            "separately for T1 and T2, and drops the others.",
        ],
        data={
            "lost_points": losses,
            "erases": _data(cells, lambda cell: float(cell.erases)),
        },
    )


def _erase_reduction_rows(cells: Cells) -> list[Row]:
    best = {
        aware: max(
            known(
                fewer(cells, Point(load, gb, op), base, other)
                for load in TABLE
                for gb, op in CELLS
                for base, other in pairs(aware=aware, reclaim=ZM)
            )
        )
        for aware in (False, True)
    }
    return [
        Row(
            "reduction of erases by zero-migration, largest of all cells",
            best[False],
            "%",
            PUBLISHED("8", "reduction of erases by zero-migration, largest of all cells"),
        ),
        Row(
            "reduction of erases by suspected queues and zero-migration together, largest of all "
            "cells",
            best[True],
            "%",
            PUBLISHED(
                "8",
                "reduction of erases by suspected queues and zero-migration together, largest of "
                "all cells",
            ),
        ),
    ]


def _migration_rows(cells: Cells, losses: Mapping[str, float]) -> list[Row]:
    return [
        *_erase_reduction_rows(cells),
        Row(
            "change of the mean hit ratio by zero-migration, cell with the largest loss",
            min(losses.values()),
            "points",
            PUBLISHED(
                "table 4",
                "change of the mean hit ratio by zero-migration, cell with the largest loss",
            ),
        ),
        Row(
            "share of the cells of table 4 in which the mean hit ratio rises or falls by less "
            "than 2 percentage points",
            100 * sum(value > -2 for value in losses.values()) / len(losses),
            "%",
            PUBLISHED(
                "table 4",
                "share of cells in which zero-migration lowers the hit ratio by less than 2 "
                "percentage points",
            ),
        ),
        Row(
            "number of cells of table 4 in which the mean hit ratio rises by more than 2 "
            "percentage points",
            float(sum(value > 2 for value in losses.values())),
            "cells",
            PUBLISHED(
                "table 4",
                "number of cells in which zero-migration raises the hit ratio by more than 2 "
                "percentage points",
            ),
        ),
        Row(
            "number of pages relocated with zero-migration, largest of all cells",
            float(max(cell.moved for (_, one), cell in cells.items() if one.reclaim == ZM)),
            "pages",
            PUBLISHED("8", "number of pages relocated with zero-migration"),
        ),
        Row(
            "gain in the mean hit ratio of conditional zero-migration over zero-migration, "
            "largest of all cells",
            migration.kept_hits(cells),
            "points",
            PUBLISHED("8", "gain in hit ratio of conditional zero-migration over zero-migration"),
        ),
        *(
            Row(
                f"{name}: change of the mean hit ratio by zero-migration",
                value,
                "points",
                PUBLISHED("table 4", f"{name}: change of the mean hit ratio by zero-migration"),
            )
            for name, value in losses.items()
        ),
    ]


def _responses(cells: Cells, measured: str) -> Figure:
    return Figure(
        id="9-10",
        title="Response times",
        section="figures 9, 10",
        measured=measured,
        rows=_response_rows(cells),
        plots=[
            _plot(
                "Mean response time",
                "Geometric mean of the mean response times over the loads.",
                "µs",
                SHOWN,
                lambda gb, op, scheme: mean_us(cells, gb, op, scheme),
            ),
            _plot(
                "Standard deviation of response times",
                "Geometric mean of the standard deviations over the loads.",
                "µs",
                SHOWN,
                lambda gb, op, scheme: deviation_us(cells, gb, op, scheme),
            ),
        ],
        claims=responses.responses(cells),
        data={
            "mean_us": _data(cells, lambda cell: cell.mean_us),
            "deviation_us": _data(cells, lambda cell: cell.deviation_us),
        },
    )


def _single_response_rows(cells: Cells) -> list[Row]:
    """Returns the rows on suspected queues alone and on zero-migration alone."""
    there = [
        *pairs(aware=True, reclaim=MOVE),
        *pairs(aware=False, reclaim=ZM),
    ]
    return [
        *(
            Row(
                f"3 GB, OP 15 %: reduction of the mean response time by {other} relative to {base}",
                less(cells, 3, 15, base, other),
                "%",
                PUBLISHED("9", f"3 GB, OP 15 %: reduction of the mean response time by {other}"),
            )
            for base, other in there
        ),
        *(
            Row(
                f"6 GB, OP 35 %: reduction of the mean response time by {other} relative to {base}",
                less(cells, 6, 35, base, other),
                "%",
                PUBLISHED(
                    "9",
                    "more than 5 GB, OP 35 %: reduction of the mean response time by suspected "
                    "queues",
                ),
            )
            for base, other in pairs(aware=True, reclaim=MOVE)
        ),
        *(
            Row(
                f"6 GB, OP 35 %: increase of the mean response time by {other} relative to {base}",
                -less(cells, 6, 35, base, other),
                "%",
                PUBLISHED(
                    "9",
                    "more than 5 GB, OP 35 %: increase of the mean response time by zero-migration",
                ),
            )
            for base, other in pairs(aware=False, reclaim=ZM)
        ),
    ]


def _response_rows(cells: Cells) -> list[Row]:
    both = [
        less(cells, gb, op, base, other)
        for base, other in pairs(aware=True, reclaim=ZM)
        for gb, op in CELLS
    ]
    return [
        *_single_response_rows(cells),
        *(
            Row(
                "suspected queues and zero-migration together: reduction of the mean response "
                f"time relative to LRU or ARC, {what} of all cells",
                value,
                "%",
                PUBLISHED(
                    "9",
                    "reduction of the mean response time by suspected queues and zero-migration "
                    "together",
                ),
            )
            for what, value in (("smallest", min(both)), ("largest", max(both)))
        ),
        *(
            Row(
                f"{scheme}, {gb} GB, OP {op} %: mean response time",
                mean_us(cells, gb, op, scheme),
                "µs",
            )
            for scheme in SHOWN
            for gb, op in CELLS
        ),
    ]


def _plot(
    title: str,
    caption: str,
    unit: str,
    schemes: Sequence[Scheme],
    value: Callable[[int, int, Scheme], float],
) -> Plot:
    values = {
        f"{gb} GB, OP {op} %": {str(scheme): value(gb, op, scheme) for scheme in schemes}
        for gb, op in CELLS
    }
    drawn: Drawing = bars(values, COLOURS, unit)
    return Plot(title, caption, drawn)


def _by_load(
    title: str, unit: str, schemes: Sequence[Scheme], value: Callable[[Point, Scheme], float]
) -> list[Plot]:
    """Returns a plot of a value for each load."""
    return [
        _plot(
            f"{title}: {load}",
            "Only this load.",
            unit,
            schemes,
            lambda gb, op, scheme, load=load: value(Point(load, gb, op), scheme),
        )
        for load in TABLE
    ]


def _normalised(cells: Cells) -> Callable[[Point, Scheme], float]:
    """Returns a function that gives the erases of a scheme, relative to LRU in the same cell. If
    LRU has none, it gives the number of erases."""

    def value(point: Point, scheme: Scheme) -> float:
        return cells[point, scheme].erases / max(1, cells[point, PLAIN[0]].erases)

    return value


def _share(cells: Cells, gb: int, op: int, scheme: Scheme) -> float:
    def erased(one: Scheme) -> int:
        return sum(cells[Point(load, gb, op), one].erases for load in TABLE)

    return erased(scheme) / max(1, erased(PLAIN[0]))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else nan


def _data(cells: Cells, value: Callable[[Cell], float]) -> dict[str, Mapping[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for (point, scheme), cell in cells.items():
        place = f"{point.load}, {point.gb} GB, OP {point.op} %"
        found.setdefault(place, {})[str(scheme)] = value(cell)
    return dict(found)
