"""The charts of the report, as Plotly figures in plain data."""

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import polars as pl

from wordline.figures import (
    COLLECTION,
    LINEAR,
    NEUTRAL,
    OPS,
    PART_COLOUR,
    Figure,
    Grid,
    decades,
    figure,
    heat,
    legend,
    line,
    percent,
)
from wordline.units import axis, bandwidth_unit, duration, duration_unit, shown_parts

PERCENTILES = (
    ("p50_us", 0.5),
    ("p90_us", 0.9),
    ("p95_us", 0.95),
    ("p99_us", 0.99),
    ("p99_9_us", 0.999),
    ("p99_99_us", 0.9999),
)
MOST_POINTS = 900
MOST_COLUMNS = 320
MOST_ROWS = 128


@dataclass(frozen=True)
class Tables:
    """The tables a report is drawn from."""

    series: pl.DataFrame
    latency: pl.DataFrame
    blocks: pl.DataFrame


def distribution(latency: pl.DataFrame, summary: Mapping[str, Any]) -> Figure | None:
    """Share of requests answered within a time: reads and writes, logarithmic time."""
    curves = [(op, colour, _curve(latency, summary, op)) for op, colour in OPS]
    curves = [(op, colour, curve) for op, colour, curve in curves if curve]
    if not curves:
        return None
    data = [
        line(
            op,
            colour,
            [us for us, _ in curve],
            [share * 100 for _, share in curve],
            customdata=[duration(us) for us, _ in curve],
            hovertemplate="%{y:.4g} % within %{customdata}",
        )
        for op, colour, curve in curves
    ]
    return figure(
        data,
        height=380,
        hovermode="closest",
        xaxis=decades("latency", [us for _, _, curve in curves for us, _ in curve]),
        yaxis={"title": {"text": "requests answered within (%)"}, "range": [-1, 101]},
    )


def tail(latency: pl.DataFrame, summary: Mapping[str, Any]) -> Figure | None:
    """Share of requests that took longer than a time, both logarithmic: the slow end."""
    data: list[Figure] = []
    times: list[float] = []
    for op, colour in OPS:
        curve = [(us, 1 - share) for us, share in _curve(latency, summary, op) if share < 1]
        if curve[:1] == curve[-1:]:
            continue
        times += [us for us, _ in curve]
        data.append(
            line(
                op,
                colour,
                [us for us, _ in curve],
                [above for _, above in curve],
                customdata=[[duration(us), percent(above)] for us, above in curve],
                hovertemplate="%{customdata[1]} took longer than %{customdata[0]}",
            )
        )
    if not data:
        return None
    least = min(min(trace["y"]) for trace in data)
    ticks = [10.0**-power for power in range(math.ceil(-math.log10(least)) + 1)]
    return figure(
        data,
        height=380,
        hovermode="closest",
        xaxis=decades("latency", times),
        yaxis={
            "title": {"text": "requests that took longer (%)"},
            "type": "log",
            "tickvals": ticks,
            "ticktext": [percent(tick) for tick in ticks],
        },
    )


def over_time(series: pl.DataFrame) -> Figure | None:
    """Latency, IOPS, bandwidth, write amplification and collection against simulated time."""
    if series.is_empty():
        return None
    rows = _thinned(series)
    times, unit = _times(rows)
    panels = [
        _latencies(rows),
        _Panel("IOPS (1/s)", _op_lines(rows, "reads", "writes", 1.0)),
        _bandwidth(rows),
    ]
    if rows["host_page_writes"].sum():
        panels.append(_write_amplification(rows))
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
        [None if not one else _meanpercent(one[first:last]) for one in columns]
        for first, last in members
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


def breakdown(summary: Mapping[str, Any]) -> Figure | None:
    """Where the mean latency of reads and of writes goes, in stacked bars."""
    ops = [op for op in ("write", "read") if summary["latency"][op]["count"]]
    if not ops:
        return None
    scale, unit = duration_unit(max(summary["latency"][op]["mean_us"] for op in ops))
    data: list[Figure] = []
    for name, key in shown_parts(summary):
        values = [summary["breakdown"][op][key] or 0.0 for op in ops]
        means = [summary["latency"][op]["mean_us"] for op in ops]
        shares = [value / mean if mean else 0.0 for value, mean in zip(values, means, strict=True)]
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": name,
                "y": ops,
                "x": [value / scale for value in values],
                "marker": {"color": PART_COLOUR[key]},
                "customdata": [
                    [duration(value), percent(part)]
                    for value, part in zip(values, shares, strict=True)
                ],
                "hovertemplate": "%{y}: %{customdata[0]}, %{customdata[1]} of the mean",
            }
        )
    return figure(
        data,
        height=150 + 62 * len(ops),
        hovermode="closest",
        barmode="stack",
        bargap=0.35,
        xaxis={"title": {"text": f"mean latency ({unit})"}, **LINEAR},
        yaxis={"type": "category", "ticklabelstandoff": 6},
        legend=legend(traceorder="normal"),
    )


def erases(blocks: pl.DataFrame, blocks_per_plane: int) -> Figure | None:
    """Erases of each block, a row per plane; neighbours are averaged on large devices."""
    if blocks.is_empty() or not blocks_per_plane:
        return None
    place = ["channel", "way", "die", "plane"]
    planes = blocks.select(place).unique().sort(pl.all()).rows()
    per_row = math.ceil(len(planes) / MOST_ROWS)
    per_column = math.ceil(blocks_per_plane / MOST_COLUMNS)
    rows, columns = math.ceil(len(planes) / per_row), math.ceil(blocks_per_plane / per_column)
    means = (
        blocks.select(
            (pl.struct(place).rank("dense") - 1) // per_row,
            pl.col("block") // per_column,
            "blocks",
            total=pl.col("erases") * pl.col("blocks"),
        )
        .group_by("channel", "block")
        .agg(pl.col("total").sum() / pl.col("blocks").sum())
    )
    grid: Grid = [[None] * columns for _ in range(rows)]
    for row, column, mean in means.iter_rows():
        grid[row][column] = _short(mean)
    names = [_plane_names(planes[row * per_row : (row + 1) * per_row]) for row in range(rows)]
    return heat(
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
    scale: Figure = field(default_factory=LINEAR.copy)
    height: int = 150


def _stacked(panels: Sequence[_Panel], times: list[float], unit: str) -> Figure:
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
    return figure(
        data,
        height=whole + 85,
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
    return _Panel("latency (log)", lines, decades("", _values(lines)), height=250)


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


def _op_lines(rows: pl.DataFrame, read: str, write: str, scale: float) -> list[Figure]:
    columns = zip(OPS, (read, write), strict=True)
    return [
        line(op, colour, [], _per_second(rows, column, scale), legendgroup=op, showlegend=False)
        | {"hovertemplate": "%{y:,.4~g}"}
        for (op, colour), column in columns
        if rows[column].sum()
    ]


def _bandwidth(rows: pl.DataFrame) -> _Panel:
    lines = _op_lines(rows, "read_bytes", "write_bytes", 1e-6)
    scale, unit = bandwidth_unit(max(_values(lines), default=0.0))
    return _Panel(f"bandwidth ({unit})", _op_lines(rows, "read_bytes", "write_bytes", 1e-6 / scale))


def _plain(name: str, rows: pl.DataFrame, column: str) -> Figure:
    values = _rounded(rows[column])
    return line(name, NEUTRAL, [], values, showlegend=False, hovertemplate="%{y:,.4~g}")


def _rate(name: str, rows: pl.DataFrame, column: str, scale: float) -> Figure:
    values = _per_second(rows, column, scale)
    return line(name, COLLECTION, [], values, showlegend=False, hovertemplate="%{y:,.4~g}")


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


def _meanpercent(values: Sequence[float]) -> float:
    return float(f"{100 * sum(values) / len(values):.3g}")


def _plane_names(planes: Sequence[tuple[int, ...]]) -> str:
    name = "c{} w{} d{} p{}".format
    if len(planes) == 1:
        return name(*planes[0])
    return f"{name(*planes[0])} – {name(*planes[-1])}"


def _curve(latency: pl.DataFrame, summary: Mapping[str, Any], op: str) -> list[tuple[float, float]]:
    """(latency in µs, share of requests at or below it), rising in both.

    The table has its points at even steps of the logarithm of latency; the percentiles of the
    summary are added, for the slow end may lie between two of those.
    """
    told = summary["latency"][op]
    if not told["count"]:
        return []
    rows = latency.filter(pl.col("op") == op).select("latency_us", "fraction_below").rows()
    points = cast("list[tuple[float, float]]", rows)
    points += [(told[key], ratio) for key, ratio in PERCENTILES]
    curve = [(_exact(told["min_us"]), 0.0)]
    for us, ratio in sorted(points):
        curve.append((_exact(us), max(float(f"{ratio:.9g}"), curve[-1][1])))
    return curve
