#!/usr/bin/env python3
"""Turns strace logs of a program's file system calls into a block trace.

The logs come from `strace -ff -ttt -y -s 0`: one file per process, one call per line, every file
descriptor followed by its path. Every file below ROOT is laid into one linear address space in
extents of 256 KiB: an extent is taken from the lowest free address when a request first touches
it, and comes back, as a `trim`, when its file is deleted or cut. A renamed file keeps its extents.
Requests are widened to whole sectors of 512 bytes and split only where extents do not adjoin.

Output: gzip-compressed CSV with the header time_ns,op,offset_bytes,size_bytes,volume; times count
from the first call; `flush` stands for fsync and fdatasync and has neither offset nor size.
"""

import argparse
import gzip
import heapq
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

EXTENT = 256 * 1024
SECTOR = 512
READS = {"read", "pread64", "preadv", "preadv2"}
AT_POSITION = {"read", "write"}

LINE = re.compile(r"(\d+)\.(\d{6}) (\w+)\((.*)\)\s+= (\d+)(?:<(.*)>)?")
DESCRIPTOR = re.compile(r"(\d+)<([^>]*)>")
NAME = re.compile(r'"((?:[^"\\]|\\.)*)"')


class Call(NamedTuple):
    """A system call that succeeded."""

    time: int  # microseconds
    process: int
    name: str
    arguments: str
    result: int
    descriptor: str
    paths: list[Path]  # what it is about: the descriptor's file, or the files named


class Layout:
    """Files, in extents, in one address space."""

    def __init__(self):
        self.files = {}  # path -> {index of the extent in the file: index in the address space}
        self.free = []
        self.top = 0

    def place(self, path, offset, size):
        """The contiguous (offset, size) pieces of a part of a file, whole sectors."""
        extents = self.files.setdefault(path, {})
        start = offset // SECTOR * SECTOR
        end = -(-(offset + size) // SECTOR) * SECTOR
        pieces = []
        while start < end:
            index = start // EXTENT
            stop = min(end, (index + 1) * EXTENT)
            if index not in extents:
                extents[index] = self.take()
            at = extents[index] * EXTENT + start % EXTENT
            append(pieces, at, stop - start)
            start = stop
        return pieces

    def take(self):
        if self.free:
            return heapq.heappop(self.free)
        self.top += 1
        return self.top - 1

    def rename(self, old, new):
        """What the file that bore the new name leaves free."""
        freed = self.cut(new, 0)
        if old in self.files:
            self.files[new] = self.files.pop(old)
        return freed

    def cut(self, path, size):
        """Cuts a file at `size` bytes; the pieces that become free."""
        keep = -(-size // EXTENT)
        extents = self.files.get(path, {})
        gone = sorted(extents.pop(index) for index in list(extents) if index >= keep)
        pieces = []
        for extent in gone:
            heapq.heappush(self.free, extent)
            append(pieces, extent * EXTENT, EXTENT)
        return pieces


def append(pieces, offset, size):
    """Adds a piece, joined to the last one where they adjoin."""
    if pieces and sum(pieces[-1]) == offset:
        pieces[-1] = (pieces[-1][0], pieces[-1][1] + size)
    else:
        pieces.append((offset, size))


def calls(logs, root):
    """All calls of all processes on files below `root`, by time."""
    found = []
    for process, log in enumerate(logs):
        with Path(log).open(encoding="utf-8", errors="replace") as lines:
            found += (call for line in lines if (call := parsed(process, line, root)))
    return sorted(found, key=lambda call: call.time)


def parsed(process, line, root):
    """The call on a line of a log; None if it failed or is about no file below `root`."""
    if not (match := LINE.match(line)):
        return None
    seconds, micros, name, arguments, result, opened = match.groups()
    descriptor = result
    if opened:
        paths = [Path(opened)]
    elif file := DESCRIPTOR.match(arguments):
        descriptor, paths = file[1], [Path(file[2])]
    else:
        paths = [root / path for path in NAME.findall(arguments)]
    if not paths or not all(path.is_relative_to(root) for path in paths):
        return None
    time = int(seconds) * 1_000_000 + int(micros)
    return Call(time, process, name, arguments, int(result), descriptor, paths)


def rows(calls):
    """The block trace: (microseconds, op, offset, size)."""
    layout = Layout()
    positions = {}  # (process, descriptor) -> position in the file
    for call in calls:
        path = call.paths[0]
        op = "trim"
        match call.name:
            case "open" | "openat":
                positions[call.process, call.descriptor] = 0
                pieces = layout.cut(path, 0) if "O_TRUNC" in call.arguments else []
            case "rename" | "renameat" | "renameat2":
                pieces = layout.rename(*call.paths)
            case "unlink" | "unlinkat":
                pieces = layout.cut(path, 0)
            case "truncate" | "ftruncate":
                pieces = layout.cut(path, int(call.arguments.rpartition(", ")[2]))
            case "fsync" | "fdatasync":
                op, pieces = "flush", [(0, 0)]
            case _:
                op = "read" if call.name in READS else "write"
                pieces = layout.place(path, position(call, positions), call.result)
        for offset, size in pieces:
            yield call.time, op, offset, size


def position(call, positions):
    """Where a read or write begins in its file."""
    if call.name in AT_POSITION:
        key = call.process, call.descriptor
        start = positions.get(key, 0)
        positions[key] = start + call.result
        return start
    fields = call.arguments.rsplit(", ", 2)
    return int(fields[-2] if call.name.endswith("v2") else fields[-1])


def main():
    parser = argparse.ArgumentParser(description="Turns strace logs into a block trace.")
    parser.add_argument("root", type=Path, help="folder whose files make up the address space")
    parser.add_argument("logs", nargs="+", help="logs of strace, one per process")
    parser.add_argument("--out", type=Path, required=True, help="trace to write, .csv.gz")
    options = parser.parse_args()
    found = calls(options.logs, options.root.resolve())
    counts = Counter()
    with options.out.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=0) as out:
        out.write(b"time_ns,op,offset_bytes,size_bytes,volume\n")
        for time, op, offset, size in rows(found):
            out.write(f"{(time - found[0].time) * 1000},{op},{offset},{size},0\n".encode())
            counts[op] += 1
    print(f"{options.out}: {dict(counts)}")


if __name__ == "__main__":
    main()
