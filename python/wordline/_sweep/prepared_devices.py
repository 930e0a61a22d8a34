"""Prepared devices that a worker process keeps for its points."""

from __future__ import annotations

import os
import sys
from collections import Counter, OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from threading import Lock

from wordline._sweep.scratch import Scratch

MOST = 2
"""Number of devices that a process keeps; more only while points use them. Points with the same
preparation run consecutively."""


class Kept:
    """Files of prepared devices by preparation. Of more than `MOST` files, the least recently used
    ones that no point uses are removed."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._paths = OrderedDict[str, str]()
        self._users = Counter[str]()
        self._scratch: Scratch | None = None

    @contextmanager
    def file(
        self, name: str, folder: str | None, prepare: Callable[[str], bool]
    ) -> Generator[str | None]:
        """Yields the file of a preparation, which exists until the end of the block. `prepare`
        creates it if it does not exist, and returns whether it succeeded. Yields None if it
        failed."""
        with self._lock:
            if name not in self._paths:
                path = os.path.join(folder or self._folder(), f"{name}-{os.getpid()}.wls")  # noqa: PTH118
                if not prepare(path):
                    path = ""
                self._paths[name] = path
            self._paths.move_to_end(name)
            self._users[name] += 1
            self._drop()
            found = self._paths[name]
        try:
            yield found or None
        finally:
            with self._lock:
                self._users[name] -= 1

    def _drop(self) -> None:
        unused = [name for name in self._paths if not self._users[name]]
        for name in unused[: max(0, len(self._paths) - MOST)]:
            with suppress(OSError):
                os.unlink(self._paths.pop(name))  # noqa: PTH108

    def _folder(self) -> str:
        if distributed := sys.modules.get("distributed"):
            with suppress(ValueError):
                return str(distributed.get_worker().local_directory)
        self._scratch = self._scratch or Scratch()
        return self._scratch.path


KEPT = Kept()
"""Prepared devices of this process."""
