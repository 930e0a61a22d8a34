"""Hard disks, from the command line."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

import wordline as package
from wordline._render.replay_text import replayed

ROOT = Path(__file__).parents[2]
TRACE = str(ROOT / "traces" / "postgresql-mixed.csv.gz")
PRESETS = (
    "atlas-10k",
    "atlas-iii",
    "atlas-10k-iv",
    "barracuda-4lp",
    "cheetah-4lp",
    "cheetah-9lp",
    "ultrastar-18es",
    "dec-rz26",
    "nearline-7200",
    "disk-5ms",
    "disk-average",
)
FEW = 5_000

Command = Callable[..., CompletedProcess[str]]


def run(device: Any, overrides: dict[str, Any] | None = None, **options: Any) -> package.Result:
    return package.run(device, trace=TRACE, overrides=overrides or {}, max_requests=FEW, **options)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("closed", [False, True])
def test_components_sum_to_the_mean_response_time(preset: str, closed: bool):
    overrides = {"replay.mode.closed-loop.queue_depth": 4} if closed else {}
    result = run(preset, overrides)
    summary = result.summary
    assert summary["error"] is None
    total = sum(value for value in summary["breakdown"]["all"].values() if value)
    assert total == pytest.approx(summary["latency"]["all"]["mean_us"], rel=1e-9)
    (disk,) = summary["disks"]
    given = summary["input"]
    # A disk without a write cache has nothing to flush, so flushes are dropped.
    assert given["reads"] + given["writes"] + given["trims"] + given["flushes"] == FEW
    assert (disk["reads"], disk["writes"]) == (given["reads"], given["writes"])
    assert disk["accesses"] == sum(row["accesses"] for row in disk["seek_distances"])
    if disk["utilisation"] is not None:
        assert 0 < disk["utilisation"] <= 1
        spent = disk["seek_s"] + disk["rotation_s"] + disk["transfer_s"]
        assert spent <= summary["time"]["simulated_s"]


def test_queues_ordered_by_position_have_higher_throughput():
    served = {
        queue: package.run(
            "atlas-10k-iv",
            overrides={
                "disk.queue": queue,
                "replay.mode.closed-loop.queue_depth": 32,
                "workload": {"pattern": "uniform", "requests": 2_000, "read_ratio": 1.0},
            },
        ).summary["throughput"]["iops"]
        for queue in ("fcfs", "c-look", "sptf")
    }
    assert served["fcfs"] < served["c-look"] < served["sptf"]


def test_volumes_of_a_trace_are_mapped_to_their_disks(wordline: Command, place: Path):
    (place / "two.csv").write_text(
        "time_ns,op,offset_bytes,size_bytes,volume\n"
        + "".join(f"{n * 20_000_000},read,{n * 40960},4096,{n % 2}\n" for n in range(100))
    )
    (place / "two.toml").write_text(
        'schema = 1\n[disk]\nbase = "atlas-10k"\n[array]\nlayout = "by-disk"\n'
        '[[array.members]]\nname = "a"\n[[array.members]]\nbase = "disk-5ms"\n'
    )
    done = wordline("run", "two.toml", "--trace", "two.csv", "--out", "out")
    assert done.returncode == 0, done.stderr
    disks = json.loads((place / "out" / "summary.json").read_text())["disks"]
    assert [(disk["name"], disk["reads"], disk["disks"]) for disk in disks] == [
        ("a", 50, [0]),
        ("disk1", 50, [1]),
    ]


def test_terminal_and_report_show_the_disk_and_no_flash(wordline: Command, place: Path):
    done = wordline("run", "nearline-7200", "--trace", TRACE, "--max-requests=2000", "--out", "out")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert "Disk nearline-7200" in said
    assert "seek" in said
    assert "write amplification" not in said
    assert "die wait" not in said
    assert "page touched" not in said
    page = (place / "out" / "report.html").read_text()
    assert "Hard disks" in page
    assert "Seek distances" in page
    assert "Erases per block" not in page


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--verify"], "a hard disk"),
        (["--set", "ssd.channels=4"], "describes flash"),
        (["--set", "disk.capacity_bytes=1000"], "disk.capacity_bytes"),
        (["--set", "disk.serial=false"], "one at a time"),
        (
            [
                "--set",
                "disk.serial=false",
                "--set",
                "disk.buffer.write_cache=false",
                "--set",
                "disk.buffer.segments=0",
            ],
            "a disk with an arm serves requests one at a time",
        ),
        (["--set", "disk.base=d4"], "has no disk"),
        (["--set", "disk.queue=elevator"], "c-look"),
    ],
)
def test_invalid_disk_settings_are_reported(wordline: Command, arguments: list[str], words: str):
    done = wordline("run", "atlas-10k", "--trace", TRACE, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_disk_cannot_be_prepared(wordline: Command):
    done = wordline("prepare", "atlas-10k")
    assert done.returncode == 2
    assert "nothing to prepare" in done.stderr


def test_a_single_disk_has_no_flash_tables(wordline: Command, place: Path):
    done = wordline("run", "disk-5ms", "--trace", TRACE, "--out", "out")
    assert done.returncode == 0, done.stderr
    written = {path.stem for path in (place / "out").glob("*.parquet")}
    assert {"series", "latency"} <= written
    assert not written & {"dies", "blocks", "wear"}
    (place / "out" / "report.html").unlink()
    assert wordline("report", "out").returncode == 0
    with pytest.raises(package.WordlineError, match="no table `blocks`; add"):
        run("disk-5ms").blocks  # noqa: B018


RECORDED = (
    "time_ns,op,offset_bytes,size_bytes,volume,response_ns\n"
    "0,read,0,4096,0,10000000\n"
    "15000000,write,4096,4096,0,4000000\n"
    "17000000,read,8192,4096,0,1000000\n"
    "27000000,read,0,4096,0,1000000\n"
)
# From one completion to the next submission; the third was issued before the second was complete.
THOUGHT_MS = (5.0, 0.0, 9.0)


def test_a_think_time_replay_keeps_the_recorded_think_times(place: Path):
    trace = place / "recorded.csv"
    trace.write_text(RECORDED)
    at = {"replay.mode": "think-time"}
    result = package.run("disk-5ms", trace=str(trace), overrides=at, requests=True)
    rows = result.requests.polars().sort("arrival_ps")
    assert [ps / 1e9 for ps in rows["arrival_ps"]] == [0.0, 10.0, 15.0, 29.0]
    assert result.summary["time"]["simulated_s"] == pytest.approx(0.034)
    asked = result.summary["input"]
    assert (asked["replay"], asked["queue_depth"]) == ("think-time", 1)
    assert "think times" in replayed(result.summary)
    half = package.run(
        "disk-5ms",
        trace=str(trace),
        overrides={"replay.mode.think-time.time_scale": 0.5},
        requests=True,
    )
    rows = half.requests.polars().sort("arrival_ps")
    assert [ps / 1e9 for ps in rows["arrival_ps"]] == [0.0, 7.5, 12.5, 22.0]


@pytest.mark.parametrize("store", ["d4", "cheetah-9lp", "demo-store"])
def test_think_times_are_kept_on_flash_disks_and_flash_caches(place: Path, store: str):
    trace = place / "recorded.csv"
    trace.write_text(RECORDED)
    overrides = {"replay.mode": "think-time"}
    result = package.run(store, trace=str(trace), overrides=overrides, requests=True)
    rows = result.requests.polars().sort("arrival_ps")
    ends = (rows["arrival_ps"] + rows["latency_ps"]).to_list()
    thought = [(at - end) / 1e9 for at, end in zip(rows["arrival_ps"][1:], ends, strict=False)]
    assert thought == list(THOUGHT_MS)


def test_a_think_time_replay_requires_response_times(wordline: Command, place: Path):
    (place / "plain.csv").write_text("time_ns,op,offset_bytes,size_bytes,volume\n0,read,0,4096,0\n")
    done = wordline("run", "disk-5ms", "--trace", "plain.csv", "--set", "replay.mode=think-time")
    assert done.returncode == 2
    assert "plain.csv:2: the response time, which a replay with think times needs" in done.stderr
    assert "response_ns" in done.stderr
    assert "Traceback" not in done.stderr
