"""Runs of loads under policies."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.bursts import READS, Bursts
from wordline_studies.cases import Case
from wordline_studies.figure import Numbers, Setup
from wordline_studies.lcr.loads import LOADS, Playback
from wordline_studies.lcr.policies import ALL, TITLES, WINDOW, Values, chosen
from wordline_studies.measures import Measure, or_nan

PUBLISHED = Numbers("wordline_studies.lcr")
DEVICE = "lcr"
# Buffer size in MiB where the document does not give it: the middle of its sweep.
MIB = 4
# Without `--full`, an eighth of the device (in blocks per plane), of the address spaces and of the
# requests.
PART, WHOLE_BLOCKS = 8, 512
WHOLE: dict[str, Value] = {"nand.geometry.blocks_per_plane": WHOLE_BLOCKS}
# The device is filled so that GC may start during a trace (II-A), but not overwritten: on web_0,
# ts_0 and wdev_2, GC is a very small share of the operations.
FILLED: dict[str, Value] = {"precondition.overwrite_ratio": 0.0}
# Settings of a device that is overwritten at random until the planes run GC: by as many pages as
# the free blocks above the threshold hold.
WORN: dict[str, Value] = {"precondition.overwrite_ratio": 0.12}
# Summaries by load and policy.
Runs: TypeAlias = Mapping[tuple[str, str], Summary]


def part(setup: Setup) -> int:
    """Returns the factor by which the device, the address spaces and the numbers of requests are
    smaller than the document's."""
    return 1 if setup.full else PART


def wanted(setup: Setup, load: str, most: int) -> int:
    """Returns the number of requests of a load, scaled like the device.

    At most `most` unless `full` is set; a quarter of that for a quick study, but half for proj_0.
    """
    whole = LOADS[load].requests // part(setup)
    if setup.full:
        return whole
    few = 2 if load == "proj_0" else 4
    return min(whole, most) // (few if setup.quick else 1)


def playback(
    setup: Setup,
    requests: int,
    *,
    faster: float = 1.0,
    bursts: bool = True,
    reads: Bursts = READS,
) -> Playback:
    """Returns a replay of `requests` requests on the pages of the scaled device."""
    return Playback(requests, faster, bursts, part(setup), reads)


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
    """Returns the case of a load under a policy. `more` overrides settings of the device."""
    settings: dict[str, Value] = {"buffer.capacity_kib": 1024 * mib, **chosen(policy, window)}
    settings |= {"nand.geometry.blocks_per_plane": WHOLE_BLOCKS // part(setup), **FILLED}
    settings |= more or {}
    told = [f"{key} = {value}" for key, value in (more or {}).items()]
    told += [f"seed {seed}"] if seed != 1 else []
    label = ", ".join([load, TITLES[policy], f"{mib} MiB", f"window {window:g}", *told])
    return Case(DEVICE, label, settings, trace, requests, seed)


def by_policy(runs: Runs, load: str, measure: Measure) -> Values:
    """Returns a metric of a load, by policy. Policies without a run are omitted."""
    return {policy: measure(runs[load, policy]) for policy in ALL if (load, policy) in runs}


def deviation_us(summary: Summary) -> float:
    """Returns the standard deviation of the response times. Microseconds."""
    return or_nan(summary["latency"]["all"]["std_us"])


def hit_percent(summary: Summary) -> float:
    """Returns the share of requested pages that hit in the buffer. Per cent."""
    buffer = summary["buffer"]
    return 100 * or_nan(buffer["hit_ratio"] if buffer else None)


def clean_percent(summary: Summary) -> float:
    """Returns the share of clean pages among those evicted from the buffer. Per cent."""
    buffer = summary["buffer"]
    return 100 * or_nan(buffer["clean_eviction_ratio"] if buffer else None)


def tail_us(summary: Summary) -> float:
    """Returns the 99.9th percentile of the response times. Microseconds."""
    return or_nan(summary["latency"]["all"]["p99_9_us"])


def gc_runs(summary: Summary) -> float:
    """Returns the number of GC runs per 1,000 requests."""
    runs = sum(one["runs"] for one in summary["collections"])
    return 1000 * runs / summary["input"]["requests"]
