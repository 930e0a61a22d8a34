"""Describes the purposes of programmed bytes."""

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
"""Names of the keys of `flash.programmed`."""


def parts(flash: Mapping[str, Any]) -> list[tuple[str, int, float | None]]:
    """Returns each purpose with programmed bytes: name, bytes, and share of the write
    amplification, which is None if the host wrote nothing."""
    written = flash["host_written_bytes"]
    programmed = ((name, flash["programmed"][key]) for key, name in NAMES)
    return [(name, size, size / written if written else None) for name, size in programmed if size]


def sentence(flash: Mapping[str, Any]) -> str:
    """Describes the write amplification, its parts and the bytes."""
    text = f"write amplification {units.number(flash['write_amplification'])}"
    shares = [(name, part) for name, _, part in parts(flash) if part is not None]
    if len(shares) > 1:
        text += f" ({', '.join(f'{name} {units.number(part)}' for name, part in shares)})"
    return (
        f"{text}: {units.size(flash['programmed_bytes'])} programmed for "
        f"{units.size(flash['host_written_bytes'])} written"
    )
