"""Cases: the simulations of a study, run on all cores."""

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from wordline import WordlineError
from wordline._sweep.plan import Point
from wordline._sweep.tasks import Known, Task
from wordline._sweep.work import Run
from wordline.config import Source, Value
from wordline.summary import Summary
from wordline_studies.figure import Setup
from wordline_studies.runs import Runs

Key = TypeVar("Key", bound=Hashable)
READING: dict[str, Any] = {
    "fit": "wrap",
    "align": "expand",
    "time_order": "clamp",
    "volumes": "shared",
    "on_bad_line": "skip",
}
"""Options for reading recorded traces: faulty records do not end the run."""


@dataclass(frozen=True)
class Case:
    """A simulation of a device under a load.

    The device is a preset or a parsed configuration. With several traces, the device replays them
    one after the other, in total at most `requests` requests. `seed` seeds all random choices,
    including those of preconditioning. With `by_disk`, each volume of the trace stays on its own
    member of the array.
    """

    device: str | Source
    label: str
    overrides: Mapping[str, Value]
    trace: Path | Sequence[Path] | None = None
    requests: int | None = None
    seed: int = 1
    by_disk: bool = False

    @property
    def reading(self) -> dict[str, Any]:
        """Returns the options for reading the traces of the case."""
        return {
            key: value for key, value in READING.items() if key != "volumes" or not self.by_disk
        }


def latencies_us(run: Run) -> list[float]:
    """Returns the response times of a run's requests in order of arrival, from its table
    `requests`. Microseconds."""
    table = run.table("requests").sort("index")
    return [ps / 1e6 for ps in table["latency_ps"].to_list()]


def tabled(
    setup: Setup, cases: Mapping[Key, Case], table: Literal["requests", "series"]
) -> dict[Key, Run]:
    """Runs the cases. Returns the result of each with the given table.

    Raises WordlineError if a case cannot be simulated.
    """
    runs = run_all(list(cases.values()), setup.runs, (table,))
    found = dict(zip(cases, runs, strict=True))
    for key, run in found.items():
        if run.summary is None:
            raise WordlineError(run.fault)
        setup.note(cases[key].label, run.config)
    return found


def summary_of(run: Run) -> Summary:
    """Returns the summary of a completed run."""
    return cast("Summary", run.summary)


def required(setup: Setup, cases: Mapping[Key, Case]) -> dict[Key, Summary]:
    """Runs the cases and returns their summaries. Raises WordlineError if a case cannot be
    simulated."""
    found, faults = completed(setup, cases)
    for fault in faults.values():
        raise WordlineError(fault)
    return found


def by_load(
    setup: Setup, cases: Mapping[tuple[str, str], Case], recorded: Container[str] = ()
) -> tuple[dict[str, dict[str, Summary]], list[str]]:
    """Runs cases, by load and device. Returns their summaries, and a sentence for each omitted
    load.

    A load of `recorded` that cannot be simulated is omitted. Raises WordlineError if any other load
    cannot be simulated.
    """
    found, faults = completed(setup, cases)
    reasons: dict[str, str] = {}
    for (load, _), fault in faults.items():
        if load not in recorded:
            raise WordlineError(fault)
        reasons.setdefault(load, fault)
    runs: dict[str, dict[str, Summary]] = {}
    for (load, on), summary in found.items():
        if load not in reasons:
            runs.setdefault(load, {})[on] = summary
    return runs, left_out(reasons)


def left_out(faults: Mapping[str, str]) -> list[str]:
    """Returns a sentence for each omitted load. `faults` holds the reasons by load."""
    return [f"{load} is omitted: {fault}" for load, fault in faults.items()]


def completed(setup: Setup, cases: Mapping[Key, Case]) -> tuple[dict[Key, Summary], dict[Key, str]]:
    """Runs the cases. Returns the summaries of the completed ones and the errors of the others."""
    found: dict[Key, Summary] = {}
    faults: dict[Key, str] = {}
    for (key, case), run in zip(
        cases.items(), run_all(list(cases.values()), setup.runs), strict=True
    ):
        if run.summary is None:
            faults[key] = run.fault
            continue
        setup.note(case.label, run.config)
        found[key] = summary_of(run)
    return found, faults


def run_all(
    cases: Sequence[Case], runs: Runs | None = None, tables: tuple[str, ...] = ()
) -> list[Run]:
    """Runs the cases in parallel, like the points of a sweep. Returns the results in the order of
    the cases.

    `tables` are recorded in addition to the summaries. Cases with a result in `runs` that has these
    tables, or more, are not run again.
    """
    runs = runs or Runs()
    known = Known(here=runs.here)
    found: list[str] = []
    tasks: dict[str, Task] = {}
    faults: dict[str, Run] = {}
    for index, case in enumerate(cases):
        point = _point(index, case)
        try:
            task = known.task(point, tables)
        except WordlineError as fault:
            found.append(str(index))
            faults[str(index)] = Run(None, "", str(fault))
            continue
        keys = (task.key, *known.wider(point, tables))
        key = next((one for one in keys if one in runs.known), task.key)
        found.append(key)
        if key == task.key:
            tasks.setdefault(key, task)
    runs.run(list(tasks.values()))
    return [faults.get(key) or runs.known[key] for key in found]


def _point(index: int, case: Case) -> Point:
    options: dict[str, Any] = case.reading
    if case.requests is not None:
        options["max_requests"] = case.requests
    return Point(
        index, case.device, _paths(case.trace), case.seed, dict(case.overrides), options, {}
    )


def _paths(trace: Path | Sequence[Path] | None) -> tuple[str, ...]:
    if trace is None:
        return ()
    return (str(trace),) if isinstance(trace, Path) else tuple(str(path) for path in trace)
