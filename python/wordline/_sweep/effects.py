"""Effects of the varied keys on the metrics, and noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt
from typing import TYPE_CHECKING, TypeAlias, cast

from wordline._internal import statistics
from wordline._sweep.table import figures_of, keys_of

if TYPE_CHECKING:
    import polars

Word: TypeAlias = "str | int | float | bool | None"


@dataclass(frozen=True)
class Level:
    """Mean of a metric over all points with one value of a key, and the half width of its 95 %
    confidence interval; None without repeated seeds."""

    value: Word
    mean: float
    half_width: float | None


@dataclass(frozen=True)
class Effect:
    """Effect of a key on a metric: its levels, the share of the variance that it explains (eta
    squared; None if nothing varies), and whether the largest difference between two levels exceeds
    noise (None without repeated seeds)."""

    key: str
    figure: str
    levels: Sequence[Level]
    share: float | None
    exceeds_noise: bool | None

    @property
    def span(self) -> float:
        """Largest difference between two levels."""
        means = [level.mean for level in self.levels]
        return max(means) - min(means)


@dataclass(frozen=True)
class Noise:
    """Noise of a metric from repeated seeds: variance within combinations of the other keys,
    degrees of freedom, and share of the total variance."""

    variance: float
    freedom: int
    share: float | None


class Effects:
    """Effects of all keys on all metrics of a table of points. The effects of keys that vary
    together, such as those of a zip, cannot be separated: `keys` has the first of these keys, and
    `together` maps it to the others."""

    def __init__(self, frame: polars.DataFrame) -> None:
        self.frame = frame.filter(frame["status"] == "done")
        self.keys: list[str] = []
        self.together: dict[str, list[str]] = {}
        for key in keys_of(frame):
            if key == "seed":
                continue
            twin = next((one for one in self.keys if self._vary_together(one, key)), None)
            if twin is None:
                self.keys.append(key)
            else:
                self.together.setdefault(twin, []).append(key)
        self.figures = [name for name in figures_of(frame) if self._varies(name)]

    def _vary_together(self, one: str, other: str) -> bool:
        """Returns True if the values of two keys correspond one to one."""
        values = [self.frame[key].n_unique() for key in (one, other)]
        pairs = self.frame.select(one, other).n_unique()
        return values[0] == values[1] == pairs > 1

    def _varies(self, figure: str) -> bool:
        return self.frame[figure].drop_nulls().n_unique() > 1

    def cells(self, figure: str, keys: Sequence[str]) -> Mapping[tuple[Word, ...], list[float]]:
        """Returns the values of a metric by the values of `keys`, in the order of the plan."""
        found: dict[tuple[Word, ...], list[float]] = {}
        columns = [self.frame[key].to_list() for key in keys]
        for place, value in enumerate(self.frame[figure].to_list()):
            if value is not None:
                found.setdefault(tuple(column[place] for column in columns), []).append(value)
        return found

    def noise(self, figure: str) -> Noise | None:
        """Returns the noise of a metric; None if no combination has two points."""
        cells = [own for own in self.cells(figure, self.keys).values() if len(own) > 1]
        freedom = sum(len(own) - 1 for own in cells)
        if not freedom:
            return None
        within = sum(statistics.variance(own) * (len(own) - 1) for own in cells)
        every = [value for own in cells for value in own]
        whole = statistics.variance(every) * (len(every) - 1)
        return Noise(within / freedom, freedom, within / whole if whole else None)

    def effect(self, key: str, figure: str) -> Effect:
        """Returns the effect of a key on a metric."""
        groups: dict[object, list[float]] = {
            value: own for (value,), own in self.cells(figure, [key]).items()
        }
        noise = self.noise(figure)
        levels = [_level(cast("Word", value), own, noise) for value, own in groups.items()]
        return Effect(
            key,
            figure,
            levels,
            statistics.explained(groups),
            _exceeds(list(groups.values()), noise),
        )


def _level(value: Word, own: Sequence[float], noise: Noise | None) -> Level:
    width = None
    if noise is not None:
        quantile = statistics.t_quantile(0.5 + statistics.CONFIDENCE / 2, noise.freedom)
        width = quantile * sqrt(noise.variance / len(own))
    return Level(value, statistics.mean(own), width)


def _exceeds(groups: Sequence[Sequence[float]], noise: Noise | None) -> bool | None:
    """Returns True if two levels differ beyond noise at 5 %, with a Bonferroni correction for the
    number of pairs; None if noise is unknown or there is only one level."""
    if noise is None or len(groups) < 2:
        return None
    pairs = list(combinations(groups, 2))
    allowed = (1 - statistics.CONFIDENCE) / len(pairs)
    return any(_p_value(one, other, noise) < allowed for one, other in pairs)


def _p_value(one: Sequence[float], other: Sequence[float], noise: Noise) -> float:
    apart = abs(statistics.mean(one) - statistics.mean(other))
    if not noise.variance:
        return 0.0 if apart else 1.0
    t = apart / sqrt(noise.variance * (1 / len(one) + 1 / len(other)))
    return 2 * (1 - statistics.t_distribution(t, noise.freedom))


def pareto(points: Sequence[tuple[float, float]], larger: tuple[bool, bool]) -> list[int]:
    """Returns the indices of the Pareto-optimal points, from the best in the first dimension.
    `larger` states for each dimension whether larger values are better."""
    signs = [-1 if one else 1 for one in larger]
    rank = sorted(
        range(len(points)),
        key=lambda place: tuple(s * v for s, v in zip(signs, points[place], strict=True)),
    )
    front: list[int] = []
    best = float("inf")
    for place in rank:
        second = signs[1] * points[place][1]
        if second < best:
            front.append(place)
            best = second
    return front
