"""HTML page of `wordline growth`, one self-contained file."""

import math
from collections.abc import Sequence

from wordline._dev.growth.cost import MOST_RATIO, Line, Measured
from wordline._internal import own_version
from wordline._render import html, units
from wordline._render.miss_ratio_page import COLOURS
from wordline._render.plotly import Figure, figure, line

LATENCY = "#8b929c"
# Shares of the height: the chart of the random read ends at LOWER, and that of the costs begins at
# UPPER.
LOWER, UPPER = 0.2, 0.27


def render(found: Sequence[Measured]) -> str:
    """Returns the page as HTML."""
    drawn = {one.sweep.name: costs(one) for one in found}
    return html.render(
        "wordline._dev.growth",
        "growth.html.jinja",
        drawn,
        found=found,
        drawn=drawn,
        most=MOST_RATIO,
        quantity=quantity,
        units=units,
        version=own_version.installed(),
    )


def quantity(one: Measured, at: int) -> str:
    """Formats a swept quantity."""
    return _round_size(at) if one.sweep.unit == "bytes" else units.whole(at)


def tick(one: Measured, at: int) -> str:
    """Formats a swept quantity for an axis, with M for millions."""
    millions = one.sweep.unit != "bytes" and at % 10**6 == 0
    return f"{at // 10**6} M" if millions else quantity(one, at)


def _round_size(count: int) -> str:
    """Formats a size that is a power of two, without decimals. `count` is in bytes."""
    number, unit = units.size(count).split()
    return f"{float(number):g} {unit}"


def costs(one: Measured) -> Figure:
    """Draws a line per series over the band in which the series is flat. A second chart below shows
    the latency of a random memory read."""
    places = sorted({cost.at for own in one.lines for cost in own.costs})
    data: list[Figure] = []
    for own, colour in zip(one.lines, COLOURS, strict=False):
        data += [_band(own, colour), _costs(one, own, colour), *_left(own, colour)]
    highest = max(cost.ns_per_request for own in one.lines for cost in own.costs)
    lowest = min(cost.ns_per_request for own in one.lines for cost in own.costs)
    data += [_latency(own) for own in one.lines]
    return figure(
        data,
        height=430,
        hovermode="closest",
        xaxis=_axis(one, places),
        yaxis={
            "title": {"text": "ns of CPU per request (log)"},
            "type": "log",
            "domain": [UPPER, 1],
            "range": [math.log10(lowest / 2), math.log10(highest * 1.6)],
            "tickvals": (ticks := [s * 10**p for p in range(1, 6) for s in (1, 2, 5)]),
            "ticktext": [f"{tick:,}" for tick in ticks],
        },
        yaxis2={"title": {"text": "read, ns"}, "domain": [0, LOWER], "rangemode": "tozero"},
    )


def _band(own: Line, colour: str) -> Figure:
    ends = [min(cost.at for cost in own.costs), max(cost.at for cost in own.costs)]
    low, high = own.least.ns_per_request, own.least.ns_per_request * MOST_RATIO
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [*ends, *reversed(ends)],
        "y": [low, low, high, high],
        "fill": "toself",
        "fillcolor": f"{colour}22",
        "line": {"width": 0},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _costs(one: Measured, own: Line, colour: str) -> Figure:
    return line(
        own.name,
        colour,
        [cost.at for cost in own.costs],
        [float(f"{cost.ns_per_request:.4g}") for cost in own.costs],
        customdata=[quantity(one, cost.at) for cost in own.costs],
        hovertemplate="%{y:,} ns at %{customdata}",
    )


def _left(own: Line, colour: str) -> list[Figure]:
    known = [(cost, own.explained_ns(cost)) for cost in own.costs]
    points = [(cost.at, cost.ns_per_request - ns) for cost, ns in known if ns is not None]
    if not points:
        return []
    low = own.least.ns_per_request
    # Overlapping misses cost less than the sum of their latencies, so the rest is at least the
    # smallest cost.
    y = [max(ns, low) for _, ns in points]
    drawn = line(f"{own.name}, without misses", colour, [at for at, _ in points], y)
    drawn["line"] |= {"dash": "dot"}
    drawn["marker"] |= {"symbol": "circle-open", "size": 6}
    return [drawn | {"hovertemplate": "%{y:,.4g} ns without misses"}]


def _latency(own: Line) -> Figure:
    points = [(cost.at, float(f"{cost.latency_ns:.3g}")) for cost in own.costs]
    drawn = line(own.name, LATENCY, [at for at, _ in points], [ns for _, ns in points])
    drawn["line"] |= {"width": 1}
    return drawn | {"yaxis": "y2", "showlegend": False, "hovertemplate": "%{y} ns per random read"}


def _axis(one: Measured, places: Sequence[int]) -> Figure:
    low, high = math.log10(places[0]), math.log10(places[-1])
    beside = 0.06 * (high - low) + 0.01
    return {
        "title": {"text": f"{one.sweep.title.lower()} (log)"},
        "type": "log",
        "anchor": "y2",
        "tickvals": list(places),
        "ticktext": [tick(one, at) for at in places],
        # Rotated labels end at their tick, and the last one would not fit.
        "autotickangles": [0, -45, -90],
        "range": [low - beside, high + beside],
    }
