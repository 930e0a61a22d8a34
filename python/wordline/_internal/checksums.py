"""Checksums of results, written with them and verified by every reader.

CRC-32, as in gzip and Parquet, detects damaged disks and accidental edits, not forgery. A folder
has a file of checksums; a line of a journal begins with its own.
"""

from __future__ import annotations

import os
import stat
import zlib

from wordline._internal import own_version, small_file
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

NAME = "checksums.json"
SUMMARY = "summary.json"
SCHEMA = 2
"""Version of the results format, as in summary.json."""
BLOCK = 1 << 20
FIRST = b'{"crc32":"'
"""Start of a line with a checksum, which covers the rest of the line as a separate object."""


class UncheckedResults(UserWarning):
    """Warning that results were read unchecked, or were left out because they are damaged."""


def text_of(folder: str, names: Iterable[str]) -> str:
    """Returns the checksums of files as JSON."""
    # The module `json` is slow to import.
    lines = [f'    "{name}": "{_of_file(os.path.join(folder, name))}"' for name in sorted(names)]
    sums = ",\n".join(lines)
    return f'{{\n  "schema": {SCHEMA},\n  "crc32": {{\n{sums}\n  }}\n}}\n'


def covers(name: str) -> bool:
    """Returns True if a file has a checksum. HTML pages have none, because they can be drawn again
    from other files; journals and saved states contain checksums of their own."""
    return not name.endswith((".html", ".jsonl", ".journal", ".wls")) and name != NAME


def require_whole(folder: str | os.PathLike[str]) -> None:
    """Checks the files of a results folder against their checksums; skips missing files. Raises
    WordlineError if a file has changed or cannot be read, or if another version is needed to read
    the results; warns if the folder has no checksums."""
    import json

    place = os.fspath(folder)
    try:
        stated = json.loads(small_file.text(os.path.join(place, NAME)))
        known = {str(name): str(crc) for name, crc in stated["crc32"].items()}
        schema = stated["schema"]
        if strange := [name for name in known if not _is_own(name)]:
            raise ValueError(f"{strange[0]!r} is not the name of a file in the folder")
    except FileNotFoundError:
        warn(f"{place}: holds no {NAME}; its files are read unchecked")
        return
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise WordlineError(
            f"{place}/{NAME}: cannot be read ({fault}); repeat the run, or delete this file to "
            "read the results unchecked"
        ) from None
    require_schema(place, schema)
    for name, crc in known.items():
        path = os.path.join(place, name)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise WordlineError(f"{path}: is not a file; repeat the run")
            if _of_file(path) != crc:
                raise WordlineError(
                    f"{path}: has changed since it was written (wrong checksum); repeat the run"
                )
        except FileNotFoundError:
            continue  # The reader of the file reports that it is missing.
        except OSError as fault:
            raise WordlineError(
                f"{path}: cannot be read: {fault.strerror or fault}; repeat the run"
            ) from fault
    if SUMMARY in known:
        with open(os.path.join(place, SUMMARY), encoding="utf-8") as file:
            require_version(place, str(json.load(file)["version"]))


def require_schema(where: str, schema: object) -> None:
    """Raises WordlineError for results of a schema that this version of Wordline does not read."""
    if schema != SCHEMA:
        raise WordlineError(
            f"{where}: holds results of schema {schema}, and this is Wordline "
            f"{own_version.installed()}, which reads schema {SCHEMA}; read them with the version "
            "that wrote them, or repeat the run"
        )


def require_version(where: str, version: str) -> None:
    """Raises WordlineError for results of a newer version of Wordline."""
    if _numbers(version) > _numbers(own_version.installed()):
        raise WordlineError(
            f"{where}: was written by Wordline {version}, and this is {own_version.installed()}; "
            "read it with that version, or repeat the run"
        )


def line_of(values: Mapping[str, Any]) -> bytes:
    """Returns values as a line of a journal, with its checksum. At least one value is required."""
    import json

    body = json.dumps(values, separators=(",", ":")).encode()
    return b'%s%08x",%s\n' % (FIRST, zlib.crc32(body), body[1:])


def values_of(line: bytes) -> dict[str, Any] | None:
    """Returns the values of a line of a journal; None if the line has no checksum, as in older
    versions. Raises ValueError if the line has changed."""
    import json

    start = len(FIRST)
    if not line.startswith(FIRST):
        json.loads(line)
        return None
    crc, body = line[start : start + 8], b"{" + line[start + 10 :].rstrip(b"\n")
    if b"%08x" % zlib.crc32(body) != crc:
        raise ValueError("wrong checksum")
    return json.loads(body)


def warn(message: str) -> None:
    """Warns that results are left out, or are read unchecked."""
    import warnings

    warnings.warn(message, UncheckedResults, stacklevel=2)


def _is_own(name: str) -> bool:
    """Returns True if a name can be that of a file in a results folder."""
    return name == os.path.basename(name) and name.isprintable()


def _of_file(path: str) -> str:
    crc = 0
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            crc = zlib.crc32(block, crc)
    return f"{crc:08x}"


def _numbers(version: str) -> list[int]:
    return [int(word) if word.isdigit() else 0 for word in version.split("+")[0].split(".")]
