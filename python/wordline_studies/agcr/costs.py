"""Table 1: costs of reads and writes."""

from collections.abc import Mapping
from typing import TypeAlias

from wordline.config import Value
from wordline_studies.agcr.runs import DEVICE, PUBLISHED
from wordline_studies.figure import Figure, Published, Setup
from wordline_studies.regulation.costs import Cost, costs

# A low-cost write makes later reads high-cost (section 2.2).
READ_OF = {"low": "high", "medium": "medium", "high": "low", "reduced": "reduced"}

Told: TypeAlias = tuple[Cost, Mapping[str, Value], Published]


def figure(setup: Setup) -> Figure:
    """Returns the figure of single-page requests, one at a time, in each mode."""
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
            "A read costs 10 µs per reference voltage and 20 µs per transferred bit of a cell; 3, "
            "9 and 21 voltages take 70, 170 and 310 µs by equation 2. The sensing part occupies "
            "the die, the transfer part the die and the channel (section 3.1). Program steps of "
            "3/4, 1 and 4/3 take 800, 600 and 450 µs.",
            "The erase time is not given; 1.5 ms is assumed.",
        ],
    )
