"""Workers that run points: processes of this machine, workers of a cluster, or a given executor."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from wordline._api import spelling
from wordline._render import units
from wordline._sweep.local import Processes, job_count
from wordline._sweep.memory import available
from wordline._sweep.scratch import Scratch
from wordline._sweep.tasks import Task
from wordline._sweep.work import Job
from wordline._wordline import WordlineError

# Share of the workers' memory that the estimates of the running points may reach.
MEMORY_SHARE = 0.8


@dataclass(frozen=True)
class Workers:
    """An executor, and the resources of its workers."""

    executor: Executor
    slots: int
    """Number of points that run concurrently."""
    memory_bytes: float
    """Memory that the running points may take together, in bytes."""
    largest_bytes: float | None
    """Memory of the largest worker in bytes; None on this machine and for a given executor, where
    runs check it themselves."""
    folder: str | None
    """Folder for prepared devices if all workers can access it."""
    moved: Callable[[Job], Job]
    """Function that returns a job with paths that the workers can access."""

    def require_room(self, tasks: Sequence[Task]) -> None:
        """Raises WordlineError for the first task that needs more memory than any worker has."""
        for task in tasks:
            if self.largest_bytes is not None and task.memory_bytes > self.largest_bytes:
                raise WordlineError(
                    f"{task.points[0]}: takes {units.size(task.memory_bytes)} of memory, and the "
                    f"largest worker has {units.size(self.largest_bytes)}; start workers with a "
                    "larger --memory-limit, or make the device smaller"
                )


def here(on: Any) -> bool:
    """Returns True if the workers of `on` run on this machine, as far as is known."""
    return on is None or isinstance(on, Executor)


@contextmanager
def workers_of(on: Any, jobs: int | None, most: int) -> Generator[Workers]:
    """Yields the workers of `on`, as in `wordline.sweep`; at most `most` processes of this machine.
    Raises WordlineError."""
    if isinstance(on, Executor):
        yield Workers(on, job_count(jobs), free_memory(), None, None, _unmoved)
    elif on is not None:
        yield from _of_cluster(on)
    else:
        yield from _of_this_machine(min(job_count(jobs), most))


def _of_this_machine(count: int) -> Generator[Workers]:
    scratch = Scratch()
    processes = Processes(count)
    try:
        yield Workers(processes, processes.slots, free_memory(), None, scratch.path, _unmoved)
        processes.shutdown()
    except BaseException:
        processes.shutdown(cancel_futures=True)
        raise
    finally:
        scratch.remove()


def _of_cluster(on: Any) -> Generator[Workers]:
    from wordline._sweep import cluster

    if isinstance(on, str) and not on.startswith(cluster.SCHEME):
        raise WordlineError(
            spelling.message(f"--on {on}: is not the address of a scheduler; give dask://HOST:PORT")
        )
    client = cluster.connect(on) if isinstance(on, str) else on
    try:
        rooms = cluster.rooms(client)
        # To Dask, a run is not a pure function of its arguments. Equal points have already been
        # merged.
        executor = client.get_executor(pure=False)
        slots = sum(client.nthreads().values())
        shipped = cluster.Shipped(client)
        room = sum(rooms) * MEMORY_SHARE
        try:
            yield Workers(executor, slots, room, max(rooms), None, shipped.moved)
        finally:
            executor.shutdown(wait=False)
    finally:
        if isinstance(on, str):
            client.close()


def free_memory() -> float:
    """Returns the memory in bytes that points may take together on this machine."""
    return available() * MEMORY_SHARE


def _unmoved(job: Job) -> Job:
    return job
