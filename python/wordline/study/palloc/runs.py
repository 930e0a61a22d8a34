"""Simulating many loads on many strategies, on all cores."""

from collections.abc import Callable, Mapping, Sequence

from wordline.study.cases import Case, run_all
from wordline.study.figure import Setup
from wordline.study.palloc.orders import ORDERS
from wordline.summary import Summary

DEVICE = "jung2013-palloc"
DEPTH = 32

# By strategy.
Runs = dict[str, Summary]


def by_order(
    setup: Setup, loads: Sequence[str], case: Callable[[str, str], Case]
) -> tuple[dict[str, Runs], dict[str, str]]:
    """Every load on every strategy; `case` makes the case of a load and a strategy.

    Returns the summaries, and for loads that cannot be simulated the reason.
    """
    pairs = [(load, order) for load in loads for order in ORDERS]
    cases = [case(load, order) for load, order in pairs]
    found: dict[str, Runs] = {load: {} for load in loads}
    faults: dict[str, str] = {}
    for (load, order), one, run in zip(pairs, cases, run_all(DEVICE, cases), strict=True):
        if run.summary is None:
            faults.setdefault(load, run.fault)
            continue
        setup.note(one.label, run.config)
        found[load][order] = run.summary
    return {load: runs for load, runs in found.items() if load not in faults}, faults


def over(runs: Mapping[str, Summary], measure: Callable[[Summary], float]) -> dict[str, float]:
    """A measure of each strategy."""
    return {order: measure(summary) for order, summary in runs.items()}


def by_load(
    found: Mapping[str, Runs], measure: Callable[[Summary], float]
) -> dict[str, dict[str, float]]:
    """A measure of each load and strategy."""
    return {load: over(runs, measure) for load, runs in found.items()}


def wait_us(summary: Summary) -> float:
    """Mean time in the device of waiting for others: in its queue, for a die, for a bus."""
    parts = summary["breakdown"]["all"]
    return parts["queue_us"] + parts["die_wait_us"] + parts["bus_wait_us"]


def commands(summary: Summary) -> float:
    """Commands of the flash: flash transactions, in the document's words."""
    return float(summary["commands"]["total"])


def parallel_percent(summary: Summary) -> float:
    """Share of commands that share planes or interleave dies."""
    told = summary["commands"]
    return 100 * (1 - told["plain"] / told["total"]) if told["total"] else 0.0


def channel_percent(summary: Summary) -> float:
    """Mean share of the time in which a channel was in use."""
    return 100 * summary["utilisation"]["channel_mean"]
