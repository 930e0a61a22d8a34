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
    "checked before every replacement, and an entry leaves its suspected queue before another "
    "is evicted. Capacities count all physical pages, of which 5 % stay free. "
    "Over-provisioning reduces the queue. Hit ratios count pages of 4 KiB.",
    "Entries that zero-migration drops leave ghost entries in ARC's lists, and relocated pages "
    "go to the host's active block. The text states neither; the table of readings shows the "
    "alternatives.",
    "One request is outstanding at a time. A request takes 25 µs per page read from flash, 5 "
    "ms if any page misses, 200 µs per page that is then programmed, and the time of the GC "
    "runs that these programs cause. Pages that hit are read during the disk access. No other "
    "reading gives the published savings.",
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
        f"document's ({parts}). Blocks of 64 pages, one plane, greedy GC."
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
                "Geometric mean over the loads.",
                "%",
                SHOWN[:4],
                lambda gb, op, scheme: geometric_hit(cells, gb, op, scheme),
            ),
            Plot(
                "Gain over 3 GB",
                "Geometric mean of the hit ratios at 15 % over-provisioning, less its value at "
                "3 GB (figure 5b).",
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
                PUBLISHED("4", f"websearch2, {scheme}, 3 GB, OP 15 %"),
            )
            for scheme in PLAIN
        ),
        *(
            Row(
                f"FLRU: gain in hit ratio at 3 GB, OP 15 %, {load}",
                gain(cells, Point(load, 3, 15), BASE[FLRU], FLRU),
                "points",
                PUBLISHED("4", "FLRU, OP 15 %"),
            )
            for load in ("websearch1", "websearch2")
        ),
        *(
            Row(
                f"{scheme}: best gain in hit ratio at 3 GB, OP {op} %",
                best,
                "points",
                PUBLISHED("4", f"{scheme}, OP {op} %"),
            )
            for scheme, own in gains.items()
            for op, best in zip(OPS, own, strict=True)
            if (scheme, op) != (FLRU, 15)
        ),
        *(
            Row(
                f"{scheme}: gain in the geometric mean of the hit ratios at 3 GB, OP {op} %",
                mean_gain(cells, 3, op, base, scheme),
                "points",
                PUBLISHED("5", f"{scheme}, OP {op} %") if scheme == FLRU else None,
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
                "Erases",
                "Sum over the loads, relative to LRU in the same cell.",
                "relative to LRU",
                SHOWN[:4],
                lambda gb, op, scheme: _share(cells, gb, op, scheme),
            ),
            *_by_load("Erases", "relative to LRU", SHOWN[:4], _normalised(cells)),
        ],
        claims=claims.erases(cells),
        explanation=[
            "For WebSearch2 at 3 GB and OP 15 %, the text gives fewer than 300,000 erases for LRU "
            "and more than 400,000 for ARC. If relocated pages share the host's active block, "
            "the fitted load causes more erases than both bounds; if they have their own active "
            "block, fewer than both. The latter is within the tolerance of both numbers (see "
            "Readings).",
        ],
        data={"erases": _data(cells, lambda cell: float(cell.erases))},
    )


def _erase_rows(cells: Cells, times: int) -> list[Row]:
    second = Point("websearch2", 3, 15)
    full = {scheme: float(cells[second, scheme].erases * times) for scheme in PLAIN}
    return [
        *(
            Row(
                f"{scheme}: erases saved at OP {op} %, mean over loads and sizes",
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
                f"{scheme}: erases saved at OP 15 %, mean over loads, at the size with the least",
                claims.least_saved(cells, scheme),
                "%",
                PUBLISHED("6", f"{scheme}, OP 15 %"),
            )
            for scheme in BASE
        ),
        *(
            Row(
                f"websearch2, {scheme}, 3 GB, OP 15 %: erases times {times} (published: {bound})",
                count,
                "erases",
                PUBLISHED("6", f"websearch2, {scheme}, 3 GB, OP 15 %"),
            )
            for (scheme, count), bound in zip(full.items(), ("fewer", "more"), strict=True)
        ),
        Row(
            "erases saved at 35 % over-provisioning, best cell",
            claims.best_saved(cells),
            "%",
            PUBLISHED("6", "erases saved, best cell at 35 %"),
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
                "Erases",
                "Sum over the loads, relative to LRU in the same cell.",
                "relative to LRU",
                ALL,
                lambda gb, op, scheme: _share(cells, gb, op, scheme),
            ),
            *_by_load("Erases", "relative to LRU", ALL, _normalised(cells)),
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


def _migration_rows(cells: Cells, losses: Mapping[str, float]) -> list[Row]:
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
            "erases saved by zero-migration, best cell",
            best[False],
            "%",
            PUBLISHED("8", "erases saved by zero-migration, best cell"),
        ),
        Row(
            "erases saved by both designs, best cell",
            best[True],
            "%",
            PUBLISHED("8", "erases saved by both, best cell"),
        ),
        Row(
            "hit ratio lost by zero-migration, worst mean",
            min(losses.values()),
            "points",
            PUBLISHED("table 4", "largest loss of the mean hit ratio"),
        ),
        Row(
            "cells of table 4 that lose less than 2 points of hit ratio",
            100 * sum(value > -2 for value in losses.values()) / len(losses),
            "%",
            PUBLISHED("table 4", "cells with small losses"),
        ),
        Row(
            "cells of table 4 that gain over 2 points of hit ratio",
            float(sum(value > 2 for value in losses.values())),
            "cells",
            PUBLISHED("table 4", "cells with gains"),
        ),
        Row(
            "pages relocated with zero-migration, cell with the most",
            float(max(cell.moved for (_, one), cell in cells.items() if one.reclaim == ZM)),
            "pages",
            PUBLISHED("8", "pages relocated with zero-migration"),
        ),
        Row(
            "hit ratio gained by the conditional variant, best mean",
            migration.kept_hits(cells),
            "points",
            PUBLISHED("8", "hit ratio gained by the conditional variant"),
        ),
        *(
            Row(f"hit ratio, {name}", value, "points", PUBLISHED("table 4", name))
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
                "Geometric mean over the loads.",
                "µs",
                SHOWN,
                lambda gb, op, scheme: mean_us(cells, gb, op, scheme),
            ),
            _plot(
                "Standard deviation",
                "Geometric mean over the loads.",
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


def _response_rows(cells: Cells) -> list[Row]:
    there = [
        *pairs(aware=True, reclaim=MOVE),
        *pairs(aware=False, reclaim=ZM),
    ]
    both = [
        less(cells, gb, op, base, other)
        for base, other in pairs(aware=True, reclaim=ZM)
        for gb, op in CELLS
    ]
    return [
        *(
            Row(
                f"{other} over {base}, 3 GB, OP 15 %: time saved",
                less(cells, 3, 15, base, other),
                "%",
                PUBLISHED("9", f"{other}, 3 GB, OP 15 %"),
            )
            for base, other in there
        ),
        *(
            Row(
                f"{other} over {base}, 6 GB, OP 35 %: time saved",
                less(cells, 6, 35, base, other),
                "%",
                PUBLISHED("9", "suspected queues, 35 %"),
            )
            for base, other in pairs(aware=True, reclaim=MOVE)
        ),
        *(
            Row(
                f"{other} over {base}, 6 GB, OP 35 %: time added",
                -less(cells, 6, 35, base, other),
                "%",
                PUBLISHED("9", "zero-migration, 35 %"),
            )
            for base, other in pairs(aware=False, reclaim=ZM)
        ),
        *(
            Row(
                f"both designs over LRU or ARC: time saved, {what} cell",
                value,
                "%",
                PUBLISHED("9", "time saved by both"),
            )
            for what, value in (("worst", min(both)), ("best", max(both)))
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
            "This load only.",
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
