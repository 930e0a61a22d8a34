"""Output folders and files that appear whole or not at all.

Everything is written next to its place under a hidden name and renamed when complete.
Paths are strings here, because the import of pathlib takes as long as a short run does otherwise.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress

from wordline._internal import arguments, checksums, unfinished, written
from wordline._internal.interruption import undisturbed
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    Writer = Callable[[str], object]

# What each command writes into a folder, and what is in it. The files of a command that are in
# `ALWAYS` are in every folder that it wrote: they tell whose it is.
FILES: dict[str, dict[str, str]] = {
    "run": {
        "summary.json": "",
        "config.resolved.toml": "",
        "series.parquet": "per interval",
        "latency.parquet": "distribution",
        "latency_by.parquet": "distribution per stream or member of an array",
        "dies.parquet": "utilisation and energy per die",
        "blocks.parquet": "erases per block",
        "wear.parquet": "blocks per erase count",
        "requests.parquet": "with --requests: one row per request",
        "members.parquet": "series per member of an array",
        "chip_load.parquet": "with observe.chip_load_interval_ms: work per chip",
        "report.html": "works offline",
        "checkpoint.wls": "of an interrupted run with --checkpoint-every",
    },
    "cache": {
        "summary.json": "",
        "cache.parquet": "one row per policy and size",
        "report.html": "works offline",
    },
    "calibrate": {
        "device.toml": "with residuals and intervals in comments",
        "summary.json": "",
        "residuals.csv": "with --data: one row per point",
    },
    "mrc": {
        "summary.json": "",
        "curve.parquet": "points of the curves",
        "report.html": "works offline",
    },
    "plan-cache": {
        "summary.json": "",
        "plan.parquet": "one row per policy and size",
        "report.html": "works offline",
    },
    "study": {"index.html": "works offline", "study.json": "all numbers"},
    "study all": {"index.html": "works offline", "studies.json": "all claims"},
    "sweep": {
        "points.parquet": "one row per point",
        "sweep.toml": "the plan",
        "config.resolved.toml": "configuration of the first point",
        "points.jsonl": "completed points, to continue from",
        "report.html": "written by `wordline sweep report`",
    },
    "search": {
        "best.toml": "best device found",
        "trials.parquet": "one row per trial",
        "report.html": "works offline",
        "trials.journal": "completed trials, to continue from",
    },
    "lab": {
        "report.html": "works offline",
        "lab.json": "all numbers",
        "device.toml": "device as simulated",
        "points.jsonl": "completed trials, to continue from",
    },
    "growth": {
        "index.html": "charts",
        "growth.json": "all numbers",
        "growth.csv": "one row per point",
    },
}
# The commands whose results others read; each of their folders has checksums.
READ = ("run", "cache", "mrc", "plan-cache", "sweep")
for _command in READ:
    FILES[_command][checksums.NAME] = "of the other files"
ALWAYS = {
    "run": {"summary.json", "config.resolved.toml"},
    "cache": {"summary.json", "cache.parquet"},
    "calibrate": {"device.toml", "summary.json"},
    "mrc": {"summary.json", "curve.parquet"},
    "plan-cache": {"summary.json", "plan.parquet"},
    "study": {"index.html", "study.json"},
    "study all": {"index.html", "studies.json"},
    "sweep": {"points.jsonl", "sweep.toml"},
    "search": {"trials.journal"},
    "lab": {"lab.json"},
    "growth": {"index.html", "growth.json", "growth.csv"},
}

# What a command that was killed leaves of its folder.
UNFINISHED = {
    "run": {"checkpoint.wls", "checkpoint.wls.part"},
    "sweep": {"points.jsonl"},
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
        _remove_left(place)
        if mode := _mode(place):
            _require_replaceable(place, mode, command)
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
        unfinished.remove_left(place, ())
        _require_writable(place)
    written.expect(place)
    return place


def make(place: str) -> None:
    """Makes a folder, and those above it, unless it is there. Raises WordlineError."""
    with _explained(place):
        os.makedirs(place, exist_ok=True)


@contextmanager
def made(place: str | None) -> Generator[None]:
    """A folder, if one is named, for the steps in the block, which is gone at their end if nothing
    came to be in it. Raises WordlineError."""
    if place is None:
        yield
        return
    make(place)
    try:
        yield
    finally:
        with suppress(OSError):
            os.rmdir(place)


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
    """Fills a folder by calling each writer with a path, adds checksums of the files if others read
    them, then puts it in place. The names of the writers are among the `FILES` of the command.

    A former result of the same command at the path is replaced, or, if `numbered`, left alone: the
    folder becomes the first of path-2, path-3, ... that is free. Returns the paths of the files.
    Raises WordlineError.
    """
    if not ALWAYS[command] <= set(writers) <= set(FILES[command]):
        raise ValueError(f"wordline {command} does not write {', '.join(sorted(writers))}")
    place = check(unused(_absolute(path)) if numbered else path, command)
    with _explained(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with unfinished.folder_for(place) as part:
            for name, writer in writers.items():
                _write_into(part, place, name, writer)
            names = [*writers]
            if command in READ:
                _write_into(part, place, checksums.NAME, _checksums_of(part, writers))
                names.append(checksums.NAME)
            if numbered:
                place = _put_first_free(part, _absolute(path))
                written.expect_new(place)
            else:
                _replace(part, place)
    return [os.path.join(place, name) for name in names]


def add(folder: str | os.PathLike[str], writers: Mapping[str, Writer]) -> list[str]:
    """Writes files into a folder that is there, one by one, and their checksums; returns the paths
    of the files. Raises WordlineError."""
    place = _absolute(folder)
    with _explained(place), suppress(FileNotFoundError):
        # If this is killed in between, nothing is said to be what it is not.
        os.unlink(os.path.join(place, checksums.NAME))
    files = [write_file(os.path.join(place, name), writer) for name, writer in writers.items()]
    return [*files, write_file(os.path.join(place, checksums.NAME), _checksums_of(place, writers))]


def _checksums_of(folder: str, names: Iterable[str]) -> Writer:
    covered = [name for name in names if checksums.covers(name)]
    return lambda part: write_text(part, checksums.text_of(folder, covered))


def write_file(path: str | os.PathLike[str], writer: Writer) -> str:
    """Calls the writer with a path in a hidden folder next to the file's, then renames. Raises
    WordlineError."""
    place = _absolute(path)
    written.expect(place)
    folder, name = os.path.split(place)
    with _explained(place):
        _require_file(place)
        unfinished.remove_left(place, ())
        with unfinished.folder_for(place) as part:
            _write_into(part, folder, name, writer)
            os.replace(os.path.join(part, name), place)
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
    """Moves a folder to its place; what others put there meanwhile is replaced as well."""
    with undisturbed():
        while True:
            with _put_aside(place) as former:
                try:
                    os.rename(part, place)
                except OSError as fault:
                    if fault.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                        _put_back(former, place)
                        raise
                except BaseException:
                    _put_back(former, place)
                    raise
                else:
                    return


@contextmanager
def _put_aside(place: str) -> Generator[str]:
    """Moves a folder, if there is one, to a hidden name, locked so that no other process puts it
    back, and removes it at the end of the block unless it was put back."""
    former = unfinished.hidden(place, unfinished.FORMER)
    with unfinished.locked(place):
        with suppress(FileNotFoundError):
            os.rename(place, former)
        try:
            yield former
        finally:
            unfinished.remove(former)


def _put_back(former: str, place: str) -> None:
    with suppress(OSError):
        os.rename(former, place)


def _remove_left(place: str) -> None:
    """Removes what commands that were killed have left next to a folder of results, and in it."""
    known = {name for files in FILES.values() for name in files}
    unfinished.remove_left(place, known)
    with suppress(OSError):
        if any(name.startswith(".") for name in os.listdir(place)):
            for name in known:
                unfinished.remove_left(os.path.join(place, name), ())


def _require_file(place: str) -> None:
    """Refuses what a file does not replace: folders, devices, pipes, sockets."""
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        raise WordlineError(f"{place}: is a folder; name a file in it")
    if mode and not stat.S_ISREG(mode):
        raise WordlineError(f"{place}: is no regular file, which alone is replaced; name another")


def _require_writable(place: str) -> None:
    probe = os.path.join(_nearest_folder(place), os.path.basename(place))
    with undisturbed(), unfinished.folder_for(probe):
        pass


def _require_replaceable(place: str, mode: int, command: str) -> None:
    """Refuses what results of a command do not replace. The mode is that of the look that found
    something: a second one may come while another process replaces it."""
    if not stat.S_ISDIR(mode):
        raise WordlineError(f"{place}: is a file; name a folder")
    if place == os.getcwd() or os.path.ismount(place):
        raise WordlineError(f"{place}: cannot be replaced; name a folder inside it")
    names = _names(place)
    owners = [one for one in FILES if _is_of(one, names)]
    if names <= UNFINISHED.get(command, set[str]()) or command in owners:
        return
    if owners:
        raise WordlineError(
            f"{place}: holds results of `wordline {owners[0]}`, which `wordline {command}` does "
            "not replace; name another folder"
        )
    other = min(names - {name for files in FILES.values() for name in files} or names)
    raise WordlineError(
        f"{place}: holds files that are not a result of Wordline (such as {other}); "
        "name another folder"
    )


def _names(place: str) -> set[str]:
    """What a folder holds; nothing if it is gone. Looks again if another process replaced it
    meanwhile: a list taken while its files are being removed has some of them only."""
    while True:
        try:
            before = os.stat(place)
            names = set(os.listdir(place))
            if os.path.samestat(before, os.stat(place)):
                return names
        except FileNotFoundError:
            return set()


def _is_of(command: str, names: set[str]) -> bool:
    """Whether files are those of a result of a command."""
    rest = names - UNFINISHED.get(command, set[str]())
    return ALWAYS[command] <= names and rest <= set(FILES[command])


def _nearest_folder(place: str) -> str:
    ancestor = os.path.dirname(place)
    while not (mode := _mode(ancestor)):
        ancestor = os.path.dirname(ancestor)
    if not stat.S_ISDIR(mode):
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
