"""Measured child processes: working folder, clean-up and errors."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from wordline import WordlineError
from wordline._internal.process import ended


def test_a_process_runs_in_an_empty_temporary_folder(place: Path) -> None:
    (place / "d4").mkdir()
    code = "import os; print(os.getcwd(), os.listdir())"
    done = ended([sys.executable, "-c", code])
    folder, listed = done.output.decode().split()
    assert listed == "[]"
    assert folder != str(place)
    assert not Path(folder).exists()
    assert done.cpu_s > 0
    assert done.peak_memory_bytes > 1 << 20


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('error: no\\n such thing', file=sys.stderr); exit(2)", "no\n such thing"),
        ("raise ValueError('no')", "ValueError: no"),
        ("exit(3)", "a process ended with exit code 3"),
    ],
)
def test_the_error_of_a_failed_process_is_its_own_message(code: str, reason: str) -> None:
    with pytest.raises(WordlineError) as fault:
        ended([sys.executable, "-c", f"import sys\n{code}"])
    assert str(fault.value) == reason


def test_output_larger_than_a_pipe_does_not_block() -> None:
    code = "import sys; sys.stderr.write('x' * 10**6); print('y' * 10**6)"
    assert len(ended([sys.executable, "-c", code]).output) == 10**6 + 1


def test_ctrl_c_ends_the_child_process(place: Path) -> None:
    told = place / "pid"
    inner = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    outer = (
        "import sys; from wordline._internal.process import ended; "
        f"ended([sys.executable, '-c', {inner!r}])"
    )
    process = subprocess.Popen([sys.executable, "-c", outer], stderr=subprocess.DEVNULL)
    while not (told.exists() and told.read_text()):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) != 0
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
