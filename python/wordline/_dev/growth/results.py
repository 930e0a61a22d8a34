"""Output of `wordline growth`: a page, and all numbers."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordline._dev.growth.cost import MOST_RATIO, Cost, Line, Measured
from wordline._dev.growth.page import render
from wordline._internal import output_folder

COLUMNS = (
    "at",
    "requests",
    "ns_per_request",
    "ns_per_event",
    "events_per_request",
    "instructions_per_request",
    "misses_per_request",
    "misses_explain_ns",
    "memory_latency_ns",
    "start_s",
    "precondition_s",
    "resident_bytes",
    "peak_bytes",
    "digest",
)


def write(found: Sequence[Measured], place: Path) -> list[Path]:
    """Writes index.html, growth.json and growth.csv. Raises WordlineError."""
    files = output_folder.write(
        place,
        {
            "index.html": lambda path: output_folder.write_text(path, render(found)),
            "growth.json": lambda path: output_folder.write_text(
                path, json.dumps(as_json(found), indent=2) + "\n"
            ),
            "growth.csv": lambda path: _write_csv(found, path),
        },
        "growth",
    )
    return [Path(file) for file in files]


def as_json(found: Sequence[Measured]) -> dict[str, Any]:
    """Returns all numbers, with floats rounded to six significant digits."""
    return {"most_ratio": MOST_RATIO, "sweeps": [_sweep(one) for one in found]}


def _sweep(one: Measured) -> dict[str, Any]:
    return {
        "name": one.sweep.name,
        "unit": one.sweep.unit,
        "held": one.sweep.held,
        "series": [_line(line) for line in one.lines],
    }


def _line(line: Line) -> dict[str, Any]:
    return {
        "name": line.name,
        "verdict": line.verdict,
        "ratio": _short(line.ratio),
        "event_ratio": _short(line.event_ratio),
        "ratio_without_misses": _short(line.ratio_left),
        "instruction_ratio": _short(line.instruction_ratio),
        "points": [_cost(line, cost) for cost in line.costs],
    }


def _cost(line: Line, cost: Cost) -> dict[str, Any]:
    counted = cost.counted
    values = (
        cost.at,
        cost.requests,
        _short(cost.ns_per_request),
        _short(cost.ns_per_event),
        _short(cost.events_per_request),
        _short(counted and counted.instructions),
        _short(counted and counted.misses),
        _short(line.explained_ns(cost)),
        _short(cost.latency_ns),
        _short(cost.start_s),
        _short(cost.precondition_s),
        cost.resident_bytes,
        cost.peak_bytes,
        cost.digest,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def _write_csv(found: Sequence[Measured], path: str) -> None:
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, ["sweep", "series", *COLUMNS])
        rows.writeheader()
        for one in found:
            for line in one.lines:
                for cost in line.costs:
                    rows.writerow(
                        {"sweep": one.sweep.name, "series": line.name} | _cost(line, cost)
                    )
