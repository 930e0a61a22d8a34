"""Simulating many cases on all cores."""

import os
import signal
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe, get_context, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread

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
            futures: list[Future[Run]] = [pool.submit(simulate, device, case) for case in cases]
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
