"""What a process does for a sweep: it runs a point, or prepares a device for several."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import wordline
from wordline import _wordline, simulation
from wordline._wordline import WordlineError

Figures: TypeAlias = "dict[str, float | int | str | bool | None]"
"""The figures of a summary by their paths."""

# How fast a run was differs from one time to the next; the others stand in columns of their own.
LEFT_OUT = ("speed", "schema", "version", "digest", "seed", "error", "partial")


UPLOADED = "dask-worker:"
"""Begins the path of a trace that was sent to the workers of a cluster."""


@dataclass(frozen=True)
class Job:
    """A point as a process runs it."""

    device: str
    trace: tuple[str, ...]
    seed: int
    overrides: Mapping[str, Any]
    options: Mapping[str, Any]
    prepared: str | None = None


@dataclass(frozen=True)
class Done:
    """What came of a point: figures and digest, or why there are none."""

    figures: Figures
    digest: str
    fault: str = ""


@dataclass(frozen=True)
class Run:
    """What came of a point: its summary and configuration, or why there is none."""

    summary: Mapping[str, Any] | None
    config: str
    fault: str = ""


def run(job: Job) -> Done:
    """Runs a point for its figures."""
    found = summarise(job)
    if found.summary is None:
        return Done({}, "", found.fault)
    return Done(figures(found.summary), found.summary["digest"])


def summarise(job: Job) -> Run:
    """Runs a point for its summary and its configuration."""
    if simulation.decoded is None:
        simulation.decoded = _wordline.Decoded()
    prepared = job.prepared if job.prepared and os.path.exists(job.prepared) else None  # noqa: PTH110
    try:
        result = wordline.run(
            job.device,
            [here(path) for path in job.trace] or None,
            overrides=job.overrides,
            seed=job.seed,
            requests=False,
            prepared=prepared,
            **job.options,
        )
    except WordlineError as fault:
        return Run(None, "", str(fault))
    return Run(cast("Mapping[str, Any]", result.summary), result.config)


def here(path: str) -> str:
    """Where a trace is in this process."""
    if not path.startswith(UPLOADED):
        return path
    from distributed import get_worker

    return os.path.join(get_worker().local_directory, path.removeprefix(UPLOADED))  # noqa: PTH118


def prepare(job: Job, path: str) -> str:
    """Prepares the device of a point; returns why it could not, if so."""
    try:
        wordline.prepare(job.device, path, overrides=job.overrides, seed=job.seed)
    except WordlineError as fault:
        return str(fault)
    return ""


def figures(summary: Mapping[str, Any]) -> Figures:
    """The numbers, words and answers of a summary by their paths; lists are left out."""
    found: Figures = {}
    for key, value in summary.items():
        if key not in LEFT_OUT:
            _flatten(key, value, found)
    return found


def _flatten(path: str, value: object, found: Figures) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            _flatten(f"{path}.{key}", inner, found)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, float | int | str | bool) or value is None:
        found[path] = value
