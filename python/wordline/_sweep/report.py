"""Report of a sweep: runs, all combinations with intervals, effects of the keys, heat maps, Pareto
front."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from html import escape
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline._internal import own_version, statistics
from wordline._render import html, units
from wordline._render.metric import Metric, key_name, metric, value_text
from wordline._render.plotly import (
    DASHES,
    EACH,
    HEAT,
    LINEAR,
    NEUTRAL,
    Figure,
    at_values,
    choices,
    figure,
    legend,
    upright,
)
from wordline._sweep.effects import Effects, Word, pareto
from wordline._sweep.table import keys_of

if TYPE_CHECKING:
    import polars

    from wordline._sweep.plan import Plan

# Metrics that are shown first; others follow in their own order.
FIRST = (
    "latency.read.p99_us",
    "latency.write.p99_us",
    "latency.all.mean_us",
    "throughput.iops",
    "flash.write_amplification",
    "flash.erases",
    "latency.all.p99_us",
    "time.simulated_s",
)
MOST_FIGURES = 6
MOST_PAIRS = 6
MOST_LINES = 12
MOST_ROWS, OPEN_ROWS = 1000, 30
"""Maximum number of combinations in the table, and number of those that are visible before the
table is unfolded."""
SAID = {True: "beyond noise", False: "within noise", None: "no repeated seeds: unknown"}


def render(frame: polars.DataFrame, plan: Plan | None = None, written: date | None = None) -> str:
    """Returns the page as HTML. `written` is the date of the points."""
    effects = Effects(frame)
    shown = [metric(one) for one in chosen(effects.figures)]
    found = [effects.effect(key, one.path) for one in shown for key in effects.keys]
    pairs = list(combinations(effects.keys, 2))[:MOST_PAIRS]
    charts: dict[str, Figure] = {}
    if found:
        drawn = {one.name: lines(effects, one) for one in shown}
        charts["lines"] = choices(drawn, "Metric:")
        charts["shares"] = shares(effects, shown)
        for place, pair in enumerate(pairs):
            maps = {one.name: heat_map(effects, pair, one) for one in shown}
            charts[f"heat-{place}"] = choices(maps, "Metric:")
    directed = [one for one in shown if one.better]
    if len(directed) > 1 and found:
        fronts = {
            f"{x.name} and {y.name}": front(effects, x, y) for x, y in combinations(directed, 2)
        }
        charts["pareto"] = choices(fronts, "Metrics:")
    rows = table(effects, shown)
    return html.render(
        "wordline._render.templates",
        "sweep.html.jinja",
        charts,
        charts=charts,
        effects=effects,
        facts=facts(frame, plan, effects),
        failed=frame.filter(frame["status"] == "failed"),
        found=sorted(found, key=lambda one: one.share or 0, reverse=True),
        heading=heading(frame, plan),
        key_name=key_name,
        averaged=", ".join(map(key_name, lines_of(effects)[2])),
        metric=metric,
        more=max(0, len(rows) - MOST_ROWS),
        open_rows=OPEN_ROWS,
        pairs=pairs,
        rows=rows[:MOST_ROWS],
        said=SAID,
        shown=shown,
        units=units,
        value_text=value_text,
        version=own_version.installed(),
        written=f"{written.day} {written:%B %Y}" if written else "",
    )


def chosen(figures: Sequence[str]) -> list[str]:
    """Returns the metrics that the page shows."""
    first = [name for name in FIRST if name in figures]
    return [*first, *(name for name in figures if name not in first)][:MOST_FIGURES]


def heading(frame: polars.DataFrame, plan: Plan | None) -> tuple[str, str]:
    """Returns the names of device and trace, or the number of each if there are several; empty if
    the plan is unknown."""
    if plan is None:
        return "", ""
    own = {"device": plan.device, "trace": plan.trace}
    texts: list[str] = []
    for key, value in own.items():
        seen = (
            frame[key].drop_nulls().unique(maintain_order=True).to_list()
            if (key in keys_of(frame))
            else value
        )
        several = seen if isinstance(seen, list) else [seen]
        names = [Path(one).name for one in several if one]
        texts.append(names[0] if len(names) == 1 else f"{len(names)} {key}s" if names else "")
    return texts[0], texts[1] or "the load of the device"


def facts(
    frame: polars.DataFrame, plan: Plan | None, effects: Effects
) -> list[tuple[str, str, str]]:
    """Returns the settings of the sweep as name, key and value. Varied keys come first."""
    found = [
        (key_name(key), key, value_text(_values(frame, key)))
        for key in keys_of(frame)
        if key != "seed"
    ]
    seeds = _values(frame, "seed") if "seed" in frame.columns else []
    if plan is not None:
        fixed = {"device": plan.device, "trace": plan.trace or "the load of the device"}
        found += [
            (key, "", value_text(value)) for key, value in fixed.items() if key not in frame.columns
        ]
        found += [(key_name(key), key, value_text(value)) for key, value in plan.set.items()]
        found += [
            (key_name(key), f"--{key.replace('_', '-')}", value_text(value))
            for key, value in plan.options.items()
        ]
        seeds = seeds or (plan.seeds if isinstance(plan.seeds, list) else [1])
    if seeds:
        found.append(("seeds", "", value_text(seeds)))
    count = len(effects.cells("point", effects.keys)) if effects.keys else 1
    return [*found, ("combinations", "", units.whole(count))]


def _values(frame: polars.DataFrame, key: str) -> list[Any]:
    return frame[key].drop_nulls().unique(maintain_order=True).to_list()


def table(effects: Effects, shown: Sequence[Metric]) -> list[dict[str, Any]]:
    """Returns one row per combination: the values of its keys, its number of seeds, and each metric
    with the 95 % confidence interval over its seeds."""
    columns = {one.path: effects.cells(one.path, effects.keys) for one in shown}
    counts = effects.cells("point", effects.keys)
    return [
        {
            "keys": [value_text(value) for value in values],
            "seeds": len(own),
            "cells": [_cell_of(one, columns[one.path].get(values, [])) for one in shown],
        }
        for values, own in counts.items()
    ]


def _cell_of(one: Metric, values: Sequence[float]) -> str:
    if not values:
        return units.ABSENT
    found = statistics.interval(values)
    return one.text(found.mean, found.half_width)


def lines_of(effects: Effects) -> tuple[str, list[str], list[str]]:
    """Returns the roles of the keys in a line chart: the key along the axis, the keys that
    distinguish lines, and the keys whose values are averaged because there would be too many lines.
    The key along the axis is the numeric key with the most values, or the key with the most values
    if none is numeric."""
    counts = {key: effects.frame[key].n_unique() for key in effects.keys}
    if not counts:
        return "", [], []
    across = max(counts, key=lambda key: (_is_numeric(effects, key), counts[key]))
    apart: list[str] = []
    averaged: list[str] = []
    many = 1
    for key in (one for one in effects.keys if one != across):
        fits = many * counts[key] <= MOST_LINES or (not apart and counts[key] <= 2 * MOST_LINES)
        many *= counts[key] if fits else 1
        (apart if fits else averaged).append(key)
    return across, apart, averaged


def _is_numeric(effects: Effects, key: str) -> bool:
    return effects.frame[key].dtype.is_numeric()


def lines(effects: Effects, one: Metric) -> Figure:
    """Draws a metric over a key, with a line for each combination of the keys that distinguish
    lines, and the confidence interval over the seeds of each point."""
    across, apart, averaged = lines_of(effects)
    cells = effects.cells(one.path, [across, *apart, *averaged])
    points: dict[tuple[Word, ...], dict[Word, list[list[float]]]] = {}
    for (at, *values), own in cells.items():
        line = tuple(values[: len(apart)])
        points.setdefault(line, {}).setdefault(at, []).append(own)
    means = {
        line: {at: statistics.interval(*groups) for at, groups in own.items()}
        for line, own in points.items()
    }
    scale, title = one.axis(found.mean for own in means.values() for found in own.values())
    numeric = _is_numeric(effects, across)
    data: list[Figure] = []
    for place, (line, own) in enumerate(means.items()):
        at = _in_order(own, numeric)
        colour = EACH[place % len(EACH)]
        widths = [own[value].half_width for value in at]
        drawn: Figure = {
            "type": "scatter",
            "mode": "lines+markers" if numeric else "markers",
            "name": ", ".join(value_text(value) for value in line) or one.name,
            "x": at if numeric else [value_text(value) for value in at],
            "y": [_short(own[value].mean / scale) for value in at],
            "line": {
                "color": colour,
                "width": 1.8,
                "dash": DASHES[place // len(EACH) % len(DASHES)],
            },
            "marker": {"color": colour, "size": 6},
            "customdata": [one.text(own[value].mean, own[value].half_width) for value in at],
            "hovertemplate": "%{customdata}",
        }
        if any(width is not None for width in widths):
            bars = [_short((width or 0.0) / scale) for width in widths]
            drawn["error_y"] = {
                "type": "data",
                "array": bars,
                "thickness": 1.4,
                "width": 5,
                "color": colour,
            }
        data.append(drawn)
    values = _in_order({value for own in means.values() for value in own}, numeric)
    name = key_name(across)
    return figure(
        data,
        height=420 + 20 * (len(data) // 5),
        hovermode="x unified",
        # Markers are side by side, unless this would distort a numeric axis.
        scattermode="overlay" if numeric else "group",
        showlegend=bool(apart),
        legend=legend(title={"text": ", ".join(map(key_name, apart))}),
        xaxis=at_values(name, values, value_text)
        if numeric
        else {"title": {"text": name}, "type": "category"},
        yaxis=upright(
            title, [_ends(found, scale) for own in means.values() for found in own.values()]
        ),
    )


def _in_order(values: Iterable[Word], numeric: bool) -> list[Any]:
    """Returns the values of a key in axis order: numbers ascending, others in their original
    order."""
    listed: list[Any] = list(values)
    return sorted(listed) if numeric else listed


def _ends(found: statistics.Interval, scale: float) -> tuple[float, float]:
    """Returns the ends of an interval in the unit of a chart."""
    width = found.half_width or 0.0
    return (found.mean - width) / scale, (found.mean + width) / scale


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def shares(effects: Effects, shown: Sequence[Metric]) -> Figure:
    """Draws the shares of the variance of each metric that single keys, noise and interactions
    explain."""
    rows: dict[str, list[float]] = {key_name(key): [] for key in effects.keys}
    rows |= {"noise (seeds)": [], "interactions": []}
    for one in shown:
        own = [effects.effect(key, one.path).share or 0.0 for key in effects.keys]
        noise = effects.noise(one.path)
        of_noise = (noise.share if noise else 0.0) or 0.0
        for key, share in zip(effects.keys, own, strict=True):
            rows[key_name(key)].append(share)
        rows["noise (seeds)"].append(of_noise)
        rows["interactions"].append(max(0.0, 1 - sum(own) - of_noise))
    colours = [
        *(EACH[place % len(EACH)] for place in range(len(effects.keys))),
        NEUTRAL,
        "#c9ced6",
    ]
    names = [one.name for one in shown]
    data: list[Figure] = [
        {
            "type": "bar",
            "orientation": "h",
            "name": name,
            "y": names,
            "x": [float(f"{100 * share:.4g}") for share in own],
            "marker": {"color": colour},
            "hovertemplate": "%{x:.3g} % of the variance of %{y}",
        }
        for (name, own), colour in zip(rows.items(), colours, strict=True)
    ]
    return figure(
        data,
        height=130 + 34 * len(shown),
        barmode="stack",
        hovermode="closest",
        legend=legend(traceorder="normal"),
        xaxis={"title": {"text": "share of the variance (%)"}, "range": [0, 101]},
        yaxis={"autorange": "reversed", "automargin": True, "ticklabelstandoff": 6},
    )


def heat_map(effects: Effects, pair: tuple[str, str], one: Metric) -> Figure:
    """Draws the mean of a metric by the values of two keys."""
    across, down = pair
    x, y, grid = _grid(effects, one.path, pair)
    scale, title = one.axis(value for row in grid for value in row)
    data: list[Figure] = [
        {
            "type": "heatmap",
            "x": x,
            "y": y,
            "colorscale": HEAT,
            "z": [
                [None if value is None else _short(value / scale) for value in row] for row in grid
            ],
            "hovertemplate": "%{z:.4g} at %{x}, %{y}<extra></extra>",
            "hoverongaps": False,
            "colorbar": {
                "thickness": 12,
                "outlinewidth": 0,
                "title": {"text": title, "side": "right"},
            },
        }
    ]
    return figure(
        data,
        height=max(260, 130 + 30 * len(y)),
        hovermode="closest",
        showlegend=False,
        xaxis={"title": {"text": key_name(across)}, "type": "category", "showgrid": False},
        yaxis={"title": {"text": key_name(down)}, "type": "category", "showgrid": False},
    )


def _grid(
    effects: Effects, name: str, pair: tuple[str, str]
) -> tuple[list[str], list[str], list[list[float | None]]]:
    cells = effects.cells(name, pair)
    x: list[Word] = list(dict.fromkeys(one for one, _ in cells))
    y: list[Word] = list(dict.fromkeys(other for _, other in cells))
    grid = [
        [statistics.mean(own) if (own := cells.get((one, other))) else None for one in x]
        for other in y
    ]
    return [value_text(one) for one in x], [value_text(other) for other in y], grid


def front(effects: Effects, across: Metric, up: Metric) -> Figure:
    """Draws all combinations by two metrics, and their Pareto front."""
    columns = [*effects.keys, across.path, up.path]
    cells: dict[tuple[Word, ...], list[tuple[float, float]]] = {}
    for row in effects.frame.select(columns).iter_rows():
        if None not in row[-2:]:
            cells.setdefault(row[:-2], []).append((row[-2], row[-1]))
    points = [
        (statistics.mean([x for x, _ in own]), statistics.mean([y for _, y in own]))
        for own in cells.values()
    ]
    texts = [
        "<br>".join(
            f"{key_name(key)}: {value_text(value)}"
            for key, value in zip(effects.keys, values, strict=True)
        )
        + f"<br>{across.name}: {across.text(x)}<br>{up.name}: {up.text(y)}"
        for values, (x, y) in zip(cells, points, strict=True)
    ]
    best = pareto(points, (across.better == "higher", up.better == "higher"))
    (x_scale, x_title), (y_scale, y_title) = (
        one.axis(point[place] for point in points) for place, one in enumerate((across, up))
    )

    def drawn(name: str, colour: str, places: Sequence[int], **more: Any) -> Figure:
        return {
            "type": "scatter",
            "name": name,
            "x": [_short(points[place][0] / x_scale) for place in places],
            "y": [_short(points[place][1] / y_scale) for place in places],
            "text": [texts[place] for place in places],
            "marker": {"color": colour, "size": 8},
            "hovertemplate": "%{text}<extra></extra>",
            **more,
        }

    return figure(
        [
            drawn("combinations", EACH[0], range(len(points)), mode="markers"),
            drawn(
                "Pareto front",
                EACH[1],
                best,
                mode="lines+markers",
                line={"color": EACH[1], "width": 1.6},
            ),
        ],
        height=440,
        hovermode="closest",
        xaxis={"title": {"text": f"{x_title}, {across.better} is better"}, **LINEAR},
        yaxis={"title": {"text": f"{y_title}, {up.better} is better"}, **LINEAR},
    )


def notebook_html(frame: polars.DataFrame, most: int = 30) -> str:
    """Returns the keys and some metrics of the first `most` points as a notebook table."""
    columns = [*keys_of(frame), "status", *chosen(Effects(frame).figures)]
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in frame.select(columns).head(most).iter_rows()
    )
    return (
        f"<table><caption>{units.many(frame.height, 'point')}</caption>"
        f"<thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _cell(value: object) -> str:
    return units.number(value) if isinstance(value, float) else str(value)
