"""A time axis that can leave out pauses of the load."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import polars as pl

from wordline._render.plotly import NEUTRAL, Figure
from wordline._render.report.rows import exact
from wordline._render.units import axis, duration

# Share of active time above which pauses are not left out, because little would be gained.
MOSTLY_ACTIVE = 0.5
# Maximum number of pauses that are labelled with their length; more labels do not fit.
MOST_TOLD = 16


@dataclass(frozen=True)
class Active:
    """A time axis without pauses."""

    times: list[float | None]
    """Midpoints of the intervals; None, which breaks a line, for an interval without requests."""
    unit: str
    cuts: list[tuple[float, float]]
    """Positions where intervals were left out, with their total length in seconds."""

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "Active | None":
        """Scales each interval to its active time. None if the device was active for most of the
        run, or never."""
        busy = [ms / 1000 for ms in cast("list[float]", rows["busy_ms"].to_list())]
        whole = cast("float", rows["end_s"][-1]) - cast("float", rows["start_s"][0])
        if not 0 < sum(busy) < MOSTLY_ACTIVE * whole:
            return None
        seconds, unit = axis(sum(busy))
        ends = list(itertools.accumulate(busy))
        middles = ((end - width / 2) / seconds for end, width in zip(ends, busy, strict=True))
        times = [
            exact(middle) if width else None for middle, width in zip(middles, busy, strict=True)
        ]
        cuts = [(exact(end / seconds), left_out) for end, left_out in _left_out(rows, ends)]
        return cls(times, unit, cuts)

    def marks(self) -> list[Figure]:
        """Draws a line at each cut, and labels the longest pauses."""
        longest = sorted(self.cuts, key=lambda cut: -cut[1])[:MOST_TOLD]
        return [
            {
                "type": "line",
                "x0": place,
                "x1": place,
                "yref": "paper",
                "y0": 0,
                "y1": 1,
                "line": {"color": NEUTRAL, "width": 1, "dash": "dot"},
                "label": {
                    "text": duration(left_out * 1e6) if (place, left_out) in longest else "",
                    "textangle": -90,
                    "textposition": "end",
                    # Anchors follow the direction of the text, which ends at the top of the line
                    # and has its baseline on the line.
                    "xanchor": "right",
                    "yanchor": "bottom",
                    "font": {"size": 10},
                },
            }
            for place, left_out in self.cuts
        ]


def _left_out(rows: pl.DataFrame, ends: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Yields each sequence of intervals without requests: the active seconds before it, and its
    length in seconds."""
    spans = zip(rows["busy_ms"], rows["start_s"], rows["end_s"], ends, strict=True)
    for idle, run in itertools.groupby(spans, lambda span: span[0] == 0):
        if idle:
            (_, start, end, active), *others = run
            yield active, (others[-1][2] if others else end) - start


def pause_switch(times: list[float], unit: str, active: Active) -> Figure:
    """Returns two buttons below the chart that switch between the time axis with and without
    pauses."""
    none: list[Figure] = []
    axes = (
        ("whole time", times, f"simulated time ({unit})", none),
        (
            "pauses left out",
            active.times,
            f"time in which the device held requests ({active.unit})",
            active.marks(),
        ),
    )
    buttons = [
        {
            "label": label,
            "method": "update",
            "args": [
                {"x": [x]},
                {"xaxis.title.text": title, "xaxis.autorange": True, "shapes": marks},
            ],
        }
        for label, x, title, marks in axes
    ]
    menu = {
        "type": "buttons",
        "direction": "right",
        "buttons": buttons,
        "active": 0,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 44},
        "bgcolor": "#c9d4e0",
        "font": {"color": "#1b2430"},
    }
    return {"updatemenus": [menu], "margin": {"l": 56, "r": 12, "t": 34, "b": 96}}
