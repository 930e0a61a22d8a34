"""Studies: figures of the literature, made again by the simulator.

A study is a module or package of this one that defines `STUDY`, and a line in `STUDIES`.
`wordline study NAME` runs it, writes a page and a JSON file, and fails if a claim does not hold.
"""

import difflib
from importlib import import_module
from typing import TYPE_CHECKING, cast

from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline_studies.figure import Study

STUDIES = {
    "agcr": "Read and write costs, and wear, by what pages are used for",
    "device-lab": "What reviewers find in drives: reads, wear, cliffs, buffers, TRIM, idle time",
    "ecc": "Codes by what pages are used for: fast writes with LDPC, others with BCH",
    "gc": "Garbage collection scheduling: collections in idle time, in advance and put off",
    "host-side": "Flash software on the host: its memory, its CPU, workers and queues",
    "lcr": "Load-aware cache replacement: a buffer that knows which chips are busy",
    "nand": "A NAND package by itself: operation modes, latency variation, dies and planes",
    "op-fcl": "OP-FCL: a flash cache that leaves space for collections, divided by a cost model",
    "palloc": "Page allocation strategies: 24 orders of channels, ways, dies and planes",
    "read-cache": "Flash as a read cache: suspected queues, and collections that move nothing",
    "write-cache": "Flash as a write cache: a size that follows the locality of the writes",
    "paq": "Physically addressed queueing: schedulers that know where pages are",
}


def load(name: str) -> "Study":
    """The study of this name. Raises WordlineError if there is none."""
    if name not in STUDIES:
        near = difflib.get_close_matches(name, STUDIES, 1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise WordlineError(
            f"no study is called '{name}'; {hint}the studies are {', '.join(STUDIES)}, and `all`"
        )
    return cast("Study", import_module(f"wordline_studies.{name.replace('-', '_')}").STUDY)
