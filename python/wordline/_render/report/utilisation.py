"""Utilisation of channels and dies as heat maps over simulated time."""

import math
from collections.abc import Mapping, Sequence
from typing import cast

import polars as pl

from wordline._render.plotly import MOST_COLUMNS, MOST_ROWS, Figure, Grid, heat
from wordline._render.report.rows import interval_edges


def utilisation(
    series: pl.DataFrame, column: str, noun: str, members: Mapping[str, int] | None = None
) -> Figure | None:
    """Draws the utilisation of each channel or die over time as a heat map. `members` is the number
    of channels or dies of each device of an array, in order."""
    if series.is_empty():
        return None
    rows = _merged_lists(series, column)
    columns = cast("list[list[float] | None]", rows[column].to_list())
    count = max((len(one) for one in columns if one), default=0)
    if not count:
        return None
    edges, unit = interval_edges(rows)
    names, spans = _row_groups(noun, members or {"": count})
    grid: Grid = [
        [None if not one else _meanpercent(one[first:last]) for one in columns]
        for first, last in spans
    ]
    return heat(
        grid,
        edges,
        names,
        x_title=f"simulated time ({unit})",
        y_title="",
        bar_title="busy (%)",
        hover=f"%{{y}} at %{{x:.4g}} {unit}: busy %{{z}} %",
        row_height=22 if count <= 16 else 9,
    )


def _merged_lists(series: pl.DataFrame, column: str) -> pl.DataFrame:
    """Averages neighbouring intervals, member by member, until at most MOST_COLUMNS are left."""
    every = math.ceil(series.height / MOST_COLUMNS)
    if every == 1:
        return series.select("start_s", "end_s", column)
    lists = cast("list[list[float] | None]", series[column].to_list())
    merged = [
        _mean_of([one for one in lists[start : start + every] if one])
        for start in range(0, series.height, every)
    ]
    spans = (
        series.with_row_index("row")
        .group_by(pl.col("row") // every, maintain_order=True)
        .agg(pl.col("start_s").first(), pl.col("end_s").last())
    )
    return spans.with_columns(pl.Series(column, merged, dtype=pl.List(pl.Float64)))


def _mean_of(lists: Sequence[Sequence[float]]) -> list[float]:
    return [sum(members) / len(members) for members in zip(*lists, strict=True)]


def _row_groups(noun: str, members: Mapping[str, int]) -> tuple[list[str], list[tuple[int, int]]]:
    """Returns the names and ranges of the rows of a heat map. A row covers several channels or dies
    of one member if there are more than MOST_ROWS."""
    every = math.ceil(sum(members.values()) / MOST_ROWS)
    names: list[str] = []
    spans: list[tuple[int, int]] = []
    start = 0
    for member, count in members.items():
        for first in range(0, count, every):
            last = min(first + every, count)
            place = f"{noun} {first}" if last - first == 1 else f"{noun}s {first}–{last - 1}"
            names.append(f"{member} {place}".lstrip())
            spans.append((start + first, start + last))
        start += count
    return names, spans


def _meanpercent(values: Sequence[float]) -> float:
    return float(f"{100 * sum(values) / len(values):.3g}")
