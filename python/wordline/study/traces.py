"""The trace files of a study: recorded ones that are given, and loads that are generated."""

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from wordline import trace_input
from wordline.study.figure import Setup

BUNDLED = Path(trace_input.bundled())


@dataclass(frozen=True)
class Request:
    """A request of a load. Nanoseconds, pages."""

    at: int
    writes: bool
    first: int
    pages: int
    volume: int = 0


@contextmanager
def written(
    loads: Mapping[str, Iterable[Request]], page_bytes: int = 4096
) -> Generator[dict[str, Path]]:
    """Traces of loads for as long as they are needed. By load."""
    with TemporaryDirectory(prefix="wordline-study-") as folder:
        paths = {load: Path(folder) / f"{load}.csv" for load in loads}
        for load, requests in loads.items():
            with paths[load].open("w", encoding="utf-8") as file:
                file.write("time_ns,op,offset_bytes,size_bytes,volume\n")
                file.writelines(_line(one, page_bytes) for one in requests)
        yield paths


def _line(one: Request, page_bytes: int) -> str:
    op = "write" if one.writes else "read"
    return f"{one.at},{op},{one.first * page_bytes},{one.pages * page_bytes},{one.volume}\n"


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
