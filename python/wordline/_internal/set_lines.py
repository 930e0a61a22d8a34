"""The lines above a written configuration that name the keys set for the run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

START = "# --set "
LONGEST = 200
"""Characters of a value in a line."""


def text_of(settings: Sequence[tuple[str, str]]) -> str:
    """A line for each key and its value."""
    return "".join(f"{START}{key}={_cut(value)}\n" for key, value in settings)


def settings_of(config: str) -> list[tuple[str, str]]:
    """The keys and values of the lines at the beginning of a configuration."""
    found: list[tuple[str, str]] = []
    for line in config.splitlines():
        if not line.startswith(START):
            break
        key, _, value = line.removeprefix(START).partition("=")
        found.append((key, value.strip("\"'")))
    return found


def _cut(value: str) -> str:
    line = " ".join(value.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
