"""Study `nand`: reasons why claims do not hold, and effects of the study's choices."""

from typing import Literal

import pytest

import wordline
from wordline._api.package import MigrateMode
from wordline.config import Value
from wordline_studies.nand.loads import TABLE


def ms(blocks: int, mode: MigrateMode, more: dict[str, Value] | None = None) -> float:
    overrides: dict[str, Value] = {"nand.geometry.planes_per_die": 2, **(more or {})}
    return wordline.package("jung2013-mlc1", overrides).migrate(blocks, mode)["elapsed_ps"] / 1e9


def test_an_internal_move_saves_two_transfers_only() -> None:
    """Time per page in us: read 50, program 1,194.5 on average, transfers 51.2 out and 51.2 in, and
    a 128th of two erases."""
    erases = 2 * 2500 / 128
    nominal = ms(16, "legacy") / ms(16, "move")
    assert nominal == pytest.approx((1244.5 + erases + 102.4) / (1244.5 + erases), abs=0.003)
    fast: dict[str, Value] = {"nand.timing.program_ns": [250_000, 250_000]}
    fastest = ms(16, "legacy", fast) / ms(16, "move", fast)
    assert fastest == pytest.approx((300 + erases + 102.4) / (300 + erases), abs=0.003)


def test_an_internal_move_halves_the_time_if_the_bus_is_as_slow_as_the_array() -> None:
    """2,048 bytes out and in within 1,244.5 us are 3.3 MB/s."""
    slow: dict[str, Value] = {"nand.timing.bus_mt_per_s": 2 * 2048 / 1244.5}
    moved = ms(16, "legacy", slow) / ms(16, "move", slow)
    assert moved == pytest.approx(2, abs=0.05)


def test_a_mode_twice_as_fast_as_legacy_is_as_fast_as_2x() -> None:
    """2x doubles the throughput of legacy (section 2.8.2). A mode twice as fast as legacy is
    therefore as fast as 2x."""
    legacy, two = ms(16, "legacy"), ms(16, "multi-plane")
    internal = ms(16, "multi-plane-move")
    assert legacy / internal == pytest.approx(2, abs=0.2)
    assert two / internal < 1.2


def test_migration_modes_differ_only_with_a_second_source() -> None:
    """With one source, the second plane has no block. With two sources, two planes halve the
    time."""
    modes: tuple[MigrateMode, ...] = ("legacy", "multi-plane-move")
    one = [ms(1, mode) for mode in modes]
    two = [ms(2, mode) for mode in modes]
    assert one[0] / one[1] < 1.1
    assert two[0] / two[1] > 1.8


def test_only_modes_without_the_host_gain_from_a_second_die() -> None:
    """Internal moves proceed on both dies (figure 2.15); the host copies one block after the
    other."""
    package = {
        dies: wordline.package("jung2013-mlc1", {"nand.geometry.dies_per_package": dies})
        for dies in (1, 2)
    }
    moves, copies = (
        [
            package[dies].migrate(16, mode, interleaved=dies == 2 and mode == "move")["elapsed_ps"]
            for dies in (1, 2)
        ]
        for mode in ("move", "legacy")
    )
    assert moves[0] / moves[1] == pytest.approx(2, abs=0.02)
    assert copies[0] / copies[1] == pytest.approx(1, abs=0.02)


def test_more_blocks_do_not_widen_the_gap_of_one_plane_modes() -> None:
    """Saved and hidden bus time is the same share of every block."""
    for mode in ("move", "cache"):
        gaps = [ms(blocks, "legacy") / ms(blocks, mode) for blocks in (1, 16)]
        assert gaps[0] == pytest.approx(gaps[1], rel=0.01)


@pytest.mark.parametrize(("operation", "array_us"), [("read", 50), ("program", 1194.5)])
def test_cache_mode_gains_the_stage_that_it_hides(
    operation: Literal["read", "program"], array_us: float
) -> None:
    """Legacy mode takes array and bus in turn, cache mode the longer of the two and, at the start
    of a block, both."""
    package = wordline.package("jung2013-mlc1", {"nand.scheduler": "die-first"})
    legacy, cache = (
        package.stream(operation, requests=8192, cache_rows=rows)["bandwidth_mb_per_s"]
        for rows in (1, 512)
    )
    hidden = min(array_us, 51.2) / max(array_us, 51.2)
    assert 0.85 * hidden < cache / legacy - 1 < 1.05 * hidden


@pytest.mark.parametrize(
    ("name", "writes", "reads"), [("msnfs", 1_467_625, 41_772), ("fin", 4_099_354, 1_235_633)]
)
def test_shares_of_table_2_2_are_shares_of_the_data(name: str, writes: int, reads: int) -> None:
    """As such, they give the shares of the requests of table 6.1."""
    assert TABLE[f"{name}, table 2.2"].write_ratio == pytest.approx(
        writes / (writes + reads), abs=0.01
    )
