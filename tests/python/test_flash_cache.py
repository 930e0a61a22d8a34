"""Flash in front of a disk, from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import wordline as package

ROOT = Path(__file__).parents[2]
PAGE = 4096
TRACE = str(ROOT / "traces" / "postgresql-mixed.csv.gz")
SMALL = {
    "nand.geometry.blocks_per_plane": 200,
    "ftl.gc.start_free_pages": 640,
    "replay.mode.closed-loop.queue_depth": 1,
}

Command = Callable[..., CompletedProcess[str]]


def run(overrides: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
    result = package.run(
        "xia2017-read-cache",
        trace=TRACE,
        overrides=SMALL | (overrides or {}),
        requests=False,
        **options,
    )
    return result.summary


def test_hits_and_misses_sum_to_the_pages_read():
    summary = run()
    cache = summary["cache"]
    kinds = ("resident_hits", "suspected_hits", "joined", "misses", "bypassed")
    assert sum(cache[kind] for kind in kinds) == cache["pages_read"] > 0
    assert cache["fills"] == cache["misses"] == summary["flash"]["host_page_writes"]
    assert cache["resident_pages"] <= cache["capacity_pages"]


def test_the_suspected_queue_saves_fills_and_zero_migration_saves_relocations():
    def of_pages(overrides: dict[str, Any]) -> Any:
        """Runs requests for single pages, one at a time, so that both runs queue requests in the
        same order."""
        load = {
            "pattern": {"zipf": {"theta": 0.8}},
            "requests": 60_000,
            "read_ratio": 1.0,
            "request_bytes": PAGE,
            "working_set_ratio": 0.01,
            "arrival": {"closed-loop": {"queue_depth": 1}},
        }
        return package.run(
            "xia2017-read-cache", overrides=SMALL | overrides | {"workload": load}, requests=False
        ).summary

    plain, revived = of_pages({}), of_pages({"cache.suspected_queue": True})
    assert plain["flash"]["gc_pages_moved"] > 0
    assert revived["cache"]["suspected_hits"] > 0
    assert revived["cache"]["resident_hits"] == plain["cache"]["resident_hits"]
    assert revived["cache"]["hit_ratio"] > plain["cache"]["hit_ratio"]
    dropped = of_pages({"ftl.gc.reclaim": "zero-migration"})
    assert dropped["flash"]["gc_pages_moved"] == 0 < dropped["cache"]["dropped"]
    assert dropped["flash"]["erases"] < plain["flash"]["erases"]


def test_verify_checks_every_page_read():
    cache = run(verify=True)["cache"]
    assert cache["pages_checked"] == cache["pages_read"] - cache["joined"] > 0


def test_a_cache_emptied_by_power_cuts_continues_with_fewer_hits():
    whole, cut = run(), run(power_cut_every=20_000)
    assert cut["error"] is None
    assert cut["power"]["cuts"] > 0
    assert cut["cache"]["hit_ratio"] < whole["cache"]["hit_ratio"]


def test_a_prepared_device_for_a_flash_cache_is_rejected_in_a_sentence(wordline: Command):
    done = wordline(
        "run", "xia2017-read-cache", "--trace", TRACE, "--from=state.wls", "--out", "out"
    )
    assert done.returncode == 2, done.stderr
    assert "flash in front of a disk" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_terminal_shows_the_cache(wordline: Command, place: Path):
    done = wordline("run", "xia2017-read-cache", "--trace", TRACE, "--out", "out")
    assert done.returncode == 0, done.stderr
    summary = json.loads((place / "out" / "summary.json").read_text())
    said = " ".join(done.stdout.split())
    assert f"{summary['cache']['fills']:,} inserted" in said
    assert "The cache was empty at the start" in said


def test_lookup_results_are_reported_per_interval():
    result = package.run(
        "xia2017-read-cache",
        trace=TRACE,
        overrides=SMALL | {"cache.suspected_queue": True},
        requests=False,
    )
    cache, series = result.summary["cache"], result.series.polars()
    assert cache is not None
    for column, figure in (
        ("cache_resident_hits", "resident_hits"),
        ("cache_suspected_hits", "suspected_hits"),
        ("cache_joined", "joined"),
        ("cache_misses", "misses"),
    ):
        assert series[column].sum() == cache[figure]


def test_a_cache_works_in_front_of_an_array_of_disks():
    three = {"array.members": [{"name": "spindle", "count": 3, "disk": {"base": "atlas-10k-iv"}}]}
    summary = run(three)
    disks = summary["disks"]
    assert [disk["name"] for disk in disks] == ["spindle0", "spindle1", "spindle2"]
    assert sum(disk["read_bytes"] for disk in disks) >= summary["cache"]["misses"] * PAGE > 0
    assert all(disk["accesses"] for disk in disks)


def test_response_times_are_reported_per_tier():
    summary = run()
    cache, latency = summary["cache"], summary["latency"]
    for op in ("read", "write"):
        tiers = [cache["by_tier"][f"{op}_{tier}"] for tier in ("flash", "disk")]
        assert sum(tier["count"] for tier in tiers) == latency[op]["count"]
        total = sum(tier["count"] * tier["mean_us"] for tier in tiers if tier["count"])
        assert total == pytest.approx(latency[op]["count"] * latency[op]["mean_us"], rel=1e-9)
    flash, disk = cache["by_tier"]["read_flash"], cache["by_tier"]["read_disk"]
    assert flash["mean_us"] == cache["hit_mean_us"]
    assert disk["min_us"] >= 5_000
    assert flash["p50_us"] <= flash["p99_us"] <= flash["max_us"]
    assert cache["by_tier"]["write_flash"]["count"] == 0, "writes bypass the cache"


RARE = {
    "pattern": {"zipf": {"theta": 0.9}},
    "requests": 20_000,
    "read_ratio": 1.0,
    "request_bytes": PAGE,
    "working_set_ratio": 0.002,
    "arrival": {"poisson": {"iops": 40.0}},
}


def test_the_estimated_disk_load_without_the_cache_matches_the_disk_alone():
    """40 reads per second of 5 ms each keep the disk busy for a fifth of the time."""
    load = {"workload": RARE, "disk.serial": True, "replay.mode": "open-loop"}
    cached = package.run("xia2017-read-cache", overrides=load, requests=False).summary["cache"]
    assert cached is not None
    assert cached["disk_utilisation_without"] == pytest.approx(0.2, rel=0.03)
    assert 0 < cached["disk_utilisation"] < cached["disk_utilisation_without"]
    alone = package.run(
        "disk-5ms",
        overrides={"workload": RARE, "disk.serial": True, "disk.capacity_bytes": 17_179_869_184},
        requests=False,
    ).summary["disks"][0]
    assert cached["disk_utilisation_without"] == pytest.approx(alone["utilisation"], rel=0.03)


def test_the_curve_passes_through_the_hit_ratio_of_an_lru_cache():
    """Requests are single pages, one at a time, so the run is an LRU cache. The curve is estimated
    independently of it."""
    load = {
        "pattern": {"zipf": {"theta": 0.7}},
        "requests": 200_000,
        "read_ratio": 1.0,
        "request_bytes": PAGE,
        "working_set_ratio": 0.01,
        "arrival": {"closed-loop": {"queue_depth": 1}},
    }
    settings = SMALL | {"workload": load}
    summary = package.run("xia2017-read-cache", overrides=settings, requests=False).summary
    cache = summary["cache"]
    assert cache is not None
    assert 0.2 < cache["hit_ratio"] < 0.9
    assert 1 - cache["lru_miss_ratio"] == pytest.approx(cache["hit_ratio"], abs=0.03)
    points = cache["miss_ratio_curve"]
    assert [point["size_pages"] for point in points] == sorted(
        point["size_pages"] for point in points
    )
    assert points[0]["miss_ratio"] > points[-1]["miss_ratio"]
    without = package.run(
        "xia2017-read-cache", overrides=settings | {"observe.miss_ratio_pages": 0}, requests=False
    ).summary
    assert without["digest"] == summary["digest"]
    assert without["cache"] is not None
    assert without["cache"]["miss_ratio_curve"] == []
    assert without["cache"]["lru_miss_ratio"] is None


def test_report_plots_the_run_as_a_point_with_the_hit_ratio_curve(tmp_path: Path):
    from wordline._render.html import charts_of

    result = package.run("xia2017-read-cache", trace=TRACE, overrides=SMALL, requests=False)
    drawn = charts_of(result.report(tmp_path / "report.html").read_text())["cache-curve"]
    cache = result.summary["cache"]
    assert cache is not None
    curve, point = drawn["data"]
    assert point["x"] == [cache["capacity_pages"]]
    assert point["y"] == [pytest.approx(100 * cache["hit_ratio"], abs=0.01)]
    assert len(curve["x"]) > 5


class TestCacheOnFlash:
    def test_only_policies_that_can_run_on_flash_have_results_on_flash(self):
        found = package.cache(
            TRACE,
            ["lru", "arc:p=integer", "belady"],
            ["40%"],
            flash="d4",
            jobs=1,
            overrides={"replay.mode.closed-loop.queue_depth": 1},
        )
        lru, arc, belady = found.runs
        assert "flash" not in belady
        for run in (lru, arc):
            side = run["flash"]
            assert side["capacity_pages"] >= run["size_pages"]
            assert all(side[key] for key in ("hit_ratio", "mean_us", "page_programs"))
        table = found.table.polars()
        assert table["flash_erases"].to_list() == [
            lru["flash"]["erases"],
            arc["flash"]["erases"],
            None,
        ]

    def test_without_a_feasible_size_notes_give_the_reasons(self, wordline: Command, place: Path):
        done = wordline("cache", TRACE, "lru", "64p", "--flash", "d4", "--out", "out")
        assert done.returncode == 0, done.stderr
        assert "No flash device of 64 pages" in " ".join(done.stdout.split())
        assert "disk busy" not in done.stdout
        page = next((place / "out").glob("*.html")).read_text()
        assert "None of the sizes fits this device" in page

    def test_an_infeasible_size_is_reported_in_a_note(self):
        found = package.cache(TRACE, "lru", ["64p", "40%"], flash="d4", jobs=1)
        told = found.summary["on_flash"]
        assert told is not None
        assert "flash" not in found.runs[0]
        assert "flash" in found.runs[1]
        assert any("64 pages" in note for note in told["notes"])

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--flash", "nothing"], "nothing"),
            (["--flash", "d4", "--disk", "d4"], "has no disk"),
            (["--flash", "d4", "--page-bytes", "8192"], "4096"),
            (["--set", "cache.suspected_queue=true"], "flash"),
            (["--flash", "atlas-10k"], "this is a hard disk"),
            (["--disk", "nearline-7200"], "disk = nearline-7200"),
            (["--flash", "d4", "--set", "cache.replacement=arc"], "cache.replacement"),
            (["--flash", "d4", "--set", "cache.replacement.arc.p=real"], "cache.replacement"),
            (["--flash", "d4", "--set", "host.interface=nvme"], "host.interface"),
        ],
    )
    def test_invalid_arguments_are_reported(
        self, wordline: Command, arguments: list[str], words: str
    ):
        done = wordline("cache", TRACE, "lru", "40%", *arguments)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr
