"""Cases of a load under a scheduler, and measures of their results."""

from collections.abc import Mapping
from pathlib import Path

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case
from wordline_studies.paq.loads import GAP_NS
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
    """Returns the time in which a die serves no transaction, averaged over the dies. Seconds.

    A transaction that waits for the bus is not being served.
    """
    told = summary["execution"]
    return (told["idle"] + told["bus_contention"]) * _duration_s(summary)


def empty_s(summary: Summary) -> float:
    """Returns the time in which a die holds no transaction, averaged over the dies. Seconds."""
    return summary["execution"]["idle"] * _duration_s(summary)


def contention_us(summary: Summary) -> float:
    """Returns the mean time for which requests wait in the queue and for their die.
    Microseconds."""
    told = summary["breakdown"]["all"]
    return told["queue_us"] + told["die_wait_us"]


def bus_s(summary: Summary) -> float:
    """Returns the time for which a die waits for the bus, averaged over the dies. Seconds."""
    return summary["execution"]["bus_contention"] * _duration_s(summary)


def host_queue_us(summary: Summary) -> float:
    """Returns the mean time for which requests wait for a slot of the device's queue.
    Microseconds."""
    return summary["breakdown"]["all"]["host_queue_us"]


def _duration_s(summary: Summary) -> float:
    told = summary["time"]
    return told["simulated_s"] - told["measured_from_s"]
