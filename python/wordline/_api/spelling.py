"""Names of parameters in messages: options on the command line, parameters in Python."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Generator, Mapping

_flags: ContextVar[Mapping[str, str] | None] = ContextVar("flags", default=None)
"""Flags of the running command, by the parameters that they set; None for a caller in Python."""

VALUES = {
    "align": "error|expand|keep",
    "columns": r"\S+=[\w:,=.-]*\w",
    "fit": "error|wrap|scale",
    "format": r"(?!or\b|out\b|and\b)[a-z][\w-]*",
    "on_bad_line": "error|skip",
    "time_gaps": r"(?:cut|scale)=[\w.@]*\w",
    "time_order": "error|clamp|sort|file",
    "volumes": r"one|stack|shared|\d+",
}
"""Regular expressions of the values that messages give with an option, by parameter."""


@contextmanager
def of_command(flags: Mapping[str, str]) -> Generator[None]:
    """Runs a block on behalf of a command whose flags set these parameters. A WordlineError that
    leaves the block names the flag."""
    former = _flags.set(flags)
    try:
        yield
    except WordlineError as fault:
        parameter, colon, rest = str(fault).partition(":")
        if colon and parameter in flags:
            fault.args = (f"{flags[parameter]}:{rest}", *fault.args[1:])
        raise
    finally:
        _flags.reset(former)


def keep_options() -> None:
    """Keeps flags in the messages of this process, even for callers in Python."""
    _flags.set({})


def name(parameter: str) -> str:
    """Returns the name of a parameter for the caller: `max_requests`, or `--max-requests`."""
    return (_flags.get() or {}).get(parameter, parameter)


def message(text: str) -> str:
    """Translates a message of the simulator, which names flags, into the terms of the caller:
    Python sees `time_order="sort"` for `--time-order sort`. Commands in backticks are left
    unchanged."""
    if _flags.get() is not None or "--" not in text:
        return text
    import re

    from wordline._api.options import parameters

    known = parameters()
    if text.startswith("--set "):
        text = f"overrides: {text.removeprefix('--set ')}"

    def replaced(found: re.Match[str]) -> str:
        parameter, is_switch = known.get(found[1], ("", False))
        if not parameter:
            return found[0]
        value = re.match(f" ({VALUES.get(parameter, '(?!)')})", found[2])
        if value:
            return f'{parameter}="{value[1]}"{found[2][value.end() :]}'
        return f"{parameter}{'=True' if is_switch else ''}{found[2]}"

    option = r"(?<![\w-])(--[a-z][a-z-]*)((?: (?!-)[^\s;,]+)?)"
    parts = re.split(r"(`[^`\n]*`)", text)
    parts[::2] = [re.sub(option, replaced, part) for part in parts[::2]]
    return "".join(parts)
