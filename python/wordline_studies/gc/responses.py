"""Figures 7.8 and 7.9: response times of individual requests under each strategy."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import nan

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import latencies_us, required, summary_of, tabled
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.gc.charts import MARGIN_MS, in_order
from wordline_studies.gc.loads import EVERY, STRETCHES, in_turn, of_disk, writes_of
from wordline_studies.gc.runs import (
    ADVANCED,
    DELAYED,
    DEMAND,
    Load,
    case,
    collected,
    handed_over,
    late,
    longest_ms,
    mean_ms,
)
from wordline_studies.gc.schemes import (
    AGC,
    BLOCKS,
    BOTH,
    DGC,
    MORE,
    MOST_FREE,
    SCHEMES,
    SPARE,
    L,
)
from wordline_studies.generated import written
from wordline_studies.outcome import IN_POINTS, PER_CENT, is_reproduced

STRATEGIES = (L, AGC, DGC, BOTH)
TURN, MORE_FREE = "SSD5, in turn", "SSD5, at 3 %"
# Share of spare blocks of an SSD with more spare blocks than section 7.6 gives.
MORE_SPARE = 0.07
ROOMY = f"L-FTL at 3 % with {100 * MORE_SPARE:.0f} % spare blocks"
# Reason why DGC does not run out of free blocks. A claim on write-intensive sections tests it.
SHORT_PAUSES = (
    "short pauses are up to a second long: 75 ms on average (1.8 µs to 1 s, with equal "
    "probability per order of magnitude); 10 % of the requests of a write-intensive section "
    "follow one, which is 7.5 ms of idle time per request, enough for three merges of 139 ms on "
    "64 planes in parallel; DGC runs out of free blocks if no pause is longer than 15.2 ms (see "
    "Write-intensive sections with few long pauses)"
)
EVENLY = (
    "the write-intensive sections of the load are spread evenly over the run, and AGC recovers "
    "between them; within the sections, more requests are late in the second half"
)
# Reason for more GC runs and erases than those of L-FTL at 1 %.
KEEPS = (
    "AGC+DGC compacts when the share of free blocks is below 43 % of the 3 % threshold, and so "
    "keeps 1.29 % of the blocks free; L-FTL at its threshold of 1 % (section 7.6) keeps fewer "
    "blocks free; AGC+DGC therefore merges logical blocks earlier, with fewer new pages, under "
    "any locality; section 7.6.5 gives the underlying FTL a threshold of 3 %, at which L-FTL "
    "performs more GC runs"
)


@dataclass(frozen=True)
class Responses:
    """Results of a run: summary, and response times in microseconds in order of arrival."""

    summary: Summary
    latencies: list[float]


# Results by member and scheme.
Found = dict[str, dict[str, Responses]]


def run(setup: Setup, loads: Mapping[str, Load]) -> Found:
    """Runs SSD0 (low intensity) and SSD5 (high intensity) of 6SSDs-RAID under each strategy."""
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
    """Returns figures 7.8 and 7.9, of the runs in `found` and of further runs of SSD5."""
    many = writes_of(setup)
    with written({TURN: in_turn(of_disk(many, 5))}) as paths:
        turn = replace(loads["SSD5"], name=TURN, trace=paths[TURN])
        others = required(
            setup,
            {(TURN, scheme): case(turn, scheme) for scheme in (L, BOTH)}
            | {(MORE_FREE, MORE): case(loads["SSD5"], MORE)}
            | {(ROOMY, L): case(loads["SSD5"], L, roomy())},
        )
    turns = {scheme: others[TURN, scheme] for scheme in (L, BOTH)}
    return [
        _low(found["SSD0"]),
        _high(found["SSD5"], turns, others[MORE_FREE, MORE], others[ROOMY, L]),
    ]


def roomy() -> dict[str, Value]:
    """Returns the settings of an SSD with more over-provisioned blocks and a higher free-block
    threshold than section 7.6 gives, and the same user capacity."""
    blocks = round(BLOCKS * (1 - SPARE) / (1 - MORE_SPARE))
    return {
        "nand.geometry.blocks_per_plane": blocks,
        "ftl.over_provisioning_ratio": 1 - (1 - SPARE) * BLOCKS / blocks,
        "ftl.gc.start_free_ratio": MOST_FREE,
        "ftl.gc.hard_free_ratio": MOST_FREE,
    }


def _rows(found: Mapping[str, Responses]) -> list[Row]:
    rows: list[Row] = []
    for scheme, run in found.items():
        title, summary = SCHEMES[scheme].title, run.summary
        rows += [
            Row(f"{title}: longest response time", longest_ms(summary), "ms"),
            Row(f"{title}: mean response time of writes", mean_ms(summary), "ms"),
            Row(
                f"{title}: number of requests slower than {MARGIN_MS} ms", float(late(summary)), ""
            ),
            Row(f"{title}: number of GC runs", float(collected(summary)), ""),
            Row(f"{title}: number of on-demand GC runs", float(collected(summary, DEMAND)), ""),
        ]
    return rows


def _plots(found: Mapping[str, Responses]) -> list[Plot]:
    top = max(max(run.latencies) for run in found.values())
    return [
        Plot(
            SCHEMES[scheme].title,
            "Response times of the requests in order of arrival. The dotted line is at "
            f"{MARGIN_MS} ms.",
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
    hidden = 100 * (1 - late_of[AGC] / late_of[L]) if late_of[L] else nan
    advanced = collected(found[AGC].summary, ADVANCED)
    all_of_agc = collected(found[AGC].summary)
    both = found[BOTH].summary
    of_dgc = collected(both, DELAYED) + handed_over(both)
    left = 100 * of_dgc / collected(both) if collected(both) else nan
    return Figure(
        id="7.8",
        title="Figure 7.8: response times of SSD0",
        section="7.6.1",
        measured=(
            "Response times of SSD0 of 6SSDs-RAID (low intensity) under L-FTL, AGC, DGC and "
            "AGC+DGC."
        ),
        rows=_rows(found),
        plots=_plots(found),
        claims=[
            Claim(
                f"AGC alone hides almost all GC (at most {IN_POINTS:g} % of L-FTL's late requests "
                "remain)",
                hidden >= 100 - IN_POINTS,
                f"{hidden:.1f} % hidden ({late_of[L]:,} late requests under L-FTL, "
                f"{late_of[AGC]:,} under AGC)",
                ids=("J7-042",),
            ),
            Claim(
                "AGC alone performs most of its GC runs in advance",
                advanced > all_of_agc / 2,
                f"{advanced:,} of {all_of_agc:,} GC runs",
            ),
            Claim(
                "AGC leaves nothing for DGC: under AGC+DGC, DGC performs 0 % of the GC runs, "
                f"within {IN_POINTS:g} percentage points",
                left <= IN_POINTS,
                f"{left:.2f} %",
                ids=("J7-043",),
            ),
        ],
        data=_data(found),
    )


def _high(
    found: Mapping[str, Responses], turns: Mapping[str, Summary], more: Summary, spacious: Summary
) -> Figure:
    late_of = {scheme: late(run.summary) for scheme, run in found.items()}
    runs = {scheme: collected(run.summary) for scheme, run in found.items()}
    demanded = collected(found[DGC].summary, DEMAND)
    in_turns = {scheme: collected(summary) for scheme, summary in turns.items()}
    at_more = collected(more)
    return Figure(
        id="7.9",
        title="Figure 7.9: response times of SSD5",
        section="7.6.1",
        measured=(
            "Response times of SSD5 (high intensity), with its write-intensive sections. 'In turn' "
            "means the same requests, but no logical block is written again before all others "
            "have been. 'L-FTL at 3 %' has the free-block threshold of section 7.6.5, less the "
            f"blocks that merges need. '{ROOMY}' has this threshold and more spare blocks for the "
            "same user capacity."
        ),
        rows=[
            *_rows(found),
            Row(
                "DGC: number of postponed GC runs",
                float(collected(found[DGC].summary, DELAYED)),
                "",
            ),
            Row("L-FTL at 3 %: number of GC runs", float(at_more), ""),
            Row(f"{ROOMY}: number of GC runs", float(collected(spacious)), ""),
            Row(
                f"{ROOMY}: number of requests slower than {MARGIN_MS} ms", float(late(spacious)), ""
            ),
            *(
                Row(f"In turn, {SCHEMES[scheme].title}: number of GC runs", float(runs_of), "")
                for scheme, runs_of in in_turns.items()
            ),
        ],
        plots=_plots(found),
        claims=[
            *_left_by_agc(found, late_of),
            Claim(
                "DGC alone starts on-demand GC once the free blocks are used up",
                demanded > 0,
                f"{demanded} on-demand GC runs, {late_of[DGC]} late requests",
                because=SHORT_PAUSES,
                ids=("J7-048",),
            ),
            Claim(
                "AGC alone and DGC alone each perform more GC runs than the baseline (L-FTL at "
                "1 %)",
                min(runs[AGC], runs[DGC]) > runs[L],
                f"{runs[AGC]:,}, {runs[DGC]:,} and {runs[L]:,} GC runs",
                ids=("J7-049",),
            ),
            Claim(
                "AGC and DGC together hide all GC",
                late_of[BOTH] == 0,
                f"{late_of[BOTH]} late requests",
                ids=("J1-004",),
            ),
            Claim(
                "AGC and DGC together perform no more GC runs than the baseline (L-FTL at 1 %)",
                runs[BOTH] <= runs[L],
                f"{runs[BOTH]:,} and {runs[L]:,} GC runs",
                because=KEEPS,
                ids=("J7-007",),
            ),
            Claim(
                "AGC and DGC together perform no more GC runs than L-FTL at 3 %",
                runs[BOTH] <= at_more,
                f"{runs[BOTH]:,} and {at_more:,} GC runs",
            ),
            Claim(
                "With more free blocks and a higher threshold, L-FTL performs fewer GC runs and "
                "fewer requests are late",
                collected(spacious) < runs[L] and late(spacious) < late_of[L],
                f"{collected(spacious):,} and {runs[L]:,} GC runs, {late(spacious):,} and "
                f"{late_of[L]:,} late requests",
                ids=("J7-041",),
            ),
            Claim(
                "If writes go to logical blocks in turn, AGC and DGC together perform as many GC "
                f"runs as L-FTL (within {PER_CENT:g} %)",
                is_reproduced(in_turns[BOTH], in_turns[L], ""),
                f"{in_turns[BOTH]:,} and {in_turns[L]:,} GC runs",
            ),
        ],
        explanation=[
            "If writes go to logical blocks in turn, an earlier merge handles as many new "
            "pages as a later one. Without rewrites, keeping more blocks free costs nothing.",
            "Sections 7.6 and 7.6.5 give the baseline different thresholds, 1 % and 3 %. At 1 %, "
            "AGC+DGC performs more GC runs; at 3 %, AGC alone performs fewer. Either way, one of "
            "the two statements of section 7.6.1 on the number of GC runs does not hold.",
            "Figure 7.9(c) shows four million writes before DGC runs out of free blocks. Table "
            "6.1 has only 3,040,098 for disk 5.",
        ],
        data=_data(found),
    )


def _left_by_agc(found: Mapping[str, Responses], late_of: Mapping[str, int]) -> list[Claim]:
    """Returns the claims on the GC that AGC alone leaves on an SSD with high intensity."""
    demanded = {scheme: collected(found[scheme].summary, DEMAND) for scheme in (L, AGC)}
    halves = _late_by_half(found[AGC].latencies)
    of_sections = _late_in_sections(found[AGC].latencies)
    return [
        Claim(
            "AGC alone does not hide all GC",
            late_of[AGC] > 0,
            f"{late_of[AGC]:,} late requests",
            ids=("J7-044",),
        ),
        Claim(
            "Few on-demand GC runs remain under AGC alone (less than half of L-FTL's), but more "
            "requests are late than under AGC and DGC together",
            0 < demanded[AGC] < demanded[L] / 2 and late_of[AGC] > late_of[BOTH],
            f"{demanded[AGC]:,} and {demanded[L]:,} on-demand GC runs; {late_of[AGC]:,} and "
            f"{late_of[BOTH]:,} late requests",
            ids=("J7-045",),
        ),
        Claim(
            "Under AGC alone, more requests are late in the second half of the run than in the "
            "first",
            halves[1] > halves[0],
            f"{halves[0]:,} late requests in the first half, {halves[1]:,} in the second",
            because=EVENLY,
            ids=("J7-046",),
        ),
        Claim(
            "Under AGC alone, more requests are late in the second halves of the write-intensive "
            "sections than in the first halves",
            of_sections[1] > of_sections[0],
            f"{of_sections[0]:,} late requests in the first halves, {of_sections[1]:,} in the "
            "second halves",
        ),
    ]


def _late_by_half(latencies_us: list[float]) -> tuple[int, int]:
    """Returns the numbers of late requests among the first and the second half of the requests."""
    middle = len(latencies_us) // 2
    late_ones = [us > 1000 * MARGIN_MS for us in latencies_us]
    return sum(late_ones[:middle]), sum(late_ones[middle:])


def _late_in_sections(latencies_us: list[float]) -> tuple[int, int]:
    """Returns the numbers of late requests in the first and the second halves of the
    write-intensive sections."""
    stretch = max(1, len(latencies_us) // STRETCHES)
    starts = range((EVERY - 1) * stretch, len(latencies_us), EVERY * stretch)
    halves = [_late_by_half(latencies_us[start : start + stretch]) for start in starts]
    return sum(first for first, _ in halves), sum(last for _, last in halves)
