"""The schedulers: names in the document and configuration keys."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from wordline.config import Value
from wordline.summary import Summary

# Values of `ssd.scheduler`: the document's schedulers, and others.
VAQ = "vaq"
BOTH = "paq2"
VARIANTS = (VAQ, "paq0", "paq1", BOTH)
PAQ = VARIANTS[1:]
OTHERS = ("immediate", "read-first", "sprinkler")
ALL = VARIANTS + OTHERS
TITLES = {
    "vaq": "VAQ",
    "paq0": "PAQ0 (plane packing)",
    "paq1": "PAQ1 (clumping)",
    "paq2": "PAQ2 (both)",
    "immediate": "immediate",
    "read-first": "read-first",
    "sprinkler": "Sprinkler",
}
# Values by scheduler.
Values: TypeAlias = dict[str, float]
Runs: TypeAlias = dict[str, Summary]


@dataclass(frozen=True)
class Reading:
    """An interpretation of the text.

    Under VAQ and PAQ0, a request or a page (`grain`) waits for conflicts at packages or dies
    (`conflict`). `layout` places the pages before the run.
    """

    name: str
    conflict: str
    grain: str
    layout: str

    def settings(self, scheduler: str) -> dict[str, Value]:
        """Returns the settings of a scheduler. A search takes 1.77 µs if the scheduler has one."""
        made: dict[str, Value] = {
            "precondition.layout": self.layout,
            "ftl.allocate.dynamic.order": "CWDP",
        }
        if scheduler == VAQ and self.grain == "page":
            return made | {
                "ssd.scheduler.ncq.conflict": self.conflict,
                "ssd.scheduler.ncq.gathers": False,
            }
        return made | self._of(scheduler)

    def _of(self, scheduler: str) -> dict[str, Value]:
        key = f"ssd.scheduler.{scheduler}"
        if scheduler == VAQ:
            return {f"{key}.conflict": self.conflict}
        if scheduler == "paq0":
            return {
                f"{key}.conflict": self.conflict,
                f"{key}.grain": self.grain,
                f"{key}.holds_writes": True,
            }
        if scheduler in PAQ:
            return {f"{key}.in_turn": True}
        return {"ssd.scheduler": scheduler}


A = Reading("A", "package", "request", "address")
B = Reading("B", "die", "page", "scattered")


def short(scheduler: str) -> str:
    """Returns the short title of a scheduler."""
    return TITLES[scheduler].split(" (")[0]


def normalised(values: Mapping[str, float]) -> Values:
    """Returns the values relative to VAQ."""
    return {scheduler: value / values[VAQ] for scheduler, value in values.items()}


def mean_gain(values: Mapping[str, Mapping[str, float]], scheduler: str) -> float:
    """Returns the mean gain over VAQ, averaged over the loads. Per cent. `values` are by load and
    scheduler."""
    return fmean(100 * (one[scheduler] / one[VAQ] - 1) for one in values.values())


def gains(values: Mapping[str, Mapping[str, float]], scheduler: str) -> dict[str, float]:
    """Returns the gain over VAQ, by load. Per cent."""
    return {load: 100 * (one[scheduler] / one[VAQ] - 1) for load, one in values.items()}
