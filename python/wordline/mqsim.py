"""Devices and workloads of MQSim (Tavakkol et al., FAST 2018) as a configuration.

Names and units of the parameters are those of MQSim's README; where that is silent, its source:
transfer rates are in MT/s, times in ns, capacities in bytes, sizes of requests in sectors of 512
bytes, `Bandwidth` in bytes a second.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any, Never
from xml.etree import ElementTree

from wordline import _wordline
from wordline._wordline import WordlineError
from wordline.config import toml_value

SECTOR = 512
# GB/s of a lane by generation of PCI Express: transfers times coding.
LANE_GB_PER_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938}
REQUESTS = 100_000
MOST_SIZES = 33
# How a trace of MQSim is read, by its unit of time.
TRACES = {
    "PICOSECOND": "--columns time=1:ps,volume=2,offset=3:sectors,bytes=4:sectors,op=5:1=read,"
    "delimiter=space",
    "NANOSECOND": "--format mqsim",
    "MICROSECOND": "--format ssdsim-us",
}
WITHOUT_EFFECT = {
    "Seed": "wordline run --seed chooses the random numbers",
    "Memory_Type": "",
    "Enable_ResponseTime_Logging": "wordline run --requests and fio-logs tell response times",
    "ResponseTime_Logging_Period_Length": "wordline run --requests and fio-logs tell them",
    "Input_file_path": "",
}


@dataclass
class _Set:
    """The parameters of one element, of which each is taken once and none is left unseen."""

    file: str
    name: str
    values: dict[str, str]
    taken: set[str] = field(default_factory=set[str])

    def fault(self, key: str, reason: str) -> Never:
        """Raises WordlineError for a parameter."""
        raise WordlineError(f"{self.file}: {self.name}: {key}: {reason}")

    def text(self, key: str, default: str) -> str:
        """A parameter as it stands there, else MQSim's default."""
        self.taken.add(key)
        return self.values.get(key, default).strip()

    def word(self, key: str, default: str, known: str) -> str:
        """One of some words, in either case."""
        word = self.text(key, default).upper()
        if word not in known.split():
            self.fault(key, f"`{word}` is not one of {', '.join(known.split())}; give one of them")
        return word

    def number(self, key: str, default: float, low: float = 0) -> float:
        """A number from `low` on."""
        text = self.text(key, str(default))
        try:
            value = float(text)
        except ValueError:
            self.fault(key, f"`{text}` is not a number; give one")
        if not low <= value < 1e19:
            self.fault(key, f"{text} is below {low:g} or too large; give a number from {low:g} on")
        return value

    def whole(self, key: str, default: int, low: int = 0) -> int:
        """A whole number from `low` on."""
        value = self.number(key, default, low)
        if value != int(value):
            self.fault(key, f"{value} is not a whole number; give one")
        return int(value)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        return self.word(key, str(default), "TRUE FALSE") == "TRUE"


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
    root = _parse(file)
    part = _first(file, root, "Device_Parameter_Set")
    if part is None:
        raise WordlineError(f"{file}: has no Device_Parameter_Set; name an MQSim device file")
    ssd = _values(file, part, inner={"Flash_Parameter_Set"})
    flash = _values(file, _first(file, part, "Flash_Parameter_Set"), "Flash_Parameter_Set")
    host = _values(file, _first(file, root, "Host_Parameter_Set"), "Host_Parameter_Set")
    notes: list[str] = []
    flows = _flows(os.fspath(workload), scenario, notes) if workload is not None else []
    tables = _device(ssd, flash, host, flows, notes)
    tables[""] = {
        "schema": 1,
        "name": Path(file).stem,
        "description": "Imported from a device file of MQSim.",
        "source": "Tavakkol et al., MQSim, FAST 2018",
    }
    text = _toml(tables)
    if flows:
        capacity = _wordline.config_capacity(text, "imported", [])
        text += _streams(flows, capacity, notes)
    for one in (ssd, flash, host, *flows):
        for key in one.values:
            if key in WITHOUT_EFFECT:
                told = WITHOUT_EFFECT[key]
                notes.append(f"{one.name}: {key} has no effect" + (f"; {told}" if told else ""))
            elif key not in one.taken:
                notes.append(f"{one.name}: {key} is not modelled")
    notes = list(dict.fromkeys(notes))
    return Imported("".join(f"# {note}\n" for note in notes) + text, notes)


def _parse(file: str) -> ElementTree.Element:
    """The root of an XML file that declares no document type and so no entities."""
    try:
        data = Path(file).read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise WordlineError(f"{file}: cannot be read: {reason}; check the path") from error
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise WordlineError(f"{file}: declares a document type; take that out")
    try:
        return ElementTree.fromstring(data)  # noqa: S314 - without entities
    except (ElementTree.ParseError, LookupError, ValueError) as error:
        raise WordlineError(f"{file}: is no XML: {error}; name a file of MQSim") from error


def _first(file: str, element: ElementTree.Element, tag: str) -> ElementTree.Element | None:
    found = list(element.iter(tag))
    if len(found) > 1:
        raise WordlineError(f"{file}: {tag} stands there {len(found)} times; leave one")
    return found[0] if found else None


def _values(
    file: str,
    element: ElementTree.Element | None,
    name: str = "",
    inner: set[str] | None = None,
) -> _Set:
    if element is None:
        return _Set(file, name, {})
    values: dict[str, str] = {}
    for child in element:
        if child.tag in (inner or ()):
            continue
        if len(child) or child.tag in values:
            reason = "holds other elements" if len(child) else "stands there twice"
            raise WordlineError(f"{file}: {element.tag}: {child.tag} {reason}; take it out")
        values[child.tag] = child.text or ""
    return _Set(file, name or element.tag, values)


def _flows(file: str, scenario: int, notes: list[str]) -> list[_Set]:
    scenarios = list(_parse(file).iter("IO_Scenario"))
    if not 1 <= scenario <= len(scenarios):
        raise WordlineError(
            f"{file}: has no IO_Scenario {scenario}; it has {len(scenarios)}: choose with "
            "--scenario, counted from 1"
        )
    if len(scenarios) > 1:
        notes.append(f"{file}: IO_Scenario {scenario} of {len(scenarios)}; --scenario chooses")
    known = ("IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based")
    flows: list[_Set] = []
    for number, element in enumerate(scenarios[scenario - 1], 1):
        if element.tag not in known:
            raise WordlineError(f"{file}: {element.tag} is no flow; give {' or '.join(known)}")
        flow = _values(file, element)
        flow.name = f"flow {number}"
        if element.tag == known[1] and not flow.values.get("File_Path", "").strip():
            raise WordlineError(f"{file}: flow {number}: File_Path is missing; name its trace")
        if element.tag == known[0]:
            flow.values.pop("File_Path", None)
        flows.append(flow)
    if not flows:
        raise WordlineError(f"{file}: IO_Scenario {scenario} has no flow; give it one")
    return flows


Tables = dict[str, dict[str, Any]]


def _device(ssd: _Set, flash: _Set, host: _Set, flows: list[_Set], notes: list[str]) -> Tables:
    """The tables of the device by name."""
    tables: Tables = {
        "nand": {"endurance_cycles": flash.whole("Block_PE_Cycles_Limit", 10_000, 1)},
        "nand.geometry": {
            "dies_per_package": flash.whole("Die_No_Per_Chip", 2, 1),
            "planes_per_die": flash.whole("Plane_No_Per_Die", 2, 1),
            "blocks_per_plane": flash.whole("Block_No_Per_Plane", 2048, 1),
            "pages_per_block": flash.whole("Page_No_Per_Block", 256, 1),
            "page_bytes": flash.whole("Page_Capacity", 8192, 1),
            "spare_bytes": flash.whole("Page_Metadat_Capacity", 1872),
        },
        "ssd": {
            "channels": ssd.whole("Flash_Channel_Count", 8, 1),
            "ways": ssd.whole("Chip_No_Per_Channel", 4, 1),
            "composition": "greedy",
        },
        "host": _host(ssd, host, notes),
    }
    _cells(tables, flash, notes)
    _bus(tables, ssd)
    _suspension(tables, ssd, flash, notes)
    _scheduler(tables, ssd, notes)
    _translation(tables, ssd, notes)
    _collection(tables, ssd, notes)
    _cache(tables, ssd, flows, notes)
    tables["precondition"] = {"fill_ratio": _filled(ssd, flows, notes)}
    return tables


def _filled(ssd: _Set, flows: list[_Set], notes: list[str]) -> float:
    """The share of the device that is written before the run."""
    shares = [flow.whole("Initial_Occupancy_Percentage", 50) for flow in flows]
    if not ssd.flag("Enabled_Preconditioning", default=True):
        return 0.0
    filled = min(max(shares, default=100), 100)
    notes.append(
        f"Enabled_Preconditioning: {filled} % of the device are written in order, from its "
        "beginning; MQSim brings it to a steady state (precondition.settle)"
    )
    return filled / 100


def _cells(tables: Tables, flash: _Set, notes: list[str]) -> None:
    kinds = flash.word("Flash_Technology", "MLC", "SLC MLC TLC")
    reads = [flash.whole(f"Page_Read_Latency_{bit}", 75_000, 1) for bit in ("LSB", "CSB", "MSB")]
    programs = [
        flash.whole(f"Page_Program_Latency_{bit}", 750_000, 1) for bit in ("LSB", "CSB", "MSB")
    ]
    # Two bits a cell have no CSB; MQSim takes even pages as LSB, odd ones as MSB.
    pages = {"SLC": [0], "MLC": [0, 2], "TLC": [0, 1, 2]}[kinds]
    cell = {"SLC": "slc", "MLC": {"mlc-beta": {"lambda": 2}}, "TLC": "tlc"}[kinds]
    tables["nand"]["cell"] = cell
    if kinds == "TLC":
        notes.append("Flash_Technology TLC: page types follow one another in another order")
    tables["nand.timing"] = {
        "read_ns": _one([reads[page] for page in pages]),
        "program_ns": _one([programs[page] for page in pages]),
        "erase_ns": flash.whole("Block_Erase_Latency", 3_800_000, 1),
    }


def _one(times: list[int]) -> int | list[int]:
    return times[0] if len(times) == 1 else times


def _bus(tables: Tables, ssd: _Set) -> None:
    ssd.word("Flash_Comm_Protocol", "NVDDR2", "NVDDR2")
    width = ssd.whole("Flash_Channel_Width", 1, 1)
    if width > 2:
        ssd.fault("Flash_Channel_Width", f"a bus of {width} bytes is not modelled; give 1 or 2")
    tables["nand.timing"] |= {
        "bus_width_bits": 8 * width,
        "bus_mt_per_s": ssd.number("Channel_Transfer_Rate", 300, 1),
    }


def _suspension(tables: Tables, ssd: _Set, flash: _Set, notes: list[str]) -> None:
    support = flash.word("CMD_Suspension_Support", "ERASE", "NONE ERASE PROGRAM PROGRAM_ERASE")
    tables["nand.suspend"] = {
        "program": "PROGRAM" in support,
        "erase": "ERASE" in support,
        "program_suspend_ns": flash.whole("Suspend_Program_Time", 100_000),
        "erase_suspend_ns": flash.whole("Suspend_Erase_Time", 700_000),
    }
    notes.extend(
        f"Preferred_suspend_{key} is not modelled; an operation is suspended for every read that "
        "waits (nand.suspend)"
        for key in ("erase_time_for_read", "erase_time_for_write", "write_time_for_read")
        if ssd.text(f"Preferred_suspend_{key}", "") and support != "NONE"
    )


def _scheduler(tables: Tables, ssd: _Set, notes: list[str]) -> None:
    known = "OUT_OF_ORDER PRIORITY_OUT_OF_ORDER FLIN"
    policy = ssd.word("Transaction_Scheduling_Policy", "OUT_OF_ORDER", known)
    tables["ssd"]["scheduler"] = {"read-first": {"age_bound_us": 0.0}}
    if policy != "OUT_OF_ORDER":
        notes.append(
            f"Transaction_Scheduling_Policy {policy}: dies serve reads first, as with "
            "OUT_OF_ORDER; classes count when commands are fetched"
        )


def _host(ssd: _Set, host: _Set, notes: list[str]) -> dict[str, Any]:
    kind = ssd.word("HostInterface_Type", "NVME", "NVME SATA")
    depth = ssd.whole("IO_Queue_Depth", 1024, 1)
    fetched = ssd.whole("Queue_Fetch_Size", 512, 1)
    bandwidth = host.number("PCIe_Lane_Bandwidth", 0.4)
    lanes = host.whole("PCIe_Lane_Count", 4, 1)
    if kind == "SATA":
        host.text("SATA_Processing_Delay", "")
        notes.append(
            "SATA_Processing_Delay is not modelled; the link is SATA of 6 Gbit/s "
            "(host.interface.sata)"
        )
        return {"queue_depth": min(depth, 32), "interface": "sata"}
    generation = min(LANE_GB_PER_S, key=lambda one: abs(LANE_GB_PER_S[one] - bandwidth))
    notes.append(
        f"PCIe_Lane_Bandwidth {bandwidth:g} GB/s: the nearest generation of PCI Express is "
        f"{generation}, of {LANE_GB_PER_S[generation]:g} GB/s a lane"
    )
    priority = ssd.text("Transaction_Scheduling_Policy", "OUT_OF_ORDER").upper() != "OUT_OF_ORDER"
    return {
        "queue_depth": fetched,
        "interface": {
            "nvme": {
                "generation": generation,
                "lanes": min(lanes, 16),
                "queue_entries": min(max(depth, 2), 65_536),
                "arbitration": "weighted-round-robin" if priority else "round-robin",
            }
        },
    }


def _translation(tables: Tables, ssd: _Set, notes: list[str]) -> None:
    if ssd.word("Address_Mapping", "PAGE_LEVEL", "PAGE_LEVEL HYBRID") == "HYBRID":
        ssd.fault("Address_Mapping", "HYBRID has no counterpart here; give PAGE_LEVEL")
    ideal = ssd.flag("Ideal_Mapping_Table", default=False)
    cached = ssd.whole("CMT_Capacity", 2 << 20, 1)
    if ssd.text("CMT_Sharing_Mode", "SHARED").upper() != "SHARED":
        notes.append("CMT_Sharing_Mode: all flows share the cached map")
    scheme = ssd.text("Plane_Allocation_Scheme", "CWDP").upper()
    if sorted(scheme) != sorted("CWDP"):
        ssd.fault("Plane_Allocation_Scheme", f"`{scheme}` is no order of C, W, D, P; give CWDP")
    leveled = ssd.flag("Static_Wearleveling_Enabled", default=True)
    threshold = ssd.whole("Static_Wearleveling_Threshold", 100)
    dynamic = ssd.flag("Dynamic_Wearleveling_Enabled", default=True)
    wear: Any = "dynamic" if dynamic else "none"
    if leveled:
        wear = {"static": {"threshold_erases": min(threshold, 1_000_000)}}
    ratio = ssd.number("Overprovisioning_Ratio", 0.07)
    tables["ftl"] = {
        "over_provisioning_ratio": ratio,
        "mapping": "page" if ideal else {"dftl": {"cache_bytes": cached}},
        "allocate": {"static": {"order": scheme}},
        "wear": wear,
    }


def _collection(tables: Tables, ssd: _Set, notes: list[str]) -> None:
    known = "GREEDY RGA RANDOM RANDOM_P RANDOM_PP FIFO"
    policy = ssd.word("GC_Block_Selection_Policy", "RGA", known)
    victim: Any = {"GREEDY": "greedy", "FIFO": "fifo"}.get(policy, "random")
    if policy == "RGA":
        # MQSim draws as many blocks as the logarithm of those of a plane.
        drawn = tables["nand.geometry"]["blocks_per_plane"].bit_length() - 1
        victim = {"d-choices": {"d": max(1, drawn)}}
    if policy in ("RANDOM_P", "RANDOM_PP"):
        notes.append(f"GC_Block_Selection_Policy {policy}: a block is chosen as with RANDOM")
    moved = ssd.flag("Use_Copyback_for_GC", default=False)
    tables["nand"]["internal_data_move"] = moved
    hard = ssd.number("GC_Hard_Threshold", 0.005)
    if ssd.flag("Preemptible_GC_Enabled", default=True):
        notes.append("Preemptible_GC_Enabled: a collection that has begun is not put off")
    tables["ftl.gc"] = {
        "victim": victim,
        "start_free_ratio": ssd.number("GC_Exec_Threshold", 0.05),
        "hard_free_ratio": hard,
        "internal_data_move": moved,
    }


def _cache(tables: Tables, ssd: _Set, flows: list[_Set], notes: list[str]) -> None:
    capacity = ssd.whole("Data_Cache_Capacity", 512 << 20)
    rate = ssd.number("Data_Cache_DRAM_Data_Rate", 800, 1)
    burst = ssd.whole("Data_Cache_DRAM_Data_Busrt_Size", 4, 1)
    burst = ssd.whole("Data_Cache_DRAM_Data_Burst_Size", burst, 1)
    access = sum(ssd.whole(f"Data_Cache_DRAM_{name}", 13) for name in ("tRCD", "tCL", "tRP"))
    known = "WRITE_CACHE READ_CACHE WRITE_READ_CACHE TURNED_OFF"
    default = "WRITE_CACHE"
    modes = {flow.word("Device_Level_Data_Caching_Mode", default, known) for flow in flows}
    modes = modes or {default}
    if modes == {"TURNED_OFF"}:
        tables["buffer"] = {"capacity_kib": 0}
        return
    tables["buffer"] = {
        "capacity_kib": capacity >> 10,
        "access_ns": access,
        "mb_per_s": rate * burst,
        "write_through": modes == {"READ_CACHE"},
    }
    if modes != {"WRITE_READ_CACHE"}:
        notes.append(
            f"Device_Level_Data_Caching_Mode {', '.join(sorted(modes))}: the buffer is one for all "
            "flows and holds what is read, too"
        )
    ssd.text("Caching_Mechanism", "")
    notes.append("Caching_Mechanism: the buffer is managed by buffer.replacement (lru)")


def _streams(flows: list[_Set], capacity: int, notes: list[str]) -> str:
    """The flows as streams; each has an equal part of the addresses."""
    text, traces = "", ""
    part = capacity // len(flows) // SECTOR * SECTOR
    if len(flows) > 1:
        notes.append("each flow has an equal part of the addresses, whatever its Channel_IDs are")
    for number, flow in enumerate(flows):
        name = f"flow-{number + 1}"
        stream: dict[str, Any] = {"name": name}
        priority = flow.word("Priority_Class", "HIGH", "URGENT HIGH MEDIUM LOW")
        stream["class"] = priority.lower()
        text += f"\n[[streams]]\n{_lines(stream)}"
        if "File_Path" in flow.values:
            traces += _trace(flow, name, notes)
            continue
        load = _workload(flow, notes)
        load["working_set_ratio"] = min(1.0, load["working_set_ratio"] * part / capacity)
        load["offset_bytes"] = number * part
        text += f"\n[streams.workload]\n{_lines(load)}"
    return text + traces


def _trace(flow: _Set, name: str, notes: list[str]) -> str:
    unit = flow.word("Time_Unit", "NANOSECOND", " ".join(TRACES))
    for key in ("Percentage_To_Be_Executed", "Relay_Count"):
        usual = 100 if key[0] == "P" else 1
        if flow.whole(key, usual) != usual:
            notes.append(f"{flow.name}: {key} is not followed; the trace is played once, whole")
    file = flow.text("File_Path", "")
    return f"\n# wordline run THIS.toml --stream {name}={file} {TRACES[unit]}\n"


def _workload(flow: _Set, notes: list[str]) -> dict[str, Any]:
    read = flow.whole("Read_Percentage", 100)
    average = flow.whole("Average_Request_Size", 8, 1)
    spread = flow.number("Variance_Request_Size", 0)
    normal = flow.word("Request_Size_Distribution", "FIXED", "FIXED NORMAL") == "NORMAL"
    aligned = flow.flag("Generated_Aligned_Addresses", default=True)
    unit = flow.whole("Address_Alignment_Unit", 16, 1)
    kind = flow.word("Synthetic_Generator_Type", "QUEUE_DEPTH", "BANDWIDTH QUEUE_DEPTH")
    depth = flow.whole("Average_No_of_Reqs_in_Queue", 2, 1)
    bandwidth = flow.number("Bandwidth", 262_144, 1)
    stop, total = flow.whole("Stop_Time", 0), flow.whole("Total_Requests_To_Generate", 0)
    iops = bandwidth / SECTOR / average
    requests = total
    if stop:
        if kind == "BANDWIDTH":
            requests = max(1, int(iops * stop / 1e9))
        else:
            requests = total or REQUESTS
            notes.append(
                f"{flow.name}: Stop_Time is not followed: a load ends with its requests, "
                f"{requests:,} here (streams.workload.requests)"
            )
    return {
        "requests": requests or REQUESTS,
        "read_ratio": min(read, 100) / 100,
        "request_bytes": _sizes(average, spread) if normal and spread else average * SECTOR,
        "align_bytes": unit * SECTOR if aligned else SECTOR,
        "pattern": _pattern(flow),
        "working_set_ratio": min(flow.whole("Working_Set_Percentage", 85, 1), 100) / 100,
        "arrival": {"poisson": {"iops": iops}}
        if kind == "BANDWIDTH"
        else {"closed-loop": {"queue_depth": depth}},
    }


def _pattern(flow: _Set) -> Any:
    known = "STREAMING RANDOM_UNIFORM RANDOM_HOTCOLD MIXED_STREAMING_RANDOM"
    places = flow.word("Address_Distribution", "RANDOM_UNIFORM", known)
    hot = flow.whole("Percentage_of_Hot_Region", 0)
    if places == "RANDOM_HOTCOLD":
        if not 0 < hot < 100:
            flow.fault("Percentage_of_Hot_Region", f"{hot} is not between 0 and 100; give 1 to 99")
        # MQSim sends 100 - hot per cent of the requests to the hot region.
        return {"hot-cold": {"hot_space_ratio": hot / 100, "hot_access_ratio": 1 - hot / 100}}
    if places == "MIXED_STREAMING_RANDOM":
        return {"mixed": {"random_ratio": 0.5}}
    return {"STREAMING": "sequential", "RANDOM_UNIFORM": "uniform"}[places]


def _sizes(average: int, spread: float) -> list[dict[str, Any]]:
    """Sizes of a normal distribution, rounded up to sectors, at least one; MQSim takes the
    variance that is given for the standard deviation."""
    law = NormalDist(average, spread)
    low, high = max(1, int(average - 3 * spread)), int(average + 3 * spread) + 1
    step = max(1, -(-(high - low + 1) // MOST_SIZES))
    sizes: list[dict[str, Any]] = []
    below = 0.0
    for sectors in range(low, high + step, step):
        share = law.cdf(sectors) - below
        below += share
        if share > 0:
            sizes.append({"bytes": sectors * SECTOR, "weight": round(share, 9) or 1e-9})
    return sizes


def _toml(tables: Tables) -> str:
    order: Callable[[str], tuple[bool, str]] = lambda name: (name != "", name)  # noqa: E731
    text = ""
    for name in sorted(tables, key=order):
        head = f"\n[{name}]\n" if name else ""
        text += head + _lines(tables[name])
    return text


def _lines(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {toml_value(value, key)}\n" for key, value in table.items())
