"""Times of page reads and programs by page type, from latency samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypedDict

from wordline._render.units import many
from wordline._wordline import WordlineError

LEAST_SAMPLES = 8
# A group with a smaller share of the samples is likely a rare event, such as a wait, not a page
# type.
RARE_RATIO = 0.05


class LevelTime(TypedDict):
    """Median time of a page type and its 95 % confidence interval, which assumes no distribution of
    the samples. `spread_us` is half the interquartile range of the samples."""

    op: str
    level: int
    samples: int
    time_us: float
    low_us: float
    high_us: float
    spread_us: float


def level_times(
    samples: Sequence[tuple[str, int | None, float]], levels: int, overhead_us: dict[str, float]
) -> tuple[list[LevelTime], list[str]]:
    """Returns the times of the samples (operation, level or None, latency in us) after subtracting
    an overhead, and notes. Samples without levels are split into `levels` groups; the fastest group
    is the least significant page. Raises WordlineError for too few samples, a gap in the levels, or
    a time that is not above 0."""
    found: list[LevelTime] = []
    notes: list[str] = []
    for op in ("read", "write"):
        mine = [(level, latency) for kind, level, latency in samples if kind == op]
        if not mine:
            continue
        named = all(level is not None for level, _ in mine)
        groups = _named(mine) if named else _parted(op, [us for _, us in mine], levels)
        for level, group in enumerate(groups):
            found.append(_time(op, level, group, overhead_us.get(op, 0.0)))
            if not named and len(group) < RARE_RATIO * len(mine):
                notes.append(
                    f"{op} level {level} has {len(group)} of {many(len(mine), 'sample')}: "
                    "probably outliers, not a page type; remove them, or add a column with levels"
                )
        if not named and levels > 1:
            notes.append(f"{op}: levels were separated by latency; the fastest is level 0")
    return found, notes


def _named(samples: list[tuple[int | None, float]]) -> list[list[float]]:
    groups: dict[int, list[float]] = {}
    for level, latency in samples:
        groups.setdefault(level or 0, []).append(latency)
    if sorted(groups) != list(range(len(groups))):
        raise WordlineError(
            f"level: the samples have levels {', '.join(map(str, sorted(groups)))}; number the "
            "page types from 0 without a gap, the least significant bit first"
        )
    return [groups[level] for level in sorted(groups)]


def _parted(op: str, latencies: list[float], levels: int) -> list[list[float]]:
    """Splits values into groups with the least sum of squared deviations of the logarithms from
    their group means, by dynamic programming over at most 512 quantiles (Fisher's natural
    breaks)."""
    if len(latencies) < LEAST_SAMPLES * levels:
        raise WordlineError(
            f"{op}: {many(len(latencies), 'sample')}, too few for {many(levels, 'level')}; give "
            f"at least {LEAST_SAMPLES * levels}"
        )
    if levels == 1:
        return [latencies]
    ordered = sorted(latencies)
    step = max(1, math.ceil(len(ordered) / 512))
    cuts = [*range(0, len(ordered), step), len(ordered)]
    total, square = [0.0], [0.0]
    for value in map(math.log, ordered):
        total.append(total[-1] + value)
        square.append(square[-1] + value * value)

    def loss(low: int, high: int) -> float:
        first, last = cuts[low], cuts[high]
        part = total[last] - total[first]
        return square[last] - square[first] - part * part / (last - first)

    ends = range(1, len(cuts))
    best = {end: (loss(0, end), [0]) for end in ends}
    for group in range(1, levels):
        best = {
            end: min(
                (best[cut][0] + loss(cut, end), [*best[cut][1], cut]) for cut in range(group, end)
            )
            for end in ends
            if end > group
        }
    borders = [cuts[cut] for cut in best[len(cuts) - 1][1]] + [len(ordered)]
    return [ordered[low:high] for low, high in pairwise(borders)]


def _time(op: str, level: int, group: list[float], overhead_us: float) -> LevelTime:
    if len(group) < LEAST_SAMPLES:
        raise WordlineError(
            f"{op} level {level}: too few samples ({len(group)}); give at least {LEAST_SAMPLES}"
        )
    from scipy import stats  # pyright: ignore

    binomial: Any = stats.binom  # pyright: ignore
    ordered, count = sorted(group), len(group)
    # These order statistics enclose the median with a probability of at least 95 % (binomial, p =
    # 1/2).
    rank = max(0, int(binomial.ppf(0.025, count, 0.5)) - 1)
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    if middle <= overhead_us:
        raise WordlineError(
            f"{op} level {level}: the median of {middle:g} us is not above the overhead of "
            f"{overhead_us:g} us; give a smaller overhead"
        )
    return LevelTime(
        op=op,
        level=level,
        samples=count,
        time_us=middle - overhead_us,
        low_us=ordered[rank] - overhead_us,
        high_us=ordered[count - 1 - rank] - overhead_us,
        spread_us=(ordered[3 * (count - 1) // 4] - ordered[(count - 1) // 4]) / 2,
    )
