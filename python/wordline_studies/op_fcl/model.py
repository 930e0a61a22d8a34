"""Cost model of sections 3 and 4, with figures 3 and 4. Written independently of the simulator."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from math import log
from typing import TypeAlias

PAGES_PER_BLOCK = 64
PROGRAM_US, READ_US, COPY_US, ERASE_US = 300.0, 125.0, 225.0, 1_500.0
TRANSFER_US = 4096 / 72
"""Time to transfer a page at 72 MB/s. Microseconds."""
DISK_READ_US, DISK_WRITE_US = 4_500.0 + TRANSFER_US, 4_900.0 + TRANSFER_US

Curve: TypeAlias = Callable[[float], float]


def victim(utilisation: float) -> float:
    """Returns U(u): the root u' below 1 of u = (u' - 1) / ln u', for u in (0, 1)."""
    low, high = 1e-300, 1.0 - 1e-12
    for _ in range(100):
        middle = (low * high) ** 0.5 if high < 0.01 else (low + high) / 2
        low, high = (middle, high) if (middle - 1) / log(middle) < utilisation else (low, middle)
    return (low + high) / 2


def page_write_us(utilisation: float) -> float:
    """Returns C_PW, the cost of a page write (equations 3 and 4). Microseconds."""
    valid = victim(utilisation)
    collection = valid * PAGES_PER_BLOCK * COPY_US + ERASE_US
    return collection / ((1 - valid) * PAGES_PER_BLOCK) + PROGRAM_US


def read_us(page_write: float, hit: float) -> float:
    """Returns C_HR, the cost of a read (equation 5). Microseconds."""
    return hit * READ_US + (1 - hit) * (DISK_READ_US + page_write)


def write_us(page_write: float, hit: float, reads_of_hits: float) -> float:
    """Returns C_HW, the cost of a write. `reads_of_hits` is the share of reads among the hits of
    the write cache. Microseconds."""
    hits = (1 - reads_of_hits) * page_write + reads_of_hits * READ_US
    return (1 - hit) * (READ_US + DISK_WRITE_US + page_write) + hit * hits


def zipf(exponent: float, values: int) -> Curve:
    """Returns the hit ratio by cached share of the flash, for a Zipf law truncated at `values`.

    A value stands for one per cent of the flash; the curve is linear in between.
    """
    sums = list(accumulate(rank**-exponent for rank in range(1, values + 1)))

    def hit(share: float) -> float:
        place = min(100 * share, float(values))
        whole = int(place)
        below = sums[whole - 1] if whole else 0.0
        beside = sums[whole] if whole < values else below
        return (below + (place - whole) * (beside - below)) / sums[-1]

    return hit


@dataclass(frozen=True)
class Mix:
    """An example: IO_R, IO_W, h' and its hit-ratio curves."""

    reads: float
    writes: float
    reads_of_hits: float
    read_hit: Curve
    write_hit: Curve

    def cost_us(self, utilisation: float, read_ratio: float, page_write: float) -> float:
        """Returns C_HY, the cost of a page (equation 6). Microseconds."""
        read = read_us(page_write, self.read_hit(utilisation * read_ratio))
        hit = self.write_hit(utilisation * (1 - read_ratio))
        return read * self.reads + write_us(page_write, hit, self.reads_of_hits) * self.writes


FIGURE_3 = Mix(1.0, 0.0, 0.0, zipf(1.2, 120), zipf(1.4, 220))
FIGURE_4 = Mix(0.2, 0.8, 0.2, zipf(1.2, 120), zipf(1.4, 220))


def costs(
    mix: Mix, steps: int, *, only_reads: bool = False
) -> Iterator[tuple[float, float, float]]:
    """Yields cost, u and r for each step of algorithm 1, in its order."""
    for step in range(1, steps):
        utilisation = step / steps
        page_write = page_write_us(utilisation)
        for other in (steps,) if only_reads else range(steps + 1):
            ratio = other / steps
            yield mix.cost_us(utilisation, ratio, page_write), utilisation, ratio


def optimum(mix: Mix, steps: int, *, only_reads: bool = False) -> tuple[float, float, float]:
    """Returns cost, u and r at the first point with the lowest cost."""
    return min(costs(mix, steps, only_reads=only_reads), key=lambda one: one[0])


def sizes_gb(total_gb: float, utilisation: float, read_ratio: float) -> tuple[float, float, float]:
    """Returns the sizes of read cache, write cache and over-provisioning (section 4). GB."""
    cached = total_gb * utilisation
    return cached * read_ratio, cached * (1 - read_ratio), total_gb - cached


def excess_percent(mix: Mix, utilisation: float, read_ratio: float, least: float) -> float:
    """Returns by how much a partition's cost exceeds `least`, the lowest cost. Per cent."""
    return 100 * (mix.cost_us(utilisation, read_ratio, page_write_us(utilisation)) / least - 1)
