"""Charts by load and by queue length, and the published numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from wordline._render import charts
from wordline._render.plotly import LINEAR, Figure, figure
from wordline_studies.figure import Numbers
from wordline_studies.paq.schedulers import ALL, TITLES

PUBLISHED = Numbers("wordline_studies.paq")
COLOURS: dict[str, str] = dict(
    zip(
        ALL,
        ("#8b929c", "#e0a30a", "#7cc0ea", "#1f78b4", "#444b54", "#12a07a", "#c2457f"),
        strict=True,
    )
)


def bars(values: Mapping[str, Mapping[str, float]], schedulers: Sequence[str], unit: str) -> Figure:
    """Draws a bar per load and scheduler."""
    colours = {TITLES[scheduler]: COLOURS[scheduler] for scheduler in schedulers}
    titled = {
        load: {TITLES[scheduler]: one[scheduler] for scheduler in schedulers}
        for load, one in values.items()
    }
    return charts.bars(titled, colours, unit, height=400, angle=-45)


def over_queues(
    values: Mapping[str, Mapping[int, float]], queues: Sequence[int], unit: str
) -> Figure:
    """Draws a line per scheduler over the queue length."""
    by_title = {
        TITLES[scheduler]: [one[queue] for queue in queues] for scheduler, one in values.items()
    }
    colours = {TITLES[scheduler]: COLOURS[scheduler] for scheduler in values}
    x_title = "queue length (log)"
    return charts.sweep(queues, by_title, colours, x_title, unit, log=True, height=340)


def dots(name: str, scheduler: str, values: Sequence[float], unit: str, top: float) -> Figure:
    """Draws a dot per request in order, and a line at their mean. `top` is the end of the axis."""
    mean = sum(values) / len(values)
    data: list[dict[str, Any]] = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "y": [float(f"{value:.4g}") for value in values],
            "marker": {"color": COLOURS[scheduler], "size": 3},
            "hovertemplate": f"request %{{x}}: %{{y:.4~g}} {unit}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "name": f"mean {mean:.3g} {unit}",
            "x": [0, len(values) - 1],
            "y": [mean, mean],
            "line": {"color": "#c0392b", "width": 1.8},
        },
    ]
    return figure(
        data,
        height=300,
        hovermode="closest",
        xaxis={"title": {"text": "request"}},
        yaxis={"title": {"text": unit}, **LINEAR, "range": [0, top]},
    )
