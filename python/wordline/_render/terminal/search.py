"""Terminal output of a search."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, SpinnerColumn, TextColumn

from wordline._render.search_text import limits_of, name_of, text_of
from wordline._render.terminal.console import print_figures, print_rows
from wordline._render.terminal.progress import ProgressBar
from wordline._render.units import many, number, whole

if TYPE_CHECKING:
    from wordline._search import Search, State
    from wordline._search.plan import Plan

MOST_ROWS = 20


class Line(ProgressBar):
    """Progress of a search: completed trials, best value."""

    def __init__(self) -> None:
        super().__init__(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            fraction=None,
        )

    def show(self, state: State) -> None:
        """Draws the progress of a search."""
        best = "" if state.best is None else f", best {number(state.best)}"
        self._fill(state.done / state.total, f"{state.done} of {many(state.total, 'trial')}{best}")


def print_search(search: Search, place: str) -> None:
    """Prints the best trials and the paths of the other results."""
    plan, table = search.plan, search.table()
    best = table.filter(table["best"]).sort([str(one) for one in plan.objectives])
    if best.height and len(plan.objectives) == 1:
        _print_best(plan, best.to_dicts()[0])
    elif best.height:
        _print_front(plan, best.to_dicts()[:MOST_ROWS])
        if best.height > MOST_ROWS:
            print(f"and {best.height - MOST_ROWS} more trials on the Pareto front")
    else:
        complete = (table["state"] == "complete").any()
        print("No trial meets the bounds." if complete else "No trial is complete.")
    _print_faults(table["error"].drop_nulls().to_list(), table.height)
    found = f"; {Path(place, 'best.toml')} is the best device" if best.height else ""
    print(
        f"{many(table.height, 'trial')}{found}; {Path(place, 'report.html')} contains all results"
    )


def _print_best(plan: Plan, row: dict[str, Any]) -> None:
    """Prints a trial: objectives, bounded metrics and keys."""
    aims = {one.name: "maximised" if one.maximise else "minimised" for one in plan.objectives}
    columns = {one.name: str(one) for one in plan.objectives}
    columns |= {name: name for name in (*plan.bounded(), *plan.vary)}
    rows = [
        (
            name,
            text_of(plan, name, row[column]),
            ", ".join(
                filter(
                    None,
                    (aims.get(name), f"bound {limit}" if (limit := limits_of(plan, name)) else ""),
                )
            ),
        )
        for name, column in columns.items()
    ]
    print_rows((f"Best trial: {row['trial']}", "value", ""), rows)


def _print_front(plan: Plan, rows: Sequence[dict[str, Any]]) -> None:
    """Prints the trials of a Pareto front: objectives, bounded metrics, keys."""
    columns = {one.name: str(one) for one in plan.objectives}
    columns |= {name: name for name in (*plan.bounded(), *plan.vary)}
    titles = [f"{name_of(plan, name)} {limits_of(plan, name)}".rstrip() for name in columns]
    cells = ([text_of(plan, name, row[own]) for name, own in columns.items()] for row in rows)
    print_figures(titles, cells, spare=len(columns) - 2)


def _print_faults(faults: Sequence[str], trials: int) -> None:
    if faults:
        told = dict.fromkeys(faults)
        more = f"; and {many(len(told) - 1, 'other reason')}" if len(told) > 1 else ""
        print(f"{whole(len(faults))} of {many(trials, 'trial')} failed: {faults[0]}{more}")
