"""The course of a run: charts of what happened over simulated time."""

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import polars as pl

from wordline.figures import (
    COLLECTION,
    LINEAR,
    MOST_COLUMNS,
    MOST_ROWS,
    NEUTRAL,
    OPS,
    Figure,
    Grid,
    decades,
    drawn_at,
    figure,
    heat,
    legend,
    line,
)
from wordline.units import axis, bandwidth_unit, duration

IDLE_COLLECTION = "#6b9e3a"
MOST_POINTS = 900
BUFFER_COUNTS = (
    ("evicted clean", "buffer_clean_evictions", NEUTRAL),
    ("evicted dirty", "buffer_dirty_evictions", COLLECTION),
    ("destaged", "buffer_pages_destaged", "#8fa83a"),
)


def over_time(series: pl.DataFrame) -> Figure | None:
    """Latency, IOPS, bandwidth, write amplification and collection against simulated time."""
    if series.is_empty():
        return None
    rows = _thinned(series)
    times, unit = _times(rows)
    panels = [
        _latencies(rows),
        _Panel("IOPS (1/s)", _op_lines(rows, "reads", "writes", 1.0, "1/s")),
        _bandwidth(rows),
    ]
    if rows["host_page_writes"].sum():
        panels.append(_write_amplification(rows))
    if rows["gc_runs"].sum() or rows["gc_pages_moved"].sum():
        panels += [
            _Panel(
                "GC: pages moved (1/s)",
                [_rate("pages moved by GC", rows, "gc_pages_moved", 1.0, "1/s")],
            ),
            _Panel(
                "GC: planes busy",
                [_rate("planes busy with GC", rows, "gc_time_ms", 1e-3, "planes")],
            ),
        ]
    return _stacked(panels, times, unit, _Active.of(rows))


def buffer(series: pl.DataFrame) -> Figure | None:
    """Hit ratio of the DRAM buffer, and the pages that left it, against simulated time."""
    counts = [f"buffer_{op}_{found}" for op in ("read", "write") for found in ("hits", "misses")]
    if series.is_empty() or not sum(series[column].sum() for column in counts):
        return None
    rows = _thinned(series)
    times, unit = _times(rows)
    panels = [_Panel("pages hit (%)", _hit_lines(rows))]
    left = [(name, column, colour) for name, column, colour in BUFFER_COUNTS if rows[column].sum()]
    if left:
        lines = [
            line(name, colour, [], _per_second(rows, column, 1.0), hovertemplate=_told("1/s"))
            for name, column, colour in left
        ]
        panels.append(_Panel("pages (1/s)", lines))
    return _stacked(panels, times, unit, _Active.of(rows))


def _hit_lines(rows: pl.DataFrame) -> list[Figure]:
    lines: list[Figure] = []
    for op, colour in OPS:
        hits = rows[f"buffer_{op}_hits"].cast(pl.Float64)
        pages = hits + rows[f"buffer_{op}_misses"]
        if pages.sum():
            ratios = _rounded(100 * hits / pages)
            lines.append(line(op, colour, [], ratios, hovertemplate="%{y:.3g} %"))
    return lines


def utilisation(
    series: pl.DataFrame, column: str, noun: str, members: Mapping[str, int] | None = None
) -> Figure | None:
    """Share of each interval that each channel or die was busy, as a heat map over time. `members`
    says how many of them each device of an array has, which stand behind each other."""
    if series.is_empty():
        return None
    rows = _merged_lists(series, column)
    columns = cast("list[list[float] | None]", rows[column].to_list())
    count = max((len(one) for one in columns if one), default=0)
    if not count:
        return None
    edges, unit = _edges(rows)
    names, spans = _row_groups(noun, members or {"": count})
    grid: Grid = [
        [None if not one else _meanpercent(one[first:last]) for one in columns]
        for first, last in spans
    ]
    return heat(
        grid,
        edges,
        names,
        x_title=f"simulated time ({unit})",
        y_title="",
        bar_title="busy (%)",
        hover=f"%{{y}} at %{{x:.4g}} {unit}: busy %{{z}} %",
        row_height=22 if count <= 16 else 9,
    )


def views(runs: Mapping[str, pl.DataFrame]) -> Figure | None:
    """What the host sees of each run, and below it what the device does; a column for each.

    Takes the `series` of runs by name. User view: mean and longest latency of the requests of each
    interval. Real view: the longest latencies again, before bars of the share of the dies' time
    that garbage collection took, in one colour where the device held requests in the interval, in
    another where it held none all the while (Jung 2013, figure 7.1). All columns have the same
    axes. None if no run has a request.
    """
    courses = {name: _Course.of(series) for name, series in runs.items() if not series.is_empty()}
    if not any(course.users for course in courses.values()):
        return None
    seconds, unit = axis(max(course.ends[-1] for course in courses.values()))
    latencies = [us for course in courses.values() for us in _values(course.users)]
    data: list[Figure] = []
    layout: Figure = {}
    for place, course in enumerate(courses.values()):
        drawn, axes = _column(course, place, len(courses), seconds, unit)
        data += drawn
        layout |= axes
    scale = decades("", latencies)
    data = [_on(scale, one) if one["type"] == "scatter" else one for one in data]
    busiest = max(max(course.collecting) for course in courses.values())
    for name in [name for name in layout if name.startswith("yaxis")]:
        layout[name] |= _vertical(int(name.removeprefix("yaxis") or 1), scale, busiest)
    _once(data)
    named = len(courses) > 1
    if named:
        layout["annotations"] = [
            _heading(name, layout[f"xaxis{_suffix(2 * place)}"]["domain"])
            for place, name in enumerate(courses)
        ]
    return figure(
        data,
        height=560,
        hovermode="closest",
        barmode="overlay",
        bargap=0,
        margin={"l": 70, "r": 60, "t": 62 if named else 34, "b": 46},
        legend=legend(y=1.06 if named else 1.01, traceorder="normal"),
        **layout,
    )


@dataclass(frozen=True)
class _Course:
    """A run, interval by interval."""

    starts: list[float]
    ends: list[float]
    """Seconds."""
    users: list[Figure]
    """Lines of latency, without times."""
    collecting: list[float]
    """Per cent of the dies' time that collections took."""
    idle: list[bool]
    """Whether no request was in the device."""

    @classmethod
    def of(cls, series: pl.DataFrame) -> "_Course":
        rows = _thinned(series)
        dies = max(1, len(cast("list[float]", series["die_utilisation"][0])))
        width_ms = (rows["end_s"] - rows["start_s"]) * 1000
        shares = _rounded(100 * rows["gc_die_ms"] / width_ms / dies)
        return cls(
            starts=cast("list[float]", rows["start_s"].to_list()),
            ends=cast("list[float]", rows["end_s"].to_list()),
            users=_latency_lines(rows),
            collecting=[share or 0.0 for share in shares],
            idle=cast("list[bool]", (rows["busy_ms"] == 0).to_list()),
        )


def _column(
    course: _Course, place: int, columns: int, seconds: float, unit: str
) -> tuple[list[Figure], Figure]:
    """What is drawn of a run, and its axes: a pair of x and three of y, for the user view, for
    collections and for the latencies before them."""
    user, gc, real = (3 * place + row for row in range(3))
    above, below = (_suffix(2 * place + row) for row in range(2))
    width = (1 - 0.04 * (columns - 1)) / columns
    left = place * (width + 0.04)
    across: Figure = {"domain": [left, left + width], "hoverformat": ".5g"}
    first, last = course.starts[0] / seconds, course.ends[-1] / seconds
    shared = {"range": [first, last]} if columns == 1 else {}
    times = [
        _exact((start + end) / 2 / seconds)
        for start, end in zip(course.starts, course.ends, strict=True)
    ]
    at = {"x": times, "xaxis": f"x{below}"}
    data = [
        drawn | {"x": times, "xaxis": f"x{above}", "yaxis": f"y{_suffix(user)}"}
        for drawn in course.users
    ]
    data += [bars | at | {"yaxis": f"y{_suffix(gc)}"} for bars in _bars(course, seconds)]
    data += [
        drawn | at | {"yaxis": f"y{_suffix(real)}", "showlegend": False}
        for drawn in course.users
        if drawn["name"].endswith("max")
    ]
    outer: Figure = {"showticklabels": place == 0}
    axes: Figure = {
        f"xaxis{above}": across
        | shared
        | {"anchor": f"y{_suffix(user)}", "showticklabels": False, "matches": "x2"},
        f"xaxis{below}": across
        | shared
        | {"anchor": f"y{_suffix(gc)}"}
        # Once: beside each other there is no room for it below every column of a narrow page.
        | ({"title": {"text": f"simulated time ({unit})"}} if place == columns // 2 else {})
        | ({"matches": "x2"} if below != "2" else {}),
        f"yaxis{_suffix(user)}": outer | {"anchor": f"x{above}"},
        f"yaxis{_suffix(gc)}": {"anchor": f"x{below}", "showticklabels": place == columns - 1},
        f"yaxis{_suffix(real)}": outer | {"anchor": f"x{below}", "overlaying": f"y{_suffix(gc)}"},
    }
    if place == 0:
        axes[f"yaxis{_suffix(user)}"]["title"] = {"text": "user view: latency (log)"}
        axes[f"yaxis{_suffix(real)}"]["title"] = {"text": "real view: longest latency (log)"}
    if place == columns - 1:
        axes[f"yaxis{_suffix(gc)}"]["title"] = {"text": "dies collecting (%)"}
    return data, axes


def _suffix(index: int) -> str:
    return str(index + 1) if index else ""


def _vertical(number: int, scale: Figure, busiest: float) -> Figure:
    """The scale and the place of a vertical axis by its number: latency above, collections and
    latency below."""
    row = (number - 1) % 3
    if row == 1:
        return {
            "domain": [0, 0.46],
            "side": "right",
            "showgrid": False,
            "range": [0, 1.05 * busiest or 1],
        }
    kept = {key: value for key, value in scale.items() if key != "title"}
    return kept | {"domain": [0.54, 1] if row == 0 else [0, 0.46], "side": "left"}


def _bars(course: _Course, seconds: float) -> list[Figure]:
    """The dies' time that collections took: beside requests, and while there were none."""
    kinds = (
        ("GC beside requests", COLLECTION, False),
        ("GC while there were none", IDLE_COLLECTION, True),
    )
    widths = [
        _exact((end - start) / seconds)
        for start, end in zip(course.starts, course.ends, strict=True)
    ]
    return [
        {
            "type": "bar",
            "name": name,
            "y": [
                share if share and idle == kind else None
                for share, idle in zip(course.collecting, course.idle, strict=True)
            ],
            "width": widths,
            "marker": {"color": colour, "line": {"width": 0}},
            "opacity": 0.55,
            "hovertemplate": "%{y:.3g} % of the dies' time",
            "legendgroup": name,
        }
        for name, colour, kind in kinds
    ]


def _once(data: list[Figure]) -> None:
    """Leaves each name in the legend once, and none that is not drawn."""
    seen: set[str] = set()
    for drawn in data:
        empty = all(value is None for value in drawn["y"])
        if drawn["name"] in seen or empty:
            drawn["showlegend"] = False
        elif drawn.get("showlegend", True):
            seen.add(drawn["name"])


def _heading(name: str, domain: Sequence[float]) -> Figure:
    return {
        "text": name,
        "xref": "paper",
        "yref": "paper",
        "x": domain[0],
        "y": 1.005,
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
    }


@dataclass(frozen=True)
class _Panel:
    title: str
    lines: list[Figure]
    scale: Figure = field(default_factory=LINEAR.copy)
    height: int = 150


# Share of the time in which a device held requests, above which its pauses are not worth folding.
MOSTLY_ACTIVE = 0.5
# Pauses whose length is told where they were cut out: more have no room beside each other.
MOST_TOLD = 16


@dataclass(frozen=True)
class _Active:
    """The time axis with the pauses left out."""

    times: list[float | None]
    """Midpoints of the intervals; None, which breaks a line, for one without a request."""
    unit: str
    cuts: list[tuple[float, float]]
    """Where intervals without a request were left out, and how many seconds they are."""

    @classmethod
    def of(cls, rows: pl.DataFrame) -> "_Active | None":
        """Each interval as wide as the time in which the device held requests. None if that is
        most of the run, or nothing."""
        busy = [ms / 1000 for ms in cast("list[float]", rows["busy_ms"].to_list())]
        whole = cast("float", rows["end_s"][-1]) - cast("float", rows["start_s"][0])
        if not 0 < sum(busy) < MOSTLY_ACTIVE * whole:
            return None
        seconds, unit = axis(sum(busy))
        ends = list(itertools.accumulate(busy))
        middles = ((end - width / 2) / seconds for end, width in zip(ends, busy, strict=True))
        times = [
            _exact(middle) if width else None for middle, width in zip(middles, busy, strict=True)
        ]
        cuts = [(_exact(end / seconds), left_out) for end, left_out in _left_out(rows, ends)]
        return cls(times, unit, cuts)

    def marks(self) -> list[Figure]:
        """A line at each cut, and beside the longest ones how long they are."""
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
                    # As the text runs: it ends at the upper end of the line, and stands on it.
                    "xanchor": "right",
                    "yanchor": "bottom",
                    "font": {"size": 10},
                },
            }
            for place, left_out in self.cuts
        ]


def _left_out(rows: pl.DataFrame, ends: Sequence[float]) -> Iterator[tuple[float, float]]:
    """Runs of intervals without a request: the active seconds before each, and its length."""
    spans = zip(rows["busy_ms"], rows["start_s"], rows["end_s"], ends, strict=True)
    for idle, run in itertools.groupby(spans, lambda span: span[0] == 0):
        if idle:
            (_, start, end, active), *others = run
            yield active, (others[-1][2] if others else end) - start


def _switch(times: list[float], unit: str, active: _Active) -> Figure:
    """Two buttons below the chart: the time axis as it was simulated, or without pauses."""
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
        "type": "buttons", "direction": "right", "buttons": buttons, "active": 0, "x": 0,
        "xanchor": "left", "y": 0, "yanchor": "top", "pad": {"t": 44}, "bgcolor": "#c9d4e0",
        "font": {"color": "#1b2430"},
    }  # fmt: skip
    return {"updatemenus": [menu], "margin": {"l": 56, "r": 12, "t": 34, "b": 96}}


def _stacked(
    panels: Sequence[_Panel], times: list[float], unit: str, active: _Active | None
) -> Figure:
    """Panels above each other on one time axis."""
    data: list[Figure] = []
    axes: Figure = {}
    whole = sum(panel.height for panel in panels) + 30 * (len(panels) - 1)
    top = whole
    for index, panel in enumerate(panels):
        suffix = "" if index == 0 else str(index + 1)
        title = {"title": {"text": panel.title}}
        domain = [(top - panel.height) / whole, top / whole]
        axes[f"yaxis{suffix}"] = panel.scale | title | {"domain": domain}
        data += [drawn | {"x": times, "yaxis": f"y{suffix}"} for drawn in panel.lines]
        top -= panel.height + 30
    if active:
        axes |= _switch(times, unit, active)
    return figure(
        data,
        height=whole + (135 if active else 85),
        hovermode="x unified",
        hoversubplots="axis",
        xaxis={
            "title": {"text": f"simulated time ({unit})"},
            "anchor": f"y{len(panels)}" if len(panels) > 1 else "y",
            "hoverformat": ".5g",
        },
        legend=legend(y=1.005),
        **axes,
    )


def _latencies(rows: pl.DataFrame) -> _Panel:
    lines = _latency_lines(rows)
    scale = decades("", _values(lines))
    return _Panel("latency (log)", [_on(scale, drawn) for drawn in lines], scale, height=250)


def _on(scale: Figure, drawn: Figure) -> Figure:
    """The line on an axis of latencies, which has a place for 0."""
    return drawn | {"y": [us if us is None else drawn_at(scale, us) for us in drawn["y"]]}


def _write_amplification(rows: pl.DataFrame) -> _Panel:
    """Logarithmic where intervals of few host writes stand out far above the rest."""
    drawn = _plain("write amplification", rows, "write_amplification")
    values = sorted(_values([drawn]))
    if not values or values[-1] < 10 * values[len(values) // 2]:
        return _Panel("write amplification", [drawn])
    scale = {"type": "log", "dtick": "D2", "exponentformat": "none"}
    return _Panel("write ampl. (log)", [drawn], scale)


def _latency_lines(rows: pl.DataFrame) -> list[Figure]:
    lines: list[Figure] = []
    for op, colour in OPS:
        if not rows[f"{op}_mean_us"].drop_nulls().len():
            continue
        lines.append(
            line(f"{op} mean", colour, [], _rounded(rows[f"{op}_mean_us"]), legendgroup=op)
        )
        lines.append(
            line(f"{op} max", colour, [], _rounded(rows[f"{op}_max_us"]), legendgroup=op)
            | {"line": {"color": colour, "width": 1, "dash": "dot"}, "opacity": 0.75}
        )
    for drawn in lines:
        drawn["customdata"] = [duration(us) for us in drawn["y"]]
        drawn["hovertemplate"] = "%{customdata}"
    return lines


def _values(lines: Iterable[Figure]) -> list[float]:
    return [value for drawn in lines for value in drawn["y"] if value is not None]


def _told(unit: str) -> str:
    """What is said of a point: its value with its unit."""
    return f"%{{y:,.4~g}} {unit}".rstrip()


def _op_lines(rows: pl.DataFrame, read: str, write: str, scale: float, unit: str) -> list[Figure]:
    columns = zip(OPS, (read, write), strict=True)
    return [
        line(op, colour, [], _per_second(rows, column, scale), legendgroup=op, showlegend=False)
        | {"hovertemplate": _told(unit)}
        for (op, colour), column in columns
        if rows[column].sum()
    ]


def _bandwidth(rows: pl.DataFrame) -> _Panel:
    lines = _op_lines(rows, "read_bytes", "write_bytes", 1e-6, "MB/s")
    scale, unit = bandwidth_unit(max(_values(lines), default=0.0))
    scaled = _op_lines(rows, "read_bytes", "write_bytes", 1e-6 / scale, unit)
    return _Panel(f"bandwidth ({unit})", scaled)


def _plain(name: str, rows: pl.DataFrame, column: str) -> Figure:
    values = _rounded(rows[column])
    return line(
        name, NEUTRAL, [], values, showlegend=False, hovertemplate=_told("programs a write")
    )


def _rate(name: str, rows: pl.DataFrame, column: str, scale: float, unit: str) -> Figure:
    values = _per_second(rows, column, scale)
    return line(name, COLLECTION, [], values, showlegend=False, hovertemplate=_told(unit))


def _per_second(rows: pl.DataFrame, column: str, scale: float) -> list[float | None]:
    width = rows["end_s"] - rows["start_s"]
    return _rounded(rows[column].cast(pl.Float64) * scale / width)


def _rounded(values: pl.Series) -> list[float | None]:
    known = cast("list[float | None]", values.to_list())
    return [
        _short(value) if value is not None and math.isfinite(value) else None for value in known
    ]


def _times(rows: pl.DataFrame) -> tuple[list[float], str]:
    """Interval midpoints in a unit that suits the run, and that unit."""
    edges, unit = _edges(rows)
    return [_exact((start + end) / 2) for start, end in itertools.pairwise(edges)], unit


def _edges(rows: pl.DataFrame) -> tuple[list[float], str]:
    """Where intervals begin, and where the last one ends, in a unit that suits the run."""
    starts = cast("list[float]", rows["start_s"].to_list())
    last = cast("float", rows["end_s"][-1])
    seconds, unit = axis(last)
    return [_exact(edge / seconds) for edge in [*starts, last]], unit


def _thinned(series: pl.DataFrame) -> pl.DataFrame:
    """Neighbouring intervals merged until at most MOST_POINTS are left."""
    every = math.ceil(series.height / MOST_POINTS)
    if every == 1:
        return series
    counts = ["reads", "writes", "read_bytes", "write_bytes", "host_page_writes", "page_programs",
              "gc_runs", "gc_pages_moved", "gc_time_ms", "gc_die_ms", "erases",
              "busy_ms", "buffer_read_hits", "buffer_read_misses", "buffer_write_hits",
              "buffer_write_misses", "buffer_clean_evictions", "buffer_dirty_evictions",
              "buffer_pages_destaged"]  # fmt: skip
    means = [
        (pl.col(f"{op}_mean_us") * pl.col(f"{op}s")).sum().truediv(pl.col(f"{op}s").sum())
        .alias(f"{op}_mean_us").fill_nan(None)
        for op in ("read", "write")
    ]  # fmt: skip
    return (
        series.with_row_index("row")
        .group_by(pl.col("row") // every, maintain_order=True)
        .agg(
            pl.col("start_s").first(),
            pl.col("end_s").last(),
            pl.col(*counts).sum(),
            pl.col("read_max_us", "write_max_us").max(),
            *means,
        )
        .with_columns(
            write_amplification=pl.when(pl.col("host_page_writes") > 0).then(
                pl.col("page_programs") / pl.col("host_page_writes")
            )
        )
    )


def _merged_lists(series: pl.DataFrame, column: str) -> pl.DataFrame:
    """Neighbouring intervals averaged, member by member, until at most MOST_COLUMNS are left."""
    every = math.ceil(series.height / MOST_COLUMNS)
    if every == 1:
        return series.select("start_s", "end_s", column)
    lists = cast("list[list[float] | None]", series[column].to_list())
    merged = [
        _mean_of([one for one in lists[start : start + every] if one])
        for start in range(0, series.height, every)
    ]
    spans = (
        series.with_row_index("row")
        .group_by(pl.col("row") // every, maintain_order=True)
        .agg(pl.col("start_s").first(), pl.col("end_s").last())
    )
    return spans.with_columns(pl.Series(column, merged, dtype=pl.List(pl.Float64)))


def _mean_of(lists: Sequence[Sequence[float]]) -> list[float]:
    return [sum(members) / len(members) for members in zip(*lists, strict=True)]


def _row_groups(noun: str, members: Mapping[str, int]) -> tuple[list[str], list[tuple[int, int]]]:
    """Rows of a heat map, MOST_ROWS at most unless there are more members: their names, and which
    channels or dies each is of. No row is of two members."""
    every = math.ceil(sum(members.values()) / MOST_ROWS)
    names: list[str] = []
    spans: list[tuple[int, int]] = []
    start = 0
    for member, count in members.items():
        for first in range(0, count, every):
            last = min(first + every, count)
            place = f"{noun} {first}" if last - first == 1 else f"{noun}s {first}–{last - 1}"
            names.append(f"{member} {place}".lstrip())
            spans.append((start + first, start + last))
        start += count
    return names, spans


def _meanpercent(values: Sequence[float]) -> float:
    return float(f"{100 * sum(values) / len(values):.3g}")


def _short(value: float) -> float:
    return float(f"{value:.5g}")


def _exact(value: float) -> float:
    return float(f"{value:.7g}")
