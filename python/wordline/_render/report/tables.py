"""The tables that a report is drawn from."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class Tables:
    """The tables a report is drawn from."""

    series: pl.DataFrame
    latency: pl.DataFrame
    blocks: pl.DataFrame | None = None
    """Of flash, as `wear`."""
    wear: pl.DataFrame | None = None
    latency_by: pl.DataFrame | None = None
    """Of several streams or an array."""
