"""SQLite on a live device, for tests: a virtual file system of SQLite with three files at fixed
offsets. Writes reach the device at once. Sizes and deletions reach it with the next flush of any
file, in their order, as in a file system with a journal."""

# SQLite names the methods and their arguments.
# ruff: noqa: N802, ARG002

import contextlib
import struct
from collections.abc import Callable, Iterator
from typing import Any

import apsw
from nbd_client import FLUSH, READ, WRITE, Client, command

SUFFIXES = ("", "-journal", "-wal")
BLOCK = 4096
HEADER = struct.Struct("<8sQ")
MAGIC = b"FILEHERE"


class PowerLostError(OSError):
    """The power of the device has failed."""


class Disk:
    """Device with one client. The power fails in the request with the number `fails_at`."""

    def __init__(self, client: Client, cut: Callable[[], object]) -> None:
        self.client = client
        self.cut = cut
        self.fails_at = -1
        self.requests = 0
        self.is_on = True

    def call(self, kind: int, offset: int = 0, size: int = 0, data: bytes = b"") -> bytes:
        """Executes a request; returns the data of a read. Raises PowerLostError."""
        if not self.is_on:
            raise PowerLostError
        self.requests += 1
        self.client.stream.sendall(command(kind, offset, size or len(data)) + data)
        if self.requests == self.fails_at:
            self.is_on = False
            self.cut()
            raise PowerLostError
        _, error = self.client.reply()
        assert error == 0
        return self.client.take(size) if kind == READ else b""

    def read(self, offset: int, size: int) -> bytes:
        """Reads bytes of any alignment."""
        begin, end = offset // 512 * 512, -(-(offset + size) // 512) * 512
        return self.call(READ, begin, end - begin)[offset - begin :][:size]

    def write(self, offset: int, data: bytes) -> None:
        """Writes bytes of any alignment."""
        begin, end = offset // 512 * 512, -(-(offset + len(data)) // 512) * 512
        if (begin, end) != (offset, offset + len(data)):
            old = bytearray(self.call(READ, begin, end - begin))
            old[offset - begin : offset - begin + len(data)] = data
            data = bytes(old)
        self.call(WRITE, begin, data=data)


class Place:
    """Region of a file: a block with its size, then its data."""

    def __init__(self, disk: Disk, number: int, room: int) -> None:
        self.disk = disk
        self.begin = number * room
        magic, size = HEADER.unpack(disk.read(self.begin, HEADER.size))
        self.size: int | None = size if magic == MAGIC else None
        self.kept = self.size

    def note(self) -> None:
        """Writes the size, if it has changed."""
        if self.size != self.kept:
            magic = bytes(8) if self.size is None else MAGIC
            header = HEADER.pack(magic, self.size or 0)
            self.disk.call(WRITE, self.begin, data=header.ljust(BLOCK, b"\0"))
            self.kept = self.size


class Files(apsw.VFS):
    """Virtual file system on a device."""

    def __init__(self, disk: Disk, size: int) -> None:
        self.name = f"nbd{id(self)}"
        room = size // len(SUFFIXES) // BLOCK * BLOCK
        self.places = {
            f"/db{suffix}": Place(disk, number, room) for number, suffix in enumerate(SUFFIXES)
        }
        super().__init__(self.name, base="")

    def sync(self) -> None:
        """Makes all data and sizes durable."""
        disk = self.places["/db"].disk
        for place in self.places.values():
            place.note()
        disk.call(FLUSH)

    def xOpen(self, name: Any, flags: list[int]) -> Any:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        place = self.places[path]
        if place.size is None:
            place.size = 0
        flags[1] = flags[0]
        return File(self, place)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        place = self.places[filename]
        place.size = None
        if syncdir:
            self.sync()

    def xAccess(self, pathname: str, flags: int) -> bool:
        place = self.places.get(pathname)
        return place is not None and place.size is not None

    def xFullPathname(self, name: str) -> str:
        return name


class File:
    """Open file."""

    def __init__(self, files: Files, place: Place) -> None:
        self.files = files
        self.place = place

    def xRead(self, amount: int, offset: int) -> bytes:
        size = max(0, min(amount, (self.place.size or 0) - offset))
        return self.place.disk.read(self.place.begin + BLOCK + offset, size) if size else b""

    def xWrite(self, data: bytes, offset: int) -> None:
        self.place.disk.write(self.place.begin + BLOCK + offset, bytes(data))
        self.place.size = max(self.place.size or 0, offset + len(data))

    def xTruncate(self, newsize: int) -> None:
        self.place.size = newsize

    def xSync(self, flags: int) -> None:
        self.files.sync()

    def xFileSize(self) -> int:
        return self.place.size or 0

    def xClose(self) -> None:
        pass

    def xLock(self, level: int) -> None:
        pass

    def xUnlock(self, level: int) -> None:
        pass

    def xCheckReservedLock(self) -> bool:
        return False

    def xFileControl(self, op: int, ptr: int) -> bool:
        return False

    def xSectorSize(self) -> int:
        return BLOCK

    def xDeviceCharacteristics(self) -> int:
        return 0


@contextlib.contextmanager
def database(disk: Disk, journal: str) -> Iterator[Any]:
    """Opens the database of a device."""
    files = Files(disk, disk.client.size)
    opened = apsw.Connection("/db", vfs=files.name)
    try:
        opened.execute("PRAGMA locking_mode = EXCLUSIVE")
        opened.execute(f"PRAGMA journal_mode = {journal}")
        opened.execute("PRAGMA synchronous = EXTRA")
        opened.execute("PRAGMA cache_size = 8")
        opened.execute("PRAGMA wal_autocheckpoint = 100")
        yield opened
    finally:
        with contextlib.suppress(apsw.Error, PowerLostError):
            opened.close()
        files.unregister()
