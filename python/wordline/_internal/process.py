"""Child processes, measured from outside."""

import ctypes
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from subprocess import DEVNULL, Popen
from typing import IO

from wordline._internal.interruption import undisturbed
from wordline._wordline import WordlineError

PR_SET_PDEATHSIG = 1
"""Operation of prctl(2), Linux."""


@dataclass(frozen=True)
class Ended:
    """Result of a process that succeeded. CPU seconds are user plus system time."""

    output: bytes
    cpu_s: float
    peak_memory_bytes: int


def ended(command: Sequence[str]) -> Ended:
    """Runs a command in a temporary folder, so that no file of the caller's folder is mistaken for
    a preset or a Python module. The process is killed if the caller is interrupted or killed.

    Raises WordlineError with the process's own message if it fails.
    """
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryDirectory(prefix="wordline-") as place,
    ):
        process = None
        try:
            with undisturbed():
                process = Popen(  # noqa: S603
                    command,
                    cwd=place,
                    stdin=DEVNULL,
                    stdout=output,
                    stderr=errors,
                    preexec_fn=with_parent(),  # noqa: PLW1509 - Wordline starts no other threads here
                )
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            if process:
                with undisturbed():
                    process.kill()
                    process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise WordlineError(_reason(_content(errors), process.returncode))
        return Ended(
            output=_content(output),
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_memory_bytes=usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        )


def with_parent() -> Callable[[], object] | None:
    """Returns a function that a new process calls before it executes its program. It makes the
    kernel kill the process when this process ends, for whatever reason. None on systems other than
    Linux."""
    if sys.platform != "linux":
        return None
    parent, prctl = os.getpid(), ctypes.CDLL(None).prctl

    def follow() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return follow


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def _reason(errors: bytes, code: int) -> str:
    """Returns the error message of the command, or the last line of its traceback."""
    text = errors.decode(errors="replace").strip()
    if text.startswith("error: "):
        return text.removeprefix("error: ")
    return text.splitlines()[-1] if text else f"a process ended with exit code {code}"
