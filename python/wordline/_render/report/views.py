"""Latency that the host sees over simulated time, and the GC of the device at the same time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from wordline._render.plotly import COLLECTION, Figure, decades, figure, legend
from wordline._render.report.rows import (
    exact,
    known_values,
    latency_lines,
    on_scale,
    rounded,
    thinned,
)
from wordline._render.units import axis

IDLE_COLLECTION = "#6b9e3a"


def views(runs: Mapping[str, pl.DataFrame]) -> Figure | None:
    """Draws what the host sees of each run, and below it the activity of the device, with one
    column per run.

    Takes the `series` of runs by name. The user view has mean and maximum latency of each interval.
    The device view has the maximum latency over bars, which are the share of die time that garbage
    collection took (Jung 2013, figure 7.1, calls it the real view). The bars have one colour for
    intervals with requests and another for intervals without. All columns share the same axes. None
    if no run has a request.
    """
    intervals = {
        name: _Intervals.of(series) for name, series in runs.items() if not series.is_empty()
    }
    if not any(run.users for run in intervals.values()):
        return None
    seconds, unit = axis(max(run.ends[-1] for run in intervals.values()))
    latencies = [us for run in intervals.values() for us in known_values(run.users)]
    data: list[Figure] = []
    layout: Figure = {}
    for place, run in enumerate(intervals.values()):
        drawn, axes = _column(run, place, len(intervals), seconds, unit)
        data += drawn
        layout |= axes
    scale = decades("", latencies)
    data = [on_scale(scale, one) if one["type"] == "scatter" else one for one in data]
    busiest = max(max(run.collecting) for run in intervals.values())
    for name in [name for name in layout if name.startswith("yaxis")]:
        layout[name] |= _vertical(int(name.removeprefix("yaxis") or 1), scale, busiest)
    _once(data)
    named = len(intervals) > 1
    if named:
        layout["annotations"] = [
            _heading(name, layout[f"xaxis{_suffix(2 * place)}"]["domain"])
            for place, name in enumerate(intervals)
        ]
    return figure(
        data,
        height=560,
        hovermode="closest",
        barmode="overlay",
        bargap=0,
        margin={"l": 70, "r": 60, "t": 62 if named else 34, "b": 46},
        legend=legend(y=1.06 if named else 1.01, traceorder="normal"),
        **layout,
    )


@dataclass(frozen=True)
class _Intervals:
    """Values of a run by interval."""

    starts: list[float]
    ends: list[float]
    """Ends of the intervals in seconds."""
    users: list[Figure]
    """Lines of latency without x values."""
    collecting: list[float]
    """GC share of die time in per cent."""
    idle: list[bool]
    """Whether the device held no request in the interval."""

    @classmethod
    def of(cls, series: pl.DataFrame) -> "_Intervals":
        rows = thinned(series)
        dies = max(1, len(cast("list[float]", series["die_utilisation"][0])))
        width_ms = (rows["end_s"] - rows["start_s"]) * 1000
        shares = rounded(100 * rows["gc_die_ms"] / width_ms / dies)
        return cls(
            starts=cast("list[float]", rows["start_s"].to_list()),
            ends=cast("list[float]", rows["end_s"].to_list()),
            users=latency_lines(rows),
            collecting=[share or 0.0 for share in shares],
            idle=cast("list[bool]", (rows["busy_ms"] == 0).to_list()),
        )


def _column(
    run: _Intervals, place: int, columns: int, seconds: float, unit: str
) -> tuple[list[Figure], Figure]:
    """Returns the traces and axes of a run: two x axes, and three y axes for the user view, GC and
    the latency over it."""
    user, gc, real = (3 * place + row for row in range(3))
    above, below = (_suffix(2 * place + row) for row in range(2))
    width = (1 - 0.04 * (columns - 1)) / columns
    left = place * (width + 0.04)
    across: Figure = {"domain": [left, left + width], "hoverformat": ".5g"}
    first, last = run.starts[0] / seconds, run.ends[-1] / seconds
    shared = {"range": [first, last]} if columns == 1 else {}
    times = [
        exact((start + end) / 2 / seconds) for start, end in zip(run.starts, run.ends, strict=True)
    ]
    at = {"x": times, "xaxis": f"x{below}"}
    data = [
        drawn | {"x": times, "xaxis": f"x{above}", "yaxis": f"y{_suffix(user)}"}
        for drawn in run.users
    ]
    data += [bars | at | {"yaxis": f"y{_suffix(gc)}"} for bars in _bars(run, seconds)]
    data += [
        drawn | at | {"yaxis": f"y{_suffix(real)}", "showlegend": False}
        for drawn in run.users
        if drawn["name"].endswith("max")
    ]
    outer: Figure = {"showticklabels": place == 0}
    axes: Figure = {
        f"xaxis{above}": across
        | shared
        | {"anchor": f"y{_suffix(user)}", "showticklabels": False, "matches": "x2"},
        f"xaxis{below}": across
        | shared
        | {"anchor": f"y{_suffix(gc)}"}
        # Only one column has the title: on a narrow page there is no room for one per column.
        | ({"title": {"text": f"simulated time ({unit})"}} if place == columns // 2 else {})
        | ({"matches": "x2"} if below != "2" else {}),
        f"yaxis{_suffix(user)}": outer | {"anchor": f"x{above}"},
        f"yaxis{_suffix(gc)}": {"anchor": f"x{below}", "showticklabels": place == columns - 1},
        f"yaxis{_suffix(real)}": outer | {"anchor": f"x{below}", "overlaying": f"y{_suffix(gc)}"},
    }
    if place == 0:
        axes[f"yaxis{_suffix(user)}"]["title"] = {"text": "user view: latency (log)"}
        axes[f"yaxis{_suffix(real)}"]["title"] = {"text": "device view: maximum latency (log)"}
    if place == columns - 1:
        axes[f"yaxis{_suffix(gc)}"]["title"] = {"text": "GC share of die time (%)"}
    return data, axes


def _suffix(index: int) -> str:
    return str(index + 1) if index else ""


def _vertical(number: int, scale: Figure, busiest: float) -> Figure:
    """Returns scale and position of a vertical axis by its number: latency above, GC and latency
    below."""
    row = (number - 1) % 3
    if row == 1:
        return {
            "domain": [0, 0.46],
            "side": "right",
            "showgrid": False,
            "range": [0, 1.05 * busiest or 1],
        }
    kept = {key: value for key, value in scale.items() if key != "title"}
    return kept | {"domain": [0.54, 1] if row == 0 else [0, 0.46], "side": "left"}


def _bars(run: _Intervals, seconds: float) -> list[Figure]:
    """Draws the die time of GC as bars, in intervals with and without requests."""
    kinds = (
        ("GC during requests", COLLECTION, False),
        ("GC without requests", IDLE_COLLECTION, True),
    )
    widths = [
        exact((end - start) / seconds) for start, end in zip(run.starts, run.ends, strict=True)
    ]
    return [
        {
            "type": "bar",
            "name": name,
            "y": [
                share if share and idle == kind else None
                for share, idle in zip(run.collecting, run.idle, strict=True)
            ],
            "width": widths,
            "marker": {"color": colour, "line": {"width": 0}},
            "opacity": 0.55,
            "hovertemplate": "%{y:.3g} % of the dies' time",
            "legendgroup": name,
        }
        for name, colour, kind in kinds
    ]


def _once(data: list[Figure]) -> None:
    """Shows each name once in the legend, and hides names without data."""
    seen: set[str] = set()
    for drawn in data:
        empty = all(value is None for value in drawn["y"])
        if drawn["name"] in seen or empty:
            drawn["showlegend"] = False
        elif drawn.get("showlegend", True):
            seen.add(drawn["name"])


def _heading(name: str, domain: Sequence[float]) -> Figure:
    return {
        "text": name,
        "xref": "paper",
        "yref": "paper",
        "x": domain[0],
        "y": 1.005,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }
