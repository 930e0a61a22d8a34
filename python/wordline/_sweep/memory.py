"""Free memory of this machine."""

from __future__ import annotations

from contextlib import suppress


def available() -> float:
    """Returns the free memory of this machine in bytes; infinite if it is unknown."""
    with suppress(OSError, ValueError, StopIteration):
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            line = next(line for line in file if line.startswith("MemAvailable:"))
        return int(line.split()[1]) * 1024
    return float("inf")
