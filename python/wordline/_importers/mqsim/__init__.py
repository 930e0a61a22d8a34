"""Imports MQSim devices and workloads (Tavakkol et al., FAST 2018) as a configuration.

Names and units of the parameters follow MQSim's README, or its source where the README is silent:
transfer rates are in MT/s, times in ns, capacities in bytes, request sizes in sectors of 512 bytes,
`Bandwidth` in bytes per second.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from wordline import _wordline
from wordline._importers.mqsim.device import device_tables
from wordline._importers.mqsim.parameters import flows_of, only, parameters, parse
from wordline._importers.mqsim.streams import toml_streams
from wordline._importers.mqsim.tables import toml
from wordline._wordline import WordlineError

WITHOUT_EFFECT = {
    "Seed": "set the seed with wordline run --seed",
    "Memory_Type": "",
    "Enable_ResponseTime_Logging": "write response times with wordline run --requests and fio-logs",
    "ResponseTime_Logging_Period_Length": "write the log with wordline run --requests and fio-logs",
    "Input_file_path": "",
}


@dataclass(frozen=True)
class Imported:
    """A configuration as TOML, and notes on parameters that it ignores or follows only partly."""

    toml: str
    notes: list[str]


def imported(
    device: str | os.PathLike[str],
    workload: str | os.PathLike[str] | None = None,
    scenario: int = 1,
) -> Imported:
    """Returns the configuration of an MQSim device file, with the flows of a workload file as
    streams.

    `scenario` is the number of a scenario in the workload file, from 1. Parameters that are not
    modelled, or are modelled differently, are listed in the notes and in comments of the TOML.
    Raises WordlineError with file and parameter.
    """
    file = os.fspath(device)
    root = parse(file)
    part = only(file, root, "Device_Parameter_Set")
    if part is None:
        raise WordlineError(f"{file}: has no Device_Parameter_Set; name an MQSim device file")
    ssd = parameters(file, part, inner={"Flash_Parameter_Set"})
    flash = parameters(file, only(file, part, "Flash_Parameter_Set"), "Flash_Parameter_Set")
    host = parameters(file, only(file, root, "Host_Parameter_Set"), "Host_Parameter_Set")
    notes: list[str] = []
    flows = flows_of(os.fspath(workload), scenario, notes) if workload is not None else []
    tables = device_tables(ssd, flash, host, flows, notes)
    tables[""] = {
        "schema": 1,
        "name": Path(file).stem,
        "description": "Imported from an MQSim device file.",
        "source": "Tavakkol et al., MQSim, FAST 2018",
    }
    text = toml(tables)
    if flows:
        capacity = _wordline.config_capacity(text, "imported", [])
        text += toml_streams(flows, capacity, notes)
    for one in (ssd, flash, host, *flows):
        for key in one.values:
            if key in WITHOUT_EFFECT:
                told = WITHOUT_EFFECT[key]
                notes.append(f"{one.name}: {key} has no effect" + (f"; {told}" if told else ""))
            elif key not in one.taken:
                notes.append(f"{one.name}: {key} is not modelled")
    notes = list(dict.fromkeys(notes))
    return Imported("".join(f"# {note}\n" for note in notes) + text, notes)
