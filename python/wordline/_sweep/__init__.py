"""Sweeps: the runs of a plan, on all cores or on a cluster, with a table as the result."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, TypeVar

from wordline._internal import output_folder, unfinished
from wordline._internal.claim import claimed
from wordline._internal.interruption import undisturbed
from wordline._render import units
from wordline._sweep import plan as plans
from wordline._sweep.engine import FIGURES, Engine, State, Work
from wordline._sweep.journal import Ended, Journal
from wordline._sweep.local import job_count
from wordline._sweep.plan import Plan, Point
from wordline._sweep.points import CONFIG, JOURNAL, PLAN, POINTS
from wordline._sweep.results import Sweep
from wordline._sweep.table import write as write_table
from wordline._sweep.tasks import Task, input_faults, tasks
from wordline._sweep.work import Done
from wordline._sweep.workers import Workers, here, workers_of
from wordline._sweep.write import as_toml
from wordline._wordline import WordlineError
from wordline.config import show

if TYPE_CHECKING:
    from wordline._render.terminal.sweep import Line
    from wordline.config import Value

T = TypeVar("T", bound=Ended)


class SweepInterrupted(KeyboardInterrupt):
    """Raised if Ctrl-C ends a sweep. `sweep` has the completed points."""

    def __init__(self, sweep: Sweep) -> None:
        super().__init__("the sweep was interrupted")
        self.sweep = sweep


def sweep(
    device: str | os.PathLike[str] | Sequence[str] | Plan,
    trace: str | os.PathLike[str] | Sequence[str] | None = None,
    *,
    vary: Mapping[str, Sequence[Value] | str] | None = None,
    zip: Sequence[Mapping[str, Sequence[Value]]] = (),
    points: Sequence[Mapping[str, Value]] = (),
    when: str | Sequence[str] = (),
    seeds: int | Sequence[int] = 1,
    overrides: Mapping[str, Value] | None = None,
    on: Any = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[State], None] = False,
    **options: Any,
) -> Sweep:
    """Runs all points of a plan, on all cores or on a cluster.

        s = wordline.sweep("d4", "disk.csv.gz", vary={"ftl.gc.victim": ["greedy", "fifo"],
                           "ftl.over_provisioning_ratio": "0.07:0.28:0.07"}, seeds=10, out="gc")
        s.table()        # one row per point, as a polars DataFrame
        s.intervals()    # means over the seeds, and their confidence intervals

    device     TOML file, preset, or a list of them to vary; or a plan (`wordline.sweep_plan` reads
               a file)
    trace      trace, or a list to vary; None for the load of the device
    vary       values by key, combined with the values of every other key: lists, or ranges
               "LOW:HIGH:STEP", which include HIGH if a step meets it
    zip        groups of keys that vary together
    points     single combinations, instead of `vary` or combined with it
    when       conditions on the varied keys, such as "ftl.gc.victim == 'fifo'"
    seeds      a list of seeds, or a number n for the seeds 1 to n
    overrides  values of configuration keys for all points
    on         where to run: None for processes of this machine, "dask://HOST:PORT", a
               `distributed.Client`, or any `concurrent.futures.Executor`
    jobs       processes on this machine; None for one per core
    out        folder for points.parquet, sweep.toml and points.jsonl, from which the same sweep
               continues if it was interrupted; None to write none
    progress   True for a line on standard error, or a function that is called with a State
    options    options of `wordline.run`, such as fit="wrap", for all points

    Every point is checked before the first one runs: its configuration is valid, and its trace can
    be read and fits the device. Equal points run once, and points share a prepared device if its
    preconditioning takes long. A point that fails has its error in the table; the others run.

    Raises WordlineError, or SweepInterrupted on Ctrl-C with the completed points.
    """
    if not isinstance(device, Plan):
        device = plans.of_table(
            {
                "device": _names(device),
                "trace": None if trace is None else _names(trace),
                "seeds": seeds if isinstance(seeds, int) else list(seeds),
                "set": dict(overrides or {}),
                "options": options,
                "vary": {key: _listed(values) for key, values in (vary or {}).items()},
                "zip": [{key: list(v) for key, v in one.items()} for one in zip],
                "points": [dict(one) for one in points],
                "when": [when] if isinstance(when, str) else list(when),
            }
        )
    from wordline._api.job import observed

    plan = device
    return observed(
        progress, lambda heard: carry_out(plan, on=on, jobs=jobs, out=out, heard=heard), _bar
    )


def sweep_plan(path: str | os.PathLike[str]) -> Plan:
    """Reads a plan from a file, for `wordline.sweep`. Raises WordlineError."""
    return plans.read(path)


def carry_out(
    plan: Plan,
    *,
    on: Any = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    heard: Callable[[State], None] | None = None,
) -> Sweep:
    """Runs a plan. Raises the exceptions of `sweep`."""
    job_count(jobs)
    every = plans.points(plan)
    todo = tasks(every, here=here(on))
    keys = {point.index: task.key for task in todo for point in task.points}
    ended: dict[str, Done] = {}
    place = None if out is None else output_folder.check(out, "sweep")
    with (
        claimed(place),
        _folder(place, plan, every, ended),
        Journal(None if place is None else os.path.join(place, JOURNAL), Done) as journal,  # noqa: PTH118
    ):
        ended.update((key, done) for key, done in journal.known.items())

        def over(task: Task, done: Done) -> None:
            ended[task.key] = done
            journal.add(task.key, done)

        fresh = [task for task in todo if task.key not in ended]
        known = sum(len(task.points) for task in todo) - sum(len(task.points) for task in fresh)
        try:
            faults = input_faults(fresh)
            ended.update((key, Done({}, "", fault)) for key, fault in faults.items())
            fresh = [task for task in fresh if task.key not in faults]
            if fresh:
                with workers_of(on, jobs, len(fresh)) as who:
                    run(who, fresh, FIGURES, over, known, heard)
        except KeyboardInterrupt:
            raise SweepInterrupted(_kept(plan, every, keys, ended, place)) from None
        kept = _kept(plan, every, keys, ended, place)
    if journal.unwritten:
        raise WordlineError(f"{journal.unwritten}; {POINTS} in the folder is complete")
    return kept


@contextmanager
def _folder(
    place: str | None, plan: Plan, every: Sequence[Point], ended: Mapping[str, Done]
) -> Generator[None]:
    """Creates the folder of a sweep and writes the plan. Removes a new folder at the end of the
    block if no point has ended. Raises WordlineError if the folder has a plan with points that
    `plan` lacks."""
    if place is None:
        yield
        return
    path = Path(place, PLAN)
    is_new = not Path(place).exists()
    if path.exists():
        _require_points(place, plans.read(path), plan, every)
    output_folder.make(place)
    # These two files identify the folder as that of a sweep, even if it ends at once.
    Path(place, JOURNAL).touch()
    output_folder.write_file(path, lambda part: output_folder.write_text(part, as_toml(plan)))
    try:
        yield
    finally:
        if is_new and not ended:
            with undisturbed():
                unfinished.remove(place)


def _require_points(place: str, former: Plan, plan: Plan, every: Sequence[Point]) -> None:
    """Raises WordlineError if a plan lacks points of the former plan, because their results would
    be lost. A plan with more points continues the former sweep."""
    if former == plan:
        return
    lacking = set(map(_identity, plans.points(former))) - set(map(_identity, every))
    if lacking:
        other = [key for key in plans.KEYS if getattr(former, key) != getattr(plan, key)]
        raise WordlineError(
            f"{place}: holds the sweep of another plan (different {', '.join(other)}), with "
            f"{units.many(len(lacking), 'point')} that this plan lacks; name another folder, or "
            "delete this folder"
        )


def _identity(point: Point) -> str:
    told = [str(point.device), point.trace, point.seed, point.overrides, point.options]
    return json.dumps(told, sort_keys=True, default=str)


def run(
    who: Workers,
    todo: Sequence[Task],
    what: Work[T],
    over: Callable[[Task, T], Task | None],
    known: int = 0,
    heard: Callable[[State], object] | None = None,
) -> None:
    """Runs tasks on workers. Calls `over` with each completed task and its result. Raises
    WordlineError."""
    who.require_room(todo)
    Engine(who, what, over, heard or (lambda _state: None)).run_all(todo, known)


def _kept(
    plan: Plan,
    every: Sequence[Point],
    keys: Mapping[int, str],
    ended: Mapping[str, Done],
    place: str | None,
) -> Sweep:
    """Returns the results of a plan, also written into its folder if there is one."""
    from wordline._sweep.table import table

    frame = table(every, keys, ended)
    config = show(every[0].device, every[0].overrides)
    if place is None or not frame.height:
        return Sweep(frame, plan, config, time())
    output_folder.add(
        place,
        {
            POINTS: lambda part: write_table(frame, part),
            PLAN: lambda part: output_folder.write_text(part, as_toml(plan)),
            CONFIG: lambda part: output_folder.write_text(part, config),
        },
    )
    return Sweep(frame, plan, config, time())


def _names(value: str | os.PathLike[str] | Sequence[str]) -> str | list[str]:
    return os.fspath(value) if isinstance(value, str | os.PathLike) else list(value)


def _listed(values: Sequence[Value] | str) -> list[Value] | str:
    return values if isinstance(values, str) else list(values)


def _bar() -> Line:
    from wordline._render.terminal.sweep import Line

    return Line()
