"""Runs of many loads on many strategies, on all cores."""

from collections.abc import Callable, Container, Iterable

from wordline.summary import Summary
from wordline_studies.cases import Case, by_load
from wordline_studies.figure import Setup
from wordline_studies.palloc.orders import ORDERS

DEVICE = "jung2013-palloc"
DEPTH = 32

# Summaries by strategy.
Runs = dict[str, Summary]


def by_order(
    setup: Setup,
    loads: Iterable[str],
    case: Callable[[str, str], Case],
    recorded: Container[str] = (),
) -> tuple[dict[str, Runs], list[str]]:
    """Runs every load on every strategy, like `wordline_studies.cases.by_load`. `case` returns the
    case of a load and a strategy."""
    return by_load(
        setup, {(load, order): case(load, order) for load in loads for order in ORDERS}, recorded
    )


def wait_us(summary: Summary) -> float:
    """Returns the mean time that a request waits in the device for others: in its queue, for a die
    and for a bus. Microseconds."""
    parts = summary["breakdown"]["all"]
    return parts["queue_us"] + parts["die_wait_us"] + parts["bus_wait_us"]


def commands(summary: Summary) -> float:
    """Returns the number of flash commands, which the document calls flash transactions."""
    return float(summary["commands"]["total"])


def parallel_percent(summary: Summary) -> float:
    """Returns the share of commands on several planes or interleaved dies. Per cent."""
    told = summary["commands"]
    return 100 * (1 - told["plain"] / told["total"]) if told["total"] else 0.0


def channel_percent(summary: Summary) -> float:
    """Returns the mean utilisation of the channels. Per cent."""
    return 100 * summary["utilisation"]["channel_mean"]
