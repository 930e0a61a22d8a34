"""A live device as a file (nbdfuse): SQLite on it, LMDB through power cuts, and the programs of the
tutorials.

Only other processes use the file: a process that waits for its own live device can block itself.
"""

import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import USER_BYTES
from serving import LIMIT, called, program, server

import wordline

pytest.importorskip("lmdb")
from lmdb_program import changes, digest, opened

SOCKET = "disk.sock"
PROGRAM = str(Path(__file__).with_name("lmdb_program.py"))
SQLITE = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA journal_mode = MEMORY")
database.execute("CREATE TABLE IF NOT EXISTS t (v BLOB)")
for _ in range(20):
    database.execute("INSERT INTO t VALUES (randomblob(2000))")
print(*database.execute("SELECT count(*) FROM t").fetchone())
print(*database.execute("PRAGMA integrity_check").fetchone())
"""


def example(page: str, number: int = 0) -> str:
    """Returns a Python program of a page."""
    text = (Path(__file__).parents[2] / "docs" / page).read_text()
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)[number]


@contextmanager
def mounted() -> Iterator[str]:
    """Shows the device as a file until the end of the block, and returns its path."""
    folder, ready = Path("mount"), Path("nbdfuse.pid")
    folder.mkdir(exist_ok=True)
    ready.unlink(missing_ok=True)
    process = subprocess.Popen(
        [
            program("nbdfuse"),
            "--pidfile",
            str(ready),
            str(folder),
            f"nbd+unix:///?socket={SOCKET}",
        ],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        end = time.monotonic() + LIMIT
        while not ready.exists():
            assert process.stderr
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < end
            time.sleep(0.002)
        yield str(folder / "nbd")
    finally:
        called(program("fusermount3"), "-u", "-z", str(folder))
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT)


class Database:
    """LMDB database of a device, and what it must contain."""

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes] = {}
        self.committed = 0

    def digest(self) -> str:
        """Returns the digest of what was committed."""
        return digest(sorted(self.entries.items()))

    def commit(self) -> None:
        """Adds the next transaction."""
        self.committed += 1
        self.entries |= changes(self.committed)

    def use_until_cut(self, path: str, delay: float) -> str:
        """Compares the database with what was committed, and uses it until the power fails after
        `delay` seconds. Returns the fault that was found, or nothing."""
        process = subprocess.Popen(
            [sys.executable, PROGRAM, path, str(USER_BYTES)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin
        assert process.stdout
        found = process.stdout.readline().strip()
        if found and found != self.digest():
            self.commit()
        if found != self.digest():
            process.kill()
            _, error = process.communicate(timeout=LIMIT)
            return "lost" if found else f"corrupt: {error}"
        process.stdin.write(f"{self.committed + 1}\n")
        process.stdin.flush()
        time.sleep(delay)
        wordline.control(SOCKET, "power-cut")
        output, _ = process.communicate(timeout=LIMIT)
        for number in output.split():
            self.commit()
            assert int(number) == self.committed
        return ""


def copy_to_device(image: str) -> None:
    """Copies a file to the beginning of the device."""
    called(program("nbdcopy"), "--flush", image, f"nbd+unix:///?socket={SOCKET}")


def faults(tiny: str, cuts: int, **more: object) -> str:
    """Cuts the power of an LMDB database at random times. Returns the first fault that was found,
    or nothing."""
    keys = {"buffer.capacity_kib": 256} | more
    draws, database = random.Random(cuts), Database()
    with server(tiny, "--socket", SOCKET, "--power-cuts", "--out", "out", *settings(**keys)):
        opened("image.mdb", USER_BYTES).close()
        copy_to_device("image.mdb")
        for _ in range(cuts):
            with mounted() as path:
                fault = database.use_until_cut(path, draws.uniform(0, 0.04))
            if fault:
                return fault
        with mounted() as path:
            fault = database.use_until_cut(path, 0)
    assert database.committed > cuts
    return fault


def test_lmdb_keeps_what_it_has_committed(tiny: str) -> None:
    assert faults(tiny, 20) == ""


def test_buffer_that_ignores_flushes_loses_what_lmdb_has_committed(tiny: str) -> None:
    """Each of the first cuts may find the buffer empty, but not all of 40."""
    assert faults(tiny, 40, **{"buffer.ignores_flush": "true"}) != ""


@pytest.mark.slow
@pytest.mark.parametrize("kib", [0, 256])
def test_lmdb_keeps_what_it_has_committed_in_many_cuts(tiny: str, kib: int) -> None:
    assert faults(tiny, 1000, **{"buffer.capacity_kib": kib}) == ""


def test_sqlite_on_the_file_of_a_device(tiny: str) -> None:
    """The next mount finds the rows of each mount, and the device has counted the requests."""
    called(sys.executable, "-c", SQLITE, "image.db")
    with server(tiny, "--socket", SOCKET, "--out", "out"):
        copy_to_device("image.db")
        for rows in (40, 60):
            with mounted() as path:
                assert called(sys.executable, "-c", SQLITE, path) == f"{rows}\nok\n"
        status = wordline.control(SOCKET, "status")
    assert status["summary"]["input"]["writes"] >= 40


def settings(**keys: object) -> list[str]:
    return [word for key, value in keys.items() for word in ("--set", f"{key}={value}")]


@pytest.mark.parametrize(
    ("task", "ignores_flush"),
    [("write", False), ("write-and-sync", False), ("write-and-sync", True)],
)
def test_ledger_of_the_tutorial_loses_what_it_has_not_flushed(
    tiny: str, task: str, ignores_flush: bool
) -> None:
    Path("ledger.py").write_text(example("tutorial-power-cuts.md"))
    keys = {"buffer.capacity_kib": 256, "buffer.ignores_flush": str(ignores_flush).lower()}
    with server(tiny, "--socket", SOCKET, "--power-cuts", "--out", "out", *settings(**keys)):
        with mounted() as path:
            process = subprocess.Popen(
                [sys.executable, "ledger.py", path, task], stdout=subprocess.PIPE, text=True
            )
            while wordline.control(SOCKET, "status")["summary"]["input"]["writes"] < 200:
                assert process.poll() is None
            wordline.control(SOCKET, "power-cut")
            output, _ = process.communicate(timeout=LIMIT)
        with mounted() as path:
            checked = called(sys.executable, "ledger.py", path, "check")
    acknowledged, intact = int(output.split()[0]), int(checked.split()[0])
    if task == "write-and-sync" and not ignores_flush:
        assert acknowledged <= intact <= acknowledged + 1
    else:
        assert 0 < acknowledged - intact <= 64


@contextmanager
def file_system() -> Iterator[str]:
    """Mounts a new file system of the device until the end of the block, and returns its folder."""
    folder = Path("disk")
    folder.mkdir()
    with mounted() as path:
        called(program("mkfs.ext4"), "-q", "-F", "-E", "nodiscard", path)
        called(program("fuse2fs"), path, str(folder), "-o", "fakeroot")
        try:
            yield str(folder)
        finally:
            called(program("fusermount3"), "-u", "-z", str(folder))


def commits_per_s(*more: str, commits: int) -> float:
    """Runs the program of the tutorial, and returns its result."""
    Path("commits.py").write_text(example("tutorial-live.md"))
    with server("demo", "--socket", SOCKET, "--out", "out", *more), file_system() as folder:
        words = [SOCKET, f"{folder}/test.db", str(commits)]
        output = called(sys.executable, "commits.py", *words)
    return float(output.split()[0].replace(",", ""))


@pytest.mark.usefixtures("place")
def test_sqlite_of_the_tutorial_commits_on_a_file_system() -> None:
    """A commit needs at least one program (200 us), and less than 100 of them."""
    rate = commits_per_s(*settings(**{"buffer.capacity_kib": 1024}), commits=100)
    assert 1e6 / (100 * 200) < rate < 1e6 / 200


@pytest.mark.slow
def test_commit_rates_of_the_tutorial(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each rate is within a tenth of that of the page."""
    page = (Path(__file__).parents[2] / "docs/tutorial-live.md").read_text()
    rows = re.findall(r"^\| (28|7) %.*?\| (.*) \|$", page, re.MULTILINE)
    buffers = [
        {},
        {"buffer.capacity_kib": 1024},
        {
            "buffer.capacity_kib": 1024,
            "buffer.capacitors": "true",
            "buffer.ignores_flush": "true",
        },
    ]
    assert len(rows) == 2
    for percent, rates in rows:
        share = {"ftl.over_provisioning_ratio": int(percent) / 100}
        for number, (buffer, rate) in enumerate(zip(buffers, rates.split(" | "), strict=True)):
            own = place / f"{percent}-{number}"
            own.mkdir()
            monkeypatch.chdir(own)
            found = commits_per_s(*settings(**buffer, **share), commits=2000)
            assert found == pytest.approx(float(rate.replace(",", "")), rel=0.1)
