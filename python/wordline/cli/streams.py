"""Standard output and standard error of the command."""

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
    """Runs a block. With `quiet`, suppresses progress and notes, and also the output unless
    `keep`."""
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
    """Returns True if the command prints only errors."""
    return _quiet.get()


def note(text: str) -> None:
    """Prints a note on standard error, unless --quiet."""
    if not is_quiet():
        print(text, file=sys.stderr)


def shows_progress(wanted: bool | None) -> bool:
    """Returns True if a progress bar is to be shown: if it is `wanted`, or by default if standard
    error is a terminal. Never with --quiet."""
    if is_quiet():
        return False
    return sys.stderr.isatty() if wanted is None else wanted


def open_closed() -> None:
    """Redirects streams that were closed at the start, as by `>&-`, to the null device. Otherwise
    `print` would send messages for standard error to standard output."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


# Replacements for characters that an encoding lacks.
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
    "≈": "~",
    "✓": "+",
    "✗": "!",
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
    """Lets standard output and error replace characters that their encoding lacks."""
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
    if "\u2800" <= character <= "\u28ff":  # Braille characters, of the progress spinner.
        return "*"
    return ascii(character)[1:-1]
