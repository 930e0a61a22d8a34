"""Temporary folders that are removed with the process that created them, even if it is killed."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from multiprocessing.util import Finalize
from pathlib import Path

PREFIX = "wordline-sweep-"
OWNED = "owned"
"""File in each folder that the owning process keeps locked."""


class Scratch:
    """A new temporary folder. Folders that killed processes left are removed first."""

    def __init__(self) -> None:
        _clear()
        self.path = tempfile.mkdtemp(prefix=PREFIX)
        made, owned = Path(self.path, f"{OWNED}.part"), Path(self.path, OWNED)
        file = os.open(made, os.O_CREAT | os.O_RDWR, 0o600)
        _lock(file)
        made.rename(owned)
        self.remove = Finalize(self, _remove, (self.path, file), exitpriority=1)
        """Function that removes the folder; called at the end of the process if not before."""


def _clear() -> None:
    """Removes the folders whose process has ended."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            file = os.open(folder / OWNED, os.O_RDWR)
            try:
                if _lock(file):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(file)


def _lock(file: int) -> bool:
    """Locks a file until it is closed. Returns False if another process holds the lock, or the
    system has no such locks, as on Windows."""
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
