"""Figures 7.10 and 7.13: worst cases of both arrays. Adds rows and claims on one array to its
figure of excess waiting times (7.12 or 7.14)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan, nan
from random import Random
from statistics import fmean

from wordline.summary import Summary
from wordline_studies.cases import latencies_us, required, tabled
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.gc.arrays import (
    GROUPS,
    HIGH,
    LARGE,
    LOW,
    Runs,
    days,
    late_of,
)
from wordline_studies.gc.charts import MARGIN_MS, PUBLISHED, over_days
from wordline_studies.gc.excess import (
    OVERFLOWS,
    claims_of_six,
    claims_of_three,
    day_one,
    excess,
    merges,
    of_locality,
    thrashing,
)
from wordline_studies.gc.loads import (
    DAYS,
    OF_64_GB,
    THREE_SSDS,
    count,
    of_disk,
    page_of,
    writes_of,
)
from wordline_studies.gc.runs import (
    Known,
    Load,
    case,
    late,
    longest_ms,
    members,
    under,
    worst_ms,
)
from wordline_studies.gc.schemes import (
    BOTH,
    COMPARED,
    LOG,
    NEW,
    SCHEMES,
    SIX,
    THREE,
    H,
    L,
    P,
)
from wordline_studies.generated import Request, written
from wordline_studies.outcome import PER_CENT, is_reproduced

Series = dict[str, list[float | None]]
# Number of requests of disk 3 with which the study tests why they are late.
LARGE_REQUESTS = 400
# Factor by which fewer writes of each disk are simulated on 3SSDs-RAID than on 6SSDs-RAID.
FEWER = 4
# Single-page writes, 2 s apart, so that none waits for the GC of another.
ALONE_WRITES, ALONE_S = 400, 2.0
ALONE = "isolated writes"
# Number of logical blocks that SSD0 writes in a test of its locality: 0.5 % of them, far fewer than
# it has update blocks.
FEW, FEW_BLOCKS = "SSD0, few logical blocks", 640
WAITS = (
    "a GC run takes as long on both arrays, but with four times as many planes, fewer writes wait "
    "for each other's GC runs"
)
STARTS = (
    "the SSDs start without free update blocks, so the shortage that the document gives as the "
    "reason exists from day 1; on an SSD that starts with free blocks, the number of late requests "
    "rises"
)


def figures(setup: Setup, loads: Mapping[str, Load], known: Known) -> list[Figure]:
    """Returns the figures for both arrays. Runs of SSDs of 6SSDs-RAID that are in `known` are not
    repeated."""
    # First, because one of these runs, which record more, serves figure 7.10 as well.
    days_of_h = _late_by_day(setup, loads["SSD0"])
    six = _by_scheme(under(setup, loads, COMPARED, known))
    with members(THREE_SSDS, writes_of(setup) // FEWER) as paired:
        three = _by_scheme(under(setup, paired, COMPARED, device=THREE))
    alone = {device: _alone(setup, device) for device in (SIX, THREE)}
    of_six = excess(SIX, six, "7.12")
    of_three = excess(THREE, three, "7.14")
    few = _few(setup, loads["SSD0"])
    to_the_last = required(setup, {P: case(loads["SSD1"], P, {"ftl.gc.hard_free_ratio": 0.0})})[P]
    return [
        _worst(setup, six, _spread(setup, loads[LARGE]), alone[SIX]),
        replace(
            of_six,
            rows=[*of_six.rows, *merges(six, writes_of(setup)), *_rows_of_days(days_of_h)],
            claims=[
                *of_six.claims,
                *claims_of_six(six),
                Claim(
                    f"No request of SSD1 exceeds the bound of {MARGIN_MS} ms if P-FTL uses the "
                    "last free blocks",
                    late(to_the_last) == 0,
                    f"{late(to_the_last):,} requests exceed it",
                ),
                *_rising(days_of_h),
                of_locality(six[H]["SSD0"], few, FEW_BLOCKS),
            ],
        ),
        _worst_of_three(three, six, alone),
        replace(
            of_three,
            rows=[*of_three.rows, *day_one(three), *thrashing(three, six)],
            claims=[*of_three.claims, *claims_of_three(three)],
        ),
    ]


def _by_scheme(found: Mapping[tuple[str, str], Summary]) -> Runs:
    runs: Runs = {}
    for (scheme, name), summary in found.items():
        runs.setdefault(scheme, {})[name] = summary
    return runs


def _spread(setup: Setup, load: Load) -> dict[str, Summary]:
    """Returns the summaries of the first requests of disk 3 under AGC+DGC, by the stripe of the
    mapping: consecutive pages fill a logical block (`block`), or runs of 8 pages go to the planes
    in turn (`page`)."""
    many = min(LARGE_REQUESTS, count(writes_of(setup), 3))
    first = replace(load, name=f"{LARGE}, {many} requests", requests=many)
    key = f"ftl.mapping.{LOG}.stripe"
    return required(
        setup, {stripe: case(first, BOTH, {key: stripe}) for stripe in ("block", "page")}
    )


def _alone(setup: Setup, device: str) -> dict[str, float]:
    """Returns the longest response time of isolated writes on a used SSD, by scheme. For
    6SSDs-RAID, also on a pristine SSD. Milliseconds."""
    blocks = Random(41).sample(range(OF_64_GB), ALONE_WRITES)  # noqa: S311
    made = [
        Request(round(1e9 * ALONE_S * turn), True, page_of(block, 0), 1)
        for turn, block in enumerate(blocks)
    ]
    with written({ALONE: made}) as paths:
        load = Load(ALONE, paths[ALONE], ALONE_S * ALONE_WRITES, worn=True)
        schemes = (L, H, NEW) if device == SIX else (L, H)
        found = required(setup, {scheme: case(load, scheme, device=device) for scheme in schemes})
    return {scheme: longest_ms(summary) for scheme, summary in found.items()}


def _late_by_day(setup: Setup, load: Load) -> dict[str, list[int]]:
    """Returns the numbers of late requests of an SSD under H-FTL by day, for a used SSD and for one
    that starts with free blocks. A day is a fifth of the requests."""
    starts = {
        "no free blocks at the start": load,
        "free blocks at the start": replace(load, worn=False),
    }
    runs = tabled(setup, {name: case(one, H) for name, one in starts.items()}, "requests")
    found: dict[str, list[int]] = {}
    for name, run in runs.items():
        late_ones = [us > 1000 * MARGIN_MS for us in latencies_us(run)]
        each = -(-len(late_ones) // DAYS)
        found[name] = [sum(late_ones[at : at + each]) for at in range(0, len(late_ones), each)]
    return found


def _few(setup: Setup, load: Load) -> Summary:
    """Returns the summary of SSD0 under H-FTL with its writes in few logical blocks."""
    made = of_disk(writes_of(setup), 0, sizes=(FEW_BLOCKS,))
    with written({FEW: made}) as paths:
        return required(setup, {H: case(replace(load, name=FEW, trace=paths[FEW]), H)})[H]


def _rows_of_days(late_by_day: Mapping[str, Sequence[int]]) -> list[Row]:
    return [
        Row(
            f"SSD0, H-FTL, {name}: number of requests slower than {MARGIN_MS} ms on day {day}",
            float(many),
            "",
        )
        for name, by_day in late_by_day.items()
        for day, many in enumerate(by_day, 1)
    ]


def _rising(late_by_day: Mapping[str, Sequence[int]]) -> list[Claim]:
    worn, fresh = late_by_day.values()
    return [
        Claim(
            "At low intensity (SSD0), more requests are late under H-FTL on every day than on the "
            "day before",
            all(one < two for one, two in pairwise(worn)),
            ", ".join(f"{one:,}" for one in worn),
            because=STARTS,
            ids=("J7-070",),
        ),
        Claim(
            "On SSD0 with free blocks at the start, more requests are late under H-FTL on day "
            "5 than on day 1",
            fresh[-1] > fresh[0],
            ", ".join(f"{one:,}" for one in fresh),
        ),
    ]


def highest(runs: Mapping[str, Summary], names: Iterable[str]) -> list[float | None]:
    """Returns the longest response time over a group of members, by interval. None without
    requests. Milliseconds."""
    curves = [worst_ms(runs[name]) for name in names]
    longest = max(map(len, curves))
    padded = [one + [None] * (longest - len(one)) for one in curves]
    return [
        max((one for one in interval if one is not None), default=None)
        for interval in zip(*padded, strict=True)
    ]


def _rows_alone(alone: Mapping[str, float]) -> list[Row]:
    """Returns the rows on the longest response times of isolated writes."""
    return [
        *(
            Row(
                f"{ALONE}, {SCHEMES[scheme].title}: longest response time",
                value,
                "ms",
                PUBLISHED("7.10", "worst-case response time of L-FTL and H-FTL, low intensity")
                if scheme in (L, H)
                else None,
            )
            for scheme, value in alone.items()
        ),
        Row(
            f"{ALONE}: longest response time under L-FTL over that on a pristine SSD",
            alone[L] / alone[NEW],
            "times",
            PUBLISHED("7.10", "duration of a GC run over that of a write"),
        ),
    ]


def _rows_of_cuts(cuts: Mapping[str, float]) -> list[Row]:
    """Returns the rows on the reductions of worst cases by AGC+DGC at low intensity. `cuts` are by
    scheme, in per cent."""
    return [
        *(
            Row(
                "low intensity: reduction of the worst-case response time with "
                f"AGC+DGC, relative to {SCHEMES[scheme].title}",
                value,
                "%",
                PUBLISHED(
                    "7.10",
                    "reduction of the worst-case response time with "
                    f"AGC+DGC, relative to {SCHEMES[scheme].title}",
                ),
            )
            for scheme, value in cuts.items()
        ),
        *(
            Row(
                f"low intensity: {which} reduction of the worst-case response time with AGC+DGC, "
                "relative to another scheme",
                value,
                "%",
                PUBLISHED(
                    "7.10",
                    "reduction of the worst-case response time with AGC+DGC, relative to any other "
                    "scheme",
                ),
            )
            for which, value in (("smallest", min(cuts.values())), ("largest", max(cuts.values())))
        ),
    ]


def _curves(runs: Runs, names: Sequence[str]) -> Series:
    return {scheme: highest(one, names) for scheme, one in runs.items()}


def _cuts(curves: Series) -> dict[str, float]:
    """Returns the reduction by AGC+DGC of the mean daily worst case. Per cent, by scheme."""
    return {
        scheme: 100 * (1 - fmean(days(curves[BOTH])) / fmean(days(curves[scheme])))
        for scheme in (P, L, H)
    }


def _fluctuation(curve: Sequence[float | None]) -> float:
    """Returns the difference between the longest and the shortest worst case of the intervals.
    Milliseconds."""
    told = [one for one in curve if one is not None]
    return max(told) - min(told)


def _rows(where: str, curves: Series) -> list[Row]:
    return [
        Row(f"{where}, {SCHEMES[scheme].title}: worst-case response time on day {day}", value, "ms")
        for scheme, curve in curves.items()
        for day, value in enumerate(days(curve), 1)
    ]


def _plots(curves: Mapping[str, Series]) -> list[Plot]:
    return [
        Plot(
            f"Worst-case response time, {where}",
            "Longest response time per tenth of a day, over the members of the group. The dotted "
            f"line is at {MARGIN_MS} ms.",
            over_days(one, DAYS),
        )
        for where, one in curves.items()
    ]


def _worst(
    setup: Setup, runs: Runs, spread: Mapping[str, Summary], alone: Mapping[str, float]
) -> Figure:
    groups = GROUPS[SIX]
    curves = {where: _curves(runs, names) for where, names in groups.items()}
    busy = {scheme: days(curves[HIGH][scheme]) for scheme in COMPARED}
    collecting = [
        worst
        for scheme in (L, H)
        for name in groups[LOW]
        for worst in days(worst_ms(runs[scheme][name]))
        if worst > MARGIN_MS
    ]
    waits = (min(collecting, default=nan), max(collecting, default=nan))
    cuts = _cuts(curves[LOW])
    over = max(busy[P]) / max(busy[L])
    both = max(busy[BOTH])
    striped = {stripe: late(one) for stripe, one in spread.items()}
    many = writes_of(setup)
    return Figure(
        id="7.10",
        title="Figure 7.10: worst-case response times of 6SSDs-RAID",
        section="7.6.2",
        measured=(
            "Longest response time per interval, over the disks of a group, under L-FTL, H-FTL "
            "(2:8), P-FTL with a write buffer of 14 GB, and AGC+DGC on L-FTL. Loads are fitted to "
            f"tables 6.1 and 7.1 (see Table 7.1); {many:,} writes of each disk are simulated, or "
            "all if it has fewer, with P-FTL's write buffer scaled down in proportion. A day is a "
            f"fifth of the load. Isolated writes are {ALONE_WRITES} single-page writes, "
            f"{ALONE_S:.0f} s apart, on a used SSD without free update blocks. P-FTL's write "
            "buffer is empty at the start. The published reductions come from the paragraph on "
            "low intensity. The worst cases of L-FTL and H-FTL in that paragraph are compared "
            "with isolated writes; those under the loads are a second interpretation."
        ),
        rows=[
            *_rows_alone(alone),
            *(
                Row(
                    f"low intensity, L-FTL and H-FTL: {what} worst-case response time of a day "
                    "with late requests",
                    value,
                    "ms",
                    PUBLISHED("7.10", "worst-case response time of L-FTL and H-FTL, low intensity"),
                    other_reading=True,
                )
                for what, value in zip(("shortest", "longest"), waits, strict=True)
            ),
            *_rows_of_cuts(cuts),
            *(
                Row(
                    "mean of both groups: reduction of the worst-case response time with "
                    f"AGC+DGC, relative to {SCHEMES[scheme].title}",
                    (value + _cuts(curves[HIGH])[scheme]) / 2,
                    "%",
                )
                for scheme, value in cuts.items()
            ),
            Row(
                "high intensity, AGC+DGC: longest response time",
                both,
                "ms",
                PUBLISHED("7.10", "worst-case response time of AGC+DGC, high intensity"),
            ),
            Row(
                "high intensity: longest response time of P-FTL over that of L-FTL",
                over,
                "times",
                PUBLISHED(
                    "7.10", "worst-case response time of P-FTL over that of L-FTL, high intensity"
                ),
            ),
            *(
                Row(
                    f"SSD3, first {spread[stripe]['input']['requests']} requests, AGC+DGC, "
                    f'stripe = "{stripe}": number of requests slower than {MARGIN_MS} ms',
                    float(number),
                    "",
                )
                for stripe, number in striped.items()
            ),
            *_rows("low intensity", curves[LOW]),
            *_rows("high intensity", curves[HIGH]),
        ],
        plots=_plots(curves),
        claims=[
            *_worst_claims(
                curves, alone, {scheme: late_of(runs[scheme], groups[LOW]) for scheme in (P, BOTH)}
            ),
            _all_or_nothing(runs),
            Claim(
                "SSD3: no request is late if rows of 8 of its pages go to the planes in turn",
                striped["page"] == 0,
                f"{striped['block']} late requests if consecutive pages fill a logical block, "
                f"{striped['page']} in turn, of "
                f"{spread['page']['input']['requests']}",
            ),
        ],
        explanation=[
            "L-FTL, H-FTL and P-FTL run GC only when they have to: a write that would leave a "
            "plane fewer free blocks than the threshold of 1 %, or that finds the write buffer "
            "full, waits until a GC run is complete (section 7.2.2). The document does not "
            "mention partial cleaning in idle time for P-FTL; with it, the buffer would never "
            "fill. To free one block of the buffer, all logical blocks with pages in it are "
            "merged one after the other.",
            "The latencies of section 7.6, 183.2 and 860.36 us, are taken to include the "
            "transfer of a page, as in section 6.6.3. Equation 7.2 then gives 139 ms for a GC "
            "run of L-FTL: 128 x (183.2 + 860.36) us and 2 x (2,000 + 860.36) us.",
            "Rows of 8 pages are dealt to the planes in turn. Two published numbers bound the "
            "length of a row. Writes of disk 3 have 149 pages; on 64 planes within 30 ms they "
            "need rows of at most 16 pages (two rows per die: 32 x 0.86 = 27.5 ms), or 8 if two "
            "writes arrive together. And 21 erases per block (figure 7.15) require rows of at "
            "least 2 pages. The rows of 8 pages and the 64 planes were chosen after seeing "
            "results.",
            "The paragraph on low intensity gives 131 to 311 ms for L-FTL and H-FTL, and "
            "reductions by 98.6 and 96.4 %, which leave 4.4 and 4.7 ms for the worst case of "
            "AGC+DGC, hardly more than the pages of a large request. A GC run takes 139 ms by "
            "equation 7.2, and up to 296 ms under H-FTL. A worst case of this paragraph is "
            "therefore that of a write that waits for one GC run (isolated writes). Under the "
            "loads, a write that meets other writes of its plane waits for their GC runs, too, "
            "and worst cases exceed the range.",
            "As long as P-FTL's buffer does not overflow, its worst cases equal those of AGC+DGC, "
            "which reduces nothing; once it overflows, AGC+DGC reduces them by more than 99 %. The "
            "published 65.2 % is between the two.",
            "DGC uses the last free blocks that merges do not need before it starts on-demand GC "
            "(section 7.6.1). This reading was chosen after 8 requests of disk 4 were late when "
            "on-demand GC started at 0.5 % free blocks.",
        ],
        data={"worst_ms": curves, "cut_percent": cuts, "one_by_one_ms": dict(alone)},
    )


def _worst_claims(
    curves: Mapping[str, Series], alone: Mapping[str, float], quiet: Mapping[str, int]
) -> list[Claim]:
    """Returns the claims of figure 7.10. `alone` are the longest response times of isolated writes,
    `quiet` the numbers of late requests at low intensity."""
    of_low = {scheme: _fluctuation(curve) for scheme, curve in curves[LOW].items()}
    return [
        Claim(
            "A write that waits for one GC run of L-FTL or H-FTL takes 131 to 311 ms",
            all(131 <= alone[scheme] <= 311 for scheme in (L, H)),
            f"{alone[L]:.0f} and {alone[H]:.0f} ms",
        ),
        Claim(
            "A write that waits for a GC run takes at least 64 times as long as a write on a "
            "pristine SSD",
            alone[L] >= 64 * alone[NEW],
            f"{alone[L]:.0f} and {alone[NEW]:.2f} ms",
            ids=("J7-012",),
        ),
        Claim(
            "AGC+DGC hides GC at low intensity",
            quiet[BOTH] == 0,
            f"{quiet[BOTH]:,} requests are late",
            ids=("J7-053",),
        ),
        Claim(
            "P-FTL and AGC+DGC hide GC at low intensity",
            quiet[P] + quiet[BOTH] == 0,
            f"{quiet[P]:,} and {quiet[BOTH]:,} requests are late",
            because=OVERFLOWS,
            quick=False,
            ids=("J7-053",),
        ),
        Claim(
            "At low intensity, the worst-case response times of L-FTL and H-FTL fluctuate more "
            "over time than those of P-FTL and AGC+DGC",
            min(of_low[L], of_low[H]) > max(of_low[P], of_low[BOTH]),
            _each(of_low),
            because=OVERFLOWS,
            quick=False,
            ids=("J7-053",),
        ),
        *_high_claims(curves[HIGH]),
    ]


def _high_claims(curves: Series) -> list[Claim]:
    """Returns the claims of figure 7.10 on the curves at high intensity."""
    of_high = {scheme: _fluctuation(curve) for scheme, curve in curves.items()}
    busy = {scheme: max(days(curve)) for scheme, curve in curves.items()}
    return [
        Claim(
            "At high intensity, P-FTL has the longest worst-case response time of L-FTL, H-FTL "
            f"and P-FTL, and AGC+DGC keeps the bound of {MARGIN_MS} ms",
            busy[P] > max(busy[L], busy[H]) and busy[BOTH] <= MARGIN_MS,
            _each(busy),
            ids=("J7-058",),
        ),
        Claim(
            "At high intensity, P-FTL's worst-case response time fluctuates most over time",
            of_high[P] > max(of_high[L], of_high[H], of_high[BOTH]),
            _each(of_high),
            ids=("J7-059",),
        ),
        Claim(
            "At high intensity, the worst-case response times of L-FTL, H-FTL and P-FTL each "
            f"exceed {MARGIN_MS} ms and fluctuate more than those of AGC+DGC",
            min(busy[one] for one in (L, H, P)) > MARGIN_MS
            and min(of_high[one] for one in (L, H, P)) > of_high[BOTH],
            _each(busy),
            ids=("J7-062",),
        ),
    ]


def _all_or_nothing(runs: Runs) -> Claim:
    """Returns the claim on the reductions of P-FTL's worst-case response times by disk and day."""
    ratios = [
        own / best
        for name in GROUPS[SIX][LOW]
        for own, best in zip(*(days(worst_ms(runs[one][name])) for one in (P, BOTH)), strict=True)
        if not isnan(best)
    ]
    equal = [one for one in ratios if abs(one - 1) <= PER_CENT / 100]
    longer = [one for one in ratios if one > 10]
    return Claim(
        "Reason for the reduction relative to P-FTL: on each disk of low intensity and each day, "
        "the worst-case response time of P-FTL is that of AGC+DGC (within "
        f"{PER_CENT:g} %), or more than ten times as long because its buffer overflows, so no "
        "single reduction is near the published mean",
        len(equal) + len(longer) == len(ratios),
        f"equal on {len(equal)} of {len(ratios)} days, longer on {len(longer)}"
        + (f" (at least {min(longer):,.0f} times)" if longer else ""),
    )


def _each(values: Mapping[str, float]) -> str:
    return ", ".join(f"{SCHEMES[scheme].title} {value:,.0f} ms" for scheme, value in values.items())


def _worst_of_three(runs: Runs, six: Runs, alone: Mapping[str, Mapping[str, float]]) -> Figure:
    groups = GROUPS[THREE]
    curves = {where: _curves(runs, names) for where, names in groups.items()}
    busy = {scheme: days(curves[HIGH][scheme]) for scheme in COMPARED}
    of_six = _curves(six, GROUPS[SIX][HIGH])
    ratio = {scheme: fmean(busy[scheme]) / fmean(days(of_six[scheme])) for scheme in COMPARED}
    plain = ("SSD0", "SSD1")
    each = [_cuts(_curves(runs, [name])) for name in plain]
    cuts = {scheme: fmean(one[scheme] for one in each) for scheme in (P, L, H)}
    both = max(max(days(worst_ms(runs[BOTH][name]))) for name in plain)
    longest = {scheme: max(one) for scheme, one in busy.items()}
    return Figure(
        id="7.13",
        title="Figure 7.13: worst-case response times of 3SSDs-RAID",
        section="7.6.4",
        measured=(
            "As in figure 7.10, with two disks on each of three SSDs of 8 channels x 8 ways: "
            "disks 0 and 1 on SSD0 (low intensity), 2 and 5 on SSD1, 3 and 4 on SSD2, with the "
            f"same share of the requests of both disks and 1/{FEWER} of the writes of figure 7.10."
        ),
        rows=[
            *(
                Row(
                    "mean of SSD0 and SSD1: reduction of the worst-case response time with "
                    f"AGC+DGC, relative to {SCHEMES[scheme].title}",
                    value,
                    "%",
                )
                for scheme, value in cuts.items()
            ),
            *(
                Row(
                    f"high intensity, {SCHEMES[scheme].title}: mean of the daily worst-case "
                    "response times over that of 6SSDs-RAID",
                    value,
                    "times",
                )
                for scheme, value in ratio.items()
            ),
            *_rows("low intensity", curves[LOW]),
            *_rows("high intensity", curves[HIGH]),
        ],
        plots=_plots(
            {
                "low intensity (SSD0)": curves[LOW],
                "SSD1": _curves(runs, ["SSD1"]),
                "SSD2": _curves(runs, ["SSD2"]),
            }
        ),
        claims=[
            Claim(
                f"AGC+DGC keeps the bound of {MARGIN_MS} ms on SSD0 and SSD1",
                both <= MARGIN_MS,
                f"longest {both:.1f} ms",
                ids=("J1-004",),
            ),
            Claim(
                f"AGC+DGC also keeps the bound of {MARGIN_MS} ms on SSD2, which holds disk 3",
                max(days(worst_ms(runs[BOTH]["SSD2"]))) <= MARGIN_MS,
                f"longest {max(days(worst_ms(runs[BOTH]['SSD2']))):.0f} ms",
                ids=("J1-004",),
            ),
            Claim(
                "AGC+DGC cuts the worst-case response times of L-FTL and H-FTL by more than 90 % "
                "on SSD0 and SSD1",
                min(cuts[L], cuts[H]) > 90,
                f"{cuts[L]:.1f} and {cuts[H]:.1f} %",
                quick=False,
            ),
            Claim(
                "At high intensity, worst-case response times equal those of 6SSDs-RAID except "
                f"under P-FTL (mean of the days within {PER_CENT:g} %)",
                all(abs(ratio[one] - 1) <= PER_CENT / 100 for one in (L, H, BOTH)),
                ", ".join(f"{SCHEMES[one].title} {ratio[one]:.2f} times" for one in COMPARED),
                because=WAITS,
                ids=("J7-079",),
            ),
            Claim(
                f"A GC run takes as long as on 6SSDs-RAID (within {PER_CENT:g} %)",
                all(
                    is_reproduced(alone[THREE][scheme], alone[SIX][scheme], "ms")
                    for scheme in (L, H)
                ),
                ", ".join(
                    f"{SCHEMES[one].title} {alone[THREE][one]:.0f} and {alone[SIX][one]:.0f} ms"
                    for one in (L, H)
                ),
            ),
            Claim(
                "At high intensity, P-FTL has a longer worst-case response time than L-FTL and "
                "H-FTL",
                longest[P] > max(longest[L], longest[H]),
                _each(longest),
                quick=False,
                ids=("J7-083",),
            ),
        ],
        data={"worst_ms": curves, "cut_percent": cuts, "over_six": ratio},
    )
