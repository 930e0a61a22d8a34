"""Loads on schedulers."""

from collections.abc import Mapping
from pathlib import Path

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case
from wordline_studies.paq.loads import GAP_NS
from wordline_studies.paq.schedulers import A, Reading

DEVICE = "jung2013-paq"
QUEUE = 32
# Fewer blocks than the preset's are filled sooner; there are enough spare ones that nothing is
# collected, of msnfs4 on four channels either.
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
    """So many requests of a load at any time; `more` settings come on top of the scheduler's."""
    settings: dict[str, Value] = SMALLER | reading.settings(scheduler) | dict(more or {})
    settings["replay.mode.closed-loop.queue_depth"] = outstanding
    told = [f"{key} = {value}" for key, value in (more or {}).items()]
    label = ", ".join(
        [load, f"{outstanding} at a time", scheduler, f"reading {reading.name}", *told]
    )
    return Case(DEVICE, label, settings, trace, requests)


def timed(load: str, trace: Path, scheduler: str, rate: float) -> Case:
    """A generated load at a rate in requests a second, whatever becomes of those before."""
    settings = SMALLER | A.settings(scheduler)
    settings["replay.mode.open-loop.time_scale"] = round(1e9 / GAP_NS / rate, 6)
    return Case(DEVICE, f"{load}, as it arrives, {scheduler}", settings, trace)


def mb_per_s(summary: Summary) -> float:
    """Bandwidth of reads and writes, in 10^6 bytes a second."""
    told = summary["throughput"]
    return told["read_mb_per_s"] + told["write_mb_per_s"]


def idle_s(summary: Summary) -> float:
    """Time that the dies served no transaction, mean of the dies. One that waits for the bus is not
    at the die."""
    told = summary["execution"]
    return (told["idle"] + told["bus_contention"]) * _duration_s(summary)


def empty_s(summary: Summary) -> float:
    """Time that the dies held no transaction, mean of the dies."""
    return summary["execution"]["idle"] * _duration_s(summary)


def contention_us(summary: Summary) -> float:
    """Mean time that requests waited on the way to their dies: in the queue and for the die."""
    told = summary["breakdown"]["all"]
    return told["queue_us"] + told["die_wait_us"]


def bus_s(summary: Summary) -> float:
    """Time that the dies waited for the bus, mean of the dies."""
    return summary["execution"]["bus_contention"] * _duration_s(summary)


def host_queue_us(summary: Summary) -> float:
    """Mean time of waiting for a slot of the device's queue."""
    return summary["breakdown"]["all"]["host_queue_us"]


def _duration_s(summary: Summary) -> float:
    told = summary["time"]
    return told["simulated_s"] - told["measured_from_s"]
