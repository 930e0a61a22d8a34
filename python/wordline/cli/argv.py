"""Parser of `wordline run`, `wordline cache` and `wordline mrc` without click, for options written
in full. A run starts within 38 ms of CPU time this way, and within 228 ms with click and the
modules of all commands (CPython 3.11, minimum of 25 processes).

Any other command line, and any possible error, is left to click, which reports errors.
"""

from __future__ import annotations

import os

from wordline._api import options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from wordline._api.options import Options


class _LeftToClickError(Exception):
    """Raised if the command line needs click."""


def run_arguments(args: Sequence[str]) -> dict[str, Any] | None:
    """Returns the arguments of `run.simulate`, or None if the command line needs click."""
    if args[:1] != ["run"]:
        return None
    read = arguments(args[1:], options.RUN)
    if read is None or len(read[0]) != 1:
        return None
    words, given = read
    given["device"] = words[0]
    for flag, declared in options.RUN.items():
        if declared.get("multiple"):
            name = options.name(flag, declared)
            try:
                given[name] = declared.get("parse", list)(given.get(name, []))
            except ValueError:
                return None
    return given


def arguments(args: Sequence[str], table: Options) -> tuple[list[str], dict[str, Any]] | None:
    """Returns the words that are not options, and the values of the options in the table by
    parameter; or None if the command line needs click."""
    if "_WORDLINE_COMPLETE" in os.environ or os.name == "nt":
        return None
    try:
        return _arguments(list(args), table)
    except (_LeftToClickError, ValueError):
        return None


def is_option(word: str) -> bool:
    """Returns True if an argument is an option. A lone - is standard input."""
    return word.startswith("-") and word != "-"


def _arguments(args: list[str], table: Options) -> tuple[list[str], dict[str, Any]]:
    words: list[str] = []
    given: dict[str, Any] = {}
    args.reverse()
    while args:
        flag, equals, value = args.pop().partition("=")
        if flag.startswith("-"):
            _take(given, table, flag, [value] if equals else None, args)
        else:
            words.append(flag + equals + value)
    return words, given


def _take(
    given: dict[str, Any], table: Options, flag: str, value: list[str] | None, args: list[str]
) -> None:
    """Reads the value of an option, given after = or as the arguments that follow."""
    switch, declared = _declared(flag, table)
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


def _declared(flag: str, table: Options) -> tuple[str, Mapping[str, Any]]:
    """Returns the key and the declaration of an option in a table. Either flag of a pair
    --this/--no-this finds the pair."""
    if flag in table:
        return flag, table[flag]
    for switch, declared in table.items():
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
    if kind is float:
        return float(value)
    wrong = value not in kind if isinstance(kind, tuple) else _unreadable(kind, value)
    if wrong:
        raise _LeftToClickError
    return value


def _unreadable(kind: object, value: str) -> bool:
    return kind == "path" and os.path.exists(value) and not os.access(value, os.R_OK)
