"""Describes the detected formats of traces."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def formats(files: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns one line per format: the files, the format, the unit of its time stamps, and how it
    was detected."""
    by_format: dict[str, list[Mapping[str, Any]]] = {}
    for file in files:
        by_format.setdefault(_format(file), []).append(file)
    return [f"{_names(those)}: {text}" for text, those in by_format.items()]


def _format(file: Mapping[str, Any]) -> str:
    times = f"times in {file['time_unit']}" if file["time_unit"] else "no times"
    by = file["recognised_by"]
    return f"{file['format']}, {times}, {f'recognised by {by}' if by else 'as named'}"


def _names(files: Sequence[Mapping[str, Any]]) -> str:
    first = Path(files[0]["path"]).name
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"
