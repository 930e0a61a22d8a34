"""Runs the points of a sweep on an executor, within the memory limit."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Concatenate, Generic, ParamSpec, TypeVar, cast

from wordline._sweep import work
from wordline._sweep.journal import Ended
from wordline._sweep.local import PointKilled
from wordline._sweep.tasks import Task, by_preparation, prepared
from wordline._sweep.work import Done, Job, Run
from wordline._sweep.workers import Workers

LOOK_S = 0.25


@dataclass(frozen=True)
class State:
    """Progress of a sweep: points done, running, failed and in total; remaining seconds, if
    known."""

    done: int
    running: int
    failed: int
    total: int
    left_s: float | None


T = TypeVar("T", bound=Ended)
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Work(Generic[T]):
    """Work on a point: the function that workers call, and the function that turns the error of a
    failed point into its result."""

    run: Callable[[Job], T]
    failed: Callable[[str], T]


FIGURES = Work(work.run, lambda fault: Done({}, "", fault))
SUMMARIES = Work(work.summarise, lambda fault: Run(None, "", fault))


class Engine(Generic[T]):
    """Running and waiting tasks. `ended` receives each completed task with its result, and may
    return a task to run next. `heard` receives the progress. At most `ahead` tasks are in progress,
    by default twice the number of slots."""

    def __init__(
        self,
        workers: Workers,
        work: Work[T],
        ended: Callable[[Task, T], Task | None],
        heard: Callable[[State], object],
        ahead: int | None = None,
    ) -> None:
        self._workers = workers
        self._work = work
        self._ended = ended
        self._heard = heard
        self._ahead = ahead or 2 * workers.slots
        self._running: dict[Future[T], Task] = {}
        self._preparing: dict[Future[str], Task] = {}
        self._ready: set[str] = set()
        self._waiting = deque[Task]()
        self._users = Counter[str]()
        self._counts = Counter[str]()
        self._begun = time.monotonic()

    def run_all(self, tasks: Sequence[Task], known: int) -> None:
        """Runs tasks to their end; `known` points are already complete."""
        self._users.update(task.preparation for task in tasks if task.preparation)
        total = known + sum(len(task.points) for task in tasks)
        ordered = tasks if self._workers.folder else by_preparation(tasks)
        self.run(iter(ordered), total, known)

    def run(self, source: Iterator[Task], total: int, known: int) -> None:
        """Runs tasks to their end. Takes each task from `source` when there is room for it. There
        are `total` points, of which `known` are already complete."""
        self._counts["done"] = known
        try:
            while self._start(source):
                futures = cast("list[Future[object]]", [*self._running, *self._preparing])
                over, _ = wait(futures, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                for future in [one for one in self._preparing if one in over]:
                    self._prepared(future)
                for future in [one for one in self._running if one in over]:
                    self._over(future)
                self._heard(self._state(total, total - known))
        finally:
            for future in [*self._running, *self._preparing]:
                future.cancel()

    def _start(self, source: Iterator[Task]) -> bool:
        """Starts as many tasks as fit. Tasks whose device is being prepared wait. Returns whether
        any work is in progress."""
        held: list[Task] = []
        while len(self._running) + len(self._preparing) < self._ahead:
            task = self._waiting.popleft() if self._waiting else next(source, None)
            if task is None:
                break
            if not self._has_room(task):
                held.append(task)
                break
            if not self._hand_out(task):
                held.append(task)
        self._waiting.extendleft(reversed(held))
        return bool(self._running or self._preparing)

    def _hand_out(self, task: Task) -> bool:
        """Starts a task. Returns False if the task must wait for its device."""
        name, folder = task.preparation, self._workers.folder
        if name is None or name in self._ready:
            ready = prepared(task, self._path(name)) if name else task
            self._running[self._submit(self._work.run, ready.job)] = ready
            return True
        if folder is None:
            own = replace(task.job, preparation=name)
            self._running[self._submit(self._work.run, own)] = task
            return True
        if all(one.preparation != name for one in self._preparing.values()):
            future = self._submit(work.prepare, task.job, self._path(name))
            self._preparing[future] = task
        return False

    def _submit(
        self, what: Callable[Concatenate[Job, P], R], job: Job, *args: P.args, **more: P.kwargs
    ) -> Future[R]:
        return self._workers.executor.submit(what, self._workers.moved(job), *args, **more)

    def _has_room(self, task: Task) -> bool:
        """Returns True if a task fits into memory in addition to the running ones. A task that runs
        alone always starts; the run itself reports insufficient memory."""
        under_way = [*self._running.values(), *self._preparing.values()]
        used = sum(one.memory_bytes for one in under_way)
        return not under_way or used + task.memory_bytes <= self._workers.memory_bytes

    def _prepared(self, future: Future[str]) -> None:
        """Ends a preparation. If it failed, each of its points prepares the device itself and
        reports the error."""
        self._ready.add(self._preparing.pop(future).preparation or "")
        future.exception()

    def _over(self, future: Future[T]) -> None:
        task = self._running.pop(future)
        fault = future.exception()
        if isinstance(fault, PointKilled) and not task.tried:
            # Another point of that process may be the cause, so the task is tried once more.
            task.tried += 1
            self._waiting.append(task)
            return
        if fault is None:
            done = future.result()
        elif isinstance(fault, PointKilled):
            done = self._work.failed(str(fault))
        else:
            done = self._work.failed(f"{type(fault).__name__}: {fault}")
        self._release(task.preparation)
        following = self._ended(task, done)
        if following is not None:
            self._waiting.appendleft(following)
            return
        self._counts["failed" if done.fault else "done"] += len(task.points)

    def _release(self, name: str | None) -> None:
        """Removes the file of a preparation when no task needs it any more."""
        if name is None or self._workers.folder is None:
            return
        self._users[name] -= 1
        if not self._users[name]:
            with suppress(OSError):
                os.unlink(self._path(name))  # noqa: PTH108

    def _path(self, name: str) -> str:
        return os.path.join(self._workers.folder or "", f"{name}.wls")  # noqa: PTH118

    def _state(self, total: int, fresh: int) -> State:
        done, failed = self._counts["done"], self._counts["failed"]
        ended = done + failed - (total - fresh)
        elapsed = time.monotonic() - self._begun
        left = elapsed / ended * (fresh - ended) if ended else None
        running = min(len(self._running) + len(self._preparing), self._workers.slots)
        return State(done, running, failed, total, left)
