"""Workers of a Dask cluster. Dask handles scheduling, retries and transport."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from wordline._api import spelling, trace_input
from wordline._sweep.work import Job
from wordline._wordline import WordlineError

SCHEME = "dask://"
WAIT_S = 60
"""Timeout for the first worker in seconds."""


def connect(address: str) -> Any:
    """Returns the client of a scheduler at `dask://HOST:PORT`. Raises WordlineError."""
    host = address.removeprefix(SCHEME)
    if not host:
        raise WordlineError(
            spelling.message(
                f"--on {address}: is not the address of a scheduler; give dask://HOST:PORT"
            )
        )
    try:
        from distributed import Client
    except ImportError:
        raise WordlineError(
            spelling.message(
                f"--on {address}: Dask is not installed; run pip install 'wordline[cluster]'"
            )
        ) from None
    try:
        return Client(f"tcp://{host}", timeout="10s")
    except (OSError, ValueError) as fault:
        raise WordlineError(
            spelling.message(
                f"--on {address}: no scheduler answers ({fault}); start one with "
                "`dask scheduler`, or check the address"
            )
        ) from None


def rooms(client: Any) -> list[float]:
    """Returns the memory of each worker in bytes. Raises WordlineError without workers."""
    try:
        client.wait_for_workers(1, timeout=WAIT_S)
    except TimeoutError:
        address = client.scheduler.address
        raise WordlineError(
            f"the scheduler at {address} has no worker after {WAIT_S} s; start workers with "
            f"`dask worker {address}`"
        ) from None
    told: dict[str, tuple[str, float | None, float]] = client.run(_room)
    return _shared_by_host(list(told.values()))


def _shared_by_host(told: list[tuple[str, float | None, float]]) -> list[float]:
    """Returns the memory of each worker in bytes. Each entry has a worker's host, its own limit if
    it has one, and the free memory of the host. Workers without a limit share the free memory of
    their host."""
    hosts = [host for host, limit, _ in told if not limit]
    return [limit or left / hosts.count(host) for host, limit, left in told]


def _room(dask_worker: Any) -> tuple[str, float | None, float]:
    import socket

    from wordline._sweep.memory import available

    limit: float | None = dask_worker.memory_manager.memory_limit
    return socket.gethostname(), limit, available()


class Shipped:
    """Traces of the workers of a client. A trace that is missing or different on a worker is sent
    once to each worker, under a unique name."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._names: dict[str, str] = {}

    def moved(self, job: Job) -> Job:
        """Returns the job with the names of the traces that were sent, and with absolute paths for
        the others."""
        paths = tuple(os.path.abspath(path) for path in trace_input.paths(job.trace))  # noqa: PTH100
        for path in paths:
            if path not in self._names:
                self._names[path] = self._name(path)
        sent = {path: name for path in paths if (name := self._names[path])}
        return replace(job, trace=paths, sent=sent)

    def _name(self, path: str) -> str:
        """Sends a trace and returns its name on the workers; an empty name if all workers can read
        the trace at its path."""
        digest = content(path)
        if all(found == digest for found in self._client.run(content, path).values()):
            return ""
        name = f"{digest}{''.join(Path(path).suffixes)}"
        if name not in self._names.values():
            # Dask keeps the name of a file on the workers.
            with tempfile.TemporaryDirectory(prefix="wordline-") as folder:
                named = Path(folder, name)
                named.symlink_to(path)
                self._client.upload_file(str(named), load=False)
        return name


def content(path: str) -> str:
    """Returns the hash of the content of a file; empty if the file cannot be read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
