"""Plots of published and simulated values."""

from collections.abc import Iterable

from wordline._render.charts import horizontal_bars
from wordline_studies.figure import POINTS, Plot, Row

AGAINST = "Published and simulated"
COLOURS = {"published": "#8b929c", "simulated": "#1f78b4"}


def against_published(rows: Iterable[Row]) -> Plot:
    """Returns a plot of simulated and published values. It shows the rows in per cent or percentage
    points whose published value is a number and not a range."""
    values: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.published is None or row.ours is None or row.unit not in POINTS:
            continue
        if not isinstance(row.published.value, tuple):
            values[row.what] = {"published": row.published.value, "simulated": row.ours}
    return Plot(
        AGAINST, "Values that have a published number.", horizontal_bars(values, COLOURS, "%")
    )
