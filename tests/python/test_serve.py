"""Live devices: `wordline serve` and `wordline.serve`."""

import json
import os
import random
import signal
import socket
import stat
import struct
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import TINY, USER_BYTES, Command
from nbd_client import (
    EINVAL,
    ENOSPC,
    ESHUTDOWN,
    FIXED,
    FLUSH,
    FUA,
    NO_HOLE,
    NO_ZEROES,
    READ,
    TRIM,
    WRITE,
    ZERO,
    command,
    connected,
    option,
    raw,
)
from serving import LIMIT, announced, called, program, server

import wordline


@pytest.fixture
def device(tiny: str) -> Iterator[wordline.LiveDevice]:
    with wordline.serve(tiny) as served:
        yield served


def summary(folder: str = "out") -> dict[str, Any]:
    return json.loads(Path(folder, "summary.json").read_text())


def test_reads_return_the_written_data(device: wordline.LiveDevice) -> None:
    with connected(device.socket) as client, connected(device.socket) as other:
        assert client.size == USER_BYTES
        assert client.read(0, 4096) == bytes(4096)
        assert client.call(WRITE, 512, data=b"a" * 8192) == 0
        assert client.call(WRITE, 8192, data=b"b" * 512, flags=FUA) == 0
        assert other.read(0, 9216) == bytes(512) + b"a" * 7680 + b"b" * 512 + bytes(512)
        assert client.call(FLUSH) == 0
        assert client.call(TRIM, 4096, 4096) == 0
        assert client.call(ZERO, 1024, 512, flags=NO_HOLE | FUA) == 0
        assert other.read(512, 4608) == b"a" * 512 + bytes(512) + b"a" * 2560 + bytes(1024)
    assert device.result is None


def test_writes_and_trims_of_partial_sectors_are_exact(tiny: str) -> None:
    """A partial write programs whole sectors. A TRIM of less than a sector is a write of zeros."""
    with wordline.serve(tiny) as device, connected(device.socket) as client:
        assert client.call(WRITE, 0, data=b"a" * 2048) == 0
        assert client.call(WRITE, 510, data=b"bcd") == 0
        assert client.call(TRIM, 1025, 100) == 0
        assert client.read(509, 5) == b"abcda"
        assert client.read(1024, 102) == b"a" + bytes(100) + b"a"
        assert client.call(TRIM, 1, 1600) == 0
        assert client.read(0, 1602) == b"a" + bytes(1600) + b"a"
    assert device.result
    assert [device.result.summary["input"][kind] for kind in ("writes", "trims")] == [3, 1]


def test_summary_counts_the_requests_of_the_client(tiny: str) -> None:
    with wordline.serve(tiny) as device, connected(device.socket) as client:
        for page in range(10):
            assert client.call(WRITE, page * 4096, data=bytes(4096)) == 0
        for page in range(7):
            client.read(page * 4096, 4096)
        assert client.call(TRIM, 0, 8192) == 0
    assert device.result is not None
    counts = device.result.summary["input"]
    assert (counts["writes"], counts["reads"], counts["trims"]) == (10, 7, 1)
    assert counts["kind"] == "live"
    assert device.result.summary["latency"]["write"]["p50_us"] > 100


def test_invalid_commands_return_errors(device: wordline.LiveDevice) -> None:
    with connected(device.socket) as client:
        for kind, offset, size, data, error in [
            (READ, 0, 33 << 20, b"", EINVAL),
            (READ, USER_BYTES, 512, b"", EINVAL),
            (WRITE, USER_BYTES, 512, bytes(512), ENOSPC),
            (WRITE, 0, 33 << 20, bytes(33 << 20), EINVAL),
            (99, 0, 512, b"", EINVAL),
            (5, 0, 512, b"", EINVAL),
        ]:
            assert client.call(kind, offset, size, data) == error
        assert client.read(0, 512) == bytes(512)


def test_faulty_clients_do_not_affect_other_clients(device: wordline.LiveDevice) -> None:
    draw = random.Random(1)
    for turn in range(200):
        with raw(device.socket) as stream:
            stream.recv(18)
            flags = struct.pack(">I", FIXED | NO_ZEROES)
            parts = [
                b"",
                flags[:2],
                flags + option(draw.randrange(12), draw.randbytes(draw.randrange(40)))[:30],
                flags + option(1) + command(WRITE, 0, 4096) + bytes(100),
                flags + option(1) + draw.randbytes(64),
                flags + option(1) + command(READ, 0, 4096) * 50,
            ]
            with suppress(BrokenPipeError, ConnectionResetError):
                stream.sendall(parts[turn % len(parts)])
    with connected(device.socket) as client:
        assert client.call(WRITE, 0, data=b"c" * 512) == 0
        assert client.read(0, 512) == b"c" * 512


def test_requests_of_a_client_overlap(tiny: str) -> None:
    """Programs on two dies overlap: together they keep the device busy for little more than half
    the time."""

    def busy_s(together: bool) -> float:
        with wordline.serve(tiny) as device, connected(device.socket) as client:
            batch = b"".join(
                command(WRITE, page * 4096, 4096, cookie=page) + bytes(4096) for page in range(256)
            )
            if together:
                client.stream.sendall(batch)
                cookies = {client.reply() for _ in range(256)}
                assert cookies == {(page, 0) for page in range(256)}
            else:
                for page in range(256):
                    assert client.call(WRITE, page * 4096, data=bytes(4096)) == 0
        assert device.result
        return device.result.summary["time"]["busy_s"]

    assert busy_s(together=True) < 0.6 * busy_s(together=False)


def test_one_request_at_a_time_is_deterministic(tiny: str) -> None:
    def digest() -> str:
        draw = random.Random(3)
        with wordline.serve(tiny) as device, connected(device.socket) as client:
            for _ in range(300):
                assert client.call(WRITE, draw.randrange(1000) * 4096, data=bytes(4096)) == 0
        assert device.result
        return device.result.summary["digest"]

    assert digest() == digest()


@pytest.mark.parametrize("clock", ["simulated", "real"])
def test_replay_of_the_recording_has_the_same_digest(
    tiny: str, clock: str, wordline: Command
) -> None:
    args = [tiny, "--clock", clock, "--record", "asked.csv.gz", "--out", "out", "--no-report"]
    with server(*args) as process:
        load = [threading.Thread(target=many_requests, args=(seed,)) for seed in range(3)]
        for one in load:
            one.start()
        for one in load:
            one.join(LIMIT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 0
    replay = wordline("run", tiny, "--trace", "asked.csv.gz", "--out", "replay", "--no-report")
    assert replay.returncode == 0, replay.stderr
    live, again = summary(), summary("replay")
    assert sum(live["input"][op] for op in ("reads", "writes", "trims")) == 3 * 200
    for key in ("digest", "latency", "time", "flash"):
        assert live[key] == again[key], key


def many_requests(seed: int) -> None:
    """Keeps eight requests in flight."""
    draw = random.Random(seed)
    with connected("wordline.sock") as client:
        for sent in range(200 + 8):
            if sent < 200:
                kind = draw.choice([READ, WRITE, WRITE, TRIM])
                data = bytes(4096) if kind == WRITE else b""
                offset = draw.randrange(USER_BYTES // 4096) * 4096
                cookie = kind << 32 | sent
                client.stream.sendall(command(kind, offset, 4096, cookie=cookie) + data)
            if sent >= 8:
                cookie, error = client.reply()
                assert error == 0
                if cookie >> 32 == READ:
                    client.take(4096)


def test_real_clock_delays_replies(tiny: str) -> None:
    """Replies take at least the simulated time of the writes, and ten times that with scale 10."""
    took = []
    for scale in (1, 10):
        live = wordline.serve(tiny, clock="real", scale=scale)
        with live as device, connected(device.socket) as client:
            start = time.perf_counter()
            for page in range(20):
                assert client.call(WRITE, page * 4096, data=bytes(4096)) == 0
            took.append(time.perf_counter() - start)
        assert device.result
        simulated = 20 * device.result.summary["latency"]["write"]["mean_us"] * 1e-6
        assert took[-1] >= simulated * scale
        assert any(
            "of the replies were sent at most" in note for note in device.result.summary["notes"]
        )


def test_think_time_passes_while_no_request_is_in_progress(tiny: str) -> None:
    """The device gets the pause between two requests, but not the one before the first request."""

    def charged(think_time: float) -> tuple[float, float]:
        """Returns the simulated time, and an upper bound of the pause. s."""
        with wordline.serve(tiny, think_time=think_time) as device:
            with connected(device.socket) as client:
                time.sleep(0.2)
                start = time.monotonic()
                client.read(0, 4096)
                time.sleep(0.2)
                client.read(0, 4096)
                pause = time.monotonic() - start
            status = device.control("status")
        return status["live"]["simulated_s"], pause

    assert charged(0)[0] < 0.01
    for factor in (1, 10):
        simulated, pause = charged(factor)
        assert 0.2 * factor <= simulated <= pause * factor + 0.01


def test_socket_is_private_and_removed_at_the_end(tiny: str) -> None:
    with wordline.serve(tiny, socket="s.sock") as device:
        mode = os.lstat("s.sock").st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
        assert device.uri == "nbd+unix:///?socket=s.sock"
        with pytest.raises(wordline.WordlineError, match="another server listens at this path"):
            wordline.serve(tiny, socket="s.sock").__enter__()
    assert [file.name for file in Path().iterdir()] == ["tiny.toml"]


def test_stale_socket_is_replaced_and_other_files_are_not(tiny: str) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind("s.sock")
    with wordline.serve(tiny, socket="s.sock") as device, connected(device.socket) as client:
        assert client.read(0, 512) == bytes(512)
    Path("file").write_text("kept")
    with pytest.raises(wordline.WordlineError, match="not a socket; choose another path"):
        wordline.serve(tiny, socket="file").__enter__()
    assert Path("file").read_text() == "kept"


def test_data_file_outlives_the_device(tiny: str) -> None:
    with wordline.serve(tiny, data="disk.img") as device, connected(device.socket) as client:
        assert client.call(WRITE, 4096, data=b"d" * 4096) == 0
        with pytest.raises(wordline.WordlineError, match="another server uses the file"):
            wordline.serve(tiny, data="disk.img").__enter__()
    assert Path("disk.img").stat().st_size == USER_BYTES
    with wordline.serve(tiny, data="disk.img") as device, connected(device.socket) as client:
        assert client.read(4096, 4096) == b"d" * 4096
    Path("disk.img").write_bytes(bytes(USER_BYTES + 512))
    with pytest.raises(wordline.WordlineError, match="choose a larger device"):
        wordline.serve(tiny, data="disk.img").__enter__()


def test_sigterm_during_a_write_loses_no_acknowledged_write(tiny: str) -> None:
    written: dict[int, bytes] = {}
    last = b""
    with server(tiny, "--data", "disk.img", "--out", "out", "--no-report") as process:
        with connected("wordline.sock") as client:
            for turn in range(2000):
                if turn == 100:
                    process.send_signal(signal.SIGTERM)
                page, last = turn % 1000, turn.to_bytes(4) * 1024
                try:
                    error = client.call(WRITE, page * 4096, data=last)
                except (EOFError, OSError):
                    break
                if error:
                    break
                written[page] = last
        assert process.wait(LIMIT) == 0
    assert len(written) >= 100
    content = Path("disk.img").read_bytes()
    for page, data in written.items():
        # The last write may have reached the file without an acknowledgement.
        assert content[page * 4096 :][:4096] in (data, last)
    assert summary()["input"]["writes"] >= len(written)


@pytest.mark.usefixtures("place")
def test_second_interrupt_ends_the_device_with_partial_results() -> None:
    """After the first one, the device would work for seconds on the requests that have arrived.

    The client receives while the server ends: a Unix socket holds some 280 replies, and the server
    waits two seconds for a client that does not take them.
    """
    requests, size = 600, 32 << 20
    with (
        server("d4", "--no-report") as process,
        connected("wordline.sock") as client,
        ThreadPoolExecutor(1) as receiver,
    ):
        for cookie in range(requests):
            offset = cookie % 200 * size
            client.stream.sendall(command(ZERO, offset, size, NO_HOLE, cookie))
        client.reply()
        rest = range(requests - 1)
        received = receiver.submit(lambda: [client.reply()[1] for _ in rest])
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=LIMIT)
        assert process.returncode == 130
        answers = received.result(timeout=LIMIT)
    assert errors.startswith("error: interrupted; the results up to that point are in ")
    done = summary("out/d4-live")
    assert done["error"] == "interrupted"
    assert answers.count(0) + 1 == done["latency"]["write"]["count"] < requests
    assert ESHUTDOWN in answers
    assert set(answers) <= {0, ESHUTDOWN}
    assert "Partial result: interrupted" in output


def test_overload_by_clients_is_noted_as_theirs(device: wordline.LiveDevice) -> None:
    with connected(device.socket) as client:
        size = 64 << 10
        for cookie in range(600):
            offset = cookie * size % USER_BYTES
            client.stream.sendall(command(ZERO, offset, size, NO_HOLE, cookie))
        assert all(client.reply()[1] == 0 for _ in range(600))
    device.__exit__(None, None, None)
    assert device.result
    notes = " ".join(device.result.summary["notes"])
    assert "Let the clients keep fewer requests in flight." in notes
    assert "trace" not in notes


def test_full_data_file_is_reported(tiny: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with pytest.raises(wordline.WordlineError, match=r"data.*not a regular file"):
        wordline.serve(tiny, data="/dev/full").__enter__()


def test_data_file_in_a_missing_folder_is_reported(tiny: str) -> None:
    with pytest.raises(wordline.WordlineError, match=r"none/disk.*folder does not exist; create"):
        wordline.serve(tiny, data="none/disk.img").__enter__()


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"clock": "wall"}, "clock: 'wall' is neither simulated nor real"),
        ({"scale": 10}, "scale: .*set clock to real"),
        ({"clock": "real", "scale": 0.5}, "scale: 0.5 is not a number from 1"),
        ({"tcp": 65536}, "tcp: 65536 is not a port; choose one from 0 to 65535"),
        ({"socket": "no/such/folder"}, "No such file"),
        ({"record": "no/such/folder/t.csv"}, "it does not exist"),
        ({"socket": "s" * 200}, "longer than 90 bytes"),
        ({"overrides": {"workload.requests": 5}}, r"leave \[workload\] out"),
        ({"overrides": {"ftl.gc.schedule": "agc"}}, "choose another ftl.gc.schedule"),
    ],
)
def test_invalid_options_are_rejected(tiny: str, options: dict[str, object], fault: str) -> None:
    with pytest.raises(wordline.WordlineError, match=fault):
        wordline.serve(tiny, **options).__enter__()  # pyright: ignore
    assert [file.name for file in Path().iterdir()] == ["tiny.toml"]


def test_qemu_reads_the_data_that_it_wrote(device: wordline.LiveDevice) -> None:
    actions = ["write -P 7 4k 64k", "writev -P 8 512 512", "flush", "discard 16k 8k"]
    actions += ["write -z 32k 4k", "read -P 7 8k 8k", "read -P 8 512 512", "read -P 0 32k 4k"]
    words = [word for action in actions for word in ("-c", action)]
    out = called(program("qemu-io"), "-f", "raw", *words, device.uri)
    assert "failed" not in out
    info = json.loads(called(program("qemu-img"), "info", "--output=json", device.uri))
    assert info["virtual-size"] == USER_BYTES


def test_libnbd_copies_an_image(device: wordline.LiveDevice) -> None:
    assert f"export-size: {USER_BYTES}" in called(program("nbdinfo"), device.uri)
    image = random.Random(5).randbytes(USER_BYTES)
    Path("image").write_bytes(image)
    called(program("nbdcopy"), "image", device.uri)
    called(program("nbdcopy"), device.uri, "back")
    assert Path("back").read_bytes() == image


def test_fio_verifies_its_data(device: wordline.LiveDevice) -> None:
    job = "--name=x --rw=randrw --bs=4k --size=4m --iodepth=32 --verify=crc32c --output-format=json"
    if "nbd" not in called(program("fio"), "--enghelp"):
        pytest.skip("this fio lacks the engine nbd")
    out = called("fio", "--ioengine=nbd", f"--uri={device.uri}", *job.split())
    assert json.loads(out[out.index("{") :])["jobs"][0]["error"] == 0


JOBS = """
[global]
ioengine=nbd
bs=4k
size=4m
number_ios=400
stonewall
[write-1]
rw=randwrite
iodepth=1
[write-32]
rw=randwrite
iodepth=32
[read-1]
rw=randread
iodepth=1
[read-32]
rw=randread
iodepth=32
[mixed]
rw=randrw
rwmixread=70
iodepth=32
[sequential-write]
rw=write
bs=128k
iodepth=4
verify=crc32c
[sequential-read]
rw=read
bs=128k
iodepth=4
"""


def test_fio_runs_a_job_file(device: wordline.LiveDevice) -> None:
    """Random reads and writes at depth 1 and 32, a mix, and verified sequential writes. The device
    counts the requests of fio."""
    if "nbd" not in called(program("fio"), "--enghelp"):
        pytest.skip("this fio has no engine nbd")
    Path("disk.fio").write_text(JOBS.replace("ioengine=nbd", f"ioengine=nbd\nuri={device.uri}"))
    out = called("fio", "--output-format=json", "disk.fio")
    jobs = json.loads(out[out.index("{") :])["jobs"]
    assert [job["error"] for job in jobs] == [0] * JOBS.count("rw=")
    counts = device.control("status")["summary"]["input"]
    for op in ("read", "write"):
        assert counts[f"{op}s"] == sum(job[op]["total_ios"] for job in jobs)


@pytest.mark.usefixtures("place")
def test_fio_at_depth_32_agrees_with_a_closed_loop() -> None:
    """The queue depth of a real client applies in simulated time."""
    if "nbd" not in called(program("fio"), "--enghelp"):
        pytest.skip("this fio lacks the engine nbd")
    load = {"requests": 2048, "pattern": "uniform", "read_ratio": 0.0}
    Path("tiny.toml").write_text(TINY)
    with wordline.serve("tiny.toml") as device:
        job = "--name=x --rw=randwrite --bs=4k --size=6m --io_size=8m --iodepth=32 --norandommap"
        called("fio", "--ioengine=nbd", f"--uri={device.uri}", *job.split())
    assert device.result
    workload = load | {"arrival": {"closed-loop": {"queue_depth": 32}}}
    closed = wordline.run("tiny.toml", overrides={"workload": workload})
    live = device.result.summary["throughput"]["iops"]
    assert live == pytest.approx(closed.summary["throughput"]["iops"], rel=0.1)


@pytest.mark.usefixtures("place")
def test_percentiles_of_fio_agree_with_a_replay_of_its_requests() -> None:
    """At scale 40, 0.4 ms for the path through the socket and late replies are 10 us of simulated
    time. A bucket of fio's histogram is up to 1.6 % wide. A reply later than that moves its request
    among those of other latencies, of which adjacent ones differ by up to 40 us: one percent of the
    requests, two of about 200, may do so."""
    if "nbd" not in called(program("fio"), "--enghelp"):
        pytest.skip("this fio has no engine nbd")
    Path("tiny.toml").write_text(TINY)
    with wordline.serve("tiny.toml", clock="real", scale=40, record="asked.csv.gz") as device:
        job = "--name=x --rw=randrw --bs=4k --size=6m --number_ios=400 --iodepth=4 --norandommap"
        words = [f"--uri={device.uri}", "--percentile_list=50:90", "--output-format=json"]
        out = called("fio", "--ioengine=nbd", *words, *job.split())
    (found,) = json.loads(out[out.index("{") :])["jobs"]
    requests = wordline.run("tiny.toml", trace="asked.csv.gz").requests.polars()
    for op in ("read", "write"):
        device_us = requests.filter(polars.col("op") == op)["latency_ps"] / 1e6
        assert len(device_us) == found[op]["total_ios"] > 100
        for percent in (50, 90):
            client_us = found[op]["clat_ns"]["percentile"][f"{percent}.000000"] / 1e3 / 40
            low, high = (device_us.quantile((percent + shift) / 100, "higher") for shift in (-1, 1))
            assert low is not None
            assert high is not None
            room = max(10, 0.02 * client_us)
            assert low - room <= client_us <= high + room, (op, percent)


def listening() -> set[tuple[str, int]]:
    """Returns address and port of each TCP socket on which this process listens."""
    own = {str(one.readlink()) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()}
    found = set[tuple[str, int]]()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text().splitlines()[1:]:
            _, local, _, state, *_, inode = line.split()[:10]
            if state == "0A" and f"socket:[{inode}]" in own:
                address, _, port = local.partition(":")
                found.add((address, int(port, 16)))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_tcp_is_opened_on_request_and_on_this_machine_only(tiny: str) -> None:
    before = listening()
    with wordline.serve(tiny) as device:
        assert device.port is None
        assert listening() == before
    with wordline.serve(tiny, tcp=0) as device:
        assert device.port
        assert listening() - before == {("0100007F", device.port)}
        with pytest.raises(wordline.WordlineError, match=rf"--tcp {device.port}: .*choose another"):
            wordline.serve(tiny, tcp=device.port)
    assert listening() == before


def test_clients_can_connect_over_tcp(tiny: str) -> None:
    with announced(tiny, "--tcp", "0", "--out", "out", "--no-report") as (process, line):
        uri = line.split(" and ")[1].split(";")[0]
        assert uri.startswith("nbd://127.0.0.1:")
        assert f"export-size: {USER_BYTES}" in called(program("nbdinfo"), uri)
        out = called(program("qemu-io"), "-f", "raw", "-c", "write -P 7 0 64k", uri)
        assert "failed" not in out
        with connected("wordline.sock") as client:
            assert client.read(0, 65536) == b"\7" * 65536
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT) == 0
    assert summary()["input"]["written_bytes"] == 65536
