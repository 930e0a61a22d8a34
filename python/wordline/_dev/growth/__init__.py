"""Scaling of the cost per request with the number of requests, dies, capacity, queue depth and
backlog.

Every point of a sweep is a device under a load, and runs in separate processes. Its cost per
request is compared with that of the other points of the series.
"""

from collections.abc import Sequence
from pathlib import Path

from wordline._dev.growth import count as counting
from wordline._dev.growth.cost import measured
from wordline._dev.growth.results import write
from wordline._dev.growth.sweeps import Sweep
from wordline._dev.growth.sweeps import sweeps as all_sweeps
from wordline._dev.growth.terminal import Bar, print_growth
from wordline._wordline import WordlineError


def command(
    place: Path, sweeps: Sequence[str], repeat: int, *, quick: bool, full: bool, count: bool | None
) -> int:
    """Implements `wordline growth`; returns its exit code. Raises WordlineError."""
    if count and not counting.available():
        raise WordlineError("--count: valgrind is not installed; install it, or leave --count out")
    if quick and full:
        raise WordlineError("--full and --quick exclude each other; leave one option out")
    wanted = chosen(sweeps, quick=quick, full=full)
    with Bar() as bar:
        counts = counting.available() and not quick if count is None else count
        found = measured(wanted, repeat, bar.show, counts=counts)
    print_growth(found, write(found, place))
    flat = all(line.verdict.startswith("flat") for one in found for line in one.lines)
    return 0 if flat else 1


def chosen(names: Sequence[str], *, quick: bool = False, full: bool = False) -> list[Sweep]:
    """Returns the sweeps with these names, or all sweeps if no names are given. Raises
    WordlineError for an unknown name."""
    known = {sweep.name: sweep for sweep in all_sweeps(quick=quick, full=full)}
    for name in names:
        if name not in known:
            listed = ", ".join(known)
            raise WordlineError(f"no sweep is called '{name}'; the sweeps are {listed}")
    return [known[name] for name in dict.fromkeys(names or known)]
