"""Figures 7.8 and 7.9: response times one by one, each strategy by itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from wordline.study.cases import latencies_us, required, summary_of, tabled
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.gc.charts import MARGIN_MS, in_order
from wordline.study.gc.loads import duration_s, in_turn, of_disk
from wordline.study.gc.runs import (
    ADVANCED,
    DELAYED,
    DEMAND,
    PLANES,
    Load,
    case,
    collected,
    late,
    longest_ms,
    mean_ms,
)
from wordline.study.gc.schemes import AGC, BOTH, DGC, EARLY, SCHEMES, L
from wordline.study.traces import written
from wordline.summary import Summary

STRATEGIES = (L, EARLY, AGC, DGC, BOTH)
# Almost all: at least so many per cent.
ALMOST = 95
SHORT = (
    "a merge takes 170 ms, and a tag comes at most 15.2 ms ahead, so that look-ahead never has "
    "the time; and compaction is of full update blocks, of which there are hardly any: so few "
    "pages come to a logical block that it is merged for its free block long before (see figure "
    "7.15)"
)
PAUSES = (
    "with the table's shares of long pauses all that was put off is merged in time; it does run "
    "out where there are fewer (see Write-intensive sections without pauses)"
)
TURN = "SSD5, in turn"
# Of more collections and erases than L-FTL makes. Claims on figure 7.9 test it.
RETURNS = (
    "what is put off for want of free blocks is the logical block that was just written "
    "(algorithm 3, line 5), which has taken fewer pages since its last merge than the one written "
    "longest ago, which L-FTL merges; it costs nothing where no write comes back before all others "
    "have come (see figure 7.9)"
)


@dataclass(frozen=True)
class Responses:
    """A run: its summary, and response times in order of arrival in microseconds."""

    summary: Summary
    latencies: list[float]


def figures(setup: Setup) -> list[Figure]:
    """A disk with low intensity and one with high."""
    made = {f"SSD{disk}": of_disk(setup, disk) for disk in (0, 5)}
    with written(made | {TURN: in_turn(of_disk(setup, 5))}) as paths:
        turn = Load(TURN, paths.pop(TURN), duration_s(setup), worn=setup.quick)
        turns = required(setup, {scheme: case(turn, scheme) for scheme in (L, BOTH)})
        found = {
            name: _responses(setup, Load(name, path, duration_s(setup), worn=setup.quick))
            for name, path in paths.items()
        }
    return [_low(found["SSD0"]), _high(found["SSD5"], turns)]


def _responses(setup: Setup, load: Load) -> dict[str, Responses]:
    """By scheme."""
    runs = tabled(setup, {scheme: case(load, scheme) for scheme in STRATEGIES}, "requests")
    return {scheme: Responses(summary_of(run), latencies_us(run)) for scheme, run in runs.items()}


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
        Plot(SCHEMES[scheme].title, f"Requests in order. Dotted: {MARGIN_MS} ms.",
             in_order(SCHEMES[scheme].title, scheme, run.latencies, top))
        for scheme, run in found.items()
    ]  # fmt: skip


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
        "both. L-FTL, early: its collections begin at the threshold, while writes go on.",
        rows=_rows(found),
        plots=_plots(found),
        claims=[
            Claim(f"AGC alone hides almost all collections (at least {ALMOST} % of the late "
                  "requests)", hidden >= ALMOST,
                  f"{hidden:.1f} % ({late_of[L]:,} to {late_of[AGC]:,})"),
            Claim("by collections in advance", advanced > all_of_agc / 2,
                  f"{advanced:,} of {all_of_agc:,}", because=SHORT),
            Claim("and leaves nothing for DGC: both together are late no less often",
                  late_of[BOTH] >= late_of[AGC], f"{late_of[BOTH]} and {late_of[AGC]} late",
                  because="the few collections on demand that meet a further write are left"),
        ],
        explanation=[
            "While the host is being served, AGC collects at the threshold, as `on-demand` does, "
            "and in pauses of more than a second what that has begun is over long before the next "
            "request. That is what hides L-FTL's collections here, not AGC's own.",
        ],
        data=_data(found),
    )  # fmt: skip


def _high(found: Mapping[str, Responses], turns: Mapping[str, Summary]) -> Figure:
    late_of = {scheme: late(run.summary) for scheme, run in found.items()}
    runs = {scheme: collected(run.summary) for scheme, run in found.items()}
    demanded = collected(found[DGC].summary, DEMAND)
    in_turns = {scheme: collected(summary) for scheme, summary in turns.items()}
    return Figure(
        id="7.9",
        title="Figure 7.9: response times of SSD5",
        section="7.6.1",
        measured="The same of SSD5 (high intensity), with its write-intensive sections. In turn: "
        "the same requests, but that no write comes to a logical block before all others that are "
        "written have had one.",
        rows=[
            *_rows(found),
            Row("DGC: put off", float(collected(found[DGC].summary, DELAYED)), ""),
            *(
                Row(f"In turn, {SCHEMES[scheme].title}: collections", float(runs_of), "")
                for scheme, runs_of in in_turns.items()
            ),
        ],
        plots=_plots(found),
        claims=[
            Claim("AGC alone is not enough", late_of[AGC] > 10 * max(1, late_of[BOTH]),
                  f"{late_of[AGC]:,} late"),
            Claim("DGC alone begins to collect on demand once free blocks have run out",
                  demanded > 0, f"{demanded} on demand", because=PAUSES),
            Claim("AGC alone collects more than the baseline", runs[AGC] > runs[L] + PLANES,
                  f"{runs[AGC]:,} and {runs[L]:,}",
                  because="it collects on demand only, as L-FTL does (see figure 7.8)"),
            Claim("so does DGC alone", runs[DGC] > runs[L] + PLANES,
                  f"{runs[DGC]:,} and {runs[L]:,}"),
            Claim("AGC and DGC together hide all", late_of[BOTH] == 0, f"{late_of[BOTH]} late"),
            Claim("and do not collect more than the baseline", runs[BOTH] <= runs[L] + PLANES,
                  f"{runs[BOTH]:,} and {runs[L]:,}", because=RETURNS),
            Claim("They do not where writes go to logical blocks in turn",
                  in_turns[BOTH] <= in_turns[L] + PLANES,
                  f"{in_turns[BOTH]:,} and {in_turns[L]:,}"),
        ],
        explanation=[
            f"A collection more for each of the {PLANES} planes is not counted as more, for L-FTL "
            "keeps one free block a plane more than the others while it is written to.",
            "Under AGC and DGC together the requests are those of DGC alone: see figure 7.8 for "
            "why AGC finds nothing to do.",
        ],
        data=_data(found),
    )  # fmt: skip
