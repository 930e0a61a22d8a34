"""The study of garbage collection scheduling: claims as asserted, loads of the table."""

import json
from itertools import pairwise

import pytest

import wordline
import wordline.study as studies
from wordline.study import Setup
from wordline.study.gc.loads import (
    BLOCK,
    HIGH,
    OF_64_GB,
    QUARTERS,
    SHORT_US,
    TABLE,
    THREE_SSDS,
    count,
    duration_s,
    in_turn,
    of_disk,
    of_member,
    quarters,
)
from wordline.study.gc.runs import Load, case
from wordline.study.gc.schemes import BOTH, COMPARED, SCHEMES, SIX
from wordline.study.results import run
from wordline.study.traces import written


@pytest.mark.slow
def test_every_claim_is_as_asserted(tmp_path) -> None:
    place = tmp_path / "gc"
    run(studies.load("gc"), Setup(quick=True)).write(place)
    told = json.loads((place / "study.json").read_text())
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    assert {figure["id"] for figure in told["figures"]} == {
        "table-7.1", "7.1", "7.8", "7.9", "7.10", "7.11", "7.12", "7.13", "7.14", "7.15a", "7.15b",
        "sections", "recorded",
    }  # fmt: skip


@pytest.mark.parametrize("disk", TABLE)
def test_generated_loads_are_those_of_the_table(disk: int) -> None:
    """Shares and mean sizes, within five standard errors and the chance of sections."""
    setup = Setup()
    row, many = TABLE[disk], count(setup, disk)
    made = list(of_disk(setup, disk))
    assert len(made) == many
    gaps = [(two.at - one.at) / 1e9 for one, two in pairwise(made)]
    error = 5 * (0.25 / many) ** 0.5
    long = sum(gap > 1 for gap in gaps) / many
    assert long == pytest.approx(row.idle_percent / 100, abs=error)
    assert all(gap <= SHORT_US[1] / 1e6 or gap > 1 for gap in gaps)
    assert sum(one.writes for one in made) / many == pytest.approx(row.writes, abs=error)
    pages = sum(one.pages for one in made) / many
    assert pages == pytest.approx(max(1, row.pages), abs=error)
    assert all(0 <= one.first <= OF_64_GB * BLOCK - one.pages for one in made)
    # Each of the quarters takes a quarter of the writes: so many pauses, so long a time.
    assert made[-1].at / 1e9 == pytest.approx(duration_s(setup), rel=10 / (many * long) ** 0.5)


def test_writes_go_to_as_few_blocks_as_recorded() -> None:
    disk = HIGH[1]
    parts = [set(part) for part in quarters(OF_64_GB, QUARTERS, 1 + disk)]
    assert sum(map(len, parts)) == len(set().union(*parts)) == sum(QUARTERS)
    blocks = [one.first // BLOCK for one in of_disk(Setup(), disk) if one.writes]
    assert set(blocks) <= set().union(*parts)
    for part in parts:
        share = sum(block in part for block in blocks) / len(blocks)
        assert share == pytest.approx(0.25, abs=5 * (0.1875 / len(blocks)) ** 0.5)


def test_writes_in_turn_come_back_after_all_others() -> None:
    setup, disk = Setup(), HIGH[1]
    load, turned = list(of_disk(setup, disk)), list(in_turn(of_disk(setup, disk)))
    alike = [(one.at, one.writes, one.pages) for one in load]
    assert alike == [(one.at, one.writes, one.pages) for one in turned]
    blocks = [one.first // BLOCK for one in turned if one.writes]
    for first in range(0, len(blocks), sum(QUARTERS)):
        round_ = blocks[first : first + sum(QUARTERS)]
        assert len(set(round_)) == len(round_)
    assert len(blocks) > sum(QUARTERS)
    reads = [one.first for one in turned if not one.writes]
    assert reads == [one.first for one in load if not one.writes]


def test_disks_of_a_member_lie_one_behind_the_other() -> None:
    setup = Setup(quick=True)
    disks = THREE_SSDS["SSD1"]
    made = list(of_member(setup, disks))
    assert all(one.at <= two.at for one, two in pairwise(made))
    behind = sum(one.first >= OF_64_GB * BLOCK for one in made)
    assert (len(made) - behind, behind) == tuple(count(setup, disk) for disk in disks)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_is_a_sound_device(scheme: str, tmp_path) -> None:
    one = case(Load("none", tmp_path, 100.0), scheme)
    wordline.config.check(SIX, one.overrides)


def test_schemes_serve_the_same_requests_on_as_many_bytes() -> None:
    setup = Setup(quick=True)
    asked = set()
    with written({"disk 2": of_disk(setup, 2)}) as paths:
        for scheme in COMPARED:
            one = case(Load("disk 2", paths["disk 2"], duration_s(setup)), scheme)
            summary = wordline.run(SIX, one.trace, overrides=one.overrides, requests=False).summary
            told = summary["input"]
            device = summary["device"]
            asked.add((told["requests"], told["written_bytes"], told["read_bytes"]))
            assert device["user_bytes"] == pytest.approx(0.97 * 2**36, rel=1e-4)
        digests = {
            wordline.run(SIX, one.trace, overrides=one.overrides, requests=False).summary["digest"]
            for one in [case(Load("disk 2", paths["disk 2"], duration_s(setup)), BOTH)] * 2
        }
    assert len(asked) == 1
    assert len(digests) == 1
    assert not paths["disk 2"].exists()
