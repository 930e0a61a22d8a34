"""How fast Wordline is, measured from outside: each run is a process of its own."""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from subprocess import DEVNULL, PIPE, Popen
from typing import Any, TypedDict, cast

from wordline._wordline import WordlineError

DEVICE = "d4"


@dataclass(frozen=True)
class Work:
    """Something to measure: a name and the arguments of `wordline run` that do it."""

    name: str
    arguments: tuple[str, ...]


class Measure(TypedDict):
    """One work, measured. CPU seconds are user plus system time of the whole process, from the
    start of Python to the written results; `model_requests_per_cpu_s` leaves all that out."""

    work: str
    requests: int
    cpu_s: float
    requests_per_cpu_s: float
    model_requests_per_cpu_s: float
    wall_s: float
    peak_memory_bytes: int
    digest: str


def _generated(name: str, requests: int, read_ratio: float, pattern: str, kib: int) -> Work:
    keys = {
        "workload.requests": requests,
        "workload.read_ratio": read_ratio,
        "workload.pattern": pattern,
        "workload.request_bytes": kib * 1024,
        "workload.align_bytes": kib * 1024,
        "workload.arrival.closed-loop.queue_depth": 32,
    }
    return Work(name, tuple(f"--set={key}={value}" for key, value in keys.items()))


def _settled(work: Work) -> Work:
    return Work(work.name, (*work.arguments, "--set=precondition.settle=true"))


WORKS = {
    work.name: work
    for work in (
        _generated("rr4k", 1_000_000, 1.0, "uniform", 4),
        _settled(_generated("rw4k", 1_000_000, 0.0, "uniform", 4)),
        _generated("sw128k", 80_000, 0.0, "sequential", 128),
    )
}


def chosen(names: Sequence[str], traces: Sequence[str]) -> list[Work]:
    """The works of these names, `replay` once per trace; without names, all there is.

    Raises WordlineError for an unknown name, or `replay` without a trace.
    """
    for name in names:
        if name not in WORKS and name != "replay":
            known = ", ".join([*WORKS, "replay"])
            raise WordlineError(f"no work is called '{name}'; the works are {known}")
    if "replay" in names and not traces:
        raise WordlineError("replay needs a trace; add --trace FILE")
    generated = [WORKS[name] for name in names or WORKS if name in WORKS]
    replays = [_replay(trace) for trace in traces if not names or "replay" in names]
    return generated + replays


def measured(work: Work, repeat: int) -> Measure:
    """The run with the median CPU time. Raises WordlineError if a run fails."""
    runs = [_run(work) for _ in range(repeat)]
    middle = median_low(run["cpu_s"] for run in runs)
    return next(run for run in runs if run["cpu_s"] == middle)


def _replay(trace: str) -> Work:
    name = f"replay {Path(trace).name}"
    return Work(name, ("--trace", trace, "--fit", "wrap", "--time-order", "clamp"))


def _run(work: Work) -> Measure:
    with tempfile.TemporaryDirectory(prefix="wordline-bench-") as place:
        out = str(Path(place) / "out")
        command = [sys.executable, "-m", "wordline", "run", DEVICE, *work.arguments,
                   "--out", out, "--json", "--no-report", "--no-progress"]  # fmt: skip
        process = Popen(command, stdin=DEVNULL, stdout=PIPE, stderr=PIPE)  # noqa: S603
        output, errors = _drained(process)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise WordlineError(f"{work.name}: {errors.decode(errors='replace').strip()}")
    summary = cast("dict[str, Any]", json.loads(output))
    requests, cpu_s = int(summary["input"]["requests"]), usage.ru_utime + usage.ru_stime
    return {
        "work": work.name,
        "requests": requests,
        "cpu_s": round(cpu_s, 3),
        "requests_per_cpu_s": round(requests / cpu_s, 1),
        "model_requests_per_cpu_s": round(float(summary["speed"]["requests_per_cpu_s"]), 1),
        "wall_s": round(float(summary["speed"]["wall_s"]), 3),
        "peak_memory_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "digest": str(summary["digest"]),
    }


def _drained(process: Popen[bytes]) -> tuple[bytes, bytes]:
    """All the process prints, without waiting for it: whoever waits learns its resource usage."""
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        return process.stdout.read(), process.stderr.read()
