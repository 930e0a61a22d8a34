"""Loads on schedulers."""

from collections.abc import Mapping
from pathlib import Path

from wordline.config import Value
from wordline.study.cases import Case
from wordline.study.paq.loads import GAP_NS
from wordline.study.paq.schedulers import chosen
from wordline.summary import Summary

DEVICE = "jung2013-paq"
QUEUE = 32
# Fewer blocks than the preset's are filled sooner; there are enough that nothing is collected.
# Pages are placed as they are written (section 6.3).
SMALLER: dict[str, Value] = {
    "nand.geometry.blocks_per_plane": 128,
    "ftl.allocate.dynamic.order": "CWDP",
}


def closed(
    load: str,
    trace: Path,
    scheduler: str,
    *,
    outstanding: int = QUEUE,
    requests: int | None = None,
    more: Mapping[str, Value] | None = None,
) -> Case:
    """So many requests of a load at any time; `more` settings replace those of the scheduler."""
    settings: dict[str, Value] = SMALLER | dict(more or chosen(scheduler))
    settings["replay.mode.closed-loop.queue_depth"] = outstanding
    told = [f"{key} = {value}" for key, value in (more or {}).items()] or [scheduler]
    label = ", ".join([load, f"{outstanding} at a time", *told])
    return Case(DEVICE, label, settings, trace, requests)


def timed(load: str, trace: Path, scheduler: str, rate: float) -> Case:
    """A generated load at a rate in requests a second, whatever becomes of those before."""
    settings = SMALLER | chosen(scheduler)
    settings["replay.mode.open-loop.time_scale"] = round(1e9 / GAP_NS / rate, 6)
    return Case(DEVICE, f"{load}, as it arrives, {scheduler}", settings, trace)


def mb_per_s(summary: Summary) -> float:
    """Bandwidth of reads and writes, in 10^6 bytes a second."""
    told = summary["throughput"]
    return told["read_mb_per_s"] + told["write_mb_per_s"]


def idle_s(summary: Summary) -> float:
    """Time that the dies did nothing, mean of the dies."""
    return summary["execution"]["idle"] * _duration_s(summary)


def contention_s(summary: Summary) -> float:
    """Time that the dies waited for the bus, mean of the dies."""
    return summary["execution"]["bus_contention"] * _duration_s(summary)


def host_queue_us(summary: Summary) -> float:
    """Mean time of waiting for a slot of the device's queue."""
    return summary["breakdown"]["all"]["host_queue_us"]


def _duration_s(summary: Summary) -> float:
    told = summary["time"]
    return told["simulated_s"] - told["first_arrival_s"]
