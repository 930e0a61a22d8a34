"""Benchmarks of Wordline, measured from outside: each run is a separate process.

Each result has a limit, measured on the machine at the same time: the rate of a simulator that only
orders the same events and looks up the same pages.
"""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Any, TypedDict

from wordline import _wordline
from wordline._api.trace_input import paths
from wordline._internal import output_folder
from wordline._internal.process import ended
from wordline._wordline import WordlineError

DEVICE = "d4"
# Dependent steps on that device in picoseconds: a page read (command, array, transfer) and a page
# program (command and transfer, array).
DURATIONS_PS = (175_000, 50_000_000, 12_300_000, 12_475_000, 500_000_000)

# Number of memory accesses that a simulator cannot avoid, per operation. The addresses are random,
# so each access waits for memory.
# A page that is read: its map entry, and the tables of its block.
READ = 2
# A page that is overwritten: its map entry, the valid bit of the old page, the tables of the old
# page's block, and the owner of the programmed page.
OVERWRITE = 4
# A page that GC moves: its map entry, and the owner of its copy. The owners of the victim's pages
# are adjacent.
MOVE = 2
# An erase: the tables of the block.
ERASE = 1

PRECONDITION = "page operations"

STORE = {
    "nand.geometry.blocks_per_plane": 64,
    "cache.mode": "write-back",
    "disk.model": "constant",
    "disk.capacity_bytes": 4 << 30,
}
"""The device with an eighth of its blocks, in front of a disk with a constant access time."""


@dataclass(frozen=True)
class Work:
    """A workload to measure: its name and the arguments of `wordline run`.

    The preconditioning of a `settled` workload takes most of its time, and is counted separately.
    Pages of a `sequential` workload are also adjacent in memory, so accesses to them do not wait
    for memory.
    """

    name: str
    arguments: tuple[str, ...]
    units: tuple[str, ...] = ("requests",)
    settled: bool = False
    sequential: bool = False


class Rate(TypedDict):
    """A number of units of work, and the CPU seconds that they took. `per_cpu_s` is the rate of
    the whole process and `model_per_cpu_s` that of the model, both without the preconditioning of
    a `settled` workload, which has its own rate. `limit_per_cpu_s` is the rate that the machine
    allows, if known, and `previous_per_cpu_s` the recorded `per_cpu_s`."""

    unit: str
    count: int
    cpu_s: float
    per_cpu_s: float
    model_per_cpu_s: float
    limit_per_cpu_s: float | None
    previous_per_cpu_s: float | None


class Measure(TypedDict):
    """Measurement of a workload. CPU seconds are user plus system time of the whole process, from
    the start of Python to the written results; `model_requests_per_cpu_s` excludes start and
    output. `precondition_cpu_s` is the part spent on preconditioning."""

    work: str
    requests: int
    cpu_s: float
    precondition_cpu_s: float
    requests_per_cpu_s: float
    model_requests_per_cpu_s: float
    wall_s: float
    peak_memory_bytes: int
    previous_peak_memory_bytes: int | None
    digest: str
    event_ns: float
    access_ns: float
    rates: list[Rate]


@dataclass(frozen=True)
class Machine:
    """Time that the machine needs per event of a queue, and per access to a random location in a
    table of the size of the map. Nanoseconds."""

    event_ns: float
    access_ns: float


@dataclass(frozen=True)
class Run:
    """Result of a run: summary, CPU seconds and peak memory of the process."""

    summary: dict[str, Any]
    cpu_s: float
    peak_memory_bytes: int


def _generated(
    name: str, requests: int, read_ratio: float, pattern: str, kib: int, **more: Any
) -> Work:
    keys = {
        "workload.requests": requests,
        "workload.read_ratio": read_ratio,
        "workload.pattern": pattern,
        "workload.request_bytes": kib * 1024,
        "workload.align_bytes": kib * 1024,
        "workload.arrival.closed-loop.queue_depth": 32,
        **more.pop("store", {}),
    }
    if more.get("settled"):
        keys["precondition.settle"] = "true"
    return Work(name, tuple(f"--set={key}={value}" for key, value in keys.items()), **more)


WORKS = {
    work.name: work
    for work in (
        _generated("rr4k", 1_000_000, 1.0, "uniform", 4),
        _generated(
            "rw4k",
            1_000_000,
            0.0,
            "uniform",
            4,
            units=("host writes", "flash operations"),
            settled=True,
        ),
        _generated("sw128k", 80_000, 0.0, "sequential", 128, units=("pages",), sequential=True),
        _generated("wb4k", 1_000_000, 0.5, "zipf", 4, store=STORE),
    )
}


def chosen(names: Sequence[str], traces: Sequence[str]) -> list[Work]:
    """Returns the workloads with these names, each once, with one `replay` per trace; all if no
    names are given.

    Raises WordlineError for an unknown name, or for `replay` without a trace.
    """
    names = list(dict.fromkeys(names))
    for name in names:
        if name not in WORKS and name != "replay":
            known = ", ".join([*WORKS, "replay"])
            raise WordlineError(f"no workload is called '{name}'; the workloads are {known}")
    if "replay" in names and not traces:
        raise WordlineError("replay needs a trace; add --trace FILE")
    generated = [WORKS[name] for name in names or WORKS if name in WORKS]
    replays = [_replay(trace) for trace in traces if not names or "replay" in names]
    return generated + replays


def measured(work: Work, repeat: int) -> Measure:
    """Measures a workload `repeat` times. Returns the run with the median CPU time, with the limit
    of the machine. Raises WordlineError if a run fails."""
    runs = [_run(work) for _ in range(repeat)]
    middle = median_low(run.cpu_s for run in runs)
    run = next(run for run in runs if run.cpu_s == middle)
    return measure(work, run, _machine(run.summary["device"]))


def measure(work: Work, run: Run, machine: Machine) -> Measure:
    """Returns the measurement of a workload from a run."""
    summary = run.summary
    requests, speed = int(summary["input"]["requests"]), summary["speed"]
    apart_s = float(speed["precondition_cpu_s"]) if work.settled else 0.0
    least_s = (
        speed["events"] * machine.event_ns + _accesses(work, summary) * machine.access_ns
    ) * 1e-9
    rates = [
        _rate(unit, _count(unit, summary), run.cpu_s - apart_s, speed["cpu_s"] - apart_s, least_s)
        for unit in work.units
    ]
    if work.settled:
        prepared = summary["precondition"]
        least_s = _accesses_of_preconditioning(prepared) * machine.access_ns * 1e-9
        rates.append(_rate(PRECONDITION, _prepared(prepared), apart_s, apart_s, least_s))
    return {
        "work": work.name,
        "requests": requests,
        "cpu_s": round(run.cpu_s, 3),
        "precondition_cpu_s": round(float(speed["precondition_cpu_s"]), 3),
        "requests_per_cpu_s": round(requests / run.cpu_s, 1),
        "model_requests_per_cpu_s": round(float(speed["requests_per_cpu_s"]), 1),
        "wall_s": round(float(speed["wall_s"]), 3),
        "peak_memory_bytes": run.peak_memory_bytes,
        "previous_peak_memory_bytes": None,
        "digest": str(summary["digest"]),
        "event_ns": round(machine.event_ns, 2),
        "access_ns": round(machine.access_ns, 2),
        "rates": rates,
    }


def titles(measures: Sequence[Measure]) -> list[str]:
    """Returns the titles of workloads for a table. Replays are numbered if there are several."""
    replays = [one["work"] for one in measures if one["work"] not in WORKS]

    def title(work: str) -> str:
        if work in WORKS:
            return work
        return f"replay {replays.index(work) + 1}" if len(replays) > 1 else "replay"

    return [title(one["work"]) for one in measures]


def read_record(path: Path) -> list[Measure]:
    """Returns the measurements that `write_record` wrote; none if the file does not exist. Raises
    WordlineError if it cannot be read or is not a record."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if not all(_is_measure(one) for one in found):
            raise ValueError(path)
    except FileNotFoundError:
        return []
    except OSError as fault:
        raise WordlineError(f"{path}: cannot be read: {fault.strerror or fault}") from fault
    except (ValueError, TypeError, KeyError) as fault:
        raise WordlineError(
            f"{path}: is not a record of `wordline bench`; delete the file, or name another file"
        ) from fault
    return found


def write_record(path: Path, measures: Sequence[Measure], former: Sequence[Measure]) -> None:
    """Writes the measurements, and keeps earlier ones of other workloads. The file appears complete
    or not at all. Raises WordlineError if it cannot be written."""
    works = {one["work"] for one in measures}
    kept = [one for one in former if one["work"] not in works]
    text = json.dumps([*kept, *measures], indent=2) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise WordlineError(f"{path}: cannot be written: {fault.strerror or fault}") from fault
    output_folder.write_file(path, lambda part: output_folder.write_text(part, text))


def compare(measures: Sequence[Measure], former: Sequence[Measure]) -> None:
    """Adds the recorded measurement of the same workload to each measurement."""
    known = {one["work"]: one for one in former}
    for one in measures:
        if one["work"] not in known:
            continue
        other = known[one["work"]]
        one["previous_peak_memory_bytes"] = other["peak_memory_bytes"]
        rates = {rate["unit"]: rate["per_cpu_s"] for rate in other["rates"]}
        for rate in one["rates"]:
            rate["previous_per_cpu_s"] = rates.get(rate["unit"])


def _is_measure(one: Any) -> bool:
    """Returns True if a record has the expected fields. Raises TypeError or KeyError if it is not a
    record."""
    rates = all(
        isinstance(rate["unit"], str)
        and isinstance(rate["per_cpu_s"], int | float)
        and 0 <= rate["per_cpu_s"] < math.inf
        for rate in one["rates"]
    )
    return rates and isinstance(one["work"], str) and isinstance(one["peak_memory_bytes"], int)


def _rate(unit: str, count: int, cpu_s: float, model_s: float, least_s: float) -> Rate:
    return {
        "unit": unit,
        "count": count,
        "cpu_s": round(cpu_s, 3),
        "per_cpu_s": round(count / cpu_s, 1),
        "model_per_cpu_s": round(count / model_s, 1),
        "limit_per_cpu_s": round(count / least_s, 1) if least_s else None,
        "previous_per_cpu_s": None,
    }


def _count(unit: str, summary: dict[str, Any]) -> int:
    """Returns how often `unit` occurs in a run. Pages are pages written by the host; flash
    operations are page reads, page programs and erases."""
    flash = summary["flash"]
    counts = {
        "requests": summary["input"]["requests"],
        "host writes": summary["input"]["writes"],
        "pages": flash["host_page_writes"],
        "flash operations": flash["page_reads"] + flash["page_programs"] + flash["erases"],
    }
    return int(counts[unit])


def _prepared(prepared: dict[str, Any]) -> int:
    return int(prepared["pages_filled"] + prepared["pages_overwritten"] + prepared["pages_moved"])


def _accesses(work: Work, summary: dict[str, Any]) -> int:
    """Returns the number of random memory accesses of a run, without its preconditioning."""
    flash = summary["flash"]
    moved, erases = flash["gc_pages_moved"], flash["erases"]
    reads = max(0, flash["page_reads"] - moved - flash["own_page_reads"])
    host = READ * reads + OVERWRITE * flash["host_page_writes"]
    return (0 if work.sequential else host) + MOVE * moved + ERASE * erases


def _accesses_of_preconditioning(prepared: dict[str, Any]) -> int:
    """Returns the number of random memory accesses of preconditioning. The pages that fill the
    device are adjacent in memory."""
    overwritten, moved = prepared["pages_overwritten"], prepared["pages_moved"]
    return int(OVERWRITE * overwritten + MOVE * moved + ERASE * prepared["erases"])


def _machine(device: dict[str, Any]) -> Machine:
    """Measures the machine with one pending event per die, the maximum, and a map of four bytes per
    page."""
    return Machine(
        event_ns=_wordline.bench_queue(int(device["dies"]), DURATIONS_PS),
        access_ns=_wordline.bench_access(int(device["user_bytes"]) // int(device["page_bytes"])),
    )


def _replay(trace: str) -> Work:
    name = f"replay {Path(trace).name}"
    (path,) = (str(Path(one).absolute()) for one in paths(trace))
    closed = "--set=replay.mode.closed-loop.queue_depth=32"
    return Work(name, ("--trace", path, "--fit", "wrap", closed))


def _run(work: Work) -> Run:
    command = [
        sys.executable,
        "-m",
        "wordline",
        "run",
        DEVICE,
        *work.arguments,
        "--out",
        "out",
        "--json",
        "--no-report",
        "--no-progress",
    ]
    try:
        done = ended(command)
    except WordlineError as fault:
        raise WordlineError(f"{work.name}: {fault}") from fault
    return Run(json.loads(done.output), done.cpu_s, done.peak_memory_bytes)
