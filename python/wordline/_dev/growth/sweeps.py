"""The five sweeps over device d4, under random reads and writes of one page."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

DEVICE = "d4"
DEPTH = 32

Settings = dict[str, object]


@dataclass(frozen=True)
class Point:
    """A point of a series: the value of the swept quantity, and the configuration."""

    at: int
    settings: Settings

    @property
    def requests(self) -> int:
        """Number of requests of the measurement."""
        return cast("int", self.settings["workload.requests"])

    def of(self, requests: int) -> "Point":
        """Returns the same point with another number of requests."""
        return Point(self.at, {**self.settings, "workload.requests": requests})


def command(point: Point) -> list[str]:
    """Returns the command of the process that runs the point and prints its summary."""
    return [sys.executable, "-m", "wordline._dev.growth.point", json.dumps(point.settings)]


@dataclass(frozen=True)
class Series:
    """A line of a chart: one load over the swept quantity."""

    name: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Sweep:
    """A sweep over one quantity. `held` describes what stays constant."""

    name: str
    title: str
    unit: str
    held: str
    series: Sequence[Series]


def load(kind: str, requests: int, depth: int = DEPTH, page_bytes: int = 4096) -> Settings:
    """Returns uniform random requests for whole pages, `read` or `write`, at this queue depth."""
    return {
        "workload.requests": requests,
        "workload.read_ratio": 1.0 if kind == "read" else 0.0,
        "workload.pattern": "uniform",
        "workload.request_bytes": page_bytes,
        "workload.align_bytes": page_bytes,
        "workload.arrival.closed-loop.queue_depth": depth,
        "host.queue_depth": depth,
    }


# Random writes to a full device are in steady state from the first one.
SETTLED: Settings = {"precondition.settle": True}


def sweeps(*, full: bool = False, quick: bool = False) -> list[Sweep]:
    """Returns all sweeps. `full` includes the longest runs, which take minutes; `quick` uses
    fewer requests."""
    requests = 50_000 if quick else 1_000_000
    return [
        _requests(full, quick),
        _dies(requests),
        _capacity(requests),
        _depth(requests),
        _backlog(quick),
    ]


def _requests(full: bool, quick: bool) -> Sweep:
    last = 5 if quick else 8 if full else 7
    counts = [10**power for power in range(4, last + 1)]
    # A write in steady state takes as long as five reads.
    fewer = counts if quick else counts[:-1]
    return Sweep(
        "requests",
        "Number of requests",
        "requests",
        f"the device d4, {DEPTH} requests outstanding; writes in steady state",
        [
            Series("reads", [Point(count, load("read", count)) for count in counts]),
            Series("writes", [Point(count, load("write", count) | SETTLED) for count in fewer]),
        ],
    )


# Blocks of 16 pages, so that planes of the largest device have enough blocks.
DIES = [8, 32, 128, 512, 1024, 2048, 4096]
WAYS = 4
PLANES_PER_DIE = 2
BLOCKS = 1 << 17


def _array(channels: int, ways: int) -> Settings:
    planes = channels * ways * PLANES_PER_DIE
    return {
        "ssd.channels": channels,
        "ssd.ways": ways,
        "nand.geometry.planes_per_die": PLANES_PER_DIE,
        "nand.geometry.blocks_per_plane": BLOCKS // planes,
        "nand.geometry.pages_per_block": 16,
        "ftl.over_provisioning_ratio": 0.3,
    }


# The writes fit into the free blocks, so that GC does not run.
EMPTY: Settings = {"precondition.fill_ratio": 0.0}


def _dies(requests: int) -> Sweep:
    writes = min(requests, 500_000)

    def series(name: str, settings: Mapping[int, Settings]) -> Series:
        return Series(name, [Point(dies, settings[dies]) for dies in DIES])

    channels = {dies: _array(dies // WAYS, WAYS) for dies in DIES}
    ways = {dies: _array(8, dies // 8) for dies in DIES}
    return Sweep(
        "dies",
        "Dies",
        "dies",
        f"8 GiB in {BLOCKS:,} blocks; {WAYS} dies per channel, or 8 channels; writes go to an "
        "empty device without GC",
        [
            series(
                "reads, one per die", {d: channels[d] | load("read", requests, d) for d in DIES}
            ),
            series(
                f"reads, {DEPTH} in total", {d: channels[d] | load("read", requests) for d in DIES}
            ),
            series(
                "reads, one per die, 8 channels",
                {d: ways[d] | load("read", requests, d) for d in DIES},
            ),
            series(
                "writes, one per die",
                {d: channels[d] | load("write", writes, d) | EMPTY for d in DIES},
            ),
        ],
    )


GIB = 1 << 30
PAGE_BYTES = 16384
# Half of the pages of the device with the smallest capacity.
FOOTPRINT_PAGES = 32768
CAPACITIES = [GIB << power for power in range(0, 15, 2)]
USER_RATIO = 0.7


def _capacity(requests: int) -> Sweep:
    # Number of writes that the smallest device takes without GC.
    writes = 20_000

    def device(capacity: int) -> Settings:
        pages = capacity // PAGE_BYTES
        share = FOOTPRINT_PAGES / int(pages * USER_RATIO)
        return {
            "nand.geometry.page_bytes": PAGE_BYTES,
            "nand.geometry.blocks_per_plane": pages // (64 * 64),
            "ftl.over_provisioning_ratio": 1 - USER_RATIO,
            "precondition.fill_ratio": share,
            "workload.working_set_ratio": share,
        }

    def series(name: str, kind: str, count: int) -> Series:
        work = load(kind, count, page_bytes=PAGE_BYTES)
        return Series(name, [Point(one, device(one) | work) for one in CAPACITIES])

    return Sweep(
        "capacity",
        "Capacity",
        "bytes",
        f"{FOOTPRINT_PAGES:,} pages of 16 KiB are written and used, {DEPTH} requests outstanding; "
        "no GC",
        [series("reads", "read", requests), series("writes", "write", writes)],
    )


DEPTHS = [1 << power for power in range(0, 17, 2)]


def _depth(requests: int) -> Sweep:
    def series(name: str, kind: str, more: Settings) -> Series:
        return Series(name, [Point(d, load(kind, requests, d) | more) for d in DEPTHS])

    return Sweep(
        "depth",
        "Queue depth",
        "outstanding requests",
        "the device d4; writes in steady state",
        [
            series("reads", "read", {}),
            series(f"reads, {DEPTH} in the device", "read", {"host.queue_depth": DEPTH}),
            series("writes", "write", SETTLED),
        ],
    )


# Arrivals per second. The device completes no request before the last one has arrived.
AT_ONCE = 1e9
# A host that takes no time, so that all requests wait for the device.
HOST_SIDE: Settings = {
    "host_side.submit_ns": 0,
    "host_side.locked_ns": 0,
    "host_side.complete_ns": 0,
}


def overload(requests: int) -> Settings:
    """Returns an open loop of random reads that all arrive at once."""
    settings = load("read", requests)
    del settings["workload.arrival.closed-loop.queue_depth"]
    return settings | {"workload.arrival.constant.iops": AT_ONCE}


def _backlog(quick: bool) -> Sweep:
    # The host side holds at most 65,536 requests. Further requests wait in front of it. Without a
    # host side, all requests wait there.
    backlogs = [1 << power for power in range(12, 17 if quick else 19, 2)]

    def series(name: str, more: Settings) -> Series:
        return Series(name, [Point(count, overload(count) | more) for count in backlogs])

    return Sweep(
        "backlog",
        "Backlog",
        "requests",
        f"the device d4, {DEPTH} outstanding requests; all requests arrive at once",
        [series("no host side", {}), series("with a host side", HOST_SIDE)],
    )
