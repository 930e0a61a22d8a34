"""Table 7.1: the loads and their pauses. Also write-intensive sections with fewer long pauses."""

from collections.abc import Mapping

import wordline
from wordline._render.charts import bars, lines
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.gc.charts import MARGIN_MS, PUBLISHED
from wordline_studies.gc.loads import (
    BUSY_LONG_OF_PAUSES,
    QUARTERS,
    TABLE,
    busy,
    count,
    duration_s,
    requests,
    writes_of,
)
from wordline_studies.gc.responses import SHORT_PAUSES
from wordline_studies.gc.runs import WORN, Load, case, late_percent, longest_ms
from wordline_studies.gc.schemes import AGC, BOTH, DGC, EXTRA, SCHEMES, H, L, P, buffered
from wordline_studies.generated import written

KINDS = {"at once": "#8b929c", "short": "#7cc0ea", "long": "#1f78b4"}
SECTION_REQUESTS = 8_000
# Shares of requests that precede a long pause. Per cent.
LONGS = (5.0, 2.0, 1.0, 0.5, 0.2, 0.0)
FEWER = (5.0, 0.0)
STRATEGIES = (L, H, P, AGC, DGC, BOTH)
# Short pauses as measured with Iometer (section 7.4.1).
IOMETER, IOMETER_US = "no pause longer than 15.2 ms", (1.8, 15_200.0)
# Blocks per plane of P-FTL's write buffer.
SMALL = (20, 1)


def loads(setup: Setup, made: Mapping[str, Load]) -> Figure:
    """Compares the generated loads with tables 6.1 and 7.1."""
    many = writes_of(setup)
    rows: list[Row] = []
    pauses: dict[str, dict[str, float]] = {}
    told = {f"disk {disk}": wordline.trace_stat(made[f"SSD{disk}"].trace) for disk in TABLE}
    for disk, row in TABLE.items():
        one = told[f"disk {disk}"]
        pauses[f"disk {disk}"] = shares(one)
        size = (one["read_bytes"] + one["written_bytes"]) / one["requests"]
        rows += [
            Row(
                f"disk {disk}: share of requests after a long pause",
                pauses[f"disk {disk}"]["long"],
                "%",
                PUBLISHED("idle", f"disk {disk}: share of requests after a long pause"),
            ),
            Row(f"disk {disk}: mean request size", size / 1024, "KiB"),
            Row(
                f"disk {disk}: mean request size in tables 6.1 and 7.1",
                row.kib / row.requests,
                "KiB",
            ),
            Row(f"disk {disk}: share of writes", 100 * one["writes"] / one["requests"], "%"),
            Row(f"disk {disk}: share of writes in table 6.1", 100 * row.write_share, "%"),
            Row(
                f"disk {disk}: share of the requests of table 6.1 that are simulated",
                100 * one["requests"] / row.requests,
                "%",
            ),
            Row(
                f"disk {disk}: data written relative to the spare space (3 % of 64 GiB)",
                one["written_bytes"] / (0.03 * 2**36),
                "times",
            ),
            Row(
                f"disk {disk}: data written in table 7.1 relative to the spare space",
                row.written_kib * 1024 / (0.03 * 2**36),
                "times",
            ),
        ]
    rows += _pauses_of_all(pauses)
    blocks = sum(QUARTERS)
    return Figure(
        id="table-7.1",
        title="Table 7.1: loads, fitted and scaled",
        section="7.6",
        measured=(
            "Generated loads, fitted to table 6.1 (write and read requests of msnfs1 to "
            "msnfs6) and table 7.1 (KB, share of requests after a pause of more than 1 s). The "
            f"devices have full size. Of each disk, the requests that contain {many:,} writes "
            f"are simulated ({count(many, 5):,} requests of disk 5), or all requests if the "
            "tables have fewer."
        ),
        rows=rows,
        plots=[
            Plot(
                "Pauses",
                "Intervals between requests of each generated load.",
                bars(pauses, KINDS, "% of intervals", stacked=True),
            )
        ],
        explanation=[
            "Pauses are short if they are neither zero nor longer than 1 s; the three shares of "
            "section 7.6, 34.6, 29.5 and 35.9 %, add up to 100 %. Short pauses are from 1.8 µs to "
            "1 s long, with equal probability for each order of magnitude. The 15.2 ms of section "
            "7.4.1 were measured with Iometer on a disk, not in these traces. The mean length of "
            "long pauses is chosen so that the loads of all disks last equally long "
            f"({duration_s(many):,.0f} s, a fifth of which is called a day); it is at least 2 s.",
            "The table contradicts itself on long pauses. At more than 1 s each, the long "
            "pauses of 13 million requests (41.3 %) last 62 days, not five. The mean over its rows "
            "is 44.7 %, not the printed total of 64.1 %, and section 7.6 gives 34.6 %.",
            "For disk 0, the table gives 2 KB per write (3,051,918 KB in 1,467,625 writes, table "
            "6.1), where table 2.2 gives 20.7 KB; one more digit would make both agree. The "
            "printed total of 79,776,520 KB is the sum with the printed number, which is "
            "therefore used. A write has at least one page of 4 KiB.",
            "Section 7.6 gives shares of writes of 80 % for disks 4 and 5 and below 20 % for "
            "the others. By disk, table 6.1 gives 24 and 23 %, and 92 to 100 %; the shares of "
            "the two groups in the traffic of the array are 78 and 22 % (KB). Write-intensive "
            "sections exist in any case (section 7.6.2). A quarter of the requests of disks 4 "
            "and 5 (assumed) is in sections of 80 % writes. 90 % of these requests follow "
            f"without a pause, and {100 * BUSY_LONG_OF_PAUSES:.0f} % of the pauses are long "
            "(chosen after seeing results; section 7.6.1 says that even short pauses are very "
            "rare).",
            "Reads are spread over the whole disk. Writes go to as few logical blocks (rows of "
            "8 pages dealt to 64 planes) as the 10,554 writes among the first 100,000 requests "
            f"of disk 5, the available excerpt: a quarter of their pages to {QUARTERS[0]} "
            f"blocks, half to {QUARTERS[0] + QUARTERS[1]:,}, all to {blocks:,}. The same is "
            "assumed for the other disks.",
            "The simulated loads write less than the disks did in five days, in which disk 5 wrote "
            f"{TABLE[5].written_kib * 1024 / (0.03 * 2**36):.0f} times the capacity of its spare "
            "blocks. But each write takes a new update block unless its logical block already has "
            "one, so the free blocks would be used up on the first day. To start in that state, "
            "0.1 % of the pages are overwritten at random beforehand.",
        ],
        data={"pauses_percent": pauses},
    )


def sections(setup: Setup) -> Figure:
    """Returns the figure for write-intensive sections by their share of long pauses."""
    longs = FEWER if setup.quick else LONGS
    many = SECTION_REQUESTS
    made = {
        f"section, {long:g} % long": list(
            requests(lambda _, long=long: busy(5, long / 10), many, 21)
        )
        for long in longs
    } | {IOMETER: list(requests(lambda _: busy(5, 0.0), many, 21, short_us=IOMETER_US))}
    with written(made) as paths:
        of_long = {
            name: Load(name, path, made[name][-1].at / 1e9, worn=True)
            for name, path in paths.items()
        }
        brief = of_long.pop(IOMETER)
        by_long = dict(zip(longs, of_long.values(), strict=True))
        found = required(
            setup,
            {
                (scheme, long): case(load, scheme)
                for scheme in STRATEGIES
                for long, load in by_long.items()
            },
        )
        small = required(
            setup,
            {blocks: case(by_long[longs[-1]], P, buffered(blocks)) for blocks in SMALL},
        )
        ending = longest_ms(required(setup, {DGC: case(brief, DGC)})[DGC])
    worst = {
        SCHEMES[scheme].title: {long: longest_ms(found[scheme, long]) for long in longs}
        for scheme in STRATEGIES
    }
    late = {
        SCHEMES[scheme].title: {long: late_percent(found[scheme, long]) for long in longs}
        for scheme in STRATEGIES
    }
    colours = {SCHEMES[scheme].title: SCHEMES[scheme].colour for scheme in STRATEGIES}
    without = {scheme: longest_ms(found[scheme, longs[-1]]) for scheme in STRATEGIES}
    tiny = {blocks: longest_ms(one) for blocks, one in small.items()}
    full = round(2048 * EXTRA)
    kept = [long for long in longs if late[SCHEMES[BOTH].title][long] == 0]
    told = ", ".join(f"{long:g} %" for long in kept)
    return Figure(
        id="sections",
        title="Write-intensive sections with few long pauses",
        section="7.6.2",
        measured=(
            f"{many:,} requests as in a write-intensive section of SSD5: 80 % writes. 90 % of the "
            "requests follow without a pause, 5 to 0 % after a long pause, the others after a "
            f"short one. {100 * WORN:g} % of the pages are overwritten at random beforehand, so "
            "that there are no free update blocks at the start, except under P-FTL, whose buffer "
            "is empty. The document contains no such test; this figure checks statements of the "
            "document."
        ),
        rows=[
            *(
                Row(
                    f"{name}, long pause after {long:g} % of the requests: longest response time",
                    value,
                    "ms",
                )
                for name, one in worst.items()
                for long, value in one.items()
            ),
            *(
                Row(
                    f"{name}, long pause after {long:g} % of the requests: share of requests "
                    f"slower than {MARGIN_MS} ms",
                    value,
                    "%",
                )
                for name, one in late.items()
                for long, value in one.items()
            ),
            Row(f"DGC, {IOMETER}: longest response time", ending, "ms"),
            Row(
                f"P-FTL with a buffer of {full} blocks per plane, no long pauses: longest "
                "response time",
                without[P],
                "ms",
            ),
            *(
                Row(
                    f"P-FTL with a buffer of {blocks} blocks per plane, no long pauses: longest "
                    "response time",
                    value,
                    "ms",
                )
                for blocks, value in tiny.items()
            ),
        ],
        plots=[
            Plot(
                "Worst-case response time",
                "Longest response time by the share of requests before a long pause.",
                lines(
                    worst,
                    colours,
                    "requests before a long pause (%)",
                    "ms",
                    log=True,
                    category=True,
                    dashed=SCHEMES[BOTH].title,
                ),
            ),
            Plot(
                "Late requests",
                f"Share of requests slower than {MARGIN_MS} ms by the share of requests before a "
                "long pause.",
                lines(
                    late,
                    colours,
                    "requests before a long pause (%)",
                    "% of requests",
                    category=True,
                    dashed=SCHEMES[BOTH].title,
                ),
            ),
        ],
        claims=[
            Claim(
                "AGC+DGC hides GC even if a long pause follows only 5 % of the requests",
                longs[0] in kept,
                f"no late request if a long pause follows {told} of the requests",
                ids=("J7-063",),
            ),
            Claim(
                f"AGC+DGC keeps the bound of {MARGIN_MS} ms even without long pauses",
                without[BOTH] <= MARGIN_MS,
                f"{without[BOTH]:,.0f} ms",
                ids=("J7-063",),
            ),
            Claim(
                "DGC runs out of free blocks without long pauses",
                without[DGC] > MARGIN_MS,
                f"{without[DGC]:,.0f} ms",
                because=SHORT_PAUSES,
            ),
            Claim(
                "DGC runs out of free blocks if no pause is longer than 15.2 ms",
                ending > MARGIN_MS,
                f"{ending:,.0f} ms",
            ),
            Claim(
                "Without long pauses, P-FTL with its whole buffer has a shorter worst-case "
                "response time than L-FTL",
                without[P] < without[L],
                f"{without[P]:,.0f} and {without[L]:,.0f} ms",
            ),
            Claim(
                "P-FTL's worst-case response time depends on the size of its buffer: if the "
                "buffer overflows, the worst case is more than ten times as long",
                tiny[SMALL[-1]] > 10 * without[P],
                f"{tiny[SMALL[-1]]:,.0f} and {without[P]:,.0f} ms",
                ids=("J7-084",),
            ),
            Claim(
                "Without long pauses, P-FTL with an overflowing buffer has a longer worst-case "
                "response time than L-FTL",
                tiny[SMALL[-1]] > without[L],
                f"{tiny[SMALL[-1]]:,.0f} and {without[L]:,.0f} ms",
            ),
        ],
        data={"worst_ms": worst, "late_percent": late, "small_ms": tiny},
    )


def shares(told: wordline.TraceStat) -> dict[str, float]:
    """Returns the shares of intervals without a pause, with a short one and with a long one. Per
    cent."""
    idle = told["idle"]
    if idle is None:
        return dict.fromkeys(KINDS, 0.0)
    kinds = (idle["back_to_back"], idle["short"], idle["long"])
    return {name: kind["percent_of_intervals"] for name, kind in zip(KINDS, kinds, strict=True)}


def _pauses_of_all(pauses: Mapping[str, Mapping[str, float]]) -> list[Row]:
    """Returns the rows on the pauses of all disks: the smallest and the largest share of long ones,
    and the share of each kind over all requests of the table."""
    every = sum(row.requests for row in TABLE.values())
    mean = {
        kind: sum(pauses[f"disk {disk}"][kind] * row.requests for disk, row in TABLE.items())
        / every
        for kind in KINDS
    }
    long = [one["long"] for one in pauses.values()]
    return [
        *(
            Row(
                f"{which} of all disks: share of requests after a long pause",
                value,
                "%",
                PUBLISHED("idle", "range of all disks: share of requests after a long pause"),
            )
            for which, value in (("minimum", min(long)), ("maximum", max(long)))
        ),
        *(
            Row(f"all disks: {words}", mean[kind], "%", PUBLISHED("idle", words))
            for kind, words in (
                ("long", "share of requests after a long pause"),
                ("long", "share of requests after a long pause, total of table 7.1"),
                ("short", "share of requests after a short pause"),
                ("at once", "share of requests without a pause"),
            )
        ),
    ]
