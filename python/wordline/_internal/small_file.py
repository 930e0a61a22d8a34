"""Reads whole files of limited size. Rejects devices, sockets and pipes, which may never end."""

from __future__ import annotations

import errno
import os
import stat

from wordline._wordline import WordlineError

MOST_BYTES = 1 << 28
"""Maximum size of a file in bytes."""

OPEN = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Prefixes of paths of descriptors that are open in the process, such as those of `<(...)` in a
shell. A pipe is accepted only under these."""


def text(name: str, encoding: str = "utf-8") -> str:
    """Returns the text of a file of at most `MOST_BYTES`, with line feeds as line ends.

    Raises OSError if the file cannot be read, UnicodeDecodeError if it is not valid text, and
    WordlineError if it is too large, or is a device, socket or named pipe, which may never end.
    """
    return read(name).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def read(name: str) -> bytes:
    """Returns the content of a file of at most `MOST_BYTES`. Raises the exceptions of `text`,
    except UnicodeDecodeError."""
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        _require_end(name, descriptor)
        with open(descriptor, "rb", closefd=False) as file:
            content = file.read(MOST_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(content) > MOST_BYTES:
        raise WordlineError(f"{name}: is larger than {MOST_BYTES} bytes; name a smaller file")
    return content


def _require_end(name: str, descriptor: int) -> None:
    """Raises WordlineError for a device, socket or named pipe, which may never end."""
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if stat.S_ISFIFO(mode) and name.startswith(OPEN):
        os.set_blocking(descriptor, True)
    elif not stat.S_ISREG(mode):
        kind = "a named pipe" if stat.S_ISFIFO(mode) else "a device or a socket"
        raise WordlineError(f"{name}: is {kind}, not a file; name a file")
