"""Instructions and cache misses per request, counted by valgrind, which is exact but slow."""

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, run

from wordline._dev.growth.sweeps import Point, command
from wordline._internal.process import with_parent
from wordline._wordline import WordlineError

# A first-level cache of 48 KiB and a last-level cache of 1 MiB. An access that misses both goes to
# memory.
CACHES = ("--I1=32768,8,64", "--D1=49152,12,64", "--LL=1048576,16,64")
# Maximum number of requests for which every request is counted, including the first ones, which
# find cold caches.
MOST_IN_FULL = 100_000
EVENTS = re.compile(r"^events: (.+)$", re.MULTILINE)
SUMMARY = re.compile(r"^summary: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Count:
    """Counts per request: instructions, and data reads and writes that miss 1 MiB of cache."""

    instructions: float
    misses: float


def available() -> bool:
    """Returns True if valgrind is installed."""
    return shutil.which("valgrind") is not None


def count(point: Point) -> Count:
    """Counts the instructions and misses per request of a point, from the difference of two runs:
    one request and all requests, or, for many requests, an eighth and a quarter of them, where the
    first requests matter little. Raises WordlineError if valgrind fails."""
    many = point.requests > MOST_IN_FULL
    lengths = (point.requests // 8, point.requests // 4) if many else (1, point.requests)
    (instructions, misses), longer = (_total(point.of(length)) for length in lengths)
    more = lengths[1] - lengths[0]
    return Count((longer[0] - instructions) / more, (longer[1] - misses) / more)


def _total(point: Point) -> tuple[int, int]:
    with tempfile.TemporaryDirectory(prefix="wordline-growth-") as place:
        out = Path(place) / "counts"
        tool = [
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=yes",
            *CACHES,
            f"--cachegrind-out-file={out}",
        ]
        done = run(  # noqa: S603
            [*tool, *command(point)],
            cwd=place,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=PIPE,
            check=False,
            preexec_fn=with_parent(),
        )
        if done.returncode != 0:
            raise WordlineError(f"valgrind: {_reason(done.stderr.decode(errors='replace'))}")
        text = out.read_text(encoding="utf-8")
    names, values = EVENTS.search(text), SUMMARY.search(text)
    if not names or not values:
        raise WordlineError("valgrind: its output has no counts; use version 3.15 or later")
    counted = dict(zip(names[1].split(), map(int, values[1].split()), strict=True))
    return counted["Ir"], counted["DLmr"] + counted["DLmw"]


def _reason(said: str) -> str:
    """Returns the last line of standard error that is not part of valgrind's own report. If all
    are, returns the last line."""
    lines = said.strip().splitlines()
    own = [line for line in lines if not re.match(r"==\d+==", line)]
    return (own or lines or ["failed"])[-1]
