"""Figures 3.4, 3.6 and 3.8 to 3.11: throughput at queue depth 32. Static and dynamic placement."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from wordline.summary import Summary
from wordline_studies.cases import Case
from wordline_studies.figure import Figure, Plot, Published, Row, Setup
from wordline_studies.measures import gain, idle_percent, iops, over, over_loads
from wordline_studies.outcome import PER_CENT
from wordline_studies.palloc import claims, queues
from wordline_studies.palloc.charts import PUBLISHED, spread, stacked
from wordline_studies.palloc.loads import (
    ADDRESS,
    BLOCKS,
    FITTED,
    IMMEDIATE,
    KNOWN,
    PAGE,
    QUICK_BLOCKS,
    TABLE,
    Variant,
    beside,
    closed,
)
from wordline_studies.palloc.orders import (
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
from wordline_studies.palloc.runs import (
    DEPTH,
    Runs,
    by_order,
    channel_percent,
    commands,
    parallel_percent,
)
from wordline_studies.traces import recorded

RUN = (
    f"Queue depth {DEPTH}: when a request completes, the next is submitted, so IOPS are the "
    "throughput of the device."
)
# Seeds of the runs of figure 3.4. The best strategies differ as little as runs with different
# seeds.
SEEDS = (1, 2, 3)
INPUT = "the load is generated with the means of this table"
Values = dict[str, dict[str, float]]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for throughput. `--quick` omits the figure on the immediate scheduler,
    which has neither claims nor published numbers."""
    traces = recorded(setup, KNOWN)
    static, skipped = by_order(
        setup, [*TABLE, *traces], lambda load, order: closed(setup, load, order, traces), traces
    )
    again = [] if setup.quick else [_again(setup, seed) for seed in SEEDS[1:]]
    loads = beside(setup)
    dynamic = _runs(setup, loads, Variant("dynamic"))
    fitted = {load: runs for load, runs in static.items() if load in TABLE}
    others = {load: runs for load, runs in static.items() if load not in TABLE}
    some = {load: fitted[load] for load in loads}
    made = [
        _table(fitted),
        *compared(setup, [fitted, *again], others, skipped),
        _placement(some, dynamic),
    ]
    return made if setup.quick else [*made, immediate(setup, some)]


def immediate(setup: Setup, blocking: Mapping[str, Runs]) -> Figure:
    """Returns the figure for an immediate scheduler. `blocking` are the runs of figure 3.4, by
    load."""
    return queues.immediate(blocking, _runs(setup, list(blocking), Variant(queue=IMMEDIATE)))


def by_address(setup: Setup) -> list[Figure]:
    """Returns the figures with claims, for data placed by address before the run."""
    return compared(setup, [_runs(setup, list(TABLE), ADDRESS)], {}, [])


def compared(
    setup: Setup, seeds: Sequence[dict[str, Runs]], others: dict[str, Runs], skipped: list[str]
) -> list[Figure]:
    """Returns the figures of the document, from runs by load. `others` are runs of recorded
    traces."""
    fitted = seeds[0]
    return [
        _throughput(setup, seeds, others, skipped),
        _commands(fitted),
        _classes(fitted),
        _channels(fitted),
        *_executions(fitted),
    ]


def _again(setup: Setup, seed: int) -> dict[str, Runs]:
    def other(load: str, order: str) -> Case:
        made = closed(setup, load, order, {})
        return replace(made, label=f"{made.label}, seed {seed}", seed=seed)

    return by_order(setup, list(TABLE), other)[0]


def _runs(setup: Setup, loads: Sequence[str], variant: Variant) -> dict[str, Runs]:
    return by_order(setup, loads, lambda load, order: closed(setup, load, order, {}, variant))[0]


def _less(values: Mapping[str, float]) -> float:
    """Returns the change from flash-level-first to channel-first strategies. Per cent."""
    return gain(of(values, FLASH), of(values, CHANNEL))


def _table(fitted: dict[str, Runs]) -> Figure:
    rows: list[Row] = []
    for name, load in TABLE.items():
        told = fitted[name][BASE]["input"]
        written = told["written_bytes"] / PAGE / told["writes"] if told["writes"] else None
        read = told["read_bytes"] / PAGE / told["reads"] if told["reads"] else None
        share = told["written_bytes"] / (told["written_bytes"] + told["read_bytes"])
        writes = told["writes"] / (told["writes"] + told["reads"])
        rows += [
            Row(
                f"{name}: share of data written",
                100 * share,
                "%",
                Published(load.data_written_percent, "%", "table 3.1", fitted=INPUT),
            ),
            Row(
                f"{name}: mean size of a write",
                written,
                "pages",
                Published(load.write_pages, "pages", "table 3.1", fitted=INPUT),
            ),
            Row(
                f"{name}: mean size of a read",
                read,
                "pages",
                Published(load.read_pages, "pages", "table 3.1", fitted=INPUT),
            ),
            Row(
                f"{name}: share of writes in the requests",
                100 * writes,
                "%",
                Published(load.write_percent, "%", "table 6.1", fitted=INPUT),
            ),
        ]
    collected = sum(run["flash"]["gc_runs"] for runs in fitted.values() for run in runs.values())
    rows.append(Row("number of GC runs, all loads and strategies", float(collected), ""))
    return Figure(
        id="table-3.1",
        title="Table 3.1: loads",
        section="3.4",
        measured=f"The requests that the device received. {FITTED}",
        rows=rows,
        explanation=[
            "The traces behind the table are not available. The loads have no property that the "
            "table does not give: popularity of addresses, distribution of sizes, arrival times, "
            "repetition of reads.",
            "Table 3.1 rounds its sizes down: the 8,846 MB of fin2 over the requests of table "
            "6.1 are 1.42 pages per write and 1.11 per read, where the table has 1 and 1. Its "
            "share of writes refers to the data (21.5 % of fin2's); of the requests, 17.7 % "
            "are writes.",
            "Blocks per plane, over-provisioning and GC are not published (see the preset). "
            f"The runs use {BLOCKS} blocks per plane, {QUICK_BLOCKS} with --quick, all with "
            "--full. The device is full at the start and has enough free blocks for these runs.",
        ],
    )


def _throughput(
    setup: Setup, seeds: Sequence[dict[str, Runs]], others: dict[str, Runs], skipped: list[str]
) -> Figure:
    runs = [over_loads(one, iops) for one in seeds]
    absolute = {load: averaged(one[load] for one in runs) for load in TABLE}
    absolute |= over_loads(others, iops)
    values = {load: normalised(one) for load, one in absolute.items()}
    table = {load: values[load] for load in TABLE}
    means = averaged(table.values())
    return Figure(
        id="3.4",
        title="Figure 3.4: throughput",
        section="3.5.1",
        measured=(
            f"IOPS of the 24 strategies relative to CWDP. {RUN} Claims and published numbers "
            "refer to the mean of the nine loads of table 3.1."
        )
        + (f" IOPS are means of {len(seeds)} runs with different seeds." * (len(seeds) > 1)),
        rows=_throughput_rows(values, means),
        plots=[
            Plot(
                "Throughput",
                "IOPS relative to CWDP.",
                spread(table, "IOPS / CWDP", {load: values[load] for load in others}),
            ),
        ],
        claims=claims.of_throughput(setup, table, means),
        explanation=[
            'Claims are taken literally: "most" means more than half; "slightly" and "as '
            f'good" mean within {PER_CENT:g} %, the tolerance of a published number.',
            "The text gives 29 % for most die- and plane-first strategies over channel-first "
            "ones. Over CWDP, it gives 40.1 % on average and 84.8 % at most for one strategy "
            "that fills flash-level resources first (section 3.1). The strategy that it calls "
            "best is PWCD.",
            *skipped,
        ],
        data={"iops": absolute},
    )


def _throughput_rows(values: Values, means: Mapping[str, float]) -> list[Row]:
    table = {load: values[load] for load in TABLE}
    over_channel = gain(of(means, CHANNEL), of(means, FLASH))
    over_base, named = gain(1, of(means, FLASH)), gain(1, means["PWCD"])
    most = max(gain(1, one["PWCD"]) for one in table.values())
    return [
        Row(
            "IOPS, gain of die- and plane-first over channel-first",
            over_channel,
            "%",
            PUBLISHED("3.4", "IOPS, gain of die- and plane-first over channel-first"),
        ),
        Row("IOPS, gain of die- and plane-first over CWDP, mean of the nine loads", over_base, "%"),
        Row(
            "IOPS, gain of PWCD over CWDP, mean of the nine loads",
            named,
            "%",
            PUBLISHED(
                "3.4",
                "IOPS, gain of a flash-level-first strategy over channel-and-way striping, mean",
            ),
        ),
        Row(
            "IOPS, gain of PWCD over CWDP, maximum of the nine loads",
            most,
            "%",
            PUBLISHED(
                "3.4",
                "IOPS, gain of a flash-level-first strategy over channel-and-way striping, maximum",
            ),
        ),
        *(
            Row(
                f"{load}: IOPS, change from die- and plane-first to channel-first",
                _less(table[load]),
                "%",
                PUBLISHED(
                    "3.4", f"{load}: IOPS, change from die- and plane-first to channel-first"
                ),
            )
            for load in ("msnfs", "fin2")
        ),
        *(
            Row(
                f"{load}: IOPS, gain of die- and plane-first over channel-first",
                gain(of(one, CHANNEL), of(one, FLASH)),
                "%",
            )
            for load, one in values.items()
        ),
        *(
            Row(f"{order}: IOPS, mean of the nine loads", 100 * (means[order] - 1), "% over CWDP")
            for order in ORDERS
            if order != BASE
        ),
    ]


def _commands(fitted: dict[str, Runs]) -> Figure:
    absolute = over_loads(fitted, commands)
    values = {load: normalised(one) for load, one in absolute.items()}
    means = averaged(values.values())
    shares = averaged(over_loads(fitted, parallel_percent).values())
    more = {
        order: gain(shares[BASE], shares[order]) if shares[BASE] else None
        for order in ("PWDC", "DPWC")
    }
    return Figure(
        id="3.6",
        title="Figure 3.6: flash transactions",
        section="3.5.1",
        measured=(
            "Flash commands in the runs of figure 3.4, relative to CWDP. Flash-level "
            "parallelism is the share of commands that use several planes, or interleave with "
            "another die of their package."
        ),
        rows=[
            *(
                Row(
                    f"flash-level parallelism, gain of {order} over CWDP",
                    more[order],
                    "%",
                    PUBLISHED("3.6", f"flash-level parallelism, gain of {order} over CWDP"),
                )
                for order in more
            ),
            *(
                Row(
                    f"flash-level parallelism, {order} minus CWDP",
                    shares[order] - shares[BASE],
                    "points",
                )
                for order in more
            ),
            *(
                Row(
                    f"number of commands, change from CWDP to {family}",
                    gain(1, of(means, orders)),
                    "%",
                )
                for family, orders in FAMILIES.items()
            ),
        ],
        plots=[
            Plot(
                "Flash transactions",
                "Number of flash commands relative to CWDP.",
                spread(values, "commands / CWDP"),
            ),
        ],
        claims=claims.of_commands(means),
        data={"commands": absolute},
    )


CLASSES = {
    "neither": "plain",
    "planes shared": "planes_shared",
    "dies interleaved": "dies_interleaved",
    "both": "dies_interleaved_planes_shared",
}


def _class_percent(summary: Summary, key: str) -> float:
    told = summary["commands"]
    return 100 * float(told[key]) / told["total"]  # pyright: ignore[reportUnknownArgumentType, reportGeneralTypeIssues]


def _classes(fitted: dict[str, Runs]) -> Figure:
    parts = {
        name: {order: _class_percent(run, key) for order, run in fitted["sql1"].items()}
        for name, key in CLASSES.items()
    }
    shares = over_loads(fitted, parallel_percent)
    losses = {
        family: [gain(of(one, PLANE), of(one, orders)) for one in shares.values() if of(one, PLANE)]
        for family, orders in (("channel-first", CHANNEL), ("way-first", WAY))
    }
    return Figure(
        id="3.8",
        title="Figure 3.8: classes of parallelism",
        section="3.5.2",
        measured=(
            "Commands of sql1 by their parallelism inside a package, in the runs of figure 3.4: "
            "none (non-PAL), several planes (PAL1), interleaved dies (PAL2), both (PAL3). "
            "Flash-level parallelism is the share of all classes except the first; changes of it "
            "are means of the nine loads."
        ),
        rows=[
            *(
                Row(
                    f"sql1, {order}: share of commands on interleaved dies and several planes",
                    parts["both"][order],
                    "%",
                    PUBLISHED(
                        "3.8",
                        "share of commands on interleaved dies and several planes, PDCW and PDWC",
                    ),
                )
                for order in ("PDCW", "PDWC")
            ),
            *(
                Row(
                    f"flash-level parallelism, change from plane-first to {family}, mean",
                    mean(values),
                    "%",
                    PUBLISHED(
                        "3.8", f"flash-level parallelism, change from plane-first to {family}, mean"
                    ),
                )
                for family, values in losses.items()
            ),
            Row(
                "flash-level parallelism, change from plane-first to channel-first, minimum",
                _largest_loss(shares.values()),
                "%",
                PUBLISHED(
                    "3.8",
                    "flash-level parallelism, change from plane-first to channel-first, minimum",
                ),
            ),
        ],
        plots=[Plot("sql1", "Share of the commands by class of parallelism.", stacked(parts, "%"))],
        claims=claims.of_parallelism(shares),
        explanation=[
            "On sql1, reads of 22.5 pages fill the dies and planes of five packages by themselves "
            "under PDCW and PDWC, so nearly all commands use both; the published share cannot be "
            "reached with the mean size of table 3.1.",
        ],
        data={"sql1_percent": parts, "parallel_percent": shares},
    )


def _largest_loss(shares: Iterable[Mapping[str, float]]) -> float:
    """Returns the largest loss from a plane-first to a channel-first strategy on any load, as a
    negative change. Per cent."""
    return min(
        gain(one[plane], one[channel])
        for one in shares
        for plane in PLANE
        if one[plane]
        for channel in CHANNEL
    )


def _channels(fitted: dict[str, Runs]) -> Figure:
    values = over_loads(fitted, channel_percent)
    means = averaged(values.values())
    whole = of(means, ORDERS)
    families = {family: of(means, orders) for family, orders in FAMILIES.items()}
    published = PUBLISHED("3.9", "channel utilisation")
    return Figure(
        id="3.9",
        title="Figure 3.9: channel utilisation",
        section="3.5.3",
        measured="Mean utilisation of the channels in the runs of figure 3.4.",
        rows=[
            Row(
                "channel utilisation, mean of strategies and loads",
                whole,
                "%",
                published,
            ),
            *(
                Row(f"channel utilisation, {family} strategies", value, "%")
                for family, value in families.items()
            ),
        ],
        plots=[Plot("Channels", "Channel utilisation.", spread(values, "%"))],
        claims=claims.of_channels(
            values,
            averaged(over_loads(fitted, idle_percent).values()),
            over(fitted["usr"], lambda run: 100 * run["execution"]["bus_contention"]),
            cast("float", published.value),
        ),
        explanation=[
            "Section 3.1 states that channels are not in use for 57.9 % of the time, section 3.5.3 "
            "that they are in use for 43.1 %. All strategies move the same data, so their channel "
            "utilisation is proportional to their IOPS.",
            "The published 43.1 % does not agree with other numbers of the chapter. The 16 dies of "
            "a channel are idle for 80 % of the time (figure 3.10), and the bus is active for at "
            "most 7 % of the time of a write (section 3.5.1). Channels under msnfs are then in use "
            "for at most 16 x 20 % x 7 % = 22 % of the time.",
        ],
        data={"channel_percent": values},
    )


def _executions(fitted: dict[str, Runs]) -> list[Figure]:
    """Returns figures 3.10 and 3.11. The second also has the published numbers: idle time is the
    mean of both figures, active time that of all loads."""
    idle, active = (
        {load: of(over(runs, share), ORDERS) for load, runs in fitted.items()}
        for share in (idle_percent, _active_percent)
    )
    waits = mean(of(over(runs, EXECUTION["bus contention"]), ORDERS) for runs in fitted.values())
    rows = [
        Row("share of the execution time, all nine loads: dies wait for the bus", 100 * waits, "%"),
        Row(
            "share of the execution time, msnfs and web: dies idle",
            mean(idle[load] for load in ("msnfs", "web")),
            "%",
            PUBLISHED("3.10", "share of the execution time in which dies are idle"),
        ),
        Row(
            "share of the execution time, all nine loads: bus or cells active",
            mean(active.values()),
            "%",
            PUBLISHED(
                "3.10", "share of the execution time in which the bus or the cells are active"
            ),
        ),
    ]
    return [
        _execution(
            number,
            words,
            fitted[load],
            [*more, Row(f"share of the execution time, {load}: dies idle", idle[load], "%")],
        )
        for number, words, load, more in (
            ("3.10", "msnfs, mostly writes", "msnfs", []),
            ("3.11", "web, mostly reads", "web", rows),
        )
    ]


def _active_percent(summary: Summary) -> float:
    told = summary["execution"]
    return 100 * (told["bus_active"] + told["cell_active"])


def _execution(number: str, words: str, runs: Runs, rows: Sequence[Row]) -> Figure:
    parts = {
        name: {order: 100 * share(run) for order, run in runs.items()}
        for name, share in EXECUTION.items()
    }
    return Figure(
        id=number,
        title=f"Figure {number}: execution time, {words}",
        section="3.5.3",
        measured=(
            "Die time by activity and strategy in the runs of figure 3.4. The table has means of "
            "the strategies."
        ),
        rows=rows,
        plots=[Plot(words.capitalize(), "Share of die time.", stacked(parts, "%"))],
        data={"execution_percent": parts},
    )


EXECUTION: dict[str, Callable[[Summary], float]] = {
    "idle": lambda summary: summary["execution"]["idle"],
    "bus contention": lambda summary: summary["execution"]["bus_contention"],
    "bus active": lambda summary: summary["execution"]["bus_active"],
    "cell active": lambda summary: summary["execution"]["cell_active"],
}


def _placement(static: dict[str, Runs], dynamic: dict[str, Runs]) -> Figure:
    gains: Values = {
        load: {
            order: gain(iops(static[load][order]), iops(dynamic[load][order])) for order in ORDERS
        }
        for load in static
    }
    fixed, free = (
        averaged(over_loads(found, parallel_percent).values()) for found in (static, dynamic)
    )
    rates = averaged(normalised(over(runs, iops)) for runs in dynamic.values())
    rows = [
        Row(
            f"{family}: IOPS gain of dynamic over static placement",
            mean(of(one, orders) for one in gains.values()),
            "%",
        )
        for family, orders in FAMILIES.items()
    ]
    rows += [
        Row(f"{family}: flash-level parallelism, {words} placement", of(shares, orders), "%")
        for family, orders in FAMILIES.items()
        for words, shares in (("static", fixed), ("dynamic", free))
    ]
    rows += [
        Row(
            "dynamic placement: IOPS, gain of die- and plane-first over channel-first",
            gain(of(rates, CHANNEL), of(rates, FLASH)),
            "%",
        ),
    ]
    return Figure(
        id="placement",
        title="Static and dynamic placement",
        section="3.3",
        measured=(
            f"The runs of figure 3.4 again ({', '.join(static)}) with dynamic placement: each "
            "written page goes to the next plane in the order of the strategy, whatever its "
            "address, and is allocated on arrival."
        ),
        rows=rows,
        explanation=[
            "Placement of writes does not affect reads of data written before the run.",
        ],
        claims=claims.of_placement(rates),
        plots=[
            Plot("Gain of dynamic over static placement", "Increase of IOPS.", spread(gains, "%")),
        ],
        data={
            "gain_percent": gains,
            "parallel_percent": {"static": fixed, "dynamic": free},
            "iops": over_loads(dynamic, iops),
        },
    )
