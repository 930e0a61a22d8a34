"""Claims on figures 3.4 to 3.11: the orders and trends that the document states."""

from collections.abc import Mapping
from statistics import correlation

from wordline_studies.figure import Claim, Setup
from wordline_studies.measures import gain
from wordline_studies.outcome import PER_CENT
from wordline_studies.palloc.loads import QUICK, TABLE
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
    of,
)

BEST = {"channel-first": "CWDP", "way-first": "WDCP", "die-first": "DPWC", "plane-first": "PWCD"}
# Loads of table 3.1 that read more than they write, by requests.
READING = [name for name, load in TABLE.items() if load.write_percent < 50]
PLANES_FIRST = (
    "the family's best strategy fills planes before dies where it differs from the published one: "
    "adjacent pages, of one request or of several, then form one command, and two pages on two "
    "dies need two; without multi-plane commands, the order is reversed (IOPS on sql1: CPWD over "
    "CWDP +13 %, without multi-plane commands -26 %; WPCD over WDCP +15 %, without multi-plane "
    "commands -36 %)"
)
CHANNELS_NEXT = (
    "at a tenth of CWDP's throughput, requests seldom meet, and the family's best strategy is one "
    "that fills channels first or second and transfers a request over as many channels as possible"
)
ONE_CHANNEL = (
    "reads of web and sql2 have 7.4 and 26 pages, which strategies that fill channels last "
    "transfer over one channel, in three times CWDP's time or more; without these two loads, the "
    "response times equal CWDP's within the tolerance"
)
LONG_READS = (
    "reads of web, sql1 and sql2 have 7.4 to 26 pages, which channel-first strategies transfer "
    "over all channels at once; only the reads of fin2 have one page"
)
ONE_BY_ONE = (
    "each die needs a command of its own, so only sharing planes saves commands: DPWC and DPCW, "
    "which fill planes second, save more than a quarter of CWDP's commands; DCWP and DWCP, which "
    "fill planes last, save none"
)
FEW_WRITES_PERCENT = 1
"""Largest share of writes of a load with hardly any. Per cent of the requests."""
SHORT = (
    f"`--quick` has one run of {QUICK:,} requests; the best strategies differ less than two such "
    "runs with different seeds"
)
ByOrder = Mapping[str, float]
ByLoad = Mapping[str, ByOrder]


def by_family(values: ByOrder) -> dict[str, float]:
    """Returns the mean of each family."""
    return {family: of(values, orders) for family, orders in FAMILIES.items()}


def listed(values: Mapping[str, float], unit: str = "") -> str:
    """Formats values with their names."""
    return ", ".join(f"{name} {value:.3g}{unit}" for name, value in values.items())


def of_throughput(setup: Setup, table: ByLoad, means: ByOrder) -> list[Claim]:
    """Returns the claims on figure 3.4. Values are IOPS relative to CWDP."""
    families = by_family(means)
    way = [load for load, one in table.items() if of(one, WAY) > of(one, CHANNEL)]
    worse = [load for load in READING if of(table[load], CHANNEL) < of(table[load], FLASH)]
    short = SHORT if setup.quick else ""
    return [
        Claim(
            "PWCD has the highest IOPS of all strategies",
            best(means, ORDERS) == "PWCD",
            f"{best(means, ORDERS)} {max(means.values()):.3f}, PWCD {means['PWCD']:.3f}",
            report_only=short,
            ids=("J3-002",),
        ),
        _bests(means, PLANES_FIRST),
        Claim(
            "Die- and plane-first strategies have higher IOPS than channel- and way-first ones",
            of(means, FLASH) > of(means, SYSTEM),
            listed(families),
            ids=("J3-051",),
        ),
        Claim(
            "In most loads, way-first strategies have higher IOPS than channel-first ones",
            len(way) > len(table) / 2,
            f"{len(way)} of {len(table)} loads: {', '.join(way)}",
            ids=("J3-015",),
        ),
        Claim(
            "Way-, die- and plane-first strategies each have higher IOPS than channel-first ones",
            min(families, key=families.__getitem__) == "channel-first",
            listed(families),
            ids=("J3-015",),
        ),
        Claim(
            "In most loads that mostly read, channel-first strategies have lower IOPS than die- "
            "and plane-first ones",
            len(worse) > len(READING) / 2,
            f"{len(worse)} of {len(READING)} loads",
            ids=("J3-036",),
        ),
        Claim(
            f"PDWC has slightly lower IOPS than PWCD (by less than {PER_CENT:g} %)",
            -PER_CENT < gain(means["PWCD"], means["PDWC"]) < 0,
            each(means, ("PWCD", "PDWC")),
            report_only=short,
            ids=("J3-052",),
        ),
        Claim(
            f"WPCD has the same IOPS as DPWC (within {PER_CENT:g} %)",
            abs(gain(means["DPWC"], means["WPCD"])) <= PER_CENT,
            each(means, ("WPCD", "DPWC")),
            ids=("J3-054",),
        ),
    ]


def _bests(means: ByOrder, because: str, sign: int = 1) -> Claim:
    """Returns the claim on the best strategies of the families: those with the largest value, or
    with the smallest if `sign` is -1."""
    ranked = {order: sign * value for order, value in means.items()}
    bests = {family: best(ranked, orders) for family, orders in FAMILIES.items()}
    return Claim(
        f"The strategies with the {'highest IOPS' if sign > 0 else 'shortest response time'} of "
        "their families are CWDP, WDCP, DPWC and PWCD",
        bests == BEST,
        ", ".join(
            f"{family} {order} ({means[order]:.3f}; {BEST[family]} {means[BEST[family]]:.3f})"
            for family, order in bests.items()
        ),
        because=because,
        ids=("J3-017",),
    )


def of_commands(means: ByOrder) -> list[Claim]:
    """Returns the claims on figure 3.6. Values are commands relative to CWDP."""
    families = by_family(means)
    less = [gain(of(means, SYSTEM), families[one]) for one in ("die-first", "plane-first")]
    return [
        Claim(
            "Die- and plane-first strategies each need dramatically fewer transactions than "
            f"channel- and way-first ones (by more than {PER_CENT:g} %)",
            max(less) < -PER_CENT,
            "die-first {:+.1f} %, plane-first {:+.1f} %".format(*less),
            because=ONE_BY_ONE,
            ids=("J3-021",),
        ),
    ]


def of_parallelism(shares: ByLoad) -> list[Claim]:
    """Returns the claims on figure 3.8. Values are shares of commands with flash-level
    parallelism."""
    found = {load: by_family(one) for load, one in shares.items()}
    channel = [load for load in found if of(shares[load], CHANNEL) < of(shares[load], PLANE)]
    local = [
        load
        for load, one in found.items()
        if max(one["channel-first"], one["way-first"]) < min(one["die-first"], one["plane-first"])
    ]
    detail = listed({family: mean(one[family] for one in found.values()) for family in FAMILIES})
    return [
        Claim(
            "On every load, channel-first strategies have less flash-level parallelism than "
            "plane-first ones",
            len(channel) == len(shares),
            f"{len(channel)} of {len(shares)} loads; means: {detail} %",
            ids=("J3-006",),
        ),
        Claim(
            "On every load, die- and plane-first strategies each have more flash-level parallelism "
            "than channel- and way-first ones",
            len(local) == len(shares),
            f"{len(local)} of {len(shares)} loads",
            ids=("J3-022",),
        ),
    ]


def of_channels(use: ByLoad, idle: ByOrder, bus: ByOrder, published: float) -> list[Claim]:
    """Returns the claims on figure 3.9. Values are the use of channels, the mean idle time of dies,
    the time that dies wait for the bus under usr, and the published mean use of channels. Per
    cent."""
    means = averaged(use.values())
    of_load = {load: of(one, ORDERS) for load, one in use.items()}
    above = [load for load, value in of_load.items() if value > published]
    free = [order for order in ORDERS if means[order] < 50 < idle[order]]
    families = by_family(means)
    return [
        Claim(
            "Under most strategies, channels are in use and dies are active for less than half of "
            "the time",
            len(free) > len(ORDERS) / 2,
            f"{len(free)} of {len(ORDERS)} strategies",
            ids=("J3-011",),
        ),
        Claim(
            "Channel-first strategies use channels least of the four families",
            min(families, key=families.__getitem__) == "channel-first",
            listed(families, " %"),
            ids=("J3-045",),
        ),
        Claim(
            "usr: dies wait longer for the bus under PDWC than under PWCD",
            bus["PDWC"] > bus["PWCD"],
            each(bus, ("PDWC", "PWCD"), " %"),
            ids=("J3-053",),
        ),
        Claim(
            "Reason for the low mean: a write occupies its die for much longer than the channel. "
            f"Only loads with hardly any writes (at most {FEW_WRITES_PERCENT} % of the requests) "
            "use channels for more than the published share of the time",
            above == [load for load in use if TABLE[load].write_percent <= FEW_WRITES_PERCENT],
            listed(of_load, " %"),
        ),
    ]


def of_placement(rates: ByOrder) -> list[Claim]:
    """Returns the claim on dynamic placement. Values are IOPS relative to CWDP."""
    apart = gain(min(rates.values()), max(rates.values()))
    return [
        Claim(
            "With dynamic placement, the strategy still has a great effect: the fastest has more "
            f"than {PER_CENT:g} % more IOPS than the slowest",
            apart > PER_CENT,
            f"{apart:+.1f} %",
            ids=("J3-016",),
        ),
    ]


def of_latency(table: ByLoad, means: ByOrder, bus: ByOrder) -> list[Claim]:
    """Returns the claims on figure 3.5: response times relative to CWDP, and mean waits for the bus
    in microseconds."""
    families = by_family(means)
    worse = [load for load in READING if of(table[load], CHANNEL) > of(table[load], FLASH)]
    return [
        Claim(
            f"PWCD has the same response time as CWDP (within {PER_CENT:g} %)",
            abs(gain(1, means["PWCD"])) <= PER_CENT,
            f"{gain(1, means['PWCD']):+.1f} %; {without(table, 'PWCD')}",
            because=ONE_CHANNEL,
            ids=("J3-005",),
        ),
        Claim(
            "PDCW and PDWC have a slightly shorter response time than CWDP",
            max(means["PDCW"], means["PDWC"]) < 1,
            f"{each(means, ('PDCW', 'PDWC'))}; {without(table, 'PDCW', 'PDWC')}",
            because=ONE_CHANNEL,
            ids=("J3-027",),
        ),
        Claim(
            "Channel-first strategies have the shortest response time of the four families",
            min(families, key=families.__getitem__) == "channel-first",
            listed(families),
            ids=("J3-014",),
        ),
        _bests(means, CHANNELS_NEXT, -1),
        Claim(
            "Requests wait longer for the bus under die- and plane-first strategies than under "
            "channel-first ones, and most of these strategies respond more slowly than CWDP",
            of(bus, FLASH) > of(bus, CHANNEL)
            and sum(means[order] > 1 for order in FLASH) > len(FLASH) / 2,
            f"{listed(by_family(bus), ' µs')}; {sum(means[order] > 1 for order in FLASH)} of "
            f"{len(FLASH)} strategies",
            ids=("J3-025",),
        ),
        Claim(
            "In most loads that mostly read, channel-first strategies respond more slowly than "
            "die- and plane-first ones",
            len(worse) > len(READING) / 2,
            f"{len(worse)} of {len(READING)} loads: {', '.join(worse)}",
            because=LONG_READS,
            ids=("J3-036",),
        ),
    ]


def of_waiting(table: ByLoad, means: ByOrder, times: ByOrder) -> list[Claim]:
    """Returns the claims on figure 3.7. Values are waits and response times in microseconds."""
    together = correlation([means[order] for order in ORDERS], [times[order] for order in ORDERS])
    longer = [load for load, one in table.items() if one[BASE] > max(one["PDCW"], one["PDWC"])]
    return [
        Claim(
            "Strategies with longer waits have longer response times",
            together > 0.5,
            f"correlation of the 24 means {together:.2f}",
            ids=("J3-029", "J3-050"),
        ),
        Claim(
            "On some loads, requests wait longer under CWDP than under PDCW and PDWC",
            bool(longer),
            ", ".join(longer) or "none",
            ids=("J3-028",),
        ),
        Claim(
            "Requests wait less under PDCW and PDWC than under CWDP",
            max(means["PDCW"], means["PDWC"]) < means[BASE],
            each(means, (BASE, "PDCW", "PDWC"), " µs"),
            because=(
                "under PDWC, a request waits for a channel that another request occupies for all "
                "of its pages; only on fin1 and fin2, whose requests have one or two pages, do "
                "requests wait less under PDWC than under CWDP; under PDCW, they do wait less"
            ),
            ids=("J3-031",),
        ),
    ]


def without(table: ByLoad, *orders: str) -> str:
    """Formats the means over the loads other than web and sql2."""
    rest = [one for load, one in table.items() if load not in ("web", "sql2")]
    return "without web and sql2: " + listed(
        {order: mean(one[order] for one in rest) for order in orders}
    )
