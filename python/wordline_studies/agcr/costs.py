"""Table 1: what reads and writes cost."""

from collections.abc import Mapping
from typing import TypeAlias

from wordline.config import Value
from wordline_studies.agcr.runs import DEVICE, PUBLISHED
from wordline_studies.figure import Figure, Published, Setup
from wordline_studies.regulation.costs import Cost, costs

# A low-cost write is followed by high-cost reads (section 2.2).
READ_OF = {"low": "high", "medium": "medium", "high": "low", "reduced": "reduced"}

Told: TypeAlias = tuple[Cost, Mapping[str, Value], Published]


def figure(setup: Setup) -> Figure:
    """Requests of a page, one at a time, in each mode."""
    writes: dict[str, Told] = {
        f"write, {mode}": ((mode, "write"), {}, PUBLISHED("1", f"write, {mode}"))
        for mode in READ_OF
    }
    reads: dict[str, Told] = {
        f"read after a {mode} write": ((mode, "read"), {}, PUBLISHED("1", f"read, {read}"))
        for mode, read in READ_OF.items()
    }
    return costs(
        setup,
        DEVICE,
        writes | reads,
        id="1",
        title="Table 1: costs",
        section="5.1",
        explanation=[
            "Reads cost 10 µs for each reference voltage and 20 µs for each bit of a cell that is "
            "transferred: with 3, 9 and 21 voltages 70, 170 and 310 µs, by equation 2. The first "
            "part holds the die, the second die and channel (section 3.1). Program steps of 3/4, "
            "1 and 4/3 give 800, 600 and 450 µs.",
            "The erase time is not given: 1.5 ms.",
        ],
    )
