"""Power cuts of a live device, and the data that real programs find afterwards."""

import json
import random
from typing import Any

import pytest
from conftest import Command
from nbd_client import EIO, FLUSH, FUA, READ, TRIM, WRITE, command, connected

import wordline

apsw = pytest.importorskip("apsw")
from nbd_files import Disk, PowerLostError, database  # noqa: E402  (needs apsw)

BUFFER = {"buffer.capacity_kib": 256}


def served(tiny: str, **more: Any) -> wordline.LiveDevice:
    return wordline.serve(tiny, power_cuts=True, overrides=BUFFER | more)


class Ledger:
    """Rows that a database has committed, and the transaction that the power cut interrupted."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.rows: dict[int, bytes] = {}
        self.doubtful: dict[int, bytes] = {}

    def transact(self, opened: Any) -> None:
        """Commits a transaction of a few rows."""
        changed = {
            self.random.randrange(60): self.random.randbytes(self.random.randrange(1, 3000))
            for _ in range(self.random.randrange(1, 5))
        }
        self.doubtful = self.rows | changed
        with opened:
            for key, value in changed.items():
                opened.execute("INSERT OR REPLACE INTO t VALUES (?, ?)", (key, value))
        self.rows = self.doubtful

    def verify(self, opened: Any) -> str:
        """Compares the database with the ledger. Returns the fault, or an empty string."""
        if opened.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return "corrupt"
        found = dict(opened.execute("SELECT * FROM t").fetchall())
        if found not in (self.rows, self.doubtful):
            return "lost"
        self.rows = found
        return ""


def until_cut(device: wordline.LiveDevice, journal: str, ledger: Ledger, requests: int) -> str:
    """Opens a database, compares it with the ledger, and uses it until the power fails. Returns the
    fault that was found, or an empty string."""
    with connected(device.socket) as client:
        disk = Disk(client, lambda: device.control("power-cut"))
        try:
            with database(disk, journal) as opened:
                fault = ledger.verify(opened)
                disk.fails_at = disk.requests + requests
                while not fault:
                    ledger.transact(opened)
                return fault
        except (PowerLostError, apsw.Error) as error:
            return type(error).__name__ if disk.is_on else ""


def faults(tiny: str, journal: str, cuts: int, **more: Any) -> str:
    """Cuts the power in random requests of a database. Returns the first fault that was found, or
    an empty string."""
    draws, ledger = random.Random(cuts), Ledger(7)
    with served(tiny, **more) as device:
        with connected(device.socket) as client:
            with database(Disk(client, lambda: None), journal) as opened:
                opened.execute("CREATE TABLE t (k INTEGER PRIMARY KEY, v BLOB)")
            assert client.call(FLUSH) == 0
        for _ in range(cuts):
            fault = until_cut(device, journal, ledger, draws.randrange(1, 400))
            if fault:
                return fault
    assert device.result
    power = device.result.summary["power"]
    assert power
    assert power["cuts"] == cuts
    return ""


@pytest.mark.parametrize("journal", ["WAL", "DELETE", "PERSIST"])
def test_sqlite_keeps_committed_rows(tiny: str, journal: str) -> None:
    assert faults(tiny, journal, 25) == ""


def test_sqlite_keeps_committed_rows_without_a_buffer(tiny: str) -> None:
    assert faults(tiny, "WAL", 15, **{"buffer.capacity_kib": 0}) == ""


def test_capacitors_keep_unflushed_data(tiny: str) -> None:
    with served(tiny, **{"buffer.capacitors": True, "buffer.ignores_flush": True}) as device:
        with connected(device.socket) as client:
            assert client.call(WRITE, 0, data=b"a" * 4096) == 0
            assert device.control("power-cut")["blocks_reverted"] == 0
        with connected(device.socket) as client:
            assert client.read(0, 512) == b"a" * 512


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_buffer_that_ignores_flushes_loses_committed_rows(tiny: str, journal: str) -> None:
    """Any single cut may find the buffer empty, but not all of the 40 cuts."""
    assert faults(tiny, journal, 40, **{"buffer.ignores_flush": True}) != ""


@pytest.mark.slow
@pytest.mark.parametrize("journal", ["WAL", "DELETE", "TRUNCATE", "PERSIST"])
@pytest.mark.parametrize("kib", [0, 256])
def test_sqlite_keeps_committed_rows_in_many_cuts(tiny: str, journal: str, kib: int) -> None:
    assert faults(tiny, journal, 1000, **{"buffer.capacity_kib": kib}) == ""


def test_writes_before_a_flush_survive_and_others_may_not(tiny: str) -> None:
    with served(tiny) as device:
        with connected(device.socket) as client:
            assert client.call(WRITE, 0, data=b"a" * 4096) == 0
            assert client.call(FLUSH) == 0
            assert client.call(WRITE, 0, data=b"b" * 4096) == 0
            assert client.call(WRITE, 8192, data=b"c" * 4096, flags=FUA) == 0
            assert client.call(WRITE, 16384, data=b"d" * 4096) == 0
            cut = device.control("power-cut")
            assert (cut["pages_lost"], cut["blocks_reverted"]) == (2, 2)
            with pytest.raises((EOFError, ConnectionError)):
                client.call(FLUSH)
        with connected(device.socket) as client:
            found = [client.read(offset, 512)[:1] for offset in (0, 8192, 16384)]
    assert found == [b"a", b"c", b"\0"]
    assert device.result
    power = device.result.summary["power"]
    assert power
    assert power["pages_lost"] == 2


def test_power_cut_ends_the_requests_of_all_clients(tiny: str) -> None:
    with served(tiny) as device, connected(device.socket) as one, connected(device.socket) as other:
        for client in (one, other):
            for place in range(64):
                block = bytes([place + 1]) * 4096
                client.stream.sendall(command(WRITE, place * 8192, 4096) + block)
        device.control("power-cut")
        with connected(device.socket) as client:
            for place in range(64):
                assert client.read(place * 8192, 4096) in (bytes(4096), bytes([place + 1]) * 4096)
            assert client.call(WRITE, 0, data=b"e" * 4096) == 0
    assert device.result


def test_power_cut_requires_the_option(tiny: str) -> None:
    with (
        wordline.serve(tiny) as device,
        pytest.raises(wordline.WordlineError, match="--power-cuts"),
    ):
        device.control("power-cut")


def test_read_errors_last_until_the_range_is_written(tiny: str) -> None:
    with wordline.serve(tiny) as device, connected(device.socket) as client:
        device.control("read-error", offset=4096, bytes=4096)
        assert client.call(READ, 0, 8192) == EIO
        assert client.read(0, 4096) == bytes(4096)
        assert client.call(WRITE, 4096, data=b"a" * 512) == 0
        assert client.read(4096, 512) == b"a" * 512
        assert client.call(READ, 4096, 4096) == EIO
        device.control("heal")
        assert client.read(4096, 4096)[:512] == b"a" * 512
        device.control("read-error-rate", rate=1)
        assert client.call(READ, 0, 512) == EIO


def test_device_at_the_end_of_its_life_is_read_only(tiny: str) -> None:
    with wordline.serve(tiny) as device, connected(device.socket) as client:
        assert client.call(WRITE, 0, data=b"a" * 512) == 0
        device.control("end-of-life")
        assert client.call(WRITE, 0, data=b"b" * 512) == EIO
        assert client.call(TRIM, 0, 4096) == EIO
        assert client.read(0, 512) == b"a" * 512
        assert client.call(FLUSH) == 0
        device.control("heal")
        assert client.call(WRITE, 0, data=b"b" * 512) == 0


def test_slow_die_takes_longer_for_its_pages(tiny: str) -> None:
    """Each of two dies has half of the pages, so one slow die adds half the time that two slow dies
    add. A power cut does not end the slowness."""

    def mean_us(*slow: tuple[int, float]) -> float:
        with wordline.serve(tiny, power_cuts=True) as device:
            for die, factor in slow:
                device.control("slow-die", die=die, factor=factor)
            device.control("power-cut")
            with connected(device.socket) as client:
                for page in range(64):
                    client.read(page * 4096, 4096)
        assert device.result
        latency = device.result.summary["latency"]["read"]
        assert latency["mean_us"]
        return latency["mean_us"]

    normal, one, both = mean_us(), mean_us((1, 10.0)), mean_us((0, 10.0), (1, 10.0))
    assert both > 3 * normal
    assert one - normal == pytest.approx((both - normal) / 2)
    assert mean_us((0, 10.0), (0, 1.0)) == normal


@pytest.mark.parametrize(
    ("request_", "values", "reason"),
    [
        ("power-fail", {}, "choose one of power-cut"),
        ("read-error", {"offset": 0}, "takes offset, bytes"),
        ("read-error", {"offset": 0, "bytes": 2**60}, "ends beyond the device"),
        ("read-error", {"offset": 0.5, "bytes": 1}, "not valid"),
        ("read-error-rate", {"rate": 2}, "not between 0 and 1"),
        ("slow-die", {"die": 99, "factor": 2}, "no flash die with this number"),
        ("slow-die", {"die": 0, "factor": 0}, "not between 0.001"),
    ],
)
def test_invalid_control_request_is_rejected(
    tiny: str, request_: str, values: dict[str, float], reason: str
) -> None:
    with wordline.serve(tiny) as device:
        with pytest.raises(wordline.WordlineError, match=reason):
            device.control(request_, **values)
        with connected(device.socket) as client:
            assert client.read(0, 512) == bytes(512)


def test_control_command_sends_requests_and_reports_errors(tiny: str, wordline: Command) -> None:
    with served(tiny) as device:
        done = wordline("control", device.socket, "power-cut", "--json")
        assert json.loads(done.stdout)["requests_lost"] == 0
        done = wordline("control", device.socket, "power-cut")
        assert "pages lost: 0\n" in done.stdout
        done = wordline("control", device.socket, "read-error", "a", "1")
        assert done.returncode == 2
        assert "OFFSET is 'a', which is not a number" in done.stderr, done.stderr
    done = wordline("control", device.socket, "heal")
    assert (done.returncode, "No such file" in done.stderr) == (2, True)
