"""Table 5.1: the drives, as they are printed and as the presets have them."""

from wordline_studies.device_lab.runs import BLOCKS, SCALE, WHOLE_BLOCKS, drive
from wordline_studies.figure import Claim, Figure, Numbers, Row, Setup

PUBLISHED = Numbers(__package__ or __name__)
LETTERS = "LCZAXP"
CHIPS = {"L": 16, "C": 16, "Z": 8, "A": 8, "X": 16, "P": 16}
ROUNDED = 0.55
"""Per cent of over-provisioning that the printed values may be rounded by: they are in whole and
in tenths of per cent."""


def figure(setup: Setup) -> Figure:
    """Capacities and over-provisioning of the presets."""
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
    off = max(abs(row.difference or 0.0) for row in rows)
    return Figure(
        id="table-5.1",
        title="Table 5.1: the drives",
        section="5.3",
        measured="Spare over user bytes of the presets, and their packages.",
        rows=rows,
        claims=[
            Claim(
                "Over-provisioning is that of the table", off < ROUNDED, f"{off:.2f} points at most"
            ),
            Claim(
                "Packages are those of the table",
                chips == CHIPS,
                ", ".join(f"{letter} {many}" for letter, many in chips.items()),
            ),
        ],
        explanation=[
            "Capacity, DRAM, packages, process, cores, and over-provisioning are published. Dies, "
            "pages, blocks, times, channels, the part of the DRAM that holds data, and the memory "
            "of drives without DRAM are assumed, alike for all drives where nothing tells them "
            "apart; each preset says which is which. None was set to meet a ratio.",
            "A and Z are printed with 256 GB, which their over-provisioning does not leave: 251 GB "
            "and 240 GB are taken.",
            f"Drives are simulated with all their dies and {BLOCKS} of {WHOLE_BLOCKS:,} blocks on "
            f"each ({SCALE} times smaller), or with as many as a figure says. Over-provisioning "
            "and buffers are whole, memory for the map is divided likewise. Times until the cliff "
            "are as many times shorter; fewer blocks leave a larger share to the reserve of "
            "collections.",
        ],
        data={"over_provisioning_percent": spare, "chips": chips},
    )
