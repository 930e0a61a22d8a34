"""Write-back flash cache in front of a disk, from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import wordline as package

ROOT = Path(__file__).parents[2]
TRACE = str(ROOT / "traces" / "postgresql-mixed.csv.gz")
STORE = "demo-store"
FEW = 40_000
MODES = ("write-around", "write-through", "write-back", "write-only", "pass-through")
DIVISIONS: dict[str, Any] = {
    "unified": "unified",
    "split": "split",
    "rw-fcl": {"rw-fcl": {"period_requests": 4_000}},
    "op-fcl": {"op-fcl": {"period_requests": 4_000}},
    "locality-driven": {"locality-driven": {"window_bytes": 50_000_000, "curve": "exact"}},
}

Command = Callable[..., CompletedProcess[str]]


def run(overrides: dict[str, Any] | None = None, **options: Any) -> package.Result:
    return package.run(
        STORE, trace=TRACE, overrides=overrides or {}, max_requests=FEW, requests=False, **options
    )


@pytest.mark.parametrize("mode", MODES)
def test_each_cache_mode_keeps_the_documented_pages(mode: str):
    summary = run({"cache.mode": mode, "cache.partition": "unified"}, verify=True).summary
    cache, given = summary["cache"], summary["input"]
    assert cache is not None
    assert summary["error"] is None
    (disk,) = summary["disks"]
    kept = cache["write_hits"] + cache["write_misses"]
    if mode in ("write-back", "write-only"):
        assert kept > 0
        assert disk["writes"] < given["writes"]
        assert cache["destaged_on_demand"] > 0
        assert cache["dirty_pages"] > 0
    else:
        assert (kept, cache["dirty_pages"]) == (0, 0)
        assert disk["writes"] == given["writes"]
    assert (cache["fills"] > 0) == (mode not in ("write-only", "pass-through"))
    total = sum(value for value in summary["breakdown"]["all"].values() if value)
    assert total == pytest.approx(summary["latency"]["all"]["mean_us"], rel=1e-9)


@pytest.mark.parametrize("mode", MODES)
def test_power_cuts_lose_only_writes_in_the_cache_of_the_disk(
    wordline: Command, mode: str, place: Path
):
    arguments = ("--trace", TRACE, "--max-requests", str(FEW), "--set", f"cache.mode={mode}")
    cut = ("--verify", "--power-cut-every", "400", "--no-report", "--out", "cut")
    done = wordline("run", STORE, *arguments, *cut)
    assert done.returncode == 0, done.stderr
    summary = json.loads((place / "cut" / "summary.json").read_text())
    assert summary["error"] is None
    assert summary["power"]["cuts"] > 50
    assert summary["cache"]["pages_checked"] > FEW / 2
    power, kept = summary["power"], mode in ("write-back", "write-only")
    assert (power["cache_pages_restored"] > 0) == kept
    # The disk has a write cache. A power cut loses bypassed writes in it, but no destages.
    assert (power["pages_lost"] == 0) == kept
    ended = summary["latency"]["all"]["count"] + power["requests_lost"]
    assert ended >= summary["input"]["requests"]


def test_recoveries_with_block_summaries_read_fewer_pages(wordline: Command, place: Path):
    found: dict[bool, Any] = {}
    for summaries in (False, True):
        out = f"summaries-{summaries}"
        given = f"cache.block_summaries={str(summaries).lower()}"
        done = wordline(
            "run",
            STORE,
            "--trace",
            TRACE,
            "--verify",
            "--power-cut-every",
            "8000",
            "--set",
            given,
            "--no-report",
            "--out",
            out,
        )
        assert done.returncode == 0, done.stderr
        summary = json.loads((place / out / "summary.json").read_text())
        assert summary["error"] is None
        assert summary["power"]["pages_lost"] == 0 < summary["power"]["cache_pages_restored"]
        found[summaries] = summary
    of_blocks, of_pages = found[True], found[False]
    assert of_blocks["power"]["recovery_pages_read"] * 3 < of_pages["power"]["recovery_pages_read"]
    assert of_blocks["power"]["recovery_mean_ms"] < of_pages["power"]["recovery_mean_ms"]
    cache, flash = of_blocks["cache"], of_blocks["flash"]
    assert of_pages["cache"]["summaries"] == 0
    # Each full block of 64 pages has one, and few blocks are open when the run ends.
    assert 0.9 < cache["summary_ratio"] * 64 < 1.05
    assert flash["own_page_programs"] >= cache["summaries"]


@pytest.mark.parametrize("name", DIVISIONS)
def test_the_division_changes_only_under_a_dynamic_policy(name: str, tmp_path: Path):
    result = run({"cache.partition": DIVISIONS[name]}, verify=True)
    cache = result.summary["cache"]
    assert cache is not None
    moves = name not in ("unified", "split")
    assert (cache["divisions"] > 0) == moves
    held = cache["read_list_pages"] + cache["write_list_pages"]
    assert held == cache["resident_pages"] < cache["flash_pages"]
    series = result.series.polars()
    lists = series["cache_write_list"].drop_nulls()
    assert (len(lists) > 0) == moves
    sizes = [cache["read_size_pages"], cache["write_size_pages"], cache["over_provisioning_pages"]]
    assert sum(sizes) == cache["flash_pages"]
    columns = ("cache_read_size", "cache_write_size", "cache_over_provisioning")
    chosen = [series[column].drop_nulls().to_list() for column in columns]
    assert [values[-1] for values in chosen if values] == (sizes if moves else [])
    changed = zip(chosen[1], chosen[1][1:], strict=False)
    assert any(one != other for one, other in changed) == moves
    page = tmp_path / "report.html"
    result.report(page)
    assert ("Division of the flash" in page.read_text()) == moves


def test_frequent_power_cuts_keep_the_initial_sizes():
    partition = {"cache.partition": {"op-fcl": {"period_requests": 4_000}}}
    cut, kept = run(partition, power_cut_every=200).summary, run(partition).summary
    assert cut["power"] is not None
    assert cut["power"]["cuts"] > 100
    assert cut["cache"] is not None
    assert kept["cache"] is not None
    assert cut["cache"]["divisions"] == 0 < kept["cache"]["divisions"]
    # Periods that end between two cuts change the sizes.
    short = {"cache.partition": {"op-fcl": {"period_requests": 50}}}
    often = run(short, power_cut_every=200).summary["cache"]
    assert often is not None
    assert often["divisions"] > 0


def test_group_destaging_needs_fewer_writes():
    one, many = (
        run({"cache.partition": "unified", "cache.destage.group_pages": pages}).summary["cache"]
        for pages in (1, 64)
    )
    assert one is not None
    assert many is not None
    assert one["destaged_per_write"] == 1
    assert many["destaged_per_write"] > 1.5


def test_destaging_in_idle_time_reduces_destages_on_demand():
    lazy, eager = (
        run({"cache.partition": "unified", **marks}).summary["cache"]
        for marks in (
            {},
            {"cache.destage.high_ratio": 0.3, "cache.destage.low_ratio": 0.1},
        )
    )
    assert lazy is not None
    assert eager is not None
    assert lazy["destaged_to_clean"] == 0 < eager["destaged_to_clean"]
    assert eager["destaged_on_demand"] < lazy["destaged_on_demand"]
    assert eager["dirty_pages"] < lazy["dirty_pages"]


def test_checkpoints_do_not_change_the_results_of_a_flash_cache(wordline: Command, place: Path):
    arguments = ("run", STORE, "--trace", TRACE, "--max-requests", str(FEW), "--no-report")
    whole = wordline(*arguments, "--out", "whole")
    assert whole.returncode == 0, whole.stderr
    kept = wordline(*arguments, "--out", "kept", "--checkpoint-every", "0.01s")
    assert kept.returncode == 0, kept.stderr
    one, other = (
        json.loads((place / name / "summary.json").read_text()) for name in ("whole", "kept")
    )
    assert one["digest"] == other["digest"]
    assert one["cache"] == other["cache"]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("cache.mode=write-behind", "write-back"),
        ("cache.destage.group_pages=0", "cache.destage.group_pages"),
        ("cache.destage.high_ratio=0.5", "the ratio exceeds cache.destage.high_ratio"),
        ("cache.partition=op-fc", "op-fcl"),
        ("cache.partition.split.read_ratio=1.5", "read_ratio"),
        ("nand.geometry.pages_per_block=1", "the summary of a block would leave no page for data"),
        ("ftl.over_provisioning_ratio=0.03", "ftl.over_provisioning_ratio"),
    ],
)
def test_invalid_arguments_are_reported(wordline: Command, key: str, words: str):
    own = ("--set", "cache.block_summaries=true")
    done = wordline("run", STORE, "--trace", TRACE, *own, "--set", key)
    assert done.returncode == 2, done.stdout
    assert words in done.stderr
    assert "Traceback" not in done.stderr
