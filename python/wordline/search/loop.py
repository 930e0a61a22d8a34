"""Asks for trials, runs them, and tells what came of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordline._wordline import WordlineError
from wordline.search.goal import value_of
from wordline.search.plan import Plan
from wordline.search.space import grid, space
from wordline.search.trials import DIGEST, ERROR, PLACE, ended, sampler
from wordline.sweep import work
from wordline.sweep.plan import OPTIONS, OWN
from wordline.sweep.work import Done, Job

if TYPE_CHECKING:
    import optuna


@dataclass(frozen=True)
class State:
    """How far a search is: trials ended and all of them; the best value, if there is one."""

    done: int
    total: int
    best: float | None


class Loop:
    """The trials of a search, as many at a time as an executor has slots."""

    def __init__(
        self,
        plan: Plan,
        study: optuna.Study,
        executor: Executor,
        slots: int,
        heard: Callable[[State], None],
    ) -> None:
        self._plan = plan
        self._study = study
        self._executor = executor
        self._slots = slots
        self._heard = heard
        self._space = space(plan.vary)
        self._grid = grid(self._space) if plan.sampler == "grid" else None
        self._total = plan.trials if self._grid is None else min(plan.trials, len(self._grid))
        self._ended = len(ended(study))
        self._running: dict[Future[Done], tuple[optuna.Trial, int]] = {}

    def run(self) -> None:
        """Until there are as many trials as the plan has, or as the grid."""
        known = ended(self._study)
        places = [place for place in range(self._total) if place not in known]
        try:
            while places or self._running:
                while places and len(self._running) < self._slots:
                    self._ask(places.pop(0))
                over, _ = wait(self._running, timeout=0.25, return_when=FIRST_COMPLETED)
                for future in over:
                    self._over(future)
                self._heard(self._state())
        finally:
            for future in self._running:
                future.cancel()

    def _ask(self, place: int) -> None:
        """Begins the trial of a place."""
        fixed = self._grid[place] if self._grid else None
        self._study.sampler = sampler(self._plan, place, fixed)
        trial = self._study.ask(self._space)
        trial.set_user_attr(PLACE, place)
        self._submit(trial, 0)

    def _submit(self, trial: optuna.Trial, rung: int) -> None:
        plan = self._plan
        given = {**plan.overrides, **plan.options, **trial.params}
        options = {key: given[key] for key in OPTIONS if key in given}
        if rung < len(plan.rungs):
            options["max_requests"] = plan.rungs[rung]
        keys = {key: value for key, value in given.items() if key not in OWN}
        job = Job(plan.device, plan.trace, plan.seed, keys, options)
        self._running[self._executor.submit(work.run, job)] = (trial, rung)

    def _over(self, future: Future[Done]) -> None:
        trial, rung = self._running.pop(future)
        fault = future.exception()
        done = Done({}, "", str(fault)) if fault is not None else future.result()
        try:
            if done.fault:
                raise WordlineError(done.fault)
            if rung < len(self._plan.rungs):
                self._look(trial, rung, done)
            else:
                self._complete(trial, done)
        except WordlineError as reason:
            self._fail(trial, str(reason))

    def _look(self, trial: optuna.Trial, rung: int, done: Done) -> None:
        """Goes on with a trial after a rung, or gives it up."""
        import optuna

        (one,) = self._plan.objectives
        trial.report(value_of(one.name, done.figures, trial.params), self._plan.rungs[rung])
        if not trial.should_prune():
            self._submit(trial, rung + 1)
            return
        self._ended += 1
        self._study.tell(trial, state=optuna.trial.TrialState.PRUNED)

    def _complete(self, trial: optuna.Trial, done: Done) -> None:
        plan = self._plan
        values = [value_of(one.name, done.figures, trial.params) for one in plan.objectives]
        excesses = [
            one.excess(value_of(one.name, done.figures, trial.params)) for one in plan.bounds
        ]
        for one, excess in zip(plan.bounds, excesses, strict=True):
            trial.set_constraint(str(one), excess)
        trial.set_user_attr(DIGEST, done.digest)
        self._ended += 1
        self._study.tell(trial, values)

    def _fail(self, trial: optuna.Trial, reason: str) -> None:
        import optuna

        trial.set_user_attr(ERROR, reason)
        self._ended += 1
        self._study.tell(trial, state=optuna.trial.TrialState.FAIL)

    def _state(self) -> State:
        best = self._study.best_trials if len(self._plan.objectives) == 1 else []
        return State(self._ended, self._total, best[0].value if best else None)
