"""Results side by side on the terminal."""

from wordline.comparison import Comparison
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
    rows: list[list[str]] = []
    for line in lines[:MOST_ROWS]:
        row = [line.figure, cell(line, 0)]
        for place in range(1, len(names)):
            row += [cell(line, place), per_cent(line, place), SAID[line.exceeds_noise(place)]]
        rows.append(row)
    titles = ["figure", names[0]]
    for name in names[1:]:
        titles += [name, "change", "noise"]
    if rows:
        print_figures(titles, rows, spare=0)
    equal = len(found.lines) - len(lines)
    more = f"; {len(lines) - MOST_ROWS} more differ" if len(lines) > MOST_ROWS else ""
    print(f"{len(lines)} figures differ, {equal} are equal{more}")
    if any(found.lines[0].exceeds_noise(place) is None for place in range(1, len(names))):
        print("What is noise only repeated seeds tell: compare sweeps with --seeds.")
    versions = {side.version for side in found.sides}
    if len(versions) > 1:
        told = ", ".join(f"{side.name} {side.version}" for side in found.sides)
        print(f"The results are of different versions of Wordline: {told}")


def _word(value: object) -> str:
    return ABSENT if value is None else str(value)
