"""The charts of the report, as Plotly figures in plain data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import polars as pl

from wordline import parts
from wordline.figures import (
    DASHES,
    EACH,
    LINEAR,
    MOST_COLUMNS,
    MOST_ROWS,
    NEUTRAL,
    OPS,
    Figure,
    Grid,
    decades,
    drawn_at,
    figure,
    heat,
    legend,
    line,
    percent,
)
from wordline.units import duration, duration_unit


@dataclass(frozen=True)
class Tables:
    """The tables a report is drawn from."""

    series: pl.DataFrame
    latency: pl.DataFrame
    blocks: pl.DataFrame
    wear: pl.DataFrame
    latency_by: pl.DataFrame | None = None
    """Of several streams or an array."""


def distribution(latency: pl.DataFrame, summary: Mapping[str, Any]) -> Figure | None:
    """Share of requests answered within a time: reads and writes, logarithmic time."""
    curves = [(op, colour, _curve(latency, summary, op)) for op, colour in OPS]
    curves = [(op, colour, curve) for op, colour, curve in curves if curve]
    if not curves:
        return None
    scale = decades("latency", [us for _, _, curve in curves for us, _ in curve])
    data = [
        _steps(
            op,
            colour,
            scale,
            curve,
            [share * 100 for _, share in curve],
            [f"{share * 100:.4g} % within {duration(us)}" for us, share in curve],
        )
        for op, colour, curve in curves
    ]
    return figure(
        data,
        height=380,
        hovermode="closest",
        xaxis=scale,
        yaxis={"title": {"text": "requests answered within (%)"}, "range": [-1, 101]},
    )


def each(latency_by: pl.DataFrame | None, of: str) -> Figure | None:
    """Share of requests answered within a time: a curve for each stream, or each member."""
    if latency_by is None:
        return None
    rows = latency_by.filter(pl.col("of") == of)
    curves: list[tuple[str, list[tuple[float, float]]]] = []
    for (name,), part in rows.group_by("name", maintain_order=True):
        points = cast(
            "list[tuple[float, float]]", part.select("latency_us", "fraction_below").rows()
        )
        curves.append((str(name), [(points[0][0], 0.0), *points]))
    if not curves:
        return None
    scale = decades("latency", [us for _, curve in curves for us, _ in curve])
    data = [
        _steps(
            name,
            EACH[place % len(EACH)],
            scale,
            [(_exact(us), share) for us, share in curve],
            [float(f"{share * 100:.9g}") for _, share in curve],
            [f"{name}: {share * 100:.4g} % within {duration(us)}" for us, share in curve],
            DASHES[place // len(EACH) % len(DASHES)],
        )
        for place, (name, curve) in enumerate(curves)
    ]
    return figure(
        data,
        # The names take room of their own above the curves.
        height=380 + 20 * max(0, len(curves) - 4),
        hovermode="closest",
        xaxis=scale,
        yaxis={"title": {"text": "requests answered within (%)"}, "range": [-1, 101]},
    )


def tail(latency: pl.DataFrame, summary: Mapping[str, Any]) -> Figure | None:
    """Share of requests that took longer than a time, both logarithmic: the slow end."""
    curves = [(op, colour, _curve(latency, summary, op)) for op, colour in OPS]
    curves = [(op, colour, curve) for op, colour, curve in curves if len(curve) > 2]
    if not curves:
        return None
    scale = decades("latency", [us for _, _, curve in curves for us, _ in curve])
    data: list[Figure] = []
    for op, colour, curve in curves:
        above = [1 - share for _, share in curve[:-1]]
        told = [
            f"{percent(ratio)} took longer than {duration(us)}"
            for (us, _), ratio in zip(curve, above, strict=False)
        ]
        # No logarithm has a place for the 0 that the curve ends with: it ends above it.
        above.append(above[-1])
        told.append(f"none took longer than {duration(curve[-1][0])}")
        data.append(_steps(op, colour, scale, curve, above, told))
    least = min(min(trace["y"]) for trace in data)
    ticks = [10.0**-power for power in range(math.ceil(-math.log10(least)) + 1)]
    return figure(
        data,
        height=380,
        hovermode="closest",
        xaxis=scale,
        yaxis={
            "title": {"text": "requests that took longer (%)"},
            "type": "log",
            "tickvals": ticks,
            "ticktext": [percent(tick) for tick in ticks],
        },
    )


def _steps(
    name: str,
    colour: str,
    scale: Figure,
    curve: Sequence[tuple[float, float]],
    y: list[float],
    told: list[str],
    dash: str = "solid",
) -> Figure:
    """A curve that keeps its height until its next point, as the share of what was counted does."""
    drawn = line(
        name,
        colour,
        [drawn_at(scale, us) for us, _ in curve],
        y,
        customdata=told,
        hovertemplate="%{customdata}",
    )
    drawn["line"] |= {"shape": "hv", "dash": dash}
    return drawn


def breakdown(summary: Mapping[str, Any]) -> Figure | None:
    """Where the mean latency of reads and of writes goes, in stacked bars."""
    ops = [op for op in ("write", "read") if summary["latency"][op]["count"]]
    if not ops:
        return None
    scale, unit = duration_unit(max(summary["latency"][op]["mean_us"] for op in ops))
    data: list[Figure] = []
    for part in parts.shown(summary):
        values = [summary["breakdown"][op][part["figure"]] or 0.0 for op in ops]
        means = [summary["latency"][op]["mean_us"] for op in ops]
        shares = [value / mean if mean else 0.0 for value, mean in zip(values, means, strict=True)]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": part["name"],
                "y": ops,
                "x": [value / scale for value in values],
                "marker": {"color": part["colour"]},
                "customdata": [
                    [duration(value), percent(share)]
                    for value, share in zip(values, shares, strict=True)
                ],
                "hovertemplate": "%{y}: %{customdata[0]}, %{customdata[1]} of the mean",
            }
        )
    return figure(
        data,
        height=150 + 62 * len(ops),
        hovermode="closest",
        barmode="stack",
        bargap=0.35,
        xaxis={"title": {"text": f"mean latency ({unit})"}, **LINEAR},
        yaxis={"type": "category", "ticklabelstandoff": 6},
        legend=legend(traceorder="normal"),
    )


PLACE = ("member", "channel", "way", "die", "plane")
"""The columns that say which plane a row is of; the first in arrays only."""


def erases(blocks: pl.DataFrame) -> Figure | None:
    """Erases of each block, a row per plane; neighbours are averaged on large devices."""
    if blocks.is_empty():
        return None
    blocks_per_plane = cast("int", (blocks["block"] + blocks["blocks"]).max())
    place = [name for name in PLACE if name in blocks.columns]
    planes = blocks.select(place).unique().sort(pl.all()).rows()
    per_row = math.ceil(len(planes) / MOST_ROWS)
    per_column = math.ceil(blocks_per_plane / MOST_COLUMNS)
    rows, columns = math.ceil(len(planes) / per_row), math.ceil(blocks_per_plane / per_column)
    means = (
        blocks.select(
            (pl.struct(place).rank("dense") - 1) // per_row,
            pl.col("block") // per_column,
            "blocks",
            total=pl.col("erases") * pl.col("blocks"),
        )
        .group_by(place[0], "block")
        .agg(pl.col("total").sum() / pl.col("blocks").sum())
    )
    grid: Grid = [[None] * columns for _ in range(rows)]
    for row, column, mean in means.iter_rows():
        grid[row][column] = _short(mean)
    names = [_plane_names(planes[row * per_row : (row + 1) * per_row]) for row in range(rows)]
    return heat(
        grid,
        [float(min(column * per_column, blocks_per_plane)) for column in range(columns + 1)],
        names,
        x_title="block within its plane" + (f" (mean of {per_column})" if per_column > 1 else ""),
        y_title="plane",
        bar_title="erases",
        hover="%{y}, block %{x}: %{z} erases",
        row_height=9 if rows > 16 else 22,
    )


def wear(table: pl.DataFrame) -> Figure | None:
    """How many blocks were erased how often."""
    if table.is_empty():
        return None
    rows = cast("list[tuple[int, int, int]]", table.rows())
    names = [f"{low}" if low == high else f"{low}–{high}" for low, high, _ in rows]
    data: list[Figure] = [
        {
            "type": "bar",
            "name": "blocks",
            "x": [(low + high) / 2 for low, high, _ in rows],
            "y": [blocks for *_, blocks in rows],
            "customdata": names,
            "width": [high - low + (1 if len(rows) > 60 else 0.8) for low, high, _ in rows],
            "marker": {"color": NEUTRAL, "line": {"width": 0}},
            "hovertemplate": "%{customdata} erases: %{y:,} blocks<extra></extra>",
        }
    ]
    few = {"tickmode": "linear", "dtick": 1} if len(rows) <= 12 else {}
    return figure(
        data,
        height=260,
        hovermode="closest",
        showlegend=False,
        xaxis={"title": {"text": "erases of a block"}, "exponentformat": "none"} | few,
        yaxis={"title": {"text": "blocks"}, **LINEAR},
    )


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _exact(value: float) -> float:
    return float(f"{value:.7g}")


def _plane_names(planes: Sequence[tuple[int, ...]]) -> str:
    def name(plane: tuple[int, ...]) -> str:
        letters = (name[0] for name in PLACE[-len(plane) :])
        return " ".join(f"{letter}{place}" for letter, place in zip(letters, plane, strict=True))

    if len(planes) == 1:
        return name(planes[0])
    return f"{name(planes[0])} – {name(planes[-1])}"


def _curve(latency: pl.DataFrame, summary: Mapping[str, Any], op: str) -> list[tuple[float, float]]:
    """(latency in µs, share of requests at or below it), rising in both: (min, 0), then the points
    of the table, each of which is exact. Between two of them the share is that of the first, or
    higher by no more than the requests that the second adds."""
    told = summary["latency"][op]
    if not told["count"]:
        return []
    rows = latency.filter(pl.col("op") == op).select("latency_us", "fraction_below").rows()
    points = cast("list[tuple[float, float]]", rows)
    return [(_exact(told["min_us"]), 0.0)] + [
        (_exact(us), float(f"{share:.9g}")) for us, share in points
    ]
