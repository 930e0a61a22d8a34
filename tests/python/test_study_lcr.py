"""Study `lcr`: claims, and loads fitted to the table."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import wordline
import wordline_studies as studies
from wordline import cli
from wordline.summary import Summary
from wordline_studies.bursts import WRITES, drawn
from wordline_studies.figure import Setup
from wordline_studies.lcr.loads import (
    LOADS,
    TABLE,
    Again,
    Playback,
    requests,
    written,
)
from wordline_studies.lcr.policies import ALL, CFLRU, GCAR, LCR, LRU, chosen, further, less
from wordline_studies.lcr.reasons import BASE, FRESH
from wordline_studies.lcr.runs import (
    DEVICE,
    PUBLISHED,
    WORN,
    case,
    clean_percent,
    hit_percent,
    playback,
)
from wordline_studies.measures import latency_us
from wordline_studies.results import run

MANY = 40_000


@pytest.mark.slow
def test_no_claim_has_an_unexpected_outcome(tmp_path: Path) -> None:
    place = tmp_path / "lcr"
    run(studies.load("lcr"), Setup(quick=True)).write(place)
    told = json.loads((place / "study.json").read_text())
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    assert {figure["id"] for figure in told["figures"]} == {
        "2",
        "5",
        "6",
        "7",
        "8",
        "9",
        "10",
        "clean",
        "reuse",
        "reasons",
        "recorded",
    }


def test_published_gains_over_gcar_are_points_of_lrus_time() -> None:
    """On proj_0 the paper gives all three gains; relative to GCaR-CFLRU, LCR's would be 13.9 %."""
    lru, gcar, both = (
        PUBLISHED("5", f"proj_0: mean response time, reduction by {what}").value
        for what in (
            "LCR relative to LRU",
            "GCaR-CFLRU relative to LRU",
            "LCR minus that by GCaR-CFLRU, relative to LRU",
        )
    )
    assert isinstance(lru, float)
    assert isinstance(gcar, float)
    assert both == pytest.approx(lru - gcar)
    times = {LRU: 100.0, GCAR: 100 - gcar, LCR: 100 - lru}
    assert further(times) == pytest.approx(both)
    assert less(times, LCR, GCAR) == pytest.approx(13.9, abs=0.05)


@pytest.mark.parametrize("name", TABLE)
def test_generated_loads_match_the_table(name: str) -> None:
    """Compares share of writes, mean size and rate, within five standard errors."""
    load = TABLE[name]
    made = list(requests(load, Playback(MANY)))
    assert len(made) == MANY
    # The number of independent draws is at least that of bursts of the longer kind.
    error = 5 * (0.25 * (WRITES.mean if load.bursts else 1) / MANY) ** 0.5
    assert sum(one.writes for one in made) / MANY == pytest.approx(
        load.writes_percent / 100, abs=error
    )
    # A share of the requests has sixteen pages, the others one or two.
    pages = sum(one.pages for one in made) / MANY
    assert pages == pytest.approx(max(load.small, load.kib / 4), abs=15 * error)
    assert {one.pages for one in made} <= {load.small, 16}
    assert all(0 <= one.first <= load.pages - one.pages for one in made)
    # Bursts make the duration vary more than that of a Poisson process.
    assert made[-1].at / 1e9 == pytest.approx(MANY / load.rate, rel=0.1)
    assert all(one.at <= two.at for one, two in pairwise(made))


def test_request_sizes_are_twice_those_of_table_iii() -> None:
    """Table III of the paper and table 8 of Xia's thesis describe the same recordings."""
    table_iii = {"web_0": 7.64, "ts_0": 4.64, "proj_0": 19.06, "wdev_2": 4.08}
    for name, kib in table_iii.items():
        assert TABLE[name].kib / kib == pytest.approx(2, abs=0.06), name


@pytest.mark.parametrize("name", ["web_0", "web_0, recorded reuse"])
def test_writes_are_repeated_at_the_ages_of_their_load(name: str) -> None:
    """Checks the share of repeated writes, and that half of their ages are below the median."""
    load = LOADS[name]
    assert isinstance(load.writes, Again)
    ages, last, fresh = [], {}, 0
    small = (one.first for one in requests(load, Playback(100_000)) if one.writes)
    for turn, first in enumerate(small):
        if first in last:
            ages.append(turn - last[first])
        else:
            fresh += 1
        last[first] = turn
    assert len(ages) / (len(ages) + fresh) == pytest.approx(load.writes.share, abs=0.03)
    # A repeated page is younger than the request from which it was drawn.
    median = drawn(load.writes.ages, 0.5) / (load.small if load.writes.in_pages else 1)
    assert 0.3 * median < sorted(ages)[len(ages) // 2] < 1.1 * median


def test_a_burst_only_reads_or_only_writes() -> None:
    made = list(requests(TABLE["web_0"], Playback(MANY)))
    near = [one.writes == two.writes for one, two in pairwise(made) if two.at - one.at < 1_000_000]
    assert len(near) > MANY / 2
    assert sum(near) / len(near) > 0.99


@pytest.mark.parametrize("policy", ALL)
def test_the_device_accepts_every_policy(policy: str) -> None:
    told = wordline.config.show(DEVICE, chosen(policy, 0.25))
    named = f"[buffer.replacement.{policy}]"
    assert named in told or f'replacement = "{policy}"' in told
    assert "window_ratio = 0.25" in told or policy == LRU


def played(
    name: str, many: int, policy: str, window: float = 0.5, *, bursts: bool = True
) -> Summary:
    """Returns the summary of a load of the study on a device of an eighth of the size."""
    setup = Setup()
    paths = written(setup, {name: (name, playback(setup, many, bursts=bursts))})
    one = case(setup, name, paths[name], policy, window=window)
    return wordline.run(DEVICE, one.trace, overrides=one.overrides).summary


@pytest.mark.parametrize(("name", "percent"), [("web_0", 76), ("ts_0", 40)])
def test_clean_replacements_match_the_document(name: str, percent: int) -> None:
    assert clean_percent(played(name, 60_000, LCR)) == pytest.approx(percent, abs=4)


def test_as_many_pages_leave_dirty_as_become_dirty() -> None:
    """Reason why CFLRU gains only through additional write hits.

    Relative to LRU, the reduction in dirty evictions equals the additional write hits plus the
    additional dirty pages left at the end. The tolerance is a tenth: a write to a page that is
    being loaded or evicted counts as a miss, but makes no new page dirty.
    """
    lru, cflru = (played("web_0", 60_000, policy)["buffer"] for policy in (LRU, CFLRU))
    assert lru
    assert cflru
    for buffer in (lru, cflru):
        became = buffer["write_misses"]
        left = buffer["dirty_evictions"] + buffer["dirty_pages_left"]
        assert left == pytest.approx(became, rel=0.05)
    fewer = lru["dirty_evictions"] - cflru["dirty_evictions"]
    more = cflru["write_hits"] - lru["write_hits"]
    put_off = cflru["dirty_pages_left"] - lru["dirty_pages_left"]
    assert fewer == pytest.approx(more + put_off, rel=0.1)
    assert more > 0.5 * fewer


def test_a_window_of_the_whole_buffer_loses_repeated_reads() -> None:
    """Reason why hits depend on the window: those of web_0 do so only above a half, and those
    of proj_0 do not, because its reads are not repeated."""

    def hits(name: str, window: float) -> float:
        return hit_percent(played(name, 30_000, LCR, window))

    half = hits("web_0", 0.5)
    assert abs(hits("web_0", 1 / 64) - half) < 2 < half - hits("web_0", 1)
    assert abs(hits("proj_0", 0.5) - hits("proj_0", 1)) < 1


def test_lcr_gains_more_on_wdev_2_if_gc_runs() -> None:
    """On a device that is only filled, GC never runs and LCR gains less than 5 %. On a worn one, it
    gains more than 5 %."""
    setup = Setup()
    path = written(setup, {"wdev_2": ("wdev_2", playback(setup, 22_000))})["wdev_2"]
    gains = []
    for more in ({}, WORN):
        runs = [case(setup, "wdev_2", path, one, more=more) for one in (LRU, LCR)]
        lru, lcr = (
            latency_us(wordline.run(DEVICE, one.trace, overrides=one.overrides).summary)
            for one in runs
        )
        gains.append(100 * (1 - lcr / lru))
    assert gains[0] < 5 < gains[1]


def test_window_size_affects_proj_0_only_if_requests_arrive_in_bursts() -> None:
    def gain(*, bursts: bool) -> float:
        small, half = (
            latency_us(played("proj_0", 12_000, LCR, window, bursts=bursts))
            for window in (1 / 64, 0.5)
        )
        return 100 * (1 - half / small)

    assert gain(bursts=True) > 5
    assert abs(gain(bursts=False)) < 1


def test_window_size_affects_ts_0_more_with_recorded_reuse() -> None:
    """With recorded reuse, the gain of a window of a half over one of 1/64 is more than a third
    larger. The share of writes is the same."""
    gains = []
    for name in ("ts_0", "ts_0, recorded reuse"):
        small, half = (latency_us(played(name, 100_000, LCR, window)) for window in (1 / 64, 0.5))
        gains.append(100 * (1 - half / small))
    assert gains[1] > 4 / 3 * gains[0] > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["nand", "--full"],
            "--full: the study 'nand' is not scaled down by default; leave the option out",
        ),
        (
            ["lcr", "--full", "--quick"],
            "--full and --quick exclude each other; leave one out",
        ),
    ],
)
def test_the_option_full_is_rejected_if_it_has_no_effect(
    place: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert cli.main(["study", *options]) == 2
    assert said in capsys.readouterr().err
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("full", [False, True])
def test_the_device_without_gc_is_larger_than_that_of_the_load(tmp_path: Path, full: bool) -> None:
    setup, key = Setup(full=full), "nand.geometry.blocks_per_plane"
    blocks: dict[str, Any] = {
        variant.title: case(
            setup, "proj_0", tmp_path, LRU, more=variant.overrides(setup)
        ).overrides[key]
        for variant in (BASE, FRESH)
    }
    assert blocks[FRESH.title] == 8 * blocks[BASE.title]
