"""Bar and line charts by series, with title and caption."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, TypeAlias, TypeVar

from wordline._render.plotly import LINEAR, Figure, figure, line

Step = TypeVar("Step", float, str)
# Values of a chart: by category or series, then by series or step.
Values: TypeAlias = Mapping[str, Mapping[str, float]]
LABEL_CHARACTERS = 30
"""Maximum characters per line of a category name next to a horizontal bar. Leaves half the width of
a phone for the bars."""


@dataclass(frozen=True)
class Plot:
    """A chart: title, caption, and the figure for Plotly."""

    title: str
    caption: str
    figure: dict[str, Any]


def bar(
    name: str,
    colour: str,
    x: Iterable[str],
    y: Iterable[float | None],
    unit: str,
    digits: str = ".4~g",
) -> Figure:
    """Returns the bars of a series. `digits` is a d3-format specifier."""
    return {
        "type": "bar",
        "name": name,
        "x": list(x),
        "y": list(y),
        "marker": {"color": colour},
        "hovertemplate": f"%{{x}}, {name}: %{{y:{digits}}} {unit}<extra></extra>",
    }


def bars(
    values: Values,
    colours: Mapping[str, str],
    unit: str,
    *,
    stacked: bool = False,
    log: bool = False,
    height: int = 360,
    digits: str = ".4~g",
    angle: int | None = None,
) -> Figure:
    """Draws a bar per series and category, grouped or stacked. `values` is by category, then
    series. Series without values are left out. Labels of categories are drawn at `angle`, by
    default slanted if there are many."""
    data = [
        bar(name, colour, values, [one.get(name) for one in values.values()], unit, digits)
        for name, colour in colours.items()
        if any(name in one for one in values.values())
    ]
    turned = (-45 if len(values) > 6 else 0) if angle is None else angle
    return figure(
        data,
        height=height,
        barmode="stack" if stacked else "group",
        hovermode="closest",
        xaxis={"type": "category", "tickangle": turned},
        yaxis=_scale(unit, log),
    )


def horizontal_bars(
    values: Values, colours: Mapping[str, str], unit: str, digits: str = ".4~g"
) -> Figure:
    """Draws horizontal bars for categories with long names, which are wrapped. `values` is by
    category, then series."""
    labels = ["<br>".join(wrap(name, LABEL_CHARACTERS)) for name in values]
    tallest = max((label.count("<br>") + 1 for label in labels), default=1)
    data = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "x": [one.get(name) for one in values.values()],
            "y": labels,
            "marker": {"color": colour},
            "hovertemplate": f"%{{y}}, {name}: %{{x:{digits}}} {unit}<extra></extra>",
        }
        for name, colour in colours.items()
    ]
    return figure(
        data,
        height=120 + len(labels) * max(36, 18 * tallest),
        hovermode="closest",
        xaxis=_scale(unit, log=False),
        yaxis={"type": "category", "autorange": "reversed", "automargin": True},
    )


def lines(
    values: Mapping[str, Mapping[Step, float]],
    colours: Mapping[str, str],
    x_title: str,
    unit: str,
    *,
    log: bool = False,
    category: bool = False,
    dashed: str = "",
    height: int = 360,
) -> Figure:
    """Draws a line per series. The series `dashed` has a dashed line, because it would hide others.
    `values` is by series, then step."""
    data: list[Figure] = []
    for name, one in values.items():
        drawn = line(name, colours[name], [], list(one.values()))
        drawn |= {"x": list(one), "mode": "lines+markers", "hovertemplate": f"%{{y:.4~g}} {unit}"}
        drawn["line"] |= {"dash": "dash"} if name == dashed else {}
        data.append(drawn)
    return figure(
        data,
        height=height,
        hovermode="x unified",
        xaxis={"title": {"text": x_title}, "type": "category" if category else "linear"},
        yaxis=_scale(unit, log),
    )


def sweep(
    x: Sequence[float],
    values: Mapping[str, Sequence[float]],
    colours: Mapping[str, str],
    x_title: str,
    unit: str,
    *,
    log: bool = False,
    height: int = 320,
) -> Figure:
    """Draws a line per series over an axis, logarithmic or not, that is labelled with the swept
    values."""
    points = [float(one) for one in x]
    axis: Figure = {
        "title": {"text": x_title},
        "tickvals": list(x),
        "ticktext": [f"{one:g}" for one in x],
    }
    return figure(
        [line(name, colours[name], points, list(one)) for name, one in values.items()],
        height=height,
        xaxis=axis | ({"type": "log"} if log else {}),
        yaxis=_scale(unit, log=False),
    )


def _scale(unit: str, log: bool) -> dict[str, Any]:
    scale = {"type": "log", "dtick": 1, "exponentformat": "none"} if log else LINEAR
    return {"title": {"text": f"{unit} (log)" if log else unit}, **scale}
