"""Simulating many loads on many strategies, on all cores."""

import os
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import wordline
from wordline import WordlineError
from wordline.config import Value
from wordline.study.figure import Setup
from wordline.study.palloc.orders import ORDERS
from wordline.summary import Summary

DEVICE = "jung2013-palloc"
DEPTH = 32


@dataclass(frozen=True)
class Case:
    """A simulation: a load on the device of the study. Of a trace, at most `requests`."""

    label: str
    overrides: Mapping[str, Value]
    trace: Path | None = None
    requests: int | None = None


@dataclass(frozen=True)
class Run:
    """What came of a case: its summary and configuration, or why there is none."""

    summary: Summary | None
    config: str
    fault: str = ""


# By strategy.
Runs = dict[str, Summary]


def simulate(case: Case) -> Run:
    """Runs a case."""
    try:
        result = wordline.run(
            DEVICE,
            case.trace,
            overrides=case.overrides,
            requests=False,
            fit="wrap",
            align="expand",
            time_order="clamp",
            volumes="shared",
            on_bad_line="skip",
            max_requests=case.requests,
        )
    except WordlineError as fault:
        return Run(None, "", str(fault))
    return Run(result.summary, result.config)


def run_all(cases: Sequence[Case]) -> list[Run]:
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
        futures: list[Future[Run]] = [pool.submit(simulate, case) for case in cases]
        return [future.result() for future in futures]
    finally:
        pool.shutdown(cancel_futures=True)


def by_order(
    setup: Setup, loads: Sequence[str], case: Callable[[str, str], Case]
) -> tuple[dict[str, Runs], dict[str, str]]:
    """Every load on every strategy; `case` makes the case of a load and a strategy.

    Returns the summaries, and for loads that cannot be simulated the reason.
    """
    pairs = [(load, order) for load in loads for order in ORDERS]
    cases = [case(load, order) for load, order in pairs]
    found: dict[str, Runs] = {load: {} for load in loads}
    faults: dict[str, str] = {}
    for (load, order), one, run in zip(pairs, cases, run_all(cases), strict=True):
        if run.summary is None:
            faults.setdefault(load, run.fault)
            continue
        setup.note(one.label, run.config)
        found[load][order] = run.summary
    return {load: runs for load, runs in found.items() if load not in faults}, faults


def over(runs: Mapping[str, Summary], measure: Callable[[Summary], float]) -> dict[str, float]:
    """A measure of each strategy."""
    return {order: measure(summary) for order, summary in runs.items()}


def iops(summary: Summary) -> float:
    """Requests completed a second."""
    return summary["throughput"]["iops"]


def latency_us(summary: Summary) -> float:
    """Mean response time of reads and writes."""
    return summary["latency"]["all"]["mean_us"] or 0.0


def wait_us(summary: Summary) -> float:
    """Mean time of waiting for a die or a bus that others of the host hold."""
    parts = summary["breakdown"]["all"]
    return parts["die_wait_us"] + parts["bus_wait_us"]


def commands(summary: Summary) -> float:
    """Commands of the flash: flash transactions, in the document's words."""
    return float(summary["commands"]["total"])


def parallel_percent(summary: Summary) -> float:
    """Share of commands that share planes or interleave dies."""
    told = summary["commands"]
    return 100 * (1 - told["plain"] / told["total"]) if told["total"] else 0.0


def channel_percent(summary: Summary) -> float:
    """Mean share of the time in which a channel was in use."""
    return 100 * summary["utilisation"]["channel_mean"]


def idle_percent(summary: Summary) -> float:
    """Share of the dies' time in which they did nothing."""
    return 100 * summary["execution"]["idle"]
