"""Claims of the document about its figures, numbered O1 to O19."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from wordline_studies.figure import Claim, not_quick
from wordline_studies.op_fcl import model
from wordline_studies.op_fcl.loads import TABLE
from wordline_studies.op_fcl.runs import FIXED, FP, OP, RW, Cell, Curve, best, least_ms, title

Curves = Mapping[str, Curve]
BEST = {
    "financial": {FP: 60, RW: 60},
    "home": {FP: 50, RW: 50},
    "exchange": {FP: 70, RW: 80},
    "msn": {FP: 80, RW: 80},
}
"""Cached share with the shortest response time, by load and scheme. Per cent of the flash (sections
6.1 and 6.2)."""
WRITTEN = ("financial", "home", "exchange", "msn")
WIDER = ("financial", "search", "exchange", "msn")
"""Loads with requests of more than one page."""
GROUPED = (
    "extents of three pages are destaged together in groups of 32, so a destage costs a third "
    "and a larger cache saves less; with pages destaged one by one, the optimum is as "
    "published (figure Reasons)"
)
SWINGS = (
    "the border follows the noise of short periods, and lists give up pages before others use "
    "them; the flash left empty helps GC; with a fixed border the two take equally long "
    "(figure Reasons)"
)
FILLED = (
    "the working set is 95 % of the flash and is complete only at the end, so caches of 90 and "
    "95 % are seldom full; in a second replay, 90 % wears more than twice as much, and 95 % "
    "erases more than twice as much as 70 % (figure Reasons)"
)
ONE_PERIOD = (
    "the run is one such period long, and half of the cache is reserved for writes until it "
    "ends; if the cache starts with all of it for reads, the claim holds (figure Reasons)"
)
FEW = (
    "a period of 2^12 has so few requests of the scaled load that the curves are noise; at a "
    "quarter of the scale the deviation is larger (figure Reasons)"
)
STEADY = (
    "the document's reason is that the load changes; the fitted load hardly does: its sizes "
    "change by less than a step in a period of that length (figures 9, 13)"
)
FILL = (
    "a fill that is charged to the read costs more with every GC run that it causes; if it is "
    "not charged, the response time of the same load falls to 95 % (above)"
)


def _percent(first: float, last: float) -> float:
    return 100 * (last / first - 1)


def _at(curve: Mapping[int, Cell], digits: int = 3) -> str:
    return ", ".join(f"{percent}: {cell.mean_ms:.{digits}f}" for percent, cell in curve.items())


def _rise(values: Sequence[float], slack: float = 0.0) -> bool:
    return all(low <= high + slack for low, high in pairwise(values))


def figure_3() -> list[Claim]:
    """Returns the claim on figure 3."""
    cost, utilisation, _ = model.optimum(model.FIGURE_3, 100, only_reads=True)
    more = model.excess_percent(model.FIGURE_3, 0.92, 1.0, cost)
    return [
        Claim(
            "O1: the cost of reads is lowest at u = 92 % (92 to 94 %; at 92 % within 0.5 % of "
            "the lowest)",
            0.92 <= utilisation <= 0.94 and more <= 0.5,
            f"lowest at {utilisation:.2f}; at 0.92 {more:+.2f} %",
        ),
    ]


def figure_4() -> list[Claim]:
    """Returns the claims on figure 4 and the sizes of section 4.2."""
    cost, utilisation, ratio = model.optimum(model.FIGURE_4, 100)
    more = model.excess_percent(model.FIGURE_4, 0.64, 0.25, cost)
    sizes = model.sizes_gb(4.0, 0.64, 0.25)
    exact = all(
        abs(one - other) < 1e-9 for one, other in zip(sizes, (0.64, 1.92, 1.44), strict=True)
    )
    return [
        Claim(
            "O2: the cost is lowest at u = 0.64 and r = 0.25 (0.62 to 0.67 and 0.25 to 0.35; "
            "at that point within 0.7 % of the lowest)",
            0.62 <= utilisation <= 0.67 and 0.25 <= ratio <= 0.35 and more <= 0.7,
            f"lowest at {utilisation:.2f} and {ratio:.2f}; at that point {more:+.2f} %",
        ),
        Claim(
            "O2: for 4 GB, the sizes are 0.64 GB of reads, 1.92 GB of writes, 1.44 GB of "
            "over-provisioning",
            exact,
            " / ".join(f"{one:.2f}" for one in sizes),
        ),
    ]


def times(charged: Curves, alone: Curve) -> list[Claim]:
    """Returns the claims on figures 6 and 10. `alone` is Search Engine with fills after the
    reply."""
    search = charged["search"]
    found = [_optimum(name, charged[name]) for name in ("financial", "home")]
    found += [
        Claim(
            "O5: the response time of Search Engine falls continuously to 95 % with both "
            "schemes (fills after the reply)",
            all(
                best(alone[scheme]) == 95
                and _rise([-cell.mean_ms for cell in alone[scheme].values()])
                for scheme in FIXED
            ),
            "; ".join(_at(alone[scheme]) for scheme in FIXED),
        ),
        Claim(
            "O5: the response time of Search Engine falls continuously if fills are charged to "
            "reads",
            all(best(search[scheme]) == 95 for scheme in FIXED),
            "; ".join(_at(search[scheme]) for scheme in FIXED),
            FILL,
        ),
        *_separate(charged),
        *not_quick(
            [
                Claim(
                    "O7: FP-FCL and RW-FCL take equally long on Search Engine (within 4 %, "
                    "fills after the reply)",
                    all(abs(one) <= 4 for one in _apart(alone)),
                    _list(_apart(alone)),
                )
            ]
        ),
        *not_quick([_offline(name, charged[name]) for name in charged]),
        *_large(charged),
    ]
    return found


def _large(charged: Curves) -> list[Claim]:
    exchange, msn = charged["exchange"], charged["msn"]
    apart = dict(zip(msn[FP], _apart(msn), strict=True))
    low, high = (
        [value for percent, value in apart.items() if (percent > 80) == over]
        for over in (False, True)
    )
    return [
        _optimum("exchange", exchange, (FP,)),
        *not_quick([_optimum("exchange", exchange, (RW,), GROUPED)]),
        Claim(
            "O9: on Exchange, the best share of RW-FCL is at least that of FP-FCL",
            best(exchange[RW]) >= best(exchange[FP]),
            f"{best(exchange[RW])} and {best(exchange[FP])} %",
        ),
        *not_quick([_optimum("msn", msn)]),
        *not_quick(
            [
                Claim(
                    "O10: FP-FCL and RW-FCL take equally long on MSN (within 4 %) up to 80 %",
                    all(abs(one) <= 4 for one in low),
                    _list(low),
                )
            ]
        ),
        Claim(
            "O10: FP-FCL and RW-FCL take equally long on MSN above 80 % too",
            all(abs(one) <= 4 for one in high),
            _list(high),
            SWINGS,
        ),
    ]


def near(curve: Curve, name: str, schemes: Sequence[str] = FIXED) -> bool:
    """Returns whether the best shares are within 10 points of the published ones."""
    return all(abs(best(curve[scheme]) - BEST[name][scheme]) <= 10 for scheme in schemes)


def _optimum(name: str, curve: Curve, schemes: Sequence[str] = FIXED, because: str = "") -> Claim:
    known = {"financial": "O3", "home": "O4", "exchange": "O9", "msn": "O10"}
    told = " and ".join(f"{scheme} at {BEST[name][scheme]} %" for scheme in schemes)
    return Claim(
        f"{known[name]}: {title(name)} has its shortest response time with {told} (within 10 "
        "points)",
        near(curve, name, schemes),
        "; ".join(f"{scheme} {best(curve[scheme])} % ({_at(curve[scheme])})" for scheme in schemes),
        because,
    )


def _separate(charged: Curves) -> list[Claim]:
    home, financial = (
        _percent(least_ms(charged[name][FP]), least_ms(charged[name][RW]))
        for name in ("home", "financial")
    )
    return [
        Claim(
            "O6: RW-FCL takes less time than FP-FCL on Home (15 % or more, each at its best share)",
            home <= -15,
            f"{home:+.1f} %",
        ),
        Claim(
            "O6: RW-FCL takes no more time than FP-FCL on Financial (within 3 %)",
            abs(financial) <= 3,
            f"{financial:+.1f} %",
        ),
    ]


def _apart(curve: Curve) -> list[float]:
    return [
        _percent(curve[FP][percent].mean_ms, curve[RW][percent].mean_ms) for percent in curve[FP]
    ]


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{one:+.1f}" for one in values) + " %"


def above_percent(curve: Curve) -> float:
    """Returns by how much OP-FCL's response time exceeds RW-FCL's at its best share. Per cent."""
    return _percent(least_ms(curve[RW]), least_ms(curve[OP]))


def _offline(name: str, curve: Curve) -> Claim:
    above = above_percent(curve)
    return Claim(
        f"O8: on {title(name)}, OP-FCL takes about as long as RW-FCL at its best share (at most "
        "3 % more)",
        above <= 3,
        f"{above:+.1f} %",
    )


def trade_off(charged: Curves) -> list[Claim]:
    """Returns the claims on figures 7, 8, 11 and 12."""
    collected = {
        (name, scheme): [cell.gc_s for percent, cell in curve[scheme].items() if percent >= 50]
        for name, curve in charged.items()
        for scheme in FIXED
    }
    hits = {
        (name, scheme): [cell.hit for cell in curve[scheme].values()]
        for name, curve in charged.items()
        for scheme in FIXED
    }
    return [
        Claim(
            "O11: GC time rises with the cached share (from 50 %) on every load",
            all(_rise(one) for one in collected.values()),
            _falling(collected),
        ),
        Claim(
            "O12: hits rise with the cached share",
            all(_rise(one, 0.05) for one in hits.values()),
            _falling(hits),
        ),
    ]


def _falling(values: Mapping[tuple[str, str], Sequence[float]]) -> str:
    falls = [f"{title(name)} {scheme}" for (name, scheme), one in values.items() if not _rise(one)]
    return f"exceptions: {', '.join(falls)}" if falls else "no exceptions"


def erases(charged: Curves) -> list[Claim]:
    """Returns the claims on figure 14."""
    found: list[Claim] = []
    for name in WRITTEN:
        for scheme in FIXED:
            at = {percent: cell.erases for percent, cell in charged[name][scheme].items()}
            slopes = [(at[80] - at[70]) / 10, (at[90] - at[80]) / 10, (at[95] - at[90]) / 5]
            found += not_quick(
                [
                    Claim(
                        f"O15: {title(name)}, {scheme}: erases rise sharply above 70 % (at 95 % "
                        "at least twice as many, and ever more steeply)",
                        at[95] >= 2 * at[70] and _rise(slopes),
                        ", ".join(f"{percent}: {one:.1f}" for percent, one in at.items()),
                        FILLED if (name, scheme) == ("financial", RW) else "",
                    )
                ]
            )
    for scheme in FIXED:
        at = {percent: cell.erases for percent, cell in charged["search"][scheme].items()}
        least = min(at, key=lambda percent: at[percent])
        found.append(
            Claim(
                f"O16: Search Engine, {scheme}: erases fall towards 80 %, then rise sharply "
                "(minimum at 60 to 80 %, at 95 % more than twice as many)",
                60 <= least <= 80 and at[95] > 2 * at[least],
                ", ".join(f"{percent}: {one:.2f}" for percent, one in at.items()),
            )
        )
    return [*found, *lifetimes(charged)]


def longer(curve: Curve, percent: int) -> float:
    """Returns the erases of FP-FCL at a cached share over those of OP-FCL."""
    return curve[FP][percent].erases / curve[OP][95].erases


def lifetimes(charged: Curves) -> list[Claim]:
    """Returns the claims of section 6.3."""
    found: list[Claim] = []
    for name in ("financial", "home"):
        at = {percent: longer(charged[name], percent) for percent in (80, 90, 95)}
        told = " / ".join(f"{one:.2f}" for one in at.values()) + " at 80 / 90 / 95 %"
        found.append(
            Claim(
                f"O17: {title(name)}: OP-FCL wears the flash up to three times less than FP-FCL "
                "(FP-FCL at 80 %: more than 1.2 times the erases)",
                at[80] > 1.2,
                told,
            )
        )
        found.append(
            Claim(
                f"O17: {title(name)}: OP-FCL wears the flash at most half as much as FP-FCL at "
                "90 %",
                at[90] > 2,
                told,
                FILLED if name == "financial" else "",
                quick=name != "financial",
            )
        )
    return found


@dataclass(frozen=True)
class Course:
    """Sizes of OP-FCL's lists over the run: requests completed, and GB at full scale."""

    requests: list[int]
    reads_gb: list[float]
    writes_gb: list[float]
    flash_gb: float

    def settled(self) -> tuple[float, float]:
        """Returns the mean sizes of the lists after the first third of the run. GB."""
        return self._mean(len(self.requests) // 3, len(self.requests))

    def drift_percent(self) -> float:
        """Returns the growth of the lists from the second to the last third of the run. Per
        cent."""
        third = len(self.requests) // 3
        before, last = (sum(self._mean(third * at, third * (at + 1))) for at in (1, 2))
        return 100 * (last / before - 1)

    def _mean(self, first: int, end: int) -> tuple[float, float]:
        reads, writes = self.reads_gb[first:end], self.writes_gb[first:end]
        return sum(reads) / len(reads), sum(writes) / len(writes)


def _steady(course: Course) -> Claim:
    load = TABLE["exchange"]
    periods = (load.reads.requests(1) + load.writes.requests(1)) / (1 << 20)
    a_period = course.drift_percent() / (periods / 3)
    return Claim(
        "O19, reason: from the second third of the run to the last, Exchange's lists change by "
        "less than a size step (1.6 %) per period of 2^20",
        abs(a_period) < 100 / 64,
        f"{a_period:+.1f} %",
    )


def courses(found: Mapping[str, Course]) -> list[Claim]:
    """Returns the claims on figures 9 and 13."""

    def told(name: str) -> tuple[float, float]:
        reads, writes = found[name].settled()
        return reads + writes, reads / (reads + writes)

    financial, (home, _), (search, ratio) = told("financial")[0], told("home"), told("search")
    return [
        Claim(
            "O13: OP-FCL gives Financial 2 to 2.5 GB of 4 (1.8 to 2.9 GB after a third of the run)",
            1.8 <= financial <= 2.9,
            f"{financial:.2f} GB",
        ),
        Claim(
            "O14: OP-FCL gives Home less than half of the flash (at most 0.56)",
            home <= 0.56 * 4,
            f"{home:.2f} GB",
        ),
        Claim(
            "O14: OP-FCL gives Search Engine most of the flash (0.8 or more), nearly all of it "
            "for reads (0.9 or more)",
            search >= 0.8 * 4 and ratio >= 0.9,
            f"{search:.2f} of the flash, {ratio:.2f} of it for reads",
        ),
        *not_quick([_steady(found["exchange"])]),
    ]


def sequential(relative: Mapping[str, Mapping[int, float]]) -> list[Claim]:
    """Returns the claims on figure 15(a). `relative` gives response times above those at 128 KB, in
    per cent by load and KB."""
    wide = {name: [one[size] for size in one if size >= 32] for name, one in relative.items()}
    poor = [relative[name][4] for name in WIDER]
    return [
        Claim(
            "O18: sequential units of 4 KB take longer (30 % or more) for loads with requests "
            "of more than a page",
            min(poor) >= 30,
            _list(poor),
        ),
        Claim(
            "O18: units of 32 KB or more take equally long (within 3 %)",
            all(abs(one) <= 3 for values in wide.values() for one in values),
            "; ".join(f"{title(name)} {_list(one)}" for name, one in wide.items()),
        ),
    ]


def periods(relative: Mapping[str, Mapping[int, float]]) -> list[Claim]:
    """Returns the claims on figure 15(b). `relative` gives response times above those at 2^16
    requests, in per cent by load and exponent of two."""

    def alike(names: Sequence[str], because: str = "") -> Claim:
        values = [
            value
            for name in names
            for exponent, value in relative[name].items()
            if (name, exponent) != ("exchange", 20)
        ]
        told = ", ".join(title(name) for name in names)
        return Claim(
            f"O19: periods of 2^12 to 2^20 take equally long on {told} (within 12 %)",
            all(abs(one) <= 12 for one in values),
            _list([min(values), max(values)]),
            because,
        )

    exchange = relative["exchange"][20]
    return [
        *not_quick([alike(("financial", "home", "exchange")), alike(("msn",), FEW)]),
        alike(("search",), ONE_PERIOD),
        Claim(
            "O19: Exchange takes longer at 2^20 than at 2^16",
            exchange > 0,
            f"{exchange:+.1f} %",
            STEADY,
        ),
    ]
