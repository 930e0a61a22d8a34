"""Study `gc`: claims, and loads fitted to the tables."""

import json
from itertools import pairwise

import pytest

import wordline
import wordline_studies as studies
from wordline_studies.figure import Setup
from wordline_studies.gc.loads import (
    AT_ONCE,
    BLOCK,
    HIGH,
    OF_64_GB,
    QUARTERS,
    SHORT_US,
    STRETCHES,
    TABLE,
    THREE_SSDS,
    WRITES,
    block_of,
    count,
    duration_s,
    in_turn,
    of_disk,
    of_member,
    page_of,
    quarters,
    simulated,
    writes_of,
)
from wordline_studies.gc.runs import Load, case
from wordline_studies.gc.schemes import BOTH, COMPACT_BELOW, COMPARED, SCHEMES, SPARE, THRESHOLD
from wordline_studies.generated import written
from wordline_studies.results import run


@pytest.mark.slow
def test_no_claim_has_an_unexpected_outcome(tmp_path) -> None:
    place = tmp_path / "gc"
    run(studies.load("gc"), Setup(quick=True)).write(place)
    told = json.loads((place / "study.json").read_text())
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    assert {figure["id"] for figure in told["figures"]} == {
        "table-7.1",
        "7.1",
        "7.8",
        "7.9",
        "7.10",
        "7.11",
        "7.12",
        "7.13",
        "7.14",
        "7.15a",
        "7.15b",
        "sections",
        "recorded",
    }


@pytest.mark.parametrize("disk", TABLE)
def test_generated_loads_match_the_table(disk: int) -> None:
    """Compares shares and mean sizes, within five standard errors and the variation of sections."""
    writes = WRITES // 8
    row, many = TABLE[disk], count(writes, disk)
    made = list(of_disk(writes, disk))
    assert len(made) == many
    gaps = [(two.at - one.at) / 1e9 for one, two in pairwise(made)]
    error = 5 * (0.25 / many) ** 0.5
    long = sum(gap > 1 for gap in gaps) / many
    assert long == pytest.approx(row.idle_percent / 100, abs=error)
    assert sum(gap == 0 for gap in gaps) > 0
    assert all(gap == 0 or 0.9e-6 * SHORT_US[0] < gap for gap in gaps)
    assert sum(one.writes for one in made) / many == pytest.approx(row.write_share, abs=error)
    for writing, mean in ((True, row.write_pages), (False, row.read_pages)):
        pages = [one.pages for one in made if one.writes == writing]
        if pages:
            rounded = 5 * (0.25 / len(pages)) ** 0.5
            assert sum(pages) / len(pages) == pytest.approx(max(1, mean), abs=rounded)
    assert all(0 <= one.first <= OF_64_GB * BLOCK - one.pages for one in made)
    # Long pauses determine the duration. Their lengths are exponentially distributed.
    assert made[-1].at / 1e9 == pytest.approx(duration_s(writes), rel=10 / (many * long) ** 0.5)


def test_writes_go_to_as_few_blocks_as_recorded() -> None:
    disk = HIGH[1]
    parts = [set(part) for part in quarters(OF_64_GB, QUARTERS, 1 + disk)]
    assert sum(map(len, parts)) == len(set().union(*parts)) == sum(QUARTERS)
    load = of_disk(WRITES // 8, disk)
    blocks = [block_of(one.first) for one in load if one.writes]
    assert set(blocks) <= set().union(*parts)
    for part in parts:
        share = sum(block in part for block in blocks) / len(blocks)
        assert share == pytest.approx(0.25, abs=5 * (0.1875 / len(blocks)) ** 0.5)


def test_writes_in_turn_repeat_no_block_before_all_others() -> None:
    writes, disk = WRITES // 8, HIGH[1]
    load, turned = list(of_disk(writes, disk)), list(in_turn(of_disk(writes, disk)))
    alike = [(one.at, one.writes, one.pages) for one in load]
    assert alike == [(one.at, one.writes, one.pages) for one in turned]
    blocks = [block_of(one.first) for one in turned if one.writes]
    for first in range(0, len(blocks), sum(QUARTERS)):
        round_ = blocks[first : first + sum(QUARTERS)]
        assert len(set(round_)) == len(round_)
    assert len(blocks) > sum(QUARTERS)
    reads = [one.first for one in turned if not one.writes]
    assert reads == [one.first for one in load if not one.writes]


def test_disks_of_a_member_have_consecutive_address_ranges() -> None:
    writes = writes_of(Setup(quick=True))
    disks = THREE_SSDS["SSD0"]
    made = list(of_member(writes, disks))
    assert all(one.at <= two.at for one, two in pairwise(made))
    behind = sum(one.first >= OF_64_GB * BLOCK for one in made)
    share = simulated(writes, disks)
    assert share == min(count(writes, disk) / TABLE[disk].requests for disk in disks)
    expected = [round(share * TABLE[disk].requests) for disk in disks]
    assert [len(made) - behind, behind] == expected


def test_tables_6_1_and_7_1_have_the_same_numbers_of_requests() -> None:
    """Compares the numbers of requests by disk with table 7.1. Table 6.1 has one more for disk
    1."""
    told = [1_509_397, 2_221_728, 500, 4_352, 12_627_396, 12_981_710]
    assert [row.requests - (disk == 1) for disk, row in TABLE.items()] == told
    assert sum(told) == 29_345_083
    # The printed total of the written KB is the sum with the printed number of disk 0.
    assert sum(row.written_kib for row in TABLE.values()) == pytest.approx(79_776_520, abs=1)


def test_numbers_of_the_reasons_follow_from_the_tables() -> None:
    """Checks the numbers that the reasons derive from the tables."""
    # Table 2.2 gives disk 0 20.7 KB per write; table 7.1 would need one more digit.
    assert TABLE[0].written_kib / TABLE[0].writes == pytest.approx(2.07, abs=0.01)
    # Long pauses: the mean of the rows is neither the printed total nor that of section 7.6.
    every = sum(row.requests for row in TABLE.values())
    mean = sum(row.idle_percent * row.requests for row in TABLE.values()) / every
    assert mean == pytest.approx(44.7, abs=0.05)
    assert all(row.idle_percent > 34.6 for row in TABLE.values())
    # The shares of section 7.6.
    assert pytest.approx(35.9 / (100 - 34.6)) == AT_ONCE
    # Figure 7.9(c) shows four million writes of disk 5.
    assert TABLE[5].writes < 4_000_000
    # Pauses of disk 5 of at least a second, in days.
    assert TABLE[5].requests * TABLE[5].idle_percent / 100 / 86_400 > 60
    # Shares of the two groups in the traffic: 80 and 20 %.
    busy = sum(TABLE[disk].kib for disk in HIGH) / sum(row.kib for row in TABLE.values())
    assert busy == pytest.approx(0.78, abs=0.005)
    # AGC+DGC keeps more blocks free than L-FTL at 1 %. With a threshold of a third of 3 % it keeps
    # as many.
    assert COMPACT_BELOW * SPARE > THRESHOLD
    assert pytest.approx(1 / 3) == THRESHOLD / SPARE


def test_pages_of_logical_blocks_map_to_host_pages_and_back() -> None:
    """Rows of 8 pages are striped over 64 planes."""
    places: dict[int, list[int]] = {}
    for page in range(2 * 64 * BLOCK):
        row = page // 8
        places.setdefault(row // 64 // 16 * 64 + row % 64, []).append(page)
    for block, pages in places.items():
        assert [page_of(block, place) for place in range(BLOCK)] == pages
        assert {block_of(page) for page in pages} == {block}


def test_sections_have_about_20_000_requests_at_full_scale() -> None:
    """Disk 5 has at least 600,000 simulated requests, in 32 stretches."""
    assert count(WRITES, HIGH[1]) >= 600_000
    assert count(WRITES, HIGH[1]) / STRETCHES == pytest.approx(20_000, rel=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_configuration_of_every_scheme_is_valid(scheme: str, tmp_path) -> None:
    one = case(Load("none", tmp_path, 100.0), scheme)
    wordline.config.check(one.device, one.overrides)


def test_schemes_serve_the_same_requests_with_the_same_capacity() -> None:
    writes = writes_of(Setup(quick=True))
    asked = set()
    with written({"disk 2": of_disk(writes, 2)}) as paths:
        for scheme in COMPARED:
            one = case(Load("disk 2", paths["disk 2"], duration_s(writes)), scheme)
            summary = wordline.run(
                one.device, one.trace, overrides=one.overrides, requests=False
            ).summary
            told = summary["input"]
            device = summary["device"]
            asked.add((told["requests"], told["written_bytes"], told["read_bytes"]))
            assert device["user_bytes"] == pytest.approx(0.97 * 2**36, rel=1e-4)
        one = case(Load("disk 2", paths["disk 2"], duration_s(writes)), BOTH)
        again = [wordline.run(one.device, one.trace, overrides=one.overrides) for _ in range(2)]
        digests = {ran.summary["digest"] for ran in again}
    assert len(asked) == 1
    assert len(digests) == 1
    assert not paths["disk 2"].exists()
