"""Fixtures: a small device, small traces, and the `wordline` command."""

import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

TINY = """\
schema = 1
name = "tiny"

[ssd]
channels = 2
ways = 1

[nand.geometry]
dies_per_package = 1
planes_per_die = 2
blocks_per_plane = 32
pages_per_block = 16
page_bytes = 4096

[ftl]
over_provisioning_ratio = 0.25

[ftl.gc]
start_free_ratio = 0.1
"""
USER_BYTES = 6 * 2**20

# Tests that a concurrent test would disturb, with the reason. `make test` runs them separately.
ALONE = {
    "test_bench.py": "measures the speed of the machine",
    "test_command_line.py::test_help_is_fast": "measures 150 ms",
    "test_growth.py": "measures the speed of the machine",
    "test_interruption.py": "stops runs at fractions of the duration of a whole run",
    "test_memory.py": "takes and measures gigabytes",
    "test_process.py": "stops processes at set times",
    "test_serve.py::test_fio_at_depth_32_agrees_with_a_closed_loop": "answers within 1 ms",
    "test_serve.py::test_percentiles_of_fio_agree_with_a_replay_of_its_requests": "measures time",
    "test_python.py::test_the_gil_is_released": "counts how often a thread runs",
}

# Files that take longest, in that order. Parallel runs start with them, to end at about the same
# time.
LONGEST = (
    "test_study_device_lab.py",
    "test_study_palloc.py",
    "test_sweep.py",
    "test_search.py",
    "test_study_paq.py",
    "test_state.py",
    "test_timeline.py",
    "test_terminal.py",
    "test_calibrate.py",
    "test_study_write_cache.py",
    "test_study_read_cache.py",
    "test_docs_numbers.py",
    "test_command_line.py",
    "test_write_back.py",
    "test_study_host_side.py",
    "test_study_op_fcl.py",
    "test_study_lcr.py",
    "test_checksums.py",
    "test_cache.py",
    "test_bad_input.py",
    "test_comparison.py",
    "test_lab.py",
)

# The time to generate or try an example depends on the machine and must not fail a test.
settings.register_profile("wordline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("wordline")

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks tests that must run alone, and lets pytest-xdist start with the longest files."""
    for item in items:
        file, name = item.path.name, item.name.split("[")[0]
        if file in ALONE or f"{file}::{name}" in ALONE:
            item.add_marker("alone")
    if "PYTEST_XDIST_WORKER" in os.environ:
        ranks = {file: rank for rank, file in enumerate(LONGEST)}
        items.sort(key=lambda item: ranks.get(item.path.name, len(ranks)))


def environment() -> dict[str, str]:
    return os.environ | {"COLUMNS": "120", "NO_COLOR": "1"}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes an empty folder the working directory, and returns it."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def wordline(place: Path) -> Command:
    """Returns a function that calls the command in the working directory."""

    def call(*args: str, **more: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "wordline", *args],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **{"cwd": place, "env": environment(), **more},
        )

    return call


@pytest.fixture
def tiny(place: Path) -> str:
    (place / "tiny.toml").write_text(TINY)
    return "tiny.toml"


def msr(requests: int, reads: float = 0.5, seed: int = 1) -> str:
    """Returns a trace in the MSR Cambridge format: 4 KiB requests, one every 200 µs."""
    draw = random.Random(seed)
    lines: list[str] = []
    for index in range(requests):
        op = "Read" if draw.random() < reads else "Write"
        offset = draw.randrange(USER_BYTES // 4096) * 4096
        lines.append(f"{128166372000000000 + 2000 * index},host,0,{op},{offset},4096,1000\n")
    return "".join(lines)


@pytest.fixture
def trace(place: Path) -> str:
    (place / "disk.csv").write_text(msr(2000))
    return "disk.csv"


def files_of(size: int) -> Callable[[], None]:
    """Returns a function that limits the size of files that a process writes."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Starts a Dask cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    import dask

    with (
        dask.config.set({"distributed.admin.low-level-log-length": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as made,
    ):
        yield made


def of_this_process(path: str) -> str:
    """Returns a fingerprint of a file that differs between processes, as if each had another
    file."""
    return f"{sha256(Path(path).read_bytes()).hexdigest()}{os.getpid()}"
