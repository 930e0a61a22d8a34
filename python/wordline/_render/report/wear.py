"""Charts of erases per block and of blocks per erase count."""

import math
from collections.abc import Sequence
from typing import cast

import polars as pl

from wordline._render.plotly import (
    LINEAR,
    MOST_COLUMNS,
    MOST_ROWS,
    NEUTRAL,
    Figure,
    Grid,
    figure,
    heat,
)
from wordline._render.report.rows import short

PLACE = ("member", "channel", "way", "die", "plane")
"""Columns that identify the plane of a row; the first is present only for arrays."""


def erases(blocks: pl.DataFrame) -> Figure | None:
    """Draws a heat map of erases with a row per plane. On large devices neighbours are averaged."""
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
        grid[row][column] = short(mean)
    names = [_plane_names(planes[row * per_row : (row + 1) * per_row]) for row in range(rows)]
    return heat(
        grid,
        [float(min(column * per_column, blocks_per_plane)) for column in range(columns + 1)],
        names,
        x_title="block of its plane" + (f" (mean of {per_column})" if per_column > 1 else ""),
        y_title="plane",
        bar_title="erases",
        hover="%{y}, block %{x}: %{z} erases",
        row_height=9 if rows > 16 else 22,
    )


def wear(table: pl.DataFrame) -> Figure | None:
    """Draws the number of blocks per erase count."""
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
        xaxis={"title": {"text": "erases per block"}, "exponentformat": "none"} | few,
        yaxis={"title": {"text": "blocks"}, **LINEAR},
    )


def _plane_names(planes: Sequence[tuple[int, ...]]) -> str:
    def name(plane: tuple[int, ...]) -> str:
        letters = (name[0] for name in PLACE[-len(plane) :])
        return " ".join(f"{letter}{place}" for letter, place in zip(letters, plane, strict=True))

    if len(planes) == 1:
        return name(planes[0])
    return f"{name(planes[0])} – {name(planes[-1])}"
