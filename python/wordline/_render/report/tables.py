"""Tables that a report is drawn from."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Tables:
    """Tables that a report is drawn from."""

    series: pl.DataFrame
    latency: pl.DataFrame
    blocks: pl.DataFrame | None = None
    """Present, like `wear`, if the run had flash."""
    wear: pl.DataFrame | None = None
    latency_by: pl.DataFrame | None = None
    """Present if the run had several streams or an array."""
