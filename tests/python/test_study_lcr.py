"""The study of load-aware cache replacement: claims as asserted, loads of the table."""

import gzip
import json
from bisect import bisect_left, bisect_right
from itertools import pairwise
from pathlib import Path

import pytest

import wordline
import wordline.study as studies
from wordline import cli
from wordline.study import Setup
from wordline.study.lcr.loads import (
    BURST_MEAN,
    BURSTS,
    GAPS_US,
    PAGES,
    TABLE,
    Playback,
    requests,
    written,
)
from wordline.study.lcr.policies import ALL, LRU, chosen
from wordline.study.lcr.runs import DEVICE, case, clean_percent
from wordline.study.measures import latency_us
from wordline.study.results import run

RECORDED = Path(__file__).parents[3] / "shared" / "traces" / "msr-rsrch_1.csv.gz"
MANY = 40_000


@pytest.mark.slow
def test_every_claim_is_as_asserted(tmp_path: Path) -> None:
    place = tmp_path / "lcr"
    run(studies.load("lcr"), Setup(quick=True)).write(place)
    told = json.loads((place / "study.json").read_text())
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    assert all(claim["because"] for claim in claims if not claim["holds"])
    assert {figure["id"] for figure in told["figures"]} == {
        "2", "5", "6", "7", "8", "9", "10", "clean", "reasons", "recorded",
    }  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_generated_loads_are_those_of_the_table(name: str) -> None:
    """Share of writes, mean size and rate, within five standard errors."""
    load = TABLE[name]
    made = list(requests(load, Playback(MANY)))
    assert len(made) == MANY
    # As many independent draws as there are bursts.
    error = 5 * (0.25 * (BURST_MEAN if load.bursts else 1) / MANY) ** 0.5
    assert sum(one.writes for one in made) / MANY == pytest.approx(
        load.writes_percent / 100, abs=error
    )
    # A share of the requests has sixteen pages, the others one.
    pages = sum(one.pages for one in made) / MANY
    assert pages == pytest.approx(max(1, load.kib / 4), abs=15 * error)
    assert {one.pages for one in made} <= {1, 16}
    assert all(0 <= one.first <= PAGES - one.pages for one in made)
    # Bursts differ in length by more than a Poisson process of them would say.
    assert made[-1].at / 1e9 == pytest.approx(MANY / load.rate, rel=0.1)
    assert all(one.at <= two.at for one, two in pairwise(made))


def test_a_burst_only_reads_or_only_writes() -> None:
    made = list(requests(TABLE["web_0"], Playback(MANY)))
    near = [one.writes == two.writes for one, two in pairwise(made) if two.at - one.at < 1_000_000]
    assert len(near) > MANY / 2
    assert sum(near) / len(near) > 0.99


@pytest.mark.skipif(not RECORDED.exists(), reason=f"put {RECORDED.name} in ../shared/traces")
def test_bursts_and_gaps_are_those_of_the_recording() -> None:
    with gzip.open(RECORDED, "rt") as lines:
        times = sorted(int(line.split(",")[0]) for line in lines if line[0].isdigit())
    gaps = [(two - one) / 10 for one, two in pairwise(times)]
    within = sorted(gap for gap in gaps if gap < 1000)
    lengths, length = [], 1
    for gap in gaps:
        if gap < 1000:
            length += 1
        else:
            lengths.append(length)
            length = 1
    lengths = sorted([*lengths, length])
    for share, value in BURSTS:
        low = bisect_left(lengths, value) / len(lengths)
        assert low - 0.01 <= share <= bisect_right(lengths, value) / len(lengths) + 0.01
    # Times have a resolution of a hundred nanoseconds.
    for share, value in GAPS_US:
        low = bisect_left(within, value - 0.2) / len(within)
        assert low - 0.01 <= share <= bisect_right(within, value + 0.2) / len(within) + 0.01
    assert pytest.approx(BURST_MEAN, rel=0.1) == len(times) / len(lengths)


@pytest.mark.parametrize("policy", ALL)
def test_the_policies_are_the_devices(policy: str) -> None:
    told = wordline.config.show(DEVICE, chosen(policy, 0.25))
    named = f"[buffer.replacement.{policy}]"
    assert named in told or f'replacement = "{policy}"' in told
    assert "window_ratio = 0.25" in told or policy == LRU


def test_with_few_pages_that_come_again_as_many_leave_dirty_as_come_in_dirty() -> None:
    """The shares of clean replacements that the loads are made of."""
    setup = Setup(quick=True)
    playback = Playback(20_000, pages=PAGES // 8)
    names = ("web_0", "ts_0")
    with written({name: (name, playback) for name in names}) as paths:
        for name, percent in zip(names, (76, 40), strict=True):
            one = case(setup, name, paths[name], LRU)
            summary = wordline.run(DEVICE, one.trace, overrides=one.overrides).summary
            assert latency_us(summary) > 0
            assert clean_percent(summary) == pytest.approx(percent, abs=4)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["nand", "--full"], "--full: the study 'nand' has no more requests; leave it out"),
        (["lcr", "--full", "--quick"], "--full and --quick: leave one of them out"),
    ],
)
def test_full_is_refused_where_it_means_nothing(
    place: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert cli.main(["study", *options]) == 2
    assert said in capsys.readouterr().err
    assert list(place.iterdir()) == []
