"""Claims of the document about figures 3, 6 to 8 and 10 to 12.

Values that are almost equal or hardly change differ by at most `IN_POINTS` per cent or percentage
points. A cost that soars, and the response time of a cache that fills `INITIAL_PERCENT` of the
flash, rise by more than `PER_CENT`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from wordline_studies.figure import Claim, not_quick
from wordline_studies.op_fcl import model
from wordline_studies.op_fcl.runs import (
    BLOCKS,
    FIXED,
    FP,
    INITIAL_PERCENT,
    OP,
    RW,
    Cell,
    Curve,
    best,
    least_ms,
    title,
)
from wordline_studies.outcome import IN_POINTS, PER_CENT

Curves = Mapping[str, Curve]
SMALL = ("financial", "home", "search")
LARGE = ("exchange", "msn")
WRITTEN = ("financial", "home", "exchange", "msn")
GROUPED = (
    "extents of three pages are destaged together in groups of 32, so a destage costs a third and "
    "a larger cache saves less; with pages destaged one by one, RW-FCL responds faster at a share "
    "of 80 % than at 70 % (figure Reasons)"
)
FILL = (
    "a fill that is charged to the read costs more with every GC run that it causes; if it is not "
    "charged, the response time of the same load falls up to a cached share of 95 % (next figure)"
)


def percent(first: float, last: float) -> float:
    """Returns by how much the last value exceeds the first. Per cent."""
    return 100 * (last / first - 1)


def listed(values: Iterable[float], unit: str = " %") -> str:
    """Formats differences with their signs, and the unit at the end."""
    return ", ".join(f"{one:+.1f}" for one in values) + unit


def _at(cells: Mapping[int, Cell]) -> str:
    return ", ".join(f"{share}: {cell.mean_ms:.3f}" for share, cell in cells.items())


def _curve(curve: Curve) -> str:
    return "; ".join(f"{scheme} {_at(curve[scheme])}" for scheme in FIXED)


NOISE_POINTS, NOISE_PERCENT = 0.1, 1.0
"""Changes that a change of the load's scale alone causes: of a hit ratio in percentage points, and
at least of GC time in per cent."""


def rises(values: Sequence[float], noise: float = 0.0) -> bool:
    """Returns `True` if no value is less than the previous one, apart from noise."""
    return all(low <= high + noise for low, high in pairwise(values))


def _falling(
    curves: Curves,
    names: Sequence[str],
    of: Callable[[Cell], float],
    noise: float = 0.0,
    noise_percent: float = 0.0,
) -> list[str]:
    """Returns a text for each step of the cached share at which a value falls by more than
    `noise`, and by more than `noise_percent`."""
    return [
        f"{title(name)} {scheme} from {low} to {high} % "
        f"({of(cells[low]):.4g}, {of(cells[high]):.4g})"
        for name in names
        for scheme in FIXED
        for cells in (curves[name][scheme],)
        for low, high in pairwise(cells)
        if of(cells[high]) < of(cells[low]) * (1 - noise_percent / 100) - noise
    ]


def _exceptions(found: Sequence[str]) -> str:
    return f"exceptions: {', '.join(found)}" if found else "no exceptions"


def figure_3() -> list[Claim]:
    """Returns the claims on figure 3 and section 4.1."""
    found = [
        (utilisation, cost)
        for cost, utilisation, _ in model.costs(model.FIGURE_3, 100, only_reads=True)
    ]
    costs = [cost for _, cost in found]
    least = costs.index(min(costs))
    soars = percent(costs[least], costs[-1])
    utilisation = found[least][0]
    whole = utilisation * BLOCKS / (BLOCKS - 1)
    exact = model.FIGURE_3.cost_us(utilisation, 1.0, model.page_write_us(whole))
    return [
        Claim(
            "The cost of reads falls with u to its minimum and soars beyond it (at u = 99 % by "
            f"more than {PER_CENT:g} %)",
            rises([-cost for cost in costs[: least + 1]])
            and rises(costs[least:])
            and soars > PER_CENT,
            f"lowest at {utilisation:.2f}; at {found[-1][0]:.2f} {soars:+.0f} %",
            ids=("O-016",),
        ),
        Claim(
            "Leaving the empty block out of the sizes hardly changes the lowest cost of reads (by "
            f"at most {IN_POINTS:g} %)",
            abs(percent(exact, costs[least])) <= IN_POINTS,
            f"{percent(exact, costs[least]):+.4f} % with {BLOCKS:,} blocks",
            ids=("O-013",),
        ),
    ]


def times(charged: Curves) -> list[Claim]:
    """Returns the claims on figures 6 and 10."""
    return [
        *(
            _one_minimum(name, charged[name], known)
            for name, known in (
                ("financial", "O-047"),
                ("home", "O-048"),
                ("exchange", "O-071"),
                ("msn", "O-071"),
            )
        ),
        _full(charged),
        *_search(charged["search"]),
        *_separate(charged),
        *(
            _offline(name, charged[name], known)
            for name, known in (
                ("financial", "O-057"),
                ("home", "O-058"),
                ("search", "O-059"),
                ("exchange", "O-072"),
                ("msn", "O-073"),
            )
        ),
        *_unused(charged),
        *_large(charged),
    ]


def _one_minimum(name: str, curve: Curve, known: str) -> Claim:
    def has(cells: Mapping[int, Cell]) -> bool:
        values = [cell.mean_ms for cell in cells.values()]
        least = values.index(min(values))
        return (
            0 < least < len(values) - 1
            and rises([-value for value in values[: least + 1]])
            and rises(values[least:])
        )

    return Claim(
        f"{title(name)}: with a growing cached share, the response time falls to a minimum and "
        "then rises, with both schemes",
        all(has(curve[scheme]) for scheme in FIXED),
        _curve(curve),
        quick=name != "home",
        ids=(known, "O-007"),
    )


def _full(charged: Curves) -> Claim:
    above = {
        name: percent(least_ms(charged[name][FP]), charged[name][FP][INITIAL_PERCENT].mean_ms)
        for name in WRITTEN
    }
    return Claim(
        f"FP-FCL with a cache that fills {INITIAL_PERCENT} % of the flash is slower than FP-FCL "
        f"at its best cached share (by more than {PER_CENT:g} %) on every load except Search "
        "Engine",
        min(above.values()) > PER_CENT,
        ", ".join(f"{title(name)} {value:+.0f} %" for name, value in above.items()),
        ids=("O-001", "O-002"),
    )


def falls_to_the_end(curve: Curve) -> bool:
    """Returns `True` if the response time never rises with the cached share, with both schemes."""
    return all(rises([-cell.mean_ms for cell in curve[scheme].values()]) for scheme in FIXED)


def _search(curve: Curve) -> list[Claim]:
    share = best(curve[RW])
    reads = share * curve[RW][share].reads
    return [
        Claim(
            "Search Engine: the response time falls continuously up to a cached share of 95 %, "
            "with both schemes",
            falls_to_the_end(curve),
            _curve(curve),
            FILL,
            ids=("O-055",),
        ),
        Claim(
            "Search Engine: at RW-FCL's best share, the read cache is larger than the write cache "
            "and the over-provisioning together",
            reads > 50,
            f"best share {share} %, of the flash {reads:.1f} % for reads",
            ids=("O-107",),
        ),
        alike(curve, "search", "O-045"),
    ]


def apart(curve: Curve) -> list[float]:
    """Returns by how much RW-FCL's response times exceed FP-FCL's. Per cent."""
    return [percent(curve[FP][share].mean_ms, curve[RW][share].mean_ms) for share in curve[FP]]


def alike(curve: Curve, name: str, known: str) -> Claim:
    """Returns the claim that FP-FCL and RW-FCL take almost equally long at every share."""
    return Claim(
        f"{title(name)}: FP-FCL and RW-FCL take almost equally long at every cached share (within "
        f"{IN_POINTS:g} %)",
        max(map(abs, apart(curve))) <= IN_POINTS,
        listed(apart(curve)),
        quick=name != "search",
        ids=(known,),
    )


def _separate(charged: Curves) -> list[Claim]:
    return [
        Claim(
            f"{title(name)}: RW-FCL takes less time than FP-FCL at every cached share",
            max(apart(charged[name])) < 0,
            listed(apart(charged[name])),
            because,
            ids=(known, "O-049"),
        )
        for name, known, because in (
            ("financial", "O-043", SEPARATE_FINANCIAL),
            ("home", "O-044", ""),
        )
    ]


SEPARATE_FINANCIAL = (
    "it depends on the skew of the writes, which is not published: with an exponent of 0.5, RW-FCL "
    "is faster than FP-FCL, each at its best share (figure Optimum over the exponent of the writes)"
)


def above_percent(curve: Curve) -> float:
    """Returns by how much OP-FCL's response time exceeds that of RW-FCL at RW-FCL's best share. Per
    cent."""
    return percent(least_ms(curve[RW]), least_ms(curve[OP]))


def _offline(name: str, curve: Curve, known: str) -> Claim:
    schemes = FIXED if name in LARGE else (RW,)
    above = percent(min(least_ms(curve[scheme]) for scheme in schemes), least_ms(curve[OP]))
    return Claim(
        f"{title(name)}: OP-FCL takes almost as long as {' or '.join(schemes)} at the best cached "
        f"share (within {IN_POINTS:g} %)",
        abs(above) <= IN_POINTS,
        f"{above:+.1f} %",
        quick=name not in LARGE,
        ids=(known, "O-003"),
    )


def _unused(charged: Curves) -> list[Claim]:
    above = {
        f"{title(name)} {scheme}": percent(
            least_ms(charged[name][OP]), charged[name][scheme][INITIAL_PERCENT].mean_ms
        )
        for name in ("financial", "home")
        for scheme in FIXED
    }
    return [
        Claim(
            "Financial and Home: OP-FCL, which leaves space unused, responds faster than FP-FCL "
            f"and RW-FCL with a cache of {INITIAL_PERCENT} % of the flash",
            min(above.values()) > 0,
            ", ".join(f"{what} {value:+.1f} %" for what, value in above.items()),
            ids=("O-108",),
        )
    ]


def _large(charged: Curves) -> list[Claim]:
    exchange = charged["exchange"]
    steps = {
        scheme: percent(exchange[scheme][70].mean_ms, exchange[scheme][80].mean_ms)
        for scheme in FIXED
    }
    return [
        Claim(
            "Exchange: from a cached share of 70 to 80 %, RW-FCL gains more by hits than GC costs "
            "and responds faster, but FP-FCL responds more slowly",
            steps[RW] < 0 < steps[FP],
            ", ".join(f"{scheme} {value:+.1f} %" for scheme, value in steps.items()),
            GROUPED,
            ids=("O-078",),
        ),
        alike(charged["msn"], "msn", "O-079"),
    ]


def trade_off(charged: Curves) -> list[Claim]:
    """Returns the claims on figures 7, 8, 11 and 12."""
    return [
        *_collected(charged),
        *_hits(charged),
        *_exchange(charged["exchange"]),
        *_alike_hits(charged["msn"]),
        *_reading(charged["search"]),
    ]


def _gc_s(cell: Cell) -> float:
    return cell.gc_s


def _hit(cell: Cell) -> float:
    return cell.hit


def _collected(charged: Curves) -> list[Claim]:
    written = _falling(charged, ("financial", "home"), _gc_s, noise_percent=NOISE_PERCENT)
    search = _falling(charged, ("search",), _gc_s, noise_percent=NOISE_PERCENT)
    shorter = [
        title(name)
        for name, curve in charged.items()
        if not rises([cell.gc_ms for cell in curve[FP].values()])
    ]
    often = {name: least.gc_often for name, least in _ended(charged).items()}
    return [
        Claim(
            "Financial and Home: GC time rises with the cached share, with both schemes (no fall "
            f"of more than {NOISE_PERCENT:g} %)",
            not written,
            _exceptions(written),
            ids=("O-060",),
        ),
        Claim(
            "Search Engine: GC time rises with the cached share, with both schemes (no fall of "
            f"more than {NOISE_PERCENT:g} %)",
            not search,
            _exceptions(search),
            FALLS_FIRST,
            quick=False,
            ids=("O-060",),
        ),
        Claim(
            "The mean time of a GC run falls with more over-provisioning, under FP-FCL on every "
            "load",
            not shorter,
            _exceptions(shorter),
            ids=("O-006",),
        ),
        _rare(often, "request", ids=("O-069",), because=PAGES),
        _rare(
            {name: often[name] / least.written for name, least in _ended(charged).items()},
            "page written",
        ),
    ]


PAGES = (
    "a read of Search Engine that misses fills four pages, and a request of Home writes one; per "
    "page written, the claim holds (below)"
)


def _ended(charged: Curves) -> dict[str, Cell]:
    """Returns the results of OP-FCL by load."""
    return {name: curve[OP][INITIAL_PERCENT] for name, curve in charged.items()}


def _rare(
    often: Mapping[str, float], per: str, because: str = "", ids: tuple[str, ...] = ()
) -> Claim:
    return Claim(
        f"Under OP-FCL, Search Engine has fewer GC runs per {per} than any other load",
        all(often["search"] < value for name, value in often.items() if name != "search"),
        ", ".join(f"{title(name)} {value:.1f}" for name, value in often.items()) + " per thousand",
        because,
        quick=bool(ids),
        ids=ids,
    )


FALLS_FIRST = (
    "with more hits, fewer pages are filled, as the document states for the same load in section "
    "6.3, where GC becomes rarer up to a share of 80 %"
)


def _hits(charged: Curves) -> list[Claim]:
    small = _falling(charged, SMALL, _hit, NOISE_POINTS)
    both = [
        *_falling(charged, LARGE, _hit, NOISE_POINTS),
        *_falling(charged, LARGE, _gc_s, noise_percent=NOISE_PERCENT),
    ]
    fewer = [
        title(name)
        for name, curve in charged.items()
        if not rises([cell.hit for cell in curve[FP].values()], NOISE_POINTS)
    ]
    return [
        Claim(
            "Hits rise with the cached share on Financial, Home and Search Engine, with both "
            f"schemes (no fall of more than {NOISE_POINTS:g} percentage points)",
            not small,
            _exceptions(small),
            ids=("O-061",),
        ),
        Claim(
            "With more over-provisioning, the smaller cache has fewer hits, under FP-FCL on every "
            f"load (no rise of more than {NOISE_POINTS:g} percentage points)",
            not fewer,
            _exceptions(fewer),
            ids=("O-005",),
        ),
        Claim(
            "Exchange and MSN: both hits and GC time rise with the cached share, with both "
            f"schemes (no fall of the hit ratio of more than {NOISE_POINTS:g} percentage points, "
            f"or of GC time of more than {NOISE_PERCENT:g} %)",
            not both,
            _exceptions(both),
            ids=("O-062",),
        ),
    ]


def _exchange(curve: Curve) -> list[Claim]:
    return [
        Claim(
            "Exchange: at a cached share of 80 %, RW-FCL has a higher hit ratio than FP-FCL",
            curve[RW][80].hit > curve[FP][80].hit,
            f"{curve[RW][80].hit:.1f} and {curve[FP][80].hit:.1f} %",
            ids=("O-076",),
        ),
    ]


def _alike_hits(curve: Curve) -> list[Claim]:
    more = [curve[RW][share].hit - curve[FP][share].hit for share in curve[FP]]
    return not_quick(
        [
            Claim(
                "MSN: RW-FCL and FP-FCL have almost the same hit ratio at every cached share "
                f"(within {IN_POINTS:g} percentage points)",
                max(map(abs, more)) <= IN_POINTS,
                listed(more, " percentage points"),
                ids=("O-080",),
            )
        ]
    )


def _reading(curve: Curve) -> list[Claim]:
    bent = {scheme: _bend(curve[scheme]) for scheme in FIXED}
    written = [
        f"{scheme} " + ", ".join(f"{share}: {cell.written:.3f}" for share, cell in cells.items())
        for scheme in FIXED
        for cells in (curve[scheme],)
    ]
    return [
        Claim(
            "Search Engine: the hit ratio rises almost linearly with the cached share (within "
            f"{IN_POINTS:g} percentage points of a line), with both schemes",
            max(bent.values()) <= IN_POINTS,
            ", ".join(f"{scheme} {value:.2f} percentage points" for scheme, value in bent.items()),
            ids=("O-093",),
        ),
        Claim(
            "Search Engine: with more hits, fewer pages are written, up to a cached share of 80 "
            "%, with both schemes",
            all(
                rises([-cell.written for share, cell in curve[scheme].items() if share <= 80])
                for scheme in FIXED
            ),
            "pages written per request: " + "; ".join(written),
            ids=("O-106",),
        ),
    ]


def _bend(cells: Mapping[int, Cell]) -> float:
    """Returns the largest difference of the hit ratio from the line between the first and the last
    share."""
    (first, low), *_, (last, high) = cells.items()
    slope = (high.hit - low.hit) / (last - first)
    return max(abs(cell.hit - low.hit - slope * (share - first)) for share, cell in cells.items())
