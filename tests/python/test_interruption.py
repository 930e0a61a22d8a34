"""Ctrl-C, a full disk and a closed pipe keep the results so far, or write nothing."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import Command, environment

import wordline
from wordline import cli

COMMAND = [sys.executable, "-m", "wordline"]
ENDLESS = "\n[workload]\nrequests = 4000000000\n"


def start(*args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, *args],
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def interrupt(process: subprocess.Popen[str], after: float) -> tuple[str, str]:
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=60)


@pytest.mark.parametrize("progress", ["--progress", "--no-progress"])
def test_ctrl_c_keeps_the_results_so_far(tiny: str, place: Path, progress: str) -> None:
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
    # Requests missing from the summary were outstanding.
    under_way = summary["input"]["requests"] - summary["latency"]["all"]["count"]
    assert 0 <= under_way <= summary["input"]["queue_depth"]
    assert "Partial result" in Path("here/report.html").read_text()


def test_an_early_ctrl_c_leaves_nothing_or_a_whole_result(tiny: str, place: Path) -> None:
    with (place / tiny).open("a") as file:
        file.write(ENDLESS)
    process = start("run", tiny, "--out", "here")
    _, errors = interrupt(process, after=0.15)
    assert process.returncode in (130, -signal.SIGINT)
    assert "half" not in errors
    assert not Path("here").exists() or (Path("here") / "summary.json").exists()
    assert not list(place.glob(".*"))


SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.mark.parametrize("number", list(SIGNALS))
def test_every_signal_keeps_the_results_so_far(tiny: str, place: Path, number: int) -> None:
    with (place / tiny).open("a") as file:
        file.write(ENDLESS)
    process = start("run", tiny, "--out", "here", "--progress")
    time.sleep(2.5)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == SIGNALS[number], errors
    assert "Traceback" not in errors
    assert "Partial result" in output
    assert json.loads(Path("here/summary.json").read_text())["partial"] is True
    assert {path.name for path in place.iterdir()} == {"tiny.toml", "here"}


def test_a_signal_that_nohup_ignores_stays_ignored(tiny: str, place: Path) -> None:
    code = (
        "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
        "os.execv(sys.executable, [sys.executable, '-m', 'wordline', *sys.argv[1:]])"
    )
    with (place / tiny).open("a") as file:
        file.write(ENDLESS)
    process = subprocess.Popen(
        [sys.executable, "-c", code, "run", tiny, "--out", "here"],
        stderr=subprocess.PIPE,
        text=True,
        stdout=subprocess.DEVNULL,
    )
    time.sleep(2)
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143


def test_importing_the_package_changes_no_signal_handler() -> None:
    code = (
        "import signal; names = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]\n"
        "before = [signal.getsignal(name) for name in names]\n"
        "import wordline, wordline.cli, wordline.cli.app, wordline._internal.output_folder\n"
        "wordline.cli.main(['devices'])\n"
        "assert before == [signal.getsignal(name) for name in names]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("number", list(SIGNALS))
def test_a_conversion_that_is_stopped_leaves_nothing(place: Path, number: int) -> None:
    line = "128166372003061629,host,0,Read,4096,4096,1000\n"
    with (place / "long.csv").open("w") as file:
        for _ in range(60):
            file.write(line * 100_000)
    process = start("trace", "convert", "long.csv", "out.csv.zst", "--to", "wordline")
    while not list(place.glob(".wordline-*")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == SIGNALS[number], errors
    assert errors.strip() == "error: interrupted; nothing was written"
    assert [path.name for path in place.iterdir()] == ["long.csv"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_killed_study_leaves_no_process(place: Path, number: int) -> None:
    process = start("study", "palloc")
    workers: list[int] = []
    deadline = time.monotonic() + 60
    while not workers and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
        workers = descendants(process.pid)
    time.sleep(1.0)
    workers = descendants(process.pid)
    assert workers
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    deadline = time.monotonic() + 30
    while any(map(alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in workers if alive(pid)]
    # The completed runs remain, from which the study continues. After SIGKILL the lock file
    # remains, too, because the process had no time to remove it.
    allowed = {"points.jsonl"} | ({".study-palloc.lock"} if number == signal.SIGKILL else set())
    assert {path.name for path in place.rglob("*") if path.is_file()} <= allowed


LOAD = "\n[workload]\nrequests = 150000\nread_ratio = 0.5\n"


@pytest.mark.parametrize(("number", "instants"), [(signal.SIGINT, 20), (signal.SIGTERM, 8)])
def test_the_last_line_names_the_outputs_whenever_a_signal_arrives(
    tiny: str, place: Path, number: int, instants: int
) -> None:
    with (place / tiny).open("a") as file:
        file.write(LOAD)
    begun = time.monotonic()
    assert start("run", tiny, "--out", "whole").communicate(timeout=60)[1] == ""
    took = time.monotonic() - begun
    here = place / "here"
    for instant in range(instants):
        process = start("run", tiny, "--out", str(here))
        time.sleep(took * (instant + 1) / instants)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors
        assert process.returncode in (0, 128 + number, -number), errors
        said = errors.strip().splitlines()[-1] if errors.strip() else ""
        there = {path.name for path in here.iterdir()} if here.exists() else set[str]()
        if "nothing was written" in said:
            assert not there
        elif "the results up to that point are in" in said:
            assert json.loads((here / "summary.json").read_text())["partial"]
        elif process.returncode == 128 + number:
            assert f"the results are in {here}" in said
            assert not json.loads((here / "summary.json").read_text())["partial"]
            assert ("without report.html" in said) == ("report.html" not in there)
        else:
            # The process had already ended, or Python was still starting, which prints nothing.
            assert said == ""
            assert not there or {"summary.json", "report.html"} <= there
        assert not list(place.glob(".*"))
        if here.exists():
            shutil.rmtree(here)


AT_RANDOM = """
import os, random, signal, statistics, sys, time
from wordline._internal import interruption
from wordline._internal.claim import claimed
from wordline._internal.unfinished import folder_for

def held():
    with claim(os.path.join(place, "here")):
        pass

place, claim = sys.argv[1], locals()[sys.argv[2]]
interruption.listen()
signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGINT))
times = []
for _ in range(100):
    begun = time.perf_counter()
    held()
    times.append(time.perf_counter() - begun)
took = statistics.median(times)
draw = random.Random(1)
ended = 0
for _ in range(500):
    try:
        signal.setitimer(signal.ITIMER_REAL, took * draw.uniform(0.01, 1.2))
        held()
        ended += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        # Python may leave the timer's signal pending until the next one.
        signal.raise_signal(signal.SIGALRM)
    except KeyboardInterrupt:
        pass
    assert not os.listdir(place), os.listdir(place)
print(ended)
"""


@pytest.mark.parametrize("claim", ["claimed", "folder_for"])
def test_no_lock_remains_whenever_a_signal_arrives(tmp_path: Path, claim: str) -> None:
    command = [sys.executable, "-c", AT_RANDOM, str(tmp_path), claim]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 450


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


class TestMessage:
    def test_a_finished_run_is_kept_when_its_report_is_interrupted(
        self,
        tiny: str,
        trace: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr("wordline._render.report.render", interrupted)
            assert cli.main(["run", tiny, "--trace", trace, "--out", "here"]) == 130
        here = Path("here").resolve()
        assert capsys.readouterr().err.strip() == (
            f"error: interrupted; the results are in {here}, without report.html; "
            f"`wordline report {here}` draws it"
        )
        assert json.loads((here / "summary.json").read_text())["partial"] is False
        assert cli.main(["report", "here"]) == 0

    def test_an_interrupted_report_keeps_a_finished_run_in_python(
        self, tiny: str, trace: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("wordline._render.report.render", interrupted)
        with pytest.raises(wordline.Interrupted) as early:
            wordline.run(tiny, trace, out="here")
        assert not early.value.result.partial
        kept = json.loads(Path("here/summary.json").read_text())
        assert kept["digest"] == early.value.result.summary["digest"]

    def test_ctrl_c_between_the_end_of_a_run_and_its_result_loses_nothing(
        self, tiny: str, trace: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from wordline._api import simulation

        def late(_progress: object, run: Any, _bar: object = None) -> None:
            run(None)
            raise KeyboardInterrupt

        monkeypatch.setattr(simulation, "observed", late)
        with pytest.raises(wordline.Interrupted) as early:
            wordline.run(tiny, trace, out="here")
        assert early.value.result.summary["input"]["requests"] == 2000
        assert Path("here/summary.json").exists()

    def test_the_message_names_an_existing_checkpoint(
        self,
        tiny: str,
        place: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        with (place / tiny).open("a") as file:
            # The run is long enough on any machine for the clock to be checked during the run.
            file.write(LOAD.replace("150000", "1500000"))
        wordline.run(tiny, checkpoint="here/checkpoint.wls", checkpoint_every=0, requests=False)
        monkeypatch.setattr("wordline._api.simulation._heard", interrupted)
        assert cli.main(["resume", "here"]) == 130
        said = capsys.readouterr().err
        here = place / "here"
        assert f"{here} holds checkpoint.wls; `wordline resume {here}` continues the run" in said
        assert "nothing was written" not in said

    def test_the_message_names_a_prepared_file(
        self,
        tiny: str,
        place: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        with monkeypatch.context() as patched:
            patched.setattr("wordline._api.state.prepare", interrupted)
            assert cli.main(["prepare", tiny, "--out", "aged.wls"]) == 130
        assert "nothing was written" in capsys.readouterr().err
        monkeypatch.setattr("click.echo", interrupted)
        assert cli.main(["prepare", tiny, "--out", "aged.wls"]) == 130
        assert capsys.readouterr().err.endswith(f"{place / 'aged.wls'} was written\n")

    def test_an_earlier_result_is_not_reported_as_new(
        self,
        tiny: str,
        trace: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        wordline.run(tiny, trace, out="here")
        monkeypatch.setattr("wordline._api.simulation._heard", interrupted)
        assert cli.main(["run", tiny, "--trace", trace, "--out", "here"]) == 130
        assert capsys.readouterr().err.endswith("interrupted; nothing was written\n")
        assert Path("here/summary.json").exists()


def descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    found = [int(child) for child in children.read_text().split()] if children.exists() else []
    return found + [further for child in found for further in descendants(child)]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until_started(process: "subprocess.Popen[str]") -> None:
    """Waits until the interpreter imports Wordline, which replaces its SIGINT handler. Before that,
    the interpreter itself prints messages."""
    handled = False
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        caught = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt"))
        if int(caught, 16) >> (signal.SIGINT - 1) & 1:
            handled = True
        elif handled:
            return
        time.sleep(0.0002)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_ctrl_c_during_import_prints_no_traceback() -> None:
    for delay in range(0, 60, 4):
        process = start("devices")
        until_started(process)
        time.sleep(delay / 1000)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors, errors


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Mounts a disk of 64 KiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a tiny file system needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_causes_one_line_of_error_and_leaves_no_files(
    wordline: Command, tiny: str, trace: str, full_disk: Path
) -> None:
    answer = wordline("run", tiny, "--trace", trace, "--out", str(full_disk / "here"))
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    assert "No space left on device" in answer.stderr
    assert str(full_disk / "here") in answer.stderr
    assert "p99" in answer.stdout, "the summary is printed, because it cannot be saved"
    assert not list(full_disk.iterdir())


def test_a_disk_without_any_space_is_an_error_before_the_run(
    wordline: Command, tiny: str, trace: str, full_disk: Path
) -> None:
    (full_disk / "filling").write_bytes(b"0" * 65536)
    answer = wordline("run", tiny, "--trace", trace, "--out", str(full_disk / "here"))
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    assert "No space left on device" in answer.stderr
    assert [path.name for path in full_disk.iterdir()] == ["filling"]


def test_a_full_standard_output_is_an_error_of_one_line(tiny: str) -> None:
    with Path("/dev/full").open("w") as full:
        answer = subprocess.run(
            [*COMMAND, "config", "show", tiny],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert answer.returncode == 1
    assert answer.stderr.count("\n") == 1
    assert "No space left on device" in answer.stderr


@pytest.mark.parametrize("args", [["config", "schema"], ["policies"], ["run", "--help"]])
def test_a_reader_that_closes_the_pipe_is_not_an_error(args: list[str]) -> None:
    process = start(*args)
    assert process.stdout
    process.stdout.close()
    assert process.stderr
    assert process.stderr.read() == ""
    process.stderr.close()
    assert process.wait(timeout=60) in (0, 1)
