"""Memory that the state of a scheme needs."""

from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Setup
from wordline_studies.regulation.runs import REGULATION, Device

BLOCKS = (512, 2048)
"""Blocks per plane of the two devices whose state is measured."""


def state_per_page(setup: Setup, device: Device, scheme: str) -> tuple[float, float]:
    """Returns the state of a scheme that does not depend on the capacity, and the state per user
    page, from two capacities. Bits."""
    found = required(
        setup,
        {
            blocks: Case(
                device.name,
                f"{scheme}, {blocks} blocks per plane",
                {
                    REGULATION: scheme,
                    "nand.geometry.blocks_per_plane": blocks,
                    "workload.requests": 1,
                    "precondition.fill_ratio": 0.0,
                },
            )
            for blocks in BLOCKS
        },
    )
    (pages, bits), (more_pages, more_bits) = (_state(one) for one in found.values())
    per_page = (more_bits - bits) / (more_pages - pages)
    return bits - per_page * pages, per_page


def _state(summary: Summary) -> tuple[int, int]:
    """Returns the user pages and the state of the scheme in bits."""
    device, regulation = summary["device"], summary["regulation"]
    pages = (device["user_bytes"] or 0) // (device["page_bytes"] or 1)
    return pages, regulation["storage_bits"] if regulation else 0


def state_of(setup: Setup, device: Device, scheme: str, capacity: int) -> float:
    """Returns the state of a scheme of a device with the given capacity in bytes. Bits."""
    fixed, per_page = state_per_page(setup, device, scheme)
    return fixed + per_page * capacity / device.page
