"""Tests of the reasons why claims do not hold, each with the number that it explains."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from wordline.config import Value
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.op_fcl.claims import percent as more
from wordline_studies.op_fcl.loads import TABLE, Bursts, named, requests, written
from wordline_studies.op_fcl.runs import (
    FIXED,
    INITIAL_PERCENT,
    OP,
    PERIODS_PART,
    RW,
    Cell,
    Curve,
    Store,
    at_least,
    best,
    case,
    curves,
    part,
)

ONE_BY_ONE: dict[str, Value] = {"cache.destage.group_pages": 1}
SHARES = (60, 70, 80, 90)
RISING = (70, 95)

BURSTS = Bursts(requests=1 << 15, of=4)
EXPONENTS = (12, 14, 16)
"""The periods are two to the power of these numbers. Requests at full scale."""

Found = tuple[list[Row], list[Claim]]


def reasons(setup: Setup) -> list[Figure]:
    """Returns the figure for all reasons; none with `--quick`."""
    if setup.quick:
        return []
    paths = written(setup, named(TABLE), part(setup))
    parts = [
        _grouped(setup, paths),
        _filled(setup, paths),
        _in_bursts(setup),
    ]
    return [
        Figure(
            id="reasons",
            title="Reasons",
            section="6",
            measured="Runs as in figures 6 to 14, with one change each.",
            rows=[row for rows, _ in parts for row in rows],
            claims=[claim for _, found in parts for claim in found],
        )
    ]


def _cells(setup: Setup, cases: Mapping[str, Case], disks: int = 1) -> dict[str, Cell]:
    return {name: Cell.of(summary, disks) for name, summary in required(setup, cases).items()}


def _grouped(setup: Setup, paths: Mapping[str, Path]) -> Found:
    """Tests that destages one by one move RW-FCL's optimum of Exchange."""
    curve = curves(setup, paths, named(["exchange"]), SHARES, ONE_BY_ONE)["exchange"]
    rows = [
        Row(
            f"Exchange, pages destaged one by one, {scheme}: best cached share",
            float(best(curve[scheme])),
            "%",
        )
        for scheme in FIXED
    ]
    return rows, [
        Claim(
            "Exchange: with pages destaged one by one, RW-FCL responds faster at a cached share "
            "of 80 % than at 70 %",
            curve[RW][80].mean_ms < curve[RW][70].mean_ms,
            told(curve),
        )
    ]


def told(curve: Curve) -> str:
    """Formats the response times of a curve."""
    return "; ".join(
        f"{scheme} "
        + ", ".join(f"{percent}: {cell.mean_ms:.3f}" for percent, cell in curve[scheme].items())
        for scheme in FIXED
    )


def _filled(setup: Setup, paths: Mapping[str, Path]) -> Found:
    """Tests whether RW-FCL's erases on Financial rise with the cached share in a second replay."""
    store = Store.of(TABLE["financial"], part(setup))
    cases: dict[str, Case] = {}
    for scheme, percent in ((RW, RISING[0]), (RW, RISING[1])):
        once = case("financial", paths["financial"], store, scheme, percent)
        cases[f"{scheme} {percent} once"] = once
        cases[f"{scheme} {percent} twice"] = replace(
            once, trace=[paths["financial"]] * 2, label=f"{once.label}, twice"
        )
    found = _cells(setup, cases)

    def again(scheme: str, percent: int) -> float:
        what = f"{scheme} {percent}"
        return found[f"{what} twice"].erases - found[f"{what} once"].erases

    low, high = (found[f"{RW} {percent} once"].erases for percent in RISING)
    rise = again(RW, RISING[1]) / again(RW, RISING[0])
    rows = [
        Row(
            f"Financial: erases of RW-FCL at a cached share of {RISING[1]} % over those at "
            f"{RISING[0]} %",
            high / low,
            "times",
        ),
        Row(
            f"Financial, second replay: erases of RW-FCL at a cached share of {RISING[1]} % over "
            f"those at {RISING[0]} %",
            rise,
            "times",
        ),
    ]
    return rows, [
        Claim(
            f"Financial: in a second replay, RW-FCL at a cached share of {RISING[1]} % erases at "
            f"least twice as much as at {RISING[0]} %",
            rise >= 2,
            f"{rise:.2f}",
        ),
    ]


def _in_bursts(setup: Setup) -> Found:
    """Tests that shorter periods are worse on Home if its load changes."""
    load = TABLE["home"]
    parts = at_least(setup, PERIODS_PART)
    own = load.part(parts)
    path = setup.generated.trace(("bursts", load, own), lambda: requests("home", load, own, BURSTS))
    cases = {
        exponent: replace(
            case(
                "home",
                path,
                replace(Store.of(load, parts), period=(1 << exponent) // own),
                OP,
                INITIAL_PERCENT,
            ),
            label=f"home, reads in bursts, {OP}, period of 2^{exponent}",
        )
        for exponent in EXPONENTS
    }
    mean_ms = {at: Cell.of(summary).mean_ms for at, summary in required(setup, cases).items()}
    above = {at: more(mean_ms[16], value) for at, value in mean_ms.items()}
    rows = [
        Row(
            f"Home, all reads in one of {BURSTS.of} stretches of 2^15 requests: response time with "
            f"a period of 2^{at} requests against 2^16",
            value,
            "% more",
        )
        for at, value in above.items()
    ]
    return rows, [
        Claim(
            "Home, reads in bursts: response times are longer with periods of 2^14 requests than "
            "with 2^16, and longer still with 2^12",
            above[12] > above[14] > 0,
            ", ".join(f"2^{at} {value:+.1f}" for at, value in above.items()) + " %",
        )
    ]
