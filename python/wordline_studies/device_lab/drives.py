"""Table 5.1: the drives as published and as in the presets."""

from wordline_studies.device_lab.runs import BLOCKS, SCALE, WHOLE_BLOCKS, drive
from wordline_studies.figure import Claim, Figure, Numbers, Row, Setup, largest_difference

PUBLISHED = Numbers(__package__ or __name__)
LETTERS = "LCZAXP"
CHIPS = {"L": 16, "C": 16, "Z": 8, "A": 8, "X": 16, "P": 16}
ROUNDED = 0.55
"""Bound of the rounding error of the published over-provisioning, which the table gives in whole
numbers or tenths. Percentage points."""


def figure(setup: Setup) -> Figure:
    """Compares capacities and over-provisioning of the presets with table 5.1."""
    drives = {letter: drive(letter, setup) for letter in LETTERS}
    spare = {
        letter: 100 * (one.bench.flash_bytes / one.bench.user_bytes - 1)
        for letter, one in drives.items()
    }
    chips = {
        letter: one.bench.config["ssd"]["channels"] * one.bench.config["ssd"]["ways"]
        for letter, one in drives.items()
    }
    rows = [
        Row(
            f"over-provisioning of {letter}",
            spare[letter],
            "%",
            PUBLISHED("table-5.1", f"over-provisioning of {letter}"),
        )
        for letter in LETTERS
    ]
    off = largest_difference(rows)
    return Figure(
        id="table-5.1",
        title="Table 5.1: the drives",
        section="5.3",
        measured=(
            "Over-provisioning (hidden bytes relative to user bytes) and number of packages of "
            "each preset."
        ),
        rows=rows,
        claims=[
            Claim(
                "The over-provisioning of each preset equals that of table 5.1, within rounding",
                off < ROUNDED,
                f"at most {off:.2f} percentage points apart",
            ),
            Claim(
                "The number of packages of each preset equals that of table 5.1",
                chips == CHIPS,
                ", ".join(f"{letter} {many}" for letter, many in chips.items()),
            ),
        ],
        explanation=[
            "Capacity, DRAM, packages, process, cores and over-provisioning are published. Dies, "
            "pages, blocks, times, channels, the share of DRAM that holds data, and the memory of "
            "drives without DRAM are assumed. Assumed values are equal for all drives unless the "
            "text distinguishes the drives, and each preset lists them. No value was set to meet a "
            "published ratio.",
            "The table gives drives A and Z a capacity of 256 GB, which contradicts their "
            "over-provisioning. The presets use 251 GB and 240 GB.",
            f"The simulated drives have all their dies, but {BLOCKS} of {WHOLE_BLOCKS:,} blocks "
            f"per die ({SCALE} times fewer), unless a figure states another number. "
            "Over-provisioning and buffers are not scaled down, but the memory for the map is. "
            "The time until the write cliff shrinks by the same factor. With fewer blocks, the GC "
            "reserve is a larger share of the drive.",
        ],
        data={"over_provisioning_percent": spare, "chips": chips},
    )
