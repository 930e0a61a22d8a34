"""Intervals of a long series are merged according to the meaning of each column."""

from pathlib import Path

import wordline
from wordline._render.report import time_series
from wordline._render.report.rows import MOST_POINTS, thinned

TRACE = Path(__file__).parents[2] / "traces" / "postgresql-mixed.csv.gz"


def test_merged_intervals_keep_the_final_list_sizes() -> None:
    result = wordline.run(
        "demo-store",
        trace=TRACE,
        overrides={
            "cache.partition": {"op-fcl": {"period_requests": 2_000}},
            "series.interval_ms": 10.0,
        },
        max_requests=20_000,
        requests=False,
    )
    series, cache = result.series.polars(), result.summary["cache"]
    assert cache is not None
    assert series.height > MOST_POINTS
    rows = thinned(series)
    assert rows.height <= MOST_POINTS
    assert rows["writes"].sum() == series["writes"].sum()
    for column in ("cache_read_list", "cache_write_list"):
        assert rows[column].drop_nulls()[-1] == series[column].drop_nulls()[-1]
    assert time_series.space(series, cache["flash_pages"]) is not None
