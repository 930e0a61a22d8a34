"""Claims of the document on response times and their standard deviation (figures 9 and 10), and
claims of its abstract."""

from wordline_studies.figure import Claim
from wordline_studies.outcome import IN_POINTS, is_reproduced
from wordline_studies.read_cache.claims import (
    CELLS,
    POINTS,
    count,
    every_one,
    number,
    published,
    rises,
)
from wordline_studies.read_cache.migration import DROPPING, mean_saved
from wordline_studies.read_cache.runs import GB, OPS, Cells, deviation_us, fewer, gain, known, less
from wordline_studies.read_cache.schemes import BASE, FARC, PLAIN

# Reasons why claims do not hold in this model. The figure Reasons tests each of them with numbers.
ARC_GAIN = (
    "a percentage point of hit ratio shortens the response time equally with FARC and FLRU; a "
    "reduction by 14 % would need a gain of 8 percentage points, and FARC has half of that gain "
    "(see Reasons)"
)
CEILING = (
    "GC takes less than 25 % of ARC's response time at 3 GB and OP 15 %, averaged over the loads, "
    "so zero-migration cannot save more; part of that saving is lost with the hits (see Reasons); "
    "if requests wait for each other's GC, zero-migration saves the published 30 % with ARC, but "
    "then more than the published 14 % with LRU (see Other readings)"
)
LARGE = (
    "in the cells where zero-migration lengthens the response time (section 3.4.2 reports such "
    "cells, too), the hits that it loses cost more time than the GC that it avoids (see Reasons)"
)
SPREAD = (
    "a mixture of response times of about 0 and 5 ms has the largest standard deviation if half "
    "of the requests miss; at 3 GB, the hits that suspected queues add bring the share of "
    "requests that miss closer to that half (see Reasons); at 4 GB and OP 35 %, where FLRU's "
    "standard deviation is less than 1 % above LRU's, the cause is not known"
)
LITTLE_GC = (
    "zero-migration lowers the standard deviation of response times by removing GC; in the cells "
    "where suspected queues lower it more, at 5 and 6 GB, GC takes a small share of the response "
    "time (see Reasons)"
)


def responses(cells: Cells) -> list[Claim]:
    """Returns the claims on figures 9 and 10, and of the abstract."""
    return [*_better(cells), *_sooner(cells), *_where(cells), *_steadier(cells)]


def _better(cells: Cells) -> list[Claim]:
    """Returns the claims of the abstract and of section 4.6."""
    aware = [less(cells, gb, op, base, one) > 0 for one, base in BASE.items() for gb, op in CELLS]
    saved = known(fewer(cells, point, base, one) for one, base in BASE.items() for point in POINTS)
    dropped = known(
        fewer(cells, point, one, other) for one, other in DROPPING.items() for point in POINTS
    )
    slower = [
        -less(cells, gb, op, one, other) for one, other in DROPPING.items() for gb, op in CELLS
    ]
    lru, arc = PLAIN
    behind = [
        point
        for point in POINTS
        if gain(cells, point, lru, arc) > 0
        and cells[point, arc].mean_us > cells[point, lru].mean_us
    ]
    return [
        Claim(
            "Suspected queues shorten the mean response time, and save erases, in every cell",
            every_one(aware) and min(saved) > 0,
            f"shorter {count(aware)}; erases saved: {min(saved):.1f} to {max(saved):.1f} %",
            quick=False,
            ids=("X0-001",),
        ),
        Claim(
            "Zero-migration saves erases in every cell, and lengthens the mean response time in "
            "none",
            min(dropped) > 0 and max(slower) <= 0,
            f"erases saved: {min(dropped):.1f} to {max(dropped):.1f} %; mean response time: "
            f"{min(slower):+.1f} to {max(slower):+.1f} %",
            LARGE,
            ids=("X0-002",),
        ),
        Claim(
            "ARC can have a higher hit ratio than LRU and a longer mean response time",
            bool(behind),
            f"in {len(behind)} cells",
            ids=("X4-049",),
        ),
    ]


def _sooner(cells: Cells) -> list[Claim]:
    """Returns the claims on response times of figure 9 that are not reproduced."""
    farc, arc = (
        published("9", f"3 GB, OP 15 %: reduction of the mean response time by {name}")
        for name in ("FARC", "ARC-ZM")
    )
    aware, dropping = (less(cells, 3, 15, PLAIN[1], one) for one in (FARC, DROPPING[PLAIN[1]]))
    return [
        Claim(
            f"R1: at 3 GB and OP 15 %, FARC shortens the mean response time by {farc:g} % (within "
            f"{IN_POINTS:g} percentage points)",
            is_reproduced(aware, farc, "%"),
            f"{aware:.1f} %",
            ARC_GAIN,
        ),
        Claim(
            f"R2: at 3 GB and OP 15 %, zero-migration shortens the mean response time by {arc:g} "
            f"% with ARC (within {IN_POINTS:g} percentage points)",
            is_reproduced(dropping, arc, "%"),
            f"{dropping:.1f} %",
            CEILING,
        ),
    ]


def _where(cells: Cells) -> list[Claim]:
    """Returns the claims on the cells in which suspected queues and zero-migration save time."""
    fa = {base: {at: less(cells, *at, base, one) for at in CELLS} for one, base in BASE.items()}
    zm = {base: {at: less(cells, *at, base, DROPPING[base]) for at in CELLS} for base in PLAIN}
    worn = {
        base: [
            mean_saved(cells, op, base, DROPPING[base]) - mean_saved(cells, op, base, one)
            for op in (15, 35)
        ]
        for one, base in BASE.items()
    }
    least, most = (3, 15), (6, 35)
    return [
        Claim(
            "R3: suspected queues shorten the mean response time more at higher over-provisioning, "
            "at every size",
            all(rises([fa[base][gb, op] for op in OPS]) for base in PLAIN for gb in GB),
            "; ".join(
                f"{base}, {gb} GB: {number([fa[base][gb, op] for op in OPS])}"
                for base in PLAIN
                for gb in GB
            ),
            ids=("X3-025",),
        ),
        Claim(
            "R4: zero-migration shortens the mean response time most in the cell of the smallest "
            "size and over-provisioning",
            all(zm[base][least] > zm[base][at] for base in PLAIN for at in CELLS if at != least),
            "; ".join(
                f"{base}: {zm[base][least]:.1f} %, elsewhere at most "
                f"{max(value for at, value in zm[base].items() if at != least):.1f} %"
                for base in PLAIN
            ),
            ids=("X3-026",),
        ),
        Claim(
            "R4: at 3 GB and OP 15 %, zero-migration shortens the mean response time more than "
            "suspected queues, with LRU and ARC",
            all(zm[base][least] > fa[base][least] for base in PLAIN),
            "; ".join(
                f"{base}: {zm[base][least]:.1f} and {fa[base][least]:.1f} %" for base in PLAIN
            ),
            ids=("X3-033",),
        ),
        Claim(
            "R4: of suspected queues and zero-migration, the design that saves more response time "
            "at 3 GB and OP 15 % also saves more erases at OP 15 %; the same is true at 6 GB and "
            "OP 35 %",
            all(
                (zm[base][at] - fa[base][at]) * apart > 0
                for base in PLAIN
                for at, apart in zip((least, most), worn[base], strict=True)
            ),
            "; ".join(
                f"{base}, {gb} GB, OP {op} %: {zm[base][gb, op] - fa[base][gb, op]:+.1f} % of the "
                f"time, {apart:+.1f} % of the erases"
                for base in PLAIN
                for (gb, op), apart in zip((least, most), worn[base], strict=True)
            ),
            ids=("X3-034",),
        ),
    ]


def _steadier(cells: Cells) -> list[Claim]:
    """Returns the claims on the standard deviation of response times."""
    pairs = [(base, one, at) for one, base in BASE.items() for at in CELLS]
    plain = [deviation_us(cells, *at, base) for base, _, at in pairs]
    aware = [deviation_us(cells, *at, one) for _, one, at in pairs]
    dropping = [deviation_us(cells, *at, DROPPING[base]) for base, _, at in pairs]
    both = [deviation_us(cells, *at, DROPPING[one]) for _, one, at in pairs]

    def below(values: list[float], *others: list[float]) -> list[bool]:
        return [value < min(other) for value, *other in zip(values, *others, strict=True)]

    return [
        Claim(
            f"S1: {what} in every cell",
            every_one(found),
            count(found),
            because,
            ids=(one,),
        )
        for what, found, because, one in (
            (
                "suspected queues lower the standard deviation of response times",
                below(aware, plain),
                SPREAD,
                "X2-049",
            ),
            (
                "zero-migration lowers the standard deviation of response times",
                below(dropping, plain),
                "",
                "X3-037",
            ),
            (
                "zero-migration lowers the standard deviation of response times more than "
                "suspected queues",
                below(dropping, aware),
                LITTLE_GC,
                "X3-038",
            ),
            (
                "suspected queues and zero-migration together lower the standard deviation of "
                "response times more than either alone",
                below(both, aware, dropping),
                SPREAD,
                "X3-039",
            ),
        )
    ]
