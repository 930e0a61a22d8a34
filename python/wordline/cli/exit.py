"""How the command ends: exit codes, and faults as a line on standard error."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from wordline._internal import interruption, written
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

DONE, FAILED, MISUSED = 0, 1, 2
LONGEST = 2_000
"""Letters of a message; the middle of a longer one, such as of a path, is left out."""


def guarded(work: Callable[[], object]) -> int:
    """Does the work of a command and returns its exit code, which is the work's if that is a
    number. Faults become a line on standard error."""
    try:
        code = work()
        sys.stdout.flush()
        return code if isinstance(code, int) else DONE
    except WordlineError as error:
        return fault(str(error), MISUSED)
    except OSError as error:
        return _refused(error)
    except MemoryError:
        return fault("memory ran out; give the process more (ulimit -v, control group)", FAILED)
    except KeyboardInterrupt:
        return interrupted()
    except SystemExit:
        raise
    except BaseException as error:  # a panic of the extension is no Exception
        if os.environ.get("WORDLINE_DEBUG"):
            raise
        return fault(
            f"a fault of Wordline's own ({type(error).__name__}: {error}); "
            "please report it, with what WORDLINE_DEBUG=1 prints for the same command",
            FAILED,
        )


def interrupted() -> int:
    """Says that a signal has ended the command, and what is there of its outputs; returns the exit
    code."""
    return fault(f"interrupted; {written.sentence()}", interruption.exit_code())


def fault(message: str, code: int) -> int:
    """Says what went wrong; returns the code."""
    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    with suppress(OSError):  # the terminal may be gone, as after SIGHUP
        print(f"error: {message}", file=sys.stderr)
    return code


def _refused(error: OSError) -> int:
    """Says what the system refused: a file, files or processes as such, or standard output."""
    import errno

    reason = error.strerror or str(error)
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return fault(f"{reason}; raise the limit (ulimit -n), or give fewer --jobs", FAILED)
    if error.errno in (errno.EAGAIN, errno.ENOMEM):
        return fault(f"{reason}; raise the limits (ulimit -u, ulimit -v)", FAILED)
    if error.filename is not None:
        return fault(f"{error.filename}: {reason}; check the path", FAILED)
    # The interpreter flushes standard output again as it ends; it must not fail a second time.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return FAILED
    return fault(f"standard output: {reason}; check where it goes", FAILED)
