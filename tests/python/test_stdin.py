"""Traces that can be read only once: pipes, FIFOs and standard input."""

import bz2
import gzip
import json
import lzma
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import environment, msr

import wordline as package

# Longer than the part that detects a format and than the buffer of a pipe, plain and compressed.
REQUESTS = 30_000
COMMAND = [sys.executable, "-m", "wordline"]


@pytest.fixture(scope="module")
def recording() -> bytes:
    content = msr(REQUESTS, seed=3).encode()
    assert len(gzip.compress(content)) > 2 * 64 * 1024
    return content


def answer(place: Path, words: list[str], content: bytes) -> str:
    """Returns the output of a command whose standard input is a pipe with `content`."""
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=place,
        env=environment(),
        input=content,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def without_paths(told: Any) -> Any:
    """Returns a result without the parts that depend on the name of the input."""
    if isinstance(told, dict):
        return {key: without_paths(of) for key, of in told.items() if key not in ("path", "speed")}
    return [without_paths(one) for one in told] if isinstance(told, list) else told


COMMANDS = [
    ["run", "{device}", "--json", "--no-report", "--out", "{out}", "--trace", "{trace}"],
    [
        "run",
        "{device}",
        "--json",
        "--no-report",
        "--out",
        "{out}",
        "--fit",
        "scale",
        "--trace",
        "{trace}",
    ],
    [
        "run",
        "{device}",
        "--json",
        "--no-report",
        "--out",
        "{out}",
        "--slowdown",
        "--stream",
        "a={trace}",
        "--stream",
        "b=other.csv",
    ],
    [
        "run",
        "{device}",
        "--json",
        "--no-report",
        "--out",
        "{out}",
        "--trace",
        "other.csv",
        "{trace}",
        "other.csv",
    ],
    ["trace", "stat", "--json", "{trace}"],
    ["trace", "stat", "--json", "--volumes", "stack", "{trace}"],
    ["cache", "{trace}", "lru,belady", "10%", "--json"],
    ["mrc", "{trace}", "--json"],
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_a_pipe_is_read_completely(
    tiny: str, place: Path, recording: bytes, words: list[str], name: str, packed: bool
) -> None:
    content = gzip.compress(recording) if packed else recording
    (place / "whole.csv").write_bytes(content)
    (place / "other.csv").write_text(msr(200, seed=9))

    def called(trace: str, content: bytes) -> Any:
        given = {"device": tiny, "trace": trace, "out": f"out-{len(content)}"}
        return json.loads(answer(place, [word.format(**given) for word in words], content))

    assert without_paths(called(name, content)) == without_paths(called("whole.csv", b""))


def test_a_conversion_reads_a_pipe_completely(place: Path, recording: bytes) -> None:
    told = answer(place, ["trace", "convert", "-", "out.spc", "--to", "spc"], recording)
    assert f"{REQUESTS:,} requests" in told
    assert len((place / "out.spc").read_text().splitlines()) == REQUESTS


def test_a_conversion_writes_to_a_pipe(place: Path, recording: bytes) -> None:
    words = ["trace", "convert", "-", "-", "--to", "spc"]
    done = subprocess.run(
        [*COMMAND, *words],
        cwd=place,
        env=environment(),
        input=recording,
        capture_output=True,
        timeout=120,
        check=True,
    )
    answer(place, ["trace", "convert", "-", "out.spc", "--to", "spc"], recording)
    assert done.stdout == (place / "out.spc").read_bytes()
    told = done.stderr.decode()
    assert f"wrote standard output: {REQUESTS:,} requests" in told
    assert {path.name for path in place.iterdir() if path.is_file()} == {"out.spc"}


def test_a_fifo_is_read_completely_from_python(tiny: str, place: Path, recording: bytes) -> None:
    os.mkfifo(place / "fifo")
    writer = threading.Thread(target=(place / "fifo").write_bytes, args=(recording,))
    writer.start()
    result = package.run(tiny, place / "fifo")
    writer.join()
    (place / "whole.csv").write_bytes(recording)
    assert result.summary["digest"] == package.run(tiny, "whole.csv").summary["digest"]
    assert result.summary["input"]["requests"] == REQUESTS


def test_two_names_of_standard_input_are_one_stream(
    tiny: str, place: Path, recording: bytes
) -> None:
    words = ["run", tiny, "--json", "--no-report", "--trace", "-", "/dev/stdin"]
    told = json.loads(answer(place, words, recording))
    assert told["input"]["requests"] == 2 * REQUESTS


def test_results_and_errors_name_standard_input(tiny: str, place: Path, recording: bytes) -> None:
    told = answer(place, ["run", tiny, "--no-report", "--trace", "-"], recording)
    assert "under <stdin>" in told
    assert (place / "out/tiny-stdin/summary.json").exists()
    bad = subprocess.run(
        [*COMMAND, "trace", "stat", "-"],
        cwd=place,
        env=environment(),
        input=b"",
        check=False,
        capture_output=True,
        timeout=60,
    )
    assert bad.returncode == 2
    assert bad.stderr.decode().startswith("error: <stdin>: the file is empty")


STAT = [*COMMAND, "trace", "stat", "-", "--json"]


@pytest.mark.parametrize("words", [["trace", "stat", "-"], ["cache", "-", "lru", "10p"]])
def test_a_file_on_standard_input_is_read_from_its_offset(place: Path, words: list[str]) -> None:
    lines = msr(300).splitlines(keepends=True)
    (place / "whole.csv").write_text("".join(lines))
    (place / "rest.csv").write_text("".join(lines[100:]))

    def told(skipped: int, name: str) -> Any:
        with (place / name).open("rb", buffering=0) as file:
            file.read(skipped)
            done = subprocess.run(
                [*COMMAND, *words, "--json"],
                cwd=place,
                env=environment(),
                stdin=file,
                capture_output=True,
                timeout=60,
                check=True,
            )
            assert file.tell() == skipped
        return without_paths(json.loads(done.stdout))

    assert told(len("".join(lines[:100])), "whole.csv") == told(0, "rest.csv")


def test_an_error_names_a_missing_temporary_folder(place: Path, recording: bytes) -> None:
    done = subprocess.run(
        STAT,
        cwd=place,
        env=environment() | {"TMPDIR": "/nowhere"},
        input=recording,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    told = " ".join(done.stderr.decode().split())
    assert "a copy of the stream cannot be kept in /nowhere: it does not exist; set TMPDIR" in told


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_full_temporary_folder_is_not_reported_as_a_damaged_archive(
    place: Path, recording: bytes, pack: Callable[[bytes], bytes]
) -> None:
    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**15, 2**15))

    content = pack(recording)
    assert len(content) > 2**16
    done = subprocess.run(
        STAT,
        cwd=place,
        env=environment(),
        input=content,
        capture_output=True,
        timeout=60,
        check=False,
        preexec_fn=little_room,
    )
    assert done.returncode == 2
    told = " ".join(done.stderr.decode().split())
    assert "a copy of the stream cannot be kept in" in told
    assert "TMPDIR" in told
    assert "damaged" not in told
    assert "early" not in told


@pytest.mark.parametrize(
    "words",
    [
        ["run", "{device}", "--trace", "{trace}"],
        ["trace", "stat", "{trace}"],
        ["trace", "convert", "{trace}", "out.spc", "--to", "spc"],
        ["cache", "{trace}", "lru", "10p"],
        ["mrc", "{trace}"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
@pytest.mark.parametrize("begun", [False, True])
def test_waiting_for_a_stream_can_be_interrupted(
    tiny: str, place: Path, words: list[str], begun: bool
) -> None:
    """The FIFO has no writer, or its writer pauses forever."""
    os.mkfifo(place / "fifo")
    given = {"device": tiny, "trace": "fifo"}
    process = subprocess.Popen(
        [*COMMAND, *(word.format(**given) for word in words)],
        cwd=place,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    if begun:
        with (place / "fifo").open("wb", buffering=0) as writer:
            writer.write(msr(100).encode())
            _interrupt(process)
            _, complaint = process.communicate(timeout=20)
    else:
        time.sleep(1.5)
        _interrupt(process)
        _, complaint = process.communicate(timeout=20)
    assert process.returncode == 130, complaint
    assert b"Traceback" not in complaint
    assert {entry.name for entry in place.iterdir()} == {"fifo", tiny}


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
