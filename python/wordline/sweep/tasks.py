"""From points to what has to be run: each configuration checked, equal points once."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import wordline
from wordline import _wordline, config, trace_input
from wordline._wordline import WordlineError
from wordline.sweep.plan import Point
from wordline.sweep.work import Job


@dataclass
class Task:
    """A run that stands for one point or several equal ones."""

    key: str
    job: Job
    points: list[Point]
    memory_bytes: int
    preparation: str | None
    """Name of the preparation that it shares with other tasks."""
    tried: int = field(default=0)


@dataclass(frozen=True)
class _Device:
    resolved: str
    memory_bytes: int
    prepares: bool


def tasks(points: Sequence[Point]) -> list[Task]:
    """The runs of points, in their order. Raises WordlineError about the first point that cannot be
    run, with its key."""
    known = Known()
    found: dict[str, Task] = {}
    for point in points:
        try:
            task = known.task(point)
        except WordlineError as fault:
            raise WordlineError(f"{point}: {fault}") from None
        if task.key in found:
            found[task.key].points.append(point)
        else:
            found[task.key] = task
    share(found.values())
    return list(found.values())


def share(tasks: Collection[Task]) -> None:
    """Leaves those preparations that several tasks have in common."""
    shared = Counter(task.preparation for task in tasks)
    for task in tasks:
        if shared[task.preparation] < 2:
            task.preparation = None


class Known:
    """Devices and traces that were looked at: points have them in common."""

    def __init__(self) -> None:
        self._devices: dict[str, _Device] = {}
        self._traces: dict[tuple[str, ...], str] = {}

    def task(self, point: Point) -> Task:
        """What has to be run for a point. Raises WordlineError if it cannot be."""
        trace_input.trace_options(**_reader(point.options))
        text = json.dumps([point.device, point.overrides], default=str)
        if text not in self._devices:
            self._devices[text] = _device(point)
        device = self._devices[text]
        if point.trace not in self._traces:
            self._traces[point.trace] = identity(point.trace)
        parts = [
            device.resolved, self._traces[point.trace], point.seed, point.options,
            wordline.__version__, _wordline.build(),
        ]  # fmt: skip
        told = json.dumps(parts, sort_keys=True, default=str).encode()
        preparation = None
        if device.prepares and not point.options.get("power_cut_every"):
            preparation = wordline.preparation(
                point.device, overrides=point.overrides, seed=point.seed
            )
        return Task(
            hashlib.sha256(told).hexdigest()[:32],
            Job(point.device, point.trace, point.seed, point.overrides, point.options),
            [point],
            device.memory_bytes,
            preparation,
        )


def _device(point: Point) -> _Device:
    config.check(point.device, point.overrides)
    memory = config.memory(point.device, point.overrides)
    if memory["refusal"]:
        raise WordlineError(memory["refusal"])
    prepares = wordline.preparation(point.device, overrides=point.overrides) is not None
    resolved = config.show(point.device, point.overrides)
    return _Device(resolved, memory["most_bytes"], prepares)


def _reader(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the reader of traces, with the defaults of `wordline.run`."""
    own = ("max_requests", "power_cut_every", "verify", "slowdown")
    strict = {
        "format": None, "on_bad_line": "error", "time_order": "error", "align": "error",
        "volumes": "one",
    }  # fmt: skip
    return strict | {key: value for key, value in options.items() if key not in own}


def identity(traces: tuple[str, ...]) -> str:
    """A hash of the content of traces. Raises WordlineError if one cannot be read a second time."""
    whole = hashlib.sha256()
    for path in trace_input.paths(traces):
        if os.path.exists(path) and not os.path.isfile(path):  # noqa: PTH110, PTH113
            raise WordlineError(
                f"{path}: is no file that can be read more than once; name the trace by its file"
            )
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                whole.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as fault:
            raise WordlineError(
                f"{path}: {fault.strerror or fault}; check the path of the trace"
            ) from None
    return whole.hexdigest()


def prepared(task: Task, path: str) -> Task:
    """The same task on a device that is prepared in a file."""
    return replace(task, job=replace(task.job, prepared=path))
