"""Claims of the document on hit ratios and erases with suspected queues (figures 4 to 6)."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean

from wordline_studies.figure import Claim
from wordline_studies.outcome import IN_POINTS, PER_CENT, is_reproduced
from wordline_studies.read_cache.loads import TABLE, WEB
from wordline_studies.read_cache.runs import (
    GB,
    OPS,
    PUBLISHED,
    Cells,
    Point,
    fewer,
    gain,
    geometric_hit,
    known,
    less,
    mean_gain,
    valid_percent,
)
from wordline_studies.read_cache.schemes import BASE, FARC, FLRU, PLAIN, Scheme

POINTS = tuple(Point(load, gb, op) for load in TABLE for gb in GB for op in OPS)
CELLS = tuple((gb, op) for gb in GB for op in OPS)
STEPS = tuple(pairwise(OPS))

# Reasons why claims do not hold in this model. The figure Reasons tests each of them with numbers.
SLOPE = (
    "a gain in hit ratio equals the rise of the load's own hit-ratio curve over the pages that "
    "can be suspected; gains of 28 percentage points with LRU and 21 with ARC at 35 % "
    "over-provisioning need curves that rise by 31 and 23 percentage points per GB, and the "
    "steepest curves of the fitted loads rise by less (see Reasons)"
)
SHALLOW = (
    "a gain in hit ratio follows the load's own hit-ratio curve, and ARC's curve rises more over "
    "the pages that can be suspected at 4 GB than at 3 GB (see Reasons)"
)
MEET = (
    "from 5 GB on, LRU's hit-ratio curve on the fitted loads is less than 1 percentage point "
    "below ARC's (see Reasons)"
)
QUEUES = (
    "at 35 % over-provisioning, up to 30 % of all pages can be suspected, and the other queues "
    "hold 65 %"
)
FEWER_MOVES = (
    "FLRU fetches the published share of pages less at 3 GB, and GC relocates a fifth less; each "
    "page that is not relocated saves room, and so erases (see Reasons)"
)
FEW_HITS = (
    "FARC's hit ratio is 3 to 4 percentage points above ARC's at 3 GB; with the published best "
    "gain of 8, fewer misses would save the missing erases (see Reasons)"
)
WHOLE = (
    "in the best cells the flash holds nearly all pages of the load (WebSearch1 at 5 GB, "
    "WebSearch2 and 3 at 6 GB), so hardly any page is programmed more than once; the text does "
    "not give the number of distinct pages (see Reasons)"
)
MISSES = (
    "at 4 to 6 GB, misses grow faster with over-provisioning than the programs per miss fall; on "
    "WebSearch2 at 6 GB, LRU's misses nearly double from 15 to 35 % over-provisioning (see "
    "Reasons)"
)
LESS_MISSED = (
    "the cells in which ARC erases less have more than 3 GB; ARC misses fewer pages there, which "
    "saves more erases than the valid pages of its victims cost (see Reasons); why FARC erases up "
    "to 10 % less than FLRU in some cells is not known"
)


def number(values: Iterable[float], digits: int = 1) -> str:
    """Formats values, with slashes between them."""
    return " / ".join(f"{value:.{digits}f}" for value in values)


def count(found: Sequence[bool]) -> str:
    """Formats in how many cells a relation holds."""
    return f"in {sum(found)} of {len(found)} cells"


def every_one(found: Sequence[bool]) -> bool:
    """Returns `True` if there are cells and a relation holds in all of them."""
    return bool(found) and all(found)


def rises(values: Sequence[float]) -> bool:
    """Returns `True` if each value exceeds the one before."""
    return all(low < high for low, high in pairwise(values))


def published(figure: str, what: str) -> float:
    """Returns a published number that is not a range."""
    value = PUBLISHED(figure, what).value
    assert isinstance(value, float)
    return value


def published_gain(scheme: Scheme, op: int) -> float:
    """Returns the published largest gain in hit ratio at 3 GB. Percentage points."""
    return published(
        "4", f"3 GB, OP {op} %: largest gain in hit ratio of {scheme} over {BASE[scheme]}"
    )


def best_gain(cells: Cells, scheme: Scheme, op: int) -> float:
    """Returns the largest gain in hit ratio at 3 GB, over the loads. Percentage points."""
    return max(gain(cells, Point(load, 3, op), BASE[scheme], scheme) for load in TABLE)


def hits(cells: Cells) -> list[Claim]:
    """Returns the claims on figures 4 and 5, sections 2.3.4, 2.5.1 and 2.5.2."""
    return [
        *_gains(cells),
        *_gains_by_size(cells),
        *_gains_of_lru(cells),
        *_hits_of_web(cells),
        *_hits_by_op(cells),
        _queues(cells),
    ]


def _gains(cells: Cells) -> list[Claim]:
    """Returns the claims on the gain of suspected queues."""
    more = [
        gain(cells, point, base, scheme) > 0
        for scheme, base in BASE.items()
        for point in POINTS
        if cells[point, base].evicted
    ]
    by_op = {
        (scheme, gb): [mean_gain(cells, gb, op, base, scheme) for op in OPS]
        for scheme, base in BASE.items()
        for gb in GB
    }
    gains = "; ".join(f"{scheme}, {gb} GB: {number(by_op[scheme, gb])}" for scheme, gb in by_op)
    return [
        Claim(
            "H1: suspected queues raise the hit ratios of LRU and ARC in every cell in which a "
            "page is evicted",
            every_one(more),
            count(more),
            ids=("X2-011",),
        ),
        *(
            Claim(
                f"{name}: {scheme} raises the hit ratio of {BASE[scheme]} by up to {most:g} "
                "percentage "
                f"points at 35 % over-provisioning and 3 GB (within {IN_POINTS:g} percentage "
                "points)",
                is_reproduced(best_gain(cells, scheme, 35), most, "points"),
                f"{best_gain(cells, scheme, 35):.1f} points",
                SLOPE,
            )
            for name, scheme in (("H1", FLRU), ("H2", FARC))
            for most in (published_gain(scheme, 35),)
        ),
        Claim(
            "H3: the gains in hit ratio of FLRU over LRU and of FARC over ARC grow with "
            "over-provisioning at every size (geometric means over the loads)",
            all(rises(values) for values in by_op.values()),
            gains,
            ids=("X2-018",),
        ),
        Claim(
            "H3: FARC's gain in hit ratio over ARC at 3 GB grows with over-provisioning, as does "
            "FLRU's over LRU",
            rises(by_op[FARC, 3]) and rises(by_op[FLRU, 3]),
            f"FARC: {number(by_op[FARC, 3])}; FLRU: {number(by_op[FLRU, 3])} points",
            ids=("X2-022",),
        ),
    ]


def _gains_by_size(cells: Cells) -> list[Claim]:
    """Returns the claims on the gain of suspected queues by the size of the flash."""
    by_size = {
        (scheme, op): [mean_gain(cells, gb, op, base, scheme) for gb in GB]
        for scheme, base in BASE.items()
        for op in OPS
    }
    gains = {
        scheme: "; ".join(f"{op} %: {number(by_size[scheme, op])}" for op in OPS) for scheme in BASE
    }
    large = [
        gain(cells, Point(load, 6, 15), base, scheme)
        for scheme, base in BASE.items()
        for load in TABLE
    ]
    return [
        Claim(
            "H5: at 6 GB and 15 % over-provisioning, the hit ratios of FLRU and FARC are little "
            f"higher than those of LRU and ARC (by at most {IN_POINTS:g} percentage points on any "
            "load)",
            max(large) <= IN_POINTS,
            number(large),
            ids=("X2-024",),
        ),
        Claim(
            "H5: FLRU's gain in hit ratio over LRU falls with every GB of flash from 3 to 6 GB",
            all(rises(by_size[FLRU, op][::-1]) for op in OPS),
            gains[FLRU],
            quick=False,
            ids=("X2-025",),
        ),
        Claim(
            "H5: FARC's gain in hit ratio over ARC falls with every GB of flash from 3 to 6 GB",
            all(rises(by_size[FARC, op][::-1]) for op in OPS),
            gains[FARC],
            SHALLOW,
            ids=("X2-025",),
        ),
    ]


def _gains_of_lru(cells: Cells) -> list[Claim]:
    """Returns the claims that compare gains of LRU in hit ratio with those of ARC."""
    more = [
        mean_gain(cells, gb, op, BASE[FLRU], FLRU) > mean_gain(cells, gb, op, BASE[FARC], FARC)
        for gb, op in CELLS
    ]
    grown = [
        [geometric_hit(cells, gb, 15, base) - geometric_hit(cells, 3, 15, base) for gb in GB[1:]]
        for base in PLAIN
    ]
    return [
        Claim(
            "H4: suspected queues raise the hit ratio of LRU more than that of ARC at every size "
            "and over-provisioning (geometric means over the loads)",
            every_one(more),
            count(more),
            ids=("X2-028",),
        ),
        Claim(
            "H4: at 15 % over-provisioning, LRU's hit ratio rises more than ARC's from 3 GB to "
            "each larger size (geometric means over the loads)",
            all(lru > arc for lru, arc in zip(*grown, strict=True)),
            " against ".join(number(one) for one in grown),
            ids=("X2-029",),
        ),
    ]


def _hits_of_web(cells: Cells) -> list[Claim]:
    """Returns the claims on LRU and ARC under WebSearch, and on FLRU as a substitute for ARC."""
    web = [point for point in POINTS if point.load in WEB]
    above = [gain(cells, point, *PLAIN) for point in web]
    between = [gain(cells, point, FARC, FLRU) for point in web]
    instead = [gain(cells, point, PLAIN[1], FLRU) for point in POINTS]
    slower = [-less(cells, gb, op, PLAIN[1], FLRU) for gb, op in CELLS]
    return [
        Claim(
            "H6: under WebSearch, ARC's hit ratio is well above LRU's (by more than "
            f"{IN_POINTS:g} percentage points in every cell)",
            min(above) > IN_POINTS,
            f"ARC minus LRU: {min(above):+.1f} to {max(above):+.1f} points",
            MEET,
            ids=("X2-026",),
        ),
        Claim(
            "H7: under WebSearch, FLRU's hit ratio is similar to FARC's or higher in every cell "
            f"(within {IN_POINTS:g} percentage points)",
            min(between) >= -IN_POINTS,
            f"FLRU minus FARC: {min(between):+.1f} to {max(between):+.1f} points",
            ids=("X2-027",),
        ),
        Claim(
            "H7: LRU with suspected queues performs similarly to plain ARC or better in every "
            f"cell (hit ratio within {IN_POINTS:g} percentage points, mean response time within "
            f"{PER_CENT:g} %)",
            min(instead) >= -IN_POINTS and max(slower) <= PER_CENT,
            f"hit ratio: {min(instead):+.1f} to {max(instead):+.1f} points; mean response time: "
            f"{min(slower):+.1f} to {max(slower):+.1f} %",
            ids=("X2-031",),
        ),
    ]


def _hits_by_op(cells: Cells) -> list[Claim]:
    """Returns the claims on the effect of over-provisioning on hit ratios."""
    plain = [
        cells[Point(load, gb, high), base].hit < cells[Point(load, gb, low), base].hit
        for base in PLAIN
        for load in TABLE
        for gb in GB
        for low, high in STEPS
    ]
    aware = [
        geometric_hit(cells, gb, 35, scheme) - geometric_hit(cells, gb, 15, scheme)
        for scheme in BASE
        for gb in GB
    ]
    return [
        Claim(
            "H8: misses of LRU and ARC grow with every step of over-provisioning in every cell",
            every_one(plain),
            f"in {sum(plain)} of {len(plain)} steps",
            ids=("X2-023",),
        ),
        Claim(
            "H8: the hit ratios of FLRU and FARC fall a little from 15 to 35 % over-provisioning "
            f"at every size (by at most {IN_POINTS:g} percentage points; geometric means over the "
            "loads)",
            all(-IN_POINTS <= one < 0 for one in aware),
            number(aware),
            ids=("X2-039",),
        ),
    ]


def _queues(cells: Cells) -> Claim:
    """Returns the claim on the length of FARC's suspected queues, section 2.3.4."""
    share = {
        op: max(
            cell.suspected / max(1, cell.resident)
            for load in TABLE
            for gb in GB
            for cell in (cells[Point(load, gb, op), FARC],)
        )
        for op in OPS
    }
    return Claim(
        "FARC's suspected queues are much shorter than its other queues (they hold at most a "
        "tenth as many pages in every cell)",
        max(share.values()) <= 0.1,
        "; ".join(
            f"up to {100 * value:.0f} % of the other queues at OP {op} %"
            for op, value in share.items()
        ),
        QUEUES,
        ids=("X2-006",),
    )


def erases(cells: Cells) -> list[Claim]:
    """Returns the claims on figure 6, section 2.5.2."""
    return [*_fewer_erases(cells), *_erases_by_op(cells), *_erases_of_arc(cells)]


def least_saved(cells: Cells, scheme: Scheme) -> float:
    """Returns the share of erases that suspected queues save at 15 % over-provisioning, averaged
    over the loads, at the size at which they save least. Per cent."""
    return min(_saved(cells, gb, 15, scheme) for gb in GB)


def _saved(cells: Cells, gb: int, op: int, scheme: Scheme) -> float:
    return fmean(known(fewer(cells, Point(load, gb, op), BASE[scheme], scheme) for load in TABLE))


def best_saved(cells: Cells) -> float:
    """Returns the largest share of erases that suspected queues save in a cell at 35 %
    over-provisioning. Per cent."""
    return max(
        known(
            fewer(cells, point, base, scheme)
            for point in POINTS
            if point.op == 35
            for scheme, base in BASE.items()
        )
    )


def _fewer_erases(cells: Cells) -> list[Claim]:
    """Returns the claims on erases saved by suspected queues."""
    saved = [
        cells[point, scheme].erases < cells[point, base].erases
        for point in POINTS
        for scheme, base in BASE.items()
        if cells[point, base].erases
    ]
    flru, farc, best = (
        published("6", "OP 15 %: reduction of erases by FLRU relative to LRU, at least"),
        published("6", "OP 15 %: reduction of erases by FARC relative to ARC, at least"),
        published("6", "OP 35 %: reduction of erases by suspected queues, largest of all cells"),
    )
    gains = [
        (
            _saved(cells, gb, op, scheme),
            fmean(gain(cells, Point(load, gb, op), base, scheme) for load in TABLE),
        )
        for scheme, base in BASE.items()
        for gb, op in CELLS
    ]
    return [
        Claim(
            "E1: suspected queues save erases in every cell in which LRU or ARC erases",
            every_one(saved),
            count(saved),
            quick=False,
            ids=("X2-032",),
        ),
        Claim(
            f"E1: at 15 % over-provisioning, FLRU saves {flru:g} % of the erases at the size at "
            f"which it saves least, averaged over the loads (within {IN_POINTS:g} percentage "
            "points)",
            is_reproduced(least_saved(cells, FLRU), flru, "%"),
            f"{least_saved(cells, FLRU):.1f} %",
            FEWER_MOVES,
            quick=False,
        ),
        Claim(
            f"E1: at 15 % over-provisioning, FARC saves at least {farc:g} % of the erases at "
            f"every size, averaged over the loads (within {IN_POINTS:g} percentage points)",
            is_reproduced(least_saved(cells, FARC), farc, "%"),
            f"{least_saved(cells, FARC):.1f} %",
            FEW_HITS,
        ),
        Claim(
            f"E2: at 35 % over-provisioning, suspected queues save up to {best:g} % of the erases "
            f"(within {IN_POINTS:g} percentage points)",
            is_reproduced(best_saved(cells), best, "%"),
            f"{best_saved(cells):.1f} %",
            WHOLE,
        ),
        Claim(
            "E3: at every size and over-provisioning, suspected queues reduce erases, in per "
            "cent, by more than they raise hit ratios, in percentage points (means over the loads)",
            all(one > two for one, two in gains),
            ", ".join(f"{one:.0f} % of the erases for {two:.1f} points" for one, two in gains),
            ids=("X2-036",),
        ),
    ]


def _erases_by_op(cells: Cells) -> list[Claim]:
    """Returns the claims on erases at different over-provisioning."""
    falling = {
        scheme: [
            cells[Point(load, gb, high), scheme].erases < cells[Point(load, gb, low), scheme].erases
            for load in TABLE
            for gb in GB
            for low, high in STEPS
            if cells[Point(load, gb, low), scheme].erases
        ]
        for scheme in (*PLAIN, *BASE)
    }
    counts = {
        scheme: f"{scheme} in {sum(one)} of {len(one)} steps" for scheme, one in falling.items()
    }
    return [
        Claim(
            "E4: erases of FLRU and FARC fall with every step of over-provisioning, in spite of "
            "more misses",
            all(every_one(falling[scheme]) for scheme in BASE),
            ", ".join(counts[scheme] for scheme in BASE),
            quick=False,
            ids=("X2-037", "X2-040"),
        ),
        Claim(
            "E4: erases of LRU and ARC fall with every step of over-provisioning, in spite of "
            "more misses",
            all(every_one(falling[scheme]) for scheme in PLAIN),
            ", ".join(counts[scheme] for scheme in PLAIN),
            MISSES,
            ids=("X2-037", "X2-040"),
        ),
    ]


def _erases_of_arc(cells: Cells) -> list[Claim]:
    """Returns the claims on the erases and the victims of ARC compared with LRU."""
    more = [
        cells[point, arc].erases > cells[point, lru].erases
        for lru, arc in (PLAIN, (FLRU, FARC))
        for point in POINTS
        if cells[point, lru].erases
    ]
    valid = [
        [
            fmean(
                valid_percent(cells[point, base])
                for point in (Point(load, gb, op) for load in TABLE)
                if cells[point, base].erases
            )
            for base in PLAIN
        ]
        for gb, op in CELLS
    ]
    fuller = [lru < arc for lru, arc in valid]
    return [
        Claim(
            "E5: ARC erases more than LRU, and FARC more than FLRU, in every cell",
            every_one(more),
            count(more),
            LESS_MISSED,
            ids=("X2-041",),
        ),
        Claim(
            "E5: victim blocks hold more valid pages with ARC than with LRU in every cell (means "
            "over the loads)",
            every_one(fuller),
            count(fuller),
            quick=False,
            ids=("X2-046",),
        ),
    ]
