"""Figures 3.4, 3.6 and 3.8 to 3.11: 32 requests at a time. Static against dynamic placement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from wordline.summary import Summary
from wordline_studies.cases import Case
from wordline_studies.figure import Claim, Figure, Plot, Published, Row, Setup
from wordline_studies.measures import gain, idle_percent, iops, over, over_loads
from wordline_studies.palloc import queues
from wordline_studies.palloc.charts import PUBLISHED, spread, stacked
from wordline_studies.palloc.loads import (
    ADDRESS,
    BLOCKS,
    FITTED,
    IMMEDIATE,
    KNOWN,
    PAGE,
    QUICK,
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
    SYSTEM,
    WAY,
    averaged,
    best,
    each,
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

BEST = {"channel-first": "CWDP", "way-first": "WDCP", "die-first": "DPWC", "plane-first": "PWCD"}
RUN = (
    f"{DEPTH} requests at a time: when one is done, the next is given to the device, so that "
    "requests a second are what it can do."
)
# Where "about" is 10 points.
ABOUT = 10
# Runs of figure 3.4, with other random numbers each: the best strategies are as near to each other
# as two of them.
SEEDS = (1, 2, 3)
PLANES_FIRST = (
    "in both families that have another best one here it is one with planes before dies: pages "
    "next to each other, of one request or of several, are one command then, and two pages on two "
    "dies are two. Where no command has two planes it is the other way round (sql1: CPWD over CWDP "
    "+13 %, without -26; WPCD over WDCP +15 %, without -36)"
)
SHORT = (
    f"with --quick there is one run of {QUICK:,} requests, and they differ by less than two of it"
)
FADES = "it fades with the number of requests, and --quick has fewer"
Values = dict[str, dict[str, float]]


def figures(setup: Setup) -> list[Figure]:
    """Figures of throughput."""
    traces = recorded(setup, KNOWN)
    static, skipped = by_order(
        setup, [*TABLE, *traces], lambda load, order: closed(setup, load, order, traces), traces
    )
    again = [] if setup.quick else [_again(setup, seed) for seed in SEEDS[1:]]
    loads = beside(setup)
    dynamic, immediate = (
        _runs(setup, loads, variant) for variant in (Variant("dynamic"), Variant(queue=IMMEDIATE))
    )
    fitted = {load: runs for load, runs in static.items() if load in TABLE}
    others = {load: runs for load, runs in static.items() if load not in TABLE}
    some = {load: fitted[load] for load in loads}
    return [
        _table(fitted),
        *compared(setup, [fitted, *again], others, skipped),
        _placement(some, dynamic),
        queues.immediate(some, immediate),
    ]


def by_address(setup: Setup) -> list[Figure]:
    """Those that have claims, of data that lie by their address before the run."""
    return compared(setup, [_runs(setup, list(TABLE), ADDRESS)], {}, [])


def compared(
    setup: Setup, seeds: Sequence[dict[str, Runs]], others: dict[str, Runs], skipped: list[str]
) -> list[Figure]:
    """The figures of the document, of runs by load. `others` are recorded."""
    fitted = seeds[0]
    return [
        _throughput(setup, seeds, others, skipped),
        _commands(fitted),
        _classes(fitted),
        _channels(fitted),
        _execution("3.10", "msnfs, mostly writes", fitted["msnfs"]),
        _execution("3.11", "web, mostly reads", fitted["web"], fitted["msnfs"]),
    ]


def _again(setup: Setup, seed: int) -> dict[str, Runs]:
    def other(load: str, order: str) -> Case:
        made = closed(setup, load, order, {})
        return replace(made, label=f"{made.label}, seed {seed}", seed=seed)

    return by_order(setup, list(TABLE), other)[0]


def _runs(setup: Setup, loads: Sequence[str], variant: Variant) -> dict[str, Runs]:
    return by_order(setup, loads, lambda load, order: closed(setup, load, order, {}, variant))[0]


def _less(values: Mapping[str, float]) -> float:
    """Channel-first against flash-level first. Per cent."""
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
                f"{name}: data written",
                100 * share,
                "%",
                Published(load.data_written_percent, "%", "table 3.1"),
            ),
            Row(
                f"{name}: mean write",
                written,
                "pages",
                Published(load.write_pages, "pages", "table 3.1"),
            ),
            Row(
                f"{name}: mean read",
                read,
                "pages",
                Published(load.read_pages, "pages", "table 3.1"),
            ),
            Row(
                f"{name}: requests that write",
                100 * writes,
                "%",
                Published(load.write_percent, "%", "table 6.1"),
            ),
        ]
    collected = sum(run["flash"]["gc_runs"] for runs in fitted.values() for run in runs.values())
    rows.append(Row("blocks collected, all loads and strategies", float(collected), ""))
    return Figure(
        id="table-3.1",
        title="Table 3.1: loads",
        section="3.4",
        measured=f"What the device was asked for. {FITTED}",
        rows=rows,
        explanation=[
            "The recordings behind the table were not to be had. What it does not say is not in "
            "the loads: which addresses are popular, how sizes scatter, when requests come, how "
            "often reads come back to a page.",
            "Table 3.1 rounds its sizes down: 8,846 MB of fin2 over the requests of table 6.1 are "
            "1.42 pages a write and 1.11 a read where it has 1 and 1. Its data written are a share "
            "of the data (21.5 % of fin2's), the requests that write are 17.7 %.",
            "Blocks a plane, over-provisioning and collection are not stated either (see the "
            f"preset; {BLOCKS} blocks a plane are run, {QUICK_BLOCKS} with --quick, all with "
            "--full). The device is full at the start, with enough spare blocks for these runs.",
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
    over_channel = gain(of(means, CHANNEL), of(means, FLASH))
    over_base, named = gain(1, of(means, FLASH)), gain(1, means["PWCD"])
    most = max(gain(1, one["PWCD"]) for one in table.values())
    return Figure(
        id="3.4",
        title="Figure 3.4: throughput",
        section="3.5.1",
        measured=f"IOPS of the 24 strategies over those of CWDP. {RUN} Claims and published "
        "numbers are compared with the mean of the nine loads of table 3.1."
        + (f" IOPS are means of {len(seeds)} runs with other random numbers." * (len(seeds) > 1)),
        rows=[
            Row(
                "die- and plane-first over channel-first",
                over_channel,
                "%",
                PUBLISHED("3.4", "flash-level first over channel-first"),
            ),
            Row("die- and plane-first over CWDP, mean", over_base, "%"),
            Row(
                "PWCD over CWDP, mean",
                named,
                "%",
                PUBLISHED("3.4", "flash-level first over channel-and-way striping, mean"),
            ),
            Row(
                "PWCD over CWDP, most",
                most,
                "%",
                PUBLISHED("3.4", "flash-level first over channel-and-way striping, most"),
            ),
            *(
                Row(
                    f"{load}: channel-first against die- and plane-first",
                    _less(table[load]),
                    "%",
                    PUBLISHED("3.4", f"{load}, channel-first against flash-level first"),
                )
                for load in ("msnfs", "fin2")
            ),
            *(
                Row(
                    f"{load}: die- and plane-first over channel-first",
                    gain(of(one, CHANNEL), of(one, FLASH)),
                    "%",
                )
                for load, one in values.items()
            ),
            *(
                Row(f"{order}, mean of the nine", 100 * (means[order] - 1), "% over CWDP")
                for order in ORDERS
                if order != BASE
            ),
        ],
        plots=[
            Plot(
                "Throughput",
                "IOPS over those of CWDP.",
                spread(table, "IOPS / CWDP", {load: values[load] for load in others}),
            ),
        ],
        claims=_throughput_claims(setup, table, means, over_channel),
        explanation=[
            "Claims are taken at their word, and what that is was fixed before the first run: most "
            "is more than half, about is within 10 points, no difference is less than 5 %. No "
            "constant was fitted to a result.",
            "The text has 29 % for most die- and plane-first strategies over the channel-first "
            "ones, and 40.1 % on average and 84.8 % at most for one of them (`a flash-level "
            "resource-first palloc scheme`, section 3.1) over CWDP. The one that it names best is "
            "PWCD.",
            *skipped,
        ],
        data={"iops": absolute},
    )


def _throughput_claims(
    setup: Setup, table: Values, means: Mapping[str, float], over_channel: float
) -> list[Claim]:
    channel = of(means, CHANNEL)
    more = [order for order in FLASH if means[order] > channel]
    bests = {family: best(means, orders) for family, orders in FAMILIES.items()}
    way = [load for load, one in table.items() if of(one, WAY) > of(one, CHANNEL)]
    return [
        Claim(
            "Most die- and plane-first strategies serve more requests than channel-first ones",
            len(more) > len(FLASH) / 2,
            f"{len(more)} of {len(FLASH)}",
        ),
        Claim(
            "They serve about 29 % more",
            abs(over_channel - 29) <= ABOUT,
            f"{over_channel:+.1f} %",
            only_told=FADES if setup.quick else "",
        ),
        Claim(
            "Die- and plane-first strategies serve more requests than CWDP on average",
            of(means, FLASH) > 1,
            f"{gain(1, of(means, FLASH)):+.1f} %",
        ),
        Claim(
            "PWCD is the best of all",
            best(means, ORDERS) == "PWCD",
            f"{best(means, ORDERS)} {max(means.values()):.3f}, PWCD {means['PWCD']:.3f}",
            only_told=SHORT if setup.quick else "",
        ),
        Claim(
            "The best of their families are CWDP, WDCP, DPWC and PWCD",
            bests == BEST,
            ", ".join(
                f"{family} {order} ({means[order]:.3f}; {BEST[family]} {means[BEST[family]]:.3f})"
                for family, order in bests.items()
            ),
            because=PLANES_FIRST,
        ),
        Claim(
            "In most loads way-first strategies serve more requests than channel-first ones",
            len(way) > len(table) / 2,
            f"{len(way)} of {len(table)}: {', '.join(way)}",
        ),
        *(
            Claim(
                f"{load}: channel-first strategies serve fewer requests than die- and plane-first",
                _less(table[load]) < 0,
                f"{_less(table[load]):+.1f} %",
            )
            for load in ("msnfs", "fin2")
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
    flash, system = of(means, FLASH), of(means, SYSTEM)
    return Figure(
        id="3.6",
        title="Figure 3.6: flash transactions",
        section="3.5.1",
        measured="Commands that the dies carried out in the runs of figure 3.4, over those of "
        "CWDP. Flash-level parallelism is the share of commands that work on several planes, or "
        "beside another die of their package.",
        rows=[
            *(
                Row(
                    f"{order}: flash-level parallelism over CWDP's",
                    more[order],
                    "%",
                    PUBLISHED("3.6", f"{order} over CWDP"),
                )
                for order in more
            ),
            *(
                Row(f"{family}: commands against CWDP", gain(1, of(means, orders)), "%")
                for family, orders in FAMILIES.items()
            ),
        ],
        plots=[
            Plot(
                "Flash transactions",
                "Commands over those of CWDP.",
                spread(values, "commands / CWDP"),
            ),
        ],
        claims=[
            Claim(
                "Die- and plane-first strategies need fewer transactions than channel- and "
                "way-first ones",
                flash < system,
                f"{gain(system, flash):+.1f} %",
            ),
            Claim(
                "PWDC and DPWC have more flash-level parallelism than CWDP",
                all(shares[order] > shares[BASE] for order in more),
                each(shares, (BASE, *more), " %"),
            ),
        ],
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
    least = min(
        gain(one[plane], one[channel])
        for one in shares.values()
        for plane in PLANE
        if one[plane]
        for channel in CHANNEL
    )
    both = parts["both"]
    return Figure(
        id="3.8",
        title="Figure 3.8: classes of parallelism",
        section="3.5.2",
        measured="Commands of sql1 by the parallelism inside a package that they use, in the runs "
        "of figure 3.4: neither (non-PAL), several planes (PAL1), beside another die (PAL2), both "
        "(PAL3). Losses are of the share of all but the first class, mean of the nine loads.",
        rows=[
            *(
                Row(
                    f"sql1, {order}: both",
                    both[order],
                    "%",
                    PUBLISHED("3.8", "both, PDCW and PDWC"),
                )
                for order in ("PDCW", "PDWC")
            ),
            *(
                Row(
                    f"{family} against plane-first, mean",
                    mean(values),
                    "%",
                    PUBLISHED("3.8", f"{family} against plane-first, mean"),
                )
                for family, values in losses.items()
            ),
            Row(
                "channel-first against plane-first, least",
                least,
                "%",
                PUBLISHED("3.8", "channel-first against plane-first, least"),
            ),
        ],
        plots=[Plot("sql1", "Share of the commands.", stacked(parts, "%"))],
        claims=[
            Claim(
                f"{family.capitalize()} strategies have less flash-level parallelism than "
                "plane-first ones",
                mean(values) < 0,
                f"{mean(values):+.1f} %",
            )
            for family, values in losses.items()
        ],
        data={"sql1_percent": parts, "parallel_percent": shares},
    )


def _channels(fitted: dict[str, Runs]) -> Figure:
    values = over_loads(fitted, channel_percent)
    means = averaged(values.values())
    whole = of(means, ORDERS)
    families = {family: of(means, orders) for family, orders in FAMILIES.items()}
    return Figure(
        id="3.9",
        title="Figure 3.9: channel utilisation",
        section="3.5.3",
        measured="Share of the time in which a channel was in use, mean of the channels, in the "
        "runs of figure 3.4.",
        rows=[
            Row(
                "mean of strategies and loads", whole, "%", PUBLISHED("3.9", "channel utilisation")
            ),
            *(Row(family, value, "%") for family, value in families.items()),
        ],
        plots=[Plot("Channels", "Share of the time in use.", spread(values, "%"))],
        claims=[
            Claim(
                "Channels are in use for less than half of the time",
                whole < 50,
                f"{whole:.1f} %",
            ),
            Claim(
                "Channel-first strategies use channels less than die- and plane-first ones",
                of(means, CHANNEL) < of(means, FLASH),
                ", ".join(f"{family} {value:.1f} %" for family, value in families.items()),
            ),
        ],
        data={"channel_percent": values},
    )


def _execution(number: str, words: str, runs: Runs, before: Runs | None = None) -> Figure:
    parts = {
        name: {order: 100 * share(run) for order, run in runs.items()}
        for name, share in EXECUTION.items()
    }
    idle = of(over(runs, idle_percent), ORDERS)
    active = sum(of(parts[name], ORDERS) for name in ("bus active", "cell active"))
    claims: list[Claim] = []
    if before:
        other = of(over(before, idle_percent), ORDERS)
        both = (idle + other) / 2
        claims = [
            Claim(
                "Over figures 3.10 and 3.11 about 80 % of the time is idle",
                abs(both - 80) <= ABOUT,
                f"{both:.1f} %: msnfs {other:.1f}, web {idle:.1f}",
            )
        ]
    return Figure(
        id=number,
        title=f"Figure {number}: execution time, {words}",
        section="3.5.3",
        measured="What the dies did with their time in the runs of figure 3.4.",
        rows=[
            Row("idle, mean of the strategies", idle, "%", PUBLISHED("3.10", "idle")),
            Row(
                "bus and cell active, mean of the strategies",
                active,
                "%",
                PUBLISHED("3.10", "bus and cell active"),
            ),
        ],
        plots=[Plot(words.capitalize(), "Share of the dies' time.", stacked(parts, "%"))],
        claims=claims,
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
            f"{family}: IOPS, dynamic over static",
            mean(of(one, orders) for one in gains.values()),
            "%",
        )
        for family, orders in FAMILIES.items()
    ]
    rows += [
        Row(f"{family}: flash-level parallelism, {words}", of(shares, orders), "%")
        for family, orders in FAMILIES.items()
        for words, shares in (("static", fixed), ("dynamic", free))
    ]
    rows += [
        Row(
            "dynamic: die- and plane-first over channel-first",
            gain(of(rates, CHANNEL), of(rates, FLASH)),
            "%",
            PUBLISHED("3.4", "flash-level first over channel-first"),
        ),
    ]
    return Figure(
        id="placement",
        title="Static against dynamic placement",
        section="3.3",
        measured=f"The runs of figure 3.4 again ({', '.join(static)}) with pages placed as they "
        "are written: each goes to the next plane in the order of the strategy, whatever its "
        "address, and gets its page when it comes.",
        rows=rows,
        explanation=[
            "Reads of what was on the device before the run do not know the difference.",
        ],
        plots=[
            Plot("Dynamic over static", "By how much IOPS are higher.", spread(gains, "%")),
        ],
        data={
            "gain_percent": gains,
            "parallel_percent": {"static": fixed, "dynamic": free},
            "iops": over_loads(dynamic, iops),
        },
    )
