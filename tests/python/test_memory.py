"""Memory of a run: the estimate matches the measurement, and a run that cannot fit is rejected."""

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import wordline
from wordline.config import memory

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc and sets ulimits")
HUGE = {
    "nand.geometry.blocks_per_plane": 2**20,
    "nand.geometry.pages_per_block": 60,
    "ssd.channels": 8,
    "ssd.ways": 4,
    "nand.geometry.planes_per_die": 2,
}
"""4,026,531,840 pages, slightly below the maximum: 32 GB of map and owners."""
GIB = 2**30

MEASURED = """
import gc, json, sys
import wordline
device, overrides, options = json.loads(sys.argv[1])
def status(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))
small = {"workload.requests": 100, "precondition.fill_ratio": 0.01}
wordline.run("demo", overrides=small, requests=False)
gc.collect()
before = status("VmRSS:")
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
wordline.run(device, overrides=overrides, requests=False, **options)
print(status("VmHWM:") - before)
"""


def measured(device: str, overrides: dict[str, Any], **options: Any) -> int:
    """Returns the peak growth of a process during a run, in bytes."""
    given = json.dumps([device, overrides, options])
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, given], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


BLOCKS = "nand.geometry.blocks_per_plane"
SIZES: list[tuple[str, dict[str, Any]]] = [
    ("d4", {BLOCKS: 8192}),
    ("d4", {BLOCKS: 32768}),
    ("d4", {BLOCKS: 16384, "ftl.gc.victim": "fifo", "ftl.wear": "none"}),
    ("d4", {BLOCKS: 16384, "ftl.mapping": "dftl"}),
    ("d4", {BLOCKS: 32768, "ftl.mapping": "hybrid"}),
    (
        "d4",
        {
            BLOCKS: 8192,
            "ftl.mapping": "log-block",
            "ftl.mapping.log-block.stripe": "page",
            # Rows of three pages do not end with a block, so a fill stores an entry for each page.
            "ftl.mapping.log-block.stripe_pages": 3,
        },
    ),
    ("d4", {BLOCKS: 16384, "ftl.wear": "static"}),
    ("tlc-nvme", {}),
    ("tb1", {}),
]
LOAD = {"workload.requests": 1000, "workload.read_ratio": 1.0}


@linux
def test_a_prepared_device_takes_no_more_memory_than_estimated(
    tmp_path: Path,
) -> None:
    given = LOAD | {BLOCKS: 4096, "precondition.overwrite_ratio": 0.05}
    aged = wordline.prepare("d4", tmp_path / "aged.wls", overrides=given)
    told = memory("d4", given)["prepared_bytes"]
    assert aged.stat().st_size > 0.5 * told
    truth = measured("d4", given, prepared=str(aged))
    print(f"estimated {told:,}, measured {truth:,}")
    assert truth <= 1.1 * told + 2 * 2**20


@linux
@pytest.mark.parametrize(("device", "overrides"), SIZES)
@pytest.mark.parametrize("fill", [0.1, 1.0])
def test_the_estimate_matches_a_filled_device(
    device: str, overrides: dict[str, Any], fill: float
) -> None:
    """The estimate is at most 10 % below the measurement, plus 2 MiB for its granularity, and at
    most 30 % above it, plus the 8 MiB that are allowed for everything else."""
    given = overrides | LOAD | {"precondition.fill_ratio": fill}
    told = memory(device, given)["prepared_bytes"]
    truth = measured(device, given)
    print(f"{device} {overrides} filled {fill}: estimated {told:,}, measured {truth:,}")
    assert truth <= 1.1 * told + 2 * 2**20
    assert told <= 1.3 * truth + 8 * 2**20


# Overwriting this many pages takes minutes.
OVERWRITTEN = [
    ("d4", {BLOCKS: 2048}),
    *(pytest.param(*one, marks=pytest.mark.slow) for one in SIZES[:4]),
]


@linux
@pytest.mark.parametrize(("device", "overrides"), OVERWRITTEN)
def test_the_estimated_maximum_matches_a_fully_written_device(
    device: str, overrides: dict[str, Any]
) -> None:
    given = overrides | LOAD | {"precondition.overwrite_ratio": 1.0}
    told = memory(device, given)["most_bytes"]
    truth = measured(device, given)
    print(f"{device} {overrides} overwritten: estimated {told:,}, measured {truth:,}")
    assert truth <= 1.1 * told + 2 * 2**20
    assert told <= 1.3 * truth + 16 * 2**20


@linux
def test_an_unused_terabyte_takes_only_address_space() -> None:
    told = memory("tb1", {"precondition.fill_ratio": 0.0})
    # A map of 4 bytes per logical page of 4 KiB, and 4 bytes of owner per physical page.
    assert told["reserved_bytes"] > 1.8 * 2**30
    assert told["prepared_bytes"] < 32 * 2**20
    # It reserves gigabytes of address space, and must run on a machine with less memory than that.
    assert measured("tb1", LOAD | {"precondition.fill_ratio": 0.0}) < 256 * 2**20


def limited(command: list[str], gib: float) -> "subprocess.CompletedProcess[str]":
    size = int(gib * GIB)
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )


WORDLINE = [sys.executable, "-m", "wordline"]


def settings(overrides: dict[str, Any]) -> list[str]:
    return [part for key, value in overrides.items() for part in ("--set", f"{key}={value}")]


@linux
@pytest.mark.parametrize("command", [["run"], ["config", "check"]])
def test_a_device_that_cannot_fit_is_rejected_in_a_sentence(
    command: list[str], tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path / "out")] if command == ["run"] else []
    load = {"workload.requests": 10}
    done = limited([*WORDLINE, *command, "d4", *settings(HUGE | load), *out], 4)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    for words in ("address space", "are left", "ulimit -v", BLOCKS):
        assert words in done.stderr
    assert not (tmp_path / "out").exists()


@linux
def test_the_interpreter_survives_a_device_that_is_too_large() -> None:
    code = (
        "import wordline\n"
        f"try: wordline.run('d4', overrides={HUGE | {'workload.requests': 10}!r})\n"
        "except wordline.WordlineError as error: print('said:', error)\n"
        "print('alive')"
    )
    done = limited([sys.executable, "-c", code], 4)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("said: the run needs ")
    assert done.stdout.endswith("alive\n")


@linux
def test_a_run_that_runs_out_of_memory_keeps_its_results() -> None:
    """The memory of request rows cannot be bounded before the run."""
    code = (
        "import resource, wordline\n"
        "load = {'workload.requests': 100_000_000, 'workload.read_ratio': 1.0,"
        " 'precondition.fill_ratio': 0.01}\n"
        "wordline.run('demo', overrides=load | {'workload.requests': 10})\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (220 << 20),) * 2)\n"
        "try: wordline.run('demo', overrides=load)\n"
        "except wordline.RunError as early: \n"
        "    print(early, early.result.summary['input']['requests'])\n"
        "print('alive')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said, alive = done.stdout.splitlines()
    assert said.startswith("memory ran out; ")
    assert int(said.split()[-1]) > 100_000
    assert alive == "alive"


def test_config_check_prints_the_estimate() -> None:
    check = [*WORDLINE, "config", "check", "d4"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    first, second = done.stdout.splitlines()
    assert first == "d4: is valid"
    assert second.startswith("A run takes ")
    assert "of memory" in second
    assert "of address space" in second


def test_the_estimate_lists_its_tables_by_name() -> None:
    told = wordline.config.memory("d4")
    names = {table["name"] for table in told["tables"]}
    assert {"map of logical pages", "owners of physical pages", "valid pages"} <= names
    assert told["most_bytes"] >= told["prepared_bytes"]
