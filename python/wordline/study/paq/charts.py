"""Charts over the loads and over the length of the queue, and the published numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from wordline.figures import LINEAR, figure, line
from wordline.study.figure import Numbers
from wordline.study.paq.schedulers import ALL, TITLES

PUBLISHED = Numbers("wordline.study.paq")
COLOURS: dict[str, str] = dict(
    zip(
        ALL,
        ("#8b929c", "#e0a30a", "#7cc0ea", "#1f78b4", "#444b54", "#12a07a", "#c2457f"),
        strict=True,
    )
)


def bars(
    values: Mapping[str, Mapping[str, float]], schedulers: Sequence[str], unit: str
) -> dict[str, Any]:
    """A bar for each scheduler of each load. By load, scheduler."""
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": TITLES[scheduler],
            "x": list(values),
            "y": [one[scheduler] for one in values.values()],
            "marker": {"color": COLOURS[scheduler]},
            "hovertemplate": f"%{{x}}, {TITLES[scheduler]}: %{{y:.4~g}} {unit}<extra></extra>",
        }
        for scheduler in schedulers
    ]
    return figure(
        data,
        height=400,
        barmode="group",
        hovermode="closest",
        xaxis={"type": "category", "tickangle": -45},
        yaxis={"title": {"text": unit}, **LINEAR},
    )


def over_queues(
    values: Mapping[str, Mapping[int, float]], queues: Sequence[int], unit: str
) -> dict[str, Any]:
    """A line for each scheduler. By scheduler, length of the queue."""
    data = [
        line(TITLES[scheduler], COLOURS[scheduler], [float(queue) for queue in queues],
             [one[queue] for queue in queues])
        for scheduler, one in values.items()
    ]  # fmt: skip
    return figure(
        data,
        height=340,
        xaxis={
            "title": {"text": "length of the queue (log)"},
            "type": "log",
            "tickvals": list(queues),
            "ticktext": [str(queue) for queue in queues],
        },
        yaxis={"title": {"text": unit}, **LINEAR},
    )


def dots(
    name: str, scheduler: str, values: Sequence[float], unit: str, top: float
) -> dict[str, Any]:
    """A dot for each request in order, and a line at their mean. `top` ends the axis."""
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
