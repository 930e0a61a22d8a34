"""Work of a worker process: runs a point, or prepares a device for several points."""

from __future__ import annotations

import os
import zlib
from base64 import b64decode, b64encode
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from wordline import _wordline
from wordline._api import simulation, state
from wordline._api.figures import Figures, figures
from wordline._api.result import Result, Table, table_of
from wordline._internal import own_version
from wordline._sweep.prepared_devices import KEPT
from wordline._wordline import WordlineError
from wordline.config import Source

if TYPE_CHECKING:
    import polars

DECODED = _wordline.Decoded()
"""Traces that the points of this process have decoded."""


@dataclass(frozen=True)
class Job:
    """A point as a worker process runs it. The process may have access only to the traces."""

    device: Source
    trace: tuple[str, ...]
    seed: int
    overrides: Mapping[str, Any]
    options: Mapping[str, Any]
    prepared: str | None = None
    """File with the prepared device of the point, if there is one."""
    preparation: str | None = None
    """Identifier of the preparation if the process keeps the prepared device."""
    folder: str | None = None
    """Folder in which the process keeps the prepared device; None for a folder of its own."""
    tables: tuple[str, ...] = ()
    """Tables of the result that are needed in addition to its summary: requests, series."""
    sent: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names of traces that were sent to the workers of a cluster, by path."""


@dataclass(frozen=True)
class Done:
    """Result of a point: metrics and digest, or the error that prevented them."""

    figures: Figures
    digest: str
    fault: str = ""


@dataclass(frozen=True)
class Run:
    """Result of a point: summary, configuration and requested tables, or the error that prevented
    them."""

    summary: Mapping[str, Any] | None
    config: str
    fault: str = ""
    tables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Arrow streams by name, compressed with zlib and encoded in base64."""

    def table(self, name: str) -> polars.DataFrame:
        """Returns one of the tables."""
        stream = zlib.decompress(b64decode(self.tables[name]))
        return table_of(own_version.installed(), name, stream).polars()


def run(job: Job) -> Done:
    """Runs a point for its metrics."""
    found = summarise(job)
    if found.summary is None:
        return Done({}, "", found.fault)
    return Done(figures(found.summary), found.summary["digest"])


def summarise(job: Job) -> Run:
    """Runs a point for its summary, configuration and tables."""
    try:
        result = simulated(job)
    except WordlineError as fault:
        return Run(None, "", str(fault))
    tables: dict[str, Table] = {name: getattr(result, name) for name in job.tables}
    packed = {name: _packed(table.to_ipc()) for name, table in tables.items()}
    return Run(cast("Mapping[str, Any]", result.summary), result.config, tables=packed)


def _packed(stream: bytes) -> str:
    return b64encode(zlib.compress(stream, 1)).decode()


def simulated(job: Job) -> Result:
    """Runs a point. Raises WordlineError; its message names traces by the paths that the sweep was
    given."""
    places = {path: _arrived(name) for path, name in job.sent.items()}
    before = simulation.decoded.set(DECODED)
    try:
        with _prepared(job) as prepared:
            return simulation.run(
                job.device,
                [places.get(path, path) for path in job.trace] or None,
                overrides=job.overrides,
                seed=job.seed,
                requests="requests" in job.tables,
                prepared=prepared,
                **job.options,
            )
    except WordlineError as fault:
        told = str(fault)
        for path, place in places.items():
            told = told.replace(place, path)
        raise WordlineError(told) from None
    finally:
        simulation.decoded.reset(before)


@contextmanager
def _prepared(job: Job) -> Generator[str | None]:
    """Yields a file with the prepared device of a point; None if there is none, or if preparation
    failed."""
    if job.preparation is None:
        yield job.prepared if job.prepared and os.path.exists(job.prepared) else None  # noqa: PTH110
        return
    with KEPT.file(job.preparation, job.folder, lambda path: not prepare(job, path)) as path:
        yield path


def _arrived(name: str) -> str:
    """Returns the path of a trace that was sent to this worker."""
    from distributed import get_worker

    return os.path.join(get_worker().local_directory, name)  # noqa: PTH118


def prepare(job: Job, path: str) -> str:
    """Prepares the device of a point. Returns the error, empty on success."""
    try:
        state.prepare(job.device, path, overrides=job.overrides, seed=job.seed)
    except WordlineError as fault:
        return str(fault)
    return ""
