"""What the bytes that flash has programmed were for, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wordline._render import units

NAMES = (
    ("host_bytes", "host data"),
    ("fill_bytes", "rest of partly written pages"),
    ("gc_bytes", "GC"),
    ("merge_bytes", "merges"),
    ("wear_bytes", "wear levelling"),
    ("fold_bytes", "SLC folding"),
    ("refresh_bytes", "read reclaim and refresh"),
    ("rewrite_bytes", "rewrites for faster reads"),
    ("map_bytes", "map and records"),
    ("summary_bytes", "block summaries"),
    ("spare_bytes", "moves to spare blocks"),
)
"""Keys of `flash.programmed`, and what they are."""


def parts(flash: Mapping[str, Any]) -> list[tuple[str, int, float | None]]:
    """What bytes were programmed for, of which there are any: its name, the bytes, and the part of
    the write amplification that they are, None where nothing was written."""
    written = flash["host_written_bytes"]
    programmed = ((name, flash["programmed"][key]) for key, name in NAMES)
    return [(name, size, size / written if written else None) for name, size in programmed if size]


def sentence(flash: Mapping[str, Any]) -> str:
    """The write amplification, what it is made of, and the bytes behind it."""
    text = f"write amplification {units.number(flash['write_amplification'])}"
    shares = [(name, part) for name, _, part in parts(flash) if part is not None]
    if len(shares) > 1:
        text += f" ({', '.join(f'{name} {units.number(part)}' for name, part in shares)})"
    return (
        f"{text}: {units.size(flash['programmed_bytes'])} programmed for "
        f"{units.size(flash['host_written_bytes'])} written"
    )
