"""Unfinished outputs: hidden folders, locked by the processes that fill them, and clean-up of those
that killed processes left.

A lock ends with its process in every case. Where folders cannot be locked, as on Windows, no folder
counts as left behind.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress

from wordline._internal import interruption

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Generator

LONGEST_NAME = 100
"""Maximum number of characters of an output's name in the name of its hidden folder."""
DIGITS = 8
FORMER = "former"
"""Suffix of the hidden folder of a former result, which waits for removal."""


@contextmanager
def folder_for(place: str) -> Generator[str]:
    """Creates a hidden folder next to a place, and removes it at the end unless it was moved.
    Raises OSError."""
    made = lock = None
    try:
        with interruption.undisturbed():
            made, lock = _made_for(place)
        yield made
    finally:
        interruption.hold()
        try:
            if made is not None:
                remove(made)
            if lock is not None:
                os.close(lock)
        finally:
            interruption.let_go()


def _made_for(place: str) -> tuple[str, int | None]:
    """Creates a hidden folder next to a place. Returns its path and its lock, if folders can be
    locked."""
    while True:
        made = hidden(place)
        os.mkdir(made)
        lock = _opened(made)
        is_mine = lock is None or take(lock) is not False
        # Until the folder is locked, another process may remove it as left behind.
        if is_mine and os.path.isdir(made):
            return made, lock
        if lock is not None:
            os.close(lock)


@contextmanager
def locked(place: str) -> Generator[None]:
    """Locks a folder, if it exists, for the duration of the block, even if it is renamed there. Has
    no effect if another process holds the lock."""
    with opened(place) as lock:
        if lock is not None:
            take(lock)
        yield


@contextmanager
def opened(place: str) -> Generator[int | None]:
    """Opens a folder, if it exists and the system can open folders, for the duration of the
    block."""
    file = _opened(place)
    try:
        yield file
    finally:
        if file is not None:
            os.close(file)


def hidden(place: str, ending: str = "") -> str:
    """Returns an unused name next to a place."""
    folder, name = os.path.split(place)
    return os.path.join(folder, f"{_start(name)}{os.urandom(DIGITS // 2).hex()}{ending}")


def remove_left(place: str, names: Collection[str]) -> None:
    """Removes hidden folders that killed processes left next to a place: those that no process has
    locked and that contain only files of these `names`. Restores a former result that was moved
    aside if nothing has replaced it."""
    folder, name = os.path.split(place)
    start = _start(name)
    with suppress(OSError):
        for entry in os.listdir(folder):
            ending = entry.removeprefix(start)
            if entry.startswith(start) and _is_ours(ending):
                _remove_one(os.path.join(folder, entry), place, {*names, name})


def remove(place: str) -> None:
    """Removes a folder and its files as far as possible. Outputs have no subfolders."""
    with suppress(OSError):
        for name in os.listdir(place):
            os.unlink(os.path.join(place, name))
        os.rmdir(place)


def take(file: int) -> bool | None:
    """Locks an open file or folder until it is closed. Returns True on success, False if another
    process holds the lock, None if the system has no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _start(name: str) -> str:
    return f".{name[:LONGEST_NAME]}-"


def _is_ours(ending: str) -> bool:
    digits = ending.removesuffix(FORMER)
    return len(digits) == DIGITS and set(digits) <= set("0123456789abcdef")


def _opened(folder: str) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY)
    except OSError:
        return None  # Folders cannot be opened on every system.


def _remove_one(left: str, place: str, names: Collection[str]) -> None:
    if os.path.islink(left) or not os.path.isdir(left):
        return
    inside = {one.removesuffix(".part") for one in os.listdir(left)}
    lock = _opened(left)
    if lock is None:
        return
    try:
        if take(lock) is not True or not inside <= {*names}:
            return
        if left.endswith(FORMER) and not os.path.lexists(place):
            os.rename(left, place)
        else:
            remove(left)
    finally:
        os.close(lock)
