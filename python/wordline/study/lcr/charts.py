"""Charts over loads, sizes and windows, and the published numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from wordline.figures import LINEAR, figure, line
from wordline.study.figure import Numbers
from wordline.study.lcr.policies import COLOURS

PUBLISHED = Numbers("wordline.study.lcr")


def bars(
    values: Mapping[str, Mapping[str, float]],
    unit: str,
    colours: Mapping[str, str] = COLOURS,
) -> dict[str, Any]:
    """A bar for each series of each place. By place, series."""
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": name,
            "x": list(values),
            "y": [one.get(name) for one in values.values()],
            "marker": {"color": colour},
            "hovertemplate": f"%{{x}}, {name}: %{{y:.4~g}} {unit}<extra></extra>",
        }
        for name, colour in colours.items()
        if any(name in one for one in values.values())
    ]
    return figure(
        data,
        height=360,
        barmode="group",
        hovermode="closest",
        xaxis={"type": "category", "tickangle": -45 if len(values) > 6 else 0},
        yaxis={"title": {"text": unit}, **LINEAR},
    )


def over(
    values: Mapping[str, Sequence[float]],
    steps: Sequence[str],
    colours: Mapping[str, str],
    x_title: str,
    unit: str,
) -> dict[str, Any]:
    """A line for each series over steps at equal distances."""
    data = [
        line(name, colours[name], [], list(one))
        | {"x": list(steps), "mode": "lines+markers", "hovertemplate": f"%{{y:.4~g}} {unit}"}
        for name, one in values.items()
    ]
    return figure(
        data,
        height=340,
        hovermode="x unified",
        xaxis={"title": {"text": x_title}, "type": "category"},
        yaxis={"title": {"text": unit}, **LINEAR},
    )
