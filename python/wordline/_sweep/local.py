"""Worker processes of this machine. Each runs one point at a time."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context, resource_tracker
from multiprocessing.connection import Connection
from threading import Lock, Thread
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

from wordline._api import spelling
from wordline._internal import limits
from wordline._internal.arguments import whole
from wordline._internal.interruption import undisturbed
from wordline._wordline import WordlineError

P = ParamSpec("P")
T = TypeVar("T")

KILLED = (
    "the process of the point was killed, perhaps for lack of memory; free memory, or use fewer "
    "--jobs"
)


class PointKilled(Exception):  # noqa: N818 - a result of a point
    """Error of a point whose process ended; other points continue."""


class Processes(Executor):
    """Worker processes. A killed process loses only its own point and is replaced. All worker
    processes end when this process ends, for whatever reason."""

    def __init__(self, jobs: int) -> None:
        wanted = limits.FILES + jobs * limits.FILES_OF_A_PROCESS
        if reason := limits.short_of_files(wanted):
            fewer = ", or give fewer --jobs" if jobs > 1 else ""
            raise WordlineError(spelling.message(f"{reason}{fewer}"))
        # Only this process holds the other end, so the pipe closes when the process ends.
        self._ended, self._alive = Pipe(duplex=False)
        self._lanes = [self._lane() for _ in range(jobs)]
        self._waiting = [0] * jobs
        self._lock = Lock()
        self.slots = jobs
        # Only this process handles Ctrl-C. Workers block the signal from their start.
        # The resource tracker starts here, because a later start would unblock the signal.
        resource_tracker.ensure_running()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submits work to the process with the least waiting work."""
        with self._lock:
            lane = min(range(len(self._lanes)), key=self._waiting.__getitem__)
            self._waiting[lane] += 1
            # A process that is interrupted while it starts would print a traceback.
            with undisturbed(), _unheard(), _without_main():
                inner = self._submitted(lane, fn, args, kwargs)
        outer: Future[T] = Future()
        outer.set_running_or_notify_cancel()  # Received work cannot be cancelled.
        inner.add_done_callback(lambda done: self._over(lane, done, outer))
        return outer

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends the processes, at once if their work is cancelled."""
        if cancel_futures:
            self._alive.close()
        for lane in self._lanes:
            lane.shutdown(wait, cancel_futures=cancel_futures)
        self._alive.close()
        self._ended.close()

    def _lane(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            1, mp_context=get_context("spawn"), initializer=_follow, initargs=(self._ended,)
        )

    def _submitted(self, lane: int, fn: Callable[..., T], args: Any, kwargs: Any) -> Future[T]:
        try:
            inner = self._lanes[lane].submit(fn, *args, **kwargs)
        except BrokenProcessPool:
            self._lanes[lane].shutdown(wait=False)
            self._lanes[lane] = self._lane()
            inner = self._lanes[lane].submit(fn, *args, **kwargs)
        _leave_results_to_worker(self._lanes[lane])
        return inner

    def _over(self, lane: int, inner: Future[T], outer: Future[T]) -> None:
        with self._lock:
            self._waiting[lane] -= 1
        fault = CancelledError() if inner.cancelled() else inner.exception()
        if isinstance(fault, BrokenProcessPool):
            fault = PointKilled(KILLED)
        if fault is not None:
            outer.set_exception(fault)
        else:
            outer.set_result(inner.result())


def _leave_results_to_worker(lane: ProcessPoolExecutor) -> None:
    """Closes this process's writing end of the pipe for results. The process of the lane has
    started and holds the only other one, so the pipe ends when that process ends. With a second
    writer, this process would wait forever for the rest of a result during which a process was
    killed. The executor itself has no method for this."""
    lane._result_queue._writer.close()  # pyright: ignore


@contextmanager
def _unheard() -> Generator[None]:
    """Blocks Ctrl-C in processes that start here, which inherit the signal mask."""
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)


@contextmanager
def _without_main() -> Generator[None]:
    """Keeps processes that start here from importing the caller's main module, which may not be
    importable. They call only functions of this package."""
    own = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = own


def _follow(ended: Connection) -> None:
    """Initialises a worker: it ends with the process that started it, or when that process closes
    the pipe. Messages of the worker name options of the command line: journals and tables keep the
    messages, and the command line shows them."""

    spelling.keep_options()

    def wait() -> None:
        with suppress(EOFError, OSError):
            ended.recv_bytes()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def job_count(jobs: object) -> int:
    """Returns the number of worker processes; None means one per core. Raises WordlineError or
    TypeError."""
    return cores() if jobs is None else whole("jobs", jobs, 1)


def cores() -> int:
    """Returns the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1
