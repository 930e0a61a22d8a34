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
from wordline_studies.figure import Claim, Setup
from wordline_studies.op_fcl import claims, model, sensitivity, wear
from wordline_studies.op_fcl.courses import Course
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
    FULL_PART,
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


def test_claims_on_figure_3_hold_and_the_cost_of_figure_4_is_lowest_at_65_percent() -> None:
    assert all(claim.passed for claim in claims.figure_3())
    cost, utilisation, ratio = model.optimum(model.FIGURE_4, 100)
    assert (round(cost, 2), utilisation, ratio) == (945.14, 0.65, 0.31)


def test_distinct_extents_of_a_uniform_distribution_match_the_closed_form() -> None:
    assert abs(distinct(1000, 0.0, 500) - 1000 * (1 - (1 - 1e-3) ** 500)) < 1e-6


def test_distinct_extents_from_groups_of_ranks_match_the_sum_over_ranks() -> None:
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


@pytest.mark.parametrize("name", TABLE)
def test_loads_can_be_generated_at_the_scale_of_the_full_study(name: str) -> None:
    """A steep law reaches a large working set only with very many extents."""
    for one in (TABLE[name].reads, TABLE[name].writes):
        for part in (FULL_PART[name], 1):
            assert extents_of(one, part) >= one.set_gb * GB / part / one.pages - 1


def test_an_exponent_too_large_for_the_working_set_is_rejected() -> None:
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


def test_blocks_and_period_of_a_store_are_divided_by_the_scale_factor_of_its_load() -> None:
    parts = {"home": 8, "msn": 32}
    small, large = Store.of(TABLE["home"], parts), Store.of(TABLE["msn"], parts)
    assert (small.blocks, small.period, small.segments) == (2048, 8192, 16)
    assert (large.blocks, large.period, large.segments) == (512, 2048, 64)


def test_only_a_divided_cache_has_a_period() -> None:
    assert divided(FP, 1, 1) == {"cache.partition": "unified"}
    assert divided(OP, 7, 16)["cache.partition.op-fcl.period_requests"] == 7


SAMPLE = Cell(2.0, 10.0, 50.0, 4.0, 1000, gc_often=30.0, gc_ms=5.0, written=1.0)


def _curve(cell: Cell) -> Curve:
    fixed = {
        percent: replace(cell, mean_ms=cell.mean_ms + abs(percent - 60)) for percent in PERCENTS
    }
    return {FP: dict(fixed), RW: dict(fixed), OP: {95: cell}}


def _worse(curve: Curve, scheme: str, share: int, **changes: float) -> Curve:
    """Returns the curve with other results at one share."""
    return {**curve, scheme: {**curve[scheme], share: replace(curve[scheme][share], **changes)}}


def _holds(found: list[Claim], known: str) -> bool:
    """Returns whether every claim on a statement holds."""
    on = [claim for claim in found if known in claim.ids]
    assert on
    return all(claim.holds for claim in on)


def test_claims_on_times_can_fail_and_hold() -> None:
    curve = _curve(SAMPLE)
    charged = dict.fromkeys(TABLE, curve)
    assert best(curve[FP]) == 60
    found = claims.times(charged)
    held = {one for claim in found if claim.holds for one in claim.ids}
    assert {"O-001", "O-003", "O-007", "O-045", "O-047", "O-108"} <= held
    assert not any(_holds(found, one) for one in ("O-043", "O-044", "O-055", "O-078"))
    assert {claim.quick for claim in found} == {True, False}
    two_minima = charged | {"financial": _worse(curve, FP, 40, mean_ms=99.0)}
    assert not _holds(claims.times(two_minima), "O-047")
    slower = charged | {"msn": _worse(curve, OP, 95, mean_ms=2.2)}
    assert not _holds(claims.times(slower), "O-073")
    assert not _holds(claims.times(slower), "O-003")


def test_a_claim_lists_exactly_the_falls_in_hits_that_refute_it() -> None:
    """The detail names the same exceptions that decide the claim."""
    curve = _curve(SAMPLE)
    for fall, holds in ((0.09, True), (0.11, False)):
        charged = dict.fromkeys(TABLE, curve) | {"home": _worse(curve, RW, 95, hit=50 - fall)}
        found = claims.trade_off(charged)
        (claim,) = [one for one in found if "O-061" in one.ids]
        assert claim.holds == holds
        assert ("Home RW-FCL from 90 to 95 %" in claim.detail) != holds
        assert (claim.detail == "no exceptions") == holds


def test_claims_on_wear_can_fail_and_hold() -> None:
    curve = _curve(SAMPLE)
    charged = dict.fromkeys(TABLE, curve)
    assert not any(_holds(wear.erases(charged), one) for one in ("O-004", "O-088", "O-089"))
    worn = {
        **curve,
        **{
            scheme: {at: replace(cell, erases=8.0 + at) for at, cell in curve[scheme].items()}
            for scheme in (FP, RW)
        },
    }
    found = wear.erases(dict.fromkeys(TABLE, worn) | {"search": curve})
    assert all(_holds(found, one) for one in ("O-085", "O-088", "O-089"))
    assert wear.longer(worn, 80) == 22


def test_list_sizes_are_averaged_after_the_first_third() -> None:
    course = Course([1, 2, 3], [9.0, 1.0, 1.0], [9.0, 1.0, 2.0], 4.0)
    assert course.settled() == (1.0, 1.5)
    assert isclose(course.drift_percent(), 50)


def test_turns_and_settling_times_of_courses_match_manual_counts() -> None:
    """Only turns of at least a step of 0.25 GB after the first third count."""

    def course(*sizes: float) -> Course:
        return Course([*range(len(sizes))], [*sizes], [0.0] * len(sizes), 4.0)

    assert course(1, 9, 1, 2.0, 2.1, 2.0, 2.1, 2.0, 2.1).turns() == 0
    assert course(1, 9, 1, 2.0, 2.5, 2.0, 2.5, 2.2, 2.1).turns() == 3
    assert course(0, 0, 0, 1, 2, 2, 2, 2, 2).settles_at() == pytest.approx(100 * 4 / 9)
    assert course(*[2.0] * 9).settles_at() == 0


def test_claims_on_periods_can_fail_and_hold() -> None:
    alike: dict[str, dict[int, float]] = {
        name: dict.fromkeys((12, 14, 16, 18, 20), 0.0) for name in TABLE
    }
    assert _holds(sensitivity.of_periods(alike), "O-096")
    assert not _holds(sensitivity.of_periods(alike), "O-097")
    alike["home"] = {12: 3.0, 14: 1.0, 16: 0.0, 18: 1.0, 20: 2.0}
    alike["search"][20] = 20.0
    found = sensitivity.of_periods(alike)
    assert not _holds(found, "O-096")
    assert _holds(found, "O-097")
    assert not _holds(found, "O-100")
