"""Figures 3.5 and 3.7: requests as they arrive."""

from collections.abc import Mapping
from statistics import correlation
from typing import Literal

from wordline.study.cases import required
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.measures import gain, iops, latency_us, over
from wordline.study.palloc.charts import PUBLISHED, spread
from wordline.study.palloc.loads import KNOWN, TABLE, closed, timed
from wordline.study.palloc.orders import (
    BASE,
    CHANNEL,
    FAMILIES,
    FLASH,
    ORDERS,
    averaged,
    each,
    normalised,
    of,
)
from wordline.study.palloc.runs import Runs, by_order, wait_us
from wordline.study.palloc.throughput import ALONE, ONE_PAGE
from wordline.study.traces import recorded
from wordline.summary import Summary

# Of what CWDP can do; each strategy meets the same requests.
RATE = 0.5
# Of the rate of arrival: a strategy that completes less does not keep up.
KEEPS_UP = 0.97


def figures(setup: Setup) -> list[Figure]:
    """Figures of latency and waiting."""
    traces = recorded(setup, KNOWN)
    rates = _rates(setup)
    loads = [*TABLE, *traces]
    found, skipped = by_order(
        setup, loads, lambda load, order: timed(setup, load, order, rates, traces), traces
    )
    return [_latency(found, rates, skipped), _waiting(found)]


def _rates(setup: Setup) -> dict[str, float]:
    """By load: the share of CWDP's throughput at which requests arrive."""
    runs = required(setup, {load: closed(setup, load, BASE, {}) for load in TABLE})
    return {load: round(RATE * value) for load, value in over(runs, iops).items()}


def _against(values: Mapping[str, float]) -> float:
    """Channel-first against flash-level first. Per cent."""
    return gain(of(values, FLASH), of(values, CHANNEL))


def _latency(found: dict[str, Runs], rates: dict[str, float], skipped: list[str]) -> Figure:
    absolute = {load: over(runs, latency_us) for load, runs in found.items()}
    values = {load: normalised(one) for load, one in absolute.items()}
    table = {load: values[load] for load in TABLE}
    means = averaged(table.values())
    worse = [order for order in FLASH if means[order] > 1]
    met = {
        load: {order for order in ORDERS if iops(found[load][order]) > KEEPS_UP * rate}
        for load, rate in rates.items()
    }
    overrun = len(TABLE) * len(ORDERS) - sum(len(one) for one in met.values())
    bus = {
        "fin2, reads": over(found["fin2"], lambda run: _bus(run, "read")),
        "msnfs, writes": over(found["msnfs"], lambda run: _bus(run, "write")),
    }
    reads, writes = (of(values, ORDERS) for values in bus.values())
    return Figure(
        id="3.5",
        title="Figure 3.5: latency",
        section="3.5.1",
        measured="Mean response time of the 24 strategies over that of CWDP, pages placed by "
        "address. Of requests that are given 32 at a time the mean response time is 32 over IOPS "
        "and says nothing that figure 3.4 does not; so requests arrive here by themselves, "
        f"independently of each other, at a rate of {100 * RATE:.0f} % of what CWDP can do with "
        "the load, the same for all strategies; those of recorded traces by their time stamps. "
        "Strategies that serve less than that are overrun, and their times grow with the length of "
        "the run: they say which strategy is slower, and not by how much.",
        rows=[
            Row("die- and plane-first over CWDP", gain(1, of(means, FLASH)), "%",
                PUBLISHED("3.5", "flash-level first over CWDP")),
            Row("loads and strategies that serve less than 97 % of what arrives", float(overrun),
                f"of {len(TABLE) * len(ORDERS)}"),
            *(
                Row(f"{load}: channel-first against die- and plane-first", _against(table[load]),
                    "%", PUBLISHED("3.5", f"{load}, channel-first against flash-level first"))
                for load in ("msnfs", "fin2")
            ),
            Row("bus, of bus and array, reads of fin2", reads, "%", PUBLISHED("3.5", "bus, reads")),
            Row("bus, of bus and array, writes of msnfs", writes, "%",
                PUBLISHED("3.5", "bus, writes")),
            *(
                Row(f"{load}: die- and plane-first over channel-first",
                    gain(of(one, CHANNEL), of(one, FLASH)), "%")
                for load, one in values.items()
            ),
        ],
        plots=[
            Plot("Latency", "Mean response time over that of CWDP.",
                 spread(table, "time / CWDP", _beside(values))),
        ],
        claims=[
            Claim(
                "Most die- and plane-first strategies answer more slowly than CWDP",
                len(worse) > len(FLASH) / 2,
                f"{len(worse)} of {len(FLASH)}, mean {gain(1, of(means, FLASH)):+.1f} %",
            ),
            Claim(
                "PDCW and PDWC answer slightly faster than CWDP",
                means["PDCW"] < 1 and means["PDWC"] < 1,
                each(means, ("PDCW", "PDWC")),
                because=ALONE,
            ),
            Claim(
                "msnfs: channel-first strategies answer faster than die- and plane-first",
                _against(table["msnfs"]) < 0,
                f"{_against(table['msnfs']):+.1f} %",
            ),
            Claim(
                "fin2: channel-first strategies answer more slowly than die- and plane-first",
                _against(table["fin2"]) > 0,
                f"{_against(table['fin2']):+.1f} %",
                because=ONE_PAGE,
            ),
            Claim(
                "The bus takes at least 50.5 % of the time of reads, at most 7 % of that of writes",
                reads >= 50.5 and writes <= 7,
                f"{reads:.1f} and {writes:.1f} %",
                because="2,112 bytes take 42.2 µs on a channel of 50 MHz and the array 50 µs; only "
                "waiting for the bus, or two planes read at once, would make it more than half",
            ),
        ],
        explanation=[
            "Writes that are served alone are what overruns plane-first strategies, and reads that "
            "are moved over one channel some way-first ones. fin2, of single pages, shows what "
            "is left without either. Published is a mean at rates that are not stated.",
            *skipped,
        ],
        data={"latency_us": absolute, "bus_percent": bus},
    )  # fmt: skip


def _beside(values: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Of the loads that are not in the table."""
    return {load: one for load, one in values.items() if load not in TABLE}


def _bus(run: Summary, op: Literal["read", "write"]) -> float:
    parts = run["breakdown"][op]
    return 100 * parts["bus_us"] / (parts["bus_us"] + parts["cell_us"])


def _waiting(found: dict[str, Runs]) -> Figure:
    values = {load: over(runs, wait_us) for load, runs in found.items()}
    table = {load: values[load] for load in TABLE}
    means = averaged(table.values())
    times = averaged(over(found[load], latency_us) for load in TABLE)
    together = correlation([means[order] for order in ORDERS], [times[order] for order in ORDERS])
    return Figure(
        id="3.7",
        title="Figure 3.7: waiting for conflicts",
        section="3.5.1",
        measured="Mean time that a request waited in the device for others, in its queue, for a "
        "die or for a bus, in the runs of figure 3.5; without the wait for one of the 32 places. A "
        "request of several pages is described by the page done last.",
        rows=[
            *(
                Row(f"{family}, mean of the nine", of(means, orders), "µs")
                for family, orders in FAMILIES.items()
            ),
            *(Row(f"{order}, mean of the nine", means[order], "µs")
              for order in (BASE, "PDCW", "PDWC")),
        ],
        plots=[Plot("Waiting", "Mean time a request.", spread(table, "µs", _beside(values)))],
        claims=[
            Claim(
                "Strategies under which requests wait longer answer more slowly",
                together > 0.5,
                f"correlation of the 24 means {together:.2f}",
            ),
            Claim(
                "PDCW and PDWC wait less than CWDP",
                max(means["PDCW"], means["PDWC"]) < means[BASE],
                each(means, (BASE, "PDCW", "PDWC"), " µs"),
                because=ALONE,
            ),
        ],
        data={"wait_us": values},
    )  # fmt: skip
