"""The plain form of `wordline run`, read without click, whose import takes longer than everything
else before a simulation: a device, and options written out in full.

Whatever else there is, and whatever might be wrong, is left to click, which says so.
"""

from __future__ import annotations

import os

from wordline.reading import CHOICES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FLAGS = {
    "--slowdown": ("slowdown", True),
    "--requests": ("requests", True),
    "--verify": ("verify", True),
    "--progress": ("progress", True),
    "--no-progress": ("progress", False),
    "--no-report": ("no_report", True),
    "--json": ("as_json", True),
}
NUMBERS = {
    "--seed": "seed",
    "--max-requests": "max_requests",
    "--power-cut-every": "power_cut_every",
}
WORDS = {
    "--fit": "fit",
    "--on-bad-line": "on_bad_line",
    "--time-order": "time_order",
    "--align": "align",
}
VALUES = {"--set", "--trace", "--out", "--time-gaps", *NUMBERS, *WORDS}


class _UnplainError(Exception):
    """Not for this parser."""


def run_arguments(args: Sequence[str]) -> dict[str, Any] | None:
    """The arguments of `command.simulate`, if these call it and are plain."""
    if args[:1] != ["run"] or "_WORDLINE_COMPLETE" in os.environ or os.name == "nt":
        return None
    try:
        return _run_arguments(list(args[1:]))
    except (_UnplainError, ValueError):
        return None


def _run_arguments(args: list[str]) -> dict[str, Any]:
    devices: list[str] = []
    given: dict[str, Any] = {"overrides": [], "trace": []}
    args.reverse()
    while args:
        name, equals, value = args.pop().partition("=")
        if not name.startswith("-"):
            devices.append(name + equals + value)
        elif name in FLAGS and not equals:
            parameter, meant = FLAGS[name]
            given[parameter] = meant
        elif name in VALUES:
            _take(given, name, [value] if equals else _values(name, args))
        else:
            raise _UnplainError
    (given["device"],) = devices
    return given


def _values(name: str, args: list[str]) -> list[str]:
    """The values that follow the option: one, of --trace as many as there are."""
    values: list[str] = []
    while args and not is_option(args[-1]) and (name == "--trace" or not values):
        values.append(args.pop())
    return values


def is_option(word: str) -> bool:
    """Whether a word of a command is an option; a lone - is standard input."""
    return word.startswith("-") and word != "-"


def _take(given: dict[str, Any], name: str, values: list[str]) -> None:
    if not all(values):
        raise _UnplainError
    if name == "--trace" and values:
        given["trace"] += values
        return
    (value,) = values
    if name == "--set":
        given["overrides"].append(pair(value))
    elif name == "--out":
        given["out"] = _folder(value)
    elif name == "--time-gaps":
        given["time_gaps"] = value
    elif name in NUMBERS:
        given[NUMBERS[name]] = int(value)
    elif value in CHOICES[WORDS[name]]:
        given[WORDS[name]] = value
    else:
        raise _UnplainError


def pair(text: str) -> tuple[str, str]:
    """KEY=VALUE as a pair. Raises ValueError if it is none."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ValueError(text)
    return key.strip(), value.strip()


def _folder(name: str) -> str:
    if os.path.exists(name) and not os.access(name, os.R_OK):
        raise _UnplainError
    return name
