"""Exit codes of the command, and error messages as one line on standard error."""

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
"""Maximum length of a message in characters. A longer one, such as one with a long path, loses its
middle."""


def guarded(work: Callable[[], object]) -> int:
    """Runs `work` and returns the exit code of the command, which is the integer that `work`
    returns, or 0. An error becomes one line on standard error."""
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
    except BaseException as error:  # A panic of the extension is not an Exception.
        if os.environ.get("WORDLINE_DEBUG"):
            raise
        return fault(
            f"internal error of Wordline ({type(error).__name__}: {error}); "
            "please report it, with the output of the same command run with WORDLINE_DEBUG=1",
            FAILED,
        )


def interrupted() -> int:
    """Reports that a signal ended the command and which outputs exist. Returns the exit code."""
    return fault(f"interrupted; {written.sentence()}", interruption.exit_code())


def fault(message: str, code: int) -> int:
    """Prints an error message and returns the code."""
    if len(message) > LONGEST:
        message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
    with suppress(OSError):  # The terminal may be gone, as after SIGHUP.
        print(f"error: {message}", file=sys.stderr)
    return code


def _refused(error: OSError) -> int:
    """Reports an operating-system error: a limit on files or processes, a path, or standard output.
    Returns the exit code."""
    import errno

    reason = error.strerror or str(error)
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return fault(f"{reason}; raise the limit (ulimit -n), or give fewer --jobs", FAILED)
    if error.errno in (errno.EAGAIN, errno.ENOMEM):
        return fault(f"{reason}; raise the limits (ulimit -u, ulimit -v)", FAILED)
    if error.filename is not None:
        return fault(f"{error.filename}: {reason}; check the path", FAILED)
    # The interpreter flushes standard output again at exit; the flush must not fail a second time.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return FAILED
    return fault(f"standard output: {reason}; check its pipe or file", FAILED)
