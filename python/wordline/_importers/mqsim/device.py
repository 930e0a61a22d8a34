"""Converts an MQSim device to tables of a configuration."""

from typing import Any

from wordline._importers.mqsim.parameters import Parameters
from wordline._importers.mqsim.tables import Tables

# GB/s per lane by generation of PCI Express: transfer rate times coding efficiency.
LANE_GB_PER_S = {1: 0.25, 2: 0.5, 3: 0.985, 4: 1.969, 5: 3.938}


def device_tables(
    ssd: Parameters, flash: Parameters, host: Parameters, flows: list[Parameters], notes: list[str]
) -> Tables:
    """Returns the tables of the device by name."""
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


def _filled(ssd: Parameters, flows: list[Parameters], notes: list[str]) -> float:
    """Returns the share of the device that is written before the run."""
    shares = [flow.whole("Initial_Occupancy_Percentage", 50) for flow in flows]
    if not ssd.flag("Enabled_Preconditioning", default=True):
        return 0.0
    filled = min(max(shares, default=100), 100)
    notes.append(
        f"Enabled_Preconditioning: {filled} % of the device is written sequentially from its "
        "start; MQSim preconditions to a steady state (precondition.settle)"
    )
    return filled / 100


def _cells(tables: Tables, flash: Parameters, notes: list[str]) -> None:
    kinds = flash.word("Flash_Technology", "MLC", "SLC MLC TLC")
    reads = [flash.whole(f"Page_Read_Latency_{bit}", 75_000, 1) for bit in ("LSB", "CSB", "MSB")]
    programs = [
        flash.whole(f"Page_Program_Latency_{bit}", 750_000, 1) for bit in ("LSB", "CSB", "MSB")
    ]
    # Two bits per cell have no CSB; MQSim uses even pages as LSB and odd pages as MSB.
    pages = {"SLC": [0], "MLC": [0, 2], "TLC": [0, 1, 2]}[kinds]
    cell = {"SLC": "slc", "MLC": {"mlc-beta": {"lambda": 2}}, "TLC": "tlc"}[kinds]
    tables["nand"]["cell"] = cell
    if kinds == "TLC":
        notes.append("Flash_Technology TLC: the order of page types differs from MQSim's")
    tables["nand.timing"] = {
        "read_ns": _one([reads[page] for page in pages]),
        "program_ns": _one([programs[page] for page in pages]),
        "erase_ns": flash.whole("Block_Erase_Latency", 3_800_000, 1),
    }


def _one(times: list[int]) -> int | list[int]:
    return times[0] if len(times) == 1 else times


def _bus(tables: Tables, ssd: Parameters) -> None:
    ssd.word("Flash_Comm_Protocol", "NVDDR2", "NVDDR2")
    width = ssd.whole("Flash_Channel_Width", 1, 1)
    if width > 2:
        ssd.fault("Flash_Channel_Width", f"a bus of {width} bytes is not modelled; give 1 or 2")
    tables["nand.timing"] |= {
        "bus_width_bits": 8 * width,
        "bus_mt_per_s": ssd.number("Channel_Transfer_Rate", 300, 1),
    }


def _suspension(tables: Tables, ssd: Parameters, flash: Parameters, notes: list[str]) -> None:
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


def _scheduler(tables: Tables, ssd: Parameters, notes: list[str]) -> None:
    known = "OUT_OF_ORDER PRIORITY_OUT_OF_ORDER FLIN"
    policy = ssd.word("Transaction_Scheduling_Policy", "OUT_OF_ORDER", known)
    tables["ssd"]["scheduler"] = {"read-first": {"age_bound_us": 0.0}}
    if policy != "OUT_OF_ORDER":
        notes.append(
            f"Transaction_Scheduling_Policy {policy}: dies serve reads first, as with "
            "OUT_OF_ORDER; priority classes apply when commands are fetched"
        )


def _host(ssd: Parameters, host: Parameters, notes: list[str]) -> dict[str, Any]:
    kind = ssd.word("HostInterface_Type", "NVME", "NVME SATA")
    depth = ssd.whole("IO_Queue_Depth", 1024, 1)
    fetched = ssd.whole("Queue_Fetch_Size", 512, 1)
    bandwidth = host.number("PCIe_Lane_Bandwidth", 0.4)
    lanes = host.whole("PCIe_Lane_Count", 4, 1)
    if kind == "SATA":
        host.text("SATA_Processing_Delay", "")
        notes.append(
            "SATA_Processing_Delay is not modelled; the link is SATA at 6 Gbit/s "
            "(host.interface.sata)"
        )
        return {"queue_depth": min(depth, 32), "interface": "sata"}
    generation = min(LANE_GB_PER_S, key=lambda one: abs(LANE_GB_PER_S[one] - bandwidth))
    notes.append(
        f"PCIe_Lane_Bandwidth {bandwidth:g} GB/s: the nearest generation of PCI Express is "
        f"{generation}, with {LANE_GB_PER_S[generation]:g} GB/s per lane"
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


def _translation(tables: Tables, ssd: Parameters, notes: list[str]) -> None:
    if ssd.word("Address_Mapping", "PAGE_LEVEL", "PAGE_LEVEL HYBRID") == "HYBRID":
        ssd.fault("Address_Mapping", "HYBRID is not modelled; give PAGE_LEVEL")
    ideal = ssd.flag("Ideal_Mapping_Table", default=False)
    cached = ssd.whole("CMT_Capacity", 2 << 20, 1)
    if ssd.text("CMT_Sharing_Mode", "SHARED").upper() != "SHARED":
        notes.append("CMT_Sharing_Mode: all flows share the cached map")
    scheme = ssd.text("Plane_Allocation_Scheme", "CWDP").upper()
    if sorted(scheme) != sorted("CWDP"):
        ssd.fault("Plane_Allocation_Scheme", f"`{scheme}` is not an order of C, W, D, P; give CWDP")
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


def _collection(tables: Tables, ssd: Parameters, notes: list[str]) -> None:
    known = "GREEDY RGA RANDOM RANDOM_P RANDOM_PP FIFO"
    policy = ssd.word("GC_Block_Selection_Policy", "RGA", known)
    victim: Any = {"GREEDY": "greedy", "FIFO": "fifo"}.get(policy, "random")
    if policy == "RGA":
        # MQSim draws a number of blocks equal to the logarithm of the blocks of a plane.
        drawn = tables["nand.geometry"]["blocks_per_plane"].bit_length() - 1
        victim = {"d-choices": {"d": max(1, drawn)}}
    if policy in ("RANDOM_P", "RANDOM_PP"):
        notes.append(f"GC_Block_Selection_Policy {policy}: a block is chosen as with RANDOM")
    moved = ssd.flag("Use_Copyback_for_GC", default=False)
    tables["nand"]["internal_data_move"] = moved
    hard = ssd.number("GC_Hard_Threshold", 0.005)
    if ssd.flag("Preemptible_GC_Enabled", default=True):
        notes.append("Preemptible_GC_Enabled: a GC run in progress is not preempted")
    tables["ftl.gc"] = {
        "victim": victim,
        "start_free_ratio": ssd.number("GC_Exec_Threshold", 0.05),
        "hard_free_ratio": hard,
        "internal_data_move": moved,
    }


def _cache(tables: Tables, ssd: Parameters, flows: list[Parameters], notes: list[str]) -> None:
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
            f"Device_Level_Data_Caching_Mode {', '.join(sorted(modes))}: a single buffer serves "
            "all flows, and also holds read data"
        )
    ssd.text("Caching_Mechanism", "")
    notes.append(
        "Caching_Mechanism: ignored; the buffer uses the policy in buffer.replacement (lru)"
    )
