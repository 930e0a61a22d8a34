"""`wordline lab`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wordline._api.options import JSON, ON, PROGRESS, SET, Options, flag, value
from wordline._internal import interruption, output_folder
from wordline._render import units
from wordline.cli.command import command, device_argument
from wordline.cli.exit import DONE, FAILED, fault, interrupted
from wordline.cli.streams import shows_progress

LAB: Options = {
    **SET,
    "--only": value("NAME,...", "These experiments. [default: all]"),
    "--quick": flag("Fewer requests on fewer blocks: a preview, not a result."),
    "--depth": value("N", "Requests under way, where an experiment has no depth of its own.", 4),
    "--seed": value("N", "Seed of every random choice.", 1),
    "--out": value("DIR", "Folder for the results. [default: out/lab-DEVICE]", of="path"),
    **ON,
    **PROGRESS,
    **JSON,
}


@command(LAB, writes="lab")
@device_argument()
def lab(
    device: str,
    only: str | None,
    out: Path | None,
    progress: bool | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Run device-review experiments on a device.

    Each experiment ends with a verdict.

    \b
      patterns     sequential and random reads and writes by size
      aged         sequential reads after random overwrites
      layout       reads by how the data was written
      read-wear    erases that reads cause
      reliability  reads that meet retries and data being moved
      mixes        four mixed loads, fresh and used, beside a hard disk
      cliff        random writes until free flash runs out, and their worst case
      slc-cache    sequential writes until the SLC cache is full, by how full the device is
      cache        the DRAM buffer, on and off
      trim         what TRIM gives back
      trim-cost    how long a TRIM takes
      idle         what a pause gives back
      workers      1 to 8 workers, and a queue of 128

    Load and preconditioning are the lab's own; a large device is simulated with fewer blocks on
    each die. A lab that was stopped goes on where it was. The folder receives {files}. Exit code:
    0 done, 1 an experiment could not be run, 2 bad command or device, 130 Ctrl-C, 143 SIGTERM.

    \b
    Examples:
      wordline lab d4
      wordline lab mine.toml --quick
      wordline lab mine.toml --only cliff,trim --depth 32 --set ftl.over_provisioning_ratio=0.28
    """
    from wordline._lab import LabInterrupted
    from wordline._lab import lab as run_lab

    name = Path(device).name.removesuffix(".toml")
    place = output_folder.check(out or Path("out", f"lab-{name}"), "lab")
    try:
        found = run_lab(
            device,
            only=only,
            out=place,
            progress=shows_progress(progress),
            **given,
        )
    except LabInterrupted as early:
        if not early.kept:
            return interrupted()
        kept = units.many(early.kept, "trial")
        return fault(
            f"interrupted; {place} keeps {kept}, and the same command goes on from there",
            interruption.exit_code(),
        )
    if as_json:
        print(json.dumps(found.to_json()))
    else:
        from wordline._render.terminal.lab import print_lab

        print_lab(found, place)
    if found.failed:
        return fault(f"could not be run: {', '.join(found.failed)}", FAILED)
    return DONE
