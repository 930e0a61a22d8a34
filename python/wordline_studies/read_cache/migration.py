"""Claims of the document on zero-migration and its conditional variant (figure 8, table 4,
section 3.3)."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from wordline_studies.figure import Claim
from wordline_studies.outcome import IN_POINTS
from wordline_studies.read_cache.claims import CELLS, POINTS, count, every_one, number, rises
from wordline_studies.read_cache.loads import TABLE
from wordline_studies.read_cache.runs import (
    GB,
    OPS,
    Cells,
    Point,
    collecting_us,
    fewer,
    known,
    less,
    mean_gain,
)
from wordline_studies.read_cache.schemes import ARC, BASE, CZM, LRU, PLAIN, ZM, Scheme

DROPPING = {scheme: Scheme(scheme.policy, scheme.aware, reclaim=ZM) for scheme in (*PLAIN, *BASE)}
"""Schemes that relocate, and the same ones with zero-migration."""
KEEPING = {
    dropping: Scheme(dropping.policy, dropping.aware, reclaim=CZM) for dropping in DROPPING.values()
}
"""Schemes with zero-migration, and the same ones with its conditional variant."""

# Reasons why claims do not hold in this model. The figure Reasons tests each of them with numbers.
FEW_VALID = (
    "the share of erases that zero-migration saves is the share of valid pages in a victim block; "
    "with LRU at 25 % over-provisioning, that is less than suspected queues save, because pages "
    "are evicted nearly in the order in which they were programmed (see Reasons)"
)
HOTTER = (
    "zero-migration drops pages that are hotter than those at the tail of the queue; on a load "
    "with equally hot pages, it loses no hits (see Reasons), and on the trace w106, it gains hits "
    "(see Recorded traces)"
)
MOVES = (
    "relocating the hot half costs less in a larger cache, which has fewer GC runs, while the "
    "hits on the retained pages save as much time as in a small cache; at 5 and 6 GB, they save "
    "more time than the relocations cost (see Reasons)"
)


def migration(cells: Cells) -> list[Claim]:
    """Returns the claims on figure 8 and table 4, section 3.4, and on the conditional variant."""
    return [*_fewer_erases(cells), *_by_op(cells), *_lost_hits(cells), *_conditional(cells)]


def losses(cells: Cells) -> dict[tuple[int, int, Scheme], float]:
    """Returns the changes of the geometric mean hit ratio by zero-migration, by flash size,
    over-provisioning and scheme (table 4). Percentage points."""
    return {
        (gb, op, scheme): mean_gain(cells, gb, op, scheme, dropping)
        for scheme, dropping in DROPPING.items()
        for gb, op in CELLS
    }


def kept_hits(cells: Cells) -> float:
    """Returns the largest gain of the geometric mean hit ratio from zero-migration to its
    conditional variant. Percentage points."""
    return max(
        mean_gain(cells, gb, op, dropping, keeping)
        for dropping, keeping in KEEPING.items()
        for gb, op in CELLS
    )


def mean_saved(cells: Cells, op: int, base: Scheme, other: Scheme) -> float:
    """Returns the share of erases saved, averaged over the loads and sizes. Per cent."""
    return fmean(
        known(fewer(cells, Point(load, gb, op), base, other) for load in TABLE for gb in GB)
    )


def _fewer_erases(cells: Cells) -> list[Claim]:
    """Returns the claims on erases and the time of GC with zero-migration."""
    erasing = [
        (cells[point, scheme], cells[point, dropping])
        for point in POINTS
        for scheme, dropping in DROPPING.items()
        if cells[point, scheme].erases
    ]
    saved = [after.erases < before.erases for before, after in erasing]
    cheaper = [
        collecting_us(after) * before.erases < collecting_us(before) * after.erases
        or not after.erases
        for before, after in erasing
    ]
    return [
        Claim(
            "Z1: zero-migration saves erases in every cell in which the same policy without it "
            "erases",
            every_one(saved),
            count(saved),
            quick=False,
            ids=("X3-008",),
        ),
        Claim(
            "Z1: with zero-migration, there are fewer GC runs, and each takes less time, in every "
            "cell",
            every_one(saved) and every_one(cheaper),
            f"fewer runs {count(saved)}, shorter runs {count(cheaper)}",
            quick=False,
            ids=("X3-024",),
        ),
    ]


def _by_op(cells: Cells) -> list[Claim]:
    """Returns the claims on the erases that zero-migration and suspected queues save at different
    over-provisioning."""
    zm = {
        scheme: [mean_saved(cells, op, scheme, dropping) for op in OPS]
        for scheme, dropping in DROPPING.items()
    }
    fa = {
        base: [mean_saved(cells, op, base, scheme) for op in OPS] for scheme, base in BASE.items()
    }
    both = {
        base: [mean_saved(cells, op, base, DROPPING[scheme]) for op in OPS]
        for scheme, base in BASE.items()
    }
    return [
        Claim(
            "Z3: zero-migration saves fewer erases at higher over-provisioning, with and without "
            "suspected queues",
            all(rises(values[::-1]) for values in zm.values()),
            "; ".join(f"{scheme}: {number(values, 0)} %" for scheme, values in zm.items()),
            ids=("X3-011",),
        ),
        Claim(
            "Z3: suspected queues save more erases at higher over-provisioning",
            all(rises(values) for values in fa.values()),
            "; ".join(f"{base}: {number(values, 0)} %" for base, values in fa.items()),
            ids=("X3-012",),
        ),
        *_or_suspected(zm, fa, both),
        Claim(
            "Z5: zero-migration saves more erases with ARC and FARC than with LRU and FLRU",
            all(
                one < two
                for aware in (False, True)
                for one, two in zip(zm[Scheme(LRU, aware)], zm[Scheme(ARC, aware)], strict=True)
            ),
            "as for the first claim of Z3",
            ids=("X3-016",),
        ),
    ]


Shares = Mapping[Scheme, Sequence[float]]
"""Shares of erases saved, by scheme and over-provisioning. Per cent."""


def _or_suspected(zm: Shares, fa: Shares, both: Shares) -> list[Claim]:
    """Returns the claims that compare zero-migration with suspected queues."""
    lru, arc = PLAIN
    saved = "; ".join(
        f"{base}: {number(zm[base], 0)} and {number(fa[base], 0)} %" for base in PLAIN
    )
    return [
        Claim(
            "Z4: zero-migration saves more erases than suspected queues with LRU and ARC at 15 % "
            "over-provisioning, and with ARC at 25 %",
            all(zm[base][0] > fa[base][0] for base in PLAIN) and zm[arc][1] > fa[arc][1],
            saved,
            ids=("X3-013",),
        ),
        Claim(
            "Z4: with LRU at 25 % over-provisioning, zero-migration saves more erases than "
            "suspected queues",
            zm[lru][1] > fa[lru][1],
            saved,
            FEW_VALID,
            ids=("X3-013",),
        ),
        Claim(
            "Z4: at 35 % over-provisioning, suspected queues save more erases than zero-migration",
            all(zm[base][2] < fa[base][2] for base in PLAIN),
            saved,
            ids=("X3-014",),
        ),
        Claim(
            "Z4: suspected queues and zero-migration together save more erases than either alone "
            "at every over-provisioning",
            all(
                both[base][at] > max(zm[base][at], fa[base][at])
                for base in PLAIN
                for at in range(len(OPS))
            ),
            "; ".join(f"{base}: {number(values, 0)} %" for base, values in both.items()),
            ids=("X3-015",),
        ),
    ]


def _lost_hits(cells: Cells) -> list[Claim]:
    """Returns the claims on hits lost by zero-migration."""
    lost = losses(cells)
    slower = [
        -less(cells, gb, op, scheme, dropping)
        for scheme, dropping in DROPPING.items()
        for gb, op in CELLS
    ]
    return [
        Claim(
            f"T4: zero-migration changes hit ratios negligibly (by at most {IN_POINTS:g} "
            "percentage points in any cell of table 4; geometric means over the loads)",
            max(map(abs, lost.values())) <= IN_POINTS,
            f"{min(lost.values()):+.1f} to {max(lost.values()):+.1f} points",
            ids=("X3-019",),
        ),
        Claim(
            "T4: with ARC, zero-migration raises the hit ratio by more than 2 percentage points "
            "in at least one cell",
            max(value for (*_, scheme), value in lost.items() if scheme.policy == ARC) > 2,
            f"largest change with any policy: {max(lost.values()):+.1f} points",
            HOTTER,
        ),
        Claim(
            "T4: zero-migration lowers hit ratios, but lengthens the mean response time in no "
            "cell by more than 2 %, which the text calls negligible",
            min(lost.values()) < 0 and max(slower) <= 2,
            f"hit ratios: {min(lost.values()):+.1f} to {max(lost.values()):+.1f} points; mean "
            f"response times: {min(slower):+.1f} to {max(slower):+.1f} %",
            ids=("X3-004",),
        ),
    ]


def _conditional(cells: Cells) -> list[Claim]:
    """Returns the claims that compare conditional zero-migration with zero-migration."""
    slower = [
        less(cells, gb, op, dropping, keeping) < 0
        for dropping, keeping in KEEPING.items()
        for gb, op in CELLS
    ]
    worn = [
        cells[point, keeping].erases > cells[point, dropping].erases
        for point in POINTS
        for dropping, keeping in KEEPING.items()
        if cells[point, dropping].erases
    ]
    return [
        Claim(
            "C2: conditional zero-migration has a longer mean response time than zero-migration "
            "in every cell",
            every_one(slower),
            count(slower),
            MOVES,
            ids=("X3-006",),
        ),
        Claim(
            "C2: conditional zero-migration saves fewer erases than zero-migration in every cell",
            every_one(worn),
            count(worn),
            quick=False,
            ids=("X3-007",),
        ),
    ]
