"""Import of MQSim devices and workloads."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import wordline
from wordline._importers import mqsim
from wordline._importers.mqsim.streams import TRACES
from wordline._wordline import WordlineError
from wordline.cli import main

# The parameters in MQSim's README, with the defaults of its source, on a small device: 2 channels,
# 1 chip, 64 blocks.
DEVICE = {
    "Seed": 123,
    "Enabled_Preconditioning": "true",
    "Memory_Type": "FLASH",
    "HostInterface_Type": "NVME",
    "IO_Queue_Depth": 1024,
    "Queue_Fetch_Size": 512,
    "Caching_Mechanism": "ADVANCED",
    "Data_Cache_Sharing_Mode": "SHARED",
    "Data_Cache_Capacity": 1048576,
    "Data_Cache_DRAM_Row_Size": 8192,
    "Data_Cache_DRAM_Data_Rate": 800,
    "Data_Cache_DRAM_Data_Busrt_Size": 4,
    "Data_Cache_DRAM_tRCD": 13,
    "Data_Cache_DRAM_tCL": 13,
    "Data_Cache_DRAM_tRP": 13,
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "false",
    "CMT_Capacity": 2097152,
    "CMT_Sharing_Mode": "SHARED",
    "Plane_Allocation_Scheme": "CWDP",
    "Transaction_Scheduling_Policy": "OUT_OF_ORDER",
    "Overprovisioning_Ratio": 0.2,
    "GC_Exec_Threshold": 0.05,
    "GC_Block_Selection_Policy": "RGA",
    "Use_Copyback_for_GC": "false",
    "Preemptible_GC_Enabled": "true",
    "GC_Hard_Threshold": 0.005,
    "Dynamic_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Threshold": 100,
    "Preferred_suspend_erase_time_for_read": 700000,
    "Preferred_suspend_erase_time_for_write": 700000,
    "Preferred_suspend_write_time_for_read": 100000,
    "Flash_Channel_Count": 2,
    "Flash_Channel_Width": 1,
    "Channel_Transfer_Rate": 300,
    "Chip_No_Per_Channel": 1,
    "Flash_Comm_Protocol": "NVDDR2",
}
FLASH = {
    "Flash_Technology": "MLC",
    "CMD_Suspension_Support": "ERASE",
    "Page_Read_Latency_LSB": 75000,
    "Page_Read_Latency_CSB": 76000,
    "Page_Read_Latency_MSB": 77000,
    "Page_Program_Latency_LSB": 750000,
    "Page_Program_Latency_CSB": 760000,
    "Page_Program_Latency_MSB": 770000,
    "Block_Erase_Latency": 3800000,
    "Block_PE_Cycles_Limit": 10000,
    "Suspend_Erase_Time": 700000,
    "Suspend_Program_Time": 100000,
    "Die_No_Per_Chip": 2,
    "Plane_No_Per_Die": 2,
    "Block_No_Per_Plane": 64,
    "Page_No_Per_Block": 256,
    "Page_Capacity": 8192,
    "Page_Metadat_Capacity": 1872,
}
HOST = {"PCIe_Lane_Bandwidth": 1.0, "PCIe_Lane_Count": 4, "SATA_Processing_Delay": 400000}
FLOW = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1",
    "Initial_Occupancy_Percentage": 70,
    "Working_Set_Percentage": 50,
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": 75,
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": 20,
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": 16,
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": 8,
    "Variance_Request_Size": 0,
    "Seed": 798,
    "Average_No_of_Reqs_in_Queue": 4,
    "Bandwidth": 40960000,
    "Stop_Time": 0,
    "Total_Requests_To_Generate": 500,
}
TRACE = {
    "Priority_Class": "LOW",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Initial_Occupancy_Percentage": 50,
    "File_Path": "disk.trace",
    "Percentage_To_Be_Executed": 100,
    "Relay_Count": 1,
    "Time_Unit": "NANOSECOND",
}


def xml(tag: str, values: dict[str, Any], inner: str = "") -> str:
    fields = "".join(f"<{key}>{value}</{key}>\n" for key, value in values.items())
    return f"<{tag}>{fields}{inner}</{tag}>\n"


def device(
    place: Path, ssd: dict[str, Any] | None = None, flash: dict[str, Any] | None = None
) -> Path:
    inner = xml("Flash_Parameter_Set", FLASH | (flash or {}))
    parts = xml("Host_Parameter_Set", HOST) + xml(
        "Device_Parameter_Set", DEVICE | (ssd or {}), inner
    )
    head = '<?xml version="1.0" encoding="us-ascii"?>\n'
    file = place / "ssdconfig.xml"
    file.write_text(head + xml("Execution_Parameter_Set", {}, parts))
    return file


def workload(place: Path, *flows: dict[str, Any]) -> Path:
    def one(values: dict[str, Any]) -> str:
        kind = "Trace_Based" if "File_Path" in values else "Synthetic"
        return xml(f"IO_Flow_Parameter_Set_{kind}", values)

    file = place / "workload.xml"
    scenario = xml("IO_Scenario", {}, "".join(map(one, flows)))
    file.write_text(xml("MQSim_IO_Scenarios", {}, scenario))
    return file


def test_a_device_becomes_a_configuration(tmp_path: Path) -> None:
    made = mqsim.imported(device(tmp_path))
    config = tomllib.loads(made.toml)
    assert config["nand"]["geometry"] == {
        "dies_per_package": 2,
        "planes_per_die": 2,
        "blocks_per_plane": 64,
        "pages_per_block": 256,
        "page_bytes": 8192,
        "spare_bytes": 1872,
    }
    assert config["nand"]["timing"] == {
        "read_ns": [75000, 77000],
        "program_ns": [750000, 770000],
        "erase_ns": 3800000,
        "bus_width_bits": 8,
        "bus_mt_per_s": 300.0,
    }
    assert config["nand"]["suspend"]["erase"] is True
    assert config["nand"]["suspend"]["program"] is False
    assert (config["ssd"]["channels"], config["ssd"]["ways"]) == (2, 1)
    assert config["host"]["interface"]["nvme"]["generation"] == 3
    # 800 MT/s of 4 bytes; 13 + 13 + 13 ns
    assert (config["buffer"]["mb_per_s"], config["buffer"]["access_ns"]) == (3200.0, 39)
    assert config["ftl"]["mapping"] == {"dftl": {"cache_bytes": 2097152}}
    # The number of choices d is the base-2 logarithm of 64 blocks.
    assert config["ftl"]["gc"]["victim"] == {"d-choices": {"d": 6}}
    wordline.config.check(config)
    assert made.toml.startswith("".join(f"# {note}\n" for note in made.notes))


def test_notes_name_the_parameters_that_are_not_converted(tmp_path: Path) -> None:
    made = mqsim.imported(device(tmp_path, {"New_Knob": 3}), workload(tmp_path, FLOW))
    told = "\n".join(made.notes)
    for name in ("New_Knob", "Data_Cache_DRAM_Row_Size", "Preemptible_GC", "Seed", "Channel_IDs"):
        assert name in told
    for name in ("Page_Capacity", "Read_Percentage", "Flash_Channel_Count", "_Capacity "):
        assert name not in told


def test_flows_become_streams_that_run(tmp_path: Path) -> None:
    hot = FLOW | {
        "Address_Distribution": "RANDOM_HOTCOLD",
        "Synthetic_Generator_Type": "BANDWIDTH",
        "Stop_Time": 100_000_000,
        "Request_Size_Distribution": "NORMAL",
        "Variance_Request_Size": 2,
        "Priority_Class": "LOW",
    }
    made = mqsim.imported(device(tmp_path), workload(tmp_path, FLOW, hot))
    config: dict[str, Any] = tomllib.loads(made.toml)
    first, second = (stream["workload"] for stream in config["streams"])
    assert first["requests"] == 500
    assert first["arrival"] == {"closed-loop": {"queue_depth": 4}}
    assert (first["request_bytes"], first["align_bytes"]) == (4096, 8192)
    # 40,960,000 bytes per second in requests of 4096, for 0.1 s
    assert second["arrival"] == {"poisson": {"iops": 10_000.0}}
    assert second["requests"] == 1000
    # MQSim: 100 - hot per cent of the requests go to hot per cent of the addresses.
    assert second["pattern"] == {"hot-cold": {"hot_space_ratio": 0.2, "hot_access_ratio": 0.8}}
    weights = {one["bytes"] // 512: one["weight"] for one in second["request_bytes"]}
    mean = sum(size * weight for size, weight in weights.items()) / sum(weights.values())
    assert mean == pytest.approx(8.5, abs=0.05)  # rounded up to whole sectors
    assert [stream["class"] for stream in config["streams"]] == ["high", "low"]
    # Each flow has half of the addresses, and a working set of half of that.
    assert first["working_set_ratio"] == pytest.approx(0.25, rel=1e-4)
    assert second["offset_bytes"] > 0
    assert config["precondition"]["fill_ratio"] == 0.7
    result = wordline.run(config)
    assert result.summary["input"]["requests"] == 1500


def test_a_trace_is_listed_with_the_options_that_read_it(tmp_path: Path) -> None:
    for unit, option in (
        ("NANOSECOND", "--format mqsim"),
        ("MICROSECOND", "--format ssdsim-us"),
        ("PICOSECOND", TRACES["PICOSECOND"]),
    ):
        flow = TRACE | {"Time_Unit": unit}
        made = mqsim.imported(device(tmp_path), workload(tmp_path, flow))
        assert f"# wordline run THIS.toml --stream flow-1=disk.trace {option}\n" in made.toml
    trace = tmp_path / "disk.trace"
    trace.write_text("0 0 0 16 1\n5000000 0 64 16 0\n")
    options = TRACES["PICOSECOND"].removeprefix("--columns ")
    assert wordline.trace_stat(trace, columns=options)["duration_s"] == 5e-6
    config = tomllib.loads(made.toml)
    result = wordline.run(config, streams={"flow-1": trace}, columns=options)
    assert result.summary["input"]["requests"] == 2


@pytest.mark.parametrize(
    ("ssd", "message"),
    [
        ({"Address_Mapping": "HYBRID"}, "Address_Mapping: HYBRID is not modelled; give "),
        ({"Overprovisioning_Ratio": "much"}, "Overprovisioning_Ratio: `much` is not a number"),
        (
            {"Flash_Channel_Count": 0},
            "Flash_Channel_Count: 0 is not at least 1 and below 1e19; give a number",
        ),
        ({"GC_Block_Selection_Policy": "X"}, "GC_Block_Selection_Policy: `X` is not one of GREEDY"),
        (
            {"Plane_Allocation_Scheme": "CCCC"},
            "Plane_Allocation_Scheme: `CCCC` is not an order of C",
        ),
        ({"Flash_Channel_Width": 4}, "Flash_Channel_Width: a bus of 4 bytes is not modelled"),
    ],
)
def test_an_error_names_file_and_parameter(
    tmp_path: Path, ssd: dict[str, Any], message: str
) -> None:
    file = device(tmp_path, ssd)
    with pytest.raises(WordlineError) as told:
        mqsim.imported(file)
    assert str(told.value).startswith(f"{file}: Device_Parameter_Set: {message}")


def test_files_that_are_not_from_mqsim_are_rejected(tmp_path: Path) -> None:
    def fault(text: str) -> str:
        file = tmp_path / "x.xml"
        file.write_text(text)
        with pytest.raises(WordlineError) as told:
            mqsim.imported(file)
        return str(told.value).removeprefix(f"{file}: ")

    assert fault("no").startswith("is not XML: ")
    assert fault("<a/>") == "has no Device_Parameter_Set; name an MQSim device file"
    bomb = '<!DOCTYPE a [<!ENTITY b "b">]><a>&b;</a>'
    assert fault(bomb) == "declares a document type; remove the declaration"


def test_the_command_prints_a_valid_device(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = str(device(tmp_path)), str(workload(tmp_path, FLOW))
    command = ["config", "import-mqsim", files[0], "--workload", files[1]]
    assert main(command) == 0
    shown = capsys.readouterr()
    assert "note: Device_Parameter_Set: Data_Cache_DRAM_Row_Size is not modelled" in shown.err
    mine = tmp_path / "mine.toml"
    mine.write_text(shown.out)
    assert main(["config", "check", str(mine)]) == 0
    assert main(["run", str(mine), "--no-report", "--out", str(tmp_path / "out")]) == 0
    assert main([*command, "--scenario", "2"]) == 2
    assert (
        "has no IO_Scenario 2, because it has 1 scenario; choose one with"
        in capsys.readouterr().err
    )
