"""FSSD and BSSD behind their host sides, with one or more workers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from wordline import WordlineError
from wordline.config import Value
from wordline_studies.cases import Case, required
from wordline_studies.figure import Setup
from wordline_studies.measures import or_nan

if TYPE_CHECKING:
    from wordline.summary import HostSide, Summary

DRIVES = ("fssd", "bssd")
WORKERS = (1, 2, 4, 8)
QUEUE = 128
REQUESTS = 24_000
WHOLE_BLOCKS, BLOCKS = 2048, 128
SCALE = WHOLE_BLOCKS // BLOCKS
SECTOR = 512
FREE, LOCKED = 0.38, 0.45
"""Fitted shares of a request's time that a thread of FSSD's host spends outside the lock and under
it. The drive takes the rest."""
BRIDGED = 0.775
"""Fitted share of a request's time that the bridge of BSSD takes."""
WORKER_NS = 100
"""CPU time of a worker before the bridge, in nanoseconds. Chosen after seeing results. Work before
the bridge overlaps, so BSSD would gain from more workers if this time were longer; as published, it
does not."""
LOOKUP_NS, UPDATE_NS = 200, 400
"""Assumed times of a look-up and an update of the map, in nanoseconds. They are part of the time
under the lock."""


def host_side(
    drive: str, device_ns: float, mapping: str = "flat-table", *, queued: bool = False
) -> dict[str, Value]:
    """Returns the host side of a drive whose requests take `device_ns` without it. `mapping`
    applies to FSSD only, `queued` to BSSD only."""
    if drive == "bssd":
        outside = WORKER_NS + device_ns
        bridge: Value = {
            "protocol_ns": round(outside * BRIDGED / (1 - BRIDGED)),
            "queue_depth": QUEUE if queued else 1,
        }
        return {"submit_ns": WORKER_NS, "complete_ns": 0, "architecture": {"bridge": bridge}}
    whole = device_ns / (1 - FREE - LOCKED)
    software: Value = {"mapping": mapping, "lookup_ns": LOOKUP_NS, "update_ns": UPDATE_NS}
    return {
        "submit_ns": round(FREE * whole),
        "locked_ns": round(LOCKED * whole) - LOOKUP_NS - UPDATE_NS,
        "complete_ns": 0,
        "architecture": {"flash-software": software},
    }


def by_themselves(setup: Setup) -> dict[str, float]:
    """Returns the mean response time of each drive without a host side. Nanoseconds.

    Excludes waits for the drive's buffer, which does not fill behind the slower host side. Raises
    WordlineError if a drive cannot be simulated.
    """
    found = required(setup, {drive: case(setup, drive, None) for drive in DRIVES})
    return {drive: _device_ns(one) for drive, one in found.items()}


def _device_ns(summary: "Summary") -> float:
    waits = summary["breakdown"]["write"]["buffer_wait_us"] or 0.0
    return 1000 * (mean_us(summary) - waits)


def mean_us(summary: "Summary") -> float:
    """Returns the mean response time of writes. Microseconds; NaN without writes."""
    return or_nan(summary["latency"]["write"]["mean_us"])


def side_of(summary: "Summary") -> "HostSide":
    """Returns the host-side metrics of a summary. Raises WordlineError if there are none."""
    if (side := summary["host_side"]) is None:
        raise WordlineError("the run has no host side")
    return side


def case(
    setup: Setup,
    drive: str,
    side: Mapping[str, Value] | None,
    workers: int = 1,
    *,
    queued: bool = False,
    requests: int = REQUESTS,
    size: int = SECTOR,
    blocks: int = BLOCKS,
    pattern: str = "uniform",
    working_set: float = 1.0,
) -> Case:
    """Returns the case of writes by `workers` workers to an erased drive behind a host side, or
    without one if `side` is None. The workers share `requests` equally. The working set is a share
    of the drive."""
    load: Value = {
        "requests": setup.requests(requests) // workers,
        "read_ratio": 0.0,
        "request_bytes": size,
        "align_bytes": size,
        "pattern": pattern,
        "working_set_ratio": working_set,
        "arrival": {"closed-loop": {"queue_depth": QUEUE if queued else 1}},
    }
    overrides: dict[str, Value] = {
        "nand.geometry.blocks_per_plane": blocks,
        "nand.reliability.errors": "none",
        "precondition.fill_ratio": 0.0,
        "streams": [{"name": f"worker{place}", "workload": load} for place in range(workers)],
    }
    if side is not None:
        overrides["host_side"] = side
    mode = "queued" if queued else "legacy"
    before = "by itself" if side is None else f"{workers} {mode}"
    return Case(f"jung2013-{drive}", f"{drive.upper()}, {before}", overrides)
