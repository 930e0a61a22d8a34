"""Comparison of results as an HTML page and as a notebook table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import PurePath
from typing import TYPE_CHECKING

from wordline._internal import own_version
from wordline._render import html, units
from wordline._render.metric import key_name, metric, value_text
from wordline._render.plotly import EACH, Figure, figure, logarithmic

if TYPE_CHECKING:
    from wordline._api.comparison import Comparison, Line

MAIN = (
    "latency.read.mean_us",
    "latency.read.p99_us",
    "latency.write.mean_us",
    "latency.write.p99_us",
    "worst_case.all.max_us",
    "throughput.iops",
    "throughput.read_mb_per_s",
    "throughput.write_mb_per_s",
    "cache.hit_ratio",
    "flash.write_amplification",
    "flash.erases",
    "flash.gc_pages_moved",
    "energy.total_mj",
    "time.simulated_s",
)
"""Metrics that are shown first if they differ, in this order."""
MOST_MAIN = len(MAIN)
MANY = 10
NEAR = 2
"""Maximum ratio up to which changes are drawn in per cent."""
SAID = {True: "beyond noise", False: "within noise", None: "unknown"}
VERDICTS = {
    "better": ("#12a07b", "circle"),
    "worse": ("#c0392b", "x"),
    "": ("#8b929c", "diamond-open"),
}
"""Colour and symbol of a change by verdict."""


def render(comparison: Comparison) -> str:
    """Returns the page as HTML."""
    differing = ranked(comparison)
    first = main(differing)
    drawn = {"ratios": ratios(comparison, first)} if _has_ratio(first) else {}
    return html.render(
        "wordline._render.templates",
        "comparison.html.jinja",
        drawn,
        comparison=comparison,
        differing=differing,
        equal=[line for line in comparison.lines if not line.differs],
        main=first,
        others=[line for line in differing if line not in first],
        charts=drawn,
        cell=cell,
        change=change,
        key_name=key_name,
        key_values=key_values,
        knows_noise=knows_noise(comparison),
        metric=metric,
        per_cent=per_cent,
        said=SAID,
        summary=tally(comparison, differing),
        units=units,
        value_text=value_text,
        verdict=verdict,
        version=own_version.installed(),
    )


def key_values(key: str, values: Sequence[object]) -> list[str]:
    """Returns the values of a key on all sides. Traces are shown by file name if the names
    differ."""
    if key == "trace" and all(isinstance(value, str) for value in values):
        names = [
            ", ".join(PurePath(path).name for path in str(value).split(", ")) for value in values
        ]
        if len(set(names)) > 1:
            return names
    return [value_text(value) for value in values]


def ranked(comparison: Comparison) -> list[Line]:
    """Returns the metrics that differ. Significant differences come first; larger ratios, in either
    direction, come before smaller ones."""
    return sorted((line for line in comparison.lines if line.differs), key=_rank, reverse=True)


def main(differing: Sequence[Line]) -> list[Line]:
    """Returns the main metrics that differ; if none of them differs, the metrics that differ
    most."""
    by_path = {line.figure: line for line in differing}
    found = [by_path[path] for path in MAIN if path in by_path]
    return found or list(differing[:MOST_MAIN])


def _rank(line: Line) -> tuple[bool, float]:
    sides = range(1, len(line.intervals))
    found = [line.ratio(side) for side in sides]
    changes = [max(one, 1 / one) for one in found if one is not None and one > 0]
    return any(line.exceeds_noise(side) for side in sides), max(changes, default=0.0)


def knows_noise(comparison: Comparison) -> bool:
    """Returns True if the first side and another side repeat seeds."""
    sides = range(1, len(comparison.sides))
    return any(line.exceeds_noise(side) is not None for line in comparison.lines for side in sides)


def verdict(line: Line, side: int) -> str:
    """Returns `better` or `worse` for a side compared with the first. Empty if the metric has no
    better direction, or if the difference is missing, 0 or within noise."""
    apart = line.difference(side)
    if apart is None or line.exceeds_noise(side) is False:
        return ""
    return metric(line.figure).verdict(apart)


def tally(comparison: Comparison, differing: Sequence[Line]) -> list[str]:
    """Counts the metrics of each side after the first that are better, worse, or changed
    otherwise."""
    facts: list[str] = []
    for place, side in enumerate(comparison.sides[1:], 1):
        verdicts = [verdict(line, place) for line in differing]
        better, worse = verdicts.count("better"), verdicts.count("worse")
        facts.append(
            f"{side.name}: {units.many(better, 'metric')} better, {worse} worse, "
            f"{len(verdicts) - better - worse} changed otherwise"
        )
    return facts


def _has_ratio(lines: Sequence[Line]) -> bool:
    """Returns True if a metric has a value on the first side and on another."""
    return any(line.ratio(side) for line in lines for side in range(1, len(line.intervals)))


def ratios(comparison: Comparison, lines: Sequence[Line]) -> Figure:
    """Draws a dot per metric and side after the first: the change in per cent, or the ratio on a
    logarithmic axis if a metric has more than doubled or halved. A single side has the colours of
    the verdicts, several sides have a colour each."""
    single = len(comparison.sides) == 2
    every = [
        one for line in lines for side in range(1, len(line.intervals)) if (one := line.ratio(side))
    ]
    far = max(every) > NEAR or min(every) < 1 / NEAR
    data: list[Figure] = []
    for place, side in enumerate(comparison.sides[1:], 1):
        for word, (colour, symbol) in VERDICTS.items():
            own = [line for line in lines if line.ratio(place) and verdict(line, place) == word]
            if not own:
                continue
            found = [line.ratio(place) or 0.0 for line in own]
            name = word or "neither" if single else f"{side.name}, {word or 'neither'}"
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "y": [metric(line.figure).name for line in own],
                    "x": [float(f"{one if far else 100 * (one - 1):.4g}") for one in found],
                    "customdata": [_told(line, place) for line in own],
                    "marker": {
                        "color": colour if single else EACH[place % len(EACH)],
                        "size": 10,
                        "symbol": symbol,
                    },
                    "hovertemplate": "%{y}: %{customdata}",
                }
            )
    names = [metric(line.figure).name for line in lines]
    return figure(
        data,
        height=120 + 24 * len(lines),
        hovermode="closest",
        xaxis=logarithmic(f"ratio to {comparison.sides[0].name}", [1.0, *every])
        if far
        else {"title": {"text": f"change from {comparison.sides[0].name} (%)"}},
        yaxis={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": names[::-1],
            "automargin": True,
            "ticklabelstandoff": 6,
        },
        shapes=[
            {
                "type": "line",
                "x0": int(far),
                "x1": int(far),
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"color": "#8b929c", "width": 1, "dash": "dot"},
            }
        ],
    )


def _told(line: Line, side: int) -> str:
    return f"{cell(line, 0)} → {cell(line, side)} ({per_cent(line, side)})"


def cell(line: Line, side: int) -> str:
    """Formats a mean and its interval with the unit."""
    one = line.intervals[side]
    if one is None:
        return units.ABSENT
    return metric(line.figure).text(one.mean, one.half_width)


def mean(line: Line, side: int) -> str:
    """Formats a mean with its unit."""
    one = line.intervals[side]
    return metric(line.figure).text(None if one is None else one.mean)


def change(line: Line, side: int) -> str:
    """Formats the difference from the first side with its interval and unit."""
    apart = line.difference(side)
    if apart is None:
        return units.ABSENT
    sign = "+" if apart > 0 else ""
    return sign + metric(line.figure).text(apart, line.half_width(side))


def per_cent(line: Line, side: int) -> str:
    """Formats the change in per cent of the first side, or as a factor if it is tenfold or more."""
    ratio = line.ratio(side)
    if ratio is None:
        return units.ABSENT
    return f"× {units.figures(ratio)}" if ratio >= MANY else f"{100 * (ratio - 1):+.3g} %"


def table_html(comparison: Comparison, most: int = 40) -> str:
    """Returns the metrics that differ as a notebook table."""
    lines = ranked(comparison)
    head = "".join(f"<th>{escape(side.name)}</th>" for side in comparison.sides)
    rows = "".join(
        f"<tr><th>{escape(line.figure)}</th>"
        + "".join(f"<td>{cell(line, side)}</td>" for side in range(len(comparison.sides)))
        + "</tr>"
        for line in lines[:most]
    )
    return f"<table><thead><tr><th>figure</th>{head}</tr></thead><tbody>{rows}</tbody></table>"
