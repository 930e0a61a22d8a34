"""Report of a search: best configurations, progress, and importance of the keys."""

from __future__ import annotations

import warnings
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from wordline._internal import own_version
from wordline._render import html, units
from wordline._render.metric import key_name, metric, value_text
from wordline._render.plotly import EACH, NEUTRAL, Figure, choices, figure, upright
from wordline._render.search_text import axis_of, goal_of, limit_of, limits_of, name_of, text_of

if TYPE_CHECKING:
    from wordline._search import Search
    from wordline._search.plan import Plan

Rows: TypeAlias = "list[dict[str, Any]]"
LIMIT = "#c0392b"
MOST_ROWS = 1000


def render(search: Search) -> str:
    """Returns the page as HTML."""
    plan, table = search.plan, search.table()
    names = [str(one) for one in plan.objectives]
    rows = table.to_dicts()
    done = [row for row in rows if row["state"] == "complete"]
    charts = _charts(search, done) if done else {}
    best = table.filter(table["best"]).sort(names, maintain_order=True)
    return html.render(
        "wordline._render.templates",
        "search.html.jinja",
        charts,
        charts=charts,
        best=best.to_dicts() if len(names) > 1 else best.head(1).to_dicts(),
        bounds=[f"{name_of(plan, one.name)} {limit_of(plan, one)}" for one in plan.bounds],
        columns=[(column, name) for column, name in columns(plan).items()],
        counts={
            state: int((table["state"] == state).sum()) for state in ("complete", "pruned", "fail")
        },
        faults=table["error"].drop_nulls().unique(maintain_order=True).to_list()
        if table.height
        else [],
        goals=[goal_of(plan, one) for one in plan.objectives],
        importances=importances(search),
        key_name=key_name,
        keys=list(plan.vary),
        limits_of=limits_of,
        metric=metric,
        name_of=name_of,
        plan=plan,
        rows=rows[:MOST_ROWS],
        text_of=text_of,
        trace=Path(plan.trace[0]).name if plan.trace else "the load of the device",
        units=units,
        value_text=value_text,
        version=own_version.installed(),
    )


def columns(plan: Plan) -> dict[str, str]:
    """Returns the columns of the table that are metrics of a run, each with its metric or key:
    objectives that are not varied keys, and bounded metrics."""
    found = {str(one): one.name for one in plan.objectives if one.name not in plan.vary}
    own = set(found.values())
    return found | {name: name for name in plan.bounded() if name not in own}


def _charts(search: Search, done: Rows) -> dict[str, Figure]:
    plan = search.plan
    seen = {name_of(plan, one.name): (str(one), one.name) for one in plan.objectives}
    seen |= {name_of(plan, name): (name, name) for name in plan.bounded()}
    charts = {
        "history": choices(
            {title: history(search, done, *own) for title, own in seen.items()}, "Value:"
        )
    }
    if len(plan.objectives) == 2:
        charts["front"] = front(search, done)
    for place, name in enumerate(plan.bounded()):
        charts[f"bound-{place}"] = against(search, done, name)
    for place, key in enumerate(plan.vary):
        drawn = {
            title: by_key(search, done, key, *own) for title, own in seen.items() if own[1] != key
        }
        if drawn:
            charts[f"key-{place}"] = choices(drawn, "Value:")
    return charts


def history(search: Search, done: Rows, column: str, name: str) -> Figure:
    """Draws an objective or bounded metric over the trials. Trials that violate a bound are
    grey."""
    plan = search.plan
    good = [row for row in done if row["feasible"]]
    scale, title = axis_of(plan, name, (row[column] for row in done))
    data = _groups(plan, done, "trial", (column, name, scale))
    aim = next((one for one in plan.objectives if str(one) == column), None)
    if aim and len(plan.objectives) == 1 and good:
        best: list[float] = []
        for row in good:
            better = max if aim.maximise else min
            best.append(better(best[-1], row[column]) if best else row[column])
        line = {"color": EACH[1], "width": 1.8, "shape": "hv"}
        data.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": "best so far",
                "line": line,
                "x": [row["trial"] for row in good],
                "y": [_short(value / scale) for value in best],
                "hoverinfo": "skip",
            }
        )
    return figure(
        data,
        height=380,
        hovermode="closest",
        xaxis={"title": {"text": "trial"}},
        yaxis=_axis(plan, done, (column, name, scale), title),
        shapes=_limits(plan, name, scale),
    )


def against(search: Search, done: Rows, name: str) -> Figure:
    """Draws a bounded metric against the first objective, with a line at each limit of the
    metric."""
    plan = search.plan
    first = plan.objectives[0]
    across, x_title = axis_of(plan, first.name, (row[str(first)] for row in done))
    scale, title = axis_of(plan, name, (row[name] for row in done if row[name] is not None))
    data = _groups(plan, done, str(first), (name, name, scale), across)
    best = [row for row in done if row["best"]]
    data.append(
        _dots("best", EACH[1], best, str(first), (name, name, scale), plan, across)
        | {"marker": {"color": EACH[1], "size": 12, "symbol": "diamond"}}
    )
    return figure(
        data,
        height=400,
        hovermode="closest",
        xaxis={"title": {"text": x_title}, "exponentformat": "none"},
        yaxis=_axis(plan, done, (name, name, scale), title),
        shapes=_limits(plan, name, scale),
    )


def front(search: Search, done: Rows) -> Figure:
    """Draws the two objectives of all trials, and the Pareto front."""
    plan = search.plan
    first, second = plan.objectives
    best = sorted((row for row in done if row["best"]), key=lambda row: row[str(first)])
    across, x_title = axis_of(plan, first.name, (row[str(first)] for row in done))
    scale, y_title = axis_of(plan, second.name, (row[str(second)] for row in done))
    up = (str(second), second.name, scale)
    line = _dots("Pareto front", EACH[1], best, str(first), up, plan, across)
    return figure(
        [
            *_groups(plan, done, str(first), up, across),
            line | {"mode": "lines+markers", "line": {"color": EACH[1], "width": 1.6}},
        ],
        height=440,
        hovermode="closest",
        xaxis={"title": {"text": x_title}, "exponentformat": "none"},
        yaxis={"title": {"text": y_title}, "exponentformat": "none"},
    )


def by_key(search: Search, done: Rows, key: str, column: str, name: str) -> Figure:
    """Draws an objective or bounded metric of each trial over the value of a key."""
    plan = search.plan
    scale, title = axis_of(plan, name, (row[column] for row in done))
    return figure(
        _groups(plan, done, key, (column, name, scale)),
        height=320,
        hovermode="closest",
        xaxis={"title": {"text": key_name(key)}},
        yaxis=_axis(plan, done, (column, name, scale), title),
        shapes=_limits(plan, name, scale),
    )


def importances(search: Search) -> dict[str, float]:
    """Returns the importance of each key for good trials (PED-ANOVA of the first objective). Empty
    if there are too few trials."""
    import optuna
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    many = len(search.plan.objectives) > 1
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = get_param_importances(
                search.study,
                evaluator=PedAnovaImportanceEvaluator(),
                target=(lambda trial: trial.values[0]) if many else None,
            )
        except (ValueError, RuntimeError, ImportError):
            return {}
    return {key: float(value) for key, value in found.items()}


def table_html(search: Search, most: int = 30) -> str:
    """Returns the trials as a notebook table, the best first."""
    table = search.table().sort("best", descending=True, maintain_order=True).head(most)
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>"
        for row in table.iter_rows()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _limits(plan: Plan, name: str, scale: float) -> list[Figure]:
    """Draws a horizontal line at each limit of a metric."""
    return [
        {
            "type": "line",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": one.limit / scale,
            "y1": one.limit / scale,
            "line": {"color": LIMIT, "width": 1.4, "dash": "dash"},
            "label": {
                "text": f"limit {limit_of(plan, one)}",
                "textposition": "end",
                "font": {"size": 11},
            },
        }
        for one in plan.bounds
        if one.name == name
    ]


def _axis(plan: Plan, done: Rows, y: tuple[str, str, float], title: str) -> Figure:
    """Returns the vertical axis of a column, wide enough for its limits. The axis of a varied key
    covers its values."""
    column, of, scale = y
    if of in plan.vary:
        return {"title": {"text": title}, "exponentformat": "none"}
    values = [row[column] for row in done if row[column] is not None]
    values += [one.limit for one in plan.bounds if one.name == of]
    return upright(title, [(value / scale, value / scale) for value in values])


def _groups(
    plan: Plan, done: Rows, x: str, y: tuple[str, str, float], across: float = 1.0
) -> list[Figure]:
    """Draws the trials that meet the bounds, and those that violate a bound, as dots."""
    good = [row for row in done if row["feasible"]]
    if not plan.bounds:
        return [_dots("trials", EACH[0], good, x, y, plan, across)]
    other = [row for row in done if not row["feasible"]]
    return [
        _dots("meets the bounds", EACH[0], good, x, y, plan, across),
        _dots("violates a bound", NEUTRAL, other, x, y, plan, across),
    ]


def _dots(
    name: str,
    colour: str,
    rows: Rows,
    x: str,
    y: tuple[str, str, float],
    plan: Plan,
    across: float = 1.0,
) -> Figure:
    """Draws trials as dots. `y` is a column, its metric or key, and its scale."""
    column, of, scale = y
    kept = [row for row in rows if row[column] is not None]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "marker": {"color": colour, "size": 6},
        "x": [_short(row[x] / across) if isinstance(row[x], float) else row[x] for row in kept],
        "y": [_short(row[column] / scale) for row in kept],
        "text": [f"trial {row['trial']}: {text_of(plan, of, row[column])}" for row in kept],
        "hovertemplate": "%{text} at %{x}<extra></extra>",
    }


def _short(value: float) -> float:
    return float(f"{value:.6g}")
