"""The recorded traces of a study."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from wordline._api import trace_input
from wordline_studies.figure import Setup

BUNDLED = Path(trace_input.bundled())


def recorded(setup: Setup, known: Mapping[str, Sequence[str]]) -> dict[str, Path]:
    """The bundled trace, and of those given the largest of each workload that is known. The setup
    notes what is not there.

    `known` says by workload which words mark the names of its files.
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
    """The workloads of which no recorded trace was found, as a sentence, if there are any."""
    absent = [one for one in known if not any(name.startswith(f"{one} (") for name in found)]
    if not absent:
        return []
    return [f"Not among the traces given (`--traces`), and so not shown: {', '.join(absent)}."]
