"""Charts over simulated time: latency, throughput, write amplification, GC, buffer and cache."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import polars as pl

from wordline._render.plotly import (
    COLLECTION,
    LINEAR,
    NEUTRAL,
    OPS,
    Figure,
    decades,
    figure,
    legend,
    line,
    logarithmic,
)
from wordline._render.report.pauses import Active, pause_switch
from wordline._render.report.rows import (
    hover,
    known_values,
    latency_lines,
    midpoints,
    on_scale,
    per_second,
    rounded,
    thinned,
)
from wordline._render.units import bandwidth_unit

BUFFER_COUNTS = (
    ("evicted clean", "buffer_clean_evictions", NEUTRAL),
    ("evicted dirty", "buffer_dirty_evictions", COLLECTION),
    ("destaged", "buffer_pages_destaged", "#8fa83a"),
)
HEALTH_COUNTS = (
    ("read_retries", "read retries", "read retries (1/s)", "#3b86c6"),
    ("refreshes", "read reclaims and refreshes", "blocks moved (1/s)", COLLECTION),
    ("blocks_retired", "grown bad blocks", "grown bad blocks (1/s)", "#8fa83a"),
)
"""Health events: columns, names, panel titles, colours."""
CACHE_COUNTS = (
    ("cache_resident_hits", "held", "#3b86c6"),
    ("cache_suspected_hits", "revived", "#12a07b"),
    ("cache_joined", "being fetched", "#b8860b"),
    ("cache_misses", "read from the disk", NEUTRAL),
)
"""Pages read by lookup result of the cache: columns, names, colours."""


def over_time(series: pl.DataFrame) -> Figure | None:
    """Draws latency, IOPS, bandwidth, write amplification and GC over simulated time."""
    if series.is_empty():
        return None
    rows = thinned(series)
    times, unit = midpoints(rows)
    panels = [
        _latencies(rows),
        _Panel("IOPS (1/s)", _op_lines(rows, "reads", "writes", 1.0, "1/s")),
        _bandwidth(rows),
    ]
    if rows["host_written_bytes"].sum():
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
    return _stacked(panels, times, unit, Active.of(rows))


def health(series: pl.DataFrame, spare: int | None) -> Figure | None:
    """Draws read retries, reclaimed and refreshed blocks, grown bad blocks, and the spare blocks
    left over simulated time. `spare` is the number of spare blocks at the end. None without such
    events."""
    counts = [column for column, *_ in HEALTH_COUNTS if series[column].sum()]
    if not counts:
        return None
    rows = thinned(series)
    times, unit = midpoints(rows)
    panels = [
        _Panel(
            title,
            [
                line(
                    name,
                    colour,
                    [],
                    per_second(rows, column, 1.0),
                    showlegend=False,
                    hovertemplate=hover("1/s"),
                )
            ],
        )
        for column, name, title, colour in HEALTH_COUNTS
        if column in counts
    ]
    if spare is not None:
        taken = rows["spares_taken"].cast(pl.Int64)
        left = spare + taken.sum() - taken.cum_sum()
        drawn = line("spare blocks left", NEUTRAL, [], left.to_list(), showlegend=False)
        panels.append(_Panel("spare blocks left", [drawn]))
    return _stacked(panels, times, unit, Active.of(rows))


def buffer(series: pl.DataFrame) -> Figure | None:
    """Draws the hit ratio and the evictions of the DRAM buffer over simulated time."""
    counts = [f"buffer_{op}_{found}" for op in ("read", "write") for found in ("hits", "misses")]
    if series.is_empty() or not sum(series[column].sum() for column in counts):
        return None
    rows = thinned(series)
    times, unit = midpoints(rows)
    panels = [_Panel("pages hit (%)", _hit_lines(rows))]
    left = [(name, column, colour) for name, column, colour in BUFFER_COUNTS if rows[column].sum()]
    if left:
        lines = [
            line(name, colour, [], per_second(rows, column, 1.0), hovertemplate=hover("1/s"))
            for name, column, colour in left
        ]
        panels.append(_Panel("pages (1/s)", lines))
    return _stacked(panels, times, unit, Active.of(rows))


def cache(series: pl.DataFrame) -> Figure | None:
    """Draws the shares of pages read by lookup result of the cache over simulated time."""
    if series.is_empty() or not sum(series[column].sum() for column, *_ in CACHE_COUNTS):
        return None
    rows = thinned(series)
    times, unit = midpoints(rows)
    pages = sum(
        (rows[column].cast(pl.Float64) for column, *_ in CACHE_COUNTS),
        start=pl.Series([0.0] * rows.height),
    )
    lines = [
        line(
            name,
            colour,
            [],
            rounded(100 * rows[column].cast(pl.Float64) / pages),
            hovertemplate="%{y:.3g} %",
        )
        for column, name, colour in CACHE_COUNTS
        if rows[column].sum()
    ]
    panel = _Panel("pages read (%)", lines, height=200)
    return _stacked([panel], times, unit, Active.of(rows))


def space(series: pl.DataFrame, flash_pages: int) -> Figure | None:
    """Draws the shares of a cache's flash that hold read pages, written pages and nothing
    (over-provisioning) over simulated time, and the chosen sizes. None if the division is fixed."""
    if series.is_empty() or not series["cache_write_list"].count():
        return None
    rows = thinned(series)
    times, unit = midpoints(rows)
    reads, writes, read_size, write_size = (
        100 * rows[f"cache_{column}"].cast(pl.Float64).forward_fill() / flash_pages
        for column in ("read_list", "write_list", "read_size", "write_size")
    )
    shares = (
        ("written pages", "#1f78b4", writes),
        ("read pages", "#12a07a", reads),
        ("over-provisioning", NEUTRAL, 100 - reads - writes),
    )
    lines = [
        line(name, colour, [], rounded(share), hovertemplate="%{y:.3g} %")
        | {"stackgroup": "flash", "fillcolor": colour}
        for name, colour, share in shares
    ]
    chosen = (
        ("chosen for writes", write_size),
        ("chosen for writes and reads", write_size + read_size),
    )
    lines += [
        line(name, COLLECTION, [], rounded(share), hovertemplate="%{y:.3g} %")
        | {"line": {"color": COLLECTION, "width": 1.5, "dash": "dot"}}
        for name, share in (chosen if read_size.sum() else chosen[:1])
    ]
    panel = _Panel("flash (%)", lines, height=200)
    return _stacked([panel], times, unit, Active.of(rows))


def _hit_lines(rows: pl.DataFrame) -> list[Figure]:
    lines: list[Figure] = []
    for op, colour in OPS:
        hits = rows[f"buffer_{op}_hits"].cast(pl.Float64)
        pages = hits + rows[f"buffer_{op}_misses"]
        if pages.sum():
            ratios = rounded(100 * hits / pages)
            lines.append(line(op, colour, [], ratios, hovertemplate="%{y:.3g} %"))
    return lines


@dataclass(frozen=True)
class _Panel:
    title: str
    lines: list[Figure]
    scale: Figure = field(default_factory=LINEAR.copy)
    height: int = 150


def _stacked(
    panels: Sequence[_Panel], times: list[float], unit: str, active: Active | None
) -> Figure:
    """Stacks panels on a common time axis."""
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
        axes |= pause_switch(times, unit, active)
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
    lines = latency_lines(rows)
    scale = decades("", known_values(lines))
    return _Panel("latency (log)", [on_scale(scale, drawn) for drawn in lines], scale, height=250)


def _write_amplification(rows: pl.DataFrame) -> _Panel:
    """Draws a panel, logarithmic if intervals with few host writes stand out."""
    drawn = _plain("write amplification", rows, "write_amplification")
    values = sorted(known_values([drawn]))
    if not values or values[-1] < 10 * values[len(values) // 2]:
        return _Panel("write amplification", [drawn])
    return _Panel("write ampl. (log)", [drawn], logarithmic("", values))


def _op_lines(rows: pl.DataFrame, read: str, write: str, scale: float, unit: str) -> list[Figure]:
    columns = zip(OPS, (read, write), strict=True)
    return [
        line(op, colour, [], per_second(rows, column, scale), legendgroup=op, showlegend=False)
        | {"hovertemplate": hover(unit)}
        for (op, colour), column in columns
        if rows[column].sum()
    ]


def _bandwidth(rows: pl.DataFrame) -> _Panel:
    lines = _op_lines(rows, "read_bytes", "write_bytes", 1e-6, "MB/s")
    scale, unit = bandwidth_unit(max(known_values(lines), default=0.0))
    scaled = _op_lines(rows, "read_bytes", "write_bytes", 1e-6 / scale, unit)
    return _Panel(f"bandwidth ({unit})", scaled)


def _plain(name: str, rows: pl.DataFrame, column: str) -> Figure:
    values = rounded(rows[column])
    return line(
        name, NEUTRAL, [], values, showlegend=False, hovertemplate=hover("bytes per byte written")
    )


def _rate(name: str, rows: pl.DataFrame, column: str, scale: float, unit: str) -> Figure:
    values = per_second(rows, column, scale)
    return line(name, COLLECTION, [], values, showlegend=False, hovertemplate=hover(unit))
