"""Loads on schemes."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Setup
from wordline_studies.gc.loads import of_member, simulated
from wordline_studies.gc.schemes import NEW, SCHEMES, SIX, alone
from wordline_studies.generated import Request, written

# Intervals of a load that worst cases are told of.
INTERVALS = 50
# Triggers of collections, in the document's words.
DEMAND = ("free-blocks", "update-block")
ADVANCED = ("look-ahead", "compaction")
DELAYED = ("retroactive",)


# Share of the pages overwritten at random beforehand, so that free blocks are few at the start: of
# P-FTL's room only the write buffer is scaled with the load.
WORN = 0.001

# What was run, by scheme and load.
Known = Mapping[tuple[str, str], Summary]


@dataclass(frozen=True)
class Load:
    """A trace, how long it lasts, requests of it at most, whether the disk is worn before, and its
    share of the requests of the disk."""

    name: str
    trace: Path
    duration_s: float
    requests: int | None = None
    worn: bool = False
    simulated: float = 1.0


def case(
    load: Load, scheme: str, more: Mapping[str, Value] | None = None, device: str = SIX
) -> Case:
    """A load under a scheme; `more` settings replace those of the scheme."""
    settings = SCHEMES[scheme].overrides(load.duration_s, load.simulated)
    settings["observe.worst_case_interval_s"] = max(load.duration_s / INTERVALS, 1e-3)
    if load.worn and scheme != NEW:
        settings["precondition.overwrite_ratio"] = WORN
    settings |= more or {}
    told = [f"{key} = {value}" for key, value in (more or {}).items()]
    return Case(
        alone(device),
        ", ".join([device, load.name, SCHEMES[scheme].title, *told]),
        settings,
        load.trace,
        load.requests,
    )


@contextmanager
def members(disks: Mapping[str, Sequence[int]], writes: int) -> Generator[dict[str, Load]]:
    """The loads of the members of an array, for as long as they are needed. By member."""
    ends: dict[str, float] = {}
    made = {name: _ending(of_member(writes, those), name, ends) for name, those in disks.items()}
    with written(made) as paths:
        yield {
            name: Load(name, paths[name], ends[name], worn=True, simulated=simulated(writes, those))
            for name, those in disks.items()
        }


def _ending(load: Iterator[Request], name: str, ends: dict[str, float]) -> Iterator[Request]:
    """A load, of which the time of the last request is kept. Seconds."""
    for one in load:
        ends[name] = one.at / 1e9
        yield one


def under(
    setup: Setup,
    loads: Mapping[str, Load],
    schemes: Sequence[str],
    known: Known | None = None,
    device: str = SIX,
) -> dict[tuple[str, str], Summary]:
    """Loads under schemes; what is `known` is not run again."""
    told = known or {}
    asked = [(scheme, name) for scheme in schemes for name in loads]
    cases = {
        (scheme, name): case(loads[name], scheme, device=device)
        for scheme, name in asked
        if (scheme, name) not in told
    }
    found = required(setup, cases)
    return {one: told[one] if one in told else found[one] for one in asked}


def short(setup: Setup) -> str:
    """Why a claim that needs a long run is not asserted of a quick one."""
    if not setup.quick:
        return ""
    return (
        "it takes sections of thousands of writes, and more collections than there are blocks to "
        "be kept free; a quick run has neither"
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
