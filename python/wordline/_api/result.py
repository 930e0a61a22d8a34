"""What a run leaves behind."""

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
    """A result table, shared with any Arrow library without a copy.

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
        """The rows in order, each a named tuple."""
        from collections import namedtuple

        frame = self.polars()
        row = namedtuple("Row", frame.columns)  # pyright: ignore[reportUntypedNamedTuple]
        return map(row._make, frame.iter_rows())

    def __reduce__(self) -> tuple[Callable[..., Table], tuple[str, str, bytes]]:
        return table_of, (own_version.installed(), self.name, self.to_ipc())

    def to_ipc(self) -> bytes:
        """The table as an Arrow stream."""
        return self._outcome.table(self.name).to_ipc()

    def polars(self) -> pl.DataFrame:
        """The table as a polars frame."""
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
    """The outcome of a run: a summary, tables, the configuration it was run with."""

    def __init__(self, outcome: Outcome, settings: Sequence[tuple[str, str]] = ()) -> None:
        self._outcome = outcome
        self._settings = settings

    def __reduce__(self) -> tuple[Callable[..., Result], tuple[object, ...]]:
        # Made of texts and Arrow streams, and read by the same version alone.
        from wordline._internal import pickling

        return result_of, (own_version.installed(), pickling.state(self._outcome), self._settings)

    @cached_property
    def summary(self) -> wordline.Summary:
        """The content of summary.json; units are in the keys, absent numbers are None."""
        import json

        return json.loads(self._outcome.summary_text())

    @property
    def smart(self) -> list[Smart]:
        """What each SSD that is no cache would say of its health: the SMART / Health Information
        log page of NVMe, as far as the model has it."""
        return self.summary["smart"]

    @property
    def partial(self) -> bool:
        """Whether the run ended before its input did."""
        return self._outcome.partial

    @property
    def config(self) -> str:
        """The configuration as TOML, every default filled in; running it again gives the same,
        if no policy was given as code."""
        return self._outcome.config_toml()

    @property
    def requests(self) -> Table:
        """A row per request, in the order of completion; times in picoseconds.

        index, stream, number (the place in the input of the stream), op, offset, bytes,
        arrival_ps, latency_ps, and the parts that sum to it exactly, from host_queue_ps to gc_ps;
        of an array also member, the one that the part done last went to.
        Raises WordlineError if the run was made with requests=False.
        """
        if "requests" not in self._outcome.tables:
            raise WordlineError("requests were not recorded; run with requests=True")
        return Table(self._outcome, "requests")

    @property
    def series(self) -> Table:
        """A row per interval of simulated time: load, mean and longest latency, write
        amplification, collection, hits and evictions of the DRAM buffer, and the share of the
        interval that each channel and die was busy."""
        return Table(self._outcome, "series")

    @property
    def members(self) -> Table:
        """The series of each member of an array: member, and columns as of `series`. The intervals
        of one member are not those of another.

        Raises WordlineError if the device is no array.
        """
        if "members" not in self._outcome.tables:
            raise WordlineError("the device is no array; give it an [array] table")
        return Table(self._outcome, "members")

    @property
    def latency(self) -> Table:
        """The latency distribution of all requests, reads and writes: op, latency_us,
        fraction_below, count."""
        return Table(self._outcome, "latency")

    @property
    def dies(self) -> Table:
        """What each die of flash was used for: channel, way, die, time occupied, array time by
        operation and bus time in microseconds, energy by stage in millijoules."""
        return self._of_flash("dies")

    @property
    def blocks(self) -> Table:
        """How often blocks were erased, preconditioning included: channel, way, die, plane, block,
        and the least, mean and most erases (erases_min, erases, erases_max) of so many blocks from
        there on, which is one unless the device has more than a million."""
        return self._of_flash("blocks")

    @property
    def wear(self) -> Table:
        """How many blocks were erased how often, preconditioning included: a row for each number
        of erases (erases_min, which is erases_max), or for runs of numbers if there are more than
        1024, and blocks."""
        return self._of_flash("wear")

    def _of_flash(self, name: str) -> Table:
        """A table of flash. Raises WordlineError if the run had none."""
        if name not in self._outcome.tables:
            raise WordlineError(f"hard disks by themselves have no {name}; add [cache] for flash")
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
        """Writes summary.json, config.resolved.toml, the tables as Parquet and report.html into
        a folder, which appears complete or not at all, and returns their paths.

        A folder that holds a former run is replaced; any other that is not empty is refused.
        With `numbered`, whatever is there stays, and the first of path-2, path-3, ... that is free
        is taken. Raises WordlineError.
        """
        from pathlib import Path

        return [
            Path(file)
            for file in output_folder.write(path, self._writers(report), "run", numbered=numbered)
        ]

    def _annotated_config(self) -> str:
        """The configuration below the keys that were set for this run, as comments; values that
        are long, as those of all streams of a job file, are cut."""
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
        # Some imports turn an interruption into an error of theirs.
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
    """A result that was pickled. Raises WordlineError if another version did."""
    from wordline._internal import pickling

    pickling.require_version(version)
    return Result(pickling.Pickled(**state), settings)


def table_of(version: str, name: str, stream: bytes) -> Table:
    """A table that was pickled. Raises WordlineError if another version did."""
    from wordline._internal import pickling

    pickling.require_version(version)
    return Table(pickling.OneTable(_wordline.Table.from_ipc(stream)), name)


_threadless: list[str] = []
"""Libraries loaded before this process was forked, whose threads did not survive that."""


def _forked() -> None:
    import sys

    if "polars" in sys.modules:
        _threadless.append("polars")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def summary_text(result: Result) -> str:
    """The content of summary.json, without the newline at its end."""
    return result._outcome.summary_text()  # pyright: ignore[reportPrivateUsage]


def write(
    result: Result,
    path: str | os.PathLike[str],
    *,
    numbered: bool,
    more: Mapping[str, output_folder.Writer],
) -> list[str]:
    """`Result.write` for strings, without the report; `more` files are written with the result."""
    writers = {**result._writers(report=False), **more}  # pyright: ignore[reportPrivateUsage]
    return output_folder.write(path, writers, "run", numbered=numbered)


def draw(result: Result, folder: str) -> str:
    """Draws the report of a result into its folder; returns the path. Raises WordlineError."""
    page = result._page()  # pyright: ignore[reportPrivateUsage]
    return output_folder.write_file(
        os.path.join(folder, "report.html"), lambda part: output_folder.write_text(part, page)
    )
