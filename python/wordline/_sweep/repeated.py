"""Means and confidence intervals over repeated seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wordline._internal import statistics
from wordline._sweep.table import figures_of, keys_of

if TYPE_CHECKING:
    import polars


def intervals(frame: polars.DataFrame) -> polars.DataFrame:
    """Returns one row per combination of the keys except the seed: `points`, and for each metric
    its mean and the half width of its 95 % confidence interval, null for a single point."""
    import polars

    keys = [key for key in keys_of(frame) if key != "seed"]
    done = frame.filter(polars.col("status") == "done")
    rows: list[dict[str, Any]] = []
    for name, group in done.group_by(keys, maintain_order=True) if keys else [((), done)]:
        row: dict[str, Any] = dict(zip(keys, name, strict=True)) | {"points": group.height}
        for figure in figures_of(frame):
            row |= _interval(figure, group[figure].drop_nulls().to_list())
        rows.append(row)
    return polars.DataFrame(rows, infer_schema_length=None)


def _interval(figure: str, values: list[float]) -> dict[str, float | None]:
    if not values:
        return {figure: None, figure + statistics.HALF_WIDTH: None}
    found = statistics.interval(values)
    return {figure: found.mean, figure + statistics.HALF_WIDTH: found.half_width}
