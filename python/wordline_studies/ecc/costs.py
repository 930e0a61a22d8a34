"""Table 7: what reads and writes cost."""

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
    """Requests of a page, one at a time."""
    return costs(
        setup,
        DEVICE,
        {what: (cost, more, PUBLISHED("7", what)) for what, (cost, more) in COSTS.items()},
        id="7",
        title="Table 7: costs",
        section="5.4.1",
        explanation=[
            "The table cannot be derived from the model of reads: no number of reference voltages "
            "and costs of sensing and transfer gives 75, 110 and 145 µs with 3, 9 and 21 "
            "voltages. It stays a table. How much of a read is transfer is not given: what 8 KiB "
            "take at 800 MB/s.",
        ],
    )
