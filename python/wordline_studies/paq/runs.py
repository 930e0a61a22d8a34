"""Cases of a load under a scheduler, and measures of their results."""

from collections.abc import Mapping
from pathlib import Path

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case
from wordline_studies.measures import or_nan
from wordline_studies.paq.loads import GAP_NS, PAGE
from wordline_studies.paq.schedulers import A, Reading

DEVICE = "jung2013-paq"
QUEUE = 32
# Fewer blocks than in the preset, which are filled in less time. There are enough spare blocks that
# GC does not run, even for msnfs4 on four channels.
SMALLER: dict[str, Value] = {
    "nand.geometry.blocks_per_plane": 128,
    "ftl.over_provisioning_ratio": 0.4,
}


def closed(
    load: str,
    trace: Path,
    scheduler: str,
    *,
    reading: Reading = A,
    outstanding: int = QUEUE,
    requests: int | None = None,
    more: Mapping[str, Value] | None = None,
) -> Case:
    """Returns the case of a load in a closed loop with `outstanding` requests. `more` is added to
    the scheduler's settings."""
    settings: dict[str, Value] = SMALLER | reading.settings(scheduler) | dict(more or {})
    settings["replay.mode.closed-loop.queue_depth"] = outstanding
    told = [f"{key} = {value}" for key, value in (more or {}).items()]
    label = ", ".join([load, f"QD {outstanding}", scheduler, f"reading {reading.name}", *told])
    return Case(DEVICE, label, settings, trace, requests)


def timed(load: str, trace: Path, scheduler: str, rate: float) -> Case:
    """Returns the case of a generated load in an open loop, at a rate in requests per second."""
    settings = SMALLER | A.settings(scheduler)
    settings["replay.mode.open-loop.time_scale"] = round(1e9 / GAP_NS / rate, 6)
    return Case(DEVICE, f"{load}, open loop, {scheduler}", settings, trace)


def mb_per_s(summary: Summary) -> float:
    """Returns the bandwidth of reads and writes. MB/s."""
    told = summary["throughput"]
    return told["read_mb_per_s"] + told["write_mb_per_s"]


def idle_s(summary: Summary) -> float:
    """Returns the time in which a die holds no transaction, averaged over the dies. Seconds."""
    return summary["execution"]["idle"] * _duration_s(summary)


def unserved_s(summary: Summary) -> float:
    """Returns the time in which a die holds no transaction or one that waits for the bus, averaged
    over the dies. Seconds."""
    return idle_s(summary) + bus_s(summary)


def bus_s(summary: Summary) -> float:
    """Returns the time for which a die waits for the bus, averaged over the dies. Seconds."""
    return summary["execution"]["bus_contention"] * _duration_s(summary)


def waits_us(summary: Summary) -> float:
    """Returns the mean time for which requests wait in the queue and for their die.
    Microseconds."""
    told = summary["breakdown"]["all"]
    return told["queue_us"] + told["die_wait_us"]


def read_us(summary: Summary) -> float:
    """Returns the mean response time of reads; NaN without reads. Microseconds."""
    return or_nan(summary["latency"]["read"]["mean_us"])


def write_us(summary: Summary) -> float:
    """Returns the mean response time of writes; NaN without writes. Microseconds."""
    return or_nan(summary["latency"]["write"]["mean_us"])


def request_pages(summary: Summary) -> float:
    """Returns the mean size of a request. Pages."""
    told = summary["input"]
    return (told["read_bytes"] + told["written_bytes"]) / PAGE / told["requests"]


def multi_plane(summary: Summary) -> int:
    """Returns the number of flash commands on both planes of a die."""
    told = summary["commands"]
    return told["planes_shared"] + told["dies_interleaved_planes_shared"]


def pages_per_command(summary: Summary) -> float:
    """Returns the mean number of pages of a flash command; NaN without commands."""
    return or_nan(summary["commands"]["pages_per_command"])


def host_queue_us(summary: Summary) -> float:
    """Returns the mean time for which requests wait for a slot of the device's queue.
    Microseconds."""
    return summary["breakdown"]["all"]["host_queue_us"]


def _duration_s(summary: Summary) -> float:
    told = summary["time"]
    return told["simulated_s"] - told["measured_from_s"]
