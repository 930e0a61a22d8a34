"""Building blocks of Plotly charts: lines, heat maps, axes.

Text, grid and background take their colours from the page's style sheet, so that one figure serves
light and dark mode and print. The colours here are legible on white and on black.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from wordline._render.parts import PARTS

Figure: TypeAlias = dict[str, Any]
Grid: TypeAlias = list[list[float | None]]

EACH = (
    "#3b86c6",
    "#d9701a",
    "#12a07b",
    "#c0457e",
    "#8fa83a",
    "#7a5ec2",
    "#b8860b",
    "#5f6b7a",
)
"""Colours of streams and of array members, used in turn."""
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
"""Line styles of series that share a colour, used in turn."""
READ, WRITE, NEUTRAL = "#3b86c6", "#d8731c", "#8b929c"
OPS = (("read", READ), ("write", WRITE))
COLLECTION = next(part["colour"] for part in PARTS if part["figure"] == "gc_us")
LINEAR = {"rangemode": "tozero", "exponentformat": "none", "separatethousands": True}
ZERO = "0"
HEAT = "Cividis"
MOST_COLUMNS = 320
MOST_ROWS = 128
FAR = 4
"""Ratio of maximum to minimum from which an axis of values is logarithmic."""
MOST_TICKS = 8
"""Maximum number of ticks of a logarithmic axis, so that their labels fit on a phone."""


def line(name: str, colour: str, x: list[float], y: Sequence[float | None], **more: Any) -> Figure:
    """Draws a line, with markers if there are few points or many gaps, so that single points are
    visible."""
    known = sum(value is not None for value in y)
    sparse = known <= 40 or known < 0.8 * len(y)
    return {
        "type": "scatter",
        "name": name,
        "mode": "lines+markers" if sparse else "lines",
        "line": {"color": colour, "width": 1.8},
        "marker": {"color": colour, "size": 4},
        "x": x,
        "y": list(y),
        **more,
    }


def decades(title: str, values: Iterable[float]) -> Figure:
    """Returns a logarithmic axis of microseconds, labelled 10 µs, 1 ms, 1 s.

    The value 0 has no logarithm. It is placed at the lower end, labelled 0; `drawn_at` returns the
    coordinate of a value.
    """
    known = list(values)
    positive = [value for value in known if value > 0]
    low, high = min(positive, default=1.0), max(positive, default=1.0)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    narrow = high < 10 * low
    ends = (first, max(last, first + 1)) if narrow else (math.log10(low), math.log10(high))
    labels = [_tick(tick) for tick in ticks]
    if any(value == 0 for value in known):
        zero = ends[0] - 0.12 * (ends[1] - ends[0]) - 0.1
        ticks = [float(f"{10.0**zero:.7g}"), *(tick for tick in ticks if tick >= 10 ** ends[0])]
        labels = [ZERO, *(_tick(tick) for tick in ticks[1:])]
        ends = (zero, ends[1])
    return {
        "title": {"text": f"{title} (log)"},
        "type": "log",
        "tickvals": ticks,
        "ticktext": labels,
        "range": [ends[0] - 0.06, ends[1] + 0.06],
    }


def drawn_at(scale: Figure, value: float) -> float:
    """Returns the coordinate of a value on an axis of `decades`."""
    if value == 0 and scale["ticktext"][:1] == [ZERO]:
        return scale["tickvals"][0]
    return value


def logarithmic(
    title: str, values: Iterable[float], text: Callable[[float], str] = "{:,.12g}".format
) -> Figure:
    """Returns a logarithmic axis over the positive values, with ticks at 1, 2 and 5 times powers of
    ten, or at powers of ten alone. `text` formats the labels."""
    known = [value for value in values if value > 0]
    low, high = math.log10(min(known, default=1.0)), math.log10(max(known, default=10.0))
    if high - low < 0.5:
        low, high = low - 0.25, high + 0.25
    powers = range(math.floor(low), math.ceil(high) + 1)
    every = max(1, math.ceil((high - low) / MOST_TICKS))
    steps = (1, 2, 5) if high - low <= MOST_TICKS / 3 else (1,)
    ticks = [
        float(f"{step * 10.0**power:.12g}")
        for power in powers
        if power % every == 0
        for step in steps
    ]
    margin = 0.04 * (high - low)
    return {
        "title": {"text": f"{title} (log)"},
        "type": "log",
        "tickvals": ticks,
        "ticktext": [text(tick) for tick in ticks],
        "range": [low - margin, high + margin],
    }


def at_values(title: str, values: Sequence[float], text: Callable[[float], str]) -> Figure:
    """Returns an axis that is labelled only at these values, logarithmic if they spread over more
    than a decade."""
    spread = min(values) > 0 and max(values) > 10 * min(values)
    ends = [math.log10(one) if spread else one for one in (min(values), max(values))]
    margin = 0.05 * (ends[1] - ends[0]) or 1.0
    return {
        "title": {"text": f"{title} (log)" if spread else title},
        "type": "log" if spread else "linear",
        "tickvals": list(values),
        "ticktext": [text(one) for one in values],
        "range": [ends[0] - margin, ends[1] + margin],
        "autotickangles": [0, -45, -90],
    }


def upright(title: str, ends: Sequence[tuple[float, float]]) -> Figure:
    """Returns a vertical axis over ranges of values. It is logarithmic if a few values far above
    the others would compress them."""
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    if low > 0 and high > FAR * low:
        return logarithmic(title, [low, high])
    return {"title": {"text": title}, **LINEAR}


def choices(figures: Mapping[str, Figure], of: str) -> Figure:
    """Combines charts into one with a drop-down list, labelled `of`, that selects one by name. All
    have the same height."""
    height = {"height": max(one["layout"]["height"] for one in figures.values())}
    drawn: list[Figure] = [
        {"name": name, "data": one["data"], "layout": one["layout"] | height}
        for name, one in figures.items()
    ]
    return {"choices": drawn, "of": of, "layout": height}


def _tick(us: float) -> str:
    for limit, scale, unit in ((1, 1e-3, "ns"), (1e3, 1, "µs"), (1e6, 1e3, "ms")):
        if us < limit:
            return f"{us / scale:.12g} {unit}"
    return f"{us / 1e6:.12g} s"


def percent(ratio: float) -> str:
    """Formats a ratio in per cent, or per 1,000,000,000 if it is tiny."""
    return f"{ratio * 100:.3g} %" if ratio >= 1e-7 else f"{ratio * 1e9:.3g} in 1,000,000,000"


def heat(
    grid: Grid,
    x: list[float],
    y: list[str],
    *,
    x_title: str,
    y_title: str,
    bar_title: str,
    hover: str,
    row_height: int,
) -> Figure:
    """Draws a heat map: one row of the grid per name in `y`, columns between the edges `x`."""
    highest = max((value for row in grid for value in row if value is not None), default=0.0)
    data: list[Figure] = [
        {
            "type": "heatmap",
            "z": grid,
            "x": x,
            "y": y,
            "zmin": 0,
            "zmax": highest or 1,
            "colorscale": HEAT,
            "hoverongaps": False,
            "hovertemplate": hover + "<extra></extra>",
            "colorbar": {
                "title": {"text": bar_title, "side": "right"},
                "thickness": 12,
                "outlinewidth": 0,
                "len": 1,
                "tickformat": "~s" if highest >= 10000 else "",
            },
        }
    ]
    return figure(
        data,
        height=min(620, max(190, 95 + row_height * len(y))),
        hovermode="closest",
        xaxis={"title": {"text": x_title}, "showgrid": False, "zeroline": False},
        yaxis={
            "title": {"text": y_title},
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "nticks": 12,
        },
    )


def legend(**more: Any) -> Figure:
    """Returns a legend above the chart, on the left."""
    return {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"} | more


def figure(data: list[Figure], *, height: int, **layout: Any) -> Figure:
    """Returns a chart with this height in pixels. The chart is as wide as the page."""
    return {
        "data": data,
        "layout": {"height": height, "showlegend": True, "legend": legend()} | layout,
    }
