"""Resource limits of the process (ulimit), checked before the resource is needed. Libraries that
run out of a resource end the process, or flood standard error."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

FILES = 24
"""Number of open files that suffices for any command without worker processes: three streams, a
trace, a result, the pipes and event queues of polars, and the files that Python opens while it
imports."""
FILES_OF_A_PROCESS = 10
"""Number of open files that each worker process of a sweep needs in this process: the ends of the
pipes for its queues, its start and its exit."""
TABLES_BYTES = 600_000 * 1024
"""Address space in bytes that polars needs to start its threads and draw a report. On two cores,
350,000 KiB can suffice, but even 500,000 KiB do not always suffice."""
RUN_BYTES = 128 << 20
"""Address space of a small run in bytes, including a reserve for an orderly end if memory runs
out."""


def of_files() -> int | None:
    """Returns the limit of open files; None if it is unlimited or unknown."""
    try:
        import resource
    except ImportError:  # Windows has no module `resource`.
        return None
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if most == resource.RLIM_INFINITY else most


def address_space() -> int | None:
    """Returns the bytes of address space that this process may still take; None if unlimited or
    unknown."""
    try:
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most == resource.RLIM_INFINITY:
            return None
        with open("/proc/self/statm", encoding="ascii") as file:
            taken = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None
    return max(0, most - taken)


def short_of_files(wanted: int = FILES) -> str | None:
    """Returns an error message if this process cannot open `wanted` files; None if it can."""
    most = of_files()
    if most is None or most >= wanted:
        return None
    return (
        f"too few open files: the process may have {most} (ulimit -n), and this command "
        f"needs {wanted}; raise the limit"
    )


def short_of_tables(before: int = 0) -> str | None:
    """Returns an error message if the address space is too small for polars, which reads tables and
    draws reports, after work that takes `before` bytes; None if it suffices."""
    wanted = TABLES_BYTES + before
    left = address_space()
    if left is None or left >= wanted or "polars" in sys.modules:
        return None
    return (
        f"too little address space: {left // 1024:,} KiB are left (ulimit -v), and tables and "
        f"reports need {wanted // 1024:,} KiB; raise the limit"
    )


class _Guard:
    """Import hook that checks the address space before polars is imported."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: object = None
    ) -> ModuleSpec | None:
        """Finds no module. Raises WordlineError if the import of polars would fail."""
        if name == "polars":
            from wordline._wordline import WordlineError

            if reason := short_of_tables():
                raise WordlineError(reason)
        return None


def guard_tables() -> None:
    """Makes the import of polars raise WordlineError if the address space is too small."""
    if address_space() is None:
        return
    # Without this, the allocator of polars prints a line for each thread that it cannot start,
    # thousands of times.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "background_thread:false")
    sys.meta_path.insert(0, _Guard())
