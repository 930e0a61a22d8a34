"""Journal of a sweep: one line per completed point, from which the sweep continues."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from types import TracebackType
from typing import IO, Any, Generic, Protocol, Self, TypeVar

from wordline._internal import checksums, output_folder

BETWEEN_SYNCS_S = 1.0
MOST_NAMED = 5


class Ended(Protocol):
    """Result of a point: a dataclass of JSON values with the error that prevented it, if any."""

    @property
    def fault(self) -> str:
        """Error that prevented the result; empty if there is none."""
        ...


T = TypeVar("T", bound=Ended)


class Journal(Generic[T]):
    """Lines of JSON by the keys of points, each with a checksum and the fields of `kind`. An
    incomplete last line is removed. Changed lines are left out with a warning. Lines of older
    versions, which have no checksum, are kept but not used. Without a path nothing is written. The
    first line creates the file."""

    def __init__(self, path: str | None, kind: type[T]) -> None:
        self.known: dict[str, T] = {}
        self._path = path
        self.unwritten = ""
        """Error that stopped the writing of lines; empty without one."""
        self._kind = kind
        self._file: IO[bytes] | None = None
        self._synced = time.monotonic()
        if path is None or not os.path.exists(path):  # noqa: PTH110
            return
        self._read(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sync()
        if self._file:
            self._file.close()
            self._file = None

    def add(self, key: str, done: T) -> None:
        """Appends the result of a point, unless the point failed and will run again."""
        if done.fault:
            return
        self.known[key] = done
        items = vars(done).items()
        values: dict[str, Any] = {"key": key} | {k: v for k, v in items if k != "fault"}
        try:
            self._write(checksums.line_of(values))
        except OSError as fault:
            # The result is kept in memory, without the journal.
            self.unwritten = output_folder.explain(self._path or "", fault)
            self._path = None

    def _write(self, line: bytes) -> None:
        if self._path is None:
            return
        if self._file is None:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)  # noqa: PTH103, PTH120
            self._file = open(self._path, "ab", buffering=0)  # noqa: PTH123, SIM115
        self._file.write(line)
        if time.monotonic() - self._synced > BETWEEN_SYNCS_S:
            self._sync()

    def _read(self, path: str) -> None:
        damaged: list[int] = []
        whole = 0
        with open(path, "rb") as file:  # noqa: PTH123
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                if not self._take(line):
                    damaged.append(number)
        os.truncate(path, whole)
        if damaged:
            numbers = ", ".join(map(str, damaged[:MOST_NAMED]))
            more = f" and {len(damaged) - MOST_NAMED} more" if len(damaged) > MOST_NAMED else ""
            checksums.warn(
                f"{path}: line {numbers}{more} has changed since it was written; "
                "the points run again"
            )
            _rewrite(path, set(damaged))

    def _take(self, line: bytes) -> bool:
        """Reads a line. Returns True if the line is unchanged."""
        try:
            found = checksums.values_of(line)
        except ValueError:
            return False
        if found is not None:
            # Lines of another command are ignored and kept.
            with suppress(KeyError, TypeError):
                key: str = found.pop("key")
                self.known[key] = self._kind(**found)
        return True

    def _sync(self) -> None:
        if self._file and not self.unwritten:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()


def _rewrite(path: str, without: set[int]) -> None:
    """Rewrites a file without the lines that have these numbers."""

    def write(part: str) -> None:
        with open(path, "rb") as file, open(part, "wb") as rest:  # noqa: PTH123
            rest.writelines(line for number, line in enumerate(file, 1) if number not in without)

    output_folder.write_file(path, write)
