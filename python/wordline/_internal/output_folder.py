"""Output folders and files that appear complete or not at all.

Each is written under a hidden name in the same folder, and renamed when complete. Paths are
strings, because importing pathlib takes as long as the rest of a short run.
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

# Files that each command writes into its folder, with a description for its help. Files that are
# also in `ALWAYS` identify the command that wrote a folder.
FILES: dict[str, dict[str, str]] = {
    "run": {
        "summary.json": "",
        "config.resolved.toml": "",
        "series.parquet": "one row per interval",
        "latency.parquet": "latency distribution",
        "latency_by.parquet": "latency distribution per stream or member of an array",
        "dies.parquet": "utilisation and energy per die",
        "blocks.parquet": "erases per block",
        "wear.parquet": "blocks per erase count",
        "requests.parquet": "with --requests: one row per request",
        "members.parquet": "one row per member of an array and interval",
        "chip_load.parquet": "with observe.chip_load_interval_ms: load of the dies over time",
        "report.html": "works offline",
        "checkpoint.wls": "state of an interrupted run with --checkpoint-every",
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
        "best.toml": "the best device found",
        "trials.parquet": "one row per trial",
        "report.html": "works offline",
        "trials.journal": "completed trials, to continue from",
    },
    "lab": {
        "report.html": "works offline",
        "lab.json": "all numbers",
        "device.toml": "the device as simulated",
        "points.jsonl": "completed trials, to continue from",
    },
    "growth": {
        "index.html": "charts",
        "growth.json": "all numbers",
        "growth.csv": "one row per point",
    },
}
# Commands whose results other commands read. Their folders have checksums.
READ = ("run", "cache", "mrc", "plan-cache", "sweep")
for _command in READ:
    FILES[_command][checksums.NAME] = "checksums of the other files"
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

# Files that a killed command may leave in its folder.
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
    """Lists the files of a command, as part of a sentence."""
    files = [f"{name} ({what})" if what else name for name, what in FILES[command].items()]
    return f"{', '.join(files[:-1])} and {files[-1]}"


def check(path: str | os.PathLike[str], command: str) -> str:
    """Returns the absolute path of the folder if the command can write its results there without
    replacing anything else. Raises WordlineError otherwise.

    Leaves nothing behind. Raises TypeError if the argument is not a path.
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
    """Returns the absolute path of the file if it can be written, including missing folders, and
    replaces no folder or special file. Raises WordlineError otherwise.

    Leaves nothing behind. Raises TypeError if the argument is not a path.
    """
    place = _absolute(path)
    with _explained(place):
        _require_file(place)
        unfinished.remove_left(place, ())
        _require_writable(place)
    written.expect(place)
    return place


def make(place: str) -> None:
    """Creates a folder and its missing parents. Raises WordlineError."""
    with _explained(place):
        os.makedirs(place, exist_ok=True)


@contextmanager
def made(place: str | None) -> Generator[None]:
    """Creates a folder, if one is named, for the duration of the block; removes it at the end if it
    is empty. Raises WordlineError."""
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
    """Returns the first unused name of path, path-2, path-3, ..."""
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
    """Fills a folder by calling each writer with a path, adds checksums if other commands read the
    files, and moves the folder to its place. The writers' names must be in `FILES` of the command.

    Replaces an earlier result of the same command at the path. With `numbered`, keeps it, and uses
    the first unused name of path, path-2, path-3, ... Returns the paths of the files. Raises
    WordlineError.
    """
    if unknown := sorted(set(writers) - set(FILES[command])):
        raise ValueError(f"wordline {command} does not write {', '.join(unknown)}")
    if missing := sorted(ALWAYS[command] - set(writers)):
        raise ValueError(f"wordline {command} always writes {', '.join(missing)}; add a writer")
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
    """Writes files into an existing folder one by one, then their checksums; returns the paths.
    Raises WordlineError."""
    place = _absolute(folder)
    with _explained(place), suppress(FileNotFoundError):
        # The checksums are removed first, so that a process killed before the end leaves no wrong
        # ones.
        os.unlink(os.path.join(place, checksums.NAME))
    files = [write_file(os.path.join(place, name), writer) for name, writer in writers.items()]
    return [*files, write_file(os.path.join(place, checksums.NAME), _checksums_of(place, writers))]


def _checksums_of(folder: str, names: Iterable[str]) -> Writer:
    covered = [name for name in names if checksums.covers(name)]
    return lambda part: write_text(part, checksums.text_of(folder, covered))


def write_file(path: str | os.PathLike[str], writer: Writer) -> str:
    """Calls the writer with a path in a hidden folder next to the file, then moves the file to its
    place. Raises WordlineError."""
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
    """Writes a text file in UTF-8."""
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
            # Another run has taken the name in the meantime.
            if fault.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        else:
            return place


def _replace(part: str, place: str) -> None:
    """Moves a folder to its place. Replaces anything that another process creates there at the same
    time."""
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
    """Moves a folder, if it exists, to a hidden name, and removes it at the end of the block unless
    `_put_back` restored it. Another process may also restore it, but must not restore a folder that
    is partly removed. The folder is therefore renamed again before its removal."""
    former = unfinished.hidden(place, unfinished.FORMER)
    with unfinished.locked(place):
        with suppress(FileNotFoundError):
            os.rename(place, former)
        try:
            yield former
        finally:
            removed = unfinished.hidden(place)
            with suppress(OSError):
                os.rename(former, removed)
            unfinished.remove(removed)


def _put_back(former: str, place: str) -> None:
    with suppress(OSError):
        os.rename(former, place)


def _remove_left(place: str) -> None:
    """Removes hidden folders that killed commands left next to a results folder and in it."""
    known = {name for files in FILES.values() for name in files}
    unfinished.remove_left(place, known)
    with suppress(OSError):
        if any(name.startswith(".") for name in os.listdir(place)):
            for name in known:
                unfinished.remove_left(os.path.join(place, name), ())


def _require_file(place: str) -> None:
    """Raises WordlineError if a file must not replace the path because it is a folder, device, pipe
    or socket."""
    mode = _mode(place)
    if stat.S_ISDIR(mode):
        raise WordlineError(f"{place}: is a folder; name a file in it")
    if mode and not stat.S_ISREG(mode):
        raise WordlineError(f"{place}: is not a regular file; name another file")


def _require_writable(place: str) -> None:
    probe = os.path.join(_nearest_folder(place), os.path.basename(place))
    with undisturbed(), unfinished.folder_for(probe):
        pass


def _require_replaceable(place: str, mode: int, command: str) -> None:
    """Raises WordlineError if the results of a command must not replace the path. `mode` is from
    the call of stat that found the path; a second call may give another result, because another
    process may be replacing it."""
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
    """Returns the names in a folder; an empty set if the folder is gone. A list that was taken
    while another process removed the files is incomplete, so the folder is listed again if it has
    been replaced."""
    while True:
        try:
            # While the folder is open, no other folder has its inode number.
            with unfinished.opened(place):
                before = os.stat(place)
                names = set(os.listdir(place))
                if os.path.samestat(before, os.stat(place)):
                    return names
        except FileNotFoundError:
            return set()


def _is_of(command: str, names: set[str]) -> bool:
    """Returns True if these are the files of a result of a command."""
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
    """Returns the mode of an existing file; 0 if the file does not exist or is a dangling link.
    Raises OSError if stat fails for another reason."""
    try:
        return os.stat(place).st_mode
    except OSError as fault:
        if fault.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EBADF, errno.ELOOP):
            raise
        return 0


def _absolute(path: str | os.PathLike[str]) -> str:
    path = arguments.path("an output path", path)
    if not path or "\0" in path:
        raise WordlineError(f"{os.fspath(path)!r}: is not the path of an output; name a path")
    try:
        place = os.path.realpath(path)
        if os.path.islink(place):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except (OSError, UnicodeError) as fault:
        raise WordlineError(
            f"{os.fspath(path)!r}: is not a usable path; name another path"
        ) from fault
    return place


@contextmanager
def _explained(place: str) -> Generator[None]:
    try:
        yield
    except OSError as fault:
        raise WordlineError(explain(place, fault)) from fault
    except UnicodeError as fault:
        raise WordlineError(f"{place!r}: is not valid Unicode; name another path") from fault


def explain(place: str, fault: OSError) -> str:
    """Explains in a sentence why a path cannot be written, and names a remedy."""
    remedy = REMEDIES.get(fault.errno or 0, "name another folder")
    return f"{place}: cannot be written: {fault.strerror or fault}; {remedy}"
