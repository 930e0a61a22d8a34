"""Tests of the reasons why claims do not hold, each with the number that it explains."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from wordline.config import Value
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.op_fcl.loads import TABLE, named, written
from wordline_studies.op_fcl.runs import (
    FIXED,
    RW,
    Cell,
    Curve,
    Store,
    best,
    case,
    curves,
    part,
)

ONE_BY_ONE: dict[str, Value] = {"cache.destage.group_pages": 1}
SHARES = (60, 70, 80, 90)
RISING = (70, 95)

Found = tuple[list[Row], list[Claim]]


def reasons(setup: Setup) -> list[Figure]:
    """Returns the figure for all reasons; none with `--quick`."""
    if setup.quick:
        return []
    paths = written(setup, named(TABLE), part(setup))
    parts = [
        _grouped(setup, paths),
        _filled(setup, paths),
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
