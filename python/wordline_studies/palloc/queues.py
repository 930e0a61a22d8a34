"""What of the reading decides: each of its rules changed by itself; and no queue that blocks."""

from collections.abc import Mapping

from wordline.config import Value
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.measures import gain, idle_percent, iops, over, over_loads
from wordline_studies.palloc.charts import PUBLISHED, spread
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
    """The runs of figure 3.4 without a queue that blocks, beside those with it. By load."""
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
            f"{family}: IOPS, immediate over the queue",
            mean(of(one, orders) for one in gains.values()),
            "%",
        )
        for family, orders in FAMILIES.items()
    ]
    rows += [
        Row(f"{load}: immediate over the queue, mean of the strategies", of(one, ORDERS), "%")
        for load, one in gains.items()
    ]
    rows += [
        Row(
            "immediate: die- and plane-first over channel-first",
            gain(of(means, CHANNEL), of(means, FLASH)),
            "%",
            PUBLISHED("3.4", "flash-level first over channel-first"),
        ),
        *(
            Row(f"immediate: {family} over CWDP", gain(1, of(means, orders)), "%")
            for family, orders in FAMILIES.items()
        ),
    ]
    measures = {
        "channel utilisation": (channel_percent, PUBLISHED("3.9", "channel utilisation")),
        "dies idle": (idle_percent, PUBLISHED("3.10", "idle")),
        "flash-level parallelism": (parallel_percent, None),
    }
    rows += [
        Row(
            f"{queue}: {words}",
            of(averaged(over_loads(runs, measure).values()), ORDERS),
            "%",
            number,
        )
        for words, (measure, number) in measures.items()
        for queue, runs in (("the queue", blocking), ("immediate", free))
    ]
    return Figure(
        id="immediate",
        title="Without a queue that blocks",
        section="3.5.1",
        measured=f"The runs of figure 3.4 again ({', '.join(free)}), but every page goes to the "
        "queue of its die as soon as its request is admitted, and no request waits for what goes "
        "elsewhere. Pages get their places when they come. The document does not have this; it is "
        "what the same flash can do.",
        rows=rows,
        plots=[
            Plot(
                "Throughput, immediate",
                "IOPS over those of CWDP, immediate as well.",
                spread(values, "IOPS / CWDP"),
            ),
            Plot("Immediate over the queue", "By how much IOPS are higher.", spread(gains, "%")),
        ],
        explanation=[
            "No request holds up others, and what is left between the strategies is how many pages "
            "of a request share a channel and a die: the fewer the better.",
        ],
        data={"iops": over_loads(free, iops), "gain_percent": gains},
    )


def rules(setup: Setup) -> list[Figure]:
    """What each rule of the reading does, changed by itself; not with `--quick`."""
    if setup.quick:
        return []
    found = {name: _runs(setup, variant) for name, variant in RULES.items()}
    values = {
        name: {load: normalised(one) for load, one in over_loads(runs, iops).items()}
        for name, runs in found.items()
    }
    figure = Figure(
        id="rules",
        title="What decides",
        section="3.5",
        measured=f"The runs of figure 3.4, {REQUESTS:,} requests of each of "
        f"{', '.join(beside(setup))}, with one rule of the reading changed "
        "at a time: two requests may not share a die, or a package, in "
        "place of a channel; pages committed at one instant are in each other's way as others are "
        "(nothing gathered); a request begins when no channel that it needs is in use, and with "
        "all of its pages (whole requests, `vaq`); writes get their pages when they come.",
        rows=[row for name in found for row in _rows(name, found[name], values[name])],
        plots=[
            Plot(name.capitalize(), "IOPS over those of CWDP.", spread(one, "IOPS / CWDP"))
            for name, one in values.items()
        ],
        explanation=[
            "Channels, pages one by one and gathering make the order of the strategies together. "
            "Without channels little is left of msnfs and fin2; without gathering, or with whole "
            "requests, data that lie as they are first read do harm.",
            "Pages that lie as they come cannot be one command unless both planes of their die are "
            "at the same page of their blocks, which planes that are filled by address hardly "
            "ever are.",
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
            f"{name}: die- and plane-first over channel-first",
            gain(of(means, CHANNEL), of(means, FLASH)),
            "%",
            PUBLISHED("3.4", "flash-level first over channel-first"),
        ),
        *(
            Row(
                f"{name}: {load}, channel-first against die- and plane-first",
                gain(of(values[load], FLASH), of(values[load], CHANNEL)),
                "%",
                PUBLISHED("3.4", f"{load}, channel-first against flash-level first"),
            )
            for load in ("msnfs", "fin2")
        ),
        *(
            Row(
                f"{name}: {load}, die- and plane-first over channel-first",
                gain(of(values[load], CHANNEL), of(values[load], FLASH)),
                "%",
            )
            for load in ("web", "sql2")
        ),
        Row(
            f"{name}: loads in which way-first serves more than channel-first",
            float(len(more)),
            f"of {len(values)}",
        ),
        Row(f"{name}: best of all, {first}, over CWDP", gain(1, means[first]), "%"),
        Row(
            f"{name}: channel utilisation",
            of(averaged(over_loads(runs, channel_percent).values()), ORDERS),
            "%",
            PUBLISHED("3.9", "channel utilisation"),
        ),
    ]
