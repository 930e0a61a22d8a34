"""Calibration of a device to measured bit error rates and page latencies.

r = wordline.calibrate("rber.csv", base="onfi4-tlc")
r.constants["k"]["value"]
r.write("out/mine")                    # device.toml, summary.json, residuals.csv
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, cast

from wordline import config
from wordline._api.catalogue import presets
from wordline._calibration.calibration_data import read_latencies, read_points
from wordline._calibration.error_fit import Constant, fit_errors, predicted
from wordline._calibration.latency_fit import LevelTime, level_times
from wordline._internal import arguments, output_folder, own_version
from wordline._render.interval_text import interval_text
from wordline._render.units import many
from wordline._wordline import WordlineError

BITS = {"slc": 1, "mlc": 2, "tlc": 3, "qlc": 4, "plc": 5}
# The preset extrapolates the fit up to this rate, or up to the largest fitted rate at a measured
# point.
LIMIT = 0.05
UNIT_OF_RESIDUALS = {
    False: "natural logarithm of predicted / measured rate",
    True: "deviance residual of the Poisson count, positive if the fit predicts more errors",
}


class Residual(TypedDict):
    """A measured point, the fitted rate there, and the residual."""

    cycles: float
    retention_days: float
    reads: float
    rber: float
    fitted: float
    residual: float


class ErrorSummary(TypedDict):
    """Fit of raw bit error rates: e + a c^k + b c^m t^n + g c^p r^q. `scale` is the standard
    deviation of the residuals; for counts it is 1 if they have a Poisson distribution."""

    data: str
    points: int
    counted: bool
    constants: dict[str, Constant]
    scale: float
    residual_unit: str
    residuals: list[Residual]


class LatencySummary(TypedDict):
    """Times of page types, least significant bit first."""

    data: str
    overhead_us: dict[str, float]
    levels: list[LevelTime]


class CalibrationSummary(TypedDict):
    """Content of summary.json. `kind` is "calibrate"."""

    kind: str
    version: str
    base: str
    errors: ErrorSummary | None
    latency: LatencySummary | None
    notes: list[str]


class Calibration:
    """Result of a calibration."""

    def __init__(self, summary: CalibrationSummary) -> None:
        self.summary = summary

    @property
    def constants(self) -> dict[str, Constant]:
        """Constants of the error model by name. Raises WordlineError if none were fitted."""
        if self.summary["errors"] is None:
            raise WordlineError(
                "no error rates were calibrated; pass a file of error rates as the argument `data`"
            )
        return self.summary["errors"]["constants"]

    @property
    def levels(self) -> list[LevelTime]:
        """Times by operation and page type; empty without latency samples."""
        return self.summary["latency"]["levels"] if self.summary["latency"] else []

    @property
    def preset(self) -> str:
        """The device as TOML, with residuals and intervals in comments."""
        return _preset(self.summary)

    def write(self, out: str | os.PathLike[str]) -> list[str]:
        """Writes the results into a folder and returns the paths of the files. Raises
        WordlineError."""
        texts = {"device.toml": self.preset, "summary.json": json.dumps(self.summary, indent=2)}
        if self.summary["errors"]:
            texts["residuals.csv"] = _residual_rows(self.summary["errors"]["residuals"])
        writers: dict[str, Callable[[str], object]] = {
            name: partial(output_folder.write_text, text=text) for name, text in texts.items()
        }
        return output_folder.write(out, writers, "calibrate")

    def __repr__(self) -> str:
        errors = self.summary["errors"]
        points = many(errors["points"], "point") if errors else many(len(self.levels), "time")
        return f"<wordline.Calibration of {self.summary['base']}: {points}>"


def calibrate(
    data: str | os.PathLike[str] | None = None,
    *,
    latency: str | os.PathLike[str] | None = None,
    base: str = "onfi4-tlc",
    levels: int | None = None,
    read_overhead_us: float = 0.0,
    write_overhead_us: float = 0.0,
    seed: int = 1,
    out: str | os.PathLike[str] | None = None,
) -> Calibration:
    """Fits the error rates and page times of a device to measurements.

        r = wordline.calibrate("rber.csv", latency="d_lat.1.log", base="onfi4-tlc")

    data          CSV with a header: cycles, and rber, or errors and bits (which weight the points);
                  optionally retention_days and reads (of the block since its erase), 0 if missing
    latency       fio latency log, or CSV with op (read, write), latency_us, and optionally level
                  (page type from 0, the least significant bit first)
    base          preset to start from
    levels        page types to find in samples without a level; None for those of the base
    read_overhead_us, write_overhead_us
                  part of each sample that is not tR or tPROG: command, transfer, host
    seed          seed of the starting points of the fit
    out           folder for device.toml, summary.json and residuals.csv

    Confidence intervals have a level of 95 %. Those of the error model come from its linearisation
    at the fit, those of a time are for the median, from order statistics. Requires SciPy: pip
    install 'wordline[calibrate]'.

    Raises WordlineError.
    """
    _require_scipy()
    if data is None and latency is None:
        raise WordlineError(
            "no measurements are given; name a file of error rates, or of latencies"
        )
    arguments.whole("seed", seed, 0)
    if out is not None:
        output_folder.check(out, "calibrate")
    shown = _shown(base)
    summary = CalibrationSummary(
        kind="calibrate",
        version=own_version.installed(),
        base=base,
        errors=None,
        latency=None,
        notes=[],
    )
    if data is not None:
        _errors(summary, arguments.path("data", data), seed)
    if latency is not None:
        overhead = {
            "read": _overhead("read_overhead_us", read_overhead_us),
            "write": _overhead("write_overhead_us", write_overhead_us),
        }
        count = _bits(shown) if levels is None else arguments.whole("levels", levels, 1, 8)
        _latency(summary, arguments.path("latency", latency), count, overhead)
    result = Calibration(summary)
    _check(result)
    if out is not None:
        result.write(out)
    return result


def _require_scipy() -> None:
    from importlib.util import find_spec

    if find_spec("scipy") is None:
        raise WordlineError("a calibration needs SciPy; run pip install 'wordline[calibrate]'")


def _shown(base: str) -> dict[str, Any]:
    """Returns the resolved configuration of a preset. Raises WordlineError if the preset is unknown
    or has no flash."""
    known = [preset["name"] for preset in presets()]
    if base not in known:
        raise WordlineError(
            f"base: '{base}' is not one of {', '.join(known)}; name a preset, and change other "
            "settings in the device file that the calibration writes"
        )
    shown = tomllib.loads(config.show(base))
    if "nand" not in shown:
        raise WordlineError(f"base: '{base}' has no flash; name a preset of an SSD")
    return shown


def _check(result: Calibration) -> None:
    base = result.summary["base"]
    try:
        config.check(config.Source(result.preset, base))
    except WordlineError as fault:
        reason = str(fault).splitlines()[0].partition(": ")[2].partition(";")[0]
        raise WordlineError(
            f"base: '{base}' does not accept the calibrated values: {reason}; name another preset"
        ) from None


def _overhead(name: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number, not {value!r}")
    if not 0 <= value < 1e9:
        raise WordlineError(f"{name}: {value} is not between 0 and 1e9; give microseconds")
    return float(value)


def _bits(shown: Mapping[str, Any]) -> int:
    """Returns the number of page types of a device."""
    cell = shown["nand"].get("cell", "slc")
    name = cell if isinstance(cell, str) else str(next(iter(cell), "slc"))
    return BITS.get(name.split("-")[0], 1)


def _errors(summary: CalibrationSummary, path: str, seed: int) -> None:
    points = read_points(path)
    try:
        fit = fit_errors(points, seed)
    except WordlineError as fault:
        raise WordlineError(f"{path}: {fault}") from None
    values = {name: one["value"] for name, one in fit.constants.items()}
    residuals = [
        Residual(
            cycles=one.cycles,
            retention_days=one.days,
            reads=one.reads,
            rber=one.rate,
            fitted=predicted(values, one.cycles, one.days, one.reads),
            residual=far,
        )
        for one, far in zip(points, fit.residuals, strict=True)
    ]
    summary["errors"] = ErrorSummary(
        data=Path(path).name,
        points=len(points),
        counted=fit.counted,
        constants=fit.constants,
        scale=fit.scale,
        residual_unit=UNIT_OF_RESIDUALS[fit.counted],
        residuals=residuals,
    )
    summary["notes"] += fit.notes


def _latency(
    summary: CalibrationSummary, path: str, levels: int, overhead: dict[str, float]
) -> None:
    samples = read_latencies(path)
    try:
        found, notes = level_times(samples, levels, overhead)
    except WordlineError as fault:
        raise WordlineError(f"{path}: {fault}") from None
    if not found:
        raise WordlineError(
            f"{path}: holds neither reads nor writes; give samples of reads or writes"
        )
    summary["latency"] = LatencySummary(data=Path(path).name, overhead_us=overhead, levels=found)
    summary["notes"] += notes


def _residual_rows(residuals: list[Residual]) -> str:
    names = list(Residual.__annotations__)
    rows = [cast("dict[str, float]", one) for one in residuals]
    return "".join(
        ",".join(line) + "\n"
        for line in [names, *([f"{row[name]:.8g}" for name in names] for row in rows)]
    )


def _comment(text: str) -> str:
    """Formats a comment line without control characters, which TOML forbids in comments."""
    return "# " + "".join(one if one.isprintable() else " " for one in text) + "\n"


def _preset(summary: CalibrationSummary) -> str:
    base = json.dumps(summary["base"], ensure_ascii=False)
    name = json.dumps(f"{Path(summary['base']).stem}-calibrated", ensure_ascii=False)
    text = _comment(f"Calibrated by `wordline calibrate` {summary['version']}.")
    text += "".join(_comment(f"Note: {note}.") for note in summary["notes"])
    text += f"schema = 1\nbase = {base}\nname = {name}\n"
    if summary["latency"]:
        text += _timing(summary["latency"])
    if summary["errors"]:
        text += _reliability(summary["errors"])
    return text


def _timing(latency: LatencySummary) -> str:
    text = "\n" + _comment(f"Medians of the samples of {latency['data']} and 95 % intervals, us:")
    for one in latency["levels"]:
        text += _comment(
            f"  {one['op']} level {one['level']}: {one['time_us']:.3f} ({one['low_us']:.3f} to "
            f"{one['high_us']:.3f}), {many(one['samples'], 'sample')}"
        )
    text += "[nand.timing]\n"
    for op, key in (("read", "read_ns"), ("write", "program_ns")):
        times = [max(1, round(x["time_us"] * 1000)) for x in latency["levels"] if x["op"] == op]
        if times:
            text += f"{key} = {times[0] if len(times) == 1 else times}\n"
    return text


def _reliability(errors: ErrorSummary) -> str:
    text = "\n" + _comment(f"Fit of {many(errors['points'], 'point')} of {errors['data']}:")
    text += _comment("  RBER = e + a c^k + b c^m t^n + g c^p r^q; c cycles, t days, r reads")
    text += _comment("  (form: Kim, Choi, Min, FAST 2019). Constants and 95 % intervals:")
    for name, one in errors["constants"].items():
        text += _comment(f"  {name} = {one['value']:.5g} ({interval_text(one)})")
    largest = max(abs(one["residual"]) for one in errors["residuals"])
    text += _comment(
        f"Residuals ({errors['residual_unit']}): standard deviation {errors['scale']:.3g}, "
        f"largest {largest:.3g}."
    )
    text += "[nand.reliability.errors.fitted]\n"
    for name, one in errors["constants"].items():
        text += f"{name} = {one['value']!r}\n"
    largest = max(LIMIT, *(one["fitted"] for one in errors["residuals"]))
    return text + f'reads = "block"\nlimit = {min(0.5, largest)!r}\n'
