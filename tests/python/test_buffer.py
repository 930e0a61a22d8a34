"""A device with a DRAM buffer, from the configuration to its pages."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import wordline

DEVICE = """
schema = 1
[ssd]
channels = 2
ways = 2
[nand.geometry]
blocks_per_plane = 64
pages_per_block = 64
[buffer]
capacity_kib = 256
replacement = "lcr"
[precondition]
fill_ratio = 0.5
[workload]
requests = 8_000
read_ratio = 0.4
working_set_ratio = 0.1
fua_ratio = 0.1
flush_every_requests = 200
pattern.zipf.theta = 0.9
arrival.poisson.iops = 2_000
"""


@pytest.fixture
def device(tmp_path: Path) -> Path:
    path = tmp_path / "buffered.toml"
    path.write_text(DEVICE)
    return path


def test_series_sum_to_the_summary(device: Path) -> None:
    result = wordline.run(device)
    buffer = result.summary["buffer"]
    assert buffer is not None
    series = result.series.polars()
    told = {
        "buffer_read_hits": buffer["read_hits"],
        "buffer_read_misses": buffer["read_misses"],
        "buffer_write_hits": buffer["write_hits"],
        "buffer_write_misses": buffer["write_misses"],
        "buffer_clean_evictions": buffer["clean_evictions"],
        "buffer_dirty_evictions": buffer["dirty_evictions"],
        "buffer_pages_destaged": buffer["pages_destaged"],
    }
    assert {name: series[name].sum() for name in told} == told
    asked = result.summary["input"]
    assert asked["requests"] == sum(list(told.values())[:4])
    assert (asked["flushes"], asked["flushes_ignored"]) == (40, 0)
    assert result.summary["latency"]["flush"]["count"] == 40
    assert 0.05 < asked["durable_writes"] / asked["writes"] < 0.15


def test_a_read_hit_takes_the_transfer_time_and_latency_of_the_buffer(device: Path) -> None:
    result = wordline.run(device, requests=True)
    rows = result.requests.polars()
    hits = rows.filter(
        (pl.col("latency_ps") == pl.col("buffer_ps")) & (pl.col("op").cast(pl.String) == "read")
    )
    # 4096 bytes at 3200 MB/s, and 100 ns of latency.
    assert hits["latency_ps"].unique().to_list() == [1_380_000]
    buffer = result.summary["buffer"]
    assert buffer is not None
    assert len(hits) <= buffer["read_hits"]
    assert result.summary["breakdown"]["all"]["buffer_us"] > 1


def test_without_a_buffer_flushes_are_ignored_with_a_note(device: Path) -> None:
    result = wordline.run(device, overrides={"buffer.capacity_kib": 0})
    assert result.summary["buffer"] is None
    assert result.summary["input"]["flushes_ignored"] == 40
    assert any(
        "every write is durable when it completes" in note for note in result.summary["notes"]
    )
    assert result.summary["breakdown"]["all"]["buffer_us"] == 0


def test_capacitors_save_dirty_pages_from_power_cuts(device: Path) -> None:
    def lost_and_saved(*, capacitors: bool) -> tuple[int, int]:
        overrides = {"buffer.capacitors": capacitors, "workload.flush_every_requests": 0}
        power = wordline.run(
            device, overrides=overrides, power_cut_every=1000, verify=True
        ).summary["power"]
        assert power is not None
        return power["pages_lost"], power["pages_saved"]

    lost, saved = lost_and_saved(capacitors=False)
    assert lost > 0
    assert saved == 0
    lost, saved = lost_and_saved(capacitors=True)
    assert lost == 0
    assert saved > 0


def test_terminal_and_report_show_the_buffer_if_there_is_one(device: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    command = [sys.executable, "-m", "wordline", "run", str(device), "--out", str(out)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    line = " ".join(told[told.index("\nBuffer ") :].split("\nGC")[0].split())
    assert line.endswith("destaged")
    heading = next(line for line in told.splitlines() if "Latency" in line)
    assert heading.split() == ["Latency", "read", "write", "all", "flush"]
    assert "mean: buffer wait" in told
    page = (out / "report.html").read_text()
    assert '<h2 id="buffered">DRAM buffer</h2>' in page
    assert 'data-chart="buffer"' in page
    plain = [*command[:-1], str(tmp_path / "plain"), "--set", "buffer.capacity_kib=0"]
    told = subprocess.run(plain, capture_output=True, text=True, check=True).stdout
    assert "Buffer" not in told
    assert "mean: buffer" not in told
    assert '<h2 id="buffered">' not in (tmp_path / "plain" / "report.html").read_text()
