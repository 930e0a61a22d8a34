"""Output folders and files that appear whole or not at all; see `wordline.outputs`."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from wordline import outputs


def check(path: str | os.PathLike[str], command: str) -> Path:
    """The folder's absolute path, if results of a command may and can be written there.

    Leaves nothing behind. Raises WordlineError otherwise, TypeError if it is no path.
    """
    return Path(outputs.check(path, command))


def unused(path: Path) -> Path:
    """The path itself if nothing is there, else the first of path-2, path-3, ... that is free."""
    return Path(outputs.unused(str(path)))


def write(
    path: str | os.PathLike[str],
    writers: Mapping[str, Callable[[Path], object]],
    command: str,
    *,
    numbered: bool = False,
) -> list[Path]:
    """Fills a folder by calling each writer with a path, then puts it in place.

    A former result of the same command at the path is replaced, or, if `numbered`, left alone: the
    folder becomes the first of path-2, path-3, ... that is free. Returns the paths of the files.
    Raises WordlineError.
    """
    called = {name: _called(writer) for name, writer in writers.items()}
    return [Path(file) for file in outputs.write(path, called, command, numbered=numbered)]


def write_file(path: str | os.PathLike[str], writer: Callable[[Path], object]) -> Path:
    """Calls the writer with a hidden path beside the file's, then renames. Raises WordlineError."""
    return Path(outputs.write_file(path, _called(writer)))


def _called(writer: Callable[[Path], object]) -> Callable[[str], object]:
    return lambda path: writer(Path(path))
