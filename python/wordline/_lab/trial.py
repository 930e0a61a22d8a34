"""A trial: one run of the device under test, and the measurements taken from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wordline._sweep.engine import Work
from wordline._sweep.plan import Point
from wordline._sweep.work import Job, simulated
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    import polars

    from wordline._lab.test_device import TestDevice
    from wordline._sweep.tasks import Known, Task
    from wordline.config import Value

ERASED: Mapping[str, Value] = {"precondition.fill_ratio": 0.0}
FILLED: Mapping[str, Value] = {"precondition.fill_ratio": 1.0}
AGED: Mapping[str, Value] = FILLED | {"precondition.overwrite_ratio": 3.0}
SETTLED: Mapping[str, Value] = FILLED | {"precondition.settle": True}
"""Initial states of the device. Each starts from an erased device, SNIA's purge."""

SERIES = ("start_s", "end_s", "mb_per_s", "max_us", "gc_runs", "gc_die_ms", "write_bytes")
PARTS = (
    "latency",
    "throughput",
    "time",
    "flash",
    "slc_cache",
    "buffer",
    "read_errors",
    "energy",
    "digest",
    "speed",
)
PACES, LEAST_PACE = 100, 100
MOST_EACH = 64
HEADER = "time_ns,op,offset_bytes,size_bytes,volume\n"


@dataclass(frozen=True)
class Phase:
    """Consecutive requests of a trial, from number `first` up to and excluding `last`."""

    name: str
    first: int
    last: int


@dataclass(frozen=True)
class Trial:
    """A load on a device in a given state. The load is either generated, with `load` as the keys of
    `[workload]`, or made of the requests of `trace`. `depth` requests are outstanding, unless the
    trace is `timed`. Single requests are measured in `phases`; `series` records intervals. `device`
    is a preset that replaces the device under test."""

    state: Mapping[str, Value]
    load: Mapping[str, Value] = field(default_factory=dict[str, Any])
    depth: int | None = None
    trace: Callable[[], Iterable[str]] | None = None
    timed: bool = False
    phases: tuple[Phase, ...] = ()
    series: bool = False
    settings: Mapping[str, Value] = field(default_factory=dict[str, Any])
    device: str = ""


@dataclass(frozen=True)
class LabJob(Job):
    """A trial as a worker process runs it."""

    phases: tuple[Phase, ...] = ()


@dataclass(frozen=True)
class Measured:
    """Measurements of a trial: parts of the summary, metrics by phase, and columns of the series;
    or the error that prevented them."""

    summary: Mapping[str, Any] = field(default_factory=dict[str, Any])
    phases: Mapping[str, Any] = field(default_factory=dict[str, Any])
    series: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fault: str = ""


def line(op: str, offset: int, size: int, at_ns: int = 0) -> str:
    """Returns a request as a line of a trace."""
    return f"{at_ns},{op},{offset},{size},0\n"


def task(known: Known, bench: TestDevice, place: Path, name: str, trial: Trial) -> Task:
    """Returns the task that runs a trial. Writes the trace into the folder `place`, which also
    holds the device. Raises WordlineError if the trial cannot run."""
    trace: tuple[str, ...] = ()
    if trial.trace is not None:
        path = place / f"{name.replace('/', '-')}.csv"
        with path.open("w", encoding="utf-8") as file:
            file.write(HEADER)
            file.writelines(trial.trace())
        trace = (str(path),)
    device = trial.device or str(place / "device.toml")
    tables = (*(("requests",) if trial.phases else ()), *(("series",) if trial.series else ()))
    point = Point(0, device, trace, bench.seed, overrides(bench, trial), {}, {})
    made = known.task(point, tables)
    told = json.dumps([(one.name, one.first, one.last) for one in trial.phases])
    made.key = hashlib.sha256(f"lab {made.key} {told}".encode()).hexdigest()[:32]
    job = made.job
    made.job = LabJob(
        job.device,
        job.trace,
        job.seed,
        job.overrides,
        job.options,
        tables=tables,
        phases=trial.phases,
    )
    return made


def overrides(bench: TestDevice, trial: Trial) -> dict[str, Value]:
    """Returns the configuration keys of a trial, in addition to those of the device."""
    depth = trial.depth or bench.depth
    if trial.trace is None:
        loop = {"workload.arrival.closed-loop.queue_depth": depth}
    elif trial.timed:
        loop = {"replay.mode": "open-loop", "host.queue_depth": depth}
    else:
        loop = {"replay.mode.closed-loop.queue_depth": depth}
    load = {f"workload.{key}": value for key, value in trial.load.items()}
    state: Mapping[str, Value] = {} if trial.device else trial.state
    return {**state, **load, **loop, **trial.settings}


def measure(job: LabJob) -> Measured:
    """Runs a trial and takes its measurements."""
    try:
        result = simulated(job)
    except WordlineError as fault:
        return Measured(fault=str(fault))
    summary: Mapping[str, Any] = result.summary  # pyright: ignore[reportAssignmentType]
    phases: dict[str, Any] = {}
    if job.phases:
        rows = result.requests.polars().sort("index")
        phases = {
            one.name: of_phase(rows.slice(one.first, one.last - one.first)) for one in job.phases
        }
    series: dict[str, Any] = {}
    if "series" in job.tables:
        table = result.series.polars()
        series = {name: table[name].to_list() for name in SERIES}
    return Measured({part: summary[part] for part in PARTS}, phases, series)


MEASURED = Work(measure, lambda fault: Measured(fault=fault))  # pyright: ignore[reportArgumentType]


def of_phase(rows: polars.DataFrame) -> dict[str, Any]:
    """Returns the metrics of consecutive requests. Latencies exclude waits outside the device.
    `pace` is the rate in MB/s over groups with the same number of requests, at least 100, in order
    of completion."""
    import polars

    rows = rows.with_columns(
        us=(polars.col("latency_ps") - polars.col("host_queue_ps")) / 1e6,
        end=polars.col("arrival_ps") + polars.col("latency_ps"),
        begin=polars.col("arrival_ps") + polars.col("host_queue_ps"),
    )
    took = rows["us"]
    first_s, last_s = rows["begin"][0] / 1e12, cast("int", rows["end"].max()) / 1e12
    return {
        "count": rows.height,
        "bytes": int(rows["bytes"].sum()),
        "first_s": first_s,
        "last_s": last_s,
        "mb_per_s": _rate(int(rows["bytes"].sum()), last_s - first_s),
        "mean_us": took.mean(),
        "max_us": took.max(),
        "percentiles_us": [took.quantile(at / 100, "lower") for at in range(101)],
        "cell_us": [rows["cell_ps"].quantile(at, "lower") / 1e6 for at in (0.5, 1.0)],  # pyright: ignore[reportOptionalOperand]
        "each_us": took.to_list() if rows.height <= MOST_EACH else [],
        "pace": _pace(rows.sort("end"), first_s),
    }


def _pace(rows: polars.DataFrame, first_s: float) -> list[tuple[int, float]]:
    """Returns pairs of the bytes written so far and the rate in MB/s since the previous pair."""
    step = max(LEAST_PACE, rows.height // PACES)
    found: list[tuple[int, float]] = []
    before, done = first_s, 0
    for at in range(0, rows.height - step + 1, step):
        part = rows.slice(at, step)
        size, end_s = int(part["bytes"].sum()), part["end"][-1] / 1e12
        done += size
        found.append((done, _rate(size, end_s - before)))
        before = end_s
    return found


def _rate(size: int, seconds: float) -> float:
    return size / 1e6 / seconds if seconds > 0 else 0.0
