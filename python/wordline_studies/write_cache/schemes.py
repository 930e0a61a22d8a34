"""The static caches, the dynamic cache, and its options that the text leaves open."""

from collections.abc import Sequence
from dataclasses import dataclass

from wordline.config import Value

OPS = (15, 25, 35, 45, 55, 65, 75, 85)
"""Over-provisioning of the static caches. Per cent."""
START = 35
"""Over-provisioning of the dynamic cache until its first choice (section 4.4). Per cent."""
CLEAR, KEEP, HALF = "clear", "keep", "half"
TRACKERS = (CLEAR, KEEP, HALF)
GIVEN, ANALYTIC, MINIATURE = "given", "analytic", "miniature"
EXACT, BY_RATE, BY_SIZE, AET = "exact", "shards-rate", "shards-size", "aet"
EIGHT, PERCENT = "eight", "percent"
RATIOS = (1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0)
"""Windows of figure 16 in flash capacities: 4 to 16 GB on 4 GB, 16 to 64 GB on 16 GB."""
COLOURS = {
    "static": "#8b929c",
    CLEAR: "#d9701a",
    KEEP: "#3b86c6",
    HALF: "#12a07b",
    "Financial1": "#c0457e",
    "Homes": "#3b86c6",
    "Exchange": "#12a07b",
    "MSNFS": "#d9701a",
    "a = 0.5": "#c0457e",
    "a = 0.6": "#7a5ec2",
    "a = 0.9": "#3b86c6",
    "a = 1.1": "#d9701a",
}


@dataclass(frozen=True)
class Dynamic:
    """A cache whose size follows the locality.

    The fields give the window in flash capacities, the earlier writes that the window includes, and
    the source of the valid share of victims. Further fields give the kind of the window's curve,
    its sampling rate or sample size, and the sizes that are compared.
    """

    window: float
    tracker: str = CLEAR
    utilisation: str = GIVEN
    curve: str = EXACT
    sampled: float = 0.0
    candidates: str = EIGHT

    def __str__(self) -> str:
        usual = Dynamic(self.window, self.tracker)
        others = (
            (self.utilisation, usual.utilisation),
            (self.curve, usual.curve),
            (f"{self.sampled:g}", f"{usual.sampled:g}"),
            (self.candidates, usual.candidates),
        )
        ending = "".join(f", {one}" for one, other in others if one != other)
        return f"dynamic, window {self.window:g}, {self.tracker}{ending}"

    def pages(self, capacity: int) -> int:
        """Returns T, the window on a flash of `capacity` pages. Pages."""
        return round(self.window * capacity)

    def overrides(self, capacity: int, victims: Sequence[float]) -> dict[str, Value]:
        """Returns the configuration keys of the cache. `victims` gives the share of valid pages in
        victims at `OPS`."""
        table: dict[str, Value] = {
            "window_bytes": self.pages(capacity) * 4096,
            "curve": self.curve,
            "tracker": self.tracker,
            "utilisation": self.utilisation,
            "candidates": self.candidates,
        }
        if self.curve == BY_SIZE:
            table["sample_pages"] = int(self.sampled)
        elif self.curve != EXACT:
            table["sample_ratio"] = self.sampled
        if self.utilisation == GIVEN:
            table["victim_utilisations"] = [min(max(0.0, one), 0.999) for one in victims]
        return {
            "ftl.over_provisioning_ratio": START / 100,
            "cache.partition": {"locality-driven": table},
        }


def static(op: int) -> dict[str, Value]:
    """Returns the configuration keys of a cache of constant size."""
    return {"ftl.over_provisioning_ratio": op / 100, "cache.partition": "unified"}
