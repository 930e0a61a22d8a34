"""The translation layers and schedules, in the document's words and in the simulator's."""

from dataclasses import dataclass, field

from wordline.config import Value

SIX, THREE = "jung2013-gc-6ssd", "jung2013-gc-3ssd"
BLOCKS = 2048
# Section 7.6: 14 GB more for each disk of 64 GB, 28 GB for each of 128 GB.
EXTRA = 14 / 64
SPARE = 0.03
# GC threshold: below it a collection is needed (section 7.6). The preset's hard limit is half.
# A schedule that collects at the threshold, and takes none of the blocks between the two.
THRESHOLD, HARD = 0.01, 0.005
WAITS = 19.5 / BLOCKS

# Each member of the array is simulated by itself: requests go by disks, so that they share nothing.
ALONE: dict[str, Value] = {"array.layout": "striped", "array.members": [{"name": "ssd"}]}
LOG, HYBRID = "log-block", "hybrid"


@dataclass(frozen=True)
class Scheme:
    """A translation layer with its schedule.

    One that `needs` collects when a write would leave its plane fewer free blocks than the
    threshold: the write waits for the collection (section 7.2.2).
    """

    title: str
    colour: str
    settings: dict[str, Value] = field(default_factory=dict[str, Value])
    needs: bool = False
    extra: float = 0.0

    def overrides(self, duration_s: float) -> dict[str, Value]:
        """Its settings, for a load that lasts so long."""
        made = ALONE | self.settings
        if self.needs:
            # A schedule that waits for a pause longer than the load never makes use of one.
            made |= {
                "ftl.gc.schedule.background": {
                    "after_ms": 1000 * (duration_s + 1),
                    "free_ratio": 0.0,
                },
                "ftl.gc.hard_free_ratio": THRESHOLD,
            }
        if self.extra:
            made |= buffered(round(BLOCKS * self.extra))
        return made


def buffered(blocks: int) -> dict[str, Value]:
    """P-FTL with a write buffer of so many further blocks a plane. The host sees as many bytes as
    without it, and as many blocks are kept free."""
    all_blocks = BLOCKS + blocks
    share = BLOCKS / all_blocks
    return {
        "nand.geometry.blocks_per_plane": all_blocks,
        "ftl.mapping.buffered.buffer_ratio": (blocks + 0.5) / all_blocks,
        "ftl.over_provisioning_ratio": 1 - (1 - SPARE) * share,
        "ftl.gc.start_free_ratio": THRESHOLD * share,
        "ftl.gc.hard_free_ratio": HARD * share,
        "ftl.gc.schedule": "incremental",
    }


def scheduled(schedule: str, mapping: str = LOG) -> dict[str, Value]:
    """A mapping under a schedule."""
    return {"ftl.mapping": mapping, "ftl.gc.schedule": schedule}


L, H, P, AGC, DGC, BOTH = "l", "h", "p", "agc", "dgc", "agc-dgc"
EARLY, H_BOTH, NEW = "l-early", "h-agc-dgc", "new"
SCHEMES = {
    L: Scheme("L-FTL", "#d8731c", {"ftl.mapping": LOG}, needs=True),
    H: Scheme("H-FTL", "#c2457f", {"ftl.mapping": HYBRID}, needs=True),
    P: Scheme("P-FTL", "#e0a30a", extra=EXTRA),
    AGC: Scheme("AGC", "#7cc0ea", scheduled("agc") | {"ftl.gc.hard_free_ratio": WAITS}),
    DGC: Scheme("DGC", "#1f78b4", scheduled("dgc")),
    BOTH: Scheme("AGC+DGC", "#12a07a", scheduled("agc-dgc")),
    EARLY: Scheme("L-FTL, early", "#8b929c", scheduled("on-demand")),
    H_BOTH: Scheme("AGC+DGC on H-FTL", "#444b54", scheduled("agc-dgc", HYBRID)),
    NEW: Scheme(
        "L-FTL, pristine", "#8b929c", scheduled("on-demand") | {"precondition.fill_ratio": 0.0}
    ),
}
# Those that the document compares.
COMPARED = (L, H, P, BOTH)
