"""Figures 7.10, 7.12, 7.13 and 7.14: worst cases and excess waiting times of both arrays."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import nan
from random import Random
from statistics import fmean

from wordline.summary import Summary
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.gc.charts import MARGIN_MS, PUBLISHED, beyond, over_days
from wordline_studies.gc.loads import (
    DAYS,
    OF_64_GB,
    SIX_SSDS,
    THREE_SSDS,
    count,
    page_of,
    writes_of,
)
from wordline_studies.gc.runs import (
    Known,
    Load,
    case,
    collected,
    late,
    longest_ms,
    members,
    under,
    worst_ms,
)
from wordline_studies.gc.schemes import (
    BLOCKS,
    BOTH,
    COMPARED,
    EXTRA,
    LOG,
    SCHEMES,
    SIX,
    THREE,
    H,
    L,
    P,
    buffered,
)
from wordline_studies.generated import Request, written

# Summaries by scheme and member.
Runs = dict[str, dict[str, Summary]]
Series = dict[str, list[float | None]]
LOW, HIGH = "low intensity", "high intensity"
GROUPS = {
    SIX: {LOW: ("SSD0", "SSD1", "SSD2", "SSD3"), HIGH: ("SSD4", "SSD5")},
    THREE: {LOW: ("SSD0",), HIGH: ("SSD1", "SSD2")},
}
MEMBERS = {SIX: SIX_SSDS, THREE: THREE_SSDS}
ARRAYS = {SIX: "6SSDs-RAID", THREE: "3SSDs-RAID"}
# Requests of disk 3 have 149 pages. This number of requests is enough to test why they are late.
LARGE, LARGE_REQUESTS = "SSD3", 400
# Tolerance of "about". Points.
ABOUT = 10
# Factor by which a disk of 3SSDs-RAID simulates fewer writes than a disk of 6SSDs-RAID.
FEWER = 4
# Single-page writes, 2 s apart, so that none waits for the GC of another.
ALONE_WRITES, ALONE_S = 400, 2.0
ALONE = "one by one"
# Disk 0 with a multiple of the write buffer: 42 GB for 30.5 GB of writes.
ROOMY, ROOM = "SSD0, 42 GB", 3
WAITS = (
    "a write that meets other writes of its plane also waits for their GC; in the document, each "
    "request has its time of arrival and none waits for another (section 7.6); single writes wait "
    "for one GC run; without such waits, L-FTL would never take the 1.9 s at high intensity that "
    "a mean reduction of 98.6 % needs, with 53 ms there and nothing left at low intensity"
)
VOLUMES = (
    "disk 0 writes 30.5 GB and disk 5 31.8 GB (table 7.1, with the digit that disk 0 lacks), "
    "both more than twice the 14 GB of the write buffer; no rule by volume overflows it on one "
    "disk and not on the other; with 42 GB no request of disk 0 is late; with 14 GB only "
    "rewrites of pages that are still in the buffer could be hidden, and addresses are not "
    "published"
)
CUTS = (
    "AGC+DGC cuts the worst case by more than 99 % if P-FTL overflows, and by nothing if not; "
    "the mean of both groups is 50 % if it overflows at high intensity only, and 99 % if it "
    "overflows in both groups (figure 7.12); 65.2 % is neither"
)
INVOKES = (
    "every late request waits for a GC run, and P-FTL performs fewer of them, as the figure's "
    "caption confirms: it merges for the oldest pages of its buffer, H-FTL for every write "
    "that needs an update block"
)


def figures(setup: Setup, loads: Mapping[str, Load], known: Known) -> list[Figure]:
    """Returns the figures of both arrays. Runs of the first array's disks that are in `known` are
    not repeated."""
    six = _by_scheme(under(setup, loads, COMPARED, known))
    with members(THREE_SSDS, writes_of(setup) // FEWER) as paired:
        three = _by_scheme(under(setup, paired, COMPARED, device=THREE))
    return [
        _worst(
            setup, six, _spread(setup, loads[LARGE]), _alone(setup), _roomy(setup, loads["SSD0"])
        ),
        _excess(SIX, six, "7.12"),
        _worst_of_three(three, six),
        _excess(THREE, three, "7.14"),
    ]


def _by_scheme(found: Mapping[tuple[str, str], Summary]) -> Runs:
    runs: Runs = {}
    for (scheme, name), summary in found.items():
        runs.setdefault(scheme, {})[name] = summary
    return runs


def _spread(setup: Setup, load: Load) -> dict[str, Summary]:
    """Runs the first requests of disk 3 under AGC+DGC, with two distributions of logical blocks."""
    many = min(LARGE_REQUESTS, count(writes_of(setup), 3))
    first = replace(load, name=f"{LARGE}, {many} requests", requests=many)
    key = f"ftl.mapping.{LOG}.stripe"
    return required(
        setup, {stripe: case(first, BOTH, {key: stripe}) for stripe in ("block", "page")}
    )


def _alone(setup: Setup) -> dict[str, float]:
    """Returns the longest response time of isolated writes on a worn disk, by scheme.
    Milliseconds."""
    blocks = Random(41).sample(range(OF_64_GB), ALONE_WRITES)  # noqa: S311
    made = [
        Request(round(1e9 * ALONE_S * turn), True, page_of(block, 0), 1)
        for turn, block in enumerate(blocks)
    ]
    with written({ALONE: made}) as paths:
        load = Load(ALONE, paths[ALONE], ALONE_S * ALONE_WRITES, worn=True)
        found = required(setup, {scheme: case(load, scheme) for scheme in (L, H)})
    return {scheme: longest_ms(summary) for scheme, summary in found.items()}


def _roomy(setup: Setup, load: Load) -> Summary:
    """Runs P-FTL under the load of disk 0, with a write buffer for all of its data."""
    blocks = round(ROOM * BLOCKS * EXTRA * load.simulated)
    return required(setup, {P: case(load, P, buffered(blocks))})[P]


def highest(runs: Mapping[str, Summary], names: Iterable[str]) -> list[float | None]:
    """Returns the worst case of a group of members, by interval. Milliseconds."""
    curves = [worst_ms(runs[name]) for name in names]
    longest = max(map(len, curves))
    padded = [one + [None] * (longest - len(one)) for one in curves]
    return [
        max((one for one in interval if one is not None), default=None)
        for interval in zip(*padded, strict=True)
    ]


def days(curve: Sequence[float | None]) -> list[float]:
    """Returns the worst case of each day. Milliseconds."""
    each = -(-len(curve) // DAYS)
    return [
        max((one for one in curve[at : at + each] if one is not None), default=0.0)
        for at in range(0, len(curve), each)
    ]


def _curves(runs: Runs, names: Sequence[str]) -> Series:
    return {scheme: highest(one, names) for scheme, one in runs.items()}


def _cuts(curves: Mapping[str, Series]) -> dict[str, float]:
    """Returns the reduction by AGC+DGC of the mean daily worst case, averaged over the groups. Per
    cent, by scheme."""
    return {
        scheme: fmean(
            100 * (1 - fmean(days(one[BOTH])) / fmean(days(one[scheme]))) for one in curves.values()
        )
        for scheme in (P, L, H)
    }


def _ranges(curves: Series) -> str:
    parts: list[str] = []
    for scheme, curve in curves.items():
        told = days(curve)
        parts.append(f"{SCHEMES[scheme].title} {min(told):.0f} to {max(told):.0f} ms")
    return ", ".join(parts)


def _rows(where: str, curves: Series) -> list[Row]:
    return [
        Row(f"{where}, {SCHEMES[scheme].title}: day {day}", value, "ms")
        for scheme, curve in curves.items()
        for day, value in enumerate(days(curve), 1)
    ]


def _plots(curves: Mapping[str, Series]) -> list[Plot]:
    return [
        Plot(
            f"Worst case, {where}",
            "Longest response time per tenth of a day, over the members of the group. Dotted: "
            f"{MARGIN_MS} ms.",
            over_days(one, DAYS),
        )
        for where, one in curves.items()
    ]


def _late(runs: Mapping[str, Summary], names: Iterable[str]) -> int:
    return sum(late(runs[name]) for name in names)


def _worst(
    setup: Setup,
    runs: Runs,
    spread: Mapping[str, Summary],
    alone: Mapping[str, float],
    roomy: Summary,
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
    cuts = _cuts(curves)
    over = max(busy[P]) / max(busy[L])
    both = max(busy[BOTH])
    calm = max(days(worst_ms(runs[BOTH]["SSD0"])))
    apart = {
        HIGH: 100 * (1 - fmean(busy[BOTH]) / fmean(busy[P])),
        ROOMY: 100 * (1 - calm / longest_ms(roomy)),
    }
    quiet = {scheme: _late(runs[scheme], groups[LOW]) for scheme in (P, BOTH)}
    striped = {stripe: late(one) for stripe, one in spread.items()}
    many = writes_of(setup)
    return Figure(
        id="7.10",
        title="Figure 7.10: worst-case response times of 6SSDs-RAID",
        section="7.6.2",
        measured=(
            "Longest response time per interval, over the disks of a group, under L-FTL, H-FTL "
            "(2:8), P-FTL with 14 GB more, and AGC+DGC on L-FTL. Loads are fitted to tables "
            f"6.1 and 7.1 (see Table 7.1); {many:,} writes of each disk, or all if it has fewer, "
            "and the same share of P-FTL's write buffer. A day is a fifth of the load. One by one: "
            f"{ALONE_WRITES} single-page writes, {ALONE_S:.0f} s apart, on a worn disk. "
            f"{ROOMY}: P-FTL with {ROOM} times the write buffer."
        ),
        rows=[
            *(
                Row(
                    f"low intensity, L- and H-FTL: {what} of the days with GC",
                    value,
                    "ms",
                    PUBLISHED("7.10", "worst case, L and H, low"),
                )
                for what, value in zip(("least", "most"), waits, strict=True)
            ),
            *(
                Row(
                    f"one by one, {SCHEMES[scheme].title}: longest response time",
                    value,
                    "ms",
                    PUBLISHED("7.10", "worst case, L and H, low"),
                )
                for scheme, value in alone.items()
            ),
            *(
                Row(
                    f"AGC+DGC, reduction of the worst case of {SCHEMES[scheme].title}",
                    value,
                    "%",
                    PUBLISHED("7.10", f"cut against {scheme}"),
                )
                for scheme, value in cuts.items()
            ),
            Row(
                "high intensity, AGC+DGC: longest response time",
                both,
                "ms",
                PUBLISHED("7.10", "worst case, AGC+DGC, high"),
            ),
            Row(
                "high intensity, P-FTL over L-FTL: longest response time",
                over,
                "times",
                PUBLISHED("7.10", "P over L, high"),
            ),
            Row(f"{ROOMY}, P-FTL: longest response time", longest_ms(roomy), "ms"),
            *(
                Row(
                    f"SSD3, first {spread[stripe]['input']['requests']} requests, AGC+DGC, "
                    f'stripe = "{stripe}": beyond {MARGIN_MS} ms',
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
            Claim(
                "Worst cases of L- and H-FTL are between 131 and 311 ms at low intensity",
                waits[0] >= 131 and waits[1] <= 311,
                f"{waits[0]:.0f} to {waits[1]:.0f} ms",
                because=WAITS,
            ),
            Claim(
                "A worst case of one GC run is within that range",
                all(131 <= one <= 311 for one in alone.values()),
                f"{alone[L]:.0f} and {alone[H]:.0f} ms",
            ),
            Claim(
                "P-FTL and AGC+DGC hide GC at low intensity",
                quiet[P] + quiet[BOTH] == 0,
                f"{quiet[P]:,} and {quiet[BOTH]:,} requests are late",
                because=VOLUMES,
            ),
            Claim(
                "AGC+DGC alone hides GC at low intensity", quiet[BOTH] == 0, _ranges(curves[LOW])
            ),
            Claim(
                "P-FTL hides GC if all written data fit in its buffer",
                late(roomy) == 0,
                f"{late(roomy)} late, longest {longest_ms(roomy):.1f} ms",
            ),
            Claim(
                "SSD3: no request is late if its pages are spread over all planes",
                striped["page"] == 0,
                f"{striped['block']} and {striped['page']} of "
                f"{spread['page']['input']['requests']}",
            ),
            Claim(
                "AGC+DGC cuts the worst case of L-FTL by about 98.6 %",
                abs(cuts[L] - 98.6) <= ABOUT,
                f"{cuts[L]:.1f} %",
            ),
            Claim(
                "AGC+DGC cuts the worst case of H-FTL by about 96.4 %",
                abs(cuts[H] - 96.4) <= ABOUT,
                f"{cuts[H]:.1f} %",
            ),
            Claim(
                "AGC+DGC cuts the worst case of P-FTL by about 65.2 %",
                abs(cuts[P] - 65.2) <= ABOUT,
                f"{cuts[P]:.1f} %",
                because=CUTS,
            ),
            Claim(
                "It cuts P-FTL's worst case by 99 % if P-FTL overflows, and by nothing if not "
                f"(within {ABOUT} points)",
                apart[HIGH] >= 99 - ABOUT and apart[ROOMY] <= ABOUT,
                f"{apart[HIGH]:.1f} and {apart[ROOMY]:.1f} %",
            ),
            Claim(
                "At high intensity, the worst case under AGC+DGC is within about 53 ms",
                both <= 53,
                f"{both:.1f} ms",
            ),
            Claim(
                "At high intensity, P-FTL's worst case is ten times L-FTL's, or at least longer",
                over > 1,
                f"{over:.3f} times",
            ),
        ],
        explanation=[
            "L-FTL, H-FTL and P-FTL run GC when they have to: a write that would leave a plane "
            "fewer free blocks than the threshold of 1 %, or that finds the write buffer full, "
            "waits until a GC run is complete (section 7.2.2). The document does not mention "
            "partial cleaning in idle time for P-FTL; with it, the buffer would never fill. To "
            "free one block of the buffer, all logical blocks with pages in it are merged one "
            "after the other.",
            "The latencies of section 7.6, 183.2 and 860.36 us, are taken to include the "
            "transfer of a page, as in section 6.6.3. Equation 7.2 then gives 139 ms for a GC "
            "run of L-FTL: 128 x (183.2 + 860.36) us and 2 x (2,000 + 860.36) us.",
            "Rows of 8 pages are dealt to the planes in turn. Two published numbers bound the "
            "row. Writes of disk 3 have 149 pages; on 64 planes within 30 ms they need rows of "
            "at most 16 pages (two rows per die: 32 x 0.86 = 27.5 ms), or 8 if two writes "
            "arrive together. And 21 erases per block (figure 7.15) need at least 2. The rows "
            "of 8 pages and the 64 planes were chosen after seeing results.",
            "DGC uses the last free blocks that merges do not need before it starts on-demand "
            "GC (section 7.6.1). This reading was chosen after 8 requests of disk 4 were late "
            "with a start at 0.5 %.",
        ],
        data={"worst_ms": curves, "cut_percent": cuts, "one_by_one_ms": dict(alone)},
    )


def _worst_of_three(runs: Runs, six: Runs) -> Figure:
    groups = GROUPS[THREE]
    curves = {where: _curves(runs, names) for where, names in groups.items()}
    busy = {scheme: days(curves[HIGH][scheme]) for scheme in COMPARED}
    of_six = _curves(six, GROUPS[SIX][HIGH])
    ratio = {scheme: fmean(busy[scheme]) / fmean(days(of_six[scheme])) for scheme in COMPARED}
    plain = ("SSD0", "SSD1")
    cuts = _cuts({name: _curves(runs, [name]) for name in plain})
    both = max(max(days(worst_ms(runs[BOTH][name]))) for name in plain)
    over = max(busy[P]) / max(busy[L])
    return Figure(
        id="7.13",
        title="Figure 7.13: worst-case response times of 3SSDs-RAID",
        section="7.6.4",
        measured=(
            "As figure 7.10, with two disks on each of three SSDs of 8 channels x 8 ways: "
            "disks 0 and 1 on SSD0 (low intensity), 2 and 5 on SSD1, 3 and 4 on SSD2, with the "
            f"same share of both disks and 1/{FEWER} of the writes."
        ),
        rows=[
            *(
                Row(
                    f"AGC+DGC, reduction of the worst case of {SCHEMES[scheme].title}, SSD0 and "
                    "SSD1",
                    value,
                    "%",
                )
                for scheme, value in cuts.items()
            ),
            *(
                Row(
                    f"high intensity, {SCHEMES[scheme].title}: mean of the days over 6SSDs-RAID",
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
                "AGC+DGC keeps the bound on SSD0 and SSD1",
                both <= MARGIN_MS,
                f"longest {both:.1f} ms",
            ),
            Claim(
                "AGC+DGC keeps the bound on SSD2 too, which holds disk 3",
                max(days(worst_ms(runs[BOTH]["SSD2"]))) <= MARGIN_MS,
                f"longest {max(days(worst_ms(runs[BOTH]['SSD2']))):.0f} ms",
            ),
            Claim(
                "AGC+DGC cuts the worst cases of L- and H-FTL by more than 90 % on SSD0 and SSD1",
                min(cuts[L], cuts[H]) > 90,
                f"{cuts[L]:.1f} and {cuts[H]:.1f} %",
            ),
            Claim(
                "P-FTL has a longer worst case than L- and H-FTL",
                over > 1,
                f"{over:.2f} times L-FTL",
            ),
        ],
        data={"worst_ms": curves, "cut_percent": cuts, "over_six": ratio},
    )


def _excess(device: str, runs: Runs, number: str) -> Figure:
    groups = GROUPS[device]
    found = {
        where: {scheme: _beyond(one, names) for scheme, one in runs.items()}
        for where, names in groups.items()
    }
    count_of = {
        where: {scheme: _late(one, names) for scheme, one in runs.items()}
        for where, names in groups.items()
    }
    everyone = {scheme: _late(one, MEMBERS[device]) for scheme, one in runs.items()}
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
                    f"{where}, {SCHEMES[scheme].title}: beyond {MARGIN_MS} ms",
                    float(value),
                    "",
                    PUBLISHED("7.12", "late, AGC+DGC") if scheme == BOTH else None,
                )
                for where, one in count_of.items()
                for scheme, value in one.items()
            ),
            *(
                Row(f"{SCHEMES[scheme].title}: sum of the excess", value, "s")
                for scheme, value in sums.items()
            ),
            *(
                Row(f"{HIGH}, {SCHEMES[scheme].title}: GC runs", float(value), "")
                for scheme, value in busy.items()
            ),
        ],
        plots=[
            Plot(
                f"Excess waiting time, {where}",
                f"Requests above the excess; in brackets, all requests beyond {MARGIN_MS} ms.",
                beyond(one),
            )
            for where, one in found.items()
        ],
        claims=[
            Claim(
                "No request exceeds the bound under AGC+DGC",
                everyone[BOTH] == 0,
                f"{everyone[BOTH]:,} requests do",
            ),
            Claim(
                f"No request of {large}, with its writes of 149 pages, exceeds the bound under "
                "AGC+DGC",
                late(runs[BOTH][large]) == 0,
                f"{late(runs[BOTH][large]):,} requests do",
            ),
            Claim(
                "No request exceeds the bound under P-FTL at low intensity",
                count_of[LOW][P] == 0,
                f"{count_of[LOW][P]:,} requests do",
                because=VOLUMES,
            ),
            Claim(
                "Fewer requests exceed the bound under H-FTL than under L-FTL",
                everyone[H] < everyone[L],
                f"{everyone[H]:,} and {everyone[L]:,} requests",
            ),
            Claim(
                "At high intensity, fewer requests exceed it under H-FTL than under P-FTL",
                count_of[HIGH][H] < count_of[HIGH][P],
                f"{count_of[HIGH][H]:,} and {count_of[HIGH][P]:,} requests",
                because=INVOKES,
            ),
            Claim(
                "At high intensity, P-FTL performs fewer GC runs than H-FTL, and its longest "
                "response time is longer",
                busy[P] < busy[H] and longest[P] > longest[H],
                f"{busy[P]:,} and {busy[H]:,} GC runs; {longest[P]:,.0f} and {longest[H]:,.0f} ms",
            ),
        ],
        data={"late": count_of, "sum_s": sums},
    )


def _beyond(runs: Mapping[str, Summary], names: Iterable[str]) -> dict[float, int]:
    """Returns the number of requests above an excess waiting time, summed over members. By excess
    in microseconds."""
    told = [runs[name]["excess"]["all"]["above"] for name in names]
    steps = sorted({one["excess_us"] for above in told for one in above})
    found = dict.fromkeys(steps, 0)
    for above in told:
        for one in above:
            found[one["excess_us"]] += one["requests"]
    return found
