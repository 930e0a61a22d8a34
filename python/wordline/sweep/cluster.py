"""Workers of a Dask cluster. Scheduling, retries and transport are Dask's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from wordline._wordline import WordlineError
from wordline.sweep.tasks import Task
from wordline.sweep.work import UPLOADED

SCHEME = "dask://"


def connect(address: str) -> Any:
    """The client of a scheduler at `dask://HOST:PORT`. Raises WordlineError."""
    host = address.removeprefix(SCHEME)
    if not host:
        raise WordlineError(f"--on {address}: name the scheduler as dask://HOST:PORT")
    try:
        from distributed import Client
    except ImportError:
        raise WordlineError(
            f"--on {address}: Dask is not installed; pip install 'wordline[cluster]'"
        ) from None
    try:
        return Client(f"tcp://{host}", timeout="10s")
    except (OSError, ValueError) as fault:
        raise WordlineError(
            f"--on {address}: no scheduler answers there ({fault}); start one with "
            "`dask scheduler`, or check the address"
        ) from None


def executor(client: Any) -> tuple[Executor, int]:
    """The executor of a client, and how many points its workers run at a time. Raises WordlineError
    if there are none."""
    client.wait_for_workers(1, timeout=60)
    slots = sum(client.nthreads().values())
    # A run is no function of its arguments alone to Dask: equal points have been put together.
    return client.get_executor(pure=False), slots


def ship(client: Any, tasks: Sequence[Task]) -> list[Task]:
    """The same tasks with traces by paths that the workers see: those that they do not see are sent
    to each of them once."""
    traces = sorted({path for task in tasks for path in task.job.trace})
    unseen = [path for path in traces if not all(client.run(_sees, os.path.abspath(path)).values())]  # noqa: PTH100
    for path in unseen:
        client.upload_file(path, load=False)
    sent = set(unseen)
    return [replace(task, job=_moved(task, sent)) for task in tasks]


def require_seen(client: Any, paths: Sequence[str]) -> None:
    """Refuses files that a worker does not see."""
    for path in paths:
        if not all(client.run(_sees, path).values()):
            raise WordlineError(f"{path}: not all workers see this file; put it where they do")


def _moved(task: Task, sent: set[str]) -> Any:
    paths = tuple(
        f"{UPLOADED}{os.path.basename(path)}" if path in sent else os.path.abspath(path)  # noqa: PTH100, PTH119
        for path in task.job.trace
    )
    return replace(task.job, trace=paths)


def _sees(path: str) -> bool:
    return os.path.exists(path)  # noqa: PTH110
