"""Runs `wordline lab` trials on the drives of table 5.1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wordline import WordlineError
from wordline._lab.test_device import TestDevice, on_bench
from wordline._lab.trial import HEADER, PARTS, SERIES, Measured, Trial, of_phase, overrides
from wordline._sweep.work import Run
from wordline.config import Value
from wordline_studies.cases import Case, run_all
from wordline_studies.figure import Setup

DEPTH = 4
"""Queue depth. The chapter does not give it; its rates times its latencies at 4 KiB give four."""
DEPTHS = (1, 2, 4, 8, 16, 32)
WHOLE_BLOCKS, BLOCKS = 2048, 256
"""Blocks per plane of the presets and of the simulated drives. With the smaller number, the GC
reserve is still a small share of the drive."""
SCALE = WHOLE_BLOCKS // BLOCKS
MAP_IN_FLASH = ("C", "A")
CACHE_BYTES = 220_000_000
SEED = 1
WITHOUT_ERRORS: Mapping[str, Value] = {"nand.reliability.errors": "none"}
"""Settings of experiments without read errors."""


@dataclass(frozen=True)
class Drive:
    """A test device with a scaled number of blocks. `settings` override keys of the preset."""

    letter: str
    bench: TestDevice
    settings: Mapping[str, Value]

    @property
    def preset(self) -> str:
        """Name of the drive's preset."""
        return preset(self.letter)


def preset(letter: str) -> str:
    """Returns the name of the preset of a drive of table 5.1."""
    return f"jung2013-ssd-{letter.lower()}"


def drive(
    letter: str,
    setup: Setup,
    *,
    more: Mapping[str, Value] | None = None,
    depth: int = DEPTH,
    blocks: int = BLOCKS,
) -> Drive:
    """Builds a drive with `blocks` blocks per plane, and memory for its map in proportion.

    Dies, over-provisioning and buffer are those of the preset. `more` overrides its keys. Raises
    WordlineError if a setting is invalid.
    """
    settings: dict[str, Value] = {"nand.geometry.blocks_per_plane": blocks}
    if letter in MAP_IN_FLASH:
        settings["ftl.mapping.dftl.cache_bytes"] = CACHE_BYTES * blocks // WHOLE_BLOCKS
    settings |= {**WITHOUT_ERRORS, **(more or {})}
    bench = on_bench(preset(letter), settings, depth=depth, seed=SEED, quick=False)
    return Drive(letter, replace(bench, quick=setup.quick), settings)


def carried_out(
    setup: Setup, wanted: Sequence[tuple[Drive, str, Mapping[str, Trial]]]
) -> list[dict[str, Measured]]:
    """Runs the trials of all drives in parallel and returns their results.

    Raises WordlineError if a trial cannot be simulated.
    """
    with TemporaryDirectory(prefix="wordline-study-") as folder:
        cases: list[tuple[Case, Trial]] = []
        for place, (one, label, trials) in enumerate(wanted):
            for name, trial in trials.items():
                path = Path(folder, f"{place} {name.replace('/', '-')}.csv")
                cases.append((_case(one, f"{label}, {name}", trial, path), trial))
        found = iter(_run(setup, cases))
        return [{name: next(found) for name in trials} for _, _, trials in wanted]


def _case(one: Drive, label: str, trial: Trial, path: Path) -> Case:
    if trial.trace is not None:
        with path.open("w", encoding="utf-8") as file:
            file.write(HEADER)
            file.writelines(trial.trace())
    own: Mapping[str, Value] = {} if trial.device else one.settings
    return Case(
        trial.device or one.preset,
        f"SSD-{one.letter}, {label}",
        {**own, **overrides(one.bench, trial)},
        None if trial.trace is None else path,
        seed=SEED,
    )


def _run(setup: Setup, cases: Sequence[tuple[Case, Trial]]) -> list[Measured]:
    """Runs cases and returns their results in order. Trials that need the same tables run
    together."""
    found: dict[int, Measured] = {}
    for tables in sorted({_tables(trial) for _, trial in cases}):
        places = [at for at, (_, trial) in enumerate(cases) if _tables(trial) == tables]
        runs = run_all([cases[at][0] for at in places], setup.runs, tables)
        for at, run in zip(places, runs, strict=True):
            if run.summary is None:
                raise WordlineError(f"{cases[at][0].label}: {run.fault}")
            setup.note(cases[at][0].label, run.config)
            found[at] = measured(run, cases[at][1])
    return [found[at] for at in range(len(cases))]


def _tables(trial: Trial) -> tuple[str, ...]:
    return (*(("requests",) if trial.phases else ()), *(("series",) if trial.series else ()))


def measured(run: Run, trial: Trial) -> Measured:
    """Returns the metrics of a run that its trial needs."""
    phases: dict[str, Any] = {}
    if trial.phases:
        rows = run.table("requests").sort("index")
        phases = {
            one.name: of_phase(rows.slice(one.first, one.last - one.first)) for one in trial.phases
        }
    series: dict[str, Any] = {}
    if trial.series:
        table = run.table("series")
        series = {name: table[name].to_list() for name in SERIES}
    summary = run.summary or {}
    return Measured({part: summary[part] for part in PARTS}, phases, series)
