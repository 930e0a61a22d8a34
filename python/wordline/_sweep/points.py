"""Points of a sweep, just completed or from a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Self

from wordline._internal import checksums
from wordline._sweep import plan as plans
from wordline._sweep.table import keys_of, read
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    import polars

    from wordline._sweep.plan import Plan

JOURNAL, POINTS, PLAN = "points.jsonl", "points.parquet", "sweep.toml"
CONFIG = "config.resolved.toml"


class Points:
    """Points of a sweep, either just completed or from a folder. The table is created or read on
    first use."""

    def __init__(
        self,
        source: polars.DataFrame | str,
        plan: Plan | None = None,
        config: str | None = None,
        written: float | None = None,
    ) -> None:
        self._source = source
        self.plan = plan
        self._written = written
        self.config = config
        """Configuration of the first point as TOML with every default filled in; None if
        unknown."""

    @classmethod
    def of(cls, folder: str | os.PathLike[str]) -> Self:
        """Returns the sweep in a folder. Raises WordlineError."""
        path = Path(folder) / POINTS
        if not path.is_file():
            raise WordlineError(f"{os.fspath(folder)}: holds no {POINTS}; name a sweep's folder")
        checksums.require_whole(folder)
        plan, config = Path(folder) / PLAN, Path(folder) / CONFIG
        return cls(
            str(path),
            plans.read(plan) if plan.is_file() else None,
            config.read_text(encoding="utf-8") if config.is_file() else None,
            path.stat().st_mtime,
        )

    def table(self) -> polars.DataFrame:
        """Returns one row per point: `point`, `key`, the varied keys, `status`, `error`, the
        metrics of the summary by path, `digest` and `version`. Raises WordlineError if the table
        cannot be read."""
        if isinstance(self._source, str):
            self._source = read(self._source)
        return self._source

    @property
    def keys(self) -> list[str]:
        """The varied keys."""
        return keys_of(self.table())
