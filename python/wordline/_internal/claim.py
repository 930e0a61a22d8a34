"""Exclusive access to output folders."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from wordline._internal import interruption, output_folder, unfinished
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def claimed(place: str | None) -> Generator[None]:
    """Keeps other processes, and other work of this process, from writing results to a place until
    the end of the block. Raises WordlineError if another process is writing there. Creates the
    folders above the place, and removes them at the end if they are empty."""
    if place is None:
        yield
        return
    folder, name = os.path.split(place)
    lock = _Lock(os.path.join(folder, f".{name[: unfinished.LONGEST_NAME]}.lock"))
    made = _missing(folder)
    try:
        with interruption.undisturbed():
            try:
                os.makedirs(folder, exist_ok=True)
                lock.take(place)
            except OSError as fault:
                raise WordlineError(output_folder.explain(place, fault)) from fault
        yield
    finally:
        interruption.hold()
        try:
            lock.release()
            with suppress(OSError):
                for one in made:
                    os.rmdir(one)
        finally:
            interruption.let_go()


class _Lock:
    """A file that its process has locked."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: int | None = None

    def take(self, place: str) -> None:
        """Creates and locks the file. Raises OSError, and WordlineError if another process holds
        it."""
        while True:
            file = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o666)
            if unfinished.take(file) is False:
                owner = os.read(file, 32).decode(errors="replace").strip()
                os.close(file)
                process = f"process {owner}" if owner else "another process"
                raise WordlineError(
                    f"{place}: {process} is writing there; "
                    "wait until it ends, or name another folder"
                )
            # Its former owner may have removed the file before it was locked here.
            if _is_at(self._path, file):
                self._file = file
                os.truncate(file, 0)
                os.write(file, f"{os.getpid()}\n".encode())
                return
            os.close(file)

    def release(self) -> None:
        """Removes the file if it is locked here."""
        if self._file is None:
            return
        # Removed under the lock, so that a process that has opened the file sees its removal.
        with suppress(OSError):
            os.unlink(self._path)
        os.close(self._file)
        self._file = None


def _is_at(path: str, file: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except FileNotFoundError:
        return False


def _missing(folder: str) -> list[str]:
    """Returns the missing folders on a path, the innermost first."""
    found: list[str] = []
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found
