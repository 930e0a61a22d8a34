"""Instructions and cache misses of a request, counted by valgrind: exact, and slow."""

import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE, run

from wordline._dev.growth.sweeps import Point, command
from wordline._internal.process import with_parent
from wordline._wordline import WordlineError

# A first-level cache of 48 KiB, and behind it one of 1 MiB: what misses both comes from further.
CACHES = ("--I1=32768,8,64", "--D1=49152,12,64", "--LL=1048576,16,64")
# Of so many requests all are counted, the first, which find caches cold, too.
MOST_IN_FULL = 100_000
EVENTS = re.compile(r"^events: (.+)$", re.MULTILINE)
SUMMARY = re.compile(r"^summary: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Count:
    """Of one request: instructions, and reads and writes of data that miss 1 MiB of cache."""

    instructions: float
    misses: float


def available() -> bool:
    """Whether valgrind is there to count with."""
    return shutil.which("valgrind") is not None


def count(point: Point) -> Count:
    """What a request of a point takes: the difference of two runs over that in requests. They are
    of one request and of all; of an eighth and of a quarter where there are many, whose first
    weigh little. Raises WordlineError if valgrind fails."""
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
        raise WordlineError("valgrind: no counts in its output; use version 3.15 or newer")
    counted = dict(zip(names[1].split(), map(int, values[1].split()), strict=True))
    return counted["Ir"], counted["DLmr"] + counted["DLmw"]


def _reason(said: str) -> str:
    """The last line that is not of valgrind's own account, which comes after what went wrong."""
    lines = said.strip().splitlines()
    own = [line for line in lines if not re.match(r"==\d+==", line)]
    return (own or lines or ["failed"])[-1]
