"""Under tight resource limits a command ends cleanly, with an error message of one sentence."""

import errno
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Command

from wordline._internal import limits
from wordline.cli.exit import guarded

KIB = 1024


def limited(what: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(what, (most, most))


# With four or fewer open files, Python does not start: it loads libraries and modules one at a
# time.
@pytest.mark.parametrize("files", range(5, limits.FILES))
def test_too_few_open_files_are_reported_in_a_sentence(
    wordline: Command, tiny: str, files: int
) -> None:
    limit = limited(resource.RLIMIT_NOFILE, files)
    answer = wordline("config", "check", tiny, preexec_fn=limit)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr == (
        f"error: too few open files: the process may have {files} (ulimit -n), and this command "
        f"needs {limits.FILES}; raise the limit\n"
    )


@pytest.mark.parametrize("files", [limits.FILES, 30])
def test_the_stated_limit_of_open_files_suffices(
    wordline: Command, tiny: str, trace: str, files: int
) -> None:
    limit = limited(resource.RLIMIT_NOFILE, files)
    run = ("run", tiny, "--trace", trace, "--max-requests", "100", "--out", "here")
    answer = wordline(*run, preexec_fn=limit)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert Path("here/report.html").exists()
    vary = ("--vary", "ftl.gc.victim=greedy,fifo", "--jobs", "2")
    swept = wordline("sweep", tiny, "--trace", trace, *vary, preexec_fn=limit)
    assert swept.returncode == 2
    (line,) = swept.stderr.splitlines()
    assert line.startswith(f"error: too few open files: the process may have {files} (ulimit -n)")
    assert line.endswith("or give fewer --jobs")


@pytest.mark.parametrize("kib", [100_000, 300_000, 600_000])
def test_too_little_address_space_is_reported_in_a_sentence(
    wordline: Command, tiny: str, trace: str, kib: int
) -> None:
    limit = limited(resource.RLIMIT_AS, kib * KIB)
    answer = wordline("run", tiny, "--trace", trace, preexec_fn=limit)
    assert (answer.returncode, answer.stdout) == (2, "")
    (line,) = answer.stderr.splitlines()
    assert line.startswith("error: ")
    assert "ulimit -v" in line
    assert not Path("out").exists()


def test_a_report_can_be_drawn_in_little_address_space(
    wordline: Command, tiny: str, trace: str
) -> None:
    limit = limited(resource.RLIMIT_AS, 1_600_000 * KIB)
    answer = wordline("run", tiny, "--trace", trace, "--out", "here", preexec_fn=limit)
    assert (answer.returncode, answer.stderr) == (0, "")
    assert Path("here/report.html").exists()


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (OSError(errno.EMFILE, "Too many open files"), "Too many open files; raise the limit"),
        (OSError(errno.EACCES, "Permission denied", "a.csv"), "a.csv: Permission denied; check"),
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), "Resource temporarily"),
        (MemoryError(), "memory ran out; give the process more"),
    ],
)
def test_a_system_error_names_its_resource(
    capsys: pytest.CaptureFixture[str], error: BaseException, says: str
) -> None:
    def work() -> None:
        raise error

    assert guarded(work) == 1
    assert capsys.readouterr().err.startswith(f"error: {says}")
