"""Comparison of results: metrics that differ, significance of each difference, and configuration
keys that differ."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wordline._api.figures import figures
from wordline._internal import output_folder, statistics

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True)
class Side:
    """One of the compared results. `figures` maps each metric to groups of values, with one value
    per run; the runs of a group differ only in their seed. `configuration` maps each key path to
    its value, or to the list of its values if the key varies."""

    name: str
    figures: Mapping[str, Sequence[Sequence[float]]]
    configuration: Mapping[str, object]
    digests: Sequence[str]
    version: str


@dataclass(frozen=True)
class Line:
    """A metric on all sides. `intervals` has the mean of each side with its confidence interval.
    `differences` compares each side after the first with the first. An entry is None if a side
    lacks the metric."""

    figure: str
    intervals: Sequence[statistics.Interval | None]
    differences: Sequence[statistics.Difference | None]

    @property
    def differs(self) -> bool:
        """Whether the means of the sides differ, or a side lacks the metric."""
        means = {None if one is None else one.mean for one in self.intervals}
        return len(means) > 1

    def difference(self, side: int) -> float | None:
        """Returns the mean of a side minus the mean of the first side; None if a side lacks the
        metric."""
        first, other = self.intervals[0], self.intervals[side]
        return None if first is None or other is None else other.mean - first.mean

    def half_width(self, side: int) -> float | None:
        """Returns half the width of the 95 % confidence interval of the difference from the first
        side; None without repeated seeds."""
        found = self.differences[side - 1]
        return None if found is None else found.half_width

    def exceeds_noise(self, side: int) -> bool | None:
        """Returns True if a side differs significantly from the first; None without repeated
        seeds."""
        found = self.differences[side - 1]
        return None if found is None else found.exceeds_noise

    def ratio(self, side: int) -> float | None:
        """Returns the mean of a side divided by the mean of the first side; None if a side lacks
        the metric or the mean of the first side is 0."""
        first, other = self.intervals[0], self.intervals[side]
        if first is None or other is None or not first.mean:
            return None
        return other.mean / first.mean


class Comparison:
    """Several results, compared with the first."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self.sides = sides
        names = dict.fromkeys(name for side in sides for name in side.figures)
        self.lines = [_line(name, sides) for name in names]

    def table(self) -> polars.DataFrame:
        """Returns one row per metric: `figure`, and the mean of each side under its name. Each side
        after the first has further columns, which are null if unknown: `NAME difference` and `NAME
        ratio` compare it with the first side, `NAME ±` is half the width of the 95 % confidence
        interval of the difference, and `NAME beyond noise` is whether the difference is
        significant."""
        import polars

        rows: list[dict[str, Any]] = []
        for line in self.lines:
            row: dict[str, Any] = {"figure": line.figure}
            for place, (side, one) in enumerate(zip(self.sides, line.intervals, strict=True)):
                row[side.name] = None if one is None else one.mean
                if place:
                    row[f"{side.name} difference"] = line.difference(place)
                    row[f"{side.name} ±"] = line.half_width(place)
                    row[f"{side.name} ratio"] = line.ratio(place)
                    row[f"{side.name} beyond noise"] = line.exceeds_noise(place)
            rows.append(row)
        return polars.DataFrame(rows, infer_schema_length=None)

    def configuration(self) -> dict[str, list[object]]:
        """Returns the keys whose values differ, with the value on each side: a list if the key
        varies in a sweep, None if the side lacks the key. The keys include `trace` and `seed`."""
        keys = dict.fromkeys(key for side in self.sides for key in side.configuration)
        values = {key: [side.configuration.get(key) for side in self.sides] for key in keys}
        return {key: own for key, own in values.items() if any(one != own[0] for one in own)}

    def shared(self) -> dict[str, object]:
        """Returns the keys that have the same value on all sides, with that value."""
        first = self.sides[0].configuration
        others = [side.configuration for side in self.sides[1:]]
        return {
            key: value
            for key, value in first.items()
            if value is not None and all(one.get(key) == value for one in others)
        }

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes one self-contained HTML page and returns its path. Raises WordlineError."""
        from wordline._render.comparison_page import render

        page = render(self)
        return Path(
            output_folder.write_file(path, lambda part: output_folder.write_text(part, page))
        )

    def __repr__(self) -> str:
        return f"<wordline.Comparison of {', '.join(side.name for side in self.sides)}>"

    def _repr_html_(self) -> str:
        from wordline._render.comparison_page import table_html

        return table_html(self)


def _line(name: str, sides: Sequence[Side]) -> Line:
    values = [side.figures.get(name, ()) for side in sides]
    intervals = [statistics.interval(*own) if own else None for own in values]
    differences = [
        statistics.difference(values[0], own) if values[0] and own else None for own in values[1:]
    ]
    return Line(name, intervals, differences)


def side_of_run(name: str, summary: Mapping[str, Any], config: str) -> Side:
    """Returns the side of a single run, from its summary and its configuration as TOML."""
    numbers = {
        path: [[float(value)]]
        for path, value in figures(summary).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    keys = flat_toml(tomllib.loads(config))
    traces = [file["path"] for file in summary["input"]["files"]]
    keys |= {"trace": ", ".join(traces) or None, "seed": summary["seed"]}
    return Side(name, numbers, keys, [str(summary["digest"])], str(summary["version"]))


def flat_toml(table: Mapping[str, object], prefix: str = "") -> dict[str, object]:
    """Flattens nested tables to key paths. A policy without parameters becomes its name."""
    found: dict[str, object] = {}
    for key, value in table.items():
        if not isinstance(value, Mapping):
            found[f"{prefix}{key}"] = value
            continue
        inner = cast("Mapping[str, object]", value)
        words = [name for name, own in inner.items() if own == {}]
        if len(inner) == len(words) == 1:
            found[f"{prefix}{key}"] = words[0]
        else:
            found |= flat_toml(inner, f"{prefix}{key}.")
    return found
