"""Results of a run."""

from __future__ import annotations

import os
from functools import cached_property

import wordline
from wordline import _wordline
from wordline._internal import interruption, output_folder, own_version, set_lines
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    import polars as pl

    from wordline._internal.pickling import Outcome, Tables
    from wordline.summary import Smart


class Table:
    """A result table. Arrow libraries share it without a copy.

    pl.DataFrame(r.series)         # polars
    pd.DataFrame.from_arrow(r.series)   # pandas 3; pd.DataFrame(r.series) copies row by row
    pa.table(r.series)             # pyarrow
    duckdb.from_arrow(r.series)    # DuckDB
    """

    def __init__(self, outcome: Tables, name: str) -> None:
        self._outcome = outcome
        self.name = name

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._outcome.table(self.name).__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self.polars().height

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Iterates over the rows in order, as named tuples."""
        from collections import namedtuple

        frame = self.polars()
        row = namedtuple("Row", frame.columns)  # pyright: ignore[reportUntypedNamedTuple]
        return map(row._make, frame.iter_rows())

    def __reduce__(self) -> tuple[Callable[..., Table], tuple[str, str, bytes]]:
        return table_of, (own_version.installed(), self.name, self.to_ipc())

    def to_ipc(self) -> bytes:
        """Returns the table as an Arrow IPC stream."""
        return self._outcome.table(self.name).to_ipc()

    def polars(self) -> pl.DataFrame:
        """Returns the table as a polars data frame."""
        import polars as pl

        return pl.DataFrame(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the table as Parquet. Raises WordlineError if the file cannot be written."""
        output_folder.write_file(path, self._write_parquet)

    def _write_parquet(self, path: str) -> None:
        self._outcome.write_table(self.name, path)

    def __repr__(self) -> str:
        return f"{self.name}: {self.polars()}"

    def _repr_html_(self) -> str:
        return self.polars()._repr_html_()  # pyright: ignore[reportPrivateUsage]


class Result:
    """Result of a run: a summary, tables, and the configuration of the run."""

    def __init__(self, outcome: Outcome, settings: Sequence[tuple[str, str]] = ()) -> None:
        self._outcome = outcome
        self._settings = settings

    def __reduce__(self) -> tuple[Callable[..., Result], tuple[object, ...]]:
        # The state consists of texts and Arrow streams. Only the same version can unpickle it.
        from wordline._internal import pickling

        return result_of, (own_version.installed(), pickling.state(self._outcome), self._settings)

    @cached_property
    def summary(self) -> wordline.Summary:
        """Content of summary.json. Units are in the keys; absent numbers are None."""
        import json

        return json.loads(self._outcome.summary_text())

    @property
    def smart(self) -> list[Smart]:
        """Health of each SSD that is not a cache: the modelled fields of the NVMe SMART / Health
        Information log page."""
        return self.summary["smart"]

    @property
    def partial(self) -> bool:
        """Whether the run ended before its input did."""
        return self._outcome.partial

    @property
    def config(self) -> str:
        """Configuration as TOML with every default filled in. A run of it gives the same results,
        unless a policy was given as code."""
        return self._outcome.config_toml()

    @property
    def requests(self) -> Table:
        """One row per request, in order of completion; times are in picoseconds.

        Columns: index, stream, number (position in the input of the stream), op, offset, bytes,
        arrival_ps, latency_ps, and the latency components host_queue_ps to gc_ps, which sum to
        latency_ps exactly. An array adds member: the member that completed the last part.

        Raises WordlineError if the run was made with requests=False.
        """
        if "requests" not in self._outcome.tables:
            raise WordlineError("requests were not recorded; run with requests=True")
        return Table(self._outcome, "requests")

    @property
    def series(self) -> Table:
        """One row per interval of simulated time: load, mean and maximum latency, write
        amplification, garbage collection, hits and evictions of the DRAM buffer, and the share of
        the interval in which each channel and die was busy."""
        return Table(self._outcome, "series")

    @property
    def members(self) -> Table:
        """Series of each member of an array, or of a RAM disk: member, and the columns of `series`.
        Intervals differ between members.

        Raises WordlineError if the results have no such table.
        """
        if "members" not in self._outcome.tables:
            raise WordlineError(
                "the results have no series of members; simulate a device with an [array] table"
            )
        return Table(self._outcome, "members")

    @property
    def latency(self) -> Table:
        """Latency distribution of all requests, reads and writes: op, latency_us, fraction_below,
        count."""
        return Table(self._outcome, "latency")

    @property
    def dies(self) -> Table:
        """Use of each flash die: channel, way, die, time occupied, array time by operation and bus
        time in microseconds, energy by stage in millijoules."""
        return self._of_flash("dies")

    @property
    def blocks(self) -> Table:
        """Erase counts of blocks, including preconditioning: channel, way, die, plane, block, and
        the minimum, mean and maximum count (erases_min, erases, erases_max) of the blocks that the
        row covers. A row covers one block, or several consecutive blocks if the device has more
        than a million."""
        return self._of_flash("blocks")

    @property
    def wear(self) -> Table:
        """Blocks by erase count, including preconditioning: one row per erase count (erases_min
        equals erases_max), with the number of blocks. A row covers a range of counts if
        there are more than 1024 counts."""
        return self._of_flash("wear")

    def _of_flash(self, name: str) -> Table:
        """Returns a table of the flash. Raises WordlineError if the run had no flash."""
        if name not in self._outcome.tables:
            raise WordlineError(
                f"a device without flash has no table `{name}`; add [cache] to put flash in front "
                "of the disk"
            )
        return Table(self._outcome, name)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the HTML report, one self-contained file, and returns its path.

        Raises WordlineError if the file cannot be written.
        """
        from pathlib import Path

        page = self._page()
        return Path(
            output_folder.write_file(path, lambda part: output_folder.write_text(part, page))
        )

    def write(
        self, path: str | os.PathLike[str], *, report: bool = True, numbered: bool = False
    ) -> list[Path]:
        """Writes summary.json, config.resolved.toml, the tables as Parquet and report.html into a
        folder, and returns their paths. The folder appears complete or not at all.

        Results of an earlier run in the folder are replaced; a folder with any other content is
        rejected. With `numbered`, existing folders are kept, and the results go to the first unused
        name of path, path-2, path-3, ... Raises WordlineError.
        """
        from pathlib import Path

        return [
            Path(file)
            for file in output_folder.write(path, self._writers(report), "run", numbered=numbered)
        ]

    def _annotated_config(self) -> str:
        """Returns the configuration, preceded by comments with the keys that were set for this run.
        Long values, such as the streams of a job file, are truncated."""
        return set_lines.text_of(self._settings) + self.config

    def _writers(self, report: bool) -> dict[str, output_folder.Writer]:
        texts = {
            "summary.json": lambda: self._outcome.summary_text() + "\n",
            "config.resolved.toml": self._annotated_config,
        }
        writers: dict[str, output_folder.Writer] = {
            name: lambda part, text=text: output_folder.write_text(part, text())
            for name, text in texts.items()
        }
        for name in self._outcome.tables:
            writers[f"{name}.parquet"] = Table(self._outcome, name)._write_parquet  # pyright: ignore[reportPrivateUsage]
        if report:
            writers["report.html"] = lambda part: output_folder.write_text(part, self._page())
        return writers

    def _page(self) -> str:
        if _threadless:
            return self._page_of_another_process()
        # Some imports turn KeyboardInterrupt into another exception.
        with interruption.undisturbed():
            from wordline._render.report import MORE, Tables, render

        there = self._outcome.tables
        drawn = Tables(
            self.series.polars(),
            self.latency.polars(),
            **{name: Table(self._outcome, name).polars() for name in MORE if name in there},
        )
        return render(self.summary, self._annotated_config(), drawn)

    def _page_of_another_process(self) -> str:
        import subprocess
        import sys
        import tempfile
        from pathlib import Path

        with tempfile.TemporaryDirectory(prefix="wordline-") as place:
            folder, page = Path(place, "run"), Path(place, "page.html")
            output_folder.write(folder, self._writers(report=False), "run")
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-m", "wordline", "report", folder, "--out", page],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                raise WordlineError(done.stderr.strip().removeprefix("error: "))
            return page.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        from wordline._render.terminal.run import one_line

        return f"<wordline.Result {one_line(self.summary)}>"

    def _repr_html_(self) -> str:
        from wordline._render.notebook import run_html

        return run_html(self.summary)


def result_of(
    version: str, state: dict[str, Any], settings: Sequence[tuple[str, str]] = ()
) -> Result:
    """Returns an unpickled result. Raises WordlineError if another version pickled it."""
    from wordline._internal import pickling

    pickling.require_version(version)
    return Result(pickling.Pickled(**state), settings)


def table_of(version: str, name: str, stream: bytes) -> Table:
    """Returns an unpickled table. Raises WordlineError if another version pickled it."""
    from wordline._internal import pickling

    pickling.require_version(version)
    return Table(pickling.OneTable(_wordline.Table.from_ipc(stream)), name)


_threadless: list[str] = []
"""Libraries that were loaded before this process was forked. Their threads do not exist in the
child."""


def _forked() -> None:
    import sys

    if "polars" in sys.modules:
        _threadless.append("polars")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def summary_text(result: Result) -> str:
    """Returns the content of summary.json without the final newline."""
    return result._outcome.summary_text()  # pyright: ignore[reportPrivateUsage]


def write(
    result: Result,
    path: str | os.PathLike[str],
    *,
    numbered: bool,
    more: Mapping[str, output_folder.Writer],
) -> list[str]:
    """Writes the result without its report, together with the files of `more`; returns paths as
    strings."""
    writers = {**result._writers(report=False), **more}  # pyright: ignore[reportPrivateUsage]
    return output_folder.write(path, writers, "run", numbered=numbered)


def draw(result: Result, folder: str) -> str:
    """Draws the report of a result into its folder and returns the path. Raises WordlineError."""
    page = result._page()  # pyright: ignore[reportPrivateUsage]
    return output_folder.write_file(
        os.path.join(folder, "report.html"), lambda part: output_folder.write_text(part, page)
    )
