"""The twelve schemes: names in the document and configuration keys."""

from collections.abc import Iterator
from dataclasses import dataclass

from wordline.config import Value

LRU, ARC = "lru", "arc"
NAMES = {LRU: "LRU", ARC: "ARC", "fifo": "FIFO"}
MOVE, ZM, CZM = "move", "zero-migration", "conditional"


@dataclass(frozen=True)
class Scheme:
    """Replacement policy, whether it has suspected queues, and the GC mode."""

    policy: str
    aware: bool = False
    reclaim: str = MOVE

    def __str__(self) -> str:
        ending = {MOVE: "", ZM: "-ZM", CZM: "-CZM"}[self.reclaim]
        return f"{'F' * self.aware}{NAMES[self.policy]}{ending}"

    @property
    def overrides(self) -> dict[str, Value]:
        """Configuration keys of the scheme."""
        return {
            "cache.replacement": self.policy,
            "cache.suspected_queue": self.aware,
            "ftl.gc.reclaim": self.reclaim,
        }


ALL = tuple(
    Scheme(policy, aware, reclaim)
    for reclaim in (MOVE, ZM, CZM)
    for aware in (False, True)
    for policy in (LRU, ARC)
)
PLAIN = (Scheme(LRU), Scheme(ARC))
FLRU, FARC = Scheme(LRU, aware=True), Scheme(ARC, aware=True)
BASE = {FLRU: PLAIN[0], FARC: PLAIN[1]}
"""Schemes with suspected queues, and the same policies without them."""
COLOURS = {
    "LRU": "#8b929c",
    "ARC": "#5f6b7a",
    "FLRU": "#3b86c6",
    "FARC": "#12a07b",
    "LRU-ZM": "#d9701a",
    "ARC-ZM": "#c0457e",
    "FLRU-ZM": "#8fa83a",
    "FARC-ZM": "#7a5ec2",
    "LRU-CZM": "#b8860b",
    "ARC-CZM": "#a0522d",
    "FLRU-CZM": "#00838f",
    "FARC-CZM": "#b5a642",
}


def pairs(*, aware: bool, reclaim: str) -> Iterator[tuple[Scheme, Scheme]]:
    """Yields plain LRU and plain ARC, each with its variant of the given properties."""
    for base in PLAIN:
        yield base, Scheme(base.policy, aware, reclaim)
