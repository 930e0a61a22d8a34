"""Device lab: runs the experiments that device reviewers run on real SSDs.

The experiments follow Jung 2013, chapters 4 and 5. Each has a verdict in words.
"""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline._internal import output_folder
from wordline._internal.arguments import flag, whole
from wordline._internal.claim import claimed
from wordline._lab.experiments import EXPERIMENTS
from wordline._lab.finding import Experiment, Finding
from wordline._lab.results import Lab
from wordline._lab.test_device import TestDevice, on_bench
from wordline._lab.trial import MEASURED, Measured, task
from wordline._sweep import run
from wordline._sweep.engine import State
from wordline._sweep.journal import Journal
from wordline._sweep.tasks import Known, Task, share
from wordline._sweep.workers import here, workers_of
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline._render.terminal.sweep import Line
    from wordline.config import Device, Overrides

JOURNAL = "points.jsonl"
DEPTH = 4
"""Outstanding requests of experiments that do not set their own. Jung 2013 does not state the queue
depth; the product of its rates and latencies at 4 KiB is four."""


class LabInterrupted(KeyboardInterrupt):
    """Raised if Ctrl-C ends the experiments. `kept` trials are complete; with a folder, the same
    call continues from them."""

    def __init__(self, kept: int) -> None:
        super().__init__("the lab was interrupted")
        self.kept = kept


def lab(
    device: Device,
    *,
    only: str | Sequence[str] | None = None,
    quick: bool = False,
    depth: int = DEPTH,
    overrides: Overrides | None = None,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
    on: Any = None,
    jobs: int | None = None,
    progress: bool | Callable[[State], None] = False,
) -> Lab:
    """Runs the experiments of the lab on a device.

        found = wordline.lab("mine.toml", only=["cliff", "trim"], out="out/lab")
        found["cliff"].verdict      # "Write cliff at 20.6 GiB after 4.1 min ..."
        found["cliff"].figures      # the numbers

    device     path of a TOML file, name of a preset, or a mapping with the same structure, of a
               single SSD
    only       an experiment, several separated by commas, or a list of them; None for all
    quick      preview with fewer requests on fewer blocks
    depth      outstanding requests of experiments that do not set their own
    overrides  values of configuration keys
    seed       seed of every random choice
    out        folder for report.html, lab.json, device.toml and a journal of completed trials,
               from which the same call continues if it was interrupted; None to write none
    on, jobs   where to run, as in `wordline.sweep`
    progress   True for a line on standard error, or a function that is called with a State

    Every trial starts from a state that the lab defines (erased, filled, aged or steady-state); the
    device's own [precondition] and load are ignored. A large device is simulated with fewer blocks
    per die.

    Raises WordlineError, or LabInterrupted on Ctrl-C.
    """
    chosen = experiments(only)
    flag("quick", quick)
    whole("seed", seed, 0)
    made = on_bench(
        device, overrides, depth=whole("depth", depth, 1, 65_536), seed=seed, quick=quick
    )
    from wordline._api.job import observed

    return observed(progress, lambda heard: _carry_out(made, chosen, out, on, jobs, heard), _bar)


def experiments(names: str | Sequence[str] | None = None) -> list[Experiment]:
    """Returns the experiments with these names in the order of the report; all experiments for
    None. Raises WordlineError for an unknown name, or if the list of names is empty."""
    if names is None:
        return list(EXPERIMENTS)
    if isinstance(names, str):
        names = [name.strip() for name in names.split(",") if name.strip()]
    known = {one.name: one for one in EXPERIMENTS}
    if not names:
        raise WordlineError(f"only: no experiment is named; the experiments are {', '.join(known)}")
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean '{near[0]}'? " if near else ""
            raise WordlineError(
                f"no experiment is called '{name}'; {hint}the experiments are {', '.join(known)}"
            )
    return [one for one in EXPERIMENTS if one.name in names]


def _carry_out(
    made: TestDevice,
    chosen: Sequence[Experiment],
    out: str | os.PathLike[str] | None,
    on: Any,
    jobs: int | None,
    heard: Callable[[State], None] | None,
) -> Lab:
    place = None if out is None else output_folder.check(out, "lab")
    journal = None if place is None else str(Path(place, JOURNAL))
    with (
        claimed(place),
        output_folder.made(place),
        Journal(journal, Measured) as kept,
        tempfile.TemporaryDirectory("-wordline-lab") as folder,
    ):
        Path(folder, "device.toml").write_text(made.text, encoding="utf-8")
        found, faults = _tasks(made, chosen, Path(folder), on)
        ended: dict[str, Measured] = dict(kept.known)

        def over(task: Task, done: Measured) -> None:
            ended[task.key] = done
            kept.add(task.key, done)

        every = {task.key: task for one in found.values() for task in one.values()}
        fresh = [task for key, task in every.items() if key not in ended]
        share(fresh)
        try:
            if fresh:
                with workers_of(on, jobs, len(fresh)) as who:
                    run(who, fresh, MEASURED, over, len(every) - len(fresh), heard)
        except KeyboardInterrupt:
            raise LabInterrupted(len(kept.known)) from None
        findings = {
            one.name: _finding(
                made,
                one,
                {name: ended[task.key] for name, task in found[one.name].items()},
                faults.get(one.name, ""),
            )
            for one in chosen
        }
        done = Lab(made, chosen, findings)
        if place is not None:
            done.write(place)
    return done


def _tasks(
    made: TestDevice, chosen: Sequence[Experiment], folder: Path, on: Any
) -> tuple[dict[str, dict[str, Task]], dict[str, str]]:
    """Returns the tasks of each experiment by trial name, and, by experiment, the error that
    prevents its trials from running."""
    known = Known(here=here(on))
    found: dict[str, dict[str, Task]] = {}
    faults: dict[str, str] = {}
    for one in chosen:
        found[one.name] = {}
        try:
            for name, trial in one.trials(made).items():
                own = task(known, made, folder, f"{one.name} {name}", trial)
                found[one.name][name] = own
        except WordlineError as fault:
            found[one.name], faults[one.name] = {}, str(fault)
    return found, faults


def _finding(made: TestDevice, one: Experiment, found: dict[str, Measured], fault: str) -> Finding:
    told = fault or next((each.fault for each in found.values() if each.fault), "")
    if told:
        return Finding(f"The experiment failed to run: {told}", status="failed")
    return one.finding(made, found)


def _bar() -> Line:
    from wordline._render.terminal.sweep import Line

    return Line()
