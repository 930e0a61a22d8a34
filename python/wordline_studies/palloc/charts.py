"""Charts by strategy, and the published numbers."""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from wordline._render.charts import bar
from wordline._render.plotly import LINEAR, figure
from wordline_studies.figure import Numbers
from wordline_studies.palloc.orders import FAMILIES, ORDERS, averaged

PUBLISHED = Numbers("wordline_studies.palloc")
FAMILY_COLOURS = dict(zip(FAMILIES, ("#3b86c6", "#7cc0ea", "#d8731c", "#e0a30a"), strict=True))
LOAD_COLOURS = (
    "#12a07a",
    "#c2457f",
    "#7a6bc9",
    "#8b929c",
    "#1f78b4",
    "#c0392b",
    "#5d8a2f",
    "#b07d1a",
    "#444b54",
)


def spread(
    values: Mapping[str, Mapping[str, float]],
    unit: str,
    beside: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, Any]:
    """Draws a bar with the mean of the loads per strategy, and a mark per load. `values` are by
    load and strategy.

    Loads in `beside` are drawn as marks and not included in the means.
    """
    means = averaged(values.values())
    marks = {**values, **(beside or {})}
    data: list[dict[str, Any]] = [
        bar(
            "mean", FAMILY_COLOURS[family], orders, [means[order] for order in orders], unit, ".3~f"
        )
        | {"name": f"{family}, mean"}
        for family, orders in FAMILIES.items()
    ]
    data += [
        {
            "type": "scatter",
            "mode": "markers",
            "name": load,
            "x": list(ORDERS),
            "y": [one[order] for order in ORDERS],
            "marker": {"color": colour, "size": 5},
            "hovertemplate": f"%{{x}}, {load}: %{{y:.3~f}} {unit}<extra></extra>",
        }
        for (load, one), colour in zip(marks.items(), cycle(LOAD_COLOURS), strict=False)
    ]
    return figure(data, height=420, **_axes(unit), hovermode="closest")


def stacked(parts: Mapping[str, Mapping[str, float]], unit: str) -> dict[str, Any]:
    """Draws stacked bars with the parts of a whole per strategy. `parts` are by part and
    strategy."""
    colours = ("#9aa1ab", "#e0a30a", "#3b86c6", "#c2457f")
    data: list[dict[str, Any]] = [
        bar(name, colour, ORDERS, [values[order] for order in ORDERS], unit, ".3~f")
        for (name, values), colour in zip(parts.items(), colours, strict=False)
    ]
    return figure(data, height=380, barmode="stack", **_axes(unit))


def _axes(unit: str) -> dict[str, Any]:
    return {
        "xaxis": {"type": "category", "categoryarray": list(ORDERS), "tickangle": -90},
        "yaxis": {"title": {"text": unit}, **LINEAR},
    }
