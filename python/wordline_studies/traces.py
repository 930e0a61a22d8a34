"""Recorded traces of a study."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from wordline._api import trace_input
from wordline_studies.figure import Setup

BUNDLED = Path(trace_input.bundled())


def recorded(setup: Setup, known: Mapping[str, Sequence[str]]) -> dict[str, Path]:
    """Returns the paths of recorded traces by label: the bundled trace, and the largest given file
    of each known workload.

    `known` maps a workload to words, one of which a file name must contain. Missing traces are
    recorded in `setup`.
    """
    found: dict[str, Path] = {}
    if BUNDLED.exists():
        found["postgresql (bundled)"] = BUNDLED
    else:
        setup.miss(BUNDLED.name)
    for workload, words in known.items():
        named = [path for path in setup.traces if any(word in path.name.lower() for word in words)]
        if named:
            largest = max(named, key=lambda path: (path.stat().st_size, path.name))
            found[f"{workload} ({largest.name.split('.')[0]})"] = largest
        else:
            setup.miss(workload)
    return found


def missing(known: Iterable[str], found: Collection[str]) -> list[str]:
    """Returns a list with a sentence that names the known workloads without a recorded trace; an
    empty list if there is a trace for each."""
    absent = [one for one in known if not any(name.startswith(f"{one} (") for name in found)]
    if not absent:
        return []
    return [
        (
            "The traces given with `--traces` do not include these workloads, so the figure omits "
            f"them: {', '.join(absent)}."
        )
    ]
