"""Standard output and error, as the command uses them."""

from __future__ import annotations

import io
import os
import sys
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

_quiet: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def hushed(quiet: bool, *, keep: bool) -> Generator[None]:
    """Carries out a command, `quiet` without progress and notes, and without output unless that is
    to be kept."""
    if not quiet:
        yield
        return
    former = _quiet.set(True)
    try:
        if keep:
            yield
            return
        with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            yield
    finally:
        _quiet.reset(former)


def is_quiet() -> bool:
    """Whether the command is to print errors only."""
    return _quiet.get()


def note(text: str) -> None:
    """Says something on standard error that is no fault."""
    if not is_quiet():
        print(text, file=sys.stderr)


def shows_progress(wanted: bool | None) -> bool:
    """Whether there is a progress bar: as wanted, else if standard error is a terminal."""
    if is_quiet():
        return False
    return sys.stderr.isatty() if wanted is None else wanted


def open_closed() -> None:
    """Lets what is written to a stream that was closed at the start, as `>&-` does, go nowhere;
    `print` would write what is meant for standard error to standard output."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


# What is said in place of a character that an encoding has not.
REPLACEMENTS = {
    "–": "-",
    "—": "-",
    "×": "x",
    "µ": "u",
    "μ": "u",
    "±": "+-",
    "…": "...",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "·": "*",
    "°": " deg",
    "²": "^2",
    "│": "|",
    "─": "-",
    "━": "-",
    "•": "*",
    "−": "-",
    "’": "'",
    "“": '"',
    "”": '"',
    " ": " ",
}


def replace_unencodable() -> None:
    """Lets standard output and error say in other characters what their encoding has none for."""
    import codecs

    def replaced(fault: UnicodeError) -> tuple[str | bytes, int]:
        if not isinstance(fault, UnicodeEncodeError):
            raise fault
        text = fault.object[fault.start : fault.end]
        return "".join(map(_replacement, text)), fault.end

    codecs.register_error("wordline.replace", replaced)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.encoding.lower().startswith("utf"):
            stream.reconfigure(errors="wordline.replace")


def _replacement(character: str) -> str:
    if character in REPLACEMENTS:
        return REPLACEMENTS[character]
    if "\u2800" <= character <= "\u28ff":  # braille: the spinner
        return "*"
    return ascii(character)[1:-1]
