"""The runs of a study: cases, simulated on all cores."""

import os
import signal
from collections.abc import Container, Hashable, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe, get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread
from typing import TypeVar

import wordline
from wordline import WordlineError
from wordline.config import Value
from wordline.study.figure import Setup
from wordline.summary import Summary

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Case:
    """A simulation: a load on a device, the name of a preset. Of a trace, at most `requests`. The
    `seed` is that of all random choices, those of preconditioning too."""

    device: str
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


def result(setup: Setup, case: Case, *, requests: bool = True) -> wordline.Result:
    """What comes of a case, with a row per request if wanted. Raises WordlineError."""
    found = _result(case, requests)
    setup.note(case.label, found.config)
    return found


def latencies_us(result: wordline.Result) -> list[float]:
    """Response times of the requests in order of arrival."""
    table = result.requests.polars().sort("index")
    return [ps / 1e6 for ps in table["latency_ps"].to_list()]


def required(setup: Setup, cases: Mapping[Key, Case]) -> dict[Key, Summary]:
    """What came of cases. Raises WordlineError if one cannot be simulated."""
    found, faults = completed(setup, cases)
    for fault in faults.values():
        raise WordlineError(fault)
    return found


def by_load(
    setup: Setup, cases: Mapping[tuple[str, str], Case], recorded: Container[str] = ()
) -> tuple[dict[str, dict[str, Summary]], list[str]]:
    """What came of cases by load and what it was run on; of `recorded` loads that cannot be
    simulated, a sentence. Raises WordlineError if another load cannot be."""
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
    """A sentence for each load that cannot be simulated. Reasons by load."""
    return [f"{load} was left out: {fault}" for load, fault in faults.items()]


def completed(setup: Setup, cases: Mapping[Key, Case]) -> tuple[dict[Key, Summary], dict[Key, str]]:
    """What came of cases, and for those that cannot be simulated the reason."""
    found: dict[Key, Summary] = {}
    faults: dict[Key, str] = {}
    for (key, case), run in zip(cases.items(), run_all(list(cases.values())), strict=True):
        if run.summary is None:
            faults[key] = run.fault
            continue
        setup.note(case.label, run.config)
        found[key] = run.summary
    return found, faults


def simulate(case: Case) -> Run:
    """Runs a case."""
    try:
        found = _result(case, requests=False)
    except WordlineError as fault:
        return Run(None, "", str(fault))
    return Run(found.summary, found.config)


def _result(case: Case, requests: bool) -> wordline.Result:
    return wordline.run(
        case.device,
        case.trace,
        overrides=case.overrides,
        requests=requests,
        fit="wrap",
        align="expand",
        time_order="clamp",
        volumes="shared",
        on_bad_line="skip",
        max_requests=case.requests,
        seed=case.seed,
    )


def run_all(cases: Sequence[Case]) -> list[Run]:
    """Runs cases on all cores; the answers stand in their order. No process is left if this one is
    interrupted, or killed."""
    workers = max(1, min(os.cpu_count() or 1, len(cases), 32))
    # This process alone holds the other end: it is closed when the process ends, however it does.
    ended, alive = Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_follow, initargs=(ended,)
    )
    try:
        # Ctrl-C is this process's affair, from the start of the others on. They inherit the mask.
        resource_tracker.ensure_running()  # it would lift the mask
        masked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            futures: list[Future[Run]] = [pool.submit(simulate, case) for case in cases]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, masked)
        return [future.result() for future in futures]
    except BrokenProcessPool:
        raise WordlineError(
            "a process of the study was killed; perhaps memory is short: free some"
        ) from None
    except BaseException:
        alive.close()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        alive.close()
        ended.close()


def _follow(ended: Connection) -> None:
    """Ends this process when the one that started it does, or does not want it any more."""

    def wait() -> None:
        with suppress(EOFError, OSError):
            ended.recv_bytes()
        os._exit(1)

    Thread(target=wait, daemon=True).start()
