"""The device lab: evaluations match manual calculations, and an interrupted lab continues."""

import json
from pathlib import Path
from typing import Any

import polars
import pytest
from browser import needs_browser, require_fits
from conftest import Command

import wordline
from wordline._lab import LabInterrupted, experiments, lab, steady
from wordline._lab.experiments import (
    EXPERIMENTS,
    cliff,
    idle,
    layout,
    patterns,
    trim,
    trim_cost,
    workers,
)
from wordline._lab.test_device import on_bench
from wordline._lab.trial import of_phase
from wordline._sweep.engine import State

DEPTH = 4


def test_steady_state_range_and_slope_match_a_manual_calculation() -> None:
    # The series is its own least-squares line.
    rising = steady.window([90, 95, 100, 105, 110])
    assert (rising.average, rising.range, rising.slope) == (100, 0.2, pytest.approx(0.2))
    assert not rising.is_steady
    # Range 20 %, the limit; (-2*110 - 90 + 90 + 2*110) / 10 = 0.
    swinging = steady.window([110, 90, 100, 90, 110])
    assert (swinging.range, swinging.slope) == (pytest.approx(0.2), 0)
    assert swinging.is_steady
    # Slope 0, range 24 %.
    assert not steady.window([112, 100, 88, 100, 112]).is_steady
    # (-2*97 - 99 + 101 + 2*103) / 10 = 1.4 per round, 5.6 % over four of them.
    assert steady.window([97, 99, 100, 101, 103]).slope == pytest.approx(0.056)
    # (-2*94 - 97 + 103 + 2*106) / 10 = 3 per round: 12 % over four, at a range of 12 %.
    assert not steady.window([94, 97, 100, 103, 106]).is_steady


def test_the_first_steady_window_is_found() -> None:
    series = [400, 300, 200, 101, 99, 100, 101, 99, 50]
    found = steady.first_steady(series)
    assert found
    assert found.first == 3
    assert found.average == 100
    assert steady.first_steady(series[:7]) is None
    assert steady.first_steady([100.0] * 4) is None


def series(*rows: tuple[float, float, float, int, int]) -> dict[str, list[float]]:
    """Returns the columns of a series from its rows: start, end, maximum latency, die time of GC,
    bytes."""
    names = ("start_s", "end_s", "max_us", "gc_die_ms", "write_bytes")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


WRITES = series(
    (0, 1, 100, 0, 30_000_000),
    (1, 2, 150, 0, 20_000_000),
    (2, 3, 900, 5, 10_000_000),
    (3, 4, 700, 9, 8_000_000),
)


def test_the_cliff_begins_with_the_first_gc_run() -> None:
    found = cliff.cliff(WRITES)
    assert found == cliff.Cliff(25, 50_000_000, 2, 150, 900)
    none = cliff.cliff(series((0, 1, 100, 0, 5_000_000), (1, 2, 200, 0, 5_000_000)))
    assert none == cliff.Cliff(5, None, None, 200, 200)
    at_once = cliff.cliff(series((0, 1, 100, 3, 5_000_000)))
    assert at_once == cliff.Cliff(5, 0, 0, 100, 100)


def test_intervals_are_merged_to_the_requested_width() -> None:
    wide = cliff.intervals(WRITES, 2.0)
    assert wide == {"end_s": [2, 4], "mb_per_s": [25, 9], "max_us": [150, 900]}
    assert cliff.intervals(WRITES, 0.5)["mb_per_s"] == [30, 20, 10, 8]


def test_short_final_intervals_are_omitted_and_empty_intervals_have_no_response_time() -> None:
    # In the last 10 ms two writes end together: 800 MB/s, on a device that reaches 8 to 30 MB/s.
    ended = series(
        (5, 6, 100, 0, 30_000_000),
        (6, 7, 0, 5, 0),
        (7, 8, 700, 9, 8_000_000),
        (8, 8.01, 700, 9, 8_000_000),
    )
    for width in (1.0, 0.5):
        found = cliff.full(cliff.intervals(ended, width), 5)
        assert [one.end_s for one in found] == [1, 2, 3]
        assert [one.mb_per_s for one in found] == [30, 0, 8]
        assert [one.max_us for one in found] == [100, None, 700]


def test_the_cliff_experiment_names_missing_buffers(tiny: str) -> None:
    buffer = {"buffer.capacity_kib": 64}
    slc = {
        "ftl.slc_cache.static.ratio": 0.125,
        "nand.cell": "qlc",
        "nand.geometry.blocks_per_plane": 512,
    }

    def lacks(more: dict[str, Any]) -> str:
        return cliff.lacks(on_bench(tiny, more, depth=DEPTH, seed=1, quick=True))

    assert lacks({}) == "The drive has no SLC cache and no DRAM buffer to absorb writes."
    assert lacks(buffer) == "The drive has no SLC cache to absorb writes."
    assert lacks(slc) == "The drive has no DRAM buffer to absorb writes."
    assert lacks(buffer | slc) == ""


def test_the_share_of_stalled_intervals_is_measured() -> None:
    assert cliff.stopped([20, 1.9, 0, 2.0], 20) == 0.5


def test_ratios_are_averaged_over_sizes() -> None:
    rates = {"RR": {512: 1.0, 1024: 4.0}, "RW": {512: 2.0, 1024: 6.0}}
    assert patterns.ratios(rates, "RR") == {"RW": (2 + 1.5) / 2}


def test_the_bytes_recovered_by_a_pause_are_measured() -> None:
    # The rate is high until 30 bytes have been written; the midpoint of 90 and 10 is 50.
    pace = [(10, 90.0), (20, 90.0), (30, 60.0), (40, 20.0), (50, 90.0)]
    assert idle.recovered(pace, 10) == (30, 8)
    assert idle.recovered([(10, 11.0), (20, 9.0)], 10)[0] == 0
    bench = on_bench("d4", None, depth=DEPTH, seed=1, quick=True)
    rest = idle.AT_REST * 64 * idle.BYTES
    assert idle.gain(3 * rest, rest, bench) == 2 * rest
    assert idle.gain(2 * rest, rest, bench) == 0


def test_the_growth_of_trim_time_is_an_exponent() -> None:
    assert trim_cost.slope([1, 4, 16], [1, 7, 28]) == pytest.approx(1)
    assert trim_cost.slope([1, 4, 16], [1, 7, 7]) == 0
    assert trim_cost.slope([1, 4], [1, 2]) == pytest.approx(0.5)


def test_one_ata_command_covers_two_gib_less_32_kib() -> None:
    assert trim_cost.LONGEST == 2**31 - 32 * 1024
    bench = on_bench("consumer-tlc", None, depth=DEPTH, seed=1, quick=True)
    assert trim_cost.sizes(bench)[-1] == trim_cost.LONGEST


def test_the_gain_of_trim_is_a_fraction() -> None:
    assert trim.gained(25, 40, 10) == pytest.approx(0.5)
    assert trim.gained(10, 10.5, 10) is None


def requests(*rows: tuple[int, int, int]) -> polars.DataFrame:
    """Returns a table of requests from rows of arrival, wait for a slot, and latency.
    Microseconds."""
    return polars.DataFrame(
        [
            {
                "arrival_ps": at * 10**6,
                "host_queue_ps": wait * 10**6,
                "latency_ps": took * 10**6,
                "cell_ps": 10**6,
                "bytes": 4096,
            }
            for at, wait, took in rows
        ]
    )


def test_a_phase_has_rate_mean_and_percentiles() -> None:
    found = of_phase(requests((0, 0, 100), (0, 50, 250), (100, 0, 300)))
    # Latencies of 100, 200 and 300 µs exclude waits outside the device; the last ends after 400 µs.
    assert found["mean_us"] == 200
    assert found["max_us"] == 300
    assert found["each_us"] == [100, 200, 300]
    assert found["mb_per_s"] == pytest.approx(3 * 4096 / 400)
    assert [found["percentiles_us"][at] for at in (0, 50, 100)] == [100, 200, 300]


def test_the_pace_counts_completed_bytes() -> None:
    found = of_phase(requests(*((10 * at, 0, 10) for at in range(200))))
    assert [size for size, _ in found["pace"]] == [100 * 4096, 200 * 4096]
    assert [mb for _, mb in found["pace"]] == pytest.approx([409.6, 409.6])


def test_a_large_device_keeps_its_dies_and_its_share_of_spare_flash() -> None:
    whole = on_bench("tlc-nvme", None, depth=DEPTH, seed=1, quick=False)
    for quick in (False, True):
        made = on_bench("consumer-tlc", None, depth=DEPTH, seed=1, quick=quick)
        assert made.scale > 1
        assert (made.dies, made.planes) == (16, 64)
        per_plane = made.config["nand"]["geometry"]["blocks_per_plane"]
        assert made.scale * per_plane == 497
        spare = 1 - made.user_bytes / made.flash_bytes
        assert spare == pytest.approx(0.0913, abs=1e-4)
    assert whole.flash_bytes * whole.scale == pytest.approx(32 * 4 * 256 * 1152 * 16384, rel=1e-9)
    assert on_bench("d4", None, depth=DEPTH, seed=1, quick=True).scale == 1


def test_the_cached_map_is_scaled_with_the_device() -> None:
    made = on_bench("jung2013-ssd-c", None, depth=DEPTH, seed=1, quick=True)
    whole = on_bench(
        "jung2013-ssd-c", {"nand.geometry.blocks_per_plane": 128}, depth=DEPTH, seed=1, quick=True
    )
    assert made.scale > 1
    held = made.config["ftl"]["mapping"]["dftl"]["cache_bytes"] / made.user_bytes
    assert held == pytest.approx(220e6 / 256e9, rel=0.01)
    assert whole.scale == 1
    assert whole.config["ftl"]["mapping"]["dftl"]["cache_bytes"] == 220_000_000


def test_load_and_preconditioning_of_the_device_are_left_out(tiny: str) -> None:
    more = {"workload.requests": 5, "precondition.overwrite_ratio": 3.0, "host.queue_depth": 9}
    made = on_bench(tiny, more, depth=DEPTH, seed=1, quick=True)
    assert not {"workload", "precondition", "replay"} & set(made.config)
    assert made.config["host"]["queue_depth"] == 9


def test_the_workers_experiment_obeys_littles_law(tiny: str) -> None:
    found = lab(tiny, only=["workers"], quick=True)["workers"].figures["loads"]
    assert [row["outstanding"] for row in found] == 2 * [*workers.WORKERS, workers.QUEUE]
    for row in found:
        # At both ends of the run fewer requests are outstanding: a share of depth / requests.
        assert row["little"] == pytest.approx(row["outstanding"], rel=2 * 128 / 3000)


def test_the_cliff_is_where_free_blocks_run_out(tiny: str) -> None:
    done = lab(tiny, only=["cliff"], quick=True)
    found = done["cliff"].figures
    # A plane has 32 blocks, the user's pages fill 24, and GC starts below 3 free blocks: after 5
    # blocks of 16 pages and part of the next. Planes are written at random.
    least, most = 4 * 4 * 16, 4 * 7 * 16
    assert least <= found["first_collection_at_bytes"] / 4096 <= most
    assert found["ratio"] > 1.25
    assert "Write cliff at" in done["cliff"].verdict
    assert "no SLC cache and no DRAM buffer" in done["cliff"].verdict
    rate, worst = (plot.figure for plot in done["cliff"].plots)
    assert "no SLC cache and no DRAM buffer" in done["cliff"].plots[0].caption
    unit = {"ms": 1e-3, "s": 1.0}[rate["layout"]["xaxis"]["title"]["text"][-3:].strip("( )")]
    mark, before, settled = rate["layout"]["shapes"]
    assert mark["x0"] * unit == pytest.approx(found["cliff_at_s"])
    assert before["y0"] == pytest.approx(found["before_mb_per_s"])
    assert settled["y0"] == pytest.approx(found["steady_mb_per_s"])
    assert worst["layout"]["shapes"] == [mark]
    # Mean response time times rate equals the queue depth.
    rate = found["steady_mb_per_s"] * 1e6 / 4096
    assert rate * found["steady_mean_us"] / 1e6 == pytest.approx(DEPTH, rel=0.01)


def test_the_slc_cache_is_as_large_as_its_blocks(tiny: str) -> None:
    assert lab(tiny, only=["slc-cache"], quick=True)["slc-cache"].status == "absent"
    more = {
        "nand.cell": "qlc",
        "nand.timing.program_ns": 2_000_000,
        "nand.slc_mode.program_ns": 200_000,
        "nand.geometry.blocks_per_plane": 512,
        "nand.geometry.pages_per_block": 256,
        "ftl.slc_cache.static.ratio": 0.125,
    }
    found = lab(tiny, only=["slc-cache"], quick=True, overrides=more)["slc-cache"].figures
    # Four planes of 64 blocks, with a quarter of their 256 pages.
    pages = 4 * 64 * 64
    for row in found["states"]:
        # Measured in groups of a hundred requests of 32 pages.
        assert row["cliff_at_bytes"] / 4096 == pytest.approx(pages, abs=100 * 32), row
        assert row["ratio"] > 2
        assert row["cached_ratio"] == pages / (4 * 64 * 256)


def test_ideal_trim_restores_the_rate_of_an_erased_device_in_any_order(tiny: str) -> None:
    more = {"nand.geometry.pages_per_block": 64}
    found = lab(tiny, only=["trim"], quick=True, overrides=more)["trim"].figures["mb_per_s"]
    rates = {kind: one[4096] for kind, one in found.items()}
    assert rates["no TRIM"] < 0.8 * rates["erased"]
    # The remaining work is to erase a block for every 64 programs: 3 ms per 64 times 512 us.
    erasing = 64 * 0.512 / (64 * 0.512 + 3)
    for kind in trim.TRIMMED:
        assert rates[kind] / rates["erased"] == pytest.approx(erasing, rel=0.05)


def test_reads_cause_erases_if_read_reclaim_is_on(tiny: str) -> None:
    limit = {"nand.reliability.read_limit": 32, "nand.reliability.errors": "analytic"}
    without = lab(tiny, only=["read-wear", "reliability", "cache"], quick=True)
    assert {one.status for one in without.findings.values()} == {"absent"}
    worn = lab(tiny, only=["read-wear"], quick=True, overrides=limit)["read-wear"]
    rounds = worn.figures["rounds"]
    # A round has twice as many reads as the blocks with its data can endure.
    assert rounds[0]["erases"] > 0
    assert worn.figures["grows"]
    assert [row["erases"] for row in rounds] == sorted(row["erases"] for row in rounds)
    assert worn.figures["factor"] == 1


def test_a_pause_recovers_only_blocks_freed_by_background_gc(tiny: str) -> None:
    def given_back(schedule: str) -> int:
        more = {"ftl.gc.schedule": schedule}
        found = lab(tiny, only=["idle"], quick=True, overrides=more)["idle"].figures
        assert found["works_in_idle_time"] is (schedule == "background")
        assert all(row["idle_s"] > 1 for row in found["pauses"])
        return max(row["recovered_bytes"] for row in found["pauses"])

    assert given_back("on-demand") == 0
    # At most half of the 8 blocks per plane beyond the user capacity are freed.
    assert 0 < given_back("background") <= 4 * 8 * 16 * 4096


def test_a_used_device_has_no_deferred_free_blocks_left(tiny: str) -> None:
    more = {"ftl.gc.schedule": "background", "nand.geometry.pages_per_block": 64}
    assert on_bench(tiny, more, depth=DEPTH, seed=1, quick=True).slack == (1 + 3) * 4 * 64
    assert on_bench(tiny, None, depth=DEPTH, seed=1, quick=True).slack == 0
    found = lab(tiny, only=["trim", "cliff"], quick=True, overrides=more)
    rates = {kind: one[4096] for kind, one in found["trim"].figures["mb_per_s"].items()}
    assert rates["no TRIM"] < 0.8 * rates["erased"]
    assert found["cliff"].figures["ratio"] > 1.25


def test_layout_reads_all_written_data(tiny: str) -> None:
    bench = on_bench(tiny, None, depth=DEPTH, seed=1, quick=True)
    size = layout.space(bench)
    assert size % layout.LARGEST == 0
    assert size <= bench.user_bytes
    for name, one in layout.trials(bench).items():
        assert one.trace
        lines = [line.split(",") for line in one.trace()]
        first = one.phases[0].first
        written = sorted(int(line[2]) for line in lines[:first])
        assert written == list(range(0, size, int(name.split()[1])))
        assert {line[1] for line in lines[:first]} == {"write"}
        assert {line[1] for line in lines[first:]} == {"read"}
        assert len(lines) == one.phases[-1].last


def test_every_experiment_has_a_verdict_and_a_section_of_the_report(
    tiny: str, wordline: Command, place: Path
) -> None:
    done = wordline("lab", tiny, "--quick", "--out", "out/lab", "--no-progress")
    assert done.returncode == 0, done.stderr
    told = json.loads((place / "out/lab/lab.json").read_text())
    assert [one["name"] for one in told["experiments"]] == [one.name for one in EXPERIMENTS]
    assert all(one["verdict"].endswith(".") for one in told["experiments"])
    assert "nan" not in (place / "out/lab/lab.json").read_text().lower().split('"')
    page = (place / "out/lab/report.html").read_text()
    assert all(f'<h2 id="{one.name}">' in page for one in EXPERIMENTS)
    # The written device file is valid.
    assert wordline("config", "check", "out/lab/device.toml").returncode == 0


@needs_browser
@pytest.mark.slow
def test_the_report_is_drawn(tiny: str, place: Path, tmp_path: Path) -> None:
    lab(tiny, quick=True, out="out/lab")
    require_fits(place / "out/lab/report.html", tmp_path)


def test_an_interrupted_lab_continues(tiny: str, place: Path) -> None:
    def stop(state: State) -> None:
        if state.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(LabInterrupted) as early:
        lab(tiny, only=["patterns", "cliff"], quick=True, out="out/lab", jobs=1, progress=stop)
    journal = place / "out/lab/points.jsonl"
    kept = journal.read_bytes()
    assert early.value.kept == kept.count(b"\n") >= 3
    known: list[int] = []
    lab(
        tiny,
        only=["patterns", "cliff"],
        quick=True,
        out="out/lab",
        progress=lambda state: known.append(state.done),
    )
    assert min(known) >= early.value.kept
    # Completed trials do not run again, and the result equals that of an uninterrupted lab.
    assert journal.read_bytes().startswith(kept)
    whole = lab(tiny, only=["patterns", "cliff"], quick=True)
    assert json.loads((place / "out/lab/lab.json").read_text()) == json.loads(
        json.dumps(whole.to_json())
    )


def test_a_completed_lab_runs_nothing(tiny: str) -> None:
    lab(tiny, only=["workers"], quick=True, out="out/lab")
    heard: list[State] = []
    lab(tiny, only=["workers"], quick=True, out="out/lab", progress=heard.append)
    assert heard == []


def test_invalid_arguments_are_reported(wordline: Command, tiny: str, place: Path) -> None:
    (place / "memory.toml").write_text("schema = 1\n[ram]\ncapacity_bytes = 1_048_576\n")
    for args, told in (
        (("lab", "demos"), "no file or preset is called 'demos'; did you mean 'demo' or"),
        (("lab", "nothing.toml"), "nothing.toml: no such file"),
        (("lab", tiny, "--only", "clif"), "no experiment is called 'clif'; did you mean 'cliff'?"),
        (("lab", tiny, "--depth", "0"), "depth"),
        (("lab", "demo-store"), "demo-store: is flash in front of another store"),
        (("lab", "nearline-7200"), "nearline-7200: is a hard disk"),
        (("lab", "jung2013-gc-3ssd"), "jung2013-gc-3ssd: is an array"),
        (("lab", "memory.toml"), "memory.toml: is a RAM disk"),
        (("lab", tiny, "--set", "ftl.gc.victim=none"), "ftl.gc.victim"),
    ):
        done = wordline(*args)
        assert done.returncode == 2, (args, done.stdout)
        assert told in done.stderr, (args, done.stderr)
    assert not (place / "out").exists()


def test_experiments_are_in_the_order_of_the_report() -> None:
    for names in (["trim", "cliff", "trim"], "trim,cliff", "trim, cliff"):
        assert [one.name for one in experiments(names)] == ["cliff", "trim"]
    assert [one.name for one in experiments("cliff")] == ["cliff"]
    with pytest.raises(wordline.WordlineError, match="the experiments are patterns"):
        experiments(["nothing"])


def test_an_empty_choice_of_experiments_is_rejected(wordline: Command, tiny: str) -> None:
    for text in ("", ",", " , "):
        done = wordline("lab", tiny, "--only", text)
        assert done.returncode == 2
        assert done.stderr.startswith("error: --only: no experiment is named; the experiments are ")


@pytest.mark.parametrize("names", [[], (), ""])
def test_an_empty_list_of_experiments_is_rejected(tiny: str, names: str | list[str]) -> None:
    with pytest.raises(wordline.WordlineError, match=r"^only: no experiment is named; the exp"):
        lab(tiny, only=names)


def test_help_names_every_experiment(wordline: Command) -> None:
    page = wordline("lab", "--help").stdout
    assert not [one.name for one in EXPERIMENTS if f"{one.name} " not in page]
