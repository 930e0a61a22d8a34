"""The charts of the report, as Plotly figures in plain data.

Text, grid and background take their colours from the page's style sheet, so that one figure
serves light, dark and print. The colours here stand on white and on black alike.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import polars as pl

from wordline.units import PARTS, axis, bandwidth_unit, duration

Figure: TypeAlias = dict[str, Any]
Grid: TypeAlias = list[list[float | None]]

READ, WRITE, NEUTRAL = "#3b86c6", "#d8731c", "#8b929c"
OPS = (("read", READ), ("write", WRITE))
PART_COLOURS = ("#9aa1ab", "#e0a30a", "#7cc0ea", "#1f78b4", "#12a07a", "#c2457f")
COLLECTION = PART_COLOURS[-1]
LINEAR = {"rangemode": "tozero", "exponentformat": "none", "separatethousands": True}
HEAT = "Cividis"
MOST_POINTS = 900
MOST_COLUMNS = 320
MOST_ROWS = 128


@dataclass(frozen=True)
class Tables:
    """The tables a report is drawn from."""

    series: pl.DataFrame
    latency: pl.DataFrame
    blocks: pl.DataFrame


def distribution(latency: pl.DataFrame) -> Figure | None:
    """Share of requests answered within a time: reads and writes, logarithmic time."""
    curves = [(op, colour, _curve(latency, op)) for op, colour in OPS]
    curves = [(op, colour, curve) for op, colour, curve in curves if curve]
    if not curves:
        return None
    data = [
        _line(
            op,
            colour,
            [us for us, _ in curve],
            [share * 100 for _, share in curve],
            customdata=[duration(us) for us, _ in curve],
            hovertemplate="%{y:.4g} % within %{customdata}",
        )
        for op, colour, curve in curves
    ]
    return _figure(
        data,
        height=380,
        hovermode="closest",
        xaxis=_decades("latency", [us for _, _, curve in curves for us, _ in curve]),
        yaxis={"title": {"text": "requests answered within (%)"}, "range": [-1, 101]},
    )


def tail(latency: pl.DataFrame) -> Figure | None:
    """Share of requests that took longer than a time, both logarithmic: the slow end."""
    data: list[Figure] = []
    times: list[float] = []
    for op, colour in OPS:
        curve = [(us, 1 - share) for us, share in _curve(latency, op) if share < 1]
        if len(curve) < 2:
            continue
        times += [us for us, _ in curve]
        data.append(
            _line(
                op,
                colour,
                [us for us, _ in curve],
                [above for _, above in curve],
                customdata=[[duration(us), _percent(above)] for us, above in curve],
                hovertemplate="%{customdata[1]} took longer than %{customdata[0]}",
            )
        )
    if not data:
        return None
    least = min(min(trace["y"]) for trace in data)
    ticks = [10.0**-power for power in range(math.ceil(-math.log10(least)) + 1)]
    return _figure(
        data,
        height=380,
        hovermode="closest",
        xaxis=_decades("latency", times),
        yaxis={
            "title": {"text": "requests that took longer (%)"},
            "type": "log",
            "tickvals": ticks,
            "ticktext": [_percent(tick) for tick in ticks],
        },
    )


def over_time(series: pl.DataFrame) -> Figure | None:
    """Latency, IOPS, bandwidth, write amplification and collection against simulated time."""
    if series.is_empty():
        return None
    rows = _thinned(series)
    times, unit = _times(rows)
    panels = [
        _Panel("latency (log)", _latency_lines(rows), tall=True),
        _Panel("IOPS (1/s)", _op_lines(rows, "reads", "writes", 1.0)),
        _bandwidth(rows),
    ]
    if rows["host_page_writes"].sum():
        panels.append(
            _Panel(
                "write amplification", [_plain("write amplification", rows, "write_amplification")]
            )
        )
    if rows["gc_runs"].sum() or rows["gc_pages_moved"].sum():
        panels += [
            _Panel(
                "GC: pages moved (1/s)", [_rate("pages moved by GC", rows, "gc_pages_moved", 1.0)]
            ),
            _Panel("GC: planes busy", [_rate("planes busy with GC", rows, "gc_time_ms", 1e-3)]),
        ]
    return _stacked(panels, times, unit)


def utilisation(series: pl.DataFrame, column: str, noun: str) -> Figure | None:
    """Share of each interval that each channel or die was busy, as a heat map over time."""
    if series.is_empty():
        return None
    rows = _merged_lists(series, column)
    columns = cast("list[list[float] | None]", rows[column].to_list())
    count = max((len(one) for one in columns if one), default=0)
    if not count:
        return None
    edges, unit = _edges(rows)
    names, members = _row_groups(noun, count)
    grid: Grid = [
        [None if not one else _mean_percent(one[first:last]) for one in columns]
        for first, last in members
    ]
    return _heat(
        grid,
        edges,
        names,
        x_title=f"simulated time ({unit})",
        y_title="",
        bar_title="busy (%)",
        hover=f"%{{y}} at %{{x:.4g}} {unit}: busy %{{z}} %",
        row_height=22 if count <= 16 else 9,
    )


def breakdown(summary: dict[str, Any]) -> Figure | None:
    """Where the mean latency of reads and of writes goes, in stacked bars."""
    ops = [op for op in ("write", "read") if summary["latency"][op]["count"]]
    if not ops:
        return None
    data: list[Figure] = []
    for (name, key), colour in zip(PARTS, PART_COLOURS, strict=True):
        values = [summary["breakdown"][op][key] or 0.0 for op in ops]
        means = [summary["latency"][op]["mean_us"] for op in ops]
        shares = [value / mean if mean else 0.0 for value, mean in zip(values, means, strict=True)]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": ops,
                "x": values,
                "marker": {"color": colour},
                "customdata": [
                    [duration(value), _percent(part)]
                    for value, part in zip(values, shares, strict=True)
                ],
                "hovertemplate": "%{y}: %{customdata[0]}, %{customdata[1]} of the mean",
            }
        )
    return _figure(
        data,
        height=150 + 62 * len(ops),
        hovermode="closest",
        barmode="stack",
        bargap=0.35,
        xaxis={"title": {"text": "mean latency (µs)"}, "rangemode": "tozero"},
        yaxis={"type": "category", "ticklabelstandoff": 6},
        legend=_legend(traceorder="normal"),
    )


def erases(blocks: pl.DataFrame, blocks_per_plane: int) -> Figure | None:
    """Erases of each block, a row per plane; neighbours are averaged on large devices."""
    if blocks.is_empty() or not blocks_per_plane:
        return None
    place = ["channel", "way", "die", "plane"]
    planes = blocks.select(place).unique().sort(pl.all()).rows()
    row_of = {plane: index for index, plane in enumerate(planes)}
    per_row = math.ceil(len(planes) / MOST_ROWS)
    per_column = math.ceil(blocks_per_plane / MOST_COLUMNS)
    rows, columns = math.ceil(len(planes) / per_row), math.ceil(blocks_per_plane / per_column)
    total: Grid = [[0.0] * columns for _ in range(rows)]
    runs = blocks.select(*place, "block", "blocks", "erases").iter_rows()
    for channel, way, die, plane, block, blocks_here, mean in runs:
        row = row_of[channel, way, die, plane] // per_row
        column = min(block // per_column, columns - 1)
        total[row][column] = (total[row][column] or 0.0) + blocks_here * mean
    grid: Grid = [
        [
            _short((value or 0.0) / (_members(row, per_row, len(planes))
            * _members(column, per_column, blocks_per_plane)))
            for column, value in enumerate(line)
        ]
        for row, line in enumerate(total)
    ]  # fmt: skip
    names = [_plane_names(planes[row * per_row : (row + 1) * per_row]) for row in range(rows)]
    return _heat(
        grid,
        [float(min(column * per_column, blocks_per_plane)) for column in range(columns + 1)],
        names,
        x_title="block within its plane" + (f" (mean of {per_column})" if per_column > 1 else ""),
        y_title="plane",
        bar_title="erases",
        hover="%{y}, block %{x}: %{z} erases",
        row_height=9 if rows > 16 else 22,
    )


@dataclass(frozen=True)
class _Panel:
    title: str
    lines: list[Figure]
    tall: bool = False


def _stacked(panels: Sequence[_Panel], times: list[float], unit: str) -> Figure:
    """Panels above each other on one time axis."""
    data: list[Figure] = []
    axes: Figure = {}
    heights = [250 if panel.tall else 150 for panel in panels]
    whole = sum(heights) + 30 * (len(panels) - 1)
    top = whole
    for index, (panel, height) in enumerate(zip(panels, heights, strict=True)):
        suffix = "" if index == 0 else str(index + 1)
        title = {"title": {"text": panel.title}}
        scale = _decades("", _values(panel.lines)) if panel.tall else LINEAR
        axes[f"yaxis{suffix}"] = scale | title | {"domain": [(top - height) / whole, top / whole]}
        data += [line | {"x": times, "yaxis": f"y{suffix}"} for line in panel.lines]
        top -= height + 30
    return _figure(
        data,
        height=whole + 85,
        hovermode="x unified",
        hoversubplots="axis",
        xaxis={
            "title": {"text": f"simulated time ({unit})"},
            "anchor": f"y{len(panels)}" if len(panels) > 1 else "y",
            "hoverformat": ".5g",
        },
        legend=_legend(y=1.005),
        **axes,
    )


def _latency_lines(rows: pl.DataFrame) -> list[Figure]:
    lines: list[Figure] = []
    for op, colour in OPS:
        if not rows[f"{op}_mean_us"].drop_nulls().len():
            continue
        lines.append(
            _line(f"{op} mean", colour, [], _rounded(rows[f"{op}_mean_us"]), legendgroup=op)
        )
        lines.append(
            _line(f"{op} max", colour, [], _rounded(rows[f"{op}_max_us"]), legendgroup=op)
            | {"line": {"color": colour, "width": 1, "dash": "dot"}, "opacity": 0.75}
        )
    for line in lines:
        line["customdata"] = [duration(us) for us in line["y"]]
        line["hovertemplate"] = "%{customdata}"
    return lines


def _values(lines: Iterable[Figure]) -> list[float]:
    return [value for line in lines for value in line["y"] if value is not None]


def _op_lines(rows: pl.DataFrame, read: str, write: str, scale: float) -> list[Figure]:
    columns = zip(OPS, (read, write), strict=True)
    return [
        _line(op, colour, [], _per_second(rows, column, scale), legendgroup=op, showlegend=False)
        | {"hovertemplate": "%{y:,.4g}"}
        for (op, colour), column in columns
        if rows[column].sum()
    ]


def _bandwidth(rows: pl.DataFrame) -> _Panel:
    lines = _op_lines(rows, "read_bytes", "write_bytes", 1e-6)
    scale, unit = bandwidth_unit(max(_values(lines), default=0.0))
    return _Panel(f"bandwidth ({unit})", _op_lines(rows, "read_bytes", "write_bytes", 1e-6 / scale))


def _plain(name: str, rows: pl.DataFrame, column: str) -> Figure:
    line = _line(name, NEUTRAL, [], _rounded(rows[column]), showlegend=False)
    return line | {"hovertemplate": "%{y:,.4g}"}


def _rate(name: str, rows: pl.DataFrame, column: str, scale: float) -> Figure:
    line = _line(name, COLLECTION, [], _per_second(rows, column, scale), showlegend=False)
    return line | {"hovertemplate": "%{y:,.4g}"}


def _per_second(rows: pl.DataFrame, column: str, scale: float) -> list[float | None]:
    width = rows["end_s"] - rows["start_s"]
    return _rounded(rows[column].cast(pl.Float64) * scale / width)


def _rounded(values: pl.Series) -> list[float | None]:
    known = cast("list[float | None]", values.to_list())
    return [
        _short(value) if value is not None and math.isfinite(value) else None for value in known
    ]


def _short(value: float) -> float:
    return float(f"{value:.5g}")


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


def _exact(value: float) -> float:
    return float(f"{value:.7g}")


def _thinned(series: pl.DataFrame) -> pl.DataFrame:
    """Neighbouring intervals merged until at most MOST_POINTS are left."""
    every = math.ceil(series.height / MOST_POINTS)
    if every == 1:
        return series
    counts = ["reads", "writes", "read_bytes", "write_bytes", "host_page_writes", "page_programs",
              "gc_runs", "gc_pages_moved", "gc_time_ms", "erases"]  # fmt: skip
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


def _row_groups(noun: str, count: int) -> tuple[list[str], list[tuple[int, int]]]:
    every = math.ceil(count / MOST_ROWS)
    spans = [(first, min(first + every, count)) for first in range(0, count, every)]
    names = [
        f"{noun} {first}" if last - first == 1 else f"{noun}s {first}–{last - 1}"
        for first, last in spans
    ]
    return names, spans


def _mean_percent(values: Sequence[float]) -> float:
    return round(100 * sum(values) / len(values), 1)


def _members(index: int, every: int, count: int) -> int:
    return min((index + 1) * every, count) - index * every


def _plane_names(planes: Sequence[tuple[int, ...]]) -> str:
    name = "c{} w{} d{} p{}".format
    if len(planes) == 1:
        return name(*planes[0])
    return f"{name(*planes[0])} – {name(*planes[-1])}"


def _curve(latency: pl.DataFrame, op: str) -> list[tuple[float, float]]:
    """(latency in µs, share of requests at or below it), thinned where points coincide."""
    rows = latency.filter(pl.col("op") == op).select("latency_us", "fraction_below").rows()
    points = cast("list[tuple[float, float]]", rows)
    kept: list[tuple[float, float]] = [(points[0][0], 0.0)] if points else []
    for us, share in points:
        far = not kept or abs(share - kept[-1][1]) > 1 / 800
        tail_step = kept and (1 - share) < 0.9 * (1 - kept[-1][1])
        if far or tail_step or share >= 1:
            kept.append((float(f"{us:.6g}"), float(f"{share:.9g}")))
    return kept


def _heat(
    grid: Grid,
    x: list[float],
    y: list[str],
    *,
    x_title: str,
    y_title: str,
    bar_title: str,
    hover: str,
    row_height: int,
) -> Figure:
    highest = max((value for row in grid for value in row if value is not None), default=0.0)
    data: list[Figure] = [
        {
            "type": "heatmap",
            "z": grid,
            "x": x,
            "y": y,
            "zmin": 0,
            "zmax": highest or 1,
            "colorscale": HEAT,
            "hoverongaps": False,
            "hovertemplate": hover + "<extra></extra>",
            "colorbar": {
                "title": {"text": bar_title, "side": "right"},
                "thickness": 12,
                "outlinewidth": 0,
                "len": 1,
                "tickformat": "~s" if highest >= 10000 else "",
            },
        }
    ]
    return _figure(
        data,
        height=min(620, max(190, 95 + row_height * len(y))),
        hovermode="closest",
        xaxis={"title": {"text": x_title}, "showgrid": False, "zeroline": False},
        yaxis={
            "title": {"text": y_title},
            "type": "category",
            "autorange": "reversed",
            "showgrid": False,
            "nticks": 12,
        },
    )


def _line(name: str, colour: str, x: list[float], y: Sequence[float | None], **more: Any) -> Figure:
    """A line; dots too where there are few points, or a lone one would not be seen."""
    known = sum(value is not None for value in y)
    sparse = known <= 40 or known < 0.8 * len(y)
    return {
        "type": "scatter",
        "name": name,
        "mode": "lines+markers" if sparse else "lines",
        "line": {"color": colour, "width": 1.8},
        "marker": {"color": colour, "size": 4},
        "x": x,
        "y": list(y),
        **more,
    }


def _decades(title: str, values: Iterable[float]) -> Figure:
    """A logarithmic axis of microseconds, labelled 10 µs, 1 ms, 1 s."""
    positive = [value for value in values if value > 0]
    low, high = min(positive, default=1.0), max(positive, default=1.0)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = (1, 2, 5) if last - first <= 2 else (1,)
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in steps]
    narrow = high < 10 * low
    ends = (first, max(last, first + 1)) if narrow else (math.log10(low), math.log10(high))
    return {
        "title": {"text": f"{title} (log)"},
        "type": "log",
        "tickvals": ticks,
        "ticktext": [_tick(tick) for tick in ticks],
        "range": [ends[0] - 0.06, ends[1] + 0.06],
    }


def _tick(us: float) -> str:
    for limit, scale, unit in ((1, 1e-3, "ns"), (1e3, 1, "µs"), (1e6, 1e3, "ms")):
        if us < limit:
            return f"{us / scale:.12g} {unit}"
    return f"{us / 1e6:.12g} s"


def _percent(ratio: float) -> str:
    return f"{ratio * 100:.3g} %" if ratio >= 1e-7 else f"{ratio * 1e9:.3g} in 1,000,000,000"


def _legend(**more: Any) -> Figure:
    return {"orientation": "h", "x": 0, "y": 1.02, "xanchor": "left", "yanchor": "bottom"} | more


def _figure(data: list[Figure], *, height: int, **layout: Any) -> Figure:
    return {
        "data": data,
        "layout": {"height": height, "showlegend": True, "legend": _legend()} | layout,
    }
