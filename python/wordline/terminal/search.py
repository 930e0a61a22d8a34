"""A search on the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, SpinnerColumn, TextColumn

from wordline.terminal.console import print_figures
from wordline.terminal.progress import ProgressBar
from wordline.terminal.sweep import value_text
from wordline.units import number

if TYPE_CHECKING:
    from wordline.search import Search, State

MOST_ROWS = 20


class Line(ProgressBar):
    """Of a search: trials ended, the best value."""

    def __init__(self) -> None:
        super().__init__(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            fraction=None,
        )

    def show(self, state: State) -> None:
        """Draws how far a search is."""
        best = "" if state.best is None else f", best {number(state.best)}"
        self._fill(state.done / state.total, f"{state.done} of {state.total} trials{best}")


def print_search(search: Search, place: str) -> None:
    """Prints what was found, and where the rest is."""
    table = search.table()
    best = table.filter(table["best"]).sort([str(one) for one in search.plan.objectives])
    names = [str(one) for one in search.plan.objectives]
    if best.height:
        shown = best.to_dicts()[: 1 if len(names) == 1 else MOST_ROWS]
        keys = list(search.plan.vary)
        titles = [key.rsplit(".", 1)[-1] for key in keys] + names
        print_figures(titles, (_cells(row, keys, names) for row in shown), spare=len(names) - 1)
        if best.height > len(shown) > 1:
            print(f"and {best.height - len(shown)} more of the Pareto front")
    else:
        complete = (table["state"] == "complete").any()
        print("No trial meets the bounds." if complete else "No trial is complete.")
    _print_faults(table["error"].drop_nulls().to_list(), table.height)
    found = f"; {Path(place, 'best.toml')} is the device" if best.height else ""
    print(f"{table.height} trials{found}; {Path(place, 'report.html')} shows them")


def _print_faults(faults: Sequence[str], trials: int) -> None:
    if faults:
        told = dict.fromkeys(faults)
        more = f"; and {len(told) - 1} other reasons" if len(told) > 1 else ""
        print(f"{len(faults)} of {trials} trials failed: {faults[0]}{more}")


def _cells(row: dict[str, Any], keys: list[str], names: list[str]) -> list[str]:
    return [value_text(row[key]) for key in keys] + [number(row[name]) for name in names]
