"""Loads under policies."""

from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar

from wordline import WordlineError
from wordline.config import Value
from wordline.study.cases import Case, run_all
from wordline.study.figure import Setup
from wordline.study.lcr.loads import PAGES, TABLE, Course
from wordline.study.lcr.policies import ALL, TITLES, WINDOW, Values, chosen
from wordline.summary import Summary

DEVICE = "lcr"
# The size of the buffer where the document does not give it: in the middle of its sweep.
MIB = 4
# With `--quick`, a disk of so many blocks a plane, and loads on as much less of it.
QUICK_BLOCKS, QUICK_PART = 64, 8
Key = TypeVar("Key", bound=Hashable)
# By load, policy.
Runs: TypeAlias = Mapping[tuple[str, str], Summary]
Measure: TypeAlias = Callable[[Summary], float]


def wanted(setup: Setup, load: str, requests: int) -> int:
    """So many requests of a load, fewer if it has to be quick, or all of the table's."""
    return TABLE[load].requests if setup.full else setup.requests(requests)


def course(setup: Setup, requests: int, *, faster: float = 1.0, bursts: bool = True) -> Course:
    """So many requests on the pages that the disk has."""
    return Course(requests, faster, bursts, PAGES // QUICK_PART if setup.quick else PAGES)


def case(
    setup: Setup,
    load: str,
    trace: Path,
    policy: str,
    *,
    mib: int = MIB,
    window: float = WINDOW,
    requests: int | None = None,
    seed: int = 1,
    more: Mapping[str, Value] | None = None,
) -> Case:
    """A load under a policy; `more` settings replace those of the device."""
    settings: dict[str, Value] = {"buffer.capacity_kib": 1024 * mib, **chosen(policy, window)}
    if setup.quick:
        settings["nand.geometry.blocks_per_plane"] = QUICK_BLOCKS
    settings |= more or {}
    told = [f"{key} = {value}" for key, value in (more or {}).items()]
    told += [f"seed {seed}"] if seed != 1 else []
    label = ", ".join([load, TITLES[policy], f"{mib} MiB", f"window {window:g}", *told])
    return Case(label, settings, trace, requests, seed)


def completed(setup: Setup, cases: Mapping[Key, Case]) -> tuple[dict[Key, Summary], dict[Key, str]]:
    """What came of cases, and for those that cannot be simulated the reason."""
    found: dict[Key, Summary] = {}
    faults: dict[Key, str] = {}
    for (key, one), run in zip(cases.items(), run_all(DEVICE, list(cases.values())), strict=True):
        if run.summary is None:
            faults[key] = run.fault
            continue
        setup.note(one.label, run.config)
        found[key] = run.summary
    return found, faults


def of(setup: Setup, cases: Mapping[Key, Case]) -> dict[Key, Summary]:
    """What came of cases. Raises WordlineError if one cannot be simulated."""
    found, faults = completed(setup, cases)
    for fault in faults.values():
        raise WordlineError(fault)
    return found


def by_policy(runs: Runs, load: str, measure: Measure) -> Values:
    """A measure of a load. By policy."""
    return {policy: measure(runs[load, policy]) for policy in ALL if (load, policy) in runs}


def mean_us(summary: Summary) -> float:
    """Mean response time."""
    return summary["latency"]["all"]["mean_us"] or 0.0


def deviation_us(summary: Summary) -> float:
    """Standard deviation of the response times."""
    return summary["latency"]["all"]["std_us"] or 0.0


def hit_percent(summary: Summary) -> float:
    """Share of the pages that requests found in the buffer."""
    buffer = summary["buffer"]
    return 100 * ((buffer and buffer["hit_ratio"]) or 0.0)


def clean_percent(summary: Summary) -> float:
    """Clean pages among those that left the buffer."""
    buffer = summary["buffer"]
    return 100 * ((buffer and buffer["clean_eviction_ratio"]) or 0.0)


def collections(summary: Summary) -> int:
    """Collections that took place."""
    return sum(one["runs"] for one in summary["collections"])
