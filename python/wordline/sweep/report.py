"""The report of a sweep: which key matters, curves, heat maps, the Pareto front."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

import wordline
from wordline import pages, statistics, units
from wordline.plotly import EACH, HEAT, NEUTRAL, Figure, figure
from wordline.sweep.effects import Effect, Effects, Word, pareto
from wordline.sweep.table import keys_of

if TYPE_CHECKING:
    import polars

# Of interest first; others follow in their order.
FIRST = (
    "latency.read.p99_us", "latency.write.p99_us", "latency.all.mean_us", "throughput.iops",
    "flash.write_amplification", "flash.erases", "latency.all.p99_us", "time.simulated_s",
)  # fmt: skip
MOST_FIGURES = 6
MOST_PAIRS = 6
LARGER_IS_BETTER = ("throughput.", "ratio", "fairness", "hits")
SAID = {True: "beyond noise", False: "within noise", None: "no repeated seeds: unknown"}


def render(frame: polars.DataFrame) -> str:
    """The page as HTML."""
    effects = Effects(frame)
    figures = chosen(effects.figures)
    found = [effects.effect(key, one) for one in figures for key in effects.keys]
    charts: dict[str, Figure] = {}
    if found:
        charts["shares"] = shares(effects, figures)
        for place, key in enumerate(effects.keys):
            charts[f"curve-{place}"] = curve([one for one in found if one.key == key])
        for place, pair in enumerate(list(combinations(effects.keys, 2))[:MOST_PAIRS]):
            charts[f"heat-{place}"] = heat_map(effects, pair, figures)
    if len(figures) > 1:
        charts["pareto"] = fronts(effects, figures)
    return pages.render(
        "templates",
        "sweep.html.jinja",
        charts,
        charts=charts,
        effects=effects,
        failed=frame.filter(frame["status"] == "failed"),
        figures=figures,
        found=sorted(found, key=lambda one: one.share or 0, reverse=True),
        height=frame.height,
        keys=keys_of(frame),
        pairs=list(combinations(effects.keys, 2))[:MOST_PAIRS],
        said=SAID,
        units=units,
        version=wordline.__version__,
    )


def chosen(figures: Sequence[str]) -> list[str]:
    """The figures that the page shows."""
    first = [name for name in FIRST if name in figures]
    return [*first, *(name for name in figures if name not in first)][:MOST_FIGURES]


def shares(effects: Effects, figures: Sequence[str]) -> Figure:
    """For each figure a bar of the shares of its variance: keys by themselves, noise, the rest."""
    rows: dict[str, list[float]] = {key: [] for key in effects.keys}
    rows |= {"noise (seeds)": [], "keys together": []}
    for one in figures:
        own = [effects.effect(key, one).share or 0.0 for key in effects.keys]
        noise = effects.noise(one)
        of_noise = (noise.share if noise else 0.0) or 0.0
        for key, share in zip(effects.keys, own, strict=True):
            rows[key].append(share)
        rows["noise (seeds)"].append(of_noise)
        rows["keys together"].append(max(0.0, 1 - sum(own) - of_noise))
    colours = [
        *(EACH[place % len(EACH)] for place in range(len(effects.keys))),
        NEUTRAL,
        "#c9ced6",
    ]
    data: list[Figure] = [
        {
            "type": "bar", "orientation": "h", "name": name, "y": list(figures),
            "x": [float(f"{100 * share:.4g}") for share in own], "marker": {"color": colour},
            "hovertemplate": "%{x:.3g} % of the variance of %{y}",
        }
        for (name, own), colour in zip(rows.items(), colours, strict=True)
    ]  # fmt: skip
    return figure(
        data,
        height=130 + 34 * len(figures),
        barmode="stack",
        hovermode="closest",
        xaxis={"title": {"text": "share of the variance (%)"}, "range": [0, 101]},
        yaxis={"autorange": "reversed", "automargin": True},
    )


def curve(effects: Sequence[Effect]) -> Figure:
    """The mean of a figure by the values of a key; the figure is chosen in the chart."""
    values = [level.value for level in effects[0].levels]
    numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    data: list[Figure] = []
    for place, effect in enumerate(effects):
        data += _band(effect) if numeric else []
        data.append(_means(effect, numeric, EACH[place % len(EACH)]))
    each = len(data) // len(effects)
    for place, one in enumerate(data):
        one["visible"] = place < each
    axis: dict[str, Any] = {"title": {"text": effects[0].key}}
    return figure(
        data,
        height=400,
        hovermode="closest",
        showlegend=False,
        xaxis=axis if numeric else axis | {"type": "category"},
        yaxis={"title": {"text": effects[0].figure}, "exponentformat": "none"},
        updatemenus=_menu(
            [one.figure for one in effects],
            lambda place: [
                {"visible": [index // each == place for index in range(len(data))]},
                {"yaxis.title.text": effects[place].figure},
            ],
        ),
    )


def _means(effect: Effect, numeric: bool, colour: str) -> Figure:
    widths = [level.half_width for level in effect.levels]
    bars = {"type": "data", "array": [width or 0 for width in widths], "thickness": 1.2,
            "color": NEUTRAL}  # fmt: skip
    drawn: Figure = {
        "name": effect.figure,
        "x": [level.value if numeric else str(level.value) for level in effect.levels],
        "y": [float(f"{level.mean:.6g}") for level in effect.levels],
        "hovertemplate": "%{y:.4g} at %{x}",
        "error_y": bars if any(widths) and not numeric else {"visible": False},
    }
    if numeric:
        line = {"color": colour, "width": 1.8}
        return drawn | {"type": "scatter", "mode": "lines+markers", "line": line}
    return drawn | {"type": "bar", "marker": {"color": colour}, "width": 0.55}


def _band(effect: Effect) -> list[Figure]:
    ends = [(level.value, level.mean, level.half_width or 0.0) for level in effect.levels]
    return [
        {
            "type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip",
            "x": [x for x, _, _ in ends] + [x for x, _, _ in reversed(ends)],
            "y": [y - w for _, y, w in ends] + [y + w for _, y, w in reversed(ends)],
            "fill": "toself", "fillcolor": "#8b929c33", "showlegend": False,
        }
    ]  # fmt: skip


def heat_map(effects: Effects, pair: tuple[str, str], figures: Sequence[str]) -> Figure:
    """The mean of a figure by the values of two keys; the figure is chosen in the chart."""
    across, down = pair
    grids = [_grid(effects, one, pair) for one in figures]
    x, y, _ = grids[0]
    data: list[Figure] = [
        {
            "type": "heatmap", "x": x, "y": y, "z": grid, "colorscale": HEAT, "visible": place == 0,
            "hovertemplate": "%{z:.4g} at %{x}, %{y}<extra></extra>", "hoverongaps": False,
            "colorbar": {"thickness": 12, "outlinewidth": 0},
        }
        for place, (_, _, grid) in enumerate(grids)
    ]  # fmt: skip
    return figure(
        data,
        height=max(300, 150 + 30 * len(y)),
        hovermode="closest",
        showlegend=False,
        xaxis={"title": {"text": across}, "type": "category", "showgrid": False},
        yaxis={"title": {"text": down}, "type": "category", "showgrid": False},
        updatemenus=_menu(
            list(figures),
            lambda place: [{"visible": [index == place for index in range(len(data))]}],
        ),
    )


def _grid(
    effects: Effects, name: str, pair: tuple[str, str]
) -> tuple[list[str], list[str], list[list[float | None]]]:
    cells = effects.cells(name, pair)
    x: list[Word] = list(dict.fromkeys(one for one, _ in cells))
    y: list[Word] = list(dict.fromkeys(other for _, other in cells))
    grid = [
        [float(f"{statistics.mean(own):.6g}") if (own := cells.get((one, other))) else None
         for one in x]
        for other in y
    ]  # fmt: skip
    return [str(one) for one in x], [str(other) for other in y], grid


def fronts(effects: Effects, figures: Sequence[str]) -> Figure:
    """All points by two figures, which are chosen in the chart, and their Pareto front."""
    data: list[Figure] = []
    pairs = list(combinations(figures, 2))
    for place, pair in enumerate(pairs):
        data += [one | {"visible": place == 0} for one in _front(effects, pair)]
    return figure(
        data,
        height=460,
        hovermode="closest",
        xaxis={"title": {"text": _axis(pairs[0][0])}, "exponentformat": "none"},
        yaxis={"title": {"text": _axis(pairs[0][1])}, "exponentformat": "none"},
        updatemenus=_menu(
            [f"{one} and {other}" for one, other in pairs],
            lambda place: [
                {"visible": [index // 2 == place for index in range(len(data))]},
                {
                    "xaxis.title.text": _axis(pairs[place][0]),
                    "yaxis.title.text": _axis(pairs[place][1]),
                },
            ],
        ),
    )


def is_larger_better(name: str) -> bool:
    """Whether more of a figure is better."""
    return any(word in name for word in LARGER_IS_BETTER)


def _axis(name: str) -> str:
    return f"{name} ({'larger' if is_larger_better(name) else 'smaller'} is better)"


def _front(effects: Effects, pair: tuple[str, str]) -> list[Figure]:
    columns = [*effects.keys, *pair]
    cells: dict[tuple[Word, ...], list[tuple[float, float]]] = {}
    for row in effects.frame.select(columns).iter_rows():
        if None not in row[-2:]:
            cells.setdefault(row[:-2], []).append((row[-2], row[-1]))
    points = [
        (statistics.mean([x for x, _ in own]), statistics.mean([y for _, y in own]))
        for own in cells.values()
    ]
    told = [
        "<br>".join(f"{key} = {value}" for key, value in zip(effects.keys, values, strict=True))
        for values in cells
    ]
    front = pareto(points, (is_larger_better(pair[0]), is_larger_better(pair[1])))
    return [
        {
            "type": "scatter", "mode": "markers", "name": "combinations",
            "x": [float(f"{x:.6g}") for x, _ in points],
            "y": [float(f"{y:.6g}") for _, y in points],
            "text": told,
            "marker": {"color": EACH[0], "size": 6, "opacity": 0.6},
            "hovertemplate": "%{text}<br>%{x:.4g}, %{y:.4g}<extra></extra>",
        },
        {
            "type": "scatter", "mode": "lines+markers", "name": "Pareto front",
            "x": [float(f"{points[one][0]:.6g}") for one in front],
            "y": [float(f"{points[one][1]:.6g}") for one in front],
            "text": [told[one] for one in front],
            "line": {"color": EACH[1], "width": 1.6}, "marker": {"color": EACH[1], "size": 8},
            "hovertemplate": "%{text}<br>%{x:.4g}, %{y:.4g}<extra></extra>",
        },
    ]  # fmt: skip


def _menu(names: Sequence[str], change: Callable[[int], list[Any]]) -> list[Figure]:
    """A list to choose from, above the chart on the right; none for a single choice."""
    if len(names) < 2:
        return []
    buttons = [
        {"label": name, "method": "update", "args": change(place)}
        for place, name in enumerate(names)
    ]
    place = {"x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom", "pad": {"b": 4}}
    return [{"buttons": buttons, "showactive": True, "font": {"size": 12}, **place}]


def notebook_html(frame: polars.DataFrame, most: int = 30) -> str:
    """The keys and some figures of each point, as the table of a notebook."""
    columns = [*keys_of(frame), "status", *chosen(Effects(frame).figures)]
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>"
        for row in frame.select(columns).head(most).iter_rows()
    )
    return (
        f"<table><caption>{frame.height} points</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _cell(value: object) -> str:
    return units.number(value) if isinstance(value, float) else str(value)
