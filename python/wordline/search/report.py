"""The report of a search: how it went, what it found, which key mattered."""

from __future__ import annotations

import warnings
from html import escape
from typing import TYPE_CHECKING, Any

import wordline
from wordline import pages, units
from wordline.plotly import EACH, NEUTRAL, Figure, figure

if TYPE_CHECKING:
    from wordline.search import Search


def render(search: Search) -> str:
    """The page as HTML."""
    table = search.table()
    names = [str(one) for one in search.plan.objectives]
    charts: dict[str, Figure] = {}
    done = table.filter(table["state"] == "complete")
    if done.height:
        charts |= {f"history-{place}": history(search, place) for place in range(len(names))}
        if len(names) == 2:
            charts["front"] = front(search)
        for place, key in enumerate(search.plan.vary):
            charts[f"key-{place}"] = by_key(search, key)
    best = table.filter(table["best"]).sort(names, maintain_order=True)
    return pages.render(
        "templates",
        "search.html.jinja",
        charts,
        charts=charts,
        best=best.to_dicts() if len(names) > 1 else best.head(1).to_dicts(),
        counts={
            state: int((table["state"] == state).sum()) for state in ("complete", "pruned", "fail")
        },
        faults=table["error"].drop_nulls().unique(maintain_order=True).to_list()
        if table.height
        else [],
        importances=importances(search),
        keys=list(search.plan.vary),
        names=names,
        plan=search.plan,
        units=units,
        version=wordline.__version__,
    )


def history(search: Search, place: int) -> Figure:
    """An objective of each trial in turn; those that break a bound are grey."""
    one = search.plan.objectives[place]
    rows = [row for row in search.table().to_dicts() if row["state"] == "complete"]
    good = [row for row in rows if row["feasible"]]
    other = [row for row in rows if not row["feasible"]]
    data: list[Figure] = [
        _dots("meets the bounds", EACH[0], good, "trial", str(one)),
        _dots("breaks a bound", NEUTRAL, other, "trial", str(one)),
    ]
    best: list[float] = []
    for row in good:
        better = max if one.maximise else min
        best.append(better(best[-1], row[str(one)]) if best else row[str(one)])
    if len(search.plan.objectives) == 1 and good:
        line = {"color": EACH[1], "width": 1.8, "shape": "hv"}
        data.append(
            {"type": "scatter", "mode": "lines", "name": "best so far", "line": line,
             "x": [row["trial"] for row in good], "y": best}
        )  # fmt: skip
    return figure(
        data, height=380, hovermode="closest", xaxis={"title": {"text": "trial"}},
        yaxis={"title": {"text": one.name}, "exponentformat": "none"},
    )  # fmt: skip


def front(search: Search) -> Figure:
    """The two objectives of all trials, and the Pareto front."""
    first, second = search.plan.objectives
    rows = [row for row in search.table().to_dicts() if row["state"] == "complete"]
    best = sorted((row for row in rows if row["best"]), key=lambda row: row[str(first)])
    good = [row for row in rows if row["feasible"]]
    other = [row for row in rows if not row["feasible"]]
    line = _dots("Pareto front", EACH[1], best, str(first), str(second))
    return figure(
        [
            _dots("meets the bounds", EACH[0], good, str(first), str(second)),
            _dots("breaks a bound", NEUTRAL, other, str(first), str(second)),
            line | {"mode": "lines+markers", "line": {"color": EACH[1], "width": 1.6}},
        ],
        height=440, hovermode="closest",
        xaxis={"title": {"text": str(first)}, "exponentformat": "none"},
        yaxis={"title": {"text": str(second)}, "exponentformat": "none"},
    )  # fmt: skip


def by_key(search: Search, key: str) -> Figure:
    """The first objective of each trial by the value of a key."""
    one = search.plan.objectives[0]
    rows = [row for row in search.table().to_dicts() if row["state"] == "complete"]
    good = [row for row in rows if row["feasible"]]
    other = [row for row in rows if not row["feasible"]]
    groups = (("meets the bounds", EACH[0], good), ("breaks a bound", NEUTRAL, other))
    return figure(
        [
            _dots(name, colour, own, key, str(one)) for name, colour, own in groups
        ],
        height=320, hovermode="closest", xaxis={"title": {"text": key}},
        yaxis={"title": {"text": one.name}, "exponentformat": "none"},
    )  # fmt: skip


def importances(search: Search) -> dict[str, float]:
    """The share of each key in what made trials good (PED-ANOVA of the first objective); empty if
    there are too few trials to say."""
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
    """The trials, the best first, as the table of a notebook."""
    table = search.table().sort("best", descending=True, maintain_order=True).head(most)
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(str(value))}</td>" for value in row) + "</tr>"
        for row in table.iter_rows()
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _dots(name: str, colour: str, rows: list[dict[str, Any]], x: str, y: str) -> Figure:
    return {
        "type": "scatter", "mode": "markers", "name": name, "marker": {"color": colour, "size": 6},
        "x": [row[x] for row in rows], "y": [row[y] for row in rows],
        "text": [f"trial {row['trial']}" for row in rows],
        "hovertemplate": "%{text}: %{y:.5g} at %{x}<extra></extra>",
    }  # fmt: skip
