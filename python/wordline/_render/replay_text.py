"""Describes how requests were issued: open or closed loop or think times, time scale, and durations
of trace and simulation."""

from collections.abc import Mapping
from typing import Any

from wordline._render.units import duration, figures


def replayed(summary: Mapping[str, Any]) -> str:
    """Returns the description of a run without a full stop."""
    streams = summary["streams"]
    simulated = f"{_seconds(summary['time']['simulated_s'])} simulated"
    if len(streams) > 1:
        each = "; ".join(f"{one['name']} {_loop(one['input'])}" for one in streams)
        return f"{each}; {simulated}"
    load = streams[0]["input"] if streams else summary["input"]
    recorded = None if load["kind"] == "live" else load["recorded_s"]
    told = f"{_seconds(recorded)} recorded, " if recorded is not None else ""
    return f"{_loop(load)}; {told}{simulated}"


def load_without_trace(summary: Mapping[str, Any]) -> str:
    """Names the load of a run that replays no trace."""
    return "live load" if summary["input"]["kind"] == "live" else "generated load"


def _loop(load: Mapping[str, Any]) -> str:
    if load["kind"] == "live":
        return "requests of clients"
    recorded = load["kind"] == "trace"
    if load["replay"] == "closed-loop":
        depth = f"closed loop, queue depth {load['queue_depth']}"
        if not recorded:
            return depth
        known = load["recorded_s"] is not None
        return f"{depth}, {'time stamps ignored' if known else 'no usable time stamps'}"
    if load["replay"] == "think-time":
        return "one request at a time, with the recorded think times"
    if not recorded:
        return "open loop, generated arrivals"
    if load["time_scale"] == 1:
        return "open loop, at the trace's time stamps"
    return f"open loop, at the trace's time stamps x {figures(load['time_scale'])}"


def _seconds(seconds: float) -> str:
    return duration(seconds * 1e6)
