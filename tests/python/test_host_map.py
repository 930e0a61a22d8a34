"""A host-side map that is partly in memory, in front of a simulated drive."""

from typing import Any

import pytest

import wordline as package

MEMORY = 4 << 20
PAGE, ENTRY = 4096, 8
REQUESTS = 20_000
TABLE = "host_side.architecture.flash-software.mapping.cached-table"
LOAD: dict[str, Any] = {
    "nand.geometry.blocks_per_plane": 32,
    "workload.requests": REQUESTS,
    "workload.read_ratio": 0.5,
    "workload.pattern": "uniform",
    "workload.request_bytes": PAGE,
    "workload.align_bytes": PAGE,
    "workload.arrival.closed-loop.queue_depth": 8,
}


def run(memory: int, **options: Any) -> package.Result:
    settings = LOAD | {f"{TABLE}.memory_bytes": memory}
    return package.run("jung2013-fssd", overrides=settings, **options)


@pytest.mark.parametrize("cuts", [None, 3_000])
def test_the_hit_ratio_is_the_cached_share_and_no_write_is_lost(cuts: int | None):
    options = {} if cuts is None else {"power_cut_every": cuts}
    summary = run(MEMORY, verify=True, **options).summary
    assert summary["error"] is None
    assert summary["verification"] is not None
    assert summary["verification"]["reads_checked"] > 0
    host = summary["host_side"]
    assert host is not None
    # Each request accesses one page of the map, and all pages were written before the run.
    hits, misses = host["map_hits"], host["map_misses"]
    assert hits + misses == REQUESTS
    assert host["map_most_bytes"] <= MEMORY
    # Addresses are uniform, so the hit ratio is the share of the map in memory.
    pages = -(-host["map_units"] * ENTRY // PAGE)
    held = (MEMORY - pages * ENTRY) // PAGE
    deviation = (held / pages / REQUESTS) ** 0.5
    filling = held / 2 / REQUESTS * held / pages
    assert hits / REQUESTS == pytest.approx(held / pages, abs=4 * deviation + 2 * filling)
    # Half of the requests write, so half of the evicted pages are dirty.
    assert host["map_write_backs"] == pytest.approx((misses - held) / 2, rel=0.05)


def test_memory_for_less_than_a_page_is_rejected():
    with pytest.raises(package.WordlineError, match="the map's directory"):
        run(60_000)
