"""The policies: names in the document and configuration keys."""

from collections.abc import Mapping
from typing import TypeAlias

from wordline.config import Value

LRU, CFLRU, GCAR, LCR = "lru", "cflru", "gcar-cflru", "lcr"
ALL = (LRU, CFLRU, GCAR, LCR)
TITLES = {LRU: "LRU", CFLRU: "CFLRU", GCAR: "GCaR-CFLRU", LCR: "LCR"}
COLOURS = {"LRU": "#8b929c", "CFLRU": "#e0a30a", "GCaR-CFLRU": "#1f78b4", "LCR": "#12a07a"}
# The document does not give the window of figures 5 to 7, 9 and 10; in figure 8, results improve up
# to a half.
WINDOW = 0.5
# Values by policy.
Values: TypeAlias = dict[str, float]


def chosen(policy: str, window: float = WINDOW) -> dict[str, Value]:
    """Returns the configuration keys of a policy. LRU has no window."""
    if policy == LRU:
        return {"buffer.replacement": LRU}
    return {f"buffer.replacement.{policy}.window_ratio": window}


def less(values: Mapping[str, float], policy: str, than: str = LRU) -> float:
    """Returns the reduction of a value by a policy relative to another. Per cent."""
    return 100 * (1 - values[policy] / values[than])


def further(values: Mapping[str, float], policy: str = LCR, than: str = GCAR) -> float:
    """Returns the reduction relative to LRU by a policy minus that by another.

    Percentage points. The document states its gains over GCaR-CFLRU in this unit: of proj_0, LCR
    gains 23.7 % over LRU, GCaR-CFLRU 11.4 %, and LCR over GCaR-CFLRU 12.3 %.
    """
    return less(values, policy) - less(values, than)


def titled(values: Mapping[str, float]) -> Values:
    """Returns the values by the title of the policy."""
    return {TITLES[policy]: value for policy, value in values.items()}
