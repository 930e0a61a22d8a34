"""Device configurations: look-up, overrides, checks.

A device is the path of a TOML file, the name of a preset (`wordline.presets()`), or a mapping with
the structure of the file. A name that ends in .toml or contains a folder separator is a path; any
other name is a preset if one has that name, whatever files the current folder contains.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from wordline import _wordline
from wordline._internal import arguments, small_file
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeAlias, cast

    Value: TypeAlias = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
else:
    # Quoted names would be resolved in the module that uses the type, where they do not exist.
    Value = str | int | float | bool | Sequence[object] | Mapping[str, object]

    def cast(_type: object, value: object) -> object:
        """Returns the value unchanged; stands in for `typing.cast`, which is slow to import."""
        return value


if TYPE_CHECKING:
    from typing import TypedDict

    class Table(TypedDict):
        """A table of the simulator and its memory in bytes, with the fields of Memory."""

        name: str
        reserved_bytes: int
        prepared_bytes: int
        most_bytes: int

    class Memory(TypedDict):
        """Memory of a run in bytes, in addition to the program: address space (`reserved_bytes`),
        resident memory when the run begins (`prepared_bytes`, with `fill_ratio` of the device
        written), and resident memory once the whole device has been written (`most_bytes`)."""

        reserved_bytes: int
        prepared_bytes: int
        most_bytes: int
        fill_ratio: float
        overwrite_ratio: float
        """Random page writes before the run, relative to the user pages. If preconditioning runs
        until steady state, this is a lower bound, the pages of the fill."""
        tables: list[Table]
        refusal: str | None
        """Reason why the run does not fit into the memory of this process; None if it fits."""
        note: str | None
        """Warning about a run that may not fit; None if it fits."""


class Source:
    """Text of a device file, and the name that error messages use for it."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name


Device: TypeAlias = str | os.PathLike[str] | Mapping[str, Value] | Source
Overrides: TypeAlias = Mapping[str, Value] | Sequence[tuple[str, str]]


def check(device: Device, overrides: Overrides | None = None) -> None:
    """Raises WordlineError with the key path and the violated rule if the device is invalid."""
    text, name = read(device)
    _wordline.config_check(text, name, settings(overrides))


def memory(device: Device, overrides: Overrides | None = None) -> Memory:
    """Estimates the memory that a run of the device takes from its configuration. Excludes the rows
    of single requests, and the memory of `verify` and power cuts. Raises WordlineError."""
    import json

    text, name = read(device)
    return json.loads(_wordline.config_memory(text, name, settings(overrides)))


def show(device: Device, overrides: Overrides | None = None) -> str:
    """Returns the device as TOML with every default filled in. Raises WordlineError."""
    text, name = read(device)
    return _wordline.config_resolved(text, name, settings(overrides))


def schema() -> dict[str, Any]:
    """Returns the JSON schema of a device file."""
    import json

    return json.loads(_wordline.config_schema())


def read(device: Device) -> tuple[str, str]:
    """Returns the TOML text of a device and the name that error messages use for it.

    Raises WordlineError if the device is neither a readable file nor a preset, TypeError if it is
    not a device at all.
    """
    if isinstance(device, Source):
        return device.text, device.name
    if isinstance(device, Mapping):
        return _toml(device), "device"
    name = arguments.path("device", device, "a path, a preset's name or a mapping")
    require_unicode(name, "device")
    if not _is_path(name):
        text = _wordline.preset_text(name)
        if text is not None:
            return text, name
        if not os.path.exists(name):  # noqa: PTH110
            raise WordlineError(_no_such_device(name))
    return _read_file(name), name


def settings(overrides: Overrides | None) -> list[tuple[str, str]]:
    """Returns overrides as pairs (key path, TOML value), with nested mappings flattened to dotted
    keys.

    A sequence of pairs is returned unchanged; its values must be TOML text. Raises TypeError for a
    value that TOML cannot express.
    """
    if overrides is None:
        return []
    if isinstance(overrides, Mapping):
        return [(key, toml_value(value, key)) for key, value in _flat(overrides, "")]
    pairs = list(overrides)
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(part, str) for part in pair):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"an override is a pair (key, TOML text), not {arguments.shown(pair)}")
        for part in pair:
            require_unicode(part, "override")
    return pairs


def toml_value(value: object, key: str) -> str:
    """Returns a value as TOML on a single line. `key` names it in the TypeError."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, str | os.PathLike):
        return _quoted(os.fspath(cast("str | os.PathLike[str]", value)), key)
    if isinstance(value, Mapping):
        table = cast("Mapping[object, object]", value)
        pairs = (f"{_quoted(k, key)} = {toml_value(v, f'{key}.{k}')}" for k, v in table.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        items = cast("Sequence[object]", value)
        return "[" + ", ".join(toml_value(item, key) for item in items) + "]"
    scalar = _numpy_scalar(value)
    if scalar is not None:
        return toml_value(scalar, key)
    shown = arguments.shown(cast("object", value))
    raise TypeError(f"{key}: {shown} is not a number, string, boolean, list or mapping")


def _numpy_scalar(value: Any) -> object | None:
    return value.item() if getattr(value, "shape", None) == () else None


def require_unicode(text: str, what: str) -> None:
    """Raises WordlineError if the text contains lone surrogates, which cannot be written as
    UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        raise WordlineError(
            f"{what}: {arguments.shown(text)} is not valid Unicode; replace the invalid characters"
        ) from fault


def _is_path(name: str) -> bool:
    """Returns True if the name of a device is a path rather than the name of a preset."""
    return name.endswith(".toml") or any(sign and sign in name for sign in (os.sep, os.altsep))


def _read_file(name: str) -> str:
    try:
        return small_file.text(name)
    except UnicodeDecodeError as fault:
        line = fault.object[: fault.start].count(b"\n") + 1
        raise WordlineError(
            f"{name}:{line}: not UTF-8 text; give a TOML file, such as the one that "
            "`wordline devices d4` shows"
        ) from fault
    except IsADirectoryError as fault:
        raise WordlineError(f"{name}: is a folder; name the device's TOML file in it") from fault
    except FileNotFoundError as fault:
        raise WordlineError(f"{name}: no such file; {preset_hint(name)}") from fault
    except (OSError, ValueError) as fault:
        reason = (fault.strerror or str(fault)) if isinstance(fault, OSError) else str(fault)
        shown = arguments.shown(name)
        raise WordlineError(f"{shown}: cannot be read: {reason}; check the path") from fault


def _no_such_device(name: str) -> str:
    return f"no file or preset is called {arguments.shown(name)}; {preset_hint(name)}"


def preset_hint(name: str) -> str:
    """Returns the remedy for an unknown device name: presets with similar names, if any, and the
    command that lists all presets."""
    import difflib
    from pathlib import Path

    from wordline._api.catalogue import presets

    stem = Path(name).name.removesuffix(".toml")
    names = [preset["name"] for preset in presets()]
    near = difflib.get_close_matches(stem, names, n=3, cutoff=0.5)
    if not near:
        place = "path" if _is_path(name) else "name"
        return f"check the {place}; `wordline devices` lists the presets"
    *others, last = (f"'{one}'" for one in near)
    meant = f"{', '.join(others)} or {last}" if others else last
    return f"did you mean {meant}? `wordline devices` lists the presets"


def _flat(table: Mapping[str, Value], prefix: str) -> Iterator[tuple[str, Value]]:
    for key, value in table.items():
        if not isinstance(key, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"a configuration key must be a string, not {arguments.shown(key)}")
        require_unicode(key, "override")
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _toml(table: Mapping[str, Value]) -> str:
    return "".join(
        f"{_quoted(key, '')} = {toml_value(value, key)}\n" for key, value in table.items()
    )


def _quoted(text: object, key: str) -> str:
    if not isinstance(text, str):
        raise TypeError(
            f"{key or 'device'}: a configuration key must be a string, not {arguments.shown(text)}"
        )
    require_unicode(text, key or "configuration")
    import json

    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
