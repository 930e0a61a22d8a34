"""Parser of `wordline run` without click, for a device and options written in full. A run starts
within 38 ms of CPU time this way, and within 228 ms with click and the modules of all commands
(CPython 3.11, minimum of 25 processes).

Any other command line, and any possible error, is left to click, which reports errors.
"""

from __future__ import annotations

import os

from wordline._api import options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any


class _LeftToClickError(Exception):
    """Raised if the command line needs click."""


def run_arguments(args: Sequence[str]) -> dict[str, Any] | None:
    """Returns the arguments of `run.simulate`, or None if the command line needs click."""
    if args[:1] != ["run"] or "_WORDLINE_COMPLETE" in os.environ or os.name == "nt":
        return None
    try:
        return _run_arguments(list(args[1:]))
    except (_LeftToClickError, ValueError):
        return None


def is_option(word: str) -> bool:
    """Returns True if an argument is an option. A lone - is standard input."""
    return word.startswith("-") and word != "-"


def _run_arguments(args: list[str]) -> dict[str, Any]:
    devices: list[str] = []
    given: dict[str, Any] = {}
    args.reverse()
    while args:
        flag, equals, value = args.pop().partition("=")
        if flag.startswith("-"):
            _take(given, flag, [value] if equals else None, args)
        else:
            devices.append(flag + equals + value)
    (given["device"],) = devices
    for flag, declared in options.RUN.items():
        if declared.get("multiple"):
            name = options.name(flag, declared)
            given[name] = declared.get("parse", list)(given.get(name, []))
    return given


def _take(given: dict[str, Any], flag: str, value: list[str] | None, args: list[str]) -> None:
    """Reads the value of an option, given after = or as the arguments that follow."""
    switch, declared = _declared(flag)
    name = options.name(switch, declared)
    if switch != flag or declared.get("is_flag"):
        if value:
            raise _LeftToClickError
        given[name] = not flag.startswith("--no-") or switch == flag
        return
    values = _following(flag, args) if value is None else value
    if not values or not all(values):
        raise _LeftToClickError
    if declared.get("multiple"):
        given.setdefault(name, []).extend(values)
    else:
        given[name] = _read(declared.get("type"), values[0])


def _declared(flag: str) -> tuple[str, Mapping[str, Any]]:
    """Returns the key and the declaration of an option in its table. Either flag of a pair
    --this/--no-this finds the pair."""
    if flag in options.RUN:
        return flag, options.RUN[flag]
    for switch, declared in options.PROGRESS.items():
        if flag in switch.split("/"):
            return switch, declared
    raise _LeftToClickError


def _following(flag: str, args: list[str]) -> list[str]:
    """Takes the values that follow the option: one, or for --trace every value up to the next
    option."""
    values: list[str] = []
    while args and not is_option(args[-1]) and (flag == "--trace" or not values):
        values.append(args.pop())
    return values


def _read(kind: object, value: str) -> object:
    if kind is int:
        return int(value)
    wrong = value not in kind if isinstance(kind, tuple) else _unreadable(kind, value)
    if wrong:
        raise _LeftToClickError
    return value


def _unreadable(kind: object, value: str) -> bool:
    return kind == "path" and os.path.exists(value) and not os.access(value, os.R_OK)
