"""Live devices with misbehaving clients, and on a machine without free space."""

import contextlib
import random
import resource
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import USER_BYTES, environment
from nbd_client import (
    ACK,
    EINVAL,
    ENOSPC,
    FIXED,
    FLUSH,
    GO,
    NO_ZEROES,
    READ,
    STATUS,
    STRUCTURED,
    TRIM,
    WRITE,
    ZERO,
    Client,
    command,
    connected,
    option,
    raw,
)
from serving import GIB, LIMIT, ram, server

import wordline

SOCKET = "wordline.sock"
MAX_CONNECTIONS = 256
# A structured reply of one chunk, and its error.
CHUNK, ERROR_CHUNK = 0x668E33EF, 0x8001
POLICY = (1 << 31) + 2

linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def held(process: subprocess.Popen[str]) -> tuple[int, int]:
    """Returns the number of descriptors and of threads of a server."""
    folder = Path("/proc", str(process.pid))
    return len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir()))


def settles(process: subprocess.Popen[str], expected: tuple[int, int]) -> None:
    """Waits until a server has as many descriptors and threads as before its clients connected."""
    until = time.monotonic() + 5
    while held(process) != expected and time.monotonic() < until:
        time.sleep(0.05)
    assert held(process) == expected


def resident(process: subprocess.Popen[str]) -> int:
    """Returns the resident memory of a server. Bytes."""
    pages = Path("/proc", str(process.pid), "statm").read_text().split()[1]
    return int(pages) * resource.getpagesize()


@linux
def test_connections_in_sequence_leave_no_descriptors_or_threads(tiny: str) -> None:
    with server(tiny) as process:
        before = held(process)
        for number in range(2000):
            with connected(SOCKET) as client:
                if number % 100 == 0:
                    assert client.read(0, 512) == bytes(512)
        settles(process, before)


def negotiated(stream: socket.socket) -> tuple[int, bytes]:
    """Sends NBD_OPT_GO. Returns kind and data of the last reply."""
    client = Client(stream, 0)
    assert client.take(18) == b"NBDMAGICIHAVEOPT\x00\x03"
    stream.sendall(struct.pack(">I", FIXED | NO_ZEROES) + option(GO, bytes(6)))
    while True:
        magic, number, kind, length = struct.unpack(">QIII", client.take(20))
        assert (magic, number) == (0x3E889045565A9, GO)
        data = client.take(length)
        if kind == ACK or kind >> 31:
            return kind, data


@linux
def test_clients_beyond_the_maximum_receive_the_reason(tiny: str) -> None:
    with server(tiny) as process:
        before = held(process)
        with contextlib.ExitStack() as stack:
            streams = [stack.enter_context(raw(SOCKET)) for _ in range(300)]
            replies = [negotiated(stream) for stream in streams]
            assert replies[:MAX_CONNECTIONS] == [(ACK, b"")] * MAX_CONNECTIONS
            full = b"the server already has the maximum of 256 connections; close one of them"
            assert set(replies[MAX_CONNECTIONS:]) == {(POLICY, full)}
            for stream in (streams[0], streams[MAX_CONNECTIONS - 1]):
                assert Client(stream, 0).read(0, 512) == bytes(512)
        settles(process, before)
        with connected(SOCKET) as client:
            assert client.read(0, 512) == bytes(512)


def session() -> bytes:
    """Returns the bytes of a client that uses each option and each command."""
    context = bytes(4) + struct.pack(">II", 1, 15) + b"base:allocation"
    parts = [
        struct.pack(">I", FIXED | NO_ZEROES),
        option(3),
        option(STRUCTURED),
        option(9, context),
        option(10, context),
        option(6, bytes(6)),
        option(GO, bytes(6)),
        command(WRITE, 0, 4096) + b"s" * 4096,
        command(READ, 0, 65536),
        command(STATUS, 0, USER_BYTES),
        command(TRIM, 8192, 4096),
        command(ZERO, 8192, 4096),
        command(FLUSH),
        command(READ, USER_BYTES, 512),
        command(2),
    ]
    return b"".join(parts)


def ended(stream: socket.socket) -> None:
    """Ends the sending direction, and receives until the server closes the connection."""
    stream.shutdown(socket.SHUT_WR)
    while stream.recv(1 << 20):
        pass


@linux
def test_clients_may_disconnect_after_any_byte(tiny: str) -> None:
    whole = session()
    # Each byte of the negotiation, and steps in the payload.
    ends = [*range(310), *range(310, len(whole), 61), len(whole)]
    with server(tiny) as process:
        before = held(process)
        for end in ends:
            with raw(SOCKET) as stream:
                stream.sendall(whole[:end])
                if end % 2 or end == len(whole):
                    ended(stream)
        settles(process, before)
        with connected(SOCKET) as client:
            assert client.read(0, 4096) == b"s" * 4096
            assert client.call(WRITE, 0, data=b"t" * 512) == 0


def test_garbage_does_not_affect_other_clients(tiny: str) -> None:
    """Changes single bytes of a session, and appends noise to each of its parts."""
    draw = random.Random(4)
    whole = session()
    with wordline.serve(tiny) as device:
        for _ in range(400):
            bytes_ = bytearray(whole)
            for _ in range(draw.randrange(1, 4)):
                bytes_[draw.randrange(len(bytes_))] = draw.randrange(256)
            cut = draw.randrange(len(bytes_))
            bytes_[cut:cut] = draw.randbytes(draw.choice([0, 0, 1, 28, 300]))
            with raw(device.socket) as stream, contextlib.suppress(OSError):
                stream.sendall(bytes_)
                ended(stream)
        with connected(device.socket) as client:
            assert client.call(WRITE, 0, data=b"g" * 512) == 0
            assert client.read(0, 512) == b"g" * 512


def test_sizes_beyond_the_limits_return_errors(tiny: str) -> None:
    last = 2**64
    cases = [
        (READ, last - 512, 1024, EINVAL),
        (READ, last - 512, 512, EINVAL),
        (READ, 0, 2**32 - 512, EINVAL),
        (TRIM, last - 512, 512, EINVAL),
        (TRIM, 0, 2**32 - 512, EINVAL),
        (ZERO, last - 512, 512, ENOSPC),
        (ZERO, 0, 2**32 - 512, ENOSPC),
        (FLUSH, 512, 0, EINVAL),
        *((kind, 0, 0, EINVAL) for kind in (READ, WRITE, TRIM, ZERO)),
    ]
    with wordline.serve(tiny) as device, connected(device.socket) as client:
        for kind, offset, size, error in cases:
            client.stream.sendall(command(kind, offset, size))
            assert client.reply()[1] == error
        assert client.call(WRITE, last - 512, data=bytes(512)) == ENOSPC
        assert client.call(WRITE, USER_BYTES - 512, data=bytes(1024)) == ENOSPC
        # A payload of 4 GiB that never arrives.
        with connected(device.socket) as other:
            other.stream.sendall(command(WRITE, 0, 2**32 - 512) + bytes(4096))
        assert client.read(0, 512) == bytes(512)


def test_errors_have_messages_in_structured_replies(tiny: str) -> None:
    with wordline.serve(tiny) as device, raw(device.socket) as stream:
        client = Client(stream, 0)
        client.take(18)
        stream.sendall(struct.pack(">I", FIXED | NO_ZEROES) + option(STRUCTURED) + option(1))
        client.take(20 + 10)
        for kind, offset, size, number, message in [
            (READ, USER_BYTES, 512, EINVAL, b"the range ends beyond the device"),
            (
                STATUS,
                0,
                512,
                EINVAL,
                b"a block status command needs the metadata context base:allocation",
            ),
            (99, 0, 512, EINVAL, b"the command is not supported"),
        ]:
            stream.sendall(command(kind, offset, size, cookie=7))
            header = struct.unpack(">IHHQI", client.take(20))
            assert header == (CHUNK, 1, ERROR_CHUNK, 7, 6 + len(message))
            assert client.take(header[-1]) == struct.pack(">IH", number, len(message)) + message


@linux
@pytest.mark.usefixtures("place")
def test_slow_readers_do_not_block_other_clients() -> None:
    """Clients that request gigabytes and read no reply neither fill the memory nor block other
    clients."""
    with server(ram(GIB), "--out", "out", "--no-report") as process:
        with contextlib.ExitStack() as stack:
            before = resident(process)
            for _ in range(4):
                client = stack.enter_context(connected(SOCKET))
                client.stream.settimeout(0.5)
                with contextlib.suppress(TimeoutError):
                    client.stream.sendall(command(READ, 0, 1 << 20) * 8000)
            with connected(SOCKET) as other:
                for page in range(200):
                    assert other.call(WRITE, page * 4096, data=bytes(4096)) == 0
            assert resident(process) - before < 64 << 20
            process.send_signal(signal.SIGTERM)
            assert process.wait(LIMIT) == 0
        assert Path("out", "summary.json").exists()


@contextlib.contextmanager
def small_disk(folder: str, size: int) -> Iterator[None]:
    """Mounts a file system of this size, which needs root."""
    Path(folder).mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    try:
        mounted = subprocess.run(["mount", *options], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("the command mount is missing")
    if mounted.returncode:
        pytest.skip("mounting needs root")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.usefixtures("place")
def test_full_disk_is_reported_to_clients() -> None:
    with (
        small_disk("disk", 4 << 20),
        wordline.serve(ram(GIB), data="disk/data") as device,
        connected(device.socket) as client,
    ):
        errors = [
            client.call(WRITE, at, data=at.to_bytes(4) * 16384) for at in range(0, 8 << 20, 65536)
        ]
        written = errors.index(ENOSPC)
        assert written >= 32
        assert errors == [0] * written + [ENOSPC] * (128 - written)
        for number in range(written):
            at = number * 65536
            assert client.read(at, 65536) == at.to_bytes(4) * 16384
        # A trim makes space.
        assert client.call(TRIM, 0, 1 << 20) == 0
        assert client.call(WRITE, GIB - 65536, data=b"n" * 65536) == 0
        assert client.read(GIB - 65536, 65536) == b"n" * 65536


@linux
@pytest.mark.usefixtures("place")
def test_file_size_limit_is_reported_to_clients() -> None:
    with server(ram(GIB), "--data", "disk.img") as process, connected(SOCKET) as client:
        assert client.call(WRITE, 0, data=b"a" * 4096) == 0
        unlimited = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1 << 20, unlimited[1]))
        assert client.call(WRITE, 1 << 20, data=b"b" * 4096) == ENOSPC
        assert client.call(WRITE, 4096, data=b"c" * 4096) == 0
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, unlimited)
        assert client.call(WRITE, 1 << 20, data=b"d" * 4096) == 0
        assert client.read(0, 8192) == b"a" * 4096 + b"c" * 4096
        assert client.read(1 << 20, 4096) == b"d" * 4096


def test_second_server_is_rejected(tiny: str) -> None:
    def second(*args: str) -> str:
        call = [sys.executable, "-m", "wordline", "serve", tiny, *args]
        done = subprocess.run(
            call, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment()
        )
        assert done.returncode == 2, done.stderr
        return done.stderr

    with server(tiny, "--data", "disk.img"):
        assert "another server listens at this path; stop that server" in second()
        fault = second("--socket", "other.sock", "--data", "disk.img")
        assert "another server uses the file; stop that server" in fault
        assert not Path("other.sock").exists()
        with connected(SOCKET) as client:
            assert client.read(0, 512) == bytes(512)


def many_writes(number: int, written: dict[int, int]) -> None:
    """Keeps 32 writes in flight until the server ends, and records those acknowledged, by page."""
    own = range(number * 256, (number + 1) * 256)
    with connected(SOCKET) as client, contextlib.suppress(EOFError, OSError):
        for turn in range(100_000):
            page = own[turn % 256]
            data = (turn + 1).to_bytes(4) * 1024
            client.stream.sendall(command(WRITE, page * 4096, 4096, cookie=turn) + data)
            if turn >= 32:
                done, error = client.reply()
                if error:
                    return
                page = own[done % 256]
                written[page] = max(written.get(page, 0), done + 1)


def test_sigterm_keeps_acknowledged_writes_of_all_clients(tiny: str) -> None:
    written: dict[int, int] = {}
    with server(tiny, "--data", "disk.img", "--out", "out", "--no-report") as process:
        clients = [threading.Thread(target=many_writes, args=(n, written)) for n in range(3)]
        for client in clients:
            client.start()
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        for client in clients:
            client.join(LIMIT)
        assert process.wait(LIMIT) == 0
    assert len(written) == 3 * 256
    content = Path("disk.img").read_bytes()
    for page, turn in written.items():
        # A later write may have reached the file without an acknowledgement.
        assert int.from_bytes(content[page * 4096 :][:4]) >= turn
