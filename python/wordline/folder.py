"""Output folders and files that appear whole or not at all.

Everything is written beside its place under a hidden name and renamed when complete.
"""

import errno
import os
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from wordline._wordline import WordlineError

NAMES = frozenset(
    {
        "summary.json",
        "config.resolved.toml",
        "requests.parquet",
        "series.parquet",
        "members.parquet",
        "latency.parquet",
        "dies.parquet",
        "blocks.parquet",
        "wear.parquet",
        "cache.parquet",
        "curve.parquet",
        "report.html",
    }
)
# Of a study.
STUDY_NAMES = frozenset({"index.html", "study.json"})

REMEDIES = {
    errno.ENOSPC: "free some space, or name a folder on another disk",
    errno.EDQUOT: "free some of your quota, or name a folder on another disk",
    errno.EACCES: "name a folder that you may write to",
    errno.EPERM: "name a folder that you may write to",
    errno.EROFS: "name a folder that you may write to",
    errno.ENAMETOOLONG: "choose a shorter name",
}


def check(path: str | os.PathLike[str]) -> Path:
    """The folder's absolute path, if results may and can be written there.

    Leaves nothing behind. Raises WordlineError otherwise, TypeError if it is no path.
    """
    place = _absolute(path)
    with _explained(place):
        if place.exists():
            _require_replaceable(place)
        beside = _nearest_folder(place)
        probe = _beside(beside / place.name)
        probe.mkdir()
        probe.rmdir()
    return place


def unused(path: Path) -> Path:
    """The path itself if nothing is there, else the first of path-2, path-3, ... that is free."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


def write(
    path: str | os.PathLike[str],
    writers: Mapping[str, Callable[[Path], object]],
    *,
    numbered: bool = False,
) -> list[Path]:
    """Fills a folder by calling each writer with a path, then puts it in place.

    A former result at the path is replaced, or, if `numbered`, left alone: the folder becomes the
    first of path-2, path-3, ... that is free. Returns the paths of the files.
    Raises WordlineError.
    """
    place = check(unused(_absolute(path)) if numbered else path)
    with _explained(place):
        place.parent.mkdir(parents=True, exist_ok=True)
        part = _beside(place)
        part.mkdir()
        try:
            for name, writer in writers.items():
                _write_into(part, place, name, writer)
            place = _put_first_free(part, _absolute(path)) if numbered else _replace(part, place)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    return [place / name for name in writers]


def write_file(path: str | os.PathLike[str], writer: Callable[[Path], object]) -> Path:
    """Calls the writer with a hidden path beside the file's, then renames. Raises WordlineError."""
    place = _absolute(path)
    with _explained(place):
        if place.is_dir():
            raise WordlineError(f"{place}: is a folder; name a file in it")
        part = _beside(place)
        try:
            writer(part)
            part.replace(place)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    return place


def _write_into(part: Path, place: Path, name: str, writer: Callable[[Path], object]) -> None:
    try:
        writer(part / name)
    except WordlineError as fault:
        raise WordlineError(str(fault).replace(str(part), str(place))) from fault
    except OSError as fault:
        raise WordlineError(_explain(place / name, fault)) from fault


def _put_first_free(part: Path, path: Path) -> Path:
    while True:
        place = unused(path)
        try:
            return part.rename(place)
        except OSError as fault:
            # Another run took the name in the meantime.
            if fault.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise


def _replace(part: Path, place: Path) -> Path:
    if not place.exists():
        return part.rename(place)
    former = _beside(place)
    place.rename(former)
    try:
        part.rename(place)
    except BaseException:
        former.rename(place)
        raise
    shutil.rmtree(former, ignore_errors=True)
    return place


def _require_replaceable(place: Path) -> None:
    if not place.is_dir():
        raise WordlineError(f"{place}: is a file; name a folder")
    if place == Path.cwd() or os.path.ismount(place):
        raise WordlineError(f"{place}: cannot be replaced; name a folder inside it")
    names = {entry.name for entry in place.iterdir()}
    result = "summary.json" in names and names <= NAMES
    study = "study.json" in names and names <= STUDY_NAMES
    if names and not result and not study:
        other = min(names - NAMES, default="")
        found = f" (such as {other})" if other else ""
        raise WordlineError(
            f"{place}: holds files that are not a result of Wordline{found}; name another folder"
        )


def _nearest_folder(place: Path) -> Path:
    for ancestor in place.parents:
        if ancestor.is_dir():
            return ancestor
        if ancestor.exists():
            raise WordlineError(f"{place}: {ancestor} is a file; name another folder")
    return place


def _absolute(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"an output path must be a path, not {path!r}")
    if not os.fspath(path) or "\0" in os.fspath(path):
        raise WordlineError(f"{os.fspath(path)!r}: is not the path of an output; name one")
    try:
        return Path(path).resolve()
    except (OSError, RuntimeError, UnicodeError) as fault:
        raise WordlineError(f"{os.fspath(path)!r}: is not a usable path; name another") from fault


@contextmanager
def _explained(place: Path) -> Generator[None]:
    try:
        yield
    except OSError as fault:
        raise WordlineError(_explain(place, fault)) from fault
    except UnicodeError as fault:
        raise WordlineError(f"{str(place)!r}: is not valid Unicode; name another") from fault


def _explain(place: Path, fault: OSError) -> str:
    remedy = REMEDIES.get(fault.errno or 0, "name another folder")
    return f"{place}: cannot be written: {fault.strerror or fault}; {remedy}"


def _beside(place: Path) -> Path:
    return place.with_name(f".{place.name[:100]}-{os.urandom(4).hex()}")
