"""Prints the results of the lab on the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wordline._render.terminal.console import print_rows

if TYPE_CHECKING:
    from wordline._lab.results import Lab


def print_lab(lab: Lab, place: str) -> None:
    """Prints the verdict of each experiment and the path of the report."""
    print_rows(
        ("experiment", "verdict"),
        [(one.name, lab[one.name].verdict) for one in lab.experiments],
    )
    if lab.bench.scale != 1:
        print(lab.bench.told_scale)
    print(f"{Path(place, 'report.html')} contains all results")
