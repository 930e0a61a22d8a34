"""Results side by side on the terminal."""

from collections.abc import Sequence

from wordline.comparison import Comparison, Line
from wordline.comparison_page import SAID, cell, per_cent, ranked
from wordline.terminal.console import print_figures, print_rows
from wordline.units import ABSENT

MOST_ROWS = 30


def print_comparison(found: Comparison) -> None:
    """Prints the keys that differ, and the figures that differ most."""
    names = [side.name for side in found.sides]
    keys = found.configuration()
    if keys:
        print_rows(["key", *names], ([key, *map(_word, own)] for key, own in keys.items()))
    lines = ranked(found)
    for place in range(1, len(names)):
        _print_side(names[0], names[place], place, lines[:MOST_ROWS])
    equal = len(found.lines) - len(lines)
    more = f"; {len(lines) - MOST_ROWS} more differ" if len(lines) > MOST_ROWS else ""
    print(f"{len(lines)} figures differ, {equal} are equal{more}")
    if any(found.lines[0].exceeds_noise(place) is None for place in range(1, len(names))):
        print("What is noise only repeated seeds tell: compare sweeps with --seeds.")
    versions = {side.version for side in found.sides}
    if len(versions) > 1:
        told = ", ".join(f"{side.name} {side.version}" for side in found.sides)
        print(f"The results are of different versions of Wordline: {told}")


def _print_side(first: str, name: str, place: int, lines: Sequence[Line]) -> None:
    """Prints the figures of a side beside those of the first."""
    rows = [
        (
            line.figure, cell(line, 0), cell(line, place), per_cent(line, place),
            SAID[line.exceeds_noise(place)],
        )
        for line in lines
    ]  # fmt: skip
    if rows:
        print_figures(["figure", first, name, "change", "noise"], rows, spare=1)


def _word(value: object) -> str:
    return ABSENT if value is None else str(value)
