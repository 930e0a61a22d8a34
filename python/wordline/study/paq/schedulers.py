"""The schedulers, in the document's words and in the simulator's."""

from collections.abc import Mapping
from statistics import fmean
from typing import TypeAlias

from wordline.config import Value
from wordline.summary import Summary

# As `ssd.scheduler` names them: those of the document, and others.
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
# By scheduler.
Values: TypeAlias = dict[str, float]
Runs: TypeAlias = dict[str, Summary]


def chosen(scheduler: str) -> dict[str, Value]:
    """The settings of a scheduler with its defaults: a search takes 1.77 µs where there is one."""
    return {"ssd.scheduler": scheduler}


def short(scheduler: str) -> str:
    """Its name without what it is made of."""
    return TITLES[scheduler].split(" (")[0]


def normalised(values: Mapping[str, float]) -> Values:
    """Each over that of VAQ."""
    return {scheduler: value / values[VAQ] for scheduler, value in values.items()}


def mean_gain(values: Mapping[str, Mapping[str, float]], scheduler: str) -> float:
    """What a scheduler has more than VAQ, mean of the loads. By load, scheduler. Per cent."""
    return fmean(100 * (one[scheduler] / one[VAQ] - 1) for one in values.values())


def gains(values: Mapping[str, Mapping[str, float]], scheduler: str) -> dict[str, float]:
    """By load: what a scheduler has more than VAQ. Per cent."""
    return {load: 100 * (one[scheduler] / one[VAQ] - 1) for load, one in values.items()}
