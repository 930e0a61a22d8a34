"""Results side by side, as a page and as the table of a notebook."""

from __future__ import annotations

from html import escape

import wordline
from wordline import pages, units
from wordline.comparison import Comparison, Line
from wordline.plotly import EACH, Figure, figure

MOST_BARS = 30
MANY = 10
SAID = {True: "beyond noise", False: "within noise", None: "unknown"}


def render(comparison: Comparison) -> str:
    """The page as HTML."""
    differing = ranked(comparison)
    drawn = {"ratios": ratios(comparison, differing[:MOST_BARS])} if differing else {}
    return pages.render(
        "templates",
        "comparison.html.jinja",
        drawn,
        comparison=comparison,
        differing=differing,
        equal=[line.figure for line in comparison.lines if not line.differs],
        charts=drawn,
        cell=cell,
        change=change,
        per_cent=per_cent,
        said=SAID,
        units=units,
        version=wordline.__version__,
    )


def ranked(comparison: Comparison) -> list[Line]:
    """The figures that differ: first those beyond noise, of these first those that differ most, by
    their ratio up or down."""
    return sorted((line for line in comparison.lines if line.differs), key=_rank, reverse=True)


def _rank(line: Line) -> tuple[bool, float]:
    sides = range(1, len(line.intervals))
    found = [line.ratio(side) for side in sides]
    changes = [max(one, 1 / one) for one in found if one is not None and one > 0]
    return any(line.exceeds_noise(side) for side in sides), max(changes, default=0.0)


def ratios(comparison: Comparison, lines: list[Line]) -> Figure:
    """A dot for each figure and side after the first: its ratio to the first, on a logarithm."""
    data: list[Figure] = []
    names = [line.figure for line in lines]
    for place, side in enumerate(comparison.sides[1:], 1):
        found = [line.ratio(place) for line in lines]
        shown = [one if one is not None and one > 0 else None for one in found]
        data.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": side.name,
                "y": names,
                "x": [None if one is None else float(f"{one:.4g}") for one in shown],
                "marker": {"color": EACH[place % len(EACH)], "size": 8},
                "hovertemplate": "%{y}: %{x:.4g} times",
            }
        )
    return figure(
        data,
        height=120 + 20 * len(lines),
        hovermode="closest",
        xaxis={
            "title": {"text": f"ratio to {comparison.sides[0].name} (log)"},
            "type": "log",
            "exponentformat": "none",
        },
        yaxis={"autorange": "reversed", "automargin": True},
    )


def cell(line: Line, side: int) -> str:
    """A mean and its interval."""
    one = line.intervals[side]
    if one is None:
        return units.ABSENT
    width = "" if one.half_width is None else f" ± {units.number(one.half_width)}"
    return units.number(one.mean) + width


def change(line: Line, side: int) -> str:
    """The difference from the first, with its interval."""
    apart, width = line.difference(side), line.half_width(side)
    if apart is None:
        return units.ABSENT
    sign = "+" if apart > 0 else ""
    return sign + units.number(apart) + ("" if width is None else f" ± {units.number(width)}")


def per_cent(line: Line, side: int) -> str:
    """The same in per cent of the first; from ten times on, how many times the first."""
    ratio = line.ratio(side)
    if ratio is None:
        return units.ABSENT
    return f"× {units.figures(ratio)}" if ratio >= MANY else f"{100 * (ratio - 1):+.3g} %"


def table_html(comparison: Comparison, most: int = 40) -> str:
    """The figures that differ, as a table of a notebook."""
    lines = ranked(comparison)
    head = "".join(f"<th>{escape(side.name)}</th>" for side in comparison.sides)
    rows = "".join(
        f"<tr><th>{escape(line.figure)}</th>"
        + "".join(f"<td>{cell(line, side)}</td>" for side in range(len(comparison.sides)))
        + "</tr>"
        for line in lines[:most]
    )
    return f"<table><thead><tr><th>figure</th>{head}</tr></thead><tbody>{rows}</tbody></table>"
