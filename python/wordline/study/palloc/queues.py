"""The queue: none that blocks, and what two requests under way must not share."""

from collections.abc import Mapping
from dataclasses import replace

from wordline.config import Value
from wordline.study.figure import Figure, Plot, Row, Setup
from wordline.study.measures import gain, idle_percent, iops, over, over_loads
from wordline.study.palloc.charts import PUBLISHED, spread
from wordline.study.palloc.loads import IMMEDIATE, PAGE, QUICK, TABLE, Variant, closed
from wordline.study.palloc.orders import (
    BASE,
    CHANNEL,
    FAMILIES,
    FLASH,
    ORDERS,
    PLANE,
    WAY,
    averaged,
    mean,
    normalised,
    of,
)
from wordline.study.palloc.runs import Runs, by_order, channel_percent, parallel_percent
from wordline.study.palloc.sequential import WHOLE

REQUESTS = 20_000
READS_WAIT: dict[str, Value] = {"ssd.scheduler.vaq.holds_writes": False}
# The same pages, each plane a die of its own: nothing needs a command in common.
APART: dict[str, Value] = {"nand.geometry.planes_per_die": 1, "nand.geometry.dies_per_package": 4}
READINGS = {
    "die": Variant(queue="die"),
    "package": Variant(),
    "channel": Variant(queue="channel"),
    "immediate": Variant(queue=IMMEDIATE),
    "package, only reads wait": Variant(more=READS_WAIT),
    "package, planes apart": Variant(more=APART),
    "channel, planes apart": Variant(queue="channel", more=APART),
}
WRITES, ONE_PAGE = "msnfs", "fin2"
RANDOM: dict[str, Value] = {"workload.pattern.mixed.random_ratio": 1.0}


def _written(pages: int) -> dict[str, Value]:
    """Writes of so many pages and nothing else, on whole stripes: the first begins a package."""
    return {**WHOLE, "workload.read_ratio": 0.0, "workload.write_bytes": pages * PAGE}


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
        Row(f"{family}: IOPS, immediate over VAQ", mean(of(one, orders) for one in gains.values()),
            "%")
        for family, orders in FAMILIES.items()
    ]  # fmt: skip
    rows += [
        Row(f"{load}: immediate over VAQ, mean of the strategies", of(one, ORDERS), "%")
        for load, one in gains.items()
    ]
    rows += [
        Row("immediate: die- and plane-first over channel-first",
            gain(of(means, CHANNEL), of(means, FLASH)), "%",
            PUBLISHED("3.4", "flash-level first over channel-first")),
        *(Row(f"immediate: {family} over CWDP", gain(1, of(means, orders)), "%")
          for family, orders in FAMILIES.items()),
    ]  # fmt: skip
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
        for queue, runs in (("VAQ", blocking), ("immediate", free))
    ]
    return Figure(
        id="immediate",
        title="Without a queue that blocks",
        section="3.5.1",
        measured="The runs of figure 3.4 again, but every page goes to the queue of its die as "
        "soon as its request is admitted, and no request waits for what goes elsewhere. The "
        "document does not have this; it is what the same flash can do.",
        rows=rows,
        plots=[
            Plot("Throughput, immediate", "IOPS over those of CWDP, immediate as well.",
                 spread(values, "IOPS / CWDP")),
            Plot("Immediate over VAQ", "By how much IOPS are higher.", spread(gains, "%")),
        ],
        explanation=[
            "No request holds up others, and what is left between the strategies is how many pages "
            "of a request share a channel and a die: the fewer the better.",
        ],
        data={"iops": over_loads(free, iops), "gain_percent": gains},
    )  # fmt: skip


def conflicts(setup: Setup) -> Figure:
    """What the reading of "conflict" does to the strategies, and what being served alone does."""
    found = {name: _runs(setup, list(TABLE), variant) for name, variant in READINGS.items()}
    single = _runs(setup, [WRITES], Variant(depth=1))[WRITES]
    anywhere = _runs(setup, [ONE_PAGE], Variant(more=RANDOM))[ONE_PAGE]
    written = {
        pages: over(_runs(setup, [WRITES], Variant("dynamic", more=_written(pages)))[WRITES], iops)
        for pages in (4, 5)
    }
    values = {
        name: {load: normalised(one) for load, one in over_loads(runs, iops).items()}
        for name, runs in found.items()
    }
    rows = [row for name, runs in found.items() for row in _rows(name, runs, values[name])]
    rows += [
        Row(f"package: {WRITES}, {family}, 32 at a time over one at a time",
            gain(of(over(single, iops), orders), of(over(found["package"][WRITES], iops), orders)),
            "%")
        for family, orders in (("channel-first", CHANNEL), ("plane-first", PLANE))
    ]  # fmt: skip
    rows.append(
        Row(f"package: {ONE_PAGE}, all random, channel-first against die- and plane-first",
            gain(of(over(anywhere, iops), FLASH), of(over(anywhere, iops), CHANNEL)), "%")
    )  # fmt: skip
    rows += [
        Row(f"package: writes of {pages} pages placed as they come, {order} over CWDP",
            gain(one[BASE], one[order]), "%")
        for pages, one in written.items()
        for order in ("PDCW", "PDWC")
    ]  # fmt: skip
    return Figure(
        id="conflicts",
        title="What two requests must not share",
        section="3.5.3",
        measured="The document's queue stops at a conflict in a flash or channel. Two requests may "
        "not have in common: a die; a package, as in the figures above; a channel; nothing at all "
        "(immediate). Only reads wait: writes go to their dies at once. Planes apart: each plane "
        "is a die of its own, four a package, so that no two pages need a command in common. "
        f"Shorter runs than figure 3.4, {REQUESTS:,} requests on 64 blocks a plane. It tests the "
        "reasons that are given above.",
        rows=rows,
        plots=[
            Plot(name.capitalize(), "IOPS over those of CWDP.", spread(one, "IOPS / CWDP"))
            for name, one in values.items()
        ],
        explanation=[
            "Pages of a write that want two planes of a die are one command only if both planes "
            "are at the same page of their blocks. Placed by address, planes are filled unevenly, "
            "and they hardly ever are. Such a request is served alone: under plane-first "
            "strategies 32 writes at a time are served no faster than one at a time. With planes "
            "apart that is gone, and with it all that die- and plane-first strategies lose on "
            "average; msnfs then gains from them as published, with packages two thirds as much.",
            "A reading by channels takes most from channel-first strategies, under which a request "
            "has all channels for itself, so that way-first strategies serve more in most loads, "
            "as published; with planes apart die- and plane-first ones as well, by less than is "
            "published: reads of many pages are still moved over few channels.",
            "Placed as they come, writes of four pages fill one package each under die- and "
            "plane-first strategies that take die and plane first, and those serve more than CWDP. "
            "With five pages every write begins in the package of the one before, waits for it, "
            "and they serve a fraction.",
        ],
        data={"iops": {name: over_loads(runs, iops) for name, runs in found.items()}},
    )


def _runs(setup: Setup, loads: list[str], variant: Variant) -> dict[str, Runs]:
    small = replace(variant, more={**QUICK, **variant.more})
    return by_order(
        setup, loads, lambda load, order: closed(setup, load, order, {}, small, REQUESTS)
    )[0]


def _rows(
    name: str, runs: Mapping[str, Runs], values: Mapping[str, Mapping[str, float]]
) -> list[Row]:
    means = averaged(values.values())
    more = [load for load, one in values.items() if of(one, WAY) > of(one, CHANNEL)]
    return [
        Row(f"{name}: die- and plane-first over channel-first",
            gain(of(means, CHANNEL), of(means, FLASH)), "%",
            PUBLISHED("3.4", "flash-level first over channel-first")),
        Row(f"{name}: die- and plane-first over CWDP", gain(1, of(means, FLASH)), "%",
            PUBLISHED("3.4", "flash-level first over channel-and-way striping, mean")),
        *(Row(f"{name}: {load}, channel-first against die- and plane-first",
              gain(of(values[load], FLASH), of(values[load], CHANNEL)), "%",
              PUBLISHED("3.4", f"{load}, channel-first against flash-level first"))
          for load in (WRITES, ONE_PAGE)),
        Row(f"{name}: loads in which way-first serves more than channel-first", float(len(more)),
            "of 9"),
        Row(f"{name}: channel utilisation",
            of(averaged(over_loads(runs, channel_percent).values()), ORDERS), "%",
            PUBLISHED("3.9", "channel utilisation")),
    ]  # fmt: skip
