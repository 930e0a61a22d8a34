"""Exclusive access to output folders."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from wordline._internal import output_folder, unfinished
from wordline._internal.interruption import undisturbed
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
    made = _missing(folder)
    try:
        os.makedirs(folder, exist_ok=True)
        lock = _locked(os.path.join(folder, f".{name[: unfinished.LONGEST_NAME]}.lock"), place)
    except OSError as fault:
        raise WordlineError(output_folder.explain(place, fault)) from fault
    try:
        yield
    finally:
        with undisturbed(), suppress(OSError):
            path, file = lock
            # Removed under the lock, so that a process that has opened the file sees its removal.
            os.unlink(path)
            os.close(file)
            for one in made:
                os.rmdir(one)


def _locked(path: str, place: str) -> tuple[str, int]:
    while True:
        file = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
        if unfinished.take(file) is False:
            owner = os.read(file, 32).decode(errors="replace").strip()
            os.close(file)
            process = f"process {owner}" if owner else "another process"
            raise WordlineError(
                f"{place}: {process} is writing there; wait until it ends, or name another folder"
            )
        with suppress(OSError):
            if os.path.samestat(os.stat(path), os.fstat(file)):
                os.truncate(file, 0)
                os.write(file, f"{os.getpid()}\n".encode())
                return path, file
        os.close(file)


def _missing(folder: str) -> list[str]:
    """Returns the missing folders on a path, the innermost first."""
    found: list[str] = []
    while not os.path.lexists(folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found
