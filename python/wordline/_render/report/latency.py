"""Charts of response times: distribution, tail and components."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import polars as pl

from wordline._render import parts
from wordline._render.plotly import (
    DASHES,
    EACH,
    LINEAR,
    OPS,
    Figure,
    decades,
    drawn_at,
    figure,
    legend,
    line,
    percent,
)
from wordline._render.report.rows import exact
from wordline._render.units import duration, duration_unit


def distribution(latency: pl.DataFrame, summary: Mapping[str, Any]) -> Figure | None:
    """Draws the cumulative distribution of reads and of writes over logarithmic time."""
    curves = [(op, colour, _curve(latency, summary, op)) for op, colour in OPS]
    curves = [(op, colour, curve) for op, colour, curve in curves if curve]
    if not curves:
        return None
    scale = decades("latency", [us for _, _, curve in curves for us, _ in curve])
    data = [
        _steps(
            op,
            colour,
            scale,
            curve,
            [share * 100 for _, share in curve],
            [f"{share * 100:.4g} % within {duration(us)}" for us, share in curve],
        )
        for op, colour, curve in curves
    ]
    return figure(
        data,
        height=380,
        hovermode="closest",
        xaxis=scale,
        yaxis={"title": {"text": "requests completed within (%)"}, "range": [-1, 101]},
    )


def each(latency_by: pl.DataFrame | None, of: str) -> Figure | None:
    """Draws the cumulative distribution of each stream or member."""
    if latency_by is None:
        return None
    rows = latency_by.filter(pl.col("of") == of)
    curves: list[tuple[str, list[tuple[float, float]]]] = []
    for (name,), part in rows.group_by("name", maintain_order=True):
        points = cast(
            "list[tuple[float, float]]", part.select("latency_us", "fraction_below").rows()
        )
        curves.append((str(name), [(points[0][0], 0.0), *points]))
    if not curves:
        return None
    scale = decades("latency", [us for _, curve in curves for us, _ in curve])
    data = [
        _steps(
            name,
            EACH[place % len(EACH)],
            scale,
            [(exact(us), share) for us, share in curve],
            [float(f"{share * 100:.9g}") for _, share in curve],
            [f"{name}: {share * 100:.4g} % within {duration(us)}" for us, share in curve],
            DASHES[place // len(EACH) % len(DASHES)],
        )
        for place, (name, curve) in enumerate(curves)
    ]
    return figure(
        data,
        # The legend needs more height above the curves.
        height=380 + 20 * max(0, len(curves) - 4),
        hovermode="closest",
        xaxis=scale,
        yaxis={"title": {"text": "requests completed within (%)"}, "range": [-1, 101]},
    )


def tail(latency: pl.DataFrame, summary: Mapping[str, Any]) -> Figure | None:
    """Draws the share of slower requests over time, both logarithmic."""
    curves = [(op, colour, _curve(latency, summary, op)) for op, colour in OPS]
    curves = [(op, colour, curve) for op, colour, curve in curves if len(curve) > 2]
    if not curves:
        return None
    scale = decades("latency", [us for _, _, curve in curves for us, _ in curve])
    data: list[Figure] = []
    for op, colour, curve in curves:
        above = [1 - share for _, share in curve[:-1]]
        told = [
            f"{percent(ratio)} took longer than {duration(us)}"
            for (us, _), ratio in zip(curve, above, strict=False)
        ]
        # A logarithmic axis cannot show the final 0, so the curve ends at its last positive value.
        above.append(above[-1])
        told.append(f"none took longer than {duration(curve[-1][0])}")
        data.append(_steps(op, colour, scale, curve, above, told))
    least = min(min(trace["y"]) for trace in data)
    ticks = [10.0**-power for power in range(math.ceil(-math.log10(least)) + 1)]
    return figure(
        data,
        height=380,
        hovermode="closest",
        xaxis=scale,
        yaxis={
            "title": {"text": "requests that took longer (%)"},
            "type": "log",
            "tickvals": ticks,
            "ticktext": [percent(tick) for tick in ticks],
        },
    )


def _steps(
    name: str,
    colour: str,
    scale: Figure,
    curve: Sequence[tuple[float, float]],
    y: list[float],
    told: list[str],
    dash: str = "solid",
) -> Figure:
    """Draws a step curve: like a cumulative count, it keeps its height until the next point."""
    drawn = line(
        name,
        colour,
        [drawn_at(scale, us) for us, _ in curve],
        y,
        customdata=told,
        hovertemplate="%{customdata}",
    )
    drawn["line"] |= {"shape": "hv", "dash": dash}
    return drawn


def breakdown(summary: Mapping[str, Any]) -> Figure | None:
    """Draws the components of the mean latency of reads and of writes as stacked bars."""
    ops = [op for op in ("write", "read") if summary["latency"][op]["count"]]
    if not ops:
        return None
    scale, unit = duration_unit(max(summary["latency"][op]["mean_us"] for op in ops))
    data: list[Figure] = []
    for part in parts.shown(summary):
        values = [summary["breakdown"][op][part["figure"]] or 0.0 for op in ops]
        means = [summary["latency"][op]["mean_us"] for op in ops]
        shares = [value / mean if mean else 0.0 for value, mean in zip(values, means, strict=True)]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": part["name"],
                "y": ops,
                "x": [value / scale for value in values],
                "marker": {"color": part["colour"]},
                "customdata": [
                    [duration(value), percent(share)]
                    for value, share in zip(values, shares, strict=True)
                ],
                "hovertemplate": "%{y}: %{customdata[0]}, %{customdata[1]} of the mean",
            }
        )
    return figure(
        data,
        height=150 + 62 * len(ops),
        hovermode="closest",
        barmode="stack",
        bargap=0.35,
        xaxis={"title": {"text": f"mean latency ({unit})"}, **LINEAR},
        yaxis={"type": "category", "ticklabelstandoff": 6},
        legend=legend(traceorder="normal"),
    )


def _curve(latency: pl.DataFrame, summary: Mapping[str, Any], op: str) -> list[tuple[float, float]]:
    """Returns points (latency in µs, share of requests at or below it), ascending in both: (min,
    0), then the exact points of the table. Between two points the share is that of the first, or
    exceeds it by at most the requests that the second point adds."""
    told = summary["latency"][op]
    if not told["count"]:
        return []
    rows = latency.filter(pl.col("op") == op).select("latency_us", "fraction_below").rows()
    points = cast("list[tuple[float, float]]", rows)
    return [(exact(told["min_us"]), 0.0)] + [
        (exact(us), float(f"{share:.9g}")) for us, share in points
    ]
