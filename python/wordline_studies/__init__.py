"""Studies: reproductions of published figures.

A study is a module or package of `wordline_studies` that defines `STUDY` and has a line in
`STUDIES`. `wordline study NAME` runs it, writes an HTML page and a JSON file, and fails if the
verdict of a claim is not the expected one.
"""

import difflib
from importlib import import_module
from typing import TYPE_CHECKING, cast

from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline_studies.figure import Study

STUDIES = {
    "agcr": "Read and write regulation: access cost and wear by the access history of pages",
    "device-lab": "Drive review experiments: reads, wear, write cliff, buffers, TRIM, idle time",
    "ecc": "ECC by access history: LDPC for fast writes, BCH for all others",
    "gc": "GC scheduling: GC in idle periods, in advance, and postponed",
    "host-side": "FTL on the host: its memory, its CPU time, workers and queues",
    "lcr": "Load-aware cache replacement: a write buffer that avoids busy dies",
    "nand": "One NAND package: operation modes, latency variation, dies and planes",
    "op-fcl": "OP-FCL: over-provisioning and read/write partition of a flash cache, set by a cost "
    "model",
    "palloc": "Page allocation strategies: 24 priority orders of channels, ways, dies and planes",
    "read-cache": "Flash as a read cache: suspected-page queues and zero-migration GC",
    "write-cache": "Flash as a write cache: a cache size that follows the locality of writes",
    "paq": "Physically addressed queueing: schedulers that see physical addresses",
}


def load(name: str) -> "Study":
    """Returns the study called `name`. Raises WordlineError if there is none."""
    if name not in STUDIES:
        near = difflib.get_close_matches(name, STUDIES, 1)
        hint = f"did you mean '{near[0]}'? " if near else ""
        raise WordlineError(
            f"no study is called '{name}'; {hint}use one of {', '.join(STUDIES)}, or `all`"
        )
    return cast("Study", import_module(f"wordline_studies.{name.replace('-', '_')}").STUDY)
