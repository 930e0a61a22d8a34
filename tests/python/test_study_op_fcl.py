"""Study `op-fcl`: cost model, loads and claims."""

import json
from collections import Counter
from dataclasses import replace
from math import isclose, log
from pathlib import Path

import pytest
from hybrid_store import Log
from hybrid_store import Store as Written

import wordline_studies as studies
from wordline import WordlineError
from wordline.config import Value
from wordline_studies.cases import required
from wordline_studies.figure import Setup
from wordline_studies.op_fcl import claims, model
from wordline_studies.op_fcl.loads import (
    TABLE,
    distinct,
    extents_of,
    named,
    requests,
    spread,
    with_exponents,
    written,
)
from wordline_studies.op_fcl.runs import (
    BLOCK_PAGES,
    DATA_PAGES,
    FP,
    OP,
    PERCENTS,
    RW,
    Cell,
    Curve,
    Store,
    best,
    case,
    divided,
)
from wordline_studies.results import run

PART = 64
PARTS = {name: 4 * PART if load.large else PART for name, load in TABLE.items()}
GB = 262_144


@pytest.mark.slow
def test_no_claim_has_an_unexpected_outcome(tmp_path: Path) -> None:
    place = tmp_path / "op-fcl"
    run(studies.load("op-fcl"), Setup()).write(place)
    told = json.loads((place / "study.json").read_text())
    found = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in found if not claim["passed"]] == []


@pytest.mark.parametrize(
    ("worst", "average"),
    [(0.5, 0.2032), (0.64, 0.3789), (0.8, 0.6286), (0.92, 0.8444), (0.95, 0.9017)],
)
def test_average_valid_share_solves_the_equation_of_the_worst_case(
    worst: float, average: float
) -> None:
    found = model.victim(worst)
    assert abs(found - average) < 5e-5
    assert isclose((found - 1) / log(found), worst, rel_tol=1e-9)


def test_the_cost_of_a_page_follows_equation_4() -> None:
    assert abs(model.page_write_us(0.64) - 475.0) < 0.05


def test_hit_ratios_of_a_truncated_zipf_law_are_linear_between_values() -> None:
    hit = model.zipf(1.0, 2)
    assert [hit(share) for share in (0.0, 0.005, 0.01, 0.015, 0.02, 1.0)] == pytest.approx(
        [0, 1 / 3, 2 / 3, 5 / 6, 1, 1]
    )


def test_the_cost_model_reproduces_figures_3_and_4() -> None:
    assert all(claim.passed for claim in (*claims.figure_3(), *claims.figure_4()))
    cost, utilisation, ratio = model.optimum(model.FIGURE_4, 100)
    assert (round(cost, 2), utilisation, ratio) == (945.14, 0.65, 0.31)


def test_distinct_extents_of_a_uniform_distribution_match_the_closed_form() -> None:
    assert abs(distinct(1000, 0.0, 500) - 1000 * (1 - (1 - 1e-3) ** 500)) < 1e-6


def test_distinct_extents_in_groups_match_single_ranks() -> None:
    whole = sum(1 / rank for rank in range(1, 20_001))
    singly = sum(1 - (1 - 1 / (rank * whole)) ** 5_000 for rank in range(1, 20_001))
    assert abs(distinct(20_000, 1.0, 5_000) / singly - 1) < 1e-4


@pytest.mark.parametrize("name", TABLE)
def test_loads_match_the_table(name: str) -> None:
    load = TABLE[name]
    part = load.part(PARTS)
    many = list(requests(name, load, part))
    pages = Counter[bool]()
    sets: dict[bool, set[int]] = {False: set(), True: set()}
    for one in many:
        pages[one.writes] += one.pages
        sets[one.writes].update(range(one.first, one.first + one.pages))
    for writes, own in ((False, load.reads), (True, load.writes)):
        few = 0.001 * GB / part
        assert abs(pages[writes] * part / GB / own.amount_gb - 1) < 0.12 or own.amount_gb < 0.01
        assert abs(len(sets[writes]) - own.set_gb * GB / part) < 0.03 * own.set_gb * GB / part + few
    whole = len(sets[False] | sets[True]) * part / GB
    assert abs(whole / load.total_gb - 1) < 0.03
    assert min(one.first for one in many) >= 0
    assert {one.volume for one in many} == ({0, 1, 2} if load.large else {0})


def test_loads_are_deterministic() -> None:
    load = TABLE["financial"]
    assert list(requests("financial", load, 512)) == list(requests("financial", load, 512))


def test_a_spread_load_keeps_its_distinct_pages_and_covers_the_disk() -> None:
    load = TABLE["financial"]
    near = list(requests("financial", load, 512))
    far = list(spread(load, 512, near))
    assert len({one.first for one in far}) == len({one.first for one in near})
    assert max(one.first for one in far) > 100 * max(one.first for one in near)


def test_the_number_of_extents_reproduces_the_working_set() -> None:
    one = TABLE["financial"].writes
    count = extents_of(one, PART)
    wanted = one.set_gb * GB / PART / one.pages
    assert abs(distinct(count, one.exponent, one.requests(PART)) / wanted - 1) < 2e-3


def test_an_exponent_too_large_for_the_working_set_is_refused() -> None:
    with pytest.raises(WordlineError, match=r"exponent 1\.4 does not reach 74\.12 GB"):
        extents_of(with_exponents(TABLE["exchange"], 1.4, 0.8).reads, 1024)


@pytest.mark.parametrize(
    ("group", "percent", "shares"),
    [(1, 60, ()), (32, 60, ()), (32, 90, ()), (32, 70, (0.25, 0.75))],
)
def test_an_independent_model_agrees_with_the_simulation(
    group: int, percent: int, shares: tuple[float, ...]
) -> None:
    load, store = TABLE["financial"], Store.of(TABLE["financial"], PARTS)
    more: dict[str, Value] = {
        "cache.destage.group_pages": group,
        "cache.reply": "collection",
        **({"cache.partition": {"split": {"read_ratio": shares[0]}}} if shares else {}),
    }
    setup = Setup()
    paths = written(setup, named(["financial"]), PARTS)
    one = case("financial", paths["financial"], store, FP, percent, more)
    summary = required(setup, {"": one})[""]
    cache = summary["cache"]
    assert cache is not None
    assert cache["capacity_pages"] == int(store.blocks * BLOCK_PAGES * percent / 100)
    twin = Written(Log(store.blocks, DATA_PAGES, 2), cache["capacity_pages"], group, shares)
    twin.play((one.writes, one.first, one.pages) for one in requests("financial", load, PART))
    cell = Cell.of(summary)
    assert abs(1000 * cell.work_ms / twin.mean_us - 1) < 2e-3
    # While one destage of a request is being written, another can be read.
    assert 0.97 < 1000 * cell.mean_ms / twin.mean_us < 1.001
    assert abs(cell.erases * store.blocks / twin.log.erases - 1) < 2e-3
    assert abs(cache["destaged_on_demand"] / twin.destaged - 1) < 3e-3
    # The text counts a write to a page of the read list as a miss.
    assert abs(cell.hit - 100 * twin.hits / twin.pages) < (2 if shares else 1e-2)


def test_stores_are_scaled_alike() -> None:
    parts = {"home": 8, "msn": 32}
    small, large = Store.of(TABLE["home"], parts), Store.of(TABLE["msn"], parts)
    assert (small.blocks, small.period, small.segments) == (2048, 8192, 16)
    assert (large.blocks, large.period, large.segments) == (512, 2048, 64)
    assert divided(FP, 1, 1) == {"cache.partition": "unified"}
    assert divided(OP, 7, 16)["cache.partition.op-fcl.period_requests"] == 7


def _curve(cell: Cell) -> Curve:
    fixed = {
        percent: replace(cell, mean_ms=cell.mean_ms + abs(percent - 60)) for percent in PERCENTS
    }
    return {FP: dict(fixed), RW: dict(fixed), OP: {95: cell}}


def test_claims_can_fail_and_hold() -> None:
    curve = _curve(Cell(2.0, 10.0, 50.0, 4.0, 1000))
    charged = dict.fromkeys(TABLE, curve)
    assert best(curve[FP]) == 60
    told = {claim.text: claim for claim in claims.times(charged, curve)}
    assert told[
        "O3: Financial has its shortest response time with FP-FCL at 60 % and RW-FCL at 60 % "
        "(within 10 points)"
    ].holds
    assert not told[
        "O5: the response time of Search Engine falls continuously to 95 % with both schemes "
        "(fills after the reply)"
    ].holds
    assert not any(claim.holds for claim in claims.lifetimes(charged))
    assert {claim.quick for claim in claims.times(charged, curve)} == {True, False}
    worn = {
        **curve,
        FP: {percent: replace(cell, erases=16.0) for percent, cell in curve[FP].items()},
    }
    assert all(claim.holds for claim in claims.lifetimes(dict.fromkeys(TABLE, worn)))


def test_list_sizes_are_averaged_after_the_first_third() -> None:
    course = claims.Course([1, 2, 3], [9.0, 1.0, 1.0], [9.0, 1.0, 2.0], 4.0)
    assert course.settled() == (1.0, 1.5)
    assert isclose(course.drift_percent(), 50)


def test_claims_on_periods_are_checked_per_load() -> None:
    alike = {name: dict.fromkeys((12, 14, 16, 18, 20), 0.0) for name in TABLE}
    alike["search"][20] = alike["msn"][12] = 20.0
    assert all(claim.passed for claim in claims.periods(alike))
    alike["financial"][14] = -13.0
    assert sum(not claim.passed for claim in claims.periods(alike)) == 1
