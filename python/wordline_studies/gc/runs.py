"""Runs of loads under schemes."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Setup
from wordline_studies.gc.loads import of_member, simulated
from wordline_studies.gc.schemes import NEW, SCHEMES, SIX, P, alone
from wordline_studies.generated import Request, written
from wordline_studies.measures import or_nan

# Number of intervals of a load for which worst cases are recorded.
INTERVALS = 50
# Triggers of GC, grouped by the document's terms.
DEMAND = ("free-blocks", "update-block")
ADVANCED = ("look-ahead", "compaction")
DELAYED = ("retroactive",)


# Share of the pages overwritten at random beforehand, so that few blocks are free at the start. Of
# P-FTL's space, only the write buffer scales with the load.
WORN = 0.001

# Summaries by scheme and load.
Known = Mapping[tuple[str, str], Summary]


@dataclass(frozen=True)
class Load:
    """A trace, its duration in seconds, the largest number of its requests to simulate (None: all),
    whether the SSD is overwritten beforehand, and the simulated share of the recorded requests."""

    name: str
    trace: Path
    duration_s: float
    requests: int | None = None
    worn: bool = False
    simulated: float = 1.0


def case(
    load: Load, scheme: str, more: Mapping[str, Value] | None = None, device: str = SIX
) -> Case:
    """Returns the case of a load under a scheme. `more` overrides settings of the scheme."""
    settings = SCHEMES[scheme].overrides(load.duration_s, load.simulated)
    settings["observe.worst_case_interval_s"] = max(load.duration_s / INTERVALS, 1e-3)
    if load.worn and scheme not in (NEW, P):
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
    """Yields the loads of the members of an array, by member. Their traces are temporary."""
    ends: dict[str, float] = {}
    made = {name: _ending(of_member(writes, those), name, ends) for name, those in disks.items()}
    with written(made) as paths:
        yield {
            name: Load(name, paths[name], ends[name], worn=True, simulated=simulated(writes, those))
            for name, those in disks.items()
        }


def _ending(load: Iterator[Request], name: str, ends: dict[str, float]) -> Iterator[Request]:
    """Yields the requests of a load, and stores the time of the last one in `ends[name]`.
    Seconds."""
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
    """Returns the summaries of the loads under the schemes. Runs in `known` are not repeated."""
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
    """Returns the reason why a quick study does not test a claim that needs a long run. Empty for
    other studies."""
    if not setup.quick:
        return ""
    return (
        "the claim needs sections of thousands of writes, and more GC runs than there are "
        "blocks to keep free; a quick run has neither"
    )


def worst_ms(summary: Summary) -> list[float | None]:
    """Returns the longest response time in each interval of the load, or None without requests.
    Intervals after the end of the load are left out. Milliseconds."""
    told = summary["worst_case"]["all"]["intervals_us"][:INTERVALS]
    return [None if one is None else one / 1000 for one in told]


def longest_ms(summary: Summary) -> float:
    """Returns the longest response time of a run. Milliseconds."""
    return or_nan(summary["latency"]["all"]["max_us"]) / 1000


def mean_ms(summary: Summary) -> float:
    """Returns the mean response time of writes. Milliseconds."""
    return or_nan(summary["latency"]["write"]["mean_us"]) / 1000


def late(summary: Summary) -> int:
    """Returns the number of requests beyond the marginal response time."""
    return summary["excess"]["all"]["requests"]


def late_percent(summary: Summary) -> float:
    """Returns the share of requests beyond the marginal response time. Per cent."""
    return 100 * (summary["excess"]["all"]["share"] or 0.0)


def collected(summary: Summary, triggers: tuple[str, ...] = DEMAND + ADVANCED + DELAYED) -> int:
    """Returns the number of GC runs with these triggers.

    The default excludes background GC. A scheme that runs GC only when it is needed has background
    GC only after the load.
    """
    return sum(one["runs"] for one in summary["collections"] if one["trigger"] in triggers)


def handed_over(summary: Summary) -> int:
    """Returns the number of GC runs that AGC started and that went to the job list of DGC because a
    request arrived (section 7.5.1.3)."""
    idle = summary["idle_periods"]
    return idle["gc_runs_handed_over"] if idle else 0


def erases(summary: Summary) -> int:
    """Returns the number of erases, without those of background GC. A scheme that runs GC only when
    it is needed has background GC only after the load."""
    after = sum(
        one["blocks_erased"] for one in summary["collections"] if one["trigger"] == "background"
    )
    return summary["flash"]["erases"] - after
