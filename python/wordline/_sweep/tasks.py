"""Turns points into tasks: checks each configuration, and merges equal points."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from wordline import _wordline, config
from wordline._api import spelling, state, trace_input
from wordline._internal import own_version
from wordline._internal.arguments import flag, whole
from wordline._sweep.plan import Point
from wordline._sweep.work import Job
from wordline._wordline import WordlineError
from wordline.config import Overrides, Source

WORTH_SHARING = 0.1
"""Random page writes, relative to the user pages, from which several points share a preparation.
For 64 GiB (`d4` with 4,096 blocks per plane), reading the state from its file takes 0.08 CPU s more
than filling the device. Random writes of 0.04 of its pages take as long."""

TABLES = (("requests",), ("series",), ("requests", "series"))
"""Sets of tables that a task can return in addition to its summary."""


@dataclass
class Task:
    """A run for one or more equal points."""

    key: str
    job: Job
    points: list[Point]
    memory_bytes: int
    """Estimated maximum memory of the run in bytes."""
    preparation: str | None
    """Identifier of the preparation that it shares with other tasks."""
    tried: int = field(default=0)


@dataclass(frozen=True)
class _Device:
    resolved: str
    memory_bytes: int
    refusal: str
    prepares: bool
    """Whether the preparation is worth sharing."""


def tasks(points: Sequence[Point], *, here: bool = True) -> list[Task]:
    """Returns the tasks of points in order. Raises WordlineError that names the first point that
    cannot run. With `here`, insufficient memory is an error; otherwise it is not, because
    other machines may have more."""
    known = Known(here=here)
    found: dict[str, Task] = {}
    for point in points:
        try:
            task = known.task(point)
        except (WordlineError, TypeError) as fault:  # A plan may have values of any type.
            raise WordlineError(f"{point}: {fault}") from None
        if task.key in found:
            found[task.key].points.append(point)
        else:
            found[task.key] = task
    share(found.values())
    return list(found.values())


def share(tasks: Collection[Task]) -> None:
    """Keeps only those preparations that several tasks share."""
    shared = Counter(task.preparation for task in tasks)
    for task in tasks:
        if shared[task.preparation] < 2:
            task.preparation = None


def by_preparation(tasks: Sequence[Task]) -> list[Task]:
    """Sorts tasks so that those with the same preparation are consecutive."""
    places: dict[str | None, int] = {}
    for task in tasks:
        places.setdefault(task.preparation, len(places))
    return sorted(tasks, key=lambda task: places[task.preparation])


def input_faults(tasks: Sequence[Task]) -> dict[str, str]:
    """Returns the errors of tasks whose input cannot be read or does not fit the device, by key.
    Reads each trace once."""
    found: dict[str, str] = {}
    by_trace: dict[tuple[str, ...], list[Task]] = {}
    for task in tasks:
        by_trace.setdefault(task.job.trace, []).append(task)
    for own in by_trace.values():
        # Only the requests of one trace are kept at a time.
        inputs = _wordline.Inputs()
        for task in own:
            try:
                fault = input_fault(inputs, task.job)
            except (WordlineError, TypeError) as refused:
                fault = str(refused)
            if fault:
                found[task.key] = fault
    return found


def input_fault(inputs: _wordline.Inputs, job: Job) -> str:
    """Returns the reason why the input of a run cannot be read or does not fit its device; empty if
    the input is usable."""
    options = trace_input.trace_options(**_reader(job.options))
    for key in ("verify", "slowdown"):
        flag(key, job.options.get(key, False))
    others: dict[str, object] = {"slowdown": job.options.get("slowdown")}
    for key in ("max_requests", "power_cut_every"):
        if job.options.get(key) is not None:
            others[key] = whole(key, job.options[key], 1)
    text, name = config.read(job.device)
    traces = trace_input.paths(job.trace)
    fault = inputs.fault(text, name, config.settings(job.overrides), traces, options | others)
    return spelling.message(fault) if fault else ""


class Known:
    """Checked devices and traces, shared by the points of a sweep. `here` is whether the points run
    on this machine."""

    def __init__(self, *, here: bool = True) -> None:
        self._here = here
        self._program = (own_version.installed(), _wordline.build())
        self._sources: dict[str | Source, Source] = {}
        self._devices: dict[str, _Device] = {}
        self._traces: dict[tuple[str, ...], str] = {}

    def task(self, point: Point, tables: tuple[str, ...] = ()) -> Task:
        """Returns the task of a point, which returns these tables in addition to its summary.
        Raises WordlineError if the point cannot run."""
        trace_input.trace_options(**_reader(point.options))
        if point.device not in self._sources:
            self._sources[point.device] = Source(*config.read(point.device))
        source = self._sources[point.device]
        text = _named(point)
        if text not in self._devices:
            self._devices[text] = _device(source, point.overrides)
        device = self._devices[text]
        if device.refusal and self._here:
            raise WordlineError(device.refusal)
        if point.trace not in self._traces:
            self._traces[point.trace] = identity(point.trace)
        preparation = None
        if device.prepares and not point.options.get("power_cut_every"):
            preparation = state.preparation(source, overrides=point.overrides, seed=point.seed)
        return Task(
            self._key(device, point, tables),
            Job(source, point.trace, point.seed, point.overrides, point.options, tables=tables),
            [point],
            device.memory_bytes,
            preparation,
        )

    def wider(self, point: Point, tables: tuple[str, ...]) -> list[str]:
        """Returns the keys of the tasks of a point that return more tables. The point has a
        task."""
        device = self._devices[_named(point)]
        return [self._key(device, point, more) for more in TABLES if {*more} > {*tables}]

    def _key(self, device: _Device, point: Point, tables: tuple[str, ...]) -> str:
        parts = [
            device.resolved,
            self._traces[point.trace],
            point.seed,
            point.options,
            *self._program,
            *tables,
        ]
        told = json.dumps(parts, sort_keys=True, default=str).encode()
        return hashlib.sha256(told).hexdigest()[:32]


def _named(point: Point) -> str:
    return json.dumps([point.device, point.overrides], default=str)


def _device(source: Source, overrides: Overrides) -> _Device:
    memory = config.memory(source, overrides)
    resolved = config.show(source, overrides)
    prepares = memory["overwrite_ratio"] >= WORTH_SHARING
    return _Device(resolved, memory["most_bytes"], memory["refusal"] or "", prepares)


def _reader(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of the trace reader, with the defaults of `wordline.run`."""
    own = ("max_requests", "power_cut_every", "verify", "slowdown")
    strict = {
        "format": None,
        "on_bad_line": "error",
        "time_order": "error",
        "align": "error",
        "volumes": "one",
    }
    return strict | {key: value for key, value in options.items() if key not in own}


def identity(traces: tuple[str, ...]) -> str:
    """Returns the hash of the content of traces. Raises WordlineError if a trace cannot be read, or
    only once, such as a pipe."""
    whole = hashlib.sha256()
    for path in trace_input.paths(traces):
        if path == "-" or (os.path.exists(path) and not os.path.isfile(path)):  # noqa: PTH110, PTH113
            raise WordlineError(f"{path}: cannot be read more than once; name a regular file")
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                whole.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as fault:
            raise WordlineError(
                f"{path}: {fault.strerror or fault}; check the path of the trace"
            ) from None
    return whole.hexdigest()


def prepared(task: Task, path: str) -> Task:
    """Returns the task with a prepared device in a file."""
    return replace(task, job=replace(task.job, prepared=path))
