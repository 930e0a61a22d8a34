"""Hit curve of the load of a cache, and the point of the run."""

from collections.abc import Mapping
from typing import Any

from wordline._render import units
from wordline._render.plotly import LINEAR, Figure, figure, line

CURVE, RUN = "#5f6b7a", "#d9701a"


def curve(cache: Mapping[str, Any], page_bytes: int) -> Figure | None:
    """Draws the estimated hit ratio of an LRU cache against its size, and that of the run; None
    without a curve."""
    points = cache["miss_ratio_curve"]
    if not points or cache["hit_ratio"] is None:
        return None
    capacity = cache["capacity_pages"]
    last = max(points[-1]["size_pages"], capacity)
    points = [*points, {**points[-1], "size_pages": last}]
    sizes = [point["size_pages"] for point in points]
    drawn = line("LRU, from a sample", CURVE, sizes, [_hits(one) for one in points])
    ran = line("this run", RUN, [capacity], [round(100 * cache["hit_ratio"], 3)])
    for one in (drawn, ran):
        one["hovertemplate"] = "%{customdata}, %{y:.3g} %"
        one["customdata"] = [units.size(round(size) * page_bytes) for size in one["x"]]
    ran |= {"mode": "markers", "marker": {"color": RUN, "size": 11, "symbol": "diamond"}}
    return figure(
        [drawn, ran],
        height=300,
        xaxis={"title": {"text": "cache size (pages)"}, "rangemode": "tozero"},
        yaxis={"title": {"text": "read hit ratio (%)"}, "rangemode": "tozero", **LINEAR},
    )


def _hits(point: Mapping[str, float]) -> float:
    return round(100 * (1 - point["miss_ratio"]), 3)
