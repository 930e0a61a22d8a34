"""Writes the requests of a result as fio log files, for fio-plot and similar tools.

Format: fio's HOWTO, "Log File Formats": milliseconds, value, direction (0 read, 1 write, 2 trim),
size in bytes, priority (0).
"""

import os
from pathlib import Path
from typing import Any

from wordline._api import spelling
from wordline._internal import checksums, output_folder
from wordline._wordline import WordlineError

DIRECTIONS = {"read": 0, "write": 1, "trim": 2}
PS_PER_NS, PS_PER_MS = 1_000, 1_000_000_000
COLUMNS = ["stream", "op", "bytes", "arrival_ps", "latency_ps", "host_queue_ps"]


def write(
    results: str | os.PathLike[str], prefix: str | os.PathLike[str], log_avg_msec: int = 0
) -> list[Path]:
    """Writes PREFIX_lat.N.log, _slat, _clat, _bw and _iops for each stream N, counted from 1.

    `results` is the folder of a run with `requests`. A line is a completed request with latencies
    in nanoseconds: slat until the device accepts it, clat from then to completion, lat in total.
    With `log_avg_msec`, a line is an interval of this many milliseconds and a direction, with mean
    latencies, KiB/s and requests per second, as with fio's option of the same name. Raises
    WordlineError.
    """
    if log_avg_msec < 0:
        raise WordlineError(f"log_avg_msec: {log_avg_msec} is negative; give milliseconds, or 0")
    rows = _rows(Path(results))
    files: list[Path] = []
    for stream in sorted(rows["stream"].unique()):
        one = rows.filter(rows["stream"] == stream)
        lines = _intervals(one, log_avg_msec) if log_avg_msec else _each(one)
        for kind in ("lat", "slat", "clat", "bw", "iops"):
            Path(prefix).parent.mkdir(parents=True, exist_ok=True)
            path = Path(f"{os.fspath(prefix)}_{kind}.{stream + 1}.log")
            text = lines[kind].str.join("\n").item() + "\n"
            target = output_folder.write_file(
                path, lambda part, text=text: output_folder.write_text(part, text)
            )
            files.append(Path(target))
    return files


def _rows(results: Path) -> Any:
    """Returns the requests that move or trim data in order of completion, with times in
    nanoseconds."""
    import polars as pl

    path = results / "requests.parquet"
    if not path.exists():
        raise WordlineError(spelling.message(f"{path}: no such file; run again with --requests"))
    checksums.require_whole(results)
    try:
        rows = pl.read_parquet(path, columns=COLUMNS)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise WordlineError(
            spelling.message(f"{path}: no table of requests; run again with --requests")
        ) from error
    rows = rows.with_columns(pl.col("op").cast(pl.String)).filter(pl.col("op") != "flush")
    if rows.is_empty():
        raise WordlineError(f"{path}: holds no requests; run again with a load")
    latency, waited = pl.col("latency_ps"), pl.col("host_queue_ps")
    return rows.select(
        "stream",
        "bytes",
        direction=pl.col("op").replace_strict(DIRECTIONS, return_dtype=pl.UInt8),
        done_ps=pl.col("arrival_ps") + latency,
        lat=latency // PS_PER_NS,
        slat=waited // PS_PER_NS,
        # Both values are rounded first, so that slat and clat add up to lat.
        clat=latency // PS_PER_NS - waited // PS_PER_NS,
    ).sort("done_ps", maintain_order=True)


def _lines(rows: Any, values: dict[str, Any], size: Any) -> Any:
    import polars as pl

    def line(value: Any) -> Any:
        fields = [pl.col("ms"), value, pl.col("direction"), size, pl.lit(0)]
        return pl.concat_str([part.cast(pl.String) for part in fields], separator=", ")

    return rows.select(**{kind: line(value) for kind, value in values.items()})


def _each(rows: Any) -> Any:
    """Returns a line per request. The bandwidth of a request is its size divided by its latency."""
    import polars as pl

    rows = rows.with_columns(ms=pl.col("done_ps") // PS_PER_MS)
    seconds = pl.max_horizontal(pl.col("lat"), 1) / 1e9
    values = {kind: pl.col(kind) for kind in ("lat", "slat", "clat")}
    values["bw"] = (pl.col("bytes") / 1024 / seconds).round().cast(pl.Int64)
    values["iops"] = pl.lit(1)
    return _lines(rows, values, pl.col("bytes"))


def _intervals(rows: Any, msec: int) -> Any:
    """Returns a line per interval and direction. The last interval ends with the last request."""
    import polars as pl

    width = msec * PS_PER_MS
    last = rows["done_ps"].max()
    rows = rows.with_columns(interval=pl.col("done_ps") // width)
    rows = rows.group_by("interval", "direction").agg(
        pl.col("lat", "slat", "clat").mean().round().cast(pl.Int64),
        pl.col("bytes").sum(),
        count=pl.len(),
    )
    end = pl.min_horizontal((pl.col("interval") + 1) * width, last)
    seconds = pl.max_horizontal(end - pl.col("interval") * width, 1) / 1e12
    rows = rows.with_columns(
        ms=-(-end // PS_PER_MS),
        bw=(pl.col("bytes") / 1024 / seconds).round().cast(pl.Int64),
        iops=(pl.col("count") / seconds).round().cast(pl.Int64),
    ).sort("interval", "direction")
    values = {kind: pl.col(kind) for kind in ("lat", "slat", "clat", "bw", "iops")}
    return _lines(rows, values, pl.lit(0))
