"""Formulas 4.2 to 4.5: the response time of a page write from the miss ratio of the cache and the
share of valid pages in victim blocks; and the static equation for this share."""

from collections.abc import Mapping
from math import exp, log

READ_US, PROGRAM_US, ERASE_US, DISK_US, BLOCK_PAGES = 25.0, 200.0, 1500.0, 5000.0, 64


def collection_us(victims: float) -> float:
    """Returns Cost_gc, the cost of GC of one block (4.2). Microseconds."""
    return victims * BLOCK_PAGES * (READ_US + PROGRAM_US) + ERASE_US


def latency_us(victims: float, miss_ratio: float) -> float:
    """Returns the response time of a page write (4.5). Microseconds. `victims`, their valid share,
    is below 1."""
    gained = (1 - victims) * BLOCK_PAGES
    program = PROGRAM_US + collection_us(victims) / gained
    return program + miss_ratio * (READ_US + DISK_US)


def choice(known: Mapping[int, tuple[float, float]]) -> int:
    """Returns the smallest over-provisioning with the shortest response time. `known` gives the
    share of valid pages in victim blocks and the miss ratio, by over-provisioning."""
    return min(known, key=lambda op: latency_us(*known[op]))


def equation(op: int, kept: float = 0.05) -> float:
    """Returns U, the valid share of victims, by the static equation.

    It is the root u' below 1 of u = (u' - 1) / ln u', where u is the cached share of the flash that
    is not kept free.
    """
    used = min((1 - op / 100) / (1 - kept), 1 - 1e-9)
    low, high = exp(-1 / used), 1 - 1e-12
    for _ in range(64):
        middle = (low + high) / 2
        if (middle - 1) / log(middle) < used:
            low = middle
        else:
            high = middle
    return low
