"""Results of a study's runs: each case runs once, however many figures use it."""

import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from wordline._sweep import run
from wordline._sweep.engine import SUMMARIES, State
from wordline._sweep.journal import Journal
from wordline._sweep.tasks import Task, share
from wordline._sweep.work import Run
from wordline._sweep.workers import Workers, here, workers_of


class Runs:
    """Results of runs by task key.

    With a `journal`, an interrupted study continues from the file. `on` and `jobs` select where
    runs are executed, as in `wordline.sweep`. `heard` is called with the progress.
    """

    def __init__(
        self,
        journal: str | None = None,
        *,
        on: Any = None,
        jobs: int | None = None,
        heard: Callable[[State], None] | None = None,
    ) -> None:
        self.here = here(on)
        """Whether the runs are executed on this machine."""
        self._heard = heard
        self._on = on
        self._jobs = jobs
        self._journal = Journal(journal, Run)
        self._workers: Workers | None = None
        self._open = ExitStack()
        self.known = self._journal.known

    def __enter__(self) -> Self:
        """Keeps the worker processes, or the connection to a cluster, alive between calls of
        `run`."""
        self._open.enter_context(self._journal)
        self._workers = self._open.enter_context(workers_of(self._on, self._jobs, sys.maxsize))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._workers = None
        self._open.__exit__(kind, fault, trace)

    def run(self, tasks: Sequence[Task]) -> None:
        """Runs the tasks that have no result yet. A failed task is stored with its error."""
        fresh = [task for task in tasks if task.key not in self.known]
        if not fresh:
            return
        share(fresh)
        if self._workers is not None:
            run(self._workers, fresh, SUMMARIES, self._over, heard=self._heard)
            return
        with self:
            self.run(fresh)

    @property
    def unwritten(self) -> str:
        """Error that prevented further journal writes; empty if there was none."""
        return self._journal.unwritten

    @property
    def kept(self) -> int:
        """Number of points that an interrupted study need not run again."""
        return sum(not one.fault for one in self.known.values())

    def _over(self, task: Task, done: Run) -> None:
        self.known[task.key] = done
        self._journal.add(task.key, done)
