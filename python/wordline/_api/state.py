"""Saved states: checkpoints of runs, and prepared devices."""

from __future__ import annotations

import os

from wordline import _wordline
from wordline._internal import arguments, output_folder
from wordline._wordline import WordlineError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    import wordline
    from wordline._api.job import Job
    from wordline.config import Device, Overrides

CHECKPOINT = "checkpoint.wls"


def prepare(
    device: Device,
    out: str | os.PathLike[str],
    *,
    overrides: Overrides | None = None,
    seed: int = 1,
    spare_areas: bool = False,
    progress: bool | Callable[[wordline.Progress], None] = False,
) -> Path:
    """Preconditions a device as its `[precondition]` table states, and saves the state to a file,
    from which any number of runs can start.

        wordline.prepare("d4", "aged.wls", overrides={"precondition.overwrite_ratio": 2})
        wordline.run("d4", "disk.csv.gz", prepared="aged.wls", ...)

    device        as in `wordline.run`
    out           file to write, which appears complete or not at all
    overrides     values of configuration keys, by key path
    seed          seed of every random choice of the preparation
    spare_areas   save the spare area of each page (20 bytes per page), which runs with
                  `power_cut_every` recover from
    progress      True for a bar on standard error, or a function that is called with a Progress

    The state depends on the flash array (except its timing), `[ftl]`, `[precondition]` and the
    seed. Runs may change everything else, and use the seed of the state.

    Returns the path of the file. Raises WordlineError or KeyboardInterrupt.
    """
    import json
    from pathlib import Path

    from wordline._api.job import observed
    from wordline.config import read, settings

    text, name = read(device)
    given = settings(overrides)
    place = output_folder.check_file(out)
    options: dict[str, object] = {"seed": arguments.whole("seed", seed, 0)}
    spare_areas = arguments.flag("spare_areas", spare_areas)
    command = json.dumps({"config_text": text, "config_name": name, "overrides": given})
    output_folder.make(os.path.dirname(place))
    observed(
        progress,
        lambda heard: _wordline.prepare(
            text, name, given, place, spare_areas, command, options, heard
        ),
    )
    return Path(place)


def preparation(
    device: Device,
    *,
    overrides: Overrides | None = None,
    seed: int = 1,
    power_cut_every: int | None = None,
) -> str | None:
    """Returns an identifier of the state to which a device is prepared: equal for devices with
    equal states. None if there is nothing to prepare. Raises WordlineError."""
    from wordline.config import read, settings

    text, name = read(device)
    options: dict[str, object] = {"seed": seed, "power_cut_every": power_cut_every}
    return _wordline.preparation(text, name, settings(overrides), options)


def prepared_device(path: str) -> tuple[str, str, list[tuple[str, str]]]:
    """Returns the configuration of a prepared device: text, name, overrides. Raises
    WordlineError."""
    command = _of_device(path)["command"]
    return command["config_text"], command["config_name"], _pairs(command["overrides"])


def prepared_seed(path: str) -> int:
    """Returns the seed that a device was prepared with. Raises WordlineError."""
    return int(_of_device(path)["seed"])


def resumable(place: str, checkpoint_every: str | float | None) -> Job:
    """Returns the job of the run whose checkpoint is in a folder. Raises WordlineError."""
    path = os.path.join(place, CHECKPOINT)
    if not os.path.exists(path):
        raise WordlineError(
            f"{place}: holds no {CHECKPOINT}; a run with --checkpoint-every writes one while it "
            "is in progress, and keeps it if it is stopped"
        )
    command = _header(
        path,
        "run",
        f"{path}: holds a prepared device, not a run; start one with `wordline run --from`",
    )
    options = dict(command["options"])
    # Messages quote a trace path as it was given, unless the working directory differs.
    away = "" if command["folder"] == os.getcwd() else command["folder"]
    traces = [os.path.join(away, trace) for trace in command["traces"]]
    options["streams"] = [
        (name, [os.path.join(away, file) for file in files]) for name, files in options["streams"]
    ]
    every = options["checkpoint_every_s"] if checkpoint_every is None else checkpoint_every
    options |= {"resume": path} | checkpoint_options(every, path, None)
    return (
        command["config_text"],
        command["config_name"],
        _pairs(command["overrides"]),
        traces,
        options,
    )


def checkpoint_options(
    every: str | float, path: str | os.PathLike[str] | None, place: str | None
) -> dict[str, object]:
    """Returns the simulator's options for checkpoints: interval and file, by default in the folder
    `place`. Raises WordlineError."""
    from wordline._api.timeline import seconds

    if path is None and place is None:
        raise WordlineError(
            "checkpoint_every: no place is given for the checkpoint; name a folder with `out`, or "
            "a file with `checkpoint`"
        )
    file = os.path.join(place or "", CHECKPOINT) if path is None else output_folder.check_file(path)
    return {"checkpoint": file, "checkpoint_every_s": seconds("checkpoint_every", every)}


def command_of(job: Job) -> str:
    """Returns the arguments and working directory of a run as JSON, for its checkpoint."""
    import json

    text, name, overrides, traces, options = job
    return json.dumps(
        {
            "config_text": text,
            "config_name": name,
            "overrides": overrides,
            "traces": traces,
            "options": options | {"resume": None, "decoded": None},
            "folder": os.getcwd(),
        }
    )


def carried(place: str) -> Mapping[str, Callable[[str], object]]:
    """Returns, by file name, a writer that links or copies the checkpoint of a folder into the
    folder that replaces it. Empty without a checkpoint."""
    path = os.path.join(place, CHECKPOINT)
    return {CHECKPOINT: lambda part: _link(path, part)} if os.path.exists(path) else {}


def _link(path: str, part: str) -> None:
    try:
        os.link(path, part)
    except OSError:
        import shutil

        shutil.copyfile(path, part)


def _pairs(overrides: list[list[str]]) -> list[tuple[str, str]]:
    return [(key, value) for key, value in overrides]


def _of_device(path: str) -> dict[str, Any]:
    return _header(
        path,
        "device",
        f"{path}: holds a run, not a prepared device; name a file that `wordline prepare` wrote",
    )


def _header(path: str, kind: str, otherwise: str) -> dict[str, Any]:
    import json

    header = json.loads(_wordline.state_header(path))
    if header["kind"] != kind:
        raise WordlineError(otherwise)
    return header["content"]
