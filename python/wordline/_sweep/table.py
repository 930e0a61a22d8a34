"""Table of a sweep, with one row per point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wordline._internal import checksums, own_version
from wordline._sweep.plan import Point
from wordline._sweep.work import Done
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    import polars

DONE, FAILED = "done", "failed"
HEAD = ("point", "key")
TAIL = ("digest", "version")


def table(
    points: Sequence[Point], keys: Mapping[int, str], ended: Mapping[str, Done]
) -> polars.DataFrame:
    """Returns one row per point that was completed or failed, in the order of the plan: index, key,
    varied keys, status, error, metrics, digest, version. `keys` maps the index of a point to its
    key, and `ended` maps the key to its result."""
    import polars

    rows = [(point, ended[keys[point.index]]) for point in points if keys[point.index] in ended]
    varied = list(dict.fromkeys(key for point in points for key in point.varied))
    figures = sorted({path for _, done in rows for path in done.figures})
    columns: dict[str, list[Any]] = {
        "point": [point.index for point, _ in rows],
        "key": [keys[point.index] for point, _ in rows],
    }
    columns |= {key: [point.varied.get(key) for point, _ in rows] for key in varied}
    columns["status"] = [FAILED if done.fault else DONE for _, done in rows]
    columns["error"] = [done.fault or None for _, done in rows]
    columns |= {path: [done.figures.get(path) for _, done in rows] for path in figures}
    columns["digest"] = [done.digest or None for _, done in rows]
    columns["version"] = [own_version.installed()] * len(rows)
    return polars.DataFrame([series(name, values) for name, values in columns.items()])


def read(path: str) -> polars.DataFrame:
    """Reads a table from a file. Raises WordlineError if it is not the table of a sweep."""
    import polars

    try:
        frame = polars.read_parquet(path)
    except (OSError, polars.exceptions.PolarsError) as fault:
        reason = str(fault).splitlines()[0]
        raise WordlineError(f"{path}: cannot be read: {reason}; run the sweep again") from None
    if missing := {*HEAD, "status", "error", *TAIL} - set(frame.columns):
        raise WordlineError(f"{path}: has no column {min(missing)}; name the folder of a sweep")
    for version in frame["version"].drop_nulls().unique().to_list():
        checksums.require_version(path, str(version))
    return frame


def write(frame: polars.DataFrame, part: str) -> None:
    """Writes a table as a Parquet file. Raises OSError."""
    import io

    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    with open(part, "wb") as file:  # noqa: PTH123
        file.write(buffer.getbuffer())


def figures_of(frame: polars.DataFrame) -> list[str]:
    """Returns the columns of a table that are metrics of the summary."""
    start = frame.columns.index("error") + 1
    end = frame.columns.index("digest")
    return [name for name in frame.columns[start:end] if frame[name].dtype.is_numeric()]


def keys_of(frame: polars.DataFrame) -> list[str]:
    """Returns the columns of a table that are varied keys."""
    return frame.columns[len(HEAD) : frame.columns.index("status")]


def series(name: str, values: list[Any]) -> polars.Series:
    """Returns a column. Integers become floating-point numbers if other values are, or if one is
    2^63 or more. Any other mixture of types becomes strings."""
    import polars

    kinds: set[type[object]] = {type(value) for value in values if value is not None}
    if not kinds:
        kind = polars.String  # A column of type Null cannot be written without a row.
    elif kinds <= {bool}:
        kind = polars.Boolean
    elif kinds <= {int}:
        kind = polars.Int64 if max(v for v in values if v is not None) < 2**63 else polars.Float64
    elif kinds <= {int, float}:
        kind = polars.Float64
    else:
        kind = polars.String
        values = [value if value is None else _word(value) for value in values]
    return polars.Series(name, values, dtype=kind, strict=False)


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
