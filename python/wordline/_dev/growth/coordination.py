"""Overhead of a sweep: `python -m wordline._dev.growth.coordination [POINTS]` runs POINTS points of
about 50 ms. It prints the CPU time of all processes, that of the runs, and the difference: process
starts, imports, checks of points, transport, journal and table."""

import resource
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from wordline._render import units
from wordline._sweep import JOURNAL, POINTS, run, work
from wordline._sweep import plan as plans
from wordline._sweep import table as tables
from wordline._sweep.engine import Work
from wordline._sweep.journal import Journal
from wordline._sweep.tasks import Task, tasks
from wordline._sweep.work import Done, Job
from wordline._sweep.workers import workers_of

DEVICE = "d4"
REQUESTS = 150_000


@dataclass(frozen=True)
class Timed(Done):
    """Result of a point, and the CPU seconds of its run."""

    cpu_s: float = 0.0


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a sweep: of all its processes, and of the runs alone."""

    points: int
    all_s: float
    runs_s: float

    @property
    def share(self) -> float:
        """Share of the CPU time that is not spent in runs."""
        return 1 - self.runs_s / self.all_s

    def __str__(self) -> str:
        return (
            f"{units.many(self.points, 'point')} of {1000 * self.runs_s / self.points:.1f} ms: "
            f"{self.all_s:.1f} CPU s, {self.runs_s:.1f} of them in the runs; "
            f"the rest is {units.share(self.share)}"
        )


def timed(job: Job) -> Timed:
    """Runs a point and measures the CPU time of its run."""
    begun = time.thread_time()
    done = work.run(job)
    return Timed(done.figures, done.digest, done.fault, time.thread_time() - begun)


def measured(points: int, requests: int = REQUESTS) -> Cost:
    """Measures a sweep over seeds, including all its output. Counts all CPU time of this process so
    far, and that of its children, which are the workers of the sweep."""
    table = {"device": DEVICE, "seeds": points, "set": {"workload.requests": requests}}
    every = plans.points(plans.of_table(table))
    todo = tasks(every)
    ended: dict[str, Timed] = {}
    with (
        tempfile.TemporaryDirectory(prefix="wordline-") as place,
        Journal(str(Path(place, JOURNAL)), Timed) as journal,
    ):

        def over(task: Task, done: Timed) -> None:
            ended[task.key] = done
            journal.add(task.key, done)

        with workers_of(None, None, points) as who:
            run(who, todo, Work(timed, lambda fault: Timed({}, "", fault)), over)
        keys = {point.index: task.key for task in todo for point in task.points}
        tables.write(tables.table(every, keys, ended), str(Path(place, POINTS)))
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    all_s = sum(one.ru_utime + one.ru_stime for one in spent)
    return Cost(points, all_s, sum(done.cpu_s for done in ended.values()))


def main() -> None:
    """Prints the overhead of a sweep of 1,000 points, or of the number in the argument."""
    print(measured(int(sys.argv[1]) if len(sys.argv) > 1 else 1000))


if __name__ == "__main__":
    # Worker processes look up functions by module name.
    from wordline._dev.growth import coordination  # noqa: PLW0406

    coordination.main()
