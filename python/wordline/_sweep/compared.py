"""Loads results of runs and sweeps for a comparison."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from wordline._api.comparison import Comparison, Side, flat_toml, side_of_run
from wordline._api.result import Result
from wordline._internal import checksums
from wordline._sweep.points import Points
from wordline._sweep.table import figures_of
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    import polars


def compare(*results: object) -> Comparison:
    """Compares two or more results: folders of runs or sweeps, `Result`s or `Sweep`s.

        wordline.compare("out/greedy", "out/fifo").table()

    Noise is the difference between runs of a sweep that differ only in their seed. Compare sweeps
    over several seeds to test whether a difference exceeds it. Raises WordlineError.
    """
    if len(results) < 2:
        raise WordlineError("too few results to compare; name at least two")
    sides = [_side(one, place) for place, one in enumerate(results)]
    names = [side.name for side in sides]
    if len(set(names)) < len(names):
        sides = [
            replace(side, name=f"{side.name} ({place})") for place, side in enumerate(sides, 1)
        ]
    return Comparison(sides)


def _side(one: object, place: int) -> Side:
    if isinstance(one, Result):
        summary = cast("Mapping[str, Any]", one.summary)
        return side_of_run(f"{summary['device']['name']} {place + 1}", summary, one.config)
    if isinstance(one, Points):
        return _of_sweep(f"sweep {place + 1}", one)
    if not isinstance(one, str | os.PathLike):
        raise TypeError(f"results must be a Result, a Sweep or a folder, not {one!r}")
    folder = Path(cast("str", one))
    if (folder / "points.parquet").is_file():
        return _of_sweep(folder.name, Points.of(folder))
    if (folder / "summary.json").is_file():
        checksums.require_whole(folder)
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        config = (folder / "config.resolved.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise WordlineError(
            f"{folder}: holds no results of a run or a sweep; name the folder of one"
        ) from None
    try:
        checksums.require_schema(str(folder), summary["schema"])
        checksums.require_version(str(folder), str(summary["version"]))
        return side_of_run(folder.name, summary, config)
    except (KeyError, TypeError, AttributeError, ValueError) as fault:
        raise WordlineError(
            f"{folder}: is not a result of this version of Wordline ({fault}); repeat the run"
        ) from None


def _of_sweep(name: str, sweep: Points) -> Side:
    frame = sweep.table()
    done = frame.filter(frame["status"] == "done")
    if not done.height:
        raise WordlineError(f"{name}: no point of the sweep is complete; run the sweep again")
    repeated = [key for key in sweep.keys if key != "seed"]
    groups = done.partition_by(repeated, maintain_order=True) if repeated else [done]
    numbers = {
        path: [values for one in groups if (values := one[path].drop_nulls().to_list())]
        for path in figures_of(frame)
    }
    found = {path: own for path, own in numbers.items() if own}
    keys = _keys(sweep, done)
    return Side(name, found, keys, done["digest"].to_list(), str(done["version"][0]))


def _keys(sweep: Points, done: polars.DataFrame) -> dict[str, object]:
    """Returns the configuration of a sweep, with lists of values for the varied keys."""
    keys: dict[str, object] = {"trace": None, "seed": None}
    if sweep.plan is not None:
        traces, seeds = sweep.plan.trace, sweep.plan.seeds
        keys["trace"] = ", ".join(traces) if isinstance(traces, list) else traces
        keys["seed"] = seeds[0] if isinstance(seeds, list) else 1
    if sweep.config is not None and "device" not in sweep.keys:
        keys |= flat_toml(tomllib.loads(sweep.config))
    for key in sweep.keys:
        keys = {one: value for one, value in keys.items() if not one.startswith(f"{key}.")}
        keys[key] = done[key].unique(maintain_order=True).to_list()
    return keys
