"""Searches for configurations that minimise or maximise metrics within bounds.

Optuna chooses the configuration of the next trial; a run measures it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline import _wordline, config
from wordline._internal import output_folder
from wordline._internal.claim import claimed
from wordline._render import units
from wordline._search.goal import NoValueError, bound, objectives
from wordline._search.loop import Loop, State
from wordline._search.plan import Plan, require
from wordline._search.trials import BOUNDED, DIGEST, ERROR, JOURNAL, PLACE, ended, lines_in, opened
from wordline._sweep.local import job_count
from wordline._sweep.plan import OWN
from wordline._sweep.table import series
from wordline._sweep.table import write as write_table
from wordline._sweep.tasks import input_fault
from wordline._sweep.work import Job
from wordline._sweep.workers import workers_of
from wordline._wordline import WordlineError
from wordline.config import Source

if TYPE_CHECKING:
    import optuna
    import polars

    from wordline._search.journal import Lines
    from wordline.config import Value

__all__ = ["Plan", "Search", "SearchInterrupted", "State", "carry_out", "search"]

TRIALS, BEST = "trials.parquet", "best.toml"


class SearchInterrupted(KeyboardInterrupt):
    """Raised if Ctrl-C ends a search. `search` has the completed trials."""

    def __init__(self, search: Search) -> None:
        super().__init__("the search was interrupted")
        self.search = search


class Search:
    """Results of a search."""

    def __init__(self, plan: Plan, study: optuna.Study) -> None:
        self.plan = plan
        self.study = study

    def table(self) -> polars.DataFrame:
        """Returns one row per trial that completed, failed or was pruned: `trial`, `state`, the
        varied keys, the objectives, the bounded metrics by path, `feasible`, whether the trial is
        among the `best`, `error`, and the digest of its run."""
        import polars

        trials = ended(self.study)
        best = {trial.user_attrs[PLACE] for trial in self.study.best_trials}
        values = [trial.values or [None, None] for trial in trials.values()]
        columns = {key: [one.params.get(key) for one in trials.values()] for key in self.plan.vary}
        columns |= {
            str(one): [own[place] for own in values]
            for place, one in enumerate(self.plan.objectives)
        }
        columns |= {
            name: [one.user_attrs.get(BOUNDED, {}).get(name) for one in trials.values()]
            for name in self.plan.bounded()
        }
        return polars.DataFrame(
            [
                polars.Series("trial", list(trials), polars.Int64),
                polars.Series("state", map(_state, trials.values()), polars.String),
                *(series(name, own) for name, own in columns.items()),
                polars.Series("feasible", map(_feasible, trials.values()), polars.Boolean),
                polars.Series("best", [place in best for place in trials], polars.Boolean),
                *(
                    polars.Series(
                        name, [one.user_attrs.get(name) for one in trials.values()], polars.String
                    )
                    for name in (ERROR, DIGEST)
                ),
            ]
        )

    def best(self) -> list[dict[str, Value]]:
        """Returns the values of the keys of the best trial, or with two objectives of every trial
        on the Pareto front. Empty if no trial meets the bounds."""
        found = sorted(
            self.study.best_trials, key=lambda trial: (trial.values, trial.user_attrs[PLACE])
        )
        kept = found if len(self.plan.objectives) > 1 else found[:1]
        return [dict(trial.params) for trial in kept]

    def device(self, place: int = 0) -> str:
        """Returns a device file with the values of `best()[place]`. Raises WordlineError if there
        is no such trial."""
        best = self.best()
        if place >= len(best):
            raise WordlineError("no trial meets the bounds; relax them, or run more trials")
        given = {**self.plan.overrides, **best[place]}
        keys = {key: value for key, value in given.items() if key not in OWN}
        return config.show(self.plan.device, keys)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the report, a self-contained HTML page, and returns its path. Raises
        WordlineError."""
        from wordline._search.report import render

        page = render(self)
        return Path(
            output_folder.write_file(path, lambda part: output_folder.write_text(part, page))
        )

    def __repr__(self) -> str:
        told = ", ".join(map(str, self.plan.objectives))
        return f"<wordline.Search of {units.many(len(ended(self.study)), 'trial')}: {told}>"

    def _repr_html_(self) -> str:
        from wordline._search.report import table_html

        return table_html(self)


def _state(trial: optuna.trial.FrozenTrial) -> str:
    return trial.state.name.lower()


def _feasible(trial: optuna.trial.FrozenTrial) -> bool | None:
    """Returns True if a trial meets the bounds; None if it has no values."""
    return all(excess <= 0 for excess in trial.constraints.values()) if trial.values else None


def search(
    device: str | os.PathLike[str],
    trace: str | os.PathLike[str] | None = None,
    *,
    vary: Mapping[str, Sequence[Value] | str],
    minimise: str | Sequence[str] = (),
    maximise: str | Sequence[str] = (),
    subject_to: str | Sequence[str] = (),
    trials: int = 50,
    sampler: str = "tpe",
    pruner: str = "none",
    rungs: Sequence[int] = (),
    seed: int = 1,
    overrides: Mapping[str, Value] | None = None,
    on: Any = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[State], None] = False,
    **options: Any,
) -> Search:
    """Searches for configurations that minimise or maximise one or two metrics.

        found = wordline.search("demo", "disk.csv.gz", minimise="ftl.over_provisioning_ratio",
                                vary={"ftl.over_provisioning_ratio": "0.07:0.4",
                                      "ftl.gc.start_free_ratio": "0.02:0.2"},
                                subject_to="latency.write.p99_us < 20000")
        found.best()

    device      TOML file or preset, as in `wordline.run`
    vary        by key a list of values, or a range "LOW:HIGH", "LOW:HIGH:STEP", "LOW:HIGH:log"
    minimise, maximise
                metrics of the summary by path, or varied keys; one or two in total
    subject_to  bounds such as "flash.write_amplification < 2"
    sampler     "tpe", "random", "nsga2", or "grid" (every combination of lists and steps)
    pruner      "none", or "median", "halving", "hyperband" to stop poor trials at the request
                counts of `rungs`; requires a single objective
    seed        seed of the sampler and of the runs; with one job a search is repeatable
    on, jobs, out, progress, options
                as in `wordline.sweep`; an interrupted search continues in its folder

    Raises WordlineError, or SearchInterrupted on Ctrl-C with the completed trials.
    """
    names = [[one] if isinstance(one, str) else list(one) for one in (minimise, maximise)]
    bounds = [subject_to] if isinstance(subject_to, str) else list(subject_to)
    plan = Plan(
        os.fspath(device),
        () if trace is None else (os.fspath(trace),),
        {key: one if isinstance(one, str) else list(one) for key, one in vary.items()},
        objectives(*names),
        [bound(text) for text in bounds],
        dict(overrides or {}),
        options,
        trials,
        sampler,
        pruner,
        sorted(rungs),
        seed,
    )
    from wordline._api.job import observed

    return observed(
        progress, lambda heard: carry_out(plan, on=on, jobs=jobs, out=out, heard=heard), _bar
    )


def carry_out(
    plan: Plan,
    *,
    on: Any = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    heard: Callable[[State], None] | None = None,
) -> Search:
    """Runs a search. Raises the exceptions of `search`."""
    require(plan)
    _require_readable(plan)
    job_count(jobs)
    place = None if out is None else output_folder.check(out, "search")
    with claimed(place), output_folder.made(place):
        is_new = place is not None and not Path(place, JOURNAL).exists()
        lines = None if place is None else lines_in(place)
        study = opened(plan, lines)
        found = Search(plan, study)
        try:
            with workers_of(on, jobs, plan.trials) as who:
                Loop(plan, study, who, heard or _unheard).run()
        except KeyboardInterrupt:
            _keep(found, place, lines)
            raise SearchInterrupted(found) from None
        except NoValueError:
            if lines and is_new:
                Path(lines.path).unlink(missing_ok=True)
            raise
        _keep(found, place, lines)
    return found


def _require_readable(plan: Plan) -> None:
    """Raises WordlineError if the trace cannot be read. Checks nothing if the device is incomplete
    without the varied keys."""
    inputs = _wordline.Inputs()
    options = {**plan.options, "fit": "wrap"}
    job = Job(Source(*config.read(plan.device)), plan.trace, plan.seed, plan.keys(), options)
    try:
        fault = input_fault(inputs, job) if plan.trace else ""
    except WordlineError:
        return  # The device is complete only with values of the varied keys.
    if fault:
        raise WordlineError(fault)


def _keep(found: Search, place: str | None, lines: Lines | None) -> None:
    """Writes the results into the folder, if there is one. Raises WordlineError, also if the
    journal could not be written."""
    if place is None:
        return
    folder = Path(place)
    output_folder.write_file(folder / TRIALS, lambda part: write_table(found.table(), part))
    if lines and lines.unwritten:
        raise WordlineError(f"{lines.unwritten}; {TRIALS} in the folder is complete")
    found.report(folder / "report.html")
    if found.best():
        text = found.device()
        output_folder.write_file(folder / BEST, lambda part: output_folder.write_text(part, text))


def _unheard(_state: State) -> None:
    pass


def _bar() -> Any:
    from wordline._render.terminal.search import Line

    return Line()
