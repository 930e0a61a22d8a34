"""Figures 7.12 and 7.14: excess waiting times of both arrays."""

from collections.abc import Iterable, Mapping
from typing import cast

from wordline.summary import Summary
from wordline_studies.figure import Claim, Figure, Plot, Row
from wordline_studies.gc.arrays import (
    ARRAYS,
    GROUPS,
    HIGH,
    LARGE,
    LOW,
    MEMBERS,
    Runs,
    days,
    late_of,
)
from wordline_studies.gc.charts import MARGIN_MS, PUBLISHED, beyond
from wordline_studies.gc.loads import DAYS, SIX_SSDS, TABLE, count
from wordline_studies.gc.loads import LOW as LOW_DISKS
from wordline_studies.gc.runs import collected, late, longest_ms, worst_ms
from wordline_studies.gc.schemes import BOTH, SCHEMES, SIX, THREE, H, L, P
from wordline_studies.measures import gain
from wordline_studies.outcome import PER_CENT

OVERFLOWS = (
    "disk 1 writes 17.7 GB, more than the 14 GB of the write buffer, so requests of SSD1 find the "
    "buffer full; no request does if P-FTL also uses the last free blocks"
)
SPREADS = (
    "with writes spread as recorded, two logical blocks that share their update blocks are merged "
    "nearly as often as a single one; if the blocks are adjacent, H-FTL performs fewer GC runs "
    "(figure 7.11)"
)
INVOKES = (
    "every late request waits for a GC run, and P-FTL performs fewer GC runs, as the figure's "
    "caption confirms: P-FTL merges only to free the oldest pages of its buffer, H-FTL for every "
    "write that needs an update block"
)

PER_DAY = PUBLISHED("7.12", "low intensity, H-FTL: GC runs per disk and day")


def excess(device: str, runs: Runs, number: str) -> Figure:
    """Returns the figure for the excess waiting times of an array."""
    groups = GROUPS[device]
    found = {
        where: {scheme: _beyond(one, names) for scheme, one in runs.items()}
        for where, names in groups.items()
    }
    count_of = {
        where: {scheme: late_of(one, names) for scheme, one in runs.items()}
        for where, names in groups.items()
    }
    everyone = {scheme: late_of(one, MEMBERS[device]) for scheme, one in runs.items()}
    sums = {
        scheme: sum(one[name]["excess"]["all"]["sum_s"] for name in MEMBERS[device])
        for scheme, one in runs.items()
    }
    busy = {
        scheme: sum(collected(runs[scheme][name]) for name in groups[HIGH]) for scheme in (H, P)
    }
    longest = {
        scheme: max(longest_ms(runs[scheme][name]) for name in groups[HIGH]) for scheme in (H, P)
    }
    large = LARGE if device == SIX else "SSD2"
    return Figure(
        id=number,
        title=f"Figure {number}: excess waiting times of {ARRAYS[device]}",
        section="7.6.3" if device == SIX else "7.6.4",
        measured=(
            f"Number of requests whose response time exceeds {MARGIN_MS} ms by more than a "
            f"given excess, in the runs of figure {'7.10' if device == SIX else '7.13'}."
        ),
        rows=[
            *(
                Row(
                    f"{where}, {SCHEMES[scheme].title}: number of requests slower than "
                    f"{MARGIN_MS} ms",
                    float(value),
                    "",
                    PUBLISHED("7.12", "number of requests slower than 30 ms under AGC+DGC")
                    if scheme == BOTH
                    else None,
                )
                for where, one in count_of.items()
                for scheme, value in one.items()
            ),
            *(
                Row(f"{SCHEMES[scheme].title}: sum of the excess waiting times", value, "s")
                for scheme, value in sums.items()
            ),
            *(
                Row(f"{HIGH}, {SCHEMES[scheme].title}: number of GC runs", float(value), "")
                for scheme, value in busy.items()
            ),
        ],
        plots=[
            Plot(
                f"Excess waiting time, {where}",
                "Number of requests above the excess; in brackets, all requests slower than "
                f"{MARGIN_MS} ms.",
                beyond(one),
            )
            for where, one in found.items()
        ],
        claims=[
            Claim(
                f"Under AGC+DGC, no request exceeds the bound of {MARGIN_MS} ms",
                everyone[BOTH] == 0,
                f"{everyone[BOTH]:,} requests exceed it",
                ids=("J1-004",),
            ),
            Claim(
                f"Under AGC+DGC, no request of {large}, with its writes of 149 pages, exceeds the "
                f"bound of {MARGIN_MS} ms",
                late(runs[BOTH][large]) == 0,
                f"{late(runs[BOTH][large]):,} requests exceed it",
            ),
            Claim(
                f"At low intensity, requests exceed the bound of {MARGIN_MS} ms under L-FTL and "
                "H-FTL, but none do under P-FTL and AGC+DGC",
                min(count_of[LOW][L], count_of[LOW][H]) > 0
                and count_of[LOW][P] + count_of[LOW][BOTH] == 0,
                ", ".join(
                    f"{SCHEMES[one].title} {many:,} requests" for one, many in count_of[LOW].items()
                ),
                because=OVERFLOWS if device == SIX else "",
                quick=device != SIX,
                ids=("J7-074",) if device == SIX else (),
            ),
            Claim(
                "At high intensity, P-FTL performs fewer GC runs than H-FTL, but has a longer "
                "worst-case response time",
                busy[P] < busy[H] and longest[P] > longest[H],
                f"{busy[P]:,} and {busy[H]:,} GC runs; {longest[P]:,.0f} and {longest[H]:,.0f} ms",
                quick=device == SIX,
                ids=("J7-076",) if device == SIX else (),
            ),
        ],
        data={"late": count_of, "sum_s": sums},
    )


def merges(runs: Runs, writes: int) -> list[Row]:
    """Returns the row on the GC runs of H-FTL per disk and day at low intensity, extrapolated to
    all requests of the table."""
    every = sum(
        collected(runs[H][f"SSD{disk}"]) * TABLE[disk].requests / count(writes, disk)
        for disk in LOW_DISKS
    )
    return [
        Row(
            "low intensity, H-FTL: GC runs per disk and day, extrapolated to all requests of "
            "table 6.1",
            every / len(LOW_DISKS) / DAYS,
            "per day",
            PER_DAY,
        )
    ]


def of_locality(recorded: Summary, few: Summary, blocks: int) -> Claim:
    """Returns the claim on the number of GC runs of H-FTL by the locality of writes. The summaries
    are those of SSD0 with writes as local as recorded, and with writes to `blocks` logical
    blocks."""
    often, seldom = (100 * collected(one) / one["input"]["writes"] for one in (recorded, few))
    published = 100 * DAYS * cast("float", PER_DAY.value) / TABLE[0].writes
    return Claim(
        "Reason for the number of GC runs of H-FTL: it depends on the locality of the writes, "
        "which is not published. SSD0 performs more GC runs per write than published if writes are "
        f"as local as recorded, and fewer if they go to {blocks} logical blocks",
        seldom < published < often,
        f"{often:.1f} and {seldom:.1f} GC runs per 100 writes, published {published:.1f}",
        quick=False,
    )


def claims_of_six(runs: Runs) -> list[Claim]:
    """Returns the claims that the document makes on 6SSDs-RAID only."""
    groups = GROUPS[SIX]
    quiet = {scheme: sum(collected(runs[scheme][one]) for one in groups[LOW]) for scheme in (L, H)}
    busy = {scheme: late_of(runs[scheme], groups[HIGH]) for scheme in (H, P)}
    sums = {
        scheme: sum(one[name]["excess"]["all"]["sum_s"] for name in SIX_SSDS)
        for scheme, one in runs.items()
    }
    return [
        Claim(
            "At low intensity, H-FTL performs significantly fewer GC runs than L-FTL (by more "
            f"than {PER_CENT:g} %)",
            quiet[H] < (1 - PER_CENT / 100) * quiet[L],
            f"{quiet[H]:,} and {quiet[L]:,} GC runs",
            because=SPREADS,
            ids=("J7-069",),
        ),
        Claim(
            f"At high intensity, fewer requests exceed the bound of {MARGIN_MS} ms under H-FTL "
            "than under P-FTL",
            busy[H] < busy[P],
            f"{busy[H]:,} and {busy[P]:,} requests",
            because=INVOKES,
            ids=("J7-075",),
        ),
        Claim(
            "The total excess waiting time under AGC+DGC is less than half of that under each "
            "other scheme",
            all(sums[BOTH] < sums[scheme] / 2 for scheme in (L, H, P)),
            ", ".join(f"{SCHEMES[scheme].title} {value:,.0f} s" for scheme, value in sums.items()),
            ids=("J7-097",),
        ),
    ]


def day_one(runs: Runs) -> list[Row]:
    """Returns the rows on the longest excess waiting time of P-FTL on the first day at high
    intensity."""
    return [
        Row(
            f"{name}, P-FTL, day 1: longest excess waiting time",
            max(0.0, days(worst_ms(runs[P][name]))[0] - MARGIN_MS),
            "ms",
            PUBLISHED("7.14", "high intensity, P-FTL, day 1: longest excess waiting time"),
        )
        for name in GROUPS[THREE][HIGH]
    ]


def thrashing(three: Runs, six: Runs) -> list[Row]:
    """Returns the row on the share of late requests of 3SSDs-RAID under P-FTL at high intensity,
    relative to that of 6SSDs-RAID."""
    shares: list[float] = []
    for runs, device in ((three, THREE), (six, SIX)):
        of = [runs[P][name] for name in GROUPS[device][HIGH]]
        shares.append(sum(map(late, of)) / sum(one["input"]["requests"] for one in of))
    return [
        Row(
            "high intensity, P-FTL: change of the share of late requests against 6SSDs-RAID",
            gain(shares[1], shares[0]) if shares[1] else None,
            "%",
            PUBLISHED(
                "7.14",
                "high intensity, P-FTL: change of the share of late requests against 6SSDs-RAID",
            ),
            "a buffer that overflows on 6SSDs-RAID",
        )
    ]


def claims_of_three(runs: Runs) -> list[Claim]:
    """Returns the claims that the document makes on 3SSDs-RAID only."""
    told = {name: days(worst_ms(runs[P][name])) for name in GROUPS[THREE][HIGH]}
    return [
        Claim(
            f"At high intensity, P-FTL keeps the bound of {MARGIN_MS} ms on day 1, and exceeds it "
            "on a later day",
            all(one[0] <= MARGIN_MS for one in told.values())
            and max(max(one[1:]) for one in told.values()) > MARGIN_MS,
            "; ".join(
                f"{name} " + ", ".join(f"{worst:,.0f}" for worst in one) + " ms"
                for name, one in told.items()
            ),
            quick=False,
            ids=("J7-081",),
        )
    ]


def _beyond(runs: Mapping[str, Summary], names: Iterable[str]) -> dict[float, int]:
    """Returns the number of requests whose excess waiting time is above each step, in total over
    the members. The keys are the steps in microseconds."""
    told = [runs[name]["excess"]["all"]["above"] for name in names]
    steps = sorted({one["excess_us"] for above in told for one in above})
    found = dict.fromkeys(steps, 0)
    for above in told:
        for one in above:
            found[one["excess_us"]] += one["requests"]
    return found
