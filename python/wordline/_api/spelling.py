"""The names of parameters in messages: an option where the command line asks, the parameter where
Python does."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar

from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Generator, Mapping

_flags: ContextVar[Mapping[str, str] | None] = ContextVar("flags", default=None)
"""The options of the command that asks, by the parameters that they set; None where Python asks."""

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
"""Values that messages give with an option, by its parameter: regular expressions."""


@contextmanager
def of_command(flags: Mapping[str, str]) -> Generator[None]:
    """Carries out a command whose options set these parameters: a WordlineError that leaves it
    names the option."""
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
    """Leaves options in the messages of this process, also for callers from Python."""
    _flags.set({})


def name(parameter: str) -> str:
    """A parameter by the name that the caller knows: `max_requests`, or `--max-requests`."""
    return (_flags.get() or {}).get(parameter, parameter)


def message(text: str) -> str:
    """A message of the simulator, which names options, in the terms of the caller: Python reads
    `time_order="sort"` for `--time-order sort`. Commands in backticks stay as they are."""
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
