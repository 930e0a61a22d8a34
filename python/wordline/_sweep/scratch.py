"""Temporary folders that go with the process that made them, however it ends."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from multiprocessing.util import Finalize
from pathlib import Path

PREFIX = "wordline-sweep-"
OWNED = "owned"
"""A file in each folder, which the process that made it keeps locked."""


class Scratch:
    """A new temporary folder. What processes that were killed have left is removed first."""

    def __init__(self) -> None:
        _clear()
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        made, owned = Path(self.path, f"{OWNED}.part"), Path(self.path, OWNED)
        file = os.open(made, os.O_CREAT | os.O_RDWR, 0o600)
        _lock(file)
        made.rename(owned)
        self.remove = Finalize(self, _remove, (self.path, file), exitpriority=1)
        """Removes the folder; without a call the end of the process does."""


def _clear() -> None:
    """Removes the folders that no process owns any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            file = os.open(folder / OWNED, os.O_RDWR)
            try:
                if _lock(file):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(file)


def _lock(file: int) -> bool:
    """Locks a file until it is closed; returns whether nobody else has. Where files are not locked
    so, as on Windows, none is."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _remove(folder: str, file: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(file)
