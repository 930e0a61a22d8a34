"""Claims on figures 6.8 to 6.12: the orders and trends that the document states."""

from collections.abc import Mapping
from itertools import combinations
from statistics import fmean

from wordline_studies.figure import Claim
from wordline_studies.measures import gain
from wordline_studies.outcome import IN_POINTS, PER_CENT
from wordline_studies.paq.loads import TABLE
from wordline_studies.paq.schedulers import (
    BOTH,
    PAQ,
    VAQ,
    VARIANTS,
    Values,
    gains,
    mean_gain,
    short,
)

# "Nearly all": at least this share of the loads, fixed before the first run.
NEARLY = 0.9
# Loads that mostly read, and loads that mostly write.
READING = [name for name, load in TABLE.items() if load.read_percent > 50]
WRITING = [name for name, load in TABLE.items() if load.read_percent < 50]
# Reasons why claims do not hold.
SEARCH = (
    "each search takes 1.77 µs, and packing seldom gains that time back; if searches take no "
    "time, PAQ0 is below VAQ on fewer than half of the loads"
)
OVERTAKEN = (
    "under PAQ2, writes do not wait and overtake the reads, which then wait for programs; if "
    "writes do not wait under VAQ either, reads of sql2 take less than half as long under PAQ2 "
    "as under VAQ"
)
ALONE = (
    "the sequential writes of msnfs4 have 148 pages, which fill both planes of a die by "
    "themselves; PAQ1 combines them as PAQ2 does"
)
LONG_READS = (
    "on loads that mostly read, the gain falls with the size of the reads, from one page (fin2) to "
    "13 (sql3), because long reads use more packages at a time under VAQ; on msnfs3, nothing "
    "conflicts"
)
SAME_WORK = (
    "the work is the same, so idle time falls with the duration of the run, and of the loads that "
    "mostly write only msnfs3 takes as long under PAQ2 as under VAQ"
)
SHARED_BUS = (
    "VAQ lets one request at a time use a package, so few transactions share a bus; PAQ2 starts "
    "more transactions, and these wait for the bus of their channel; with a bus for each package, "
    "web1 hardly waits"
)
Table = Mapping[str, Values]


def named(values: Mapping[str, float], unit: str = "%") -> str:
    """Formats changes with their names."""
    return ", ".join(f"{name} {value:+.1f} {unit}" for name, value in values.items())


def lowest(values: Mapping[str, float]) -> str:
    """Formats the smallest change with its load."""
    load = min(values, key=values.__getitem__)
    return f"minimum {load} {values[load]:+.1f} %"


def highest(values: Mapping[str, float]) -> str:
    """Formats the largest change with its load."""
    load = max(values, key=values.__getitem__)
    return f"maximum {load} {values[load]:+.1f} %"


def of_bandwidth(values: Table) -> list[Claim]:
    """Returns the claims on figure 6.8."""
    reading = {load: value for load, value in gains(values, BOTH).items() if load in READING}
    below = {load: value for load, value in gains(values, "paq0").items() if value < 0}
    return [
        Claim(
            f"PAQ2 has more than {PER_CENT:g} % more bandwidth than VAQ on every load that mostly "
            "reads",
            min(reading.values()) > PER_CENT,
            lowest(reading),
            ids=("J1-003",),
        ),
        _never_below(values, "bandwidth"),
        Claim(
            "PAQ0 occasionally has less bandwidth than VAQ (on at least one load, but fewer than "
            "half)",
            0 < len(below) < len(values) / 2,
            f"{len(below)} loads; {lowest(below) if below else 'none'}",
            because=SEARCH,
            ids=("J6-044",),
        ),
    ]


def _never_below(values: Table, metric: str) -> Claim:
    changed = gains(values, BOTH)
    return Claim(
        f"PAQ2 never has lower {metric} than VAQ",
        min(changed.values()) >= 0,
        lowest(changed),
        ids=("J6-012",),
    )


def of_iops(values: Table, pages: Mapping[str, float], bandwidth: Table) -> list[Claim]:
    """Returns the claims on figure 6.9. `pages` are the mean sizes of requests."""
    least = {
        scheduler: min(values, key=lambda load: values[load][scheduler]) for scheduler in VARIANTS
    }
    apart = max(abs(gain(one["paq1"], one[BOTH])) for one in values.values())
    packed = mean_gain(values, "paq0")
    msnfs4 = {short(scheduler): gains(values, scheduler)["msnfs4"] for scheduler in PAQ}
    return [
        _never_below(values, "IOPS"),
        _many_small(values, pages, bandwidth),
        Claim(
            "msnfs4 has the lowest IOPS under every scheduler",
            set(least.values()) == {"msnfs4"},
            ", ".join(
                f"{short(one)}: {load} {values[load][one]:,.0f}" for one, load in least.items()
            ),
            ids=("J6-048", "J6-049"),
        ),
        Claim(
            f"PAQ1 and PAQ2 have similar IOPS on every load (within {PER_CENT:g} %)",
            apart <= PER_CENT,
            f"up to {apart:.1f} % apart",
            ids=("J6-053",),
        ),
        Claim(
            f"PAQ0 changes IOPS little on average (by at most {IN_POINTS:g} %)",
            abs(packed) <= IN_POINTS,
            f"{packed:+.1f} %",
            ids=("J6-074",),
        ),
        Claim(
            "msnfs4: packing and clumping together gain more IOPS than either alone (by more than "
            f"{IN_POINTS:g} percentage points)",
            msnfs4["PAQ2"] - max(msnfs4["PAQ0"], msnfs4["PAQ1"]) > IN_POINTS,
            named(msnfs4),
            because=ALONE,
            ids=("J6-054",),
        ),
    ]


def _many_small(values: Table, pages: Mapping[str, float], bandwidth: Table) -> Claim:
    ranked = sorted(values, key=lambda load: bandwidth[load][VAQ])
    slow, fast = ranked[: len(ranked) // 2], ranked[len(ranked) // 2 :]
    sizes = [fmean(pages[load] for load in half) for half in (slow, fast)]
    rates = [fmean(values[load][VAQ] for load in half) for half in (slow, fast)]
    return Claim(
        "The half of the loads with less bandwidth under VAQ, among them fin2, has smaller "
        "requests and higher IOPS than the other half",
        "fin2" in slow and sizes[0] < sizes[1] and rates[0] > rates[1],
        f"{sizes[0]:.1f} and {sizes[1]:.1f} pages, {rates[0]:,.0f} and {rates[1]:,.0f} IOPS",
        ids=("J6-046",),
    )


def of_latency(values: Table, reads: Table, writes: Table) -> list[Claim]:
    """Returns the claims on figure 6.10: latencies of all requests, of reads and of writes."""
    changed = gains(values, BOTH)
    mean = mean_gain(values, BOTH)
    similar = [load for load, value in changed.items() if abs(value - mean) <= IN_POINTS]
    slower = {load: value for load, value in gains(reads, BOTH).items() if load in READING}
    written = gains(writes, BOTH)
    return [
        Claim(
            "Reads are faster under PAQ2 than under VAQ on every load that mostly reads",
            max(slower.values()) < 0,
            highest(slower),
            because=OVERTAKEN,
            ids=("J1-003",),
        ),
        Claim(
            "Requests take no longer under PAQ2 than under VAQ on any load",
            max(changed.values()) <= 0,
            highest(changed),
            ids=("J6-012",),
        ),
        Claim(
            "Writes take no longer under PAQ2 than under VAQ on any load",
            max(written.values()) <= 0,
            highest(written),
            ids=("J6-084",),
        ),
        Claim(
            "PAQ2 reduces latency by a similar proportion on nearly all loads (within "
            f"{IN_POINTS:g} percentage points of the mean)",
            len(similar) >= NEARLY * len(changed),
            f"{len(similar)} of {len(changed)} loads",
            because=LONG_READS,
            ids=("J6-052",),
        ),
    ]


def of_idle(changed: Mapping[str, float]) -> list[Claim]:
    """Returns the claim on figure 6.11. Values are changes of idle time. Per cent."""
    hardly = {
        load: value
        for load, value in changed.items()
        if load in WRITING and abs(value) <= IN_POINTS
    }
    return [
        Claim(
            "On a few loads that mostly write (at least two), idle time hardly differs between "
            f"PAQ2 and VAQ (by at most {IN_POINTS:g} %)",
            len(hardly) > 1,
            named(hardly) or "on none",
            because=SAME_WORK,
            ids=("J6-057",),
        ),
    ]


def of_contention(changed: Mapping[str, float], idle: Mapping[str, float]) -> list[Claim]:
    """Returns the claims on figure 6.12. Values are changes of contention and of idle time. Per
    cent."""
    less = [load for load, value in changed.items() if value < -PER_CENT]
    pairs = list(combinations(changed, 2))
    opposite = sum(
        (changed[one] - changed[other]) * (idle[one] - idle[other]) < 0 for one, other in pairs
    )
    return [
        Claim(
            "Contention is much lower under PAQ2 than under VAQ on every load (by more than "
            f"{PER_CENT:g} %)",
            len(less) == len(changed),
            f"{len(less)} of {len(changed)} loads; {highest(changed)}",
            because=SHARED_BUS,
            ids=("J6-058",),
        ),
        Claim(
            "Contention does not reflect idle time: of two loads, the one whose contention changes "
            "more is not always the one whose idle time changes more",
            opposite > 0,
            f"{opposite} of {len(pairs)} pairs of loads",
            ids=("J6-059",),
        ),
    ]
