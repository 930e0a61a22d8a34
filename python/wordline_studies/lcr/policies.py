"""The policies, in the document's words and in the simulator's."""

from collections.abc import Mapping
from typing import TypeAlias

from wordline.config import Value

LRU, CFLRU, GCAR, LCR = "lru", "cflru", "gcar-cflru", "lcr"
ALL = (LRU, CFLRU, GCAR, LCR)
TITLES = {LRU: "LRU", CFLRU: "CFLRU", GCAR: "GCaR-CFLRU", LCR: "LCR"}
COLOURS = {"LRU": "#8b929c", "CFLRU": "#e0a30a", "GCaR-CFLRU": "#1f78b4", "LCR": "#12a07a"}
# The document's figures 5 to 7, 9 and 10 do not say; figure 8 improves up to a half.
WINDOW = 0.5
# By policy.
Values: TypeAlias = dict[str, float]


def chosen(policy: str, window: float = WINDOW) -> dict[str, Value]:
    """The settings of a policy. LRU has no window."""
    if policy == LRU:
        return {"buffer.replacement": LRU}
    return {f"buffer.replacement.{policy}.window_ratio": window}


def less(values: Mapping[str, float], policy: str, than: str = LRU) -> float:
    """By how much a policy has less than another. Per cent."""
    return 100 * (1 - values[policy] / values[than])


def titled(values: Mapping[str, float]) -> Values:
    """By title."""
    return {TITLES[policy]: value for policy, value in values.items()}
