"""Figures 3.5 and 3.7: latency and waiting time in an open loop."""

from collections.abc import Mapping
from typing import Literal

from wordline.summary import Summary
from wordline_studies.cases import required
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.measures import gain, iops, latency_us, over
from wordline_studies.palloc import claims
from wordline_studies.palloc.charts import PUBLISHED, spread
from wordline_studies.palloc.loads import (
    ADDRESS,
    DOCUMENT,
    KNOWN,
    TABLE,
    Variant,
    beside,
    closed,
    timed,
)
from wordline_studies.palloc.orders import (
    BASE,
    CHANNEL,
    FAMILIES,
    FLASH,
    ORDERS,
    averaged,
    normalised,
    of,
)
from wordline_studies.palloc.runs import Runs, by_order, wait_us
from wordline_studies.traces import recorded

# Arrival rates as shares of CWDP's throughput. All strategies receive the same requests.
RATE, BUSY = 0.1, 0.5
# Smallest share of the arrivals that a strategy must complete to keep up.
KEEPS_UP = 0.97


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for latency and waiting time. `--quick` omits the figure on a busier
    device, which has neither claims nor published numbers."""
    traces = recorded(setup, KNOWN)
    most = _most(setup, DOCUMENT)
    rates, loads = _rates(most, RATE), [*TABLE, *traces]
    found, skipped = by_order(
        setup, loads, lambda load, order: timed(setup, load, order, rates, traces), traces
    )
    made = compared(found, rates, skipped)
    return made if setup.quick else [*made, busy(setup)]


def busy(setup: Setup) -> Figure:
    """Returns the figure that compares arrivals at two rates."""
    most = _most(setup, DOCUMENT)
    return _busy(
        *(_at(setup, beside(setup), _rates(most, share), DOCUMENT) for share in (RATE, BUSY))
    )


def by_address(setup: Setup) -> list[Figure]:
    """Returns the figures with claims, for data placed by address before the run."""
    rates = _rates(_most(setup, ADDRESS), RATE)
    return compared(_at(setup, list(TABLE), rates, ADDRESS), rates, [])


def compared(found: dict[str, Runs], rates: dict[str, float], skipped: list[str]) -> list[Figure]:
    """Returns the figures of the document, from runs by load."""
    return [_latency(found, rates, skipped), _waiting(found)]


def _at(
    setup: Setup, loads: list[str], rates: dict[str, float], variant: Variant
) -> dict[str, Runs]:
    return by_order(
        setup, loads, lambda load, order: timed(setup, load, order, rates, {}, variant)
    )[0]


def _most(setup: Setup, variant: Variant) -> dict[str, float]:
    """Returns the throughput of CWDP, by load. Requests per second."""
    runs = required(setup, {load: closed(setup, load, BASE, {}, variant) for load in TABLE})
    return over(runs, iops)


def _rates(most: Mapping[str, float], share: float) -> dict[str, float]:
    """Returns the arrival rate that is a share of the throughput, by load."""
    return {load: round(share * value, 1) for load, value in most.items()}


def _against(values: Mapping[str, float]) -> float:
    """Returns the change from flash-level-first to channel-first strategies. Per cent."""
    return gain(of(values, FLASH), of(values, CHANNEL))


def _latency(found: dict[str, Runs], rates: dict[str, float], skipped: list[str]) -> Figure:
    absolute = {load: over(runs, latency_us) for load, runs in found.items()}
    values = {load: normalised(one) for load, one in absolute.items()}
    table = {load: values[load] for load in TABLE}
    means = averaged(table.values())
    bus = {
        "fin2, reads": over(found["fin2"], lambda run: _bus(run, "read")),
        "msnfs, writes": over(found["msnfs"], lambda run: _bus(run, "write")),
    }
    return Figure(
        id="3.5",
        title="Figure 3.5: latency",
        section="3.5.1",
        measured=(
            "Mean response time of the 24 strategies relative to CWDP. At a constant queue depth "
            "of 32, the mean response time is 32 over IOPS, and channel-first strategies would be "
            "52 % slower on msnfs, where the text states that they are 23 % faster. Requests "
            f"therefore arrive independently of completions here, at {100 * RATE:.0f} % of CWDP's "
            "throughput under the load, with the same arrivals for all strategies. Recorded "
            "traces are replayed by time stamp. The rate of a tenth was chosen after seeing "
            "results; chapter 7 reports pauses of more than 1 s after 34.6 % of the requests of "
            "msnfs."
        ),
        rows=_latency_rows(found, rates, values, bus),
        plots=[
            Plot(
                "Latency",
                "Mean response time relative to CWDP.",
                spread(table, "time / CWDP", _beside(values)),
            ),
        ],
        claims=claims.of_latency(table, means, _bus_waits(found)),
        explanation=[
            *skipped,
        ],
        data={"latency_us": absolute, "bus_percent": bus},
    )


def _latency_rows(
    found: dict[str, Runs],
    rates: dict[str, float],
    values: Mapping[str, Mapping[str, float]],
    bus: Mapping[str, Mapping[str, float]],
) -> list[Row]:
    means = averaged(values[load] for load in TABLE)
    met = {
        load: {order for order in ORDERS if iops(found[load][order]) > KEEPS_UP * rate}
        for load, rate in rates.items()
    }
    overrun = len(TABLE) * len(ORDERS) - sum(len(one) for one in met.values())
    reads, writes = (of(one, ORDERS) for one in bus.values())
    return [
        Row(
            "response time, increase of die- and plane-first over CWDP",
            gain(1, of(means, FLASH)),
            "%",
            PUBLISHED("3.5", "response time, increase of die- and plane-first over CWDP"),
        ),
        Row(
            "number of combinations of load and strategy that complete less than 97 % of the "
            "arrivals",
            float(overrun),
            f"of {len(TABLE) * len(ORDERS)}",
        ),
        *(
            Row(
                f"{load}: response time, change from die- and plane-first to channel-first",
                _against(values[load]),
                "%",
                PUBLISHED(
                    "3.5",
                    f"{load}: response time, change from die- and plane-first to channel-first",
                ),
            )
            for load in ("msnfs", "fin2")
        ),
        Row(
            "share of bus time in bus and array time, reads of fin2",
            reads,
            "%",
            PUBLISHED("3.5", "share of bus time in bus and array time, reads"),
        ),
        Row(
            "share of bus time in bus and array time, writes of msnfs",
            writes,
            "%",
            PUBLISHED("3.5", "share of bus time in bus and array time, writes"),
        ),
        *(
            Row(
                f"{load}: response time, increase of die- and plane-first over channel-first",
                gain(of(one, CHANNEL), of(one, FLASH)),
                "%",
            )
            for load, one in values.items()
        ),
    ]


def _bus_waits(found: dict[str, Runs]) -> dict[str, float]:
    """Returns the mean wait of requests for the bus, by strategy, mean of the nine loads.
    Microseconds."""
    return averaged(
        over(found[load], lambda run: run["breakdown"]["all"]["bus_wait_us"]) for load in TABLE
    )


def _beside(values: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Returns the values of the loads that are not in the table."""
    return {load: one for load, one in values.items() if load not in TABLE}


def _bus(run: Summary, op: Literal["read", "write"]) -> float:
    parts = run["breakdown"][op]
    return 100 * parts["bus_us"] / (parts["bus_us"] + parts["cell_us"])


def _waiting(found: dict[str, Runs]) -> Figure:
    values = {load: over(runs, wait_us) for load, runs in found.items()}
    table = {load: values[load] for load in TABLE}
    means = averaged(table.values())
    times = averaged(over(found[load], latency_us) for load in TABLE)
    return Figure(
        id="3.7",
        title="Figure 3.7: waiting for conflicts",
        section="3.5.1",
        measured=(
            "Mean time that a request waits in the device for other requests: in its queue, "
            "for a die or for a bus. The runs are those of figure 3.5; waiting for one of the "
            "32 queue slots is excluded. For a request of several pages, the wait is that of "
            "the page that completes last."
        ),
        rows=[
            *(
                Row(f"{family}: waiting time, mean of the nine loads", of(means, orders), "µs")
                for family, orders in FAMILIES.items()
            ),
            *(
                Row(f"{order}: waiting time, mean of the nine loads", means[order], "µs")
                for order in (BASE, "PDCW", "PDWC")
            ),
        ],
        plots=[
            Plot(
                "Waiting time",
                "Mean time that a request waits for other requests.",
                spread(table, "µs", _beside(values)),
            )
        ],
        claims=claims.of_waiting(table, means, times),
        data={"wait_us": values},
    )


def _busy(calm: dict[str, Runs], busy: dict[str, Runs]) -> Figure:
    """Returns the figure that compares arrivals at half of CWDP's throughput with arrivals at a
    tenth of it."""
    rows: list[Row] = []
    waits: dict[str, dict[str, float]] = {}
    for words, found in ((RATE, calm), (BUSY, busy)):
        at = f"at {100 * words:.0f} % of CWDP's throughput"
        tables = {load: over(found[load], latency_us) for load in busy}
        values = {load: normalised(one) for load, one in tables.items()}
        means = averaged(values.values())
        waits[at] = averaged(over(found[load], wait_us) for load in busy)
        rows += [
            Row(
                f"{at}: number of die- and plane-first strategies with a longer response time "
                "than CWDP",
                float(sum(means[order] > 1 for order in FLASH)),
                f"of {len(FLASH)}",
            ),
            *(
                Row(
                    f"{at}: {load}, response time, change from die- and plane-first to "
                    "channel-first",
                    _against(values[load]),
                    "%",
                )
                for load in ("msnfs", "fin2")
            ),
            *(
                Row(f"{at}: response time of {order} over that of CWDP", means[order], "")
                for order in ("PDCW", "PDWC")
            ),
            *(
                Row(f"{at}: mean waiting time of a request under {order}", waits[at][order], "µs")
                for order in (BASE, "PDCW", "PDWC")
            ),
        ]
    return Figure(
        id="busy",
        title="Arrivals at half of CWDP's throughput",
        section="3.5.1",
        measured=(
            f"Figures 3.5 and 3.7 at {100 * BUSY:.0f} % of CWDP's throughput, compared with "
            f"{100 * RATE:.0f} %; means of {', '.join(busy)}."
        ),
        rows=rows,
        explanation=[
            "On a busier device, waiting outweighs the service time of a request. At half of "
            "CWDP's throughput, channel-first strategies respond more slowly than die- and "
            "plane-first ones on msnfs as well, which contradicts the text. At both rates, "
            "requests wait less under PDCW than under CWDP, and longer under PDWC.",
        ],
        data={"wait_us": waits},
    )
