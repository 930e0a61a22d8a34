"""Study `device-lab`: claims, closed forms, and the drives named in the text."""

import json
import tomllib
from math import ceil
from pathlib import Path

import pytest

import wordline_studies as studies
from wordline import config
from wordline_studies.device_lab import drives, idleness, reads, runs, trims, wear, writes
from wordline_studies.figure import Setup
from wordline_studies.results import run

SETUP = Setup(quick=True)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Results of the quick study."""
    place = tmp_path_factory.mktemp("study") / "device-lab"
    run(studies.load("device-lab"), Setup(quick=True)).write(place)
    return json.loads((place / "study.json").read_text())


@pytest.fixture(scope="module")
def data(told: dict) -> dict:
    """Data of the figures, by their ids."""
    return {figure["id"]: figure["data"] for figure in told["figures"]}


def test_no_claim_has_an_unexpected_outcome(told: dict) -> None:
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    assert all(claim["because"] or claim["only_told"] for claim in claims if not claim["holds"])


def test_all_claims_of_the_chapter_are_present(told: dict) -> None:
    texts = [claim["text"] for figure in told["figures"] for claim in figure["claims"]]
    for name in (
        "R1",
        "R2",
        "R3",
        "R4",
        "P1",
        "P2",
        "P3",
        "M1",
        "W1",
        "W2",
        "W3",
        "W4",
        "W5",
        "T1",
        "T2",
        "T3",
        "B1",
    ):
        assert any(text.startswith(f"{name}: ") for text in texts), name


def test_experiments_run_on_the_drives_named_in_the_text(told: dict) -> None:
    labels = list(told["configs"])

    def on(words: str) -> set[str]:
        return {label.split(",")[0] for label in labels if f", {words}" in label}

    assert on("patterns") == {"SSD-L", "SSD-C", "SSD-Z"}
    assert on("aged") == {"SSD-L", "SSD-C", "SSD-Z"}
    assert on("layout") == {"SSD-P", "SSD-X", "SSD-Z"}
    assert on("rounds") == {"SSD-A"}
    assert on("cliff") == {"SSD-L"}, "with --quick, SSD-C is omitted"
    assert on("buffer") == {"SSD-L", "SSD-C"}
    assert on("one TRIM") == {"SSD-L", "SSD-Z", "SSD-A", "SSD-C"}
    assert on("pause") == {"SSD-L", "SSD-C"}


def test_the_page_states_the_scale_of_the_drives(told: dict) -> None:
    table = next(figure for figure in told["figures"] if figure["id"] == "table-5.1")
    assert f"{runs.SCALE} times fewer" in " ".join(table["explanation"])


@pytest.mark.parametrize("letter", drives.LETTERS)
def test_dies_are_those_of_the_preset_and_blocks_are_fewer(letter: str) -> None:
    made = runs.drive(letter, SETUP)
    whole = tomllib.loads(config.show(runs.preset(letter)))
    geometry, ssd = whole["nand"]["geometry"], whole["ssd"]
    assert geometry["blocks_per_plane"] == runs.WHOLE_BLOCKS
    assert made.bench.dies == ssd["channels"] * ssd["ways"] * geometry["dies_per_package"]
    assert made.bench.blocks == made.bench.dies * runs.BLOCKS
    spare = made.bench.spare_pages * made.bench.page_bytes / made.bench.flash_bytes
    assert spare == pytest.approx(whole["ftl"]["over_provisioning_ratio"], abs=1e-4)


CAPACITY = {"l": 120, "c": 256, "z": 240, "a": 251, "x": 240, "p": 240}


@pytest.mark.parametrize("letter", CAPACITY)
def test_presets_have_the_capacity_of_the_table(letter: str) -> None:
    made = runs.drive(letter.upper(), SETUP, blocks=runs.WHOLE_BLOCKS // 16)
    # In GB. A sixteenth of the drive, less at most one page per die.
    assert made.bench.user_bytes * 16 / 1e9 == pytest.approx(CAPACITY[letter], rel=1e-3)


def test_presets_state_published_and_assumed_values() -> None:
    for name in [runs.preset(letter) for letter in drives.LETTERS] + [
        "jung2013-fssd",
        "jung2013-bssd",
    ]:
        text = (Path(__file__).parents[2] / "presets" / f"{name}.toml").read_text()
        assert text.startswith("# Published (table "), name
        assert "assumed" in text, name
        assert "preemptible" in text, name


def test_an_erasing_trim_takes_the_erases_of_the_busiest_die(data: dict) -> None:
    told = data["5.13"]["us"]
    # A TRIM of 2 GiB less 32 KiB frees whole units, which the fill has spread over the dies in
    # turn. The incomplete unit keeps one page of a block on every die. The command on the bus and
    # the completion take about 10 us.
    for letter, block_mib in (("L", 2), ("Z", 4)):
        dies, erase_us = 32, 3000
        for size, kept in ((2**27, 0), (2**29, 0), (trims.LONGEST, 1)):
            blocks = ceil(size / 2**20 / block_mib / dies) - kept
            took = told[letter][str(size)]
            assert 0 < took - blocks * erase_us < 20, (letter, size)


def test_an_invalidating_trim_accesses_the_map_pages_of_its_range(data: dict) -> None:
    told = data["5.13"]["map_pages"]
    # A map page of 4 KiB has 1,024 entries of 4 bytes for 4 MiB. Units are 2 MiB (A) and 4 MiB (C).
    for letter, unit in (("A", 2**21), ("C", 2**22)):
        for size in trims.SIZES:
            freed = size // unit * unit
            assert told[letter][str(size)] == ceil(freed / 2**22), (letter, size)
    assert trims.map_pages(runs.drive("C", SETUP), 2**24) == 4


def test_writes_after_idle_time_use_the_blocks_that_gc_freed(data: dict) -> None:
    made = runs.drive("L", SETUP, blocks=idleness.BLOCKS)
    # Spare blocks are 12.6885 % of 128 blocks of 2 MiB on each of 32 dies. Half of them are free,
    # and one per die is reserved.
    spare = 0.126885 * 128
    assert idleness.freed_bytes(made) == pytest.approx((spare / 2 - 1) * 32 * 2**21, rel=0.001)
    assert data["5.15"]["fast_bytes"]["L"] == pytest.approx(idleness.freed_bytes(made), rel=0.1)


def test_parts_of_a_burst_are_averaged() -> None:
    pace = [(10_000_000, 10.0), (20_000_000, 5.0), (30_000_000, 2.0), (40_000_000, 2.0)]
    # 20 MB in 1 s and 2 s; 20 MB in 10 s.
    assert idleness.coarse(pace) == [(20_000_000, pytest.approx(20 / 3)), (40_000_000, 2.0)]
    assert idleness.fast_bytes([(10, 90.0), (20, 60.0), (30, 20.0), (40, 90.0)], 10) == 20
    assert idleness.fast_bytes([(10, 11.0), (20, 90.0)], 10) == 0


def test_rounds_of_reads_count_the_erases_since_the_previous_round() -> None:
    first, last = {"most": 2, "mean": 0.25}, {"most": 10, "mean": 0.5}
    assert wear.since(first, last) == {"most": 8, "mean": 0.25, "ratio": 32}


def test_random_reads_gain_on_random_writes_as_queue_depth_rises(data: dict) -> None:
    # A deeper queue keeps more dies reading, so the rate of reads rises relative to that of writes.
    shares = data["5.2"]["rate_percent"]
    for letter in reads.BASIC:
        of = [shares[f"{letter}, {depth}, "] for depth in (1, 4, 32)]
        assert of == sorted(of)
        assert shares[f"{letter}, 4, slow"] < shares[f"{letter}, 4, "]


def test_levels_compare_rates_before_and_after_the_cliff() -> None:
    count = 40
    series = {
        "start_s": [float(at) for at in range(count)],
        "end_s": [float(at + 1) for at in range(count)],
        "write_bytes": [90_000_000] * 10 + [30_000_000] * 30,
        "max_us": [100.0] * 10 + [1100.0] * 30,
        "gc_die_ms": [0.0] * 10 + [5.0] * 30,
    }
    told = writes.levels(series)
    assert told["rate"] == pytest.approx(3)
    assert told["worst"] == pytest.approx(11)
    assert told["stays"] == pytest.approx(1)
    assert told["at_s"] == 10
    assert writes.evenness(series) == pytest.approx(1 / 3)
