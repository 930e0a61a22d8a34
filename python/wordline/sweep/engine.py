"""Runs the points of a sweep on an executor, as far as memory allows."""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar, cast

from wordline.sweep import work
from wordline.sweep.journal import Ended
from wordline.sweep.local import PointKilled
from wordline.sweep.tasks import Task, prepared
from wordline.sweep.work import Job

# The share of free memory that the estimates of running points may reach.
MEMORY_SHARE = 0.8
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


@dataclass(frozen=True)
class Work(Generic[T]):
    """What is done with a point: a function that processes call, and what stands for a point of
    which nothing came."""

    run: Callable[[Job], T]
    failed: Callable[[str], T]


class Engine(Generic[T]):
    """The points under way and those that wait. `folder` is for prepared devices, if the executor
    sees it; `ended` hears of each task and what came of it; `heard` how far the sweep is."""

    def __init__(
        self,
        executor: Executor,
        slots: int,
        folder: str | None,
        work: Work[T],
        ended: Callable[[Task, T], None],
        heard: Callable[[State], None],
    ) -> None:
        self._executor = executor
        self._slots = slots
        self._folder = folder
        self._work = work
        self._ended = ended
        self._heard = heard
        self._running: dict[Future[T], Task] = {}
        self._preparing: dict[Future[str], Task] = {}
        self._ready: set[str] = set()
        self._users = Counter[str]()
        self._memory = _free_memory()
        self._counts = Counter[str]()
        self._begun = time.monotonic()

    def run(self, tasks: Sequence[Task], known: int) -> None:
        """Runs tasks to their end; `known` points have ended before."""
        waiting = deque(tasks)
        self._counts["done"] = known
        total = known + sum(len(task.points) for task in tasks)
        self._users.update(task.preparation for task in tasks if task.preparation)
        try:
            while waiting or self._running or self._preparing:
                self._start(waiting)
                futures = cast("list[Future[object]]", [*self._running, *self._preparing])
                over, _ = wait(futures, timeout=LOOK_S, return_when=FIRST_COMPLETED)
                for future in [one for one in self._preparing if one in over]:
                    self._prepared(future)
                for future in [one for one in self._running if one in over]:
                    self._over(future, waiting)
                self._heard(self._state(total, total - known))
        finally:
            for future in [*self._running, *self._preparing]:
                future.cancel()

    def _start(self, waiting: deque[Task]) -> None:
        """Hands out as many tasks as fit; those whose device is being prepared wait."""
        held: list[Task] = []
        while waiting and len(self._running) + len(self._preparing) < 2 * self._slots:
            task = waiting.popleft()
            name = task.preparation if self._folder else None
            if not self._has_room(task):
                held.append(task)
                break
            if name is None:
                self._running[self._executor.submit(self._work.run, task.job)] = task
            elif name in self._ready:
                ready = prepared(task, self._path(name))
                self._running[self._executor.submit(self._work.run, ready.job)] = ready
            else:
                held.append(task)
                if all(one.preparation != name for one in self._preparing.values()):
                    future = self._executor.submit(work.prepare, task.job, self._path(name))
                    self._preparing[future] = task
        waiting.extendleft(reversed(held))

    def _has_room(self, task: Task) -> bool:
        """Whether it fits beside what runs; alone, the run itself says whether it fits."""
        under_way = [*self._running.values(), *self._preparing.values()]
        used = sum(one.memory_bytes for one in under_way)
        return not under_way or used + task.memory_bytes <= self._memory

    def _prepared(self, future: Future[str]) -> None:
        """A preparation is over. If it failed, each of its points prepares its device, and says why
        it cannot."""
        self._ready.add(self._preparing.pop(future).preparation or "")
        future.exception()

    def _over(self, future: Future[T], waiting: deque[Task]) -> None:
        task = self._running.pop(future)
        fault = future.exception()
        if isinstance(fault, PointKilled) and not task.tried:
            # Perhaps another point of that process was at fault: once more.
            task.tried += 1
            waiting.append(task)
            return
        if fault is None:
            done = future.result()
        elif isinstance(fault, PointKilled):
            done = self._work.failed(str(fault))
        else:
            done = self._work.failed(f"{type(fault).__name__}: {fault}")
        self._counts["failed" if done.fault else "done"] += len(task.points)
        self._ended(task, done)
        self._release(task.preparation)

    def _release(self, name: str | None) -> None:
        """The file of a preparation that no task needs any more is removed."""
        if name is None or self._folder is None:
            return
        self._users[name] -= 1
        if not self._users[name]:
            with suppress(OSError):
                os.unlink(self._path(name))  # noqa: PTH108

    def _path(self, name: str) -> str:
        return os.path.join(self._folder or "", f"{name}.wls")  # noqa: PTH118

    def _state(self, total: int, fresh: int) -> State:
        done, failed = self._counts["done"], self._counts["failed"]
        ended = done + failed - (total - fresh)
        elapsed = time.monotonic() - self._begun
        left = elapsed / ended * (fresh - ended) if ended else None
        running = min(len(self._running) + len(self._preparing), self._slots)
        return State(done, running, failed, total, left)


def _free_memory() -> float:
    """Bytes that the points may take together."""
    with suppress(OSError, ValueError, StopIteration):
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            line = next(line for line in file if line.startswith("MemAvailable:"))
        return int(line.split()[1]) * 1024 * MEMORY_SHARE
    return float("inf")
