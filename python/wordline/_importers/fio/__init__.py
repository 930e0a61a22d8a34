"""Imports fio job files as the `[[streams]]` of a configuration.

Options, defaults and units are those that fio documents (HOWTO, "Job file parameters").
"""

import os
from dataclasses import dataclass
from typing import Any

from wordline import _wordline
from wordline._importers.fio.job_file import jobs
from wordline._importers.fio.options import WITHOUT_EFFECT
from wordline._importers.fio.streams import Clones
from wordline.config import Device, Overrides, read, settings


@dataclass(frozen=True)
class Load:
    """Streams of a configuration from a job file, and notes."""

    streams: list[dict[str, Any]]
    notes: list[str]


def load(
    file: str | os.PathLike[str],
    device: Device,
    overrides: Overrides | None = None,
    section: str | None = None,
) -> Load:
    """Returns the load of a job file for a device. Sizes in per cent refer to the capacity of the
    device.

        load = wordline.fio.load("job.fio", "d4")
        r = wordline.run("d4", overrides={"streams": load.streams})

    `section` selects a single job. Raises WordlineError with line and option.
    """
    name = os.fspath(file)
    text, device_name = read(device)
    capacity = _wordline.config_capacity(text, device_name, settings(overrides))
    found = jobs(name, section)
    notes: list[str] = []
    streams = [stream for job in found for stream in Clones(job, capacity, notes).streams()]
    names = [stream["name"] for stream in streams]
    for job in found:
        if len(names) != len(set(names)):
            job.fault("name", "two jobs have the same stream name", "give one of them another name")
    ignored = sorted(
        {option for job in found for option in job.options if option in WITHOUT_EFFECT}
    )
    if ignored:
        notes.insert(0, f"no effect in a simulation: {', '.join(ignored)}")
    return Load(streams, [f"{name}: {note}" for note in dict.fromkeys(notes)])
