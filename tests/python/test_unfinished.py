"""Remains of killed processes, and two processes that write to the same place."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Command, environment

import wordline as package
from wordline import WordlineError
from wordline._internal import output_folder, unfinished
from wordline._internal.claim import claimed

LOAD = "\n[workload]\nrequests = 20000\nread_ratio = 0.5\n"


def python(code: str, *args: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", code, *args],
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def killed(*processes: "subprocess.Popen[str]") -> None:
    """Kills processes once each of them has printed something."""
    for process in processes:
        assert process.stdout
        assert process.stdout.readline()
    for process in processes:
        process.kill()
        process.communicate()


WRITES = """
import sys, time
from wordline._internal import output_folder
def slow(path):
    with open(path, "w") as file:
        file.write("half")
        file.flush()
        print("writes", flush=True)
        time.sleep(600)
if sys.argv[1] == "here":
    output_folder.write("here", {"summary.json": slow, "config.resolved.toml": slow}, "run")
else:
    output_folder.write_file(sys.argv[1], slow)
"""


def text(content: str) -> Callable[[str], object]:
    return lambda path: Path(path).write_text(content)


def hidden(place: Path) -> list[str]:
    return [path.name for path in place.glob(".*")]


class TestLeftovers:
    def test_the_next_run_removes_the_files_of_a_killed_run(self, place: Path) -> None:
        killed(python(WRITES, "here"), python(WRITES, "here"))
        assert len(hidden(place)) == 2
        output_folder.check("here", "run")
        assert hidden(place) == []

    def test_the_next_writer_of_a_file_removes_the_files_of_a_killed_writer(
        self, place: Path
    ) -> None:
        killed(python(WRITES, "page.html"))
        assert len(hidden(place)) == 1
        output_folder.write_file("page.html", text("page"))
        assert [path.name for path in place.iterdir()] == ["page.html"]

    def test_files_of_a_running_process_are_kept(self, place: Path) -> None:
        process = python(WRITES, "here")
        assert process.stdout
        process.stdout.readline()
        (made,) = hidden(place)
        output_folder.check("here", "run")
        output_folder.write(
            "here", {"summary.json": text("{}"), "config.resolved.toml": text("")}, "run"
        )
        assert hidden(place) == [made]
        process.kill()
        process.communicate()

    def test_files_of_other_programs_are_kept(self, place: Path) -> None:
        own = place / ".here-0123abcd"
        own.mkdir()
        (own / "thesis.txt").write_text("mine")
        (place / ".here-notes").mkdir()
        output_folder.check("here", "run")
        assert sorted(hidden(place)) == [".here-0123abcd", ".here-notes"]

    def test_a_former_result_that_was_moved_aside_is_restored(self, place: Path) -> None:
        writers = {"summary.json": text("former"), "config.resolved.toml": text("")}
        output_folder.write("here", writers, "run")
        # Killed between the two renames.
        Path("here").rename(unfinished.hidden(str(place / "here"), unfinished.FORMER))
        output_folder.check("here", "run")
        assert (place / "here/summary.json").read_text() == "former"
        assert hidden(place) == []

    def test_a_sweep_continues_after_a_kill_during_the_write_of_its_table(
        self, place: Path
    ) -> None:
        (place / "here").mkdir()
        (place / "here/points.jsonl").write_text("")
        killed(python(WRITES, "here/points.parquet"))
        output_folder.check("here", "sweep")
        assert [path.name for path in (place / "here").iterdir()] == ["points.jsonl"]

    def test_the_next_prepare_removes_the_partial_file_of_a_killed_prepare(
        self, tiny: str, place: Path, wordline: Command
    ) -> None:
        (place / "aged.wls.part").write_bytes(bytes(1 << 20))
        (place / "aged.wls.2.part").write_bytes(bytes(1 << 20))
        assert wordline("prepare", tiny, "-o", "aged.wls").returncode == 0
        assert sorted(path.name for path in place.iterdir()) == ["aged.wls", tiny]


class TestConcurrentWriters:
    def test_two_processes_that_prepare_one_file_leave_a_complete_file(
        self, tiny: str, place: Path, wordline: Command
    ) -> None:
        with (place / tiny).open("a") as file:
            file.write(LOAD)
        with ThreadPoolExecutor(4) as threads:
            done = list(
                threads.map(
                    lambda seed: wordline("prepare", tiny, "--seed", str(seed), "-o", "aged.wls"),
                    range(1, 5),
                )
            )
        assert [one.returncode for one in done] == [0] * 4, [one.stderr for one in done]
        assert wordline("run", "--from", "aged.wls", "--out", "here").returncode == 0
        assert not list(place.glob("*.part"))

    def test_a_second_run_into_a_claimed_folder_is_rejected(
        self, tiny: str, place: Path, wordline: Command
    ) -> None:
        with (place / tiny).open("a") as file:
            file.write("\n[workload]\nrequests = 4000000000\n")
        first = subprocess.Popen(
            [sys.executable, "-m", "wordline", "run", tiny, "--out", "deep/here"],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        lock = place / "deep/.here.lock"
        end = time.monotonic() + 30
        while not lock.exists() or not lock.read_text():
            assert time.monotonic() < end
            time.sleep(0.01)
        second = wordline("run", tiny, "--max-requests", "10", "--out", "deep/here")
        assert second.returncode == 2
        here = place / "deep/here"
        assert second.stderr == (
            f"error: {here}: process {first.pid} is writing there; wait until it ends, or name "
            "another folder\n"
        )
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
        third = wordline("run", tiny, "--max-requests", "10", "--out", "deep/here", "--no-report")
        assert third.returncode == 0, third.stderr
        assert [path.name for path in (place / "deep").iterdir()] == ["here"]

    def test_python_rejects_a_claimed_folder_as_well(self, tiny: str, place: Path) -> None:
        with (
            claimed(str(place / "here")),
            pytest.raises(WordlineError, match=f"process {os.getpid()} is writing there"),
        ):
            package.run(tiny, overrides={"workload.requests": 10}, out="here")
        package.run(tiny, overrides={"workload.requests": 10}, out="here")

    def test_a_claim_ends_with_its_process(self, place: Path) -> None:
        code = (
            "import sys, time; from wordline._internal.claim import claimed\n"
            "with claimed(sys.argv[1]): print('has it', flush=True); time.sleep(600)"
        )
        killed(python(code, str(place / "a/here")))
        with claimed(str(place / "a/here")):
            pass
        assert list(place.rglob("*")) == [place / "a"]

    @staticmethod
    def result(folder: Path) -> None:
        folder.mkdir()
        for name in ("summary.json", "config.resolved.toml"):
            (folder / name).write_text("")

    def test_a_folder_that_another_process_is_replacing_is_not_called_a_file(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def found_and_then_moved(path: str) -> int:
            found = mode(path)
            if Path(path).name == "here":
                shutil.rmtree(path, ignore_errors=True)
            return found

        mode = output_folder._mode  # pyright: ignore[reportPrivateUsage]
        (place / "here").mkdir()
        monkeypatch.setattr(output_folder, "_mode", found_and_then_moved)
        assert output_folder.check("here", "run") == str(place / "here")

    def test_a_folder_listed_while_another_process_replaces_it_is_listed_again(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def replaced_meanwhile(path: str) -> list[str]:
            if Path(path) != place / "here":
                return listed(path)
            number = len(list(place.iterdir()))
            former = place / f"former-{number}"
            if number < 5:
                (place / "here").rename(former)
                (former / "config.resolved.toml").unlink()
                self.result(place / "here")
                return listed(str(former))
            return listed(path)

        listed = os.listdir
        self.result(place / "here")
        monkeypatch.setattr(os, "listdir", replaced_meanwhile)
        assert output_folder.check("here", "run") == str(place / "here")

    def test_a_result_that_is_half_removed_is_not_restored(
        self, place: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(path: str) -> None:
            unlink(path)
            if not replaced:
                replaced.append(place / "here")
                # Other writers: one releases its lock, one is between its two renames, one cleans.
                os.close(lock)
                (place / "here").rename(place / "moved")
                unfinished.remove_left(
                    str(place / "here"), {"summary.json", "config.resolved.toml"}
                )
                restored.extend(place.glob("here"))

        unlink = os.unlink
        restored: list[Path] = []
        replaced: list[Path] = []
        self.result(place / "here")
        lock = os.open(place / "here", os.O_RDONLY)
        assert unfinished.take(lock)
        monkeypatch.setattr(os, "unlink", interrupted)
        writers = {"summary.json": text("new"), "config.resolved.toml": text("")}
        output_folder.write("here", writers, "run")
        assert replaced
        assert restored == []

    def test_concurrent_writers_leave_one_complete_result(self, place: Path) -> None:
        def write(number: int) -> None:
            content = text(str(number))
            output_folder.write(
                "here", {"summary.json": content, "config.resolved.toml": content}, "run"
            )

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(64)))
        names = ("summary.json", "config.resolved.toml")
        (one,) = {(place / "here" / name).read_text() for name in names}
        assert 0 <= int(one) < 64
        assert [path.name for path in place.iterdir()] == ["here"]


class TestSeeds:
    def test_a_prepared_device_keeps_its_seed(
        self, tiny: str, place: Path, wordline: Command
    ) -> None:
        with (place / tiny).open("a") as file:
            file.write(LOAD)
        aged = ("--set", "precondition.overwrite_ratio=1")
        wordline("prepare", tiny, *aged, "--seed", "7", "-o", "aged.wls")
        refused = wordline("run", "--from", "aged.wls", "--seed", "2", "--out", "other")
        assert refused.returncode == 2
        assert refused.stderr == (
            f"error: {place / 'aged.wls'}: was prepared with seed 7, and the run has seed 2; give "
            "the run seed 7, or prepare the device with seed 2\n"
        ).replace(f"{place}/", "")
        assert not Path("other").exists()
        own = package.run(tiny, overrides={"precondition.overwrite_ratio": 1}, seed=7)
        for more in ((), ("--seed", "7")):
            done = wordline("run", "--from", "aged.wls", *more, "--out", "here", "--json")
            assert f'"digest": "{own.summary["digest"]}"' in done.stdout
        assert package.run(None, prepared="aged.wls").summary["digest"] == own.summary["digest"]
        with pytest.raises(WordlineError, match="was prepared with seed 7, and the run has seed 1"):
            package.run(None, prepared="aged.wls", seed=1)
