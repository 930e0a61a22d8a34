"""Checksums of results, written with them and checked by whatever reads them.

CRC-32, as of gzip and Parquet: it is for disks and editors, not for forgers. A folder
has them in a file; a line of a journal begins with its own.
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
"""Version of the format of results: that of summary.json."""
BLOCK = 1 << 20
FIRST = b'{"crc32":"'
"""What a line begins with that has a checksum; it is of the rest, taken as an object by itself."""


class UncheckedResults(UserWarning):
    """Results that were read without being checked, or were left out because they are damaged."""


def text_of(folder: str, names: Iterable[str]) -> str:
    """The checksums of files, as JSON."""
    # Without the module json, which takes long to import.
    lines = [f'    "{name}": "{_of_file(os.path.join(folder, name))}"' for name in sorted(names)]
    sums = ",\n".join(lines)
    return f'{{\n  "schema": {SCHEMA},\n  "crc32": {{\n{sums}\n  }}\n}}\n'


def covers(name: str) -> bool:
    """Whether a file is among those with checksums: pages are drawn from others and can be drawn
    again, and journals and states have checksums of their own."""
    return not name.endswith((".html", ".jsonl", ".journal", ".wls")) and name != NAME


def require_whole(folder: str | os.PathLike[str]) -> None:
    """Checks the files in a folder of results, as far as they are there. Raises WordlineError if
    one is not what was written, or another version is needed to read them; warns if there are no
    checksums."""
    import json

    place = os.fspath(folder)
    try:
        stated = json.loads(small_file.text(os.path.join(place, NAME)))
        known = {str(name): str(crc) for name, crc in stated["crc32"].items()}
        schema = stated["schema"]
        if strange := [name for name in known if not _is_own(name)]:
            raise ValueError(f"{strange[0]!r} is no name of a file in the folder")
    except FileNotFoundError:
        warn(f"{place}: holds no {NAME}; what is in its files is not checked")
        return
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as fault:
        raise WordlineError(
            f"{place}/{NAME}: cannot be read ({fault}); run it again, or delete that file to read "
            "the results unchecked"
        ) from None
    require_schema(place, schema)
    for name, crc in known.items():
        path = os.path.join(place, name)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise WordlineError(f"{path}: is no file; run it again")
            if _of_file(path) != crc:
                raise WordlineError(
                    f"{path}: is not what was written (its checksum is another); run it again"
                )
        except FileNotFoundError:
            continue  # the reader of the file reports it
        except OSError as fault:
            raise WordlineError(
                f"{path}: cannot be read: {fault.strerror or fault}; run it again"
            ) from fault
    if SUMMARY in known:
        with open(os.path.join(place, SUMMARY), encoding="utf-8") as file:
            require_version(place, str(json.load(file)["version"]))


def require_schema(where: str, schema: object) -> None:
    """Refuses results of a schema that this version of Wordline does not read."""
    if schema != SCHEMA:
        raise WordlineError(
            f"{where}: holds results of schema {schema}, and this is Wordline "
            f"{own_version.installed()}, which reads schema {SCHEMA}; read them with the version "
            "that wrote them, or run it again"
        )


def require_version(where: str, version: str) -> None:
    """Refuses results of a version of Wordline that is newer than this one."""
    if _numbers(version) > _numbers(own_version.installed()):
        raise WordlineError(
            f"{where}: was written by Wordline {version}, and this is {own_version.installed()}; "
            "read it with that version, or run it again"
        )


def line_of(values: Mapping[str, Any]) -> bytes:
    """Values as a line of a journal, with its checksum. There is one value at least."""
    import json

    body = json.dumps(values, separators=(",", ":")).encode()
    return b'%s%08x",%s\n' % (FIRST, zlib.crc32(body), body[1:])


def values_of(line: bytes) -> dict[str, Any] | None:
    """The values of such a line. None if it has no checksum, as of former versions; raises
    ValueError if it is not what was written."""
    import json

    start = len(FIRST)
    if not line.startswith(FIRST):
        json.loads(line)
        return None
    crc, body = line[start : start + 8], b"{" + line[start + 10 :].rstrip(b"\n")
    if b"%08x" % zlib.crc32(body) != crc:
        raise ValueError("its checksum is another")
    return json.loads(body)


def warn(message: str) -> None:
    """Says that results are not used, or used though they are not checked."""
    import warnings

    warnings.warn(message, UncheckedResults, stacklevel=2)


def _is_own(name: str) -> bool:
    """Whether a name can be that of a file in a folder of results."""
    return name == os.path.basename(name) and name.isprintable()


def _of_file(path: str) -> str:
    crc = 0
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            crc = zlib.crc32(block, crc)
    return f"{crc:08x}"


def _numbers(version: str) -> list[int]:
    return [int(word) if word.isdigit() else 0 for word in version.split("+")[0].split(".")]
