"""Interrupted and resumed runs, and prepared devices, from Python and the command line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import TINY, Command, environment, files_of

import wordline

LOAD = """
[workload]
requests = 1500000
read_ratio = 0.5
arrival.closed-loop.queue_depth = 8
"""


@pytest.fixture
def busy(tiny: str, place: Path) -> str:
    """Writes a device with a load that takes a second or more."""
    with (place / tiny).open("a") as file:
        file.write(LOAD)
    return tiny


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Returns the files of an uninterrupted run of that device."""
    folder = tmp_path_factory.mktemp("straight")
    (folder / "tiny.toml").write_text(TINY + LOAD)
    run = start("run", "tiny.toml", "--requests", "--out", "straight", cwd=folder)
    _, errors = run.communicate(timeout=120)
    assert run.returncode == 0, errors
    return left(folder / "straight")


def start(*args: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "wordline", *args],
        cwd=cwd,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def left(folder: Path) -> dict[str, Any]:
    """Returns every file of a run, without the speed of the run."""
    summary = json.loads((folder / "summary.json").read_text())
    del summary["speed"]
    tables = {path.name: path.read_bytes() for path in folder.glob("*.parquet")}
    return {"summary": summary, "config": (folder / "config.resolved.toml").read_text()} | tables


def names(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def wait_for(path: Path) -> None:
    end = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not appear"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_resumed_run_equals_an_uninterrupted_run(
    busy: str, wordline: Command, straight: dict[str, Any], number: int
) -> None:
    process = start("run", busy, "--requests", "--out", "here", "--checkpoint-every", "100ms")
    wait_for(Path("here/checkpoint.wls"))
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    if number == signal.SIGKILL:
        assert names("here") <= {"checkpoint.wls", "checkpoint.wls.part"}
    else:
        assert f"`wordline resume {Path('here').resolve()}` continues the run" in errors
        assert json.loads(Path("here/summary.json").read_text())["partial"]
    resumed = wordline("resume", "here")
    assert resumed.returncode == 0, resumed.stderr
    assert left(Path("here")) == straight
    assert "checkpoint.wls" not in names("here")
    again = wordline("resume", "here")
    assert again.returncode == 2
    assert "holds no checkpoint.wls" in again.stderr


def test_a_resumed_trace_continues_at_its_position(
    tiny: str, place: Path, wordline: Command
) -> None:
    lines = ["time_ns,op,offset_bytes,size_bytes,volume"]
    lines += [
        f"{n * 90_000},{('read', 'write')[n % 2]},{n * 7919 % 1500 * 4096},4096,0"
        for n in range(1_500_000)
    ]
    Path("a.csv").write_text("\n".join(lines) + "\n")
    assert wordline("run", tiny, "--trace", "a.csv", "--out", "straight").returncode == 0
    process = start("run", tiny, "--trace", "a.csv", "--out", "here", "--checkpoint-every", "100ms")
    wait_for(Path("here/checkpoint.wls"))
    process.kill()
    process.communicate(timeout=60)
    shutil.copytree("here", "there")
    assert wordline("resume", "here").returncode == 0
    straight = left(Path("straight"))
    assert left(Path("here")) == straight
    assert wordline("resume", str(place / "there"), cwd="/").returncode == 0
    away = left(Path("there"))
    for one in (away, straight):
        one["summary"].pop("input")  # with the path of the trace
    assert away == straight


def test_python_resumes_with_the_same_results(busy: str) -> None:
    straight = wordline.run(busy, requests=False)
    calls = 0

    def stop(_progress: object) -> None:
        nonlocal calls
        calls += 1
        if calls == 2:  # There are about ten a second.
            raise KeyboardInterrupt

    with pytest.raises(wordline.Interrupted):
        wordline.run(busy, requests=False, out="here", checkpoint_every="1h", progress=stop)
    resumed = wordline.resume("here")
    assert resumed.summary["digest"] == straight.summary["digest"]
    assert json.loads(Path("here/summary.json").read_text())["digest"] == straight.summary["digest"]


def test_checkpoints_without_a_results_folder_need_a_file(busy: str) -> None:
    with pytest.raises(wordline.WordlineError, match="checkpoint_every: no place is given"):
        wordline.run(busy, checkpoint_every=60)
    with pytest.raises(wordline.WordlineError, match="is not a time"):
        wordline.run(busy, out="here", checkpoint_every="soon")
    assert not Path("here").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--timeline", "t.pftrace"), "leave out --timeline"),
        (("--trace", "-"), "cannot be read a second time"),
    ],
)
def test_runs_that_cannot_be_resumed_are_rejected(
    tiny: str, busy: str, wordline: Command, args: tuple[str, ...], said: str
) -> None:
    if "--trace" in args:
        Path(tiny).write_text(Path(tiny).read_text().replace(LOAD, ""))
    done = wordline("run", busy, "--out", "here", "--checkpoint-every", "60s", *args, input="")
    assert done.returncode == 2
    assert said in done.stderr
    assert not Path("here").exists()


def test_an_unwritable_checkpoint_does_not_affect_the_run(busy: str) -> None:
    Path("state.wls.part").mkdir()
    result = wordline.run(busy, requests=False, checkpoint="state.wls", checkpoint_every=0)
    (note,) = [one for one in result.summary["notes"] if "newest checkpoint" in one]
    assert "state.wls: cannot be written" in note
    assert result.summary["digest"] == wordline.run(busy, requests=False).summary["digest"]


def test_a_prepared_device_equals_a_preconditioned_device(busy: str, wordline: Command) -> None:
    aged = ("--set", "precondition.overwrite_ratio=2", "--set", "precondition.fill_ratio=1")
    done = wordline("prepare", busy, *aged, "-o", "aged.wls")
    assert done.returncode == 0, done.stderr
    assert "aged.wls" in done.stdout
    wordline("run", busy, *aged, "--out", "own")
    wordline("run", busy, *aged, "--from", "aged.wls", "--out", "named")
    wordline("run", "--from", "aged.wls", "--out", "unnamed")
    assert left(Path("named")) == left(Path("own"))
    assert left(Path("unnamed")) == left(Path("own"))
    other = wordline("run", busy, "--from", "aged.wls", "--out", "other")
    assert other.returncode == 2
    assert "precondition.overwrite_pages" in other.stderr
    assert not Path("other").exists()


def test_files_that_are_not_states_are_rejected_and_named(busy: str, wordline: Command) -> None:
    Path("no.wls").write_text("nothing")
    wordline("prepare", busy, "-o", "device.wls")
    Path("here").mkdir()
    Path("device.wls").rename("here/checkpoint.wls")
    os.mkfifo("pipe.wls")
    Path("piped").mkdir()
    os.mkfifo("piped/checkpoint.wls")
    not_regular = "is not a regular file; name a state that `wordline` wrote"
    for args, said in (
        (("run", busy, "--from", "pipe.wls"), f"pipe.wls: {not_regular}"),
        (("run", busy, "--from", "here"), f"here: {not_regular}"),
        (("resume", "piped"), not_regular),
        (("run", busy, "--from", "no.wls"), "no.wls: is not a saved state"),
        (("run", busy, "--from", "absent.wls"), "absent.wls"),
        (("resume", "here"), "holds a prepared device"),
        (("resume", "absent"), "holds no checkpoint.wls"),
    ):
        done = wordline(*args)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_equal_preparations_have_equal_identifiers(busy: str) -> None:
    filled = {"precondition.fill_ratio": 0.5}
    name = wordline.preparation(busy, overrides=filled)
    assert name == wordline.preparation(busy, overrides=filled | {"host.queue_depth": 3})
    assert name != wordline.preparation(busy, overrides=filled, seed=2)
    empty = {"precondition.fill_ratio": 0, "precondition.overwrite_ratio": 0}
    assert wordline.preparation(busy, overrides=empty) is None


def test_a_full_disk_is_reported_for_a_prepared_device(tiny: str, wordline: Command) -> None:
    done = wordline("prepare", tiny, "--out", "aged.wls", preexec_fn=files_of(1000))
    assert done.returncode == 2
    assert "aged.wls: cannot be written: File too large" in done.stderr
    assert "free some space" in done.stderr
    assert not list(Path().glob("aged*"))


def test_a_full_disk_is_reported_for_a_checkpoint_and_the_run_continues(busy: str) -> None:
    run = (
        f"import wordline; r = wordline.run({busy!r}, requests=False, checkpoint_every='50ms', "
        "checkpoint='state.wls', overrides={'workload.requests': 1_000_000}); "
        "print(r.summary['partial'], *r.summary['notes'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", run],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=files_of(1000),
    )
    assert done.stdout.startswith("False ")
    assert "state.wls: cannot be written: File too large" in done.stdout
    assert not Path("state.wls").exists()
