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
        "Measured raw bit error rates. CSV with a header: cycles, and rber or errors and bits; "
        "optionally retention_days and reads.",
    ),
    "--latency": value(
        "FILE",
        "Latency samples: a fio log, or CSV with op, latency_us and optionally level.",
    ),
    "--base": value("PRESET", "Preset to start from.", "onfi4-tlc"),
    "--levels": value(
        "N",
        "Number of page types to find in samples without the column level. [default: that of "
        "--base]",
        of=int,
    ),
    "--read-overhead-us": value("US", "Time in each read sample that is not tR.", 0.0),
    "--write-overhead-us": value("US", "Time in each write sample that is not tPROG.", 0.0),
    "--seed": value("N", "Seed of the starting points of the fit.", 1),
    "--out": value("DIR", "Folder for the results. [default: none]", of="path"),
    **QUIET,
    **JSON,
}


@command(CALIBRATE, writes="calibrate")
def calibrate(out: Path | None, as_json: bool, **options: Any) -> None:
    """Fit a device to measured errors and latency.

    Fits RBER = e + a c^k + b c^m t^n + g c^p r^q over cycles c, days t and reads r, and the read
    and program times of each page type. The result is a device file based on --base.

    \b
    Examples:
      wordline calibrate --data rber.csv --base onfi4-tlc --out out/mine
      wordline calibrate --latency d_lat.1.log --base onfi3-mlc
          --write-overhead-us 60
      wordline config check out/mine/device.toml

    With --out, the folder contains {files}. Exit code: 0 done, 2 invalid command or input, 130
    Ctrl-C, 143 SIGTERM.
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
