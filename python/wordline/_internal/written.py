"""What is where a command was to write: of that the sentence is made with which it ends when it is
interrupted."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Files: TypeAlias = dict[str, tuple[int, int, int]]
    """Files of a folder by their names, a file by no name, and what tells each from another that
    takes its place."""

SUMMARY, REPORT, CHECKPOINT = "summary.json", "report.html", "checkpoint.wls"
JOURNALS = ("points.jsonl", "trials.journal")

_before: dict[str, Files] | None = None
"""The places where the command of this process writes, and what was there before it did. None in a
process that no command has."""


def begin() -> None:
    """A command begins: nothing is expected from it yet."""
    global _before  # noqa: PLW0603 - a process has one command
    _before = {}


def expect(place: str) -> None:
    """The command may write a folder or a file, from now on."""
    if _before is not None and place not in _before:
        _before[place] = _there(place)


def expect_new(place: str) -> None:
    """The command has written a folder where there was none."""
    if _before is not None:
        _before.setdefault(place, {})


def sentence() -> str:
    """What the command has left, as far as it is there."""
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
        facts.append(f"{place} keeps what has ended ({journal}); the same command continues there")
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
    return f"{text}, without {REPORT}, which `wordline report {place}` draws"


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
