"""Tracks the outputs of a command, for the message of an interrupted command."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Files: TypeAlias = dict[str, tuple[int, int, int]]
    """Files of a folder by name, or a single file under the empty name. The value changes when the
    file is replaced."""

SUMMARY, REPORT, CHECKPOINT = "summary.json", "report.html", "checkpoint.wls"
JOURNALS = ("points.jsonl", "trials.journal")

_before: dict[str, Files] | None = None
"""Files at the places where the command of this process writes, before it writes there. None if the
process does not run a command."""


def begin() -> None:
    """Starts tracking for a command."""
    global _before  # noqa: PLW0603 - a process has one command
    _before = {}


def expect(place: str) -> None:
    """Registers a folder or file that the command may write."""
    if _before is not None and place not in _before:
        _before[place] = _there(place)


def expect_new(place: str) -> None:
    """Registers a new folder that the command has written."""
    if _before is not None:
        _before.setdefault(place, {})


def sentence() -> str:
    """Describes the outputs of the command, as far as they exist."""
    places = _before or {}
    facts = [one for place, before in places.items() if (one := _told(place, before))]
    return "; ".join(facts) or "nothing was written"


def _told(place: str, before: Files) -> str:
    now = _there(place)
    new = sorted(name for name, one in now.items() if before.get(name) != one)
    if new == [""]:
        return f"{place} was written"
    facts: list[str] = []
    if SUMMARY in new:
        facts.append(_results(place, now))
    elif journal := next((name for name in JOURNALS if name in new), None):
        facts.append(f"{place} keeps completed work ({journal}); the same command continues there")
    elif others := [name for name in new if name != CHECKPOINT]:
        facts.append(f"{place} holds {', '.join(others)}")
    if CHECKPOINT in now:
        facts.append(f"{place} holds {CHECKPOINT}; `wordline resume {place}` continues the run")
    return "; ".join(facts)


def _results(place: str, now: Files) -> str:
    with open(os.path.join(place, SUMMARY), encoding="utf-8") as file:
        so_far = " so far" if '"partial": true' in file.read(256) else ""
    text = f"the results{so_far} are in {place}"
    if REPORT in now:
        return text
    return f"{text}, without {REPORT}; `wordline report {place}` draws it"


def _there(place: str) -> Files:
    with suppress(OSError):
        found = os.stat(place)
        if not stat.S_ISDIR(found.st_mode):
            return {"": _identity(found)}
        with os.scandir(place) as entries:
            return {
                one.name: _identity(one.stat())
                for one in entries
                if not one.name.startswith(".") and not one.name.endswith(".part")
            }
    return {}


def _identity(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_ino, found.st_mtime_ns, found.st_size
