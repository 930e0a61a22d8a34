"""Signals of the command line: Ctrl-C, SIGTERM and SIGHUP all end the work the same way.

As a library, Wordline leaves signals to the program; `undisturbed` then has no effect.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Generator
    from typing import Any
else:
    import _signal as signal  # `signal` creates enumerations, which takes long.

_heard = signal.SIGINT
_waiting = False
# Blocks that delay signals, innermost last. With None, signals are delayed until the end of the
# block; with a list, from the moment that the work in the block has filled it.
_holds: list[list[Any] | None] = []

hold = partial(_holds.append, None)
"""Delays signals until `let_go`: the first step of clean-up in a `finally` clause. Python handles
signals when it enters a function written in Python, as `undisturbed` is, which could skip the
clean-up. This function is not written in Python."""


def listen() -> None:
    """Makes each signal raise KeyboardInterrupt. Signals that are ignored, as under nohup, stay
    ignored."""
    for number in _numbers():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _hear)


def leave() -> None:
    """Makes each signal end the process at once, because no work can be lost any more."""
    for number in _numbers():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def exit_code() -> int:
    """Returns the exit code of a command that the last signal ended: 130, 143 or 129."""
    return 128 + _heard


@contextmanager
def undisturbed(ended: list[Any] | None = None) -> Generator[None]:
    """Delays signals until the end of the block, where they raise KeyboardInterrupt. `ended` is a
    list to which the work in the block appends as its last step. If it is given, only signals after
    that step are delayed."""
    _holds.append(ended)
    try:
        yield
    finally:
        let_go()


def let_go() -> None:
    """Ends the innermost delay of signals. Raises KeyboardInterrupt if a signal was delayed, unless
    an outer delay continues."""
    global _waiting  # noqa: PLW0603 - signals belong to the process
    _holds.pop()
    if _waiting and not _is_held():
        _waiting = False
        raise KeyboardInterrupt


def ended() -> list[Any]:
    """Returns the list that work appends to as its last step: that of the innermost `undisturbed`
    block that has one, else a new list."""
    alone: list[Any] = []
    return next((one for one in reversed(_holds) if one is not None), alone)


def _is_held() -> bool:
    return any(ended is None or len(ended) > 0 for ended in _holds)


def _hear(number: int, _frame: object) -> None:
    global _heard, _waiting  # noqa: PLW0603 - signals belong to the process
    _heard = number
    if _is_held():
        _waiting = True
        return
    raise KeyboardInterrupt


def _numbers() -> list[int]:
    # Windows has no SIGHUP.
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]
