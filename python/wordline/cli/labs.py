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
    "--only": value("NAME,...", "Run only these experiments. [default: all]"),
    "--quick": flag("Preview with fewer requests on fewer blocks, not a result."),
    "--depth": value("N", "Queue depth of the experiments that do not set their own.", 4),
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

    Each experiment reports a verdict.

    \b
      patterns     sequential and random reads and writes by size
      aged         sequential reads after random overwrites
      layout       sequential reads, by order and size of the writes before them
      read-wear    erases caused by reads
      reliability  reads delayed by read retry and read reclaim
      mixes        four mixed loads on a fresh and a used device and a disk
      cliff        random writes until free blocks run out, and the worst case
      slc-cache    sequential writes beyond the SLC cache, by fill of the device
      cache        writes to the DRAM buffer, and durable writes
      trim         write rate regained by TRIM
      trim-cost    response time of TRIM, by size
      idle         write rate regained by a pause
      workers      1 to 8 workers, and queue depth 128

    Experiments set their own load and preconditioning. A large device is simulated with fewer
    blocks per die. An interrupted lab continues where it stopped. The folder contains {files}. Exit
    code: 0 done, 1 an experiment failed to run, 2 invalid command or device, 130 Ctrl-C, 143
    SIGTERM.

    \b
    Examples:
      wordline lab d4
      wordline lab mine.toml --quick
      wordline lab mine.toml --only cliff,trim --depth 32
          --set ftl.over_provisioning_ratio=0.28
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
            f"interrupted; {kept} kept in {place}; repeat the command to continue",
            interruption.exit_code(),
        )
    if as_json:
        print(json.dumps(found.to_json()))
    else:
        from wordline._render.terminal.lab import print_lab

        print_lab(found, place)
    if found.failed:
        return fault(f"failed to run: {', '.join(found.failed)}", FAILED)
    return DONE
