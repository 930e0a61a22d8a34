"""Ctrl-C, a full disk, a closed pipe: what was simulated is kept, or nothing is written."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Command, environment

COMMAND = [sys.executable, "-m", "wordline"]
ENDLESS = "\n[workload]\nrequests = 4000000000\n"


def start(*args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *args], env=environment(), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )  # fmt: skip


def interrupt(process: subprocess.Popen[str], after: float) -> tuple[str, str]:
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=60)


@pytest.mark.parametrize("progress", ["--progress", "--no-progress"])
def test_ctrl_c_keeps_what_was_simulated(tiny: str, place: Path, progress: str) -> None:
    with (place / tiny).open("a") as file:
        file.write(ENDLESS)
    process = start("run", tiny, "--out", "here", progress)
    output, errors = interrupt(process, after=2.5)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert str(place / "here") in errors
    assert "Partial result" in output
    summary = json.loads(Path("here/summary.json").read_text())
    assert summary["partial"] is True
    assert summary["error"] == "interrupted"
    assert summary["input"]["requests"] > 0
    # What is in no figure is at most what was under way.
    under_way = summary["input"]["requests"] - summary["latency"]["all"]["count"]
    assert 0 <= under_way <= summary["input"]["queue_depth"]
    assert "Partial result" in Path("here/report.html").read_text()


def test_ctrl_c_before_the_first_request_leaves_nothing(tiny: str, place: Path) -> None:
    with (place / tiny).open("a") as file:
        file.write(ENDLESS)
    process = start("run", tiny, "--out", "here")
    _, errors = interrupt(process, after=0.15)
    assert process.returncode in (130, -signal.SIGINT)
    assert "half" not in errors
    assert not Path("here").exists() or (Path("here") / "summary.json").exists()
    assert not list(place.glob(".*"))


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a tiny file system needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_is_one_line_and_no_files(
    wordline: Command, tiny: str, trace: str, full_disk: Path
) -> None:
    answer = wordline("run", tiny, "--trace", trace, "--out", str(full_disk / "here"))
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    assert "No space left on device" in answer.stderr
    assert str(full_disk / "here") in answer.stderr
    assert "p99" in answer.stdout, "the summary is shown, for it is all that is left"
    assert not list(full_disk.iterdir())


def test_standard_output_may_be_full(tiny: str) -> None:
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            [*COMMAND, "config", "show", tiny], stdout=full, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    assert "No space left on device" in answer.stderr


@pytest.mark.parametrize("args", [["config", "schema"], ["policies"], ["run", "--help"]])
def test_a_reader_may_leave_early(args: list[str]) -> None:
    process = start(*args)
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)
