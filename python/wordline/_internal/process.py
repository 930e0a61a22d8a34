"""A process of its own, measured from outside."""

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
"""Of Linux: prctl(2)."""


@dataclass(frozen=True)
class Ended:
    """A process that succeeded. CPU seconds are user plus system time."""

    output: bytes
    cpu_s: float
    peak_memory_bytes: int


def ended(command: Sequence[str]) -> Ended:
    """Runs a command in an empty folder, which is gone afterwards: what lies in the folder of the
    caller can be taken neither for a preset nor for a module of Python. No process is left if the
    caller is interrupted, or killed.

    Raises WordlineError, with the reason that the process gives, if it fails."""
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
                    preexec_fn=with_parent(),  # noqa: PLW1509 - there are no other threads of ours
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
    """What a new process calls before its program begins, so that it is killed when this one ends,
    however that comes about. Linux knows how; elsewhere None, which does nothing."""
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
    """What the command says, or how a traceback ends."""
    text = errors.decode(errors="replace").strip()
    if text.startswith("error: "):
        return text.removeprefix("error: ")
    return text.splitlines()[-1] if text else f"a process ended with {code}"
