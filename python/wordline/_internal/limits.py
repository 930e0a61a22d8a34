"""What the system lets this process have (ulimit): looked at before it is needed, because
libraries end the process, or fill its standard error, where they are refused it."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec

FILES = 24
"""Open files that any command has enough of: three streams, a trace, a result, the pipes and event
queues of polars, and what Python has open while it imports."""
FILES_OF_A_PROCESS = 10
"""Open files that each process of a sweep takes in this one: the ends of the pipes of its queues,
of its start and of its end."""
TABLES_BYTES = 600_000 * 1024
"""Address space in which polars starts its threads and draws a report: 350,000 KB are enough on
two cores, 500,000 KB not always."""
RUN_BYTES = 128 << 20
"""Address space of a small run, with the reserve that lets it end in order where memory ends."""


def of_files() -> int | None:
    """Files that this process may have open; None for any number, or where it is not known."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if most == resource.RLIM_INFINITY else most


def address_space() -> int | None:
    """Bytes of address space that this process may still take; None for any number, or where it is
    not known."""
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
    """The fault if this process may not have `wanted` files open; None if it may."""
    most = of_files()
    if most is None or most >= wanted:
        return None
    return (
        f"too few open files: the process may have {most} (ulimit -n), and this takes {wanted}; "
        "raise the limit"
    )


def short_of_tables(before: int = 0) -> str | None:
    """The fault if there is no room for polars, which reads tables and draws reports, after work
    that takes `before` bytes; None if there is."""
    wanted = TABLES_BYTES + before
    left = address_space()
    if left is None or left >= wanted or "polars" in sys.modules:
        return None
    return (
        f"too little address space: {left // 1024:,} KB are left (ulimit -v), and tables and "
        f"reports take {wanted // 1024:,}; raise the limit"
    )


class _Guard:
    """Looks at the address space when polars is to be imported."""

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
    """Has the import of polars raise WordlineError where it has no room."""
    if address_space() is None:
        return
    # Its allocator writes a line for each thread that it cannot start, thousands of times.
    os.environ.setdefault("_RJEM_MALLOC_CONF", "background_thread:false")
    sys.meta_path.insert(0, _Guard())
