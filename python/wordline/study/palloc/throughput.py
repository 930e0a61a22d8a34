"""Figures 3.4, 3.6 and 3.8 to 3.11: 32 requests at a time. Static against dynamic placement."""

from collections.abc import Callable, Mapping

from wordline import WordlineError
from wordline.study.figure import Claim, Figure, Plot, Published, Row, Setup
from wordline.study.measures import gain, idle_percent, iops
from wordline.study.palloc.charts import PUBLISHED, spread, stacked
from wordline.study.palloc.loads import FITTED, KNOWN, PAGE, TABLE, closed
from wordline.study.palloc.orders import (
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
from wordline.study.palloc.runs import (
    DEPTH,
    Runs,
    by_order,
    channel_percent,
    commands,
    over,
    parallel_percent,
)
from wordline.study.recorded import recorded
from wordline.summary import Summary

BEST = {"channel-first": "CWDP", "way-first": "WDCP", "die-first": "DPWC", "plane-first": "PWCD"}
RUN = (
    f"{DEPTH} requests at a time: when one is done, the next is given to the device, so that "
    "requests a second are what it can do."
)
# Where "about" is 10 points.
ABOUT = 10
# Why claims do not hold.
HEAD = (
    "here pages wait at their dies and no request holds up those behind it, while the document's "
    "queue stops at a request whose channel or chip is busy, which costs channel-first strategies "
    "most (see the last figure)"
)
SPREAD = (
    "where no request holds up others, the best strategy is the one under which the fewest pages "
    "of a request share a channel and a die"
)
ONE_PAGE = "a request is one page anywhere and finds the same queues under every strategy"
ALWAYS = (
    "32 requests are always under way, and the share is in proportion to the load; the document's "
    "recordings leave pauses that are not known"
)
Values = dict[str, dict[str, float]]


def figures(setup: Setup) -> list[Figure]:
    """Figures of throughput."""
    traces = recorded(setup, KNOWN)
    loads = [*TABLE, *traces]
    static, faults = by_order(
        setup, loads, lambda load, order: closed(setup, load, order, "static", traces)
    )
    usable = [load for load in loads if load in static]
    dynamic, more = by_order(
        setup, usable, lambda load, order: closed(setup, load, order, "dynamic", traces)
    )
    for load, fault in (faults | more).items():
        if load in TABLE:
            raise WordlineError(fault)
    skipped = [f"{load} was left out: {fault}" for load, fault in (faults | more).items()]
    fitted = {load: runs for load, runs in static.items() if load in TABLE}
    others = {load: runs for load, runs in static.items() if load not in TABLE}
    return [
        _table(fitted),
        _throughput(fitted, others, skipped),
        _commands(fitted),
        _classes(fitted),
        _channels(fitted),
        _execution("3.10", "msnfs, mostly writes", fitted["msnfs"]),
        _execution("3.11", "web, mostly reads", fitted["web"]),
        _placement(fitted, {load: runs for load, runs in dynamic.items() if load in TABLE}),
    ]


def _by_load(found: Mapping[str, Runs], measure: Callable[[Summary], float]) -> Values:
    return {load: over(runs, measure) for load, runs in found.items()}


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
        rows += [
            Row(f"{name}: data written", 100 * share, "%",
                Published(load.data_written_percent, "%", "table 3.1")),
            Row(f"{name}: mean write", written, "pages",
                Published(load.write_pages, "pages", "table 3.1")),
            Row(f"{name}: mean read", read, "pages",
                Published(load.read_pages, "pages", "table 3.1")),
        ]  # fmt: skip
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
            "the loads: which addresses are popular, how sizes scatter, when requests come. "
            "Addresses are uniform, so that fin1 and fin2 are single pages anywhere on the device, "
            "which meet the same queues whatever the strategy. Sizes count in KiB.",
            "Blocks a plane, over-provisioning and collection are not stated either (see the "
            "preset). The device is full at the start, with enough spare blocks for these runs.",
        ],
    )


def _throughput(fitted: dict[str, Runs], others: dict[str, Runs], skipped: list[str]) -> Figure:
    absolute = _by_load(fitted | others, iops)
    values = {load: normalised(one) for load, one in absolute.items()}
    table = {load: values[load] for load in fitted}
    means = averaged(table.values())
    over_channel = gain(of(means, CHANNEL), of(means, FLASH))
    over_base = gain(1, of(means, FLASH))
    most = max(100 * (one[order] - 1) for one in table.values() for order in FLASH)
    return Figure(
        id="3.4",
        title="Figure 3.4: throughput",
        section="3.5.1",
        measured=f"IOPS of the 24 strategies over those of CWDP, pages placed by address. {RUN} "
        "Claims and published numbers are compared with the mean of the nine loads of table 3.1.",
        rows=[
            Row("die- and plane-first over channel-first", over_channel, "%",
                PUBLISHED("3.4", "flash-level first over channel-first")),
            Row("die- and plane-first over CWDP, mean", over_base, "%",
                PUBLISHED("3.4", "flash-level first over channel-and-way striping, mean")),
            Row("die- and plane-first over CWDP, most", most, "%",
                PUBLISHED("3.4", "flash-level first over channel-and-way striping, most")),
            *(
                Row(f"{load}: channel-first against die- and plane-first", _less(table[load]), "%",
                    PUBLISHED("3.4", f"{load}, channel-first against flash-level first"))
                for load in ("msnfs", "fin2")
            ),
            *(
                Row(f"{load}: die- and plane-first over channel-first",
                    gain(of(one, CHANNEL), of(one, FLASH)), "%")
                for load, one in values.items()
            ),
            *(Row(f"{order}, mean of the nine", 100 * (means[order] - 1), "% over CWDP")
              for order in ORDERS if order != BASE),
        ],
        plots=[
            Plot("Throughput", "IOPS over those of CWDP.",
                 spread(table, "IOPS / CWDP", {load: values[load] for load in others})),
        ],
        claims=_throughput_claims(table, means, over_channel),
        explanation=[
            "Claims are taken at their word, and what that is was fixed before the first run: most "
            "is more than half, about is within 10 points, no difference is less than 5 %. No "
            "constant was fitted to a result. Sequential writes with one program time and the "
            "count of the last figure were added afterwards, to test reasons.",
            "A read needs 50 µs of an array and 42 µs of a channel for every page. Commands on "
            "several planes save array time, of which 128 dies have plenty, and no transfer. Pages "
            "of a request that share a channel are moved one after another, and the more they are "
            "the longer it takes, while other channels may have nothing to do: that is what "
            "die-, plane- and way-first strategies lose with large reads.",
            "Writes lose where pages of a request share a die and not a command. Placed by "
            "address, planes are written unevenly, so that their next pages rarely have the same "
            "place in their blocks, which a common program demands.",
            *skipped,
        ],
        data={"iops": absolute},
    )  # fmt: skip


def _throughput_claims(
    table: Values, means: Mapping[str, float], over_channel: float
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
            because=HEAD,
        ),
        Claim(
            "They serve about 29 % more",
            abs(over_channel - 29) <= ABOUT,
            f"{over_channel:+.1f} %",
            because=HEAD,
        ),
        Claim(
            "Die- and plane-first strategies serve more requests than CWDP on average",
            of(means, FLASH) > 1,
            f"{gain(1, of(means, FLASH)):+.1f} %",
            because=HEAD,
        ),
        Claim(
            "PWCD is the best of all",
            best(means, ORDERS) == "PWCD",
            f"{best(means, ORDERS)} {max(means.values()):.3f}, PWCD {means['PWCD']:.3f}",
            because=SPREAD,
        ),
        Claim(
            "The best of their families are CWDP, WDCP, DPWC and PWCD",
            bests == BEST,
            ", ".join(
                f"{family} {order} ({means[order]:.3f}; {BEST[family]} {means[BEST[family]]:.3f})"
                for family, order in bests.items()
            ),
            because=SPREAD,
        ),
        Claim(
            "In most loads way-first strategies serve more requests than channel-first ones",
            len(way) > len(table) / 2,
            f"{len(way)} of {len(table)}: {', '.join(way)}",
            because=SPREAD,
        ),
        *(
            Claim(
                f"{load}: channel-first strategies serve fewer requests than die- and plane-first",
                _less(table[load]) < 0,
                f"{_less(table[load]):+.1f} %",
                because=reason,
            )
            for load, reason in (("msnfs", HEAD), ("fin2", ONE_PAGE))
        ),
    ]


def _commands(fitted: dict[str, Runs]) -> Figure:
    absolute = _by_load(fitted, commands)
    values = {load: normalised(one) for load, one in absolute.items()}
    means = averaged(values.values())
    shares = averaged(_by_load(fitted, parallel_percent).values())
    more = {order: gain(shares[BASE], shares[order]) for order in ("PWDC", "DPWC")}
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
                Row(f"{order}: flash-level parallelism over CWDP's", more[order], "%",
                    PUBLISHED("3.6", f"{order} over CWDP"))
                for order in more
            ),
            *(
                Row(f"{family}: commands against CWDP", gain(1, of(means, orders)), "%")
                for family, orders in FAMILIES.items()
            ),
        ],
        plots=[
            Plot("Flash transactions", "Commands over those of CWDP.",
                 spread(values, "commands / CWDP")),
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
                all(value > 0 for value in more.values()),
                each(shares, (BASE, *more), " %"),
            ),
        ],
        explanation=[
            "With 32 requests under way both dies of a package are often occupied at once under "
            "every strategy, and each such command counts as interleaved here. That leaves less to "
            "gain over CWDP than if only commands that are built together are counted."
        ],
        data={"commands": absolute},
    )  # fmt: skip


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
    shares = _by_load(fitted, parallel_percent)
    losses = {
        family: [gain(of(one, PLANE), of(one, orders)) for one in shares.values()]
        for family, orders in (("channel-first", CHANNEL), ("way-first", WAY))
    }
    least = min(
        gain(one[plane], one[channel])
        for one in shares.values()
        for plane in PLANE
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
                Row(f"sql1, {order}: both", both[order], "%",
                    PUBLISHED("3.8", "both, PDCW and PDWC"))
                for order in ("PDCW", "PDWC")
            ),
            *(
                Row(f"{family} against plane-first, mean", mean(values), "%",
                    PUBLISHED("3.8", f"{family} against plane-first, mean"))
                for family, values in losses.items()
            ),
            Row("channel-first against plane-first, least", least, "%",
                PUBLISHED("3.8", "channel-first against plane-first, least")),
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
    )  # fmt: skip


def _channels(fitted: dict[str, Runs]) -> Figure:
    values = _by_load(fitted, channel_percent)
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
                because=ALWAYS,
            ),
            Claim(
                "Channel-first strategies use channels less than die- and plane-first ones",
                of(means, CHANNEL) < of(means, FLASH),
                ", ".join(f"{family} {value:.1f} %" for family, value in families.items()),
                because="all move the same data, so that channels are in use for longer where more "
                "requests are served in a second, and here that is channel-first",
            ),
        ],
        data={"channel_percent": values},
    )


def _execution(number: str, words: str, runs: Runs) -> Figure:
    parts = {
        name: {order: 100 * share(run) for order, run in runs.items()}
        for name, share in EXECUTION.items()
    }
    idle = of(over(runs, idle_percent), ORDERS)
    active = sum(of(parts[name], ORDERS) for name in ("bus active", "cell active"))
    return Figure(
        id=number,
        title=f"Figure {number}: execution time, {words}",
        section="3.5.3",
        measured="What the dies did with their time in the runs of figure 3.4.",
        rows=[
            Row("idle, mean of the strategies", idle, "%", PUBLISHED("3.10", "idle")),
            Row("bus and cell active, mean of the strategies", active, "%",
                PUBLISHED("3.10", "bus and cell active")),
        ],
        plots=[Plot(words.capitalize(), "Share of the dies' time.", stacked(parts, "%"))],
        claims=[
            Claim(
                "About 80 % of the time is idle",
                abs(idle - 80) <= ABOUT,
                f"{idle:.1f} %",
                because=f"{ALWAYS}; at half the load some {50 + idle / 2:.0f} % would be idle",
            ),
        ],
        data={"execution_percent": parts},
    )  # fmt: skip


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
        averaged(_by_load(found, parallel_percent).values()) for found in (static, dynamic)
    )
    rates = averaged(normalised(over(runs, iops)) for runs in dynamic.values())
    rows = [
        Row(f"{family}: IOPS, dynamic over static", mean(of(one, orders) for one in gains.values()),
            "%")
        for family, orders in FAMILIES.items()
    ]  # fmt: skip
    rows += [
        Row(f"{family}: flash-level parallelism, {words}", of(shares, orders), "%")
        for family, orders in FAMILIES.items()
        for words, shares in (("static", fixed), ("dynamic", free))
    ]
    rows += [
        Row("dynamic: die- and plane-first over channel-first",
            gain(of(rates, CHANNEL), of(rates, FLASH)), "%",
            PUBLISHED("3.4", "flash-level first over channel-first")),
    ]  # fmt: skip
    return Figure(
        id="placement",
        title="Static against dynamic placement",
        section="3.3",
        measured="The runs of figure 3.4 again with pages placed as they are written: each goes to "
        "the next plane in the order of the strategy, whatever its address.",
        rows=rows,
        explanation=[
            "Writes of several pages gain: no two go to one die before all others have had their "
            "turn, and planes are filled evenly, so that writes can share a command. Writes of "
            "one page lose under die- and plane-first strategies, where those that come together "
            "go to one channel; placed by address they are anywhere. Reads of what was on the "
            "device before the run do not know the difference.",
        ],
        plots=[
            Plot("Dynamic over static", "By how much IOPS are higher.", spread(gains, "%")),
        ],
        data={
            "gain_percent": gains,
            "parallel_percent": {"static": fixed, "dynamic": free},
            "iops": _by_load(dynamic, iops),
        },
    )
