"""`wordline calibrate`."""

import json
from pathlib import Path
from typing import Any

import click

import wordline
from wordline._api.options import JSON, QUIET, Options, value
from wordline._internal import output_folder
from wordline.cli.command import command

CALIBRATE: Options = {
    "--data": value(
        "FILE",
        "Measured raw bit error rates, CSV with a header: cycles, and rber, or errors and bits; "
        "perhaps retention_days and reads.",
    ),
    "--latency": value(
        "FILE",
        "Samples of latency: a log of fio, or CSV with op, latency_us and perhaps level.",
    ),
    "--base": value("PRESET", "The preset to change.", "onfi4-tlc"),
    "--levels": value(
        "N", "Page types to tell apart in samples without level. [default: the base's]", of=int
    ),
    "--read-overhead-us": value("US", "What of a read sample is not tR.", 0.0),
    "--write-overhead-us": value("US", "What of a write sample is not tPROG.", 0.0),
    "--seed": value("N", "Seed of the starts of the fit.", 1),
    "--out": value("DIR", "Also write a folder.", of="path"),
    **QUIET,
    **JSON,
}


@command(CALIBRATE, writes="calibrate")
def calibrate(out: Path | None, as_json: bool, **options: Any) -> None:
    """Fit a device to measured errors and latency.

    Fits RBER = e + a c^k + b c^m t^n + g c^p r^q of cycles c, days t and reads r, and the times of
    reads and programs by page type. The preset changes --base.

    \b
    Examples:
      wordline calibrate --data rber.csv --base onfi4-tlc --out out/mine
      wordline calibrate --latency d_lat.1.log --base onfi3-mlc --write-overhead-us 60
      wordline config check out/mine/device.toml

    With --out, the folder receives {files}. Exit code: 0 done, 2 bad command or input, 130 Ctrl-C,
    143 SIGTERM.
    """
    if out:
        output_folder.check(out, "calibrate")
    result = wordline.calibrate(**options)
    files = result.write(out) if out else []
    if as_json:
        click.echo(json.dumps(result.summary, indent=2))
        return
    from wordline._render.terminal.calibration import print_calibration

    print_calibration(result.summary, files)
