"""Ctrl-C, SIGTERM and SIGHUP, as the command line takes them: all end the work alike.

As a library Wordline leaves signals to the program; then `undisturbed` does nothing.
"""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Generator
    from typing import Any
else:
    import _signal as signal  # without the enumerations, which take long to make

_heard = signal.SIGINT
_waiting = False
# Each block that a signal does not interrupt, by what it waits for: nothing, or a list that is
# filled when the work in the block has ended.
_holds: list[list[Any] | None] = []


def listen() -> None:
    """Has each of the signals raise KeyboardInterrupt. What is ignored, as by nohup, stays so."""
    for number in _numbers():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _hear)


def leave() -> None:
    """Lets each of the signals end the process at once: there is nothing to lose any more."""
    for number in _numbers():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def exit_code() -> int:
    """What a shell reports of a command that the last signal has ended: 130, 143, 129."""
    return 128 + _heard


@contextmanager
def undisturbed(ended: list[Any] | None = None) -> Generator[None]:
    """Steps that belong together: a signal between them raises at their end. With `ended`, which
    the work in the block fills as its last step, a signal before that raises at once, and one after
    it at the end of the block."""
    global _waiting  # noqa: PLW0603 - signals belong to the process
    _holds.append(ended)
    try:
        yield
    finally:
        _holds.pop()
        if _waiting and not _is_held():
            _waiting = False
            raise KeyboardInterrupt


def ended() -> list[Any]:
    """What work appends to as its last step: the list of the block around it, if there is one."""
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
