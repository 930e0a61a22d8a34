"""Tests of the reasons why claims do not hold, each with the number that it explains."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path

from wordline._sweep.work import Run
from wordline.config import Value
from wordline_studies.cases import Case, required, tabled
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.op_fcl.loads import TABLE, named, written
from wordline_studies.op_fcl.runs import (
    FIXED,
    FP,
    INITIAL_PERCENT,
    OP,
    RW,
    Cell,
    Curve,
    Store,
    best,
    case,
    curves,
    part,
)
from wordline_studies.outcome import IN_POINTS, PER_CENT

ONE_BY_ONE: dict[str, Value] = {"cache.destage.group_pages": 1}
SHARES = (60, 70, 80, 90)
SWUNG = (90, 95)
RISING = (70, 95)
LONG = 20
"""The longest period is two to the power of this number. Requests at full scale."""

Found = tuple[list[Row], list[Claim]]


def reasons(setup: Setup) -> list[Figure]:
    """Returns the figure of all reasons; none with `--quick`."""
    if setup.quick:
        return []
    paths = written(setup, named(TABLE), part(setup))
    parts = [
        _grouped(setup, paths),
        _swings(setup, paths),
        _filled(setup, paths),
        _one_period(setup, paths),
    ]
    return [
        Figure(
            id="reasons",
            title="Reasons",
            section="6",
            measured="As figures 6 to 15, with one change each.",
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
            f"Exchange, pages destaged one by one, {scheme}: best share",
            float(best(curve[scheme])),
            "%",
        )
        for scheme in FIXED
    ]
    return rows, [
        Claim(
            "Exchange: with pages destaged one by one, RW-FCL responds faster at 80 than at 70 %",
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


def _held(run: Run) -> float:
    """Returns the share of the cache's capacity that is occupied during the second half of the
    requests, 0 to 1. Requires the table `series` of the run."""
    table = run.table("series")
    requests: list[int] = (table["reads"] + table["writes"]).to_list()
    pages: list[int] = (table["cache_read_list"] + table["cache_write_list"]).to_list()
    assert run.summary is not None
    cache = run.summary["cache"]
    assert cache is not None
    half = sum(requests) / 2
    late = [
        (count, here)
        for done, count, here in zip(accumulate(requests), requests, pages, strict=True)
        if done > half and count
    ]
    held = sum(count * here for count, here in late) / sum(count for count, _ in late)
    return held / cache["capacity_pages"]


@dataclass(frozen=True)
class _Swung:
    """Results of MSN under RW-FCL and the alternatives, by cached share in per cent."""

    rw: Mapping[int, Cell]
    held: Mapping[int, float]
    """Share of the cache's capacity that RW-FCL's lists occupy during the second half, 0 to 1."""
    others: Mapping[tuple[str, int], Cell]
    """Results under `FP`, and under RW-FCL with a fixed `border` and with `long` periods. `filled`
    is FP-FCL with as much flash as RW-FCL's lists occupy."""

    def mean_ms(self, what: str, percent: int) -> float:
        """Returns the mean response time. Milliseconds."""
        return self.others[what, percent].mean_ms

    def above(self, what: str, percent: int) -> float:
        """Returns by how much the response time exceeds that of FP-FCL. Per cent."""
        return 100 * (self.mean_ms(what, percent) / self.mean_ms("FP", percent) - 1)


def _swung(setup: Setup, path: Path) -> _Swung:
    store = Store.of(TABLE["msn"], part(setup))
    swung = {percent: case("msn", path, store, RW, percent) for percent in SWUNG}
    rw = _cells(setup, {str(percent): one for percent, one in swung.items()})
    held = {percent: _held(run) for percent, run in tabled(setup, swung, "series").items()}
    others: dict[tuple[str, int], Case] = {}
    for percent in SWUNG:
        border: dict[str, Value] = {
            "cache.partition": {"split": {"read_ratio": round(rw[str(percent)].reads, 2)}}
        }
        slow = replace(store, period=8 * store.period)
        others["FP", percent] = case("msn", path, store, FP, percent)
        others["border", percent] = case("msn", path, store, FP, percent, border)
        others["long", percent] = case("msn", path, slow, RW, percent)
        others["filled", percent] = case("msn", path, store, FP, round(percent * held[percent]))
    found = _cells(setup, {f"{what} {percent}": one for (what, percent), one in others.items()})
    return _Swung(
        {percent: rw[str(percent)] for percent in SWUNG},
        held,
        {(what, percent): found[f"{what} {percent}"] for what, percent in others},
    )


def _swings(setup: Setup, paths: Mapping[str, Path]) -> Found:
    """Tests why RW-FCL differs from FP-FCL on MSN: with a fixed border at RW-FCL's mean, with
    periods eight times as long, and FP-FCL with as much flash as RW-FCL's lists occupy."""
    found = _swung(setup, paths["msn"])
    rows = [row for percent in SWUNG for row in _swing_rows(found, percent)]
    return rows, [
        *(
            Claim(
                f"MSN: with {words}, RW-FCL takes as long as FP-FCL (within {IN_POINTS:g} %)",
                all(abs(found.above(what, percent)) <= IN_POINTS for percent in SWUNG),
                ", ".join(f"{found.above(what, percent):+.1f} %" for percent in SWUNG),
            )
            for what, words in (
                ("border", "a fixed border"),
                ("long", "periods eight times as long"),
            )
        ),
        _filled_claim(found),
    ]


def _swing_rows(found: _Swung, percent: int) -> list[Row]:
    rw = found.rw[percent]
    return [
        Row(
            f"MSN, {percent} %: response time of RW-FCL above FP-FCL's",
            100 * (rw.mean_ms / found.mean_ms("FP", percent) - 1),
            "%",
        ),
        Row(
            "MSN, RW-FCL with periods eight times as long: response time above FP-FCL's",
            found.above("long", percent),
            "%",
        ),
        Row(
            "MSN, RW-FCL with a fixed border: response time above FP-FCL's",
            found.above("border", percent),
            "%",
        ),
        Row(
            f"MSN, {percent} %: occupied share of RW-FCL's lists during the second half",
            100 * found.held[percent],
            "%",
        ),
        Row(
            "MSN, FP-FCL with as much flash as these lists occupy: response time above FP-FCL's",
            found.above("filled", percent),
            "%",
        ),
        Row("MSN, RW-FCL: share of destages that no request waits for", rw.resized, "%"),
    ]


def _filled_claim(found: _Swung) -> Claim:
    means = [
        (
            found.mean_ms("filled", percent),
            found.rw[percent].mean_ms,
            found.mean_ms("FP", percent),
        )
        for percent in SWUNG
    ]
    return Claim(
        "MSN: FP-FCL with as much flash as RW-FCL's lists occupy is nearer to RW-FCL "
        "than to FP-FCL of the whole share",
        all(abs(filled - rw) < abs(filled - fp) for filled, rw, fp in means),
        ", ".join(f"{filled:.2f} of {rw:.2f} and {fp:.2f} ms" for filled, rw, fp in means),
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
            f"Financial, erases of RW-FCL at {RISING[1]} % over those at {RISING[0]} %",
            high / low,
            "times",
        ),
        Row("Financial, the same in a second replay", rise, "times"),
    ]
    return rows, [
        Claim(
            f"Financial: in a second replay, RW-FCL at {RISING[1]} % erases at least twice as much "
            f"as at {RISING[0]} %",
            rise >= 2,
            f"{rise:.2f}",
        ),
    ]


def _one_period(setup: Setup, paths: Mapping[str, Path]) -> Found:
    """Tests whether Search Engine takes as long with periods of 2^20 requests as with 2^16 if the
    cache starts with all of it for reads."""
    load = TABLE["search"]
    store = Store.of(load, part(setup))
    long = replace(store, period=max(1, (1 << LONG) // load.part(part(setup))))
    reads: dict[str, Value] = {"cache.partition.op-fcl.read_ratio": 1.0}
    found = _cells(
        setup,
        {
            "base": case("search", paths["search"], store, OP, INITIAL_PERCENT),
            "half": case("search", paths["search"], long, OP, INITIAL_PERCENT),
            "reads": case("search", paths["search"], long, OP, INITIAL_PERCENT, reads),
        },
    )
    half, all_reads = (
        100 * (found[name].mean_ms / found["base"].mean_ms - 1) for name in ("half", "reads")
    )
    periods = load.reads.requests(1) / (1 << LONG)
    rows = [
        Row("Search Engine, periods of 2^20 in the run", periods, ""),
        Row("Search Engine, response time at 2^20 above that at 2^16", half, "%"),
        Row(
            "Search Engine, response time at 2^20 above that at 2^16, if the cache starts "
            "with all of it for reads",
            all_reads,
            "%",
        ),
    ]
    return rows, [
        Claim(
            "Search Engine: if the cache starts with all of it for reads, periods of 2^20 take as "
            f"long as 2^16 (within {PER_CENT:g} %)",
            abs(all_reads) <= PER_CENT,
            f"{all_reads:+.1f} %",
        ),
    ]
