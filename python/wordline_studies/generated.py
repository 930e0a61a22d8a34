"""Generated loads, written as temporary trace files."""

import shutil
import tempfile
import weakref
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

PREFIX = "wordline-study-"


class Request(NamedTuple):
    """A request of a load. Times in nanoseconds, addresses and sizes in pages."""

    at: int
    writes: bool
    first: int
    pages: int
    volume: int = 0


class Generated:
    """Trace files of loads that several figures replay.

    Each load is written once. The files exist until `clear` is called, or until this object is
    garbage-collected.
    """

    def __init__(self) -> None:
        self._paths: dict[Hashable, Path] = {}
        self._remove: Callable[[], object] | None = None
        self._folder = Path()

    def trace(self, key: Hashable, requests: Callable[[], Iterable[Request]]) -> Path:
        """Returns the path of the load's trace, which is written on the first call. `key`
        identifies the load."""
        if key not in self._paths:
            if self._remove is None:
                self._folder = Path(tempfile.mkdtemp(prefix=PREFIX))
                self._remove = weakref.finalize(self, shutil.rmtree, self._folder)
            path = self._folder / f"{len(self._paths)}.csv"
            write(path, requests())
            self._paths[key] = path
        return self._paths[key]

    def clear(self) -> None:
        """Removes all trace files."""
        if self._remove is not None:
            self._remove()
        self._remove = None
        self._paths.clear()


@contextmanager
def written(
    loads: Mapping[str, Iterable[Request]], page_bytes: int = 4096
) -> Generator[dict[str, Path]]:
    """Writes the loads as temporary traces and yields their paths by load."""
    with TemporaryDirectory(prefix=PREFIX) as folder:
        paths = {load: Path(folder) / f"{load}.csv" for load in loads}
        for load, requests in loads.items():
            write(paths[load], requests, page_bytes)
        yield paths


def write(path: Path, requests: Iterable[Request], page_bytes: int = 4096) -> None:
    """Writes requests as a trace. `page_bytes` is the page size."""
    with path.open("w", encoding="utf-8") as file:
        file.write("time_ns,op,offset_bytes,size_bytes,volume\n")
        file.writelines(_line(one, page_bytes) for one in requests)


def _line(one: Request, page_bytes: int) -> str:
    at, writes, first, pages, volume = one
    op = "write" if writes else "read"
    return f"{at},{op},{first * page_bytes},{pages * page_bytes},{volume}\n"
