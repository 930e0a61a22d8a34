"""Converts MQSim flows to streams."""

from statistics import NormalDist
from typing import Any

from wordline._importers.mqsim.parameters import Parameters
from wordline._importers.mqsim.tables import lines

SECTOR = 512
REQUESTS = 100_000
MOST_SIZES = 33
# Options that read an MQSim trace, by its unit of time.
TRACES = {
    "PICOSECOND": "--columns time=1:ps,volume=2,offset=3:sectors,bytes=4:sectors,op=5:1=read,"
    "delimiter=space",
    "NANOSECOND": "--format mqsim",
    "MICROSECOND": "--format ssdsim-us",
}


def toml_streams(flows: list[Parameters], capacity: int, notes: list[str]) -> str:
    """Returns the flows as streams. Each flow has an equal part of the addresses."""
    text, traces = "", ""
    part = capacity // len(flows) // SECTOR * SECTOR
    if len(flows) > 1:
        notes.append("each flow has an equal part of the addresses, regardless of its Channel_IDs")
    for number, flow in enumerate(flows):
        name = f"flow-{number + 1}"
        stream: dict[str, Any] = {"name": name}
        priority = flow.word("Priority_Class", "HIGH", "URGENT HIGH MEDIUM LOW")
        stream["class"] = priority.lower()
        text += f"\n[[streams]]\n{lines(stream)}"
        if "File_Path" in flow.values:
            traces += _trace(flow, name, notes)
            continue
        load = _workload(flow, notes)
        load["working_set_ratio"] = min(1.0, load["working_set_ratio"] * part / capacity)
        load["offset_bytes"] = number * part
        text += f"\n[streams.workload]\n{lines(load)}"
    return text + traces


def _trace(flow: Parameters, name: str, notes: list[str]) -> str:
    unit = flow.word("Time_Unit", "NANOSECOND", " ".join(TRACES))
    for key in ("Percentage_To_Be_Executed", "Relay_Count"):
        usual = 100 if key[0] == "P" else 1
        if flow.whole(key, usual) != usual:
            notes.append(f"{flow.name}: {key} is ignored; the trace is replayed once, completely")
    file = flow.text("File_Path", "")
    return f"\n# wordline run THIS.toml --stream {name}={file} {TRACES[unit]}\n"


def _workload(flow: Parameters, notes: list[str]) -> dict[str, Any]:
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
                f"{flow.name}: Stop_Time is ignored: a load ends with its requests, "
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


def _pattern(flow: Parameters) -> Any:
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
    """Returns the sizes of a normal distribution, rounded up to sectors, at least one sector. MQSim
    uses the given variance as the standard deviation."""
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
