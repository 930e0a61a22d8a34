"""Reads measurements from files: raw bit error rates and latencies."""

from __future__ import annotations

import csv
import math

from wordline._calibration.error_fit import Point
from wordline._internal import small_file
from wordline._render.units import many
from wordline._wordline import WordlineError

ERROR_COLUMNS = ("cycles", "retention_days", "reads", "rber", "errors", "bits")
LATENCY_COLUMNS = ("op", "level", "latency_us")
MOST = {"cycles": 1e7, "retention_days": 36_500.0, "reads": 1e12, "rber": 0.5}
Row = tuple[int, dict[str, str]]


def read_points(path: str) -> list[Point]:
    """Returns the points of a CSV file with a header. Raises WordlineError with file, line and
    column."""
    columns, rows = _table(path, ERROR_COLUMNS)
    if "cycles" not in columns:
        raise WordlineError(_missing(path, "cycles", columns))
    counted = {"errors", "bits"} <= set(columns)
    if not counted and {"errors", "bits"} & set(columns):
        raise WordlineError(
            f"{path}:1: columns errors and bits belong together; add the missing one, or "
            "remove the other"
        )
    if not counted and "rber" not in columns:
        raise WordlineError(_missing(path, "rber (or errors and bits)", columns))
    points = [_point(path, line, row, counted=counted) for line, row in rows]
    if counted and not any(point.errors for point in points):
        raise WordlineError(
            f"{path}: column errors: all counts are 0; measure until bit errors occur"
        )
    return points


def _point(path: str, line: int, row: dict[str, str], *, counted: bool) -> Point:
    def value(column: str) -> float:
        return _number(path, line, column, row[column]) if column in row else 0.0

    cycles, days, reads = value("cycles"), value("retention_days"), value("reads")
    if not counted:
        rate = value("rber")
        if rate <= 0:
            raise WordlineError(
                f"{path}:{line}: column rber: 0 has no logarithm; give errors and bits instead of "
                "rber, or remove the line"
            )
        return Point(cycles, days, reads, rate)
    errors, bits = value("errors"), value("bits")
    if bits <= 0 or errors > bits / 2:
        raise WordlineError(
            f"{path}:{line}: column bits: {bits:g} is 0, or less than twice the {errors:g} errors; "
            "give the number of all bits that were read"
        )
    return Point(cycles, days, reads, errors / bits, errors, bits)


def read_latencies(path: str) -> list[tuple[str, int | None, float]]:
    """Returns the samples of a fio latency log (ms, ns, direction, bytes, ...), or of a CSV file
    with the columns op, latency_us and optionally level, as operation, level and latency in us.
    Raises WordlineError with file, line and column."""
    lines = _text(path).splitlines()
    first = next((line for line in lines if line.strip()), "")
    if first.split(",")[0].strip().isdigit():
        return _fio(path, lines)
    columns, rows = _table(path, LATENCY_COLUMNS)
    for column in ("op", "latency_us"):
        if column not in columns:
            raise WordlineError(_missing(path, column, columns))
    return [_sample(path, line, row) for line, row in rows]


def _sample(path: str, line: int, row: dict[str, str]) -> tuple[str, int | None, float]:
    op = row["op"].strip().lower()
    if op not in ("read", "write"):
        raise WordlineError(f"{path}:{line}: column op: {row['op']!r} is not read or write")
    level = None
    if "level" in row:
        number = _number(path, line, "level", row["level"])
        if number != int(number) or number > 7:
            raise WordlineError(
                f"{path}:{line}: column level: {row['level']!r} is not a whole number from 0 to 7"
            )
        level = int(number)
    return op, level, _latency(path, line, "latency_us", row["latency_us"])


def _fio(path: str, lines: list[str]) -> list[tuple[str, int | None, float]]:
    samples: list[tuple[str, int | None, float]] = []
    sizes: dict[str, tuple[str, int]] = {}
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        fields = [field.strip() for field in text.split(",")]
        if len(fields) < 4 or fields[2] not in ("0", "1", "2"):
            raise WordlineError(
                f"{path}:{line}: is not a line of a fio latency log: ms, ns, 0, 1 or 2, bytes; "
                "remove the line"
            )
        if fields[2] == "2":
            continue
        op = "write" if fields[2] == "1" else "read"
        size, where = sizes.setdefault(op, (fields[3], line))
        if size != fields[3]:
            raise WordlineError(
                f"{path}:{line}: column 4: a {op} of {fields[3]} bytes, but line {where} has "
                f"one of {size}; log only requests of one page"
            )
        samples.append((op, None, _latency(path, line, "2", fields[1]) / 1000))
    return samples


def _latency(path: str, line: int, column: str, text: str) -> float:
    value = _number(path, line, column, text)
    if value <= 0:
        raise WordlineError(
            f"{path}:{line}: column {column}: {text} is not above 0; remove the line"
        )
    return value


def _number(path: str, line: int, column: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise WordlineError(
            f"{path}:{line}: column {column}: {text!r} is not a number; correct it, or remove the "
            "line"
        ) from None
    most = MOST.get(column, 1e18)
    if not math.isfinite(value) or not 0 <= value <= most:
        raise WordlineError(
            f"{path}:{line}: column {column}: {text.strip()} is not between 0 and {most:g}; "
            "correct it, or remove the line"
        )
    return value


def _missing(path: str, column: str, columns: list[str]) -> str:
    return f"{path}:1: no column {column} among {', '.join(columns)}; add it to the header"


def _table(path: str, known: tuple[str, ...]) -> tuple[list[str], list[Row]]:
    """Returns the header and rows of a CSV file with line numbers. Lines that start with # are
    comments."""
    lines = enumerate(_text(path).splitlines(), 1)
    kept = [(line, text) for line, text in lines if text.strip() and text.strip()[0] != "#"]
    if len(kept) < 2:
        raise WordlineError(f"{path}: holds no measurements; give a header and a line for each")
    try:
        header, *rows = list(csv.reader([text for _, text in kept], strict=True))
    except csv.Error as fault:
        raise WordlineError(f"{path}: is not CSV: {fault}; correct the file") from None
    columns = [column.strip() for column in header]
    for column in columns:
        if column not in known:
            raise WordlineError(
                f"{path}:{kept[0][0]}: column {column!r} is unknown; remove it, or rename it to "
                f"one of {', '.join(known)}"
            )
        if columns.count(column) > 1:
            raise WordlineError(
                f"{path}:{kept[0][0]}: column {column!r} occurs twice; remove one of the two "
                "columns"
            )
    made: list[Row] = []
    if len(rows) != len(kept) - 1:
        raise WordlineError(f"{path}: a value contains a line break; remove the line break")
    for (line, _), row in zip(kept[1:], rows, strict=True):
        if len(row) != len(columns):
            raise WordlineError(
                f"{path}:{line}: {many(len(row), 'value')} for "
                f"{many(len(columns), 'column')}; give one value for each column"
            )
        made.append((line, dict(zip(columns, row, strict=True))))
    return columns, made


def _text(path: str) -> str:
    try:
        return small_file.text(path, "utf-8-sig")
    except UnicodeDecodeError:
        raise WordlineError(f"{path}: is not UTF-8 text; convert the file to UTF-8") from None
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise WordlineError(f"{path}: cannot be read: {reason}; name a CSV file") from None
