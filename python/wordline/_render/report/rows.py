"""Rows of a series prepared for charts: merged, rounded, with times in a suitable unit."""

import itertools
import math
from collections.abc import Iterable
from typing import cast

import polars as pl

from wordline._render.plotly import OPS, Figure, drawn_at, line
from wordline._render.units import axis, duration

MOST_POINTS = 900


def on_scale(scale: Figure, drawn: Figure) -> Figure:
    """Maps a line to an axis of `decades`, which has a place for 0."""
    return drawn | {"y": [us if us is None else drawn_at(scale, us) for us in drawn["y"]]}


def latency_lines(rows: pl.DataFrame) -> list[Figure]:
    """Returns lines of mean and maximum latency of reads and writes, without x values."""
    lines: list[Figure] = []
    for op, colour in OPS:
        if not rows[f"{op}_mean_us"].drop_nulls().len():
            continue
        lines.append(line(f"{op} mean", colour, [], rounded(rows[f"{op}_mean_us"]), legendgroup=op))
        lines.append(
            line(f"{op} max", colour, [], rounded(rows[f"{op}_max_us"]), legendgroup=op)
            | {"line": {"color": colour, "width": 1, "dash": "dot"}, "opacity": 0.75}
        )
    for drawn in lines:
        drawn["customdata"] = [duration(us) for us in drawn["y"]]
        drawn["hovertemplate"] = "%{customdata}"
    return lines


def known_values(lines: Iterable[Figure]) -> list[float]:
    """Returns the values of lines, without None."""
    return [value for drawn in lines for value in drawn["y"] if value is not None]


def hover(unit: str) -> str:
    """Returns the hover template of a value with its unit."""
    return f"%{{y:,.4~g}} {unit}".rstrip()


def per_second(rows: pl.DataFrame, column: str, scale: float) -> list[float | None]:
    """Returns the scaled rate per second of a count of each interval."""
    width = rows["end_s"] - rows["start_s"]
    return rounded(rows[column].cast(pl.Float64) * scale / width)


def rounded(values: pl.Series) -> list[float | None]:
    """Rounds to five significant digits; None for unknown or infinite values."""
    known = cast("list[float | None]", values.to_list())
    return [short(value) if value is not None and math.isfinite(value) else None for value in known]


def midpoints(rows: pl.DataFrame) -> tuple[list[float], str]:
    """Returns the midpoints of the intervals in a suitable unit, and the unit."""
    edges, unit = interval_edges(rows)
    return [exact((start + end) / 2) for start, end in itertools.pairwise(edges)], unit


def interval_edges(rows: pl.DataFrame) -> tuple[list[float], str]:
    """Returns the starts of the intervals and the end of the last in a suitable unit, and the
    unit."""
    starts = cast("list[float]", rows["start_s"].to_list())
    last = cast("float", rows["end_s"][-1])
    seconds, unit = axis(last)
    return [exact(edge / seconds) for edge in [*starts, last]], unit


def thinned(series: pl.DataFrame) -> pl.DataFrame:
    """Merges neighbouring intervals until at most MOST_POINTS are left."""
    every = math.ceil(series.height / MOST_POINTS)
    if every == 1:
        return series
    counts = [
        "reads",
        "writes",
        "read_bytes",
        "write_bytes",
        "host_page_writes",
        "page_programs",
        "host_written_bytes",
        "programmed_bytes",
        "gc_runs",
        "gc_pages_moved",
        "gc_time_ms",
        "gc_die_ms",
        "erases",
        "blocks_retired",
        "spares_taken",
        "read_retries",
        "refreshes",
        "busy_ms",
        "buffer_read_hits",
        "buffer_read_misses",
        "buffer_write_hits",
        "buffer_write_misses",
        "buffer_clean_evictions",
        "buffer_dirty_evictions",
        "buffer_pages_destaged",
        "cache_resident_hits",
        "cache_suspected_hits",
        "cache_joined",
        "cache_misses",
    ]
    levels = ["cache_read_list", "cache_write_list", "cache_read_size", "cache_write_size"]
    means = [
        (pl.col(f"{op}_mean_us") * pl.col(f"{op}s"))
        .sum()
        .truediv(pl.col(f"{op}s").sum())
        .alias(f"{op}_mean_us")
        .fill_nan(None)
        for op in ("read", "write")
    ]
    return (
        series.with_row_index("row")
        .group_by(pl.col("row") // every, maintain_order=True)
        .agg(
            pl.col("start_s").first(),
            pl.col("end_s").last(),
            pl.col(*counts).sum(),
            pl.col(*levels).drop_nulls().last(),
            pl.col("read_max_us", "write_max_us").max(),
            *means,
        )
        .with_columns(
            write_amplification=pl.when(pl.col("host_written_bytes") > 0).then(
                pl.col("programmed_bytes") / pl.col("host_written_bytes")
            )
        )
    )


def short(value: float) -> float:
    """Rounds to five significant digits."""
    return float(f"{value:.5g}")


def exact(value: float) -> float:
    """Rounds to seven significant digits."""
    return float(f"{value:.7g}")
