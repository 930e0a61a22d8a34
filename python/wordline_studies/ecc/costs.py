"""Table 7: costs of reads and writes."""

from wordline.config import Value
from wordline_studies.ecc.runs import DEVICE, OF_AGCR, PUBLISHED
from wordline_studies.figure import Figure, Setup
from wordline_studies.regulation.costs import Cost, costs

COSTS: dict[str, tuple[Cost, dict[str, Value]]] = {
    "write, fast": (("low", "write"), {}),
    "write, normal": (("medium", "write"), {}),
    "write, slow": (("high", "write"), {}),
    "read, BCH": (("medium", "read"), {}),
    "read, LDPC after a fast write": (("low", "read"), {}),
    "read, LDPC after a medium write": (("medium", "read"), OF_AGCR),
    "read, LDPC after a slow write": (("high", "read"), {}),
}


def figure(setup: Setup) -> Figure:
    """Returns the figure of single-page requests, one at a time."""
    return costs(
        setup,
        DEVICE,
        {what: (cost, more, PUBLISHED("7", what)) for what, (cost, more) in COSTS.items()},
        id="7",
        title="Table 7: costs",
        section="5.4.1",
        explanation=[
            "The read model cannot give this table: no number of reference voltages and no "
            "costs of sensing and transfer give 75, 110 and 145 µs with 3, 9 and 21 voltages. "
            "The times are therefore configured as a table. The share of transfer in a read is "
            "not given; it is the time of 8 KiB at 800 MB/s.",
        ],
    )
