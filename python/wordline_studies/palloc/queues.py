"""Effect of the reading's rules, changed one at a time, and the same flash with a scheduler in
which no request blocks another."""

from collections.abc import Mapping

from wordline.config import Value
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.measures import gain, idle_percent, iops, over, over_loads
from wordline_studies.palloc.charts import spread
from wordline_studies.palloc.loads import DOCUMENT, Variant, beside, closed
from wordline_studies.palloc.orders import (
    CHANNEL,
    FAMILIES,
    FLASH,
    ORDERS,
    WAY,
    averaged,
    best,
    mean,
    normalised,
    of,
)
from wordline_studies.palloc.runs import Runs, by_order, channel_percent, parallel_percent

REQUESTS = 4_000
DIES: dict[str, Value] = {"ssd.scheduler.ncq.conflict": "die"}
PACKAGES: dict[str, Value] = {"ssd.scheduler.ncq.conflict": "package"}
NOT_GATHERED: dict[str, Value] = {"ssd.scheduler.ncq.gathers": False}
WHOLE_REQUESTS: dict[str, Value] = {"ssd.scheduler.vaq.conflict": "channel"}
RULES = {
    "the reading": DOCUMENT,
    "conflicts of dies": Variant(more=DIES),
    "conflicts of packages": Variant(more=PACKAGES),
    "nothing gathered": Variant(more=NOT_GATHERED),
    "whole requests": Variant(queue="vaq", more=WHOLE_REQUESTS),
    "pages on arrival": Variant(on_issue=False),
}


def immediate(blocking: Mapping[str, Runs], free: Mapping[str, Runs]) -> Figure:
    """Returns the figure for the runs of figure 3.4 with an immediate scheduler, compared with the
    blocking queue. Both arguments hold results by load."""
    values = {load: normalised(over(runs, iops)) for load, runs in free.items()}
    means = averaged(values.values())
    gains = {
        load: {
            order: gain(iops(blocking[load][order]), iops(run)) for order, run in free[load].items()
        }
        for load in free
    }
    rows = [
        Row(
            f"{family}: IOPS gain of the immediate scheduler over the blocking queue",
            mean(of(one, orders) for one in gains.values()),
            "%",
        )
        for family, orders in FAMILIES.items()
    ]
    rows += [
        Row(
            f"{load}: IOPS gain of the immediate scheduler over the blocking queue, mean of the "
            "strategies",
            of(one, ORDERS),
            "%",
        )
        for load, one in gains.items()
    ]
    rows += [
        Row(
            "immediate scheduler: IOPS, gain of die- and plane-first over channel-first",
            gain(of(means, CHANNEL), of(means, FLASH)),
            "%",
        ),
        *(
            Row(
                f"immediate scheduler: IOPS, gain of {family} over CWDP",
                gain(1, of(means, orders)),
                "%",
            )
            for family, orders in FAMILIES.items()
        ),
    ]
    measures = {
        "channel utilisation": channel_percent,
        "share of time in which dies are idle": idle_percent,
        "flash-level parallelism (share of commands)": parallel_percent,
    }
    rows += [
        Row(
            f"{queue}: {words}",
            of(averaged(over_loads(runs, measure).values()), ORDERS),
            "%",
        )
        for words, measure in measures.items()
        for queue, runs in (("blocking queue", blocking), ("immediate", free))
    ]
    return Figure(
        id="immediate",
        title="Without a blocking queue",
        section="3.5.1",
        measured=(
            f"The runs of figure 3.4 again ({', '.join(free)}), but each page enters the queue of "
            "its die as soon as its request is admitted, and no request waits for pages of other "
            "dies. Pages are allocated on arrival. The document does not have this scheduler, "
            "which shows the potential of the same flash."
        ),
        rows=rows,
        plots=[
            Plot(
                "Throughput, immediate",
                "IOPS relative to CWDP, both with the immediate scheduler.",
                spread(values, "IOPS / CWDP"),
            ),
            Plot(
                "Gain of the immediate scheduler over the blocking queue",
                "Increase of IOPS.",
                spread(gains, "%"),
            ),
        ],
        explanation=[
            "No request blocks another. The remaining difference between the strategies is the "
            "number of pages of a request that share a channel and a die: fewer are better.",
        ],
        data={"iops": over_loads(free, iops), "gain_percent": gains},
    )


def rules(setup: Setup) -> list[Figure]:
    """Returns the figure of the effect of each rule of the interpretation, changed one at a time;
    an empty list with `--quick`."""
    if setup.quick:
        return []
    found = {name: _runs(setup, variant) for name, variant in RULES.items()}
    values = {
        name: {load: normalised(one) for load, one in over_loads(runs, iops).items()}
        for name, runs in found.items()
    }
    figure = Figure(
        id="rules",
        title="Effect of the rules",
        section="3.5",
        measured=(
            f"The runs of figure 3.4, {REQUESTS:,} requests of each of "
            f"{', '.join(beside(setup))}, with one rule of the reading changed at a time. "
            "Conflicts of dies or packages: two requests may not share a die or a package, "
            "instead of a channel. Nothing gathered: pages committed at the same instant conflict "
            "like others. Whole requests (`vaq`): a request starts with all of its pages when no "
            "channel that it needs is in use. Pages on arrival: writes are allocated on arrival, "
            "not on issue."
        ),
        rows=[row for name in found for row in _rows(name, found[name], values[name])],
        plots=[
            Plot(name.capitalize(), "IOPS relative to CWDP.", spread(one, "IOPS / CWDP"))
            for name, one in values.items()
        ],
        explanation=[
            "The order of the strategies results from the combination of channel conflicts, "
            "issue page by page, and gathering. Without channel conflicts, msnfs and fin2 show "
            "little difference. Without gathering, or with whole requests, first-read "
            "placement is a disadvantage.",
            "Pages allocated on arrival cannot form one command unless both planes of their die "
            "are at the same page of their blocks. Planes filled by address hardly ever meet this "
            "condition.",
        ],
        data={"iops": {name: over_loads(runs, iops) for name, runs in found.items()}},
    )
    return [figure]


def _runs(setup: Setup, variant: Variant) -> dict[str, Runs]:
    return by_order(
        setup,
        beside(setup),
        lambda load, order: closed(setup, load, order, {}, variant, REQUESTS),
    )[0]


def _rows(
    name: str, runs: Mapping[str, Runs], values: Mapping[str, Mapping[str, float]]
) -> list[Row]:
    means = averaged(values.values())
    more = [load for load, one in values.items() if of(one, WAY) > of(one, CHANNEL)]
    first = best(means, ORDERS)
    return [
        Row(
            f"{name}: IOPS, gain of die- and plane-first over channel-first",
            gain(of(means, CHANNEL), of(means, FLASH)),
            "%",
        ),
        *(
            Row(
                f"{name}: {load}, IOPS, change from die- and plane-first to channel-first",
                gain(of(values[load], FLASH), of(values[load], CHANNEL)),
                "%",
            )
            for load in ("msnfs", "fin2")
        ),
        *(
            Row(
                f"{name}: {load}, IOPS, gain of die- and plane-first over channel-first",
                gain(of(values[load], CHANNEL), of(values[load], FLASH)),
                "%",
            )
            for load in ("web", "sql2")
        ),
        Row(
            f"{name}: number of loads with higher IOPS under way-first than under channel-first "
            "strategies",
            float(len(more)),
            f"of {len(values)}",
        ),
        Row(
            f"{name}: IOPS gain of the best strategy, {first}, over CWDP",
            gain(1, means[first]),
            "%",
        ),
        Row(
            f"{name}: channel utilisation",
            of(averaged(over_loads(runs, channel_percent).values()), ORDERS),
            "%",
        ),
    ]
