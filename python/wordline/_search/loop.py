"""Loop of a search: asks Optuna for trials, runs them and reports the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from wordline import _wordline
from wordline._search.goal import NoValueError, value_of
from wordline._search.plan import Plan
from wordline._search.space import grid, space
from wordline._search.trials import BOUNDED, DIGEST, ERROR, PLACE, ended, sampler
from wordline._sweep.engine import FIGURES, Engine
from wordline._sweep.plan import OPTIONS, OWN, Point
from wordline._sweep.tasks import Known, Task, input_fault
from wordline._sweep.work import Done
from wordline._sweep.workers import Workers
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    import optuna


OF_REQUESTS = ("latency", "breakdown", "excess", "worst_case")
"""Tables of the summary whose metrics have a value only if the run has requests of that kind."""
MOST_WITHOUT = 8
"""Number of trials without a value after which a search stops. If half of the configurations lack
the metric, one search in 256 stops by mistake."""


@dataclass(frozen=True)
class State:
    """Progress of a search: number of trials that have ended, number of all trials, and the best
    value. The best value is None with two objectives, or while no trial meets the bounds."""

    done: int
    total: int
    best: float | None


class Loop:
    """Runs the trials of a search, in parallel as far as slots and memory allow."""

    def __init__(
        self,
        plan: Plan,
        study: optuna.Study,
        workers: Workers,
        heard: Callable[[State], object],
    ) -> None:
        self._plan = plan
        self._study = study
        self._workers = workers
        self._heard = heard
        self._space = space(plan.vary)
        self._grid = grid(self._space) if plan.sampler == "grid" else None
        self._total = plan.trials if self._grid is None else min(plan.trials, len(self._grid))
        known = ended(study)
        self._ended = len(known)
        self._has_values = any(one.values for one in known.values())
        self._without = 0
        self._known = Known(here=workers.largest_bytes is None)
        self._inputs = _wordline.Inputs()
        self._preparations: set[str] = set()
        self._trials: dict[int, tuple[optuna.Trial, int]] = {}

    def run(self) -> None:
        """Runs trials until the number of trials in the plan, or the whole grid, is complete."""
        known = ended(self._study)
        places = (place for place in range(self._total) if place not in known)
        asked = (task for place in places if (task := self._ask(place)) is not None)
        engine = Engine(
            self._workers,
            FIGURES,
            self._over,
            lambda _state: self._heard(self._state()),
            ahead=self._workers.slots,
        )
        engine.run(asked, self._total, len(known))
        self._heard(self._state())

    def _ask(self, place: int) -> Task | None:
        """Returns the first task of trial `place`. Returns None if the trial cannot run."""
        fixed = self._grid[place] if self._grid else None
        self._study.sampler = sampler(self._plan, place, fixed)
        trial = self._study.ask(self._space)
        trial.set_user_attr(PLACE, place)
        return self._begin(trial, 0)

    def _begin(self, trial: optuna.Trial, rung: int) -> Task | None:
        """Returns the task that continues a trial at rung `rung`. Returns None if the trial cannot
        run, and marks it as failed."""
        place = trial.user_attrs[PLACE]
        self._trials[place] = (trial, rung)
        try:
            task = self._known.task(self._point(place, trial.params, rung))
            if fault := input_fault(self._inputs, task.job):
                raise WordlineError(fault)
            self._workers.require_room([task])
        except (WordlineError, TypeError) as refused:
            self._fail(trial, str(refused))
            return None
        return self._sharing(task)

    def _point(self, place: int, params: Mapping[str, Any], rung: int) -> Point:
        plan = self._plan
        given = {**plan.overrides, **plan.options, **params}
        options = {key: given[key] for key in OPTIONS if key in given}
        if rung < len(plan.rungs):
            options["max_requests"] = plan.rungs[rung]
        keys = {key: value for key, value in given.items() if key not in OWN}
        return Point(place, plan.device, plan.trace, plan.seed, keys, options, dict(params))

    def _sharing(self, task: Task) -> Task:
        """Returns the task. If an earlier task of this search has the same preparation, the worker
        process keeps the prepared device for the task and for later ones."""
        name = task.preparation
        if name not in self._preparations:
            self._preparations |= {name} if name else set()
            return replace(task, preparation=None)
        job = replace(task.job, preparation=name, folder=self._workers.folder)
        return replace(task, preparation=None, job=job)

    def _over(self, task: Task, done: Done) -> Task | None:
        """Reports the result of a run to Optuna. Returns the next task of its trial, if any."""
        trial, rung = self._trials.pop(task.points[0].index)
        try:
            if done.fault:
                raise WordlineError(done.fault)
            if rung < len(self._plan.rungs):
                return self._look(trial, rung, done)
            self._complete(trial, done)
        except NoValueError as reason:
            self._fail(trial, str(reason))
            self._require_values(reason.name)
        except WordlineError as reason:
            self._fail(trial, str(reason))
        return None

    def _require_values(self, name: str) -> None:
        """Raises NoValueError if the following trials are unlikely to have a value for a metric.
        One trial without a value is enough if only the requests decide about the value and all
        trials have the same requests; otherwise MOST_WITHOUT trials are needed."""
        self._without += 1
        is_fixed = name.split(".")[0] in OF_REQUESTS and self._plan.has_fixed_load()
        if not self._has_values and self._without >= (1 if is_fixed else MOST_WITHOUT):
            raise NoValueError(name, "the first run" if is_fixed else f"{self._without} runs")

    def _look(self, trial: optuna.Trial, rung: int, done: Done) -> Task | None:
        """Continues a trial after a rung, or prunes it."""
        import optuna

        (one,) = self._plan.objectives
        trial.report(value_of(one.name, done.figures, trial.params), self._plan.rungs[rung])
        self._has_values = True
        if not trial.should_prune():
            return self._begin(trial, rung + 1)
        self._ended += 1
        self._study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        return None

    def _complete(self, trial: optuna.Trial, done: Done) -> None:
        plan = self._plan
        values = [value_of(one.name, done.figures, trial.params) for one in plan.objectives]
        bounded = {one.name: value_of(one.name, done.figures, trial.params) for one in plan.bounds}
        self._has_values = True
        for one in plan.bounds:
            trial.set_constraint(str(one), one.excess(bounded[one.name]))
        if bounded:
            trial.set_user_attr(BOUNDED, bounded)
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
