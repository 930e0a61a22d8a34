"""Loads on schemes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wordline.config import Value
from wordline.study.cases import Case
from wordline.study.gc.schemes import NEW, SCHEMES, SIX
from wordline.summary import Summary

# Intervals of a load that worst cases are told of.
INTERVALS = 50
# Free blocks that schemes keep differ by one a plane, and so do their collections.
PLANES = 64
# Triggers of collections, in the document's words.
DEMAND = ("free-blocks", "update-block")
ADVANCED = ("look-ahead", "compaction")
DELAYED = ("retroactive",)


# Share of the pages overwritten at random beforehand, so that free blocks are few at the start.
WORN = 0.001


@dataclass(frozen=True)
class Load:
    """A trace, how long it lasts, requests of it at most, and whether the disk is worn before."""

    name: str
    trace: Path
    duration_s: float
    requests: int | None = None
    worn: bool = False


def case(
    load: Load, scheme: str, more: Mapping[str, Value] | None = None, device: str = SIX
) -> Case:
    """A load under a scheme; `more` settings replace those of the scheme."""
    settings = SCHEMES[scheme].overrides(load.duration_s)
    settings["observe.worst_case_interval_s"] = max(load.duration_s / INTERVALS, 1e-3)
    if load.worn and scheme != NEW:
        settings["precondition.overwrite_ratio"] = WORN
    settings |= more or {}
    told = [f"{key} = {value}" for key, value in (more or {}).items()]
    return Case(
        device,
        ", ".join([device, load.name, SCHEMES[scheme].title, *told]),
        settings,
        load.trace,
        load.requests,
    )


def worst_ms(summary: Summary) -> list[float | None]:
    """Longest response time of each interval of the load; after its end nothing is left."""
    told = summary["worst_case"]["all"]["intervals_us"][:INTERVALS]
    return [None if one is None else one / 1000 for one in told]


def longest_ms(summary: Summary) -> float:
    """The longest response time."""
    return (summary["latency"]["all"]["max_us"] or 0.0) / 1000


def mean_ms(summary: Summary) -> float:
    """The mean response time of writes."""
    return (summary["latency"]["write"]["mean_us"] or 0.0) / 1000


def late(summary: Summary) -> int:
    """Requests beyond the marginal response time."""
    return summary["excess"]["all"]["requests"]


def late_percent(summary: Summary) -> float:
    """Their share."""
    return 100 * (summary["excess"]["all"]["share"] or 0.0)


def collected(summary: Summary, triggers: tuple[str, ...] = DEMAND + ADVANCED + DELAYED) -> int:
    """Collections of those triggers. A scheme that collects only when it needs to has others, after
    the load."""
    return sum(one["runs"] for one in summary["collections"] if one["trigger"] in triggers)


def erases(summary: Summary) -> int:
    """Erases, but for those after the load of a scheme that collects only when it needs to."""
    after = sum(
        one["blocks_erased"] for one in summary["collections"] if one["trigger"] == "background"
    )
    return summary["flash"]["erases"] - after
