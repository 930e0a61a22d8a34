"""A client of the network block device protocol, for tests."""

import contextlib
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

READ, WRITE, DISCONNECT, FLUSH, TRIM, ZERO, STATUS = 0, 1, 2, 3, 4, 6, 7
FUA, NO_HOLE = 1, 2
FIXED, NO_ZEROES = 1, 2
GO, EXPORT_NAME, STRUCTURED = 7, 1, 8
EIO, EINVAL, ENOSPC, ESHUTDOWN = 5, 22, 28, 108
ACK = 1


def command(kind: int, offset: int = 0, size: int = 0, flags: int = 0, cookie: int = 0) -> bytes:
    return struct.pack(">IHHQQI", 0x25609513, flags, kind, cookie, offset, size)


def option(number: int, data: bytes = b"") -> bytes:
    return b"IHAVEOPT" + struct.pack(">II", number, len(data)) + data


@dataclass
class Client:
    """A connection after the negotiation."""

    stream: socket.socket
    size: int

    def take(self, size: int) -> bytes:
        """Receives exactly this many bytes. Raises EOFError if the connection ends before."""
        parts = bytearray()
        while len(parts) < size:
            part = self.stream.recv(size - len(parts))
            if not part:
                raise EOFError
            parts += part
        return bytes(parts)

    def reply(self) -> tuple[int, int]:
        """Receives a reply; returns its cookie and error."""
        magic, error, cookie = struct.unpack(">IIQ", self.take(16))
        assert magic == 0x67446698
        return cookie, error

    def call(
        self, kind: int, offset: int = 0, size: int = 0, data: bytes = b"", flags: int = 0
    ) -> int:
        """Executes a command without data in its reply; returns the error."""
        self.stream.sendall(command(kind, offset, size or len(data), flags) + data)
        return self.reply()[1]

    def read(self, offset: int, size: int) -> bytes:
        self.stream.sendall(command(READ, offset, size))
        assert self.reply()[1] == 0
        return self.take(size)


@contextlib.contextmanager
def raw(path: str) -> Iterator[socket.socket]:
    """Connects without negotiation."""
    with socket.socket(socket.AF_UNIX) as stream:
        stream.settimeout(20)
        stream.connect(path)
        yield stream


@contextlib.contextmanager
def connected(path: str) -> Iterator[Client]:
    """Connects and negotiates with NBD_OPT_EXPORT_NAME."""
    with raw(path) as stream:
        client = Client(stream, 0)
        assert client.take(18) == b"NBDMAGICIHAVEOPT\x00\x03"
        stream.sendall(struct.pack(">I", FIXED | NO_ZEROES) + option(EXPORT_NAME))
        client.size = int.from_bytes(client.take(10)[:8])
        yield client
