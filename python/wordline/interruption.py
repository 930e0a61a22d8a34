"""Ctrl-C, SIGTERM and SIGHUP, as the command line takes them: all end the work alike.

As a library Wordline leaves signals to the program; then `undisturbed` does nothing.
"""

from __future__ import annotations

from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Generator
else:
    import _signal as signal  # without the enumerations, which take long to make

_heard = signal.SIGINT
_held = 0
_waiting = False


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
def undisturbed() -> Generator[None]:
    """Steps that belong together: a signal between them raises at their end."""
    global _held, _waiting  # noqa: PLW0603 - signals belong to the process
    _held += 1
    try:
        yield
    finally:
        _held -= 1
        if _waiting and not _held:
            _waiting = False
            raise KeyboardInterrupt


def _hear(number: int, _frame: object) -> None:
    global _heard, _waiting  # noqa: PLW0603 - signals belong to the process
    _heard = number
    if _held:
        _waiting = True
        return
    raise KeyboardInterrupt


def _numbers() -> list[int]:
    # Windows has no SIGHUP.
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]
