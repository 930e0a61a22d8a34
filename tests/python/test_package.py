"""A NAND package alone, from Python: arguments, errors and invariants."""

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import wordline
from wordline import Package, WordlineError, _wordline

# Times of jung2013-slc in picoseconds: 25 ns per cycle, and 2,048 bytes at 40 MB/s.
CYCLE = 25_000
DATA = 2048 * CYCLE
READ, PROGRAM = 25_000_000, 250_000_000


@pytest.fixture
def slc() -> Package:
    return wordline.package("jung2013-slc")


def test_a_program_takes_the_sum_of_its_stages(slc: Package) -> None:
    report = slc.stream("program", requests=10, queue_depth=1)
    page = 7 * CYCLE + DATA + PROGRAM + 2 * CYCLE
    assert report["elapsed_ps"] == 10 * page
    assert report["latency"] == {"mean_ps": page, "max_ps": page}
    assert report["stage_ps"]["TIN"] == 10 * PROGRAM
    assert report["stage_ps"]["TOR"] == 0
    assert report["bandwidth_mb_per_s"] == pytest.approx(2048 / (page / 1e12) / 1e6)


def test_dies_modes_and_strips_sum_to_the_totals(slc: Package) -> None:
    four = wordline.package("jung2013-slc", {"nand.geometry.dies_per_package": 4})
    report = four.stream("read", requests=500, cache_rows=4, strips=True)
    dies = report["per_die"]
    assert [die["die"] for die in dies] == [0, 1, 2, 3]
    assert sum(die["transactions"] for die in dies) == report["transactions"]
    assert sum(die["bus_busy_ps"] for die in dies) == report["bus_busy_ps"]
    for stage, time in report["stage_ps"].items():
        assert sum(die["stage_ps"][stage] for die in dies) == time
        assert sum(mode["stage_ps"][stage] for mode in report["modes"]) == time
        assert time == sum(
            strip["until_ps"] - strip["from_ps"]
            for strip in report.get("strips", [])
            if strip["stage"] == stage
        )
    total = report["energy_nj"]["total"]
    assert total == pytest.approx(sum(die["energy_nj"]["total"] for die in dies))
    assert report["contention_ratio"] == report["bus_wait_ps"] / report["execution_ps"]
    assert "strips" not in slc.stream("read", requests=1)


def test_the_bus_serves_one_die_at_a_time() -> None:
    package = wordline.package("jung2013-slc", {"nand.geometry.dies_per_package": 4})
    report = package.stream("read", requests=200, strips=True)
    bus = [one for one in report.get("strips", []) if one["stage"] not in ("TON", "TIN", "BER")]
    bus.sort(key=lambda one: one["from_ps"])
    for earlier, later in pairwise(bus):
        assert earlier["until_ps"] <= later["from_ps"]


def test_four_interleaved_dies_are_four_times_as_fast() -> None:
    package = wordline.package("jung2013-slc", {"nand.geometry.dies_per_package": 4})
    together = package.stream("program", requests=400)
    alone = package.stream("program", requests=400, interleaved=False)
    assert alone["elapsed_ps"] == 400 * (7 * CYCLE + DATA + PROGRAM + 2 * CYCLE)
    assert alone["elapsed_ps"] / together["elapsed_ps"] == pytest.approx(4, rel=0.02)


def test_a_migration_moves_every_page(slc: Package) -> None:
    for mode in ("legacy", "cache", "move", "multi-plane", "multi-plane-cache", "multi-plane-move"):
        report = slc.migrate(3, mode)
        assert report["bytes"] == 3 * 64 * 2048
        assert report["energy_nj"]["program"] == pytest.approx(3 * 64 * 3.3 * 10 * 250)
        assert report["energy_nj"]["erase"] == pytest.approx(6 * 3.3 * 10 * 1500)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.stream("program", requests=10**6), "ask for fewer requests"),
        (
            lambda p: p.stream("read", requests=0),
            "requests: 0 is not between 1 and 10000000; give a number in that range",
        ),
        (lambda p: p.stream("read", requests=-1), "requests: -1 is not between"),
        (
            lambda p: p.stream("read", requests=1, queue_depth=0),
            "queue_depth: 0 is not between 1 and 1000000; give",
        ),
        (lambda p: p.stream("read", requests=1, queue_depth=10**6 + 1), "queue_depth: 1000001"),
        (
            lambda p: p.stream("read", requests=1, cache_rows=0),
            "cache_rows: 0 is not between 1 and 4096; give",
        ),
        (lambda p: p.stream("read", requests=1, cache_rows=2**31), "cache_rows: 2147483648 is"),
        (lambda p: p.stream("read", requests=1, request_bytes=0), "request_bytes: 0 is not"),
        (lambda p: p.stream("read", requests=1, request_bytes=2**64), "request_bytes: 1844"),
        (lambda p: p.stream("read", requests=1, request_bytes=2**63), "request_bytes = 9223"),
        (lambda p: p.migrate(0), "blocks: 0 is not between 1"),
        (lambda p: p.stream("erase", requests=1, cache_rows=2), "an erase has no cache mode"),
        (
            lambda p: p.stream("trim", requests=1),
            "operation: 'trim' is not one of read, program, erase",
        ),
        (lambda p: p.migrate(10**6), "blocks = 1000000"),
        (lambda p: p.migrate(1, "fast"), "mode: 'fast' is not one of legacy, cache"),
    ],
)
def test_an_invalid_argument_is_an_error(
    slc: Package, call: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(WordlineError, match=message):
        call(slc)


@pytest.mark.parametrize("value", ["yes", None, 1, 0.5])
@pytest.mark.parametrize("name", ["interleaved", "strips"])
def test_a_flag_that_is_not_boolean_is_a_type_error(slc: Package, name: str, value: Any) -> None:
    message = f"{name} must be True or False, not {value!r}"
    with pytest.raises(TypeError, match=message):
        slc.stream("read", requests=1, **{name: value})
    with pytest.raises(TypeError, match=message):
        slc.migrate(1, **{name: value})


@pytest.mark.parametrize("value", ["3", None, True, 1.5])
def test_a_count_that_is_not_an_integer_is_a_type_error(slc: Package, value: Any) -> None:
    with pytest.raises(TypeError, match="requests must be a whole number"):
        slc.stream("read", requests=value)
    with pytest.raises(TypeError, match="cache_rows must be a whole number"):
        slc.stream("read", requests=1, cache_rows=value)
    with pytest.raises(TypeError, match="blocks must be a whole number"):
        slc.migrate(value)
    with pytest.raises(TypeError, match="seed must be a whole number"):
        wordline.package("jung2013-slc", seed=value)
    with pytest.raises(TypeError, match="operation must be a string"):
        slc.stream(3, requests=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_rejected(seed: int) -> None:
    with pytest.raises(WordlineError, match=rf"seed: {seed} is not between 0 and 2\^64 - 1; give"):
        wordline.package("jung2013-slc", seed=seed)


def test_the_smallest_and_largest_seed_are_accepted() -> None:
    for seed in (0, 2**64 - 1):
        wordline.package("jung2013-slc", seed=seed).stream("read", requests=1)


def test_the_limits_are_those_of_the_simulator(slc: Package) -> None:
    limits = {"requests": 10_000_000, "queue_depth": 1_000_000, "cache_rows": 4096}
    usual = {"requests": 1, "queue_depth": 1, "cache_rows": 1, "request_bytes": 2048}
    for name, most in limits.items():
        load = {"load": "stream", "operation": "read", "interleaved": True, **usual}
        load[name] = most + 1
        with pytest.raises(WordlineError, match=f"{name} = {most + 1}"):
            _wordline.package_run(slc.text, slc.name, (), json.dumps(load), 1, False)
    for name in ("queue_depth", "cache_rows"):
        slc.stream("read", **{"requests": 1, name: limits[name]})  # type: ignore[arg-type]


def test_the_default_queue_depth_is_capped_for_large_packages() -> None:
    # A command on every die takes 64 x 64 x 4096 pages; the default depth is twice that.
    large = {
        "nand.geometry.dies_per_package": 64,
        "nand.geometry.planes_per_die": 64,
        "nand.geometry.blocks_per_plane": 2,
    }
    package = wordline.package("jung2013-slc", large)
    assert package.stream("read", requests=10, cache_rows=4096)["pages"] == 10


def test_only_the_nand_tables_are_checked() -> None:
    # Four blocks per plane are too few for a flash translation layer.
    small = wordline.package(
        "jung2013-slc",
        {"nand.geometry.blocks_per_plane": 4, "ssd.channels": 0, "host.queue_depth": 0},
    )
    assert small.stream("program", requests=2 * 4 * 64)["pages"] == 2 * 4 * 64
    assert small.migrate(4, "multi-plane-move")["bytes"] == 4 * 64 * 2048


def test_a_part_without_copyback_rejects_move_modes() -> None:
    part = wordline.package("jung2013-slc", {"nand.internal_data_move": False})
    for mode in ("move", "multi-plane-move"):
        with pytest.raises(WordlineError, match="cannot move pages inside its planes; set nand"):
            part.migrate(1, mode)
    assert part.migrate(1)["requests"] == 1


def test_an_invalid_device_is_rejected_before_any_experiment() -> None:
    with pytest.raises(WordlineError, match="page_bytes"):
        wordline.package("jung2013-slc", {"nand.geometry.page_bytes": 1000})
    with pytest.raises(WordlineError, match="nonesuch"):
        wordline.package("nonesuch")
    with pytest.raises(TypeError):
        wordline.package("jung2013-slc").stream("read", requests=1.5)  # type: ignore[arg-type]
