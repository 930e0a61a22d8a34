"""Sweeps: many runs of one plan, on all cores or on a cluster, as a table."""

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
    """Ctrl-C ended a sweep. `sweep` has the points that have ended."""

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
        s.table()        # a row a point, as a polars DataFrame
        s.intervals()    # means over the seeds, and their confidence intervals

    device     a TOML file, a preset, or a list of them, which varies; or a plan
               (`wordline.sweep_plan` reads a file)
    trace      a trace, or a list, which varies; None for the load of the device
    vary       values by key, each with each: lists, or ranges "LOW:HIGH:STEP" with both ends
    zip        groups of keys that vary together
    points     combinations one by one, in place of or beside `vary`
    when       conditions between the keys that vary, such as "ftl.gc.victim == 'fifo'"
    seeds      how many seeds from 1, or a list
    overrides  values of configuration keys for all points
    on         where to run: None for processes of this machine, "dask://HOST:PORT", a
               `distributed.Client`, or any `concurrent.futures.Executor`
    jobs       processes of this machine; None for one a core
    out        folder for points.parquet, sweep.toml and points.jsonl, from which the same sweep
               continues if it was stopped; None to write none
    progress   True for a line on standard error, or a function that is called with a State
    options    those of `wordline.run`, such as fit="wrap", for all points

    Every point is checked before the first one runs: its configuration, and that its trace can be
    read and fits the device. Points that are equal run once, and equal preparations of devices are
    made once. A point that fails says why in the table, and the others are run.

    Raises WordlineError, or SweepInterrupted on Ctrl-C, which has the points that have ended.
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
    """The plan in a file, for `wordline.sweep`. Raises WordlineError."""
    return plans.read(path)


def carry_out(
    plan: Plan,
    *,
    on: Any = None,
    jobs: int | None = None,
    out: str | os.PathLike[str] | None = None,
    heard: Callable[[State], None] | None = None,
) -> Sweep:
    """Runs a plan. Raises as `sweep` does."""
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
        raise WordlineError(f"{journal.unwritten}; {POINTS} there is complete")
    return kept


@contextmanager
def _folder(
    place: str | None, plan: Plan, every: Sequence[Point], ended: Mapping[str, Done]
) -> Generator[None]:
    """The folder of a sweep, with its plan; gone at the end of the block if it was made for that
    and no point has ended. Raises WordlineError if a plan with other points is there."""
    if place is None:
        yield
        return
    path = Path(place, PLAN)
    is_new = not Path(place).exists()
    if path.exists():
        _require_points(place, plans.read(path), plan, every)
    output_folder.make(place)
    # By these two a folder is known as that of a sweep, however early it ends.
    Path(place, JOURNAL).touch()
    output_folder.write_file(path, lambda part: output_folder.write_text(part, as_toml(plan)))
    try:
        yield
    finally:
        if is_new and not ended:
            with undisturbed():
                unfinished.remove(place)


def _require_points(place: str, former: Plan, plan: Plan, every: Sequence[Point]) -> None:
    """Raises WordlineError if a plan lacks points that the former has, whose results it would hide;
    one with more points continues from them."""
    if former == plan:
        return
    lacking = set(map(_identity, plans.points(former))) - set(map(_identity, every))
    if lacking:
        other = [key for key in plans.KEYS if getattr(former, key) != getattr(plan, key)]
        raise WordlineError(
            f"{place}: holds the sweep of another plan (other {', '.join(other)}), with "
            f"{units.many(len(lacking), 'point')} that this one lacks; name another folder, or "
            "delete that one"
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
    """Has workers do something with tasks; `over` hears of each that has ended. Raises
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
    """What came of a plan, written into its folder if there is one."""
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
