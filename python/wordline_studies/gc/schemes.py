"""Translation layers and schedules: names in the document and configuration keys."""

import tomllib
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from wordline import _wordline
from wordline.config import Source, Value, read
from wordline_studies.gc.loads import STRIPE

SIX, THREE = "jung2013-gc-6ssd", "jung2013-gc-3ssd"
BLOCKS = 2048
# Section 7.6: 14 GB in addition per disk of 64 GB, 28 GB per disk of 128 GB.
EXTRA = 14 / 64
SPARE = 0.03
# GC threshold: with fewer free blocks, GC is required (section 7.6). `WAITS` is the reserve of a
# schedule that starts GC at the threshold and uses none of the blocks between the two.
THRESHOLD = 0.01
WAITS = 19.5 / BLOCKS
# The 3 % that section 7.6.5 gives as the threshold of the underlying FTL, less the blocks that
# merges need.
MOST_FREE = 0.027

# Latencies of section 7.6. They include the transfer of a page, as in section 6.6.3, so 4,096 x 25
# ns are subtracted.
TIMES: dict[str, Value] = {
    "nand.timing.read_ns": 183_200 - 4_096 * 25,
    "nand.timing.program_ns": 860_360 - 4_096 * 25,
}


@cache
def alone(array: str) -> Source:
    """Returns a single SSD of an array. The array sends requests to SSDs by disk, so SSDs share
    nothing."""
    device = tomllib.loads(cast("str", _wordline.preset_text(array)))
    del device["array"]
    return Source(read(device)[0], array)


LOG, HYBRID, BUFFERED = "log-block", "hybrid", "buffered"


# AGC compacts full update blocks first, then the least recently written logical block (section
# 7.6.5), if fewer blocks are free than 43 % of the 3 % threshold.
COMPACT_BELOW = 0.43
COMPACTS: dict[str, Value] = {
    "compacts_least_recent": True,
    "compact_below_ratio": COMPACT_BELOW,
}


@dataclass(frozen=True)
class Scheme:
    """A translation layer with its schedule.

    A scheme with `needs` runs GC when a write would leave its plane fewer free blocks than the
    threshold; the write waits for the GC run (section 7.2.2). `extra` is the size of the write
    buffer relative to the other blocks, zero without a buffer.
    """

    title: str
    colour: str
    settings: dict[str, Value] = field(default_factory=dict[str, Value])
    needs: bool = False
    extra: float = 0.0

    def overrides(self, duration_s: float, simulated: float = 1.0) -> dict[str, Value]:
        """Returns the settings for a load that takes `duration_s` seconds and has the share
        `simulated` of a disk's requests. The blocks of a write buffer are scaled by that share."""
        made = TIMES | self.settings
        if self.needs:
            # The schedule needs a pause longer than the load, so it never uses one.
            made = {
                "ftl.gc.schedule.background": {
                    "after_ms": 1000 * (duration_s + 1),
                    "free_ratio": 0.0,
                },
                "ftl.gc.hard_free_ratio": THRESHOLD,
            } | made
        if self.extra:
            made |= buffered(max(1, round(BLOCKS * self.extra * simulated)))
        return made


def striped(mapping: str, pages: int = STRIPE) -> dict[str, Value]:
    """Returns the settings of a mapping of logical blocks. Rows of `pages` pages are striped over
    the planes."""
    return {f"ftl.mapping.{mapping}.stripe": "page", f"ftl.mapping.{mapping}.stripe_pages": pages}


def buffered(blocks: int) -> dict[str, Value]:
    """Returns the settings of P-FTL with a write buffer of `blocks` additional blocks per plane.
    The user capacity and the number of blocks kept free do not change."""
    all_blocks = BLOCKS + blocks
    share = BLOCKS / all_blocks
    return {
        "nand.geometry.blocks_per_plane": all_blocks,
        "ftl.mapping.buffered.buffer_ratio": (blocks + 0.5) / all_blocks,
        "ftl.over_provisioning_ratio": 1 - (1 - SPARE) * share,
        "ftl.gc.start_free_ratio": THRESHOLD * share,
        "ftl.gc.hard_free_ratio": THRESHOLD * share,
    }


def advanced(schedule: str, mapping: str = LOG, **more: Value) -> dict[str, Value]:
    """Returns the settings of a mapping under a schedule with AGC. `more` overrides settings of
    AGC."""
    agc: dict[str, Value] = COMPACTS | more
    told: Value = agc if schedule == "agc" else {"agc": agc}
    return striped(mapping) | {f"ftl.gc.schedule.{schedule}": told}


def scheduled(schedule: str, mapping: str = LOG) -> dict[str, Value]:
    """Returns the settings of a mapping under a schedule."""
    return striped(mapping) | {"ftl.gc.schedule": schedule}


# Section 7.6.1: DGC starts on-demand GC when the free blocks are used up. It uses the last blocks
# that merges do not need.
LAST: dict[str, Value] = {"ftl.gc.hard_free_ratio": 0.0}
L, H, P, AGC, DGC, BOTH = "l", "h", "p", "agc", "dgc", "agc-dgc"
H_BOTH, NEW, MORE = "h-agc-dgc", "new", "l-more"
SCHEMES = {
    L: Scheme("L-FTL", "#d8731c", striped(LOG), needs=True),
    H: Scheme("H-FTL", "#c2457f", striped(HYBRID), needs=True),
    P: Scheme("P-FTL", "#e0a30a", striped(BUFFERED), needs=True, extra=EXTRA),
    AGC: Scheme("AGC", "#7cc0ea", advanced("agc") | {"ftl.gc.hard_free_ratio": WAITS}),
    DGC: Scheme("DGC", "#1f78b4", scheduled("dgc") | LAST),
    BOTH: Scheme("AGC+DGC", "#12a07a", advanced("agc-dgc") | LAST),
    H_BOTH: Scheme("AGC+DGC on H-FTL", "#444b54", advanced("agc-dgc", HYBRID) | LAST),
    NEW: Scheme(
        "L-FTL, pristine", "#8b929c", scheduled("on-demand") | {"precondition.fill_ratio": 0.0}
    ),
    MORE: Scheme(
        "L-FTL at 3 %",
        "#a04e10",
        striped(LOG) | {"ftl.gc.start_free_ratio": MOST_FREE, "ftl.gc.hard_free_ratio": MOST_FREE},
        needs=True,
    ),
}
# Schemes that the document compares.
COMPARED = (L, H, P, BOTH)
