"""Runs the points of a sweep on an executor, as far as memory allows."""

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
    """How far a sweep is: points done, running, failed, all of them; seconds left, if known."""

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
    """What is done with a point: a function that processes call, and what stands for a point of
    which nothing came."""

    run: Callable[[Job], T]
    failed: Callable[[str], T]


FIGURES = Work(work.run, lambda fault: Done({}, "", fault))
SUMMARIES = Work(work.summarise, lambda fault: Run(None, "", fault))


class Engine(Generic[T]):
    """The points under way and those that wait. `ended` hears of each task and what came of it, and
    may give one to run next; `heard` hears how far the sweep is. Of the tasks no more than `ahead`
    are taken before others end, twice as many as there are slots by default."""

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
        """Runs tasks to their end; `known` points have ended before."""
        self._users.update(task.preparation for task in tasks if task.preparation)
        total = known + sum(len(task.points) for task in tasks)
        ordered = tasks if self._workers.folder else by_preparation(tasks)
        self.run(iter(ordered), total, known)

    def run(self, source: Iterator[Task], total: int, known: int) -> None:
        """Runs tasks, each taken when there is room for it, to their end. There are `total` points,
        of which `known` have ended before."""
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
        """Hands out as many tasks as fit; those whose device is being prepared wait. Returns
        whether anything is under way."""
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
        """Begins a task; returns whether it does not wait for its device."""
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
        """Whether it fits beside what runs; alone, the run itself says whether it fits."""
        under_way = [*self._running.values(), *self._preparing.values()]
        used = sum(one.memory_bytes for one in under_way)
        return not under_way or used + task.memory_bytes <= self._workers.memory_bytes

    def _prepared(self, future: Future[str]) -> None:
        """A preparation is over. If it failed, each of its points prepares its device, and says why
        it cannot."""
        self._ready.add(self._preparing.pop(future).preparation or "")
        future.exception()

    def _over(self, future: Future[T]) -> None:
        task = self._running.pop(future)
        fault = future.exception()
        if isinstance(fault, PointKilled) and not task.tried:
            # Perhaps another point of that process was at fault: once more.
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
        """The file of a preparation that no task needs any more is removed."""
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
