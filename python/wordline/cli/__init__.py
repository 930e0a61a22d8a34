"""The `wordline` command. Every start imports this module and its imports; click is imported only
if its parser is needed."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress

from wordline._api import options, spelling
from wordline._internal import interruption, written
from wordline.cli import streams
from wordline.cli.exit import guarded, interrupted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


def main(args: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code: 0 done, 1 the work failed, 2 invalid command or
    input, 128 plus the signal number if a signal ended it (130 Ctrl-C, 143 SIGTERM, 129 SIGHUP).
    Errors are one line on standard error.

    Without `args`, runs the arguments of the process, which must end afterwards. Signals are
    handled in this case only.
    """
    written.begin()
    try:
        if args is None:
            interruption.listen()
            streams.open_closed()
            streams.replace_unencodable()
        code = _called(args)
        if args is None:
            interruption.leave()
    except KeyboardInterrupt:
        return interrupted()
    return code


def _called(args: Sequence[str] | None) -> int:
    from wordline.cli import argv

    words = sys.argv[1:] if args is None else list(args)
    given = argv.run_arguments(words)
    if given is None and words[:1] not in (["cache"], ["mrc"]):
        code = _clicked(args)
    elif args is not None:
        code = _analysed(words, args) if given is None else guarded(lambda: _simulated(given))
    else:
        # The process ends with the command. Most objects of a command live until its end, where the
        # garbage collector would traverse all of them.
        gc.disable()
        code = _analysed(words, args) if given is None else guarded(lambda: _simulated(given))
    if args is None:
        gc.freeze()
    return code


def _clicked(args: Sequence[str] | None) -> int:
    # Some imports turn KeyboardInterrupt into another exception.
    with interruption.undisturbed():
        from wordline.cli import app

    return guarded(lambda: app.called(args))


def _analysed(words: Sequence[str], args: Sequence[str] | None) -> int:
    with interruption.undisturbed():
        from wordline.cli import analyses

    work = analyses.command(words)
    return _clicked(args) if work is None else guarded(work)


def _simulated(given: dict[str, Any]) -> int:
    from wordline.cli.run import simulate

    quiet = given.pop("quiet", False)
    try:
        with (
            spelling.of_command(options.flags(options.RUN)),
            streams.hushed(quiet, keep=given.get("as_json", False)),
        ):
            return simulate(**given)
    except KeyboardInterrupt:
        with suppress(OSError):
            print(file=sys.stderr)
        return interrupted()
