"""What a study has run: each case once, whichever figures are made of it."""

from collections.abc import Callable, Sequence
from typing import Any

from wordline.sweep import run
from wordline.sweep.engine import SUMMARIES, State
from wordline.sweep.journal import Journal
from wordline.sweep.tasks import Task, share
from wordline.sweep.work import Run


class Runs:
    """The runs of a study, by their keys. With a `journal`, a study that was stopped goes on from
    it; `on` and `jobs` say where they run, as `wordline.sweep` has them; `heard` hears how far they
    are."""

    def __init__(
        self,
        journal: str | None = None,
        *,
        on: Any = None,
        jobs: int | None = None,
        heard: Callable[[State], None] | None = None,
    ) -> None:
        self._path = journal
        self._on = on
        self._jobs = jobs
        self._heard = heard
        with Journal(journal, Run) as before:
            self.known = before.known

    def run(self, tasks: Sequence[Task]) -> None:
        """Runs the tasks that are not known; those that fail are known by their faults."""
        fresh = [task for task in tasks if task.key not in self.known]
        share(fresh)
        with Journal(self._path, Run) as journal:

            def over(task: Task, done: Run) -> None:
                self.known[task.key] = done
                journal.add(task.key, done)

            if fresh:
                run(fresh, SUMMARIES, over, on=self._on, jobs=self._jobs, heard=self._heard)
