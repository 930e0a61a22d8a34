"""Results of a sweep."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline._internal import output_folder, own_version, pickling
from wordline._render import units
from wordline._sweep.points import Points

if TYPE_CHECKING:
    import polars

    from wordline._sweep.plan import Plan


class Sweep(Points):
    """Results of a sweep. The table is created or read on first use."""

    def intervals(self) -> polars.DataFrame:
        """Returns one row per combination of the keys except the seed: the mean of every metric and
        the half width of its 95 % confidence interval (`METRIC` and `METRIC ±`), and the number of
        points (`points`)."""
        from wordline._sweep.repeated import intervals

        return intervals(self.table())

    @property
    def failed(self) -> int:
        """Number of failed points."""
        return int((self.table()["status"] == "failed").sum())

    def compare(self, *others: object) -> Any:
        """Compares this sweep with other sweeps or runs (`wordline.compare`)."""
        from wordline._sweep.compared import compare

        return compare(self, *others)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the report, one self-contained HTML page, and returns its path. Raises
        WordlineError."""
        from wordline._sweep.report import render

        written = None if self._written is None else datetime.fromtimestamp(self._written).date()
        page = render(self.table(), self.plan, written)
        return Path(
            output_folder.write_file(path, lambda part: output_folder.write_text(part, page))
        )

    def __len__(self) -> int:
        return self.table().height

    def __repr__(self) -> str:
        return f"<wordline.Sweep of {units.many(len(self), 'point')}, {self.failed} failed>"

    def _repr_html_(self) -> str:
        from wordline._sweep.report import notebook_html

        return notebook_html(self.table())

    def __reduce__(self) -> tuple[Callable[..., Sweep], tuple[object, ...]]:
        import io

        buffer = io.BytesIO()
        self.table().write_ipc(buffer)
        return _unpickled, (
            own_version.installed(),
            buffer.getvalue(),
            self.plan,
            self.config,
            self._written,
        )


def _unpickled(
    version: str, table: bytes, plan: Plan | None, config: str | None, written: float | None
) -> Sweep:
    """Returns an unpickled sweep. Raises WordlineError if another version pickled it."""
    import polars

    pickling.require_version(version)
    return Sweep(polars.read_ipc(table), plan, config, written)
