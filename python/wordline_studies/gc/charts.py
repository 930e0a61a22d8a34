"""Charts by scheme, and the published numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

from wordline._render.plotly import LINEAR, decades, figure, line
from wordline_studies.figure import Numbers
from wordline_studies.gc.schemes import BOTH, SCHEMES

PUBLISHED = Numbers("wordline_studies.gc")
# Marginal response time (section 7.6.3). Milliseconds.
MARGIN_MS = 30
# Number of groups of consecutive requests in a chart of response times.
GROUPS = 600


def over_days(
    values: Mapping[str, Sequence[float | None]], days: int, margin: bool = True
) -> dict[str, Any]:
    """Draws one line per scheme over the days of the load. `values` are the longest response times
    per interval in milliseconds."""
    most = max(len(one) for one in values.values())
    x = [(place + 0.5) * days / most for place in range(most)]
    data = [
        _dashed(
            SCHEMES[scheme].title,
            line(SCHEMES[scheme].title, SCHEMES[scheme].colour, x[: len(one)], _us(one)),
        )
        | {"customdata": list(one), "hovertemplate": "%{customdata:.4~g} ms"}
        for scheme, one in values.items()
    ]
    return figure(
        data,
        height=360,
        xaxis={"title": {"text": "day"}, "dtick": 1, "range": [0, days]},
        yaxis=_latency("longest response time", values.values()),
        shapes=[_level(1000.0 * MARGIN_MS)] if margin else [],
    )


def in_order(name: str, scheme: str, values_us: Sequence[float], top_us: float) -> dict[str, Any]:
    """Draws the longest and the mean response time of groups of consecutive requests. `values_us`
    and `top_us`, the end of the axis, are in microseconds."""
    group = max(1, -(-len(values_us) // GROUPS))
    groups = [values_us[at : at + group] for at in range(0, len(values_us), group)]
    x = [float(at) for at in range(0, len(values_us), group)]
    colour = SCHEMES[scheme].colour
    longest, means = [max(one) for one in groups], [sum(one) / len(one) for one in groups]
    data = [
        line(name, colour, x, [_short(one / 1000) for one in values], **more)
        | {"mode": "lines", "hovertemplate": "%{y:.4~g} ms"}
        for name, values, more in (
            (f"{name}: longest of {group} requests", longest, {}),
            (f"{name}: mean", means, {"opacity": 0.6}),
        )
    ]
    data[1]["line"] = {"color": "#8b929c", "width": 1.2}
    lowest = min(means) / 1000
    return figure(
        data,
        height=250,
        hovermode="x unified",
        xaxis={"title": {"text": "request"}},
        yaxis=_milliseconds("response time", [lowest, top_us / 1000]),
        shapes=[_level(float(MARGIN_MS))],
    )


def beyond(values: Mapping[str, Mapping[float, int]]) -> dict[str, Any]:
    """Draws the number of requests above an excess waiting time. `values` are by scheme and excess
    in microseconds."""
    most = max((max(one, default=1.0) for one in values.values()), default=1.0)
    steps = sorted({us for one in values.values() for us in one if us})
    data = [
        line(
            f"{SCHEMES[scheme].title} ({one.get(0.0, 0):,})",
            SCHEMES[scheme].colour,
            steps,
            [one.get(us, 0) for us in steps],
        )
        | {"mode": "lines", "hovertemplate": "%{y:,}"}
        for scheme, one in values.items()
    ]
    return figure(
        data,
        height=330,
        hovermode="x unified",
        xaxis=decades("excess waiting time", [1000.0, most]),
        yaxis={"title": {"text": "requests above the excess"}, **LINEAR},
    )


def _dashed(scheme: str, drawn: dict[str, Any]) -> dict[str, Any]:
    """Dashes the line of AGC+DGC, so that it does not hide the lines below it."""
    if scheme == SCHEMES[BOTH].title:
        drawn["line"] |= {"dash": "dash"}
    return drawn


def _us(values: Sequence[float | None]) -> list[float | None]:
    return [None if one is None else _short(1000 * one) for one in values]


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _latency(title: str, values: Any) -> dict[str, Any]:
    """Returns an axis in microseconds for values in milliseconds."""
    return decades(title, [1000 * one for each in values for one in each if one])


def _milliseconds(title: str, values: Sequence[float]) -> dict[str, Any]:
    """Returns an axis in milliseconds."""
    scale = decades(title, [1000 * one for one in values])
    return scale | {
        "tickvals": [one / 1000 for one in scale["tickvals"]],
        "range": [end - 3 for end in scale["range"]],
    }


def _level(y: float) -> dict[str, Any]:
    """Returns a dotted line at the marginal response time. `y` is in the axis's unit."""
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": y,
        "y1": y,
        "line": {"color": "#c0392b", "width": 1, "dash": "dot"},
    }
