"""Table 7: costs of reads and writes. Section 5.3.4: memory."""

from wordline.config import Value
from wordline_studies.ecc.runs import DEVICE, OF_AGCR, PUBLISHED
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.regulation.costs import Cost, costs
from wordline_studies.regulation.storage import state_per_page

COSTS: dict[str, tuple[Cost, dict[str, Value]]] = {
    "write, fast": (("low", "write"), {}),
    "write, normal": (("medium", "write"), {}),
    "write, slow": (("high", "write"), {}),
    "read, BCH": (("medium", "read"), {}),
    "read, LDPC after a fast write": (("low", "read"), {}),
    "read, LDPC after a medium write": (("medium", "read"), OF_AGCR),
    "read, LDPC after a slow write": (("high", "read"), {}),
}
CAPACITY = 64 << 30


def figure(setup: Setup) -> Figure:
    """Returns the figure for single-page requests, one at a time."""
    return costs(
        setup,
        DEVICE,
        {
            what: (cost, more, PUBLISHED("7", f"response time, {what}"))
            for what, (cost, more) in COSTS.items()
        },
        id="7",
        title="Table 7: costs",
        section="5.4.1",
        explanation=[
            "The read model cannot give this table: no number of reference voltages and no "
            "costs of sensing and transfer give 75, 110 and 145 µs with 3, 9 and 21 voltages. "
            "The times are therefore configured as a table. The share of the transfer in a read is "
            "not given; the time of 8 KiB at 800 MB/s is assumed.",
        ],
    )


def memory(setup: Setup) -> Figure:
    """Returns the figure for the memory that the schemes need."""
    filters, mode = state_per_page(setup, DEVICE, "differentiated-ecc")
    fixed, history = state_per_page(setup, DEVICE, "r-w")
    pages = CAPACITY / DEVICE.page
    ours, agcr = filters + mode * pages, fixed + history * pages
    return Figure(
        id="memory",
        title="Section 5.3.4: memory",
        section="5.3.4",
        measured=(
            "Memory that the schemes need for their state with 64 GiB of flash. The fixed part "
            "and the part per page are derived from devices with two capacities."
        ),
        rows=[
            Row(
                "memory of the Bloom filters",
                filters / 8 / 1024,
                "KB",
                PUBLISHED("memory", "memory of the Bloom filters"),
            ),
            Row(
                "memory of the mode bits for 64 GiB of flash",
                mode * pages / 8 / 2**20,
                "MB",
                PUBLISHED("memory", "memory of the mode bits for 64 GB"),
            ),
            Row("memory of AGCR's histories and tags for 64 GiB of flash", agcr / 8 / 2**20, "MB"),
        ],
        claims=[
            Claim(
                "AGCR needs more memory than differentiated ECC, in total and per page",
                agcr > ours and history > mode,
                f"{agcr / 8 / 2**20:.2f} and {ours / 8 / 2**20:.2f} MB for 64 GiB of flash; "
                f"{history:g} and {mode:g} bits per page",
                ids=("X5-008",),
            )
        ],
    )
