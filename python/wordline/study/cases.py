"""Simulating many cases on all cores."""

import os
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import wordline
from wordline import WordlineError
from wordline.config import Value
from wordline.summary import Summary


@dataclass(frozen=True)
class Case:
    """A simulation: a load on the device of a study. Of a trace, at most `requests`. The `seed` is
    that of all random choices, those of preconditioning too."""

    label: str
    overrides: Mapping[str, Value]
    trace: Path | None = None
    requests: int | None = None
    seed: int = 1


@dataclass(frozen=True)
class Run:
    """What came of a case: its summary and configuration, or why there is none."""

    summary: Summary | None
    config: str
    fault: str = ""


def simulate(device: str, case: Case) -> Run:
    """Runs a case."""
    try:
        result = wordline.run(
            device,
            case.trace,
            overrides=case.overrides,
            requests=False,
            fit="wrap",
            align="expand",
            time_order="clamp",
            volumes="shared",
            on_bad_line="skip",
            max_requests=case.requests,
            seed=case.seed,
        )
    except WordlineError as fault:
        return Run(None, "", str(fault))
    return Run(result.summary, result.config)


def run_all(device: str, cases: Sequence[Case]) -> list[Run]:
    """Runs cases on all cores; the answers stand in their order."""
    workers = max(1, min(os.cpu_count() or 1, len(cases), 32))
    pool = ProcessPoolExecutor(
        workers,
        mp_context=get_context("spawn"),
        # Ctrl-C is this process's affair: it lets the runs under way end and starts no other.
        initializer=signal.signal,
        initargs=(signal.SIGINT, signal.SIG_IGN),
    )
    try:
        futures: list[Future[Run]] = [pool.submit(simulate, device, case) for case in cases]
        return [future.result() for future in futures]
    finally:
        pool.shutdown(cancel_futures=True)
