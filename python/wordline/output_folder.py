"""Output folders and files that appear whole or not at all.

Everything is written beside its place under a hidden name and renamed when complete.
Paths are strings here, because the import of pathlib takes as long as a short run does otherwise.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress

from wordline import arguments, written
from wordline._wordline import WordlineError
from wordline.interruption import undisturbed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    Writer = Callable[[str], object]

# What each command writes into a folder, and what is in it. The files of a command that are in
# `ALWAYS` are in every folder that it wrote: they tell whose it is.
FILES: dict[str, dict[str, str]] = {
    "run": {
        "summary.json": "",
        "config.resolved.toml": "",
        "series.parquet": "per interval",
        "latency.parquet": "distribution",
        "latency_by.parquet": "of several streams, or an array: distribution of each",
        "dies.parquet": "use and energy",
        "blocks.parquet": "erases",
        "wear.parquet": "blocks by erases",
        "requests.parquet": "with --requests: a row per request",
        "members.parquet": "of an array: the series of each member",
        "chip_load.parquet": "with observe.chip_load_interval_ms: the work of each chip",
        "report.html": "which needs no network",
        "checkpoint.wls": "of a run with --checkpoint-every that was stopped",
    },
    "cache": {
        "summary.json": "",
        "cache.parquet": "a row for each policy and size",
        "report.html": "which needs no network",
    },
    "calibrate": {
        "device.toml": "with residuals and intervals in its comments",
        "summary.json": "",
        "residuals.csv": "with --data: a row for each point",
    },
    "mrc": {
        "summary.json": "",
        "curve.parquet": "the corners of the curves",
        "report.html": "which needs no network",
    },
    "plan-cache": {
        "summary.json": "",
        "plan.parquet": "a row for each policy and size",
        "report.html": "which needs no network",
    },
    "study": {"index.html": "which needs no network", "study.json": "all numbers"},
    "study all": {"index.html": "which needs no network", "studies.json": "all claims"},
    "sweep": {
        "points.parquet": "a row for each point",
        "sweep.toml": "the plan",
        "config.resolved.toml": "the configuration of the first point",
        "points.jsonl": "what has ended, to go on from",
        "report.html": "written by `wordline sweep report`",
    },
    "search": {
        "best.toml": "the device that was found",
        "trials.parquet": "a row for each trial",
        "report.html": "which needs no network",
        "trials.journal": "what has ended, to go on from",
    },
    "lab": {
        "report.html": "which needs no network",
        "lab.json": "all numbers",
        "device.toml": "the device as it was simulated",
        "points.jsonl": "what has ended, to go on from",
    },
    "growth": {
        "index.html": "charts",
        "growth.json": "all numbers",
        "growth.csv": "a row a point",
    },
}
ALWAYS = {
    "run": {"summary.json", "config.resolved.toml"},
    "cache": {"summary.json", "cache.parquet"},
    "calibrate": {"device.toml", "summary.json"},
    "mrc": {"summary.json", "curve.parquet"},
    "plan-cache": {"summary.json", "plan.parquet"},
    "study": {"index.html", "study.json"},
    "study all": {"index.html", "studies.json"},
    "sweep": {"points.jsonl"},
    "search": {"trials.journal"},
    "lab": {"lab.json", "device.toml"},
    "growth": {"index.html", "growth.json", "growth.csv"},
}

# What a command that was killed leaves of its folder.
UNFINISHED = {
    "run": {"checkpoint.wls", "checkpoint.wls.part"},
    "lab": {"points.jsonl"},
    "study": {"points.jsonl"},
    "study all": {"points.jsonl"},
}

REMEDIES = {
    errno.ENOSPC: "free some space, or name a folder on another disk",
    errno.EDQUOT: "free some of your quota, or name a folder on another disk",
    errno.EACCES: "name a folder that you may write to",
    errno.EPERM: "name a folder that you may write to",
    errno.EROFS: "name a folder that you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def listed(command: str) -> str:
    """The files of a command, as a sentence names them."""
    files = [f"{name} ({what})" if what else name for name, what in FILES[command].items()]
    return f"{', '.join(files[:-1])} and {files[-1]}"


def check(path: str | os.PathLike[str], command: str) -> str:
    """The folder's absolute path, if results of a command may and can be written there.

    Leaves nothing behind. Raises WordlineError otherwise, TypeError if it is no path.
    """
    place = _absolute(path)
    with _explained(place):
        if _mode(place):
            _require_replaceable(place, command)
        _require_writable(place)
    written.expect(place)
    return place


def check_file(path: str | os.PathLike[str]) -> str:
    """The file's absolute path, if it may and can be written, folders above it included.

    Leaves nothing behind. Raises WordlineError otherwise, TypeError if it is no path.
    """
    place = _absolute(path)
    with _explained(place):
        _require_file(place)
        _require_writable(place)
    written.expect(place)
    return place


def make(place: str) -> None:
    """Makes a folder, and those above it, unless it is there. Raises WordlineError."""
    with _explained(place):
        os.makedirs(place, exist_ok=True)


def unused(path: str) -> str:
    """The path itself if nothing is there, else the first of path-2, path-3, ... that is free."""
    candidate, number = path, 1
    while _mode(candidate):
        number += 1
        candidate = f"{path}-{number}"
    return candidate


def write(
    path: str | os.PathLike[str],
    writers: Mapping[str, Writer],
    command: str,
    *,
    numbered: bool = False,
) -> list[str]:
    """Fills a folder by calling each writer with a path, then puts it in place. The names of the
    writers are among the `FILES` of the command.

    A former result of the same command at the path is replaced, or, if `numbered`, left alone: the
    folder becomes the first of path-2, path-3, ... that is free. Returns the paths of the files.
    Raises WordlineError.
    """
    if not ALWAYS[command] <= set(writers) <= set(FILES[command]):
        raise ValueError(f"wordline {command} does not write {', '.join(sorted(writers))}")
    place = check(unused(_absolute(path)) if numbered else path, command)
    with _explained(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        part = _beside(place)
        try:
            os.mkdir(part)
            for name, writer in writers.items():
                _write_into(part, place, name, writer)
            if numbered:
                place = _put_first_free(part, _absolute(path))
                written.expect_new(place)
            else:
                _replace(part, place)
        except BaseException:
            with undisturbed():
                _remove(part)
            raise
    return [os.path.join(place, name) for name in writers]


def write_file(path: str | os.PathLike[str], writer: Writer) -> str:
    """Calls the writer with a hidden path beside the file's, then renames. Raises WordlineError."""
    place = _absolute(path)
    written.expect(place)
    with _explained(place):
        _require_file(place)
        part = _beside(place)
        try:
            writer(part)
            os.replace(part, place)
        except BaseException:
            if os.path.lexists(part):
                os.unlink(part)
            raise
    return place


def write_text(path: str, text: str) -> None:
    """Writes a file."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _write_into(part: str, place: str, name: str, writer: Writer) -> None:
    try:
        writer(os.path.join(part, name))
    except WordlineError as fault:
        raise WordlineError(str(fault).replace(part, place)) from fault
    except OSError as fault:
        raise WordlineError(explain(os.path.join(place, name), fault)) from fault


def _put_first_free(part: str, path: str) -> str:
    while True:
        place = unused(path)
        try:
            os.rename(part, place)
        except OSError as fault:
            # Another run took the name in the meantime.
            if fault.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        else:
            return place


def _replace(part: str, place: str) -> None:
    if not _mode(place):
        os.rename(part, place)
        return
    former = _beside(place)
    with undisturbed():
        os.rename(place, former)
        try:
            os.rename(part, place)
        except BaseException:
            os.rename(former, place)
            raise
        _remove(former)


def _remove(place: str) -> None:
    """Removes a folder and its files, as far as that can be done; outputs have no folders."""
    with suppress(OSError):
        for name in os.listdir(place):
            os.unlink(os.path.join(place, name))
        os.rmdir(place)


def _require_file(place: str) -> None:
    """Refuses what a file does not replace: folders, devices, pipes, sockets."""
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        raise WordlineError(f"{place}: is a folder; name a file in it")
    if mode and not stat.S_ISREG(mode):
        raise WordlineError(f"{place}: is no regular file, which alone is replaced; name another")


def _require_writable(place: str) -> None:
    probe = _beside(os.path.join(_nearest_folder(place), os.path.basename(place)))
    with undisturbed():
        os.mkdir(probe)
        os.rmdir(probe)


def _require_replaceable(place: str, command: str) -> None:
    if not stat.S_ISDIR(_mode(place)):
        raise WordlineError(f"{place}: is a file; name a folder")
    if place == os.getcwd() or os.path.ismount(place):
        raise WordlineError(f"{place}: cannot be replaced; name a folder inside it")
    names = set(os.listdir(place))
    names -= UNFINISHED.get(command, set())
    owners = [one for one in FILES if ALWAYS[one] <= names <= set(FILES[one])]
    if not names or command in owners:
        return
    if owners:
        raise WordlineError(
            f"{place}: holds results of `wordline {owners[0]}`, which `wordline {command}` does "
            "not replace; name another folder"
        )
    known = {name for files in FILES.values() for name in files}
    other = min(names - known or names)
    raise WordlineError(
        f"{place}: holds files that are not a result of Wordline (such as {other}); "
        "name another folder"
    )


def _nearest_folder(place: str) -> str:
    ancestor = os.path.dirname(place)
    while not _mode(ancestor):
        ancestor = os.path.dirname(ancestor)
    if not stat.S_ISDIR(_mode(ancestor)):
        raise WordlineError(f"{place}: {ancestor} is a file; name another folder")
    return ancestor


def _mode(place: str) -> int:
    """What is there; 0 for nothing, or a link to nothing. Raises OSError if that is unknown."""
    try:
        return os.stat(place).st_mode
    except OSError as fault:
        if fault.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP):
            raise
        return 0


def _absolute(path: str | os.PathLike[str]) -> str:
    path = arguments.path("an output path", path)
    if not path or "\0" in path:
        raise WordlineError(f"{os.fspath(path)!r}: is not the path of an output; name one")
    try:
        place = os.path.realpath(path)
        if os.path.islink(place):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except (OSError, UnicodeError) as fault:
        raise WordlineError(f"{os.fspath(path)!r}: is not a usable path; name another") from fault
    return place


@contextmanager
def _explained(place: str) -> Generator[None]:
    try:
        yield
    except OSError as fault:
        raise WordlineError(explain(place, fault)) from fault
    except UnicodeError as fault:
        raise WordlineError(f"{place!r}: is not valid Unicode; name another") from fault


def explain(place: str, fault: OSError) -> str:
    """Why a path cannot be written, and what to do, in a sentence."""
    remedy = REMEDIES.get(fault.errno or 0, "name another folder")
    return f"{place}: cannot be written: {fault.strerror or fault}; {remedy}"


def _beside(place: str) -> str:
    folder, name = os.path.split(place)
    return os.path.join(folder, f".{name[:100]}-{os.urandom(4).hex()}")
