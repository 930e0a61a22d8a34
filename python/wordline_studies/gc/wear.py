"""Figure 7.15: triggers of GC runs, and erases by the free-block threshold."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import nan

from wordline._render.charts import bars, lines
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.gc.charts import PUBLISHED
from wordline_studies.gc.loads import (
    AT_ONCE,
    BLOCK,
    OF_64_GB,
    PAGE,
    TABLE,
    Kind,
    count,
    requests,
    writes_of,
)
from wordline_studies.gc.responses import KEEPS
from wordline_studies.gc.runs import (
    ADVANCED,
    DELAYED,
    DEMAND,
    Known,
    Load,
    case,
    collected,
    erases,
    handed_over,
    short,
    under,
)
from wordline_studies.gc.schemes import (
    BLOCKS,
    BOTH,
    COMPACT_BELOW,
    H_BOTH,
    MORE,
    MOST_FREE,
    SCHEMES,
    SPARE,
    THRESHOLD,
    H,
    L,
    advanced,
    striped,
)
from wordline_studies.generated import Request, written
from wordline_studies.measures import gain
from wordline_studies.outcome import PER_CENT, is_reproduced

DISKS = (0, 1, 4, 5)
# A load that fills update blocks: 80 % writes of 128 KiB to 2 % of the disk.
LOCAL, LOCAL_REQUESTS, LOCAL_S = "2 % of a disk", 24_000, 17_000.0
FAR_TAGS = f"{LOCAL}, short pauses, tags 1 s ahead"
# Share of requests with a long pause (section 7.6).
LONG = 0.346
LOCAL_SHARE, LOCAL_PAGES = 0.02, 32
# Merges per write under the available excerpt of disk 5, with the same number of update blocks.
RECORDED = 0.886
# Free-block thresholds of the sweep. A third of 3 %, which is 1 %, is between the first two.
THRESHOLDS = (0.2, 0.34, COMPACT_BELOW, 0.71, 1.0)
CROSSING = 0.71
# Look-ahead equal to the longest pause that does not count as long, 1 s.
FAR: dict[str, Value] = advanced("agc-dgc", look_ahead_ms=1000.0)
# GC runs that AGC starts and hands to DGC (section 7.5.1.3). They count as DGC's: it is invoked if
# there is too little idleness for AGC (section 7.5.3), and completes them in a later idle period.
HANDED = "AGC, then DGC"
PARTS = {"AGC": "#7cc0ea", HANDED: "#4a9dd0", "DGC": "#1f78b4", "on demand": "#d8731c"}
ALONE, STARTED = "AGC", "AGC, with the GC runs that DGC continued"
USES = {"AGC": "#7cc0ea", "both": "#4a9dd0", "DGC": "#1f78b4"}
BLOCKS_OF_A_DISK = 64 * BLOCKS
# L-FTL's threshold in figure 7.15: section 7.6.5 names that of the underlying FTL, 3 %. Section 7.6
# has 1 %, and 3 % of free blocks.
AT_1, AT_3 = "against L-FTL at 1 %", "against L-FTL at 3 %"
EQUAL_FREE = (
    "two schemes that keep the same number of blocks free merge equally often, so AGC+DGC reaches "
    "the erases of L-FTL at 3 % near a threshold of 100 %, and those of L-FTL at 2.13 % at 71 %"
)
SEVERAL = (
    "AGC starts a GC run on every plane with few free blocks one second into a pause, so a request "
    "interrupts several at once, and DGC continues them; AGC starts more than 80 % of the GC runs"
)
FEW_FREE = (
    "at thresholds below a third of 3 %, which is L-FTL's 1 %, writes find too few free blocks "
    "before AGC acts, so GC is postponed as under DGC alone, which erases more (figure 7.9); from "
    "a third on, low thresholds erase less"
)


def figures(setup: Setup, loads: Mapping[str, Load], known: Known) -> list[Figure]:
    """Returns the figures for triggers and thresholds. Runs in `known` are not repeated."""
    disks = {name: loads[name] for name in (f"SSD{disk}" for disk in DISKS)}
    busy = {"SSD5": loads["SSD5"]}
    many = LOCAL_REQUESTS // 6 if setup.quick else LOCAL_REQUESTS
    with written({LOCAL: _local(many, LONG), FAR_TAGS: _local(many, 0.0)}) as paths:
        local, short_only = (
            {name: Load(name, paths[name], LOCAL_S * many / LOCAL_REQUESTS)}
            for name in (LOCAL, FAR_TAGS)
        )
        found = (
            under(setup, disks, (L, BOTH, MORE), known)
            | under(setup, local, (L, BOTH, H, H_BOTH))
            | under(setup, busy, (H, H_BOTH))
        )
        far = required(setup, {FAR_TAGS: case(short_only[FAR_TAGS], BOTH, FAR)})
        kept = required(setup, {LOCAL: case(local[LOCAL], L, keeping(COMPACT_BELOW * SPARE))})
    swept = required(
        setup,
        {
            one: case(loads["SSD5"], BOTH, advanced("agc-dgc", compact_below_ratio=one))
            for one in THRESHOLDS
            if one != COMPACT_BELOW
        },
    )
    swept[COMPACT_BELOW] = found[BOTH, "SSD5"]
    like = required(setup, {CROSSING: case(loads["SSD5"], L, keeping(CROSSING * SPARE))})[CROSSING]
    whole = found | under(setup, {name: loads[name] for name in ("SSD2", "SSD3")}, (L, BOTH, MORE))
    return [
        _breakdown(many, found, far[FAR_TAGS], kept[LOCAL]),
        _thresholds(setup, whole, swept, like),
    ]


def keeping(ratio: float) -> dict[str, Value]:
    """Returns the settings of L-FTL with `ratio` as both free-block threshold and GC reserve."""
    return striped("log-block") | {
        "ftl.gc.start_free_ratio": ratio,
        "ftl.gc.hard_free_ratio": ratio,
    }


def _local(many: int, long: float) -> "list[Request]":
    """Returns a load that fills update blocks. `long` is the share of requests before a long
    pause."""
    kind = Kind(0.8, LOCAL_PAGES, LOCAL_PAGES, (1 - long) * AT_ONCE, long, 2.0)
    share = (round(LOCAL_SHARE * OF_64_GB),)
    return list(requests(lambda _: kind, many, 11, sizes=share))


def _shares(summary: Summary) -> dict[str, float]:
    """Returns the shares of GC runs by trigger, of those that AGC started also by whether DGC
    continued them. Per cent."""
    handed = handed_over(summary)
    runs = (
        collected(summary, ADVANCED) - handed,
        handed,
        collected(summary, DELAYED),
        collected(summary, DEMAND),
    )
    everything = sum(runs)
    return {
        part: 100 * some / everything if everything else nan
        for part, some in zip(PARTS, runs, strict=True)
    }


def _read(parts: Mapping[str, float]) -> dict[str, float]:
    """Returns the shares of AGC, DGC and GC on demand, with the GC runs that DGC continued as
    DGC's, and the share of the GC runs that AGC started. Per cent."""
    return {
        ALONE: parts["AGC"],
        "DGC": parts["DGC"] + parts[HANDED],
        "on demand": parts["on demand"],
        STARTED: parts["AGC"] + parts[HANDED],
    }


def _idle_uses(summary: Summary) -> dict[str, float]:
    """Returns the shares of idle periods used by AGC only, by both and by DGC only, of those that
    AGC or DGC used. Per cent."""
    idle = summary["idle_periods"]
    if idle is None:
        return dict.fromkeys(USES, nan)
    both = idle["with_agc_and_dgc"]
    used = (idle["with_agc"] - both, both, idle["with_dgc"] - both)
    every = sum(used)
    return {
        name: 100 * some / every if every else nan for name, some in zip(USES, used, strict=True)
    }


def _of_all_idle(summary: Summary) -> float:
    """Returns the share of idle periods that DGC used, of all. Per cent."""
    idle = summary["idle_periods"]
    return 100 * idle["with_dgc"] / idle["periods"] if idle and idle["periods"] else nan


def _of_agc(summary: Summary) -> tuple[int, int]:
    """Returns the numbers of AGC's GC runs by compaction and by look-ahead."""
    return collected(summary, ("compaction",)), collected(summary, ("look-ahead",))


def _told_kinds(kinds: Mapping[str, tuple[int, int]]) -> str:
    return "; ".join(
        f"{name}: {compactions:,} by compaction, {ahead:,} by look-ahead"
        for name, (compactions, ahead) in kinds.items()
    )


def _amplified(found: Known, names: Sequence[str]) -> list[Claim]:
    """Returns the claims on the write amplification and on the pages moved per GC run, over the
    named SSDs."""
    written_pages, moved = (
        {
            scheme: sum(found[scheme, name]["flash"][key] for name in names)
            for scheme in (L, BOTH, MORE)
        }
        for key in ("host_page_writes", "gc_pages_moved")
    )
    amplification = {scheme: 1 + moved[scheme] / written_pages[scheme] for scheme in moved}
    pages = {
        scheme: sum(_moved(found[scheme, name], triggers)[0] for name in names)
        / sum(_moved(found[scheme, name], triggers)[1] for name in names)
        for scheme, triggers in ((L, DEMAND), (BOTH, DELAYED))
    }
    return [
        Claim(
            "AGC+DGC has a lower write amplification than L-FTL at 1 %",
            amplification[BOTH] < amplification[L],
            f"{amplification[BOTH]:.1f} and {amplification[L]:.1f}; L-FTL at 3 %: "
            f"{amplification[MORE]:.1f}",
            because=KEEPS,
            ids=("J1-018",),
        ),
        Claim(
            "A GC run postponed by DGC moves as many pages as an on-demand GC run of L-FTL "
            f"(within {PER_CENT:g} %), and no more than a logical block has",
            is_reproduced(pages[BOTH], pages[L], "") and pages[BOTH] <= BLOCK,
            f"{pages[BOTH]:.1f} and {pages[L]:.1f} pages",
            ids=("J7-024",),
        ),
    ]


def _moved(summary: Summary, triggers: tuple[str, ...]) -> tuple[int, int]:
    """Returns the pages moved by GC runs with these triggers, and the number of these runs."""
    of = [one for one in summary["collections"] if one["trigger"] in triggers]
    return sum(one["pages_moved"] for one in of), sum(one["runs"] for one in of)


def _pages_a_merge() -> float:
    """Returns the number of pages written to disk 5 per merge, from the published 21 erases per
    block. A merge erases two blocks."""
    merges = 21 * BLOCKS_OF_A_DISK / 2
    return TABLE[5].written_kib * 1024 / PAGE / merges


def _most(
    table: Mapping[str, Mapping[str, float]], summaries: Mapping[str, Summary]
) -> list[Claim]:
    """Returns the claims on the share of AGC in the GC runs of each disk."""
    alone, started = (min(one[part] for one in table.values()) for part in (ALONE, STARTED))
    most = max(one["DGC"] for one in table.values())
    handed = {
        name: (handed_over(summary), (summary["idle_periods"] or {"with_dgc": 0})["with_dgc"])
        for name, summary in summaries.items()
    }
    return [
        Claim(
            "AGC performs more GC runs than DGC on every disk",
            all(one[ALONE] > one["DGC"] for one in table.values()),
            f"AGC at least {alone:.1f} %, DGC at most {most:.1f} %",
            ids=("J1-017",),
        ),
        Claim(
            "AGC performs at least 80 % of the GC runs on every disk, not counting those that DGC "
            "continues",
            alone >= 80,
            f"minimum {alone:.1f} %",
            because=SEVERAL,
        ),
        Claim(
            "AGC starts at least 80 % of the GC runs on every disk",
            started >= 80,
            f"minimum {started:.1f} %",
        ),
        Claim(
            "A request interrupts several GC runs of AGC at once: on every disk, AGC hands over "
            "more GC runs to DGC than there are idle periods that DGC uses",
            all(runs > periods for runs, periods in handed.values()),
            "; ".join(
                f"{name}: {runs:,} GC runs, {periods:,} idle periods"
                for name, (runs, periods) in handed.items()
            ),
        ),
    ]


def _share_rows(shares: Mapping[str, Mapping[str, float]], names: Sequence[str]) -> list[Row]:
    """Returns the rows on GC runs by trigger, in both readings of a GC run that AGC starts and DGC
    completes. Those of the named loads have published values."""
    published = PUBLISHED("7.15a", "share of the GC runs that AGC performs")
    return [
        Row(
            f"{name}: share of the GC runs by trigger, {part}",
            value,
            "%",
            published if part in (ALONE, STARTED) and name in names else None,
            other_reading=part == STARTED,
        )
        for name, one in shares.items()
        for part, value in _read(one).items()
    ]


def _idle_rows(found: Known, names: Sequence[str]) -> list[Row]:
    """Returns the rows on idle periods by the scheme that used them."""
    summaries = {name: found[BOTH, name] for name in names}
    return [
        *(
            Row(
                f"{name}: share of idle periods that DGC uses, of those that AGC or DGC uses",
                _idle_uses(summary)["DGC"] + _idle_uses(summary)["both"],
                "%",
                PUBLISHED("7.15a", "share of idle periods that DGC uses"),
            )
            for name, summary in summaries.items()
        ),
        *(
            Row(
                f"{name}: share of idle periods that DGC uses, of all idle periods",
                _of_all_idle(summary),
                "%",
            )
            for name, summary in summaries.items()
        ),
    ]


def _breakdown(many: int, found: Known, far: Summary, kept: Summary) -> Figure:
    names = [f"SSD{disk}" for disk in DISKS]
    shares = {name: _shares(found[BOTH, name]) for name in [*names, LOCAL]}
    shares[f"{LOCAL}, H-FTL"] = _shares(found[H_BOTH, LOCAL])
    on_h = _read(shares[f"{LOCAL}, H-FTL"])
    shares[FAR_TAGS] = _shares(far)
    table = {name: _read(shares[name]) for name in names}
    uses = {name: _idle_uses(found[BOTH, name]) for name in names}
    change = {
        name: gain(erases(found[L, name]), erases(found[BOTH, name])) for name in [*names, LOCAL]
    }
    against = {
        scheme: sum(erases(found[BOTH, name]) - erases(found[scheme, name]) for name in names)
        for scheme in (L, MORE)
    }
    mean = {
        scheme: 100 * more / sum(erases(found[scheme, name]) for name in names)
        for scheme, more in against.items()
    }
    hybrid = {
        name: gain(erases(found[H, name]), erases(found[H_BOTH, name])) for name in ("SSD5", LOCAL)
    }
    as_many = gain(erases(kept), erases(found[BOTH, LOCAL]))
    kinds = {name: _of_agc(found[BOTH, name]) for name in names}
    look_ahead = _of_agc(far)
    return Figure(
        id="7.15a",
        title="Figure 7.15(a): triggers of GC",
        section="7.6.5",
        measured=(
            "GC runs under AGC+DGC on L-FTL by trigger: AGC (look-ahead and proactive "
            "compaction), DGC (retroactive compaction of postponed blocks), or a write that "
            "cannot proceed. If a request interrupts a GC run of AGC, its remaining steps go to "
            "the job list of DGC (section 7.5.1.3). The GC run and the idle periods of these "
            "steps then count as DGC's; a further row shows the share of GC runs that AGC starts. "
            "An idle period is used by a scheme that starts a flash operation in it. Disks 2 and "
            f"3 are omitted; they have few requests. {LOCAL}: {many:,} requests of 128 KiB, 80 % "
            "writes, all to a region so small that update blocks fill. Tags 1 s ahead: no pause "
            "is long, and commands are announced 1 s before they arrive, the length of the "
            "longest pause that is not a long one. L-FTL has a free-block threshold of 1 % "
            f"(section 7.6) or 3 % (section 7.6.5), of which {100 * MOST_FREE:g} % are possible "
            "in addition to the blocks that merges need."
        ),
        rows=[
            *_share_rows(shares, names),
            *_idle_rows(found, names),
            *(
                Row(
                    "SSD0, SSD1, SSD4 and SSD5 together: change of the number of erases of "
                    f"AGC+DGC against {title}",
                    mean[scheme],
                    "%",
                    PUBLISHED("7.15a", "change of the number of erases of AGC+DGC against L-FTL"),
                    other_reading=scheme == L,
                )
                for scheme, title in ((MORE, "L-FTL at 3 %"), (L, "L-FTL at 1 %"))
            ),
            *(
                Row(
                    f"{name}: change of the number of erases of AGC+DGC against L-FTL at 1 %",
                    value,
                    "%",
                )
                for name, value in change.items()
            ),
            Row(
                f"{LOCAL}: change of the number of erases of AGC+DGC against L-FTL with the same "
                "number of free blocks",
                as_many,
                "%",
            ),
            *(
                Row(
                    f"{name}: change of the number of erases of AGC+DGC on H-FTL against H-FTL",
                    value,
                    "%",
                )
                for name, value in hybrid.items()
            ),
        ],
        plots=[
            Plot(
                "GC runs by trigger",
                "Shares of GC runs. DGC continues GC runs of AGC that a request interrupts.",
                bars(shares, PARTS, "% of GC runs", stacked=True),
            ),
            Plot(
                "Use of idle periods",
                "Idle periods that AGC, DGC or both use. Published: DGC uses at most 20 %.",
                bars(uses, USES, "% of idle periods used", stacked=True),
            ),
        ],
        claims=[
            *_most(table, {name: found[BOTH, name] for name in names}),
            Claim(
                "Most of AGC's GC runs are compactions on every disk",
                all(compactions > ahead for compactions, ahead in kinds.values()),
                _told_kinds(kinds),
                ids=("J7-088",),
            ),
            Claim(
                "If update blocks fill, tags arrive 1 s ahead and no pause is long, AGC runs GC by "
                "look-ahead",
                look_ahead[1] > 0,
                _told_kinds({FAR_TAGS: look_ahead}),
            ),
            Claim(
                "On H-FTL, if update blocks fill, AGC performs at least 80 % of the GC runs and "
                "DGC at most 20 %",
                on_h[ALONE] >= 80 and on_h["DGC"] <= 20,
                f"{on_h['AGC']:.1f} and {on_h['DGC']:.1f} %",
            ),
            Claim(
                "AGC+DGC erases no more than L-FTL at 3 %",
                against[MORE] <= 0,
                f"{mean[MORE]:+.2f} %",
                ids=("J7-022",),
            ),
            Claim(
                "AGC+DGC erases no more than L-FTL at 1 %",
                against[L] <= 0,
                f"{mean[L]:+.2f} %",
                because=KEEPS,
            ),
            Claim(
                "If update blocks fill, AGC+DGC erases as often as L-FTL with as many free blocks "
                f"(within {PER_CENT:g} %)",
                abs(as_many) <= PER_CENT,
                f"{as_many:+.1f} %; relative to L-FTL at 1 % {change[LOCAL]:+.1f} %",
            ),
            *_amplified(found, names),
        ],
        explanation=[
            "Full update blocks are rare. With table 7.1's 30 GiB written to disk 5, 21 erases "
            f"per block of 64 GiB mean one merge per {_pages_a_merge():.1f} pages, and an update "
            "block has 128 pages. Compaction is therefore nearly always that of the least "
            "recently written logical block, which section 7.6.5 allows if on-demand GC is "
            "about to start.",
            "AGC+DGC compacts when the share of free blocks is below 43 % of the 3 % threshold, "
            "which is more than 1 %. It therefore keeps more blocks free than L-FTL at the "
            "threshold of section 7.6, and can only erase less than an FTL that keeps even more "
            "blocks free.",
        ],
        data={
            "shares_percent": shares,
            "idle_periods_percent": uses,
            "erases_change_percent": change | mean,
            "erases_change_h_percent": hybrid,
        },
    )


def _thresholds(
    setup: Setup, found: Known, swept: Mapping[float, Summary], like: Summary
) -> Figure:
    many = writes_of(setup)
    base = {scheme: erases(found[scheme, "SSD5"]) for scheme in (L, MORE)}
    over = {
        title: {100 * one: 100 * erases(swept[one]) / base[scheme] for one in THRESHOLDS}
        for scheme, title in ((L, AT_1), (MORE, AT_3))
    }
    low, high = over.values()
    best = min(low, key=lambda one: low[one])
    few = [one for one in high if one / 100 <= COMPACT_BELOW]
    rest = [one for one in high if one / 100 > COMPACT_BELOW]
    many_free = [one for one in rest if one / 100 > CROSSING]
    equal = gain(erases(like), erases(swept[CROSSING]))
    crossings = {name: _crossing(curve) for name, curve in over.items()}
    whole = {scheme: _erases_a_block(many, found, scheme) for scheme in (L, BOTH, MORE)}
    writes = sum(row.writes for row in TABLE.values())
    merges = whole[L] * len(TABLE) * BLOCKS_OF_A_DISK / 2 / writes
    ends = [100.0 * one for one in (min(THRESHOLDS), max(THRESHOLDS))]
    return Figure(
        id="7.15b",
        title="Figure 7.15(b): erases by the free-block threshold",
        section="7.6.5",
        measured=(
            "Erases of AGC+DGC relative to L-FTL at 1 % and at 3 %, with `compact_below_ratio` "
            "from 0.2 to 1.0, under the load of SSD5."
        ),
        rows=[
            *(
                Row(
                    f"all disks, {title}: erases per block, extrapolated to all requests of table "
                    "6.1",
                    whole[scheme],
                    "",
                    PUBLISHED("7.15b", "erases per block under L-FTL"),
                    other_reading=scheme == L,
                )
                for scheme, title in ((MORE, "L-FTL at 3 %"), (L, "L-FTL at 1 %"))
            ),
            Row(
                "all disks, AGC+DGC: erases per block, extrapolated to all requests of table 6.1",
                whole[BOTH],
                "",
            ),
            Row(
                "threshold with the fewest erases of AGC+DGC",
                best,
                "%",
                PUBLISHED("7.15b", "threshold with the fewest erases of AGC+DGC"),
            ),
            *(
                Row(
                    "threshold up to which AGC+DGC erases no more than "
                    f"{name.removeprefix('against ')}",
                    value,
                    "%",
                    PUBLISHED("7.15b", "threshold up to which AGC+DGC erases no more than L-FTL"),
                    other_reading=name == AT_1,
                )
                for name, value in crossings.items()
            ),
            Row(
                "change of the number of erases of AGC+DGC with a threshold of 71 % against L-FTL "
                "at 2.13 %",
                equal,
                "%",
            ),
            Row("all disks, L-FTL at 1 %: merges per write", merges, ""),
            *(
                Row(
                    f"erases of AGC+DGC with a threshold of {threshold:.0f} %, as a share of "
                    f"those of {name.removeprefix('against ')}",
                    value,
                    "%",
                )
                for name, one in over.items()
                for threshold, value in one.items()
            ),
        ],
        plots=[
            Plot(
                "Erases by the free-block threshold",
                "Erases of AGC+DGC in per cent of those of L-FTL (line at 100).",
                lines(
                    over | {"L-FTL": dict.fromkeys(ends, 100.0)},
                    {
                        AT_1: "#12a07a",
                        AT_3: "#1f78b4",
                        "L-FTL": SCHEMES[L].colour,
                    },
                    "free-block threshold (%)",
                    "% of L-FTL's erases",
                ),
            )
        ],
        claims=[
            Claim(
                f"The generated writes cause fewer merges than the recorded ones ({RECORDED} per "
                "write), and therefore fewer erases",
                merges < RECORDED,
                f"{merges:.3f} per write",
            ),
            Claim(
                "With a threshold of 71 %, AGC+DGC erases as often as L-FTL at 2.13 %, which is "
                f"71 % of 3 % (within {PER_CENT:g} %)",
                abs(equal) <= PER_CENT,
                f"{equal:+.1f} %",
                report_only=short(setup),
            ),
            Claim(
                "With thresholds above 71 %, AGC+DGC erases more than L-FTL at 3 %",
                all(high[one] > 100 for one in many_free),
                ", ".join(f"{high[one]:.1f} % at {one:.0f} %" for one in many_free),
                because=EQUAL_FREE,
                quick=False,
                ids=("J7-092",),
            ),
            Claim(
                "With low thresholds (up to 43 %), AGC+DGC erases less than L-FTL at 3 %",
                all(high[one] < 100 for one in few),
                ", ".join(f"{high[one]:.1f} % at {one:.0f} %" for one in few),
                because=FEW_FREE,
                ids=("J7-011",),
            ),
            Claim(
                "With thresholds from a third to 43 %, AGC+DGC erases less than L-FTL at 3 %",
                all(high[one] < 100 for one in few if one / 100 > THRESHOLD / SPARE),
                ", ".join(f"{high[one]:.1f} % at {one:.0f} %" for one in few[1:]),
            ),
            Claim(
                "The higher the threshold (from 43 % on), the more AGC+DGC erases",
                all(high[one] < high[two] for one, two in pairwise(few[-1:] + rest)),
                ", ".join(f"{high[one]:.1f} % at {one:.0f} %" for one in few[-1:] + rest),
                ids=("J7-004",),
            ),
        ],
        explanation=[
            "Erases per block are those of the simulated requests, extrapolated to the rows of "
            "the table, over the blocks of all six disks: one replay of table 6.1. Nothing was "
            "fitted to the published 21. Sizes and shares are those of the tables, and the "
            "writes are spread as in the recorded requests of disk 5. 9.6 million writes with "
            f"{RECORDED} merges each (as recorded) and two erases per merge would give 21.7.",
            "The section of this figure gives the underlying FTL a threshold of 3 %, so L-FTL has "
            "3 % here; the second interpretation is the 1 % of section 7.6.",
            "A third of 3 % is 1 %. At lower thresholds, writes find too few free blocks before "
            "AGC acts, and all GC is postponed, as under DGC alone, which erases more.",
            "Two schemes that keep the same number of blocks free merge equally often. AGC+DGC "
            "therefore starts to erase more than L-FTL at 1 % at a third of 3 %, and more than "
            "L-FTL at 3 % near 100 %. At 71 %, it starts to erase more than L-FTL at 2.13 %, which "
            "the document does not mention.",
        ],
        data={"erases_percent": over, "erases_a_block": whole},
    )


def _crossing(curve: Mapping[float, float]) -> float:
    """Returns the threshold, above a third, at which erases start to exceed those of L-FTL.
    Interpolated linearly. Per cent.

    If erases exceed those of L-FTL at all of these thresholds, returns the first one; if at none,
    the last one.
    """
    known = [(at, value) for at, value in curve.items() if at / 100 > THRESHOLD / SPARE]
    for (low, less), (high, more) in pairwise(known):
        if less <= 100 < more:
            return low + (high - low) * (100 - less) / (more - less)
    return known[0][0] if known[0][1] > 100 else known[-1][0]


def _erases_a_block(many: int, found: Known, scheme: str) -> float:
    """Returns the erases per block, extrapolated from the simulated requests to all requests of the
    tables."""
    every = sum(
        erases(found[scheme, f"SSD{disk}"]) * row.requests / count(many, disk)
        for disk, row in TABLE.items()
    )
    return every / (len(TABLE) * BLOCKS_OF_A_DISK)
