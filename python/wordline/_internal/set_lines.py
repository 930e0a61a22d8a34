"""Comments at the top of a written configuration that list the keys set for the run."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

START = "# --set "
LONGEST = 200
"""Maximum length of a value in characters."""


def text_of(settings: Sequence[tuple[str, str]]) -> str:
    """Returns one comment line per key and value."""
    return "".join(f"{START}{key}={_cut(value)}\n" for key, value in settings)


def settings_of(config: str) -> list[tuple[str, str]]:
    """Parses the keys and values of the comments at the top of a configuration."""
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
