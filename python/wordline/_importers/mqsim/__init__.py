"""Devices and workloads of MQSim (Tavakkol et al., FAST 2018) as a configuration.

Names and units of the parameters are those of MQSim's README; where that is silent, its source:
transfer rates are in MT/s, times in ns, capacities in bytes, sizes of requests in sectors of 512
bytes, `Bandwidth` in bytes a second.
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
    "Seed": "wordline run --seed chooses the random numbers",
    "Memory_Type": "",
    "Enable_ResponseTime_Logging": "wordline run --requests and fio-logs tell response times",
    "ResponseTime_Logging_Period_Length": "wordline run --requests and fio-logs tell them",
    "Input_file_path": "",
}


@dataclass(frozen=True)
class Imported:
    """A configuration as TOML, and what of the files it does not follow."""

    toml: str
    notes: list[str]


def imported(
    device: str | os.PathLike[str],
    workload: str | os.PathLike[str] | None = None,
    scenario: int = 1,
) -> Imported:
    """The configuration of a device file of MQSim, with the flows of a workload file as streams.

    `scenario` counts the workload file's from 1. What is not modelled, or otherwise than MQSim
    does it, is in the notes, and in comments of the TOML. Raises WordlineError, naming file and
    parameter.
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
        "description": "Imported from a device file of MQSim.",
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
