"""A reproducible trace: pages 1 to 1,000,000, page i with a probability proportional to 1/i."""

from pathlib import Path

import numpy as np

FOOTPRINT = {100_000: 52_352, 10_000_000: 763_274}
"""Number of distinct pages, by number of leading requests."""


def keys(count: int) -> "np.typing.NDArray[np.uint64]":
    """Returns the first `count` pages of the trace. Random numbers are those of splitmix64 from
    state 42. A page is the position of a draw among the running sums of 1/i, added in order."""
    sums = np.cumsum(1.0 / np.arange(1, 1_000_001, dtype=np.float64))
    with np.errstate(over="ignore"):
        mixed = np.uint64(42) + np.uint64(0x9E3779B97F4A7C15) * np.arange(
            1, count + 1, dtype=np.uint64
        )
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    draws = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53 * sums[-1]
    return 1 + np.searchsorted(sums, draws, side="right").astype(np.uint64)


def keys32le(path: Path, count: int) -> Path:
    """Writes the pages as 32-bit little-endian numbers."""
    keys(count).astype("<u4").tofile(path)
    return path


def keys64le(path: Path, count: int) -> Path:
    """Writes the pages as 64-bit little-endian numbers."""
    keys(count).astype("<u8").tofile(path)
    return path


def oracle_general(path: Path, count: int) -> Path:
    """Writes the pages as libCacheSim objects of 4 KiB, one per second."""
    pages = keys(count)
    kind = np.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])
    records = np.zeros(count, kind)
    records["time"] = np.arange(count)
    records["object"] = pages
    records["size"] = 4096
    order = np.argsort(pages, kind="stable")
    follows = pages[order][1:] == pages[order][:-1]
    records["next"] = -1
    records["next"][order[:-1][follows]] = order[1:][follows]
    records.tofile(path)
    return path
