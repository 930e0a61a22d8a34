"""The memory of the machine that points run on."""

from __future__ import annotations

from contextlib import suppress


def available() -> float:
    """Bytes of memory that this machine has left; infinite where it does not say."""
    with suppress(OSError, ValueError, StopIteration):
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            line = next(line for line in file if line.startswith("MemAvailable:"))
        return int(line.split()[1]) * 1024
    return float("inf")
