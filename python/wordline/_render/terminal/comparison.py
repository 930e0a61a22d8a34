"""Terminal output of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from wordline._render.comparison_page import (
    SAID,
    key_values,
    knows_noise,
    main,
    mean,
    per_cent,
    ranked,
    verdict,
)
from wordline._render.metric import metric
from wordline._render.terminal.console import print_figures, print_rows
from wordline._render.units import ABSENT, many

if TYPE_CHECKING:
    from wordline._api.comparison import Comparison, Line

MOST_ROWS = 30


def print_comparison(found: Comparison) -> None:
    """Prints the keys that differ, the main metrics that differ, and the metrics that differ
    most."""
    names = [side.name for side in found.sides]
    keys = found.configuration()
    if keys:
        print_rows(["key", *names], ([key, *key_values(key, own)] for key, own in keys.items()))
    lines = ranked(found)
    first = main(lines)
    shown = [*first, *(line for line in lines if line not in first)][:MOST_ROWS]
    for place in range(1, len(names)):
        _print_side(names[0], names[place], place, shown)
    equal = len(found.lines) - len(lines)
    more = f", {len(lines) - MOST_ROWS} of them not shown" if len(lines) > MOST_ROWS else ""
    print(f"{many(len(lines), 'metric')} changed{more}; {equal} unchanged")
    if not knows_noise(found):
        print("A single run gives no measure of noise; compare sweeps with --seeds.")
    versions = {side.version for side in found.sides}
    if len(versions) > 1:
        told = ", ".join(f"{side.name} {side.version}" for side in found.sides)
        print(f"The results come from different versions of Wordline: {told}")


def _print_side(first: str, name: str, place: int, lines: Sequence[Line]) -> None:
    """Prints the metrics of a side next to those of the first."""
    rows = [
        [
            metric(line.figure).name,
            mean(line, 0),
            mean(line, place),
            per_cent(line, place),
            _judged(line, place),
        ]
        for line in lines
    ]
    if rows:
        print_figures(["metric", first, name, "change", "verdict"], rows, spare=1)


def _judged(line: Line, place: int) -> str:
    """Returns better or worse if a direction is better; otherwise whether the difference exceeds
    noise, if that is known."""
    noise = line.exceeds_noise(place)
    return verdict(line, place) or (ABSENT if noise is None else SAID[noise])
