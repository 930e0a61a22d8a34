"""Figures 7.10, 7.12, 7.13 and 7.14: worst cases and excess waiting times of both arrays."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from wordline.study.cases import required
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.gc.charts import MARGIN_MS, PUBLISHED, beyond, over_days
from wordline.study.gc.loads import DAYS, SIX_SSDS, THREE_SSDS, count, duration_s, of_member
from wordline.study.gc.runs import Load, case, late, worst_ms
from wordline.study.gc.schemes import BOTH, COMPARED, SCHEMES, SIX, THREE, H, L, P
from wordline.study.traces import written
from wordline.summary import Summary

# By scheme, member.
Runs = dict[str, dict[str, Summary]]
Series = dict[str, list[float | None]]
LOW, HIGH = "low intensity", "high intensity"
GROUPS = {
    SIX: {LOW: ("SSD0", "SSD1", "SSD2", "SSD3"), HIGH: ("SSD4", "SSD5")},
    THREE: {LOW: ("SSD0",), HIGH: ("SSD1", "SSD2")},
}
MEMBERS = {SIX: SIX_SSDS, THREE: THREE_SSDS}
ARRAYS = {SIX: "6SSDs-RAID", THREE: "3SSDs-RAID"}
# Requests of disk 3 are of 137 pages; so many of them are enough to test why they are late.
LARGE, LARGE_REQUESTS = "SSD3", 400
# About: within so many points.
ABOUT = 10
WIDE = (
    "writes of disk 3 have 137 pages, which lie on one plane or two and take 100 ms with no "
    'collection at all; with `stripe = "page"`, which spreads them over all planes, none of '
    "them is late, and without this disk none is"
)
HIDES = (
    "P-FTL merges in pauses as well (the next step begins whenever no request wants the die), so "
    "that its buffer never fills and it is nearly as fast as AGC+DGC"
)
ROOMY = (
    "the buffer has 22 % of the blocks and is emptied in pauses; without any long pause P-FTL is "
    "still better than L-FTL, also with a buffer of two blocks a plane, which overflows (see "
    "Write-intensive sections without pauses)"
)


def figures(setup: Setup) -> list[Figure]:
    """Figures of both arrays."""
    six, three = _runs(setup, SIX), _runs(setup, THREE)
    return [
        _worst(setup, SIX, six, _spread(setup)),
        _excess(SIX, six, "7.12"),
        _worst_of_three(three, six),
        _excess(THREE, three, "7.14"),
    ]


def _runs(setup: Setup, device: str) -> Runs:
    """Every member of an array under the schemes compared."""
    made = {name: of_member(setup, disks) for name, disks in MEMBERS[device].items()}
    with written(made) as paths:
        found = required(
            setup,
            {
                (scheme, name): case(
                    Load(name, path, duration_s(setup), worn=setup.quick), scheme, device=device
                )
                for scheme in COMPARED
                for name, path in paths.items()
            },
        )
    runs: Runs = {}
    for (scheme, name), summary in found.items():
        runs.setdefault(scheme, {})[name] = summary
    return runs


def _spread(setup: Setup) -> dict[str, Summary]:
    """The first requests of disk 3 under AGC+DGC, by what shares a logical block."""
    with written({LARGE: of_member(setup, SIX_SSDS[LARGE])}) as paths:
        many = min(LARGE_REQUESTS, count(setup, 3))
        load = Load(f"{LARGE}, {many} requests", paths[LARGE], duration_s(setup), many)
        return required(
            setup,
            {
                stripe: case(load, BOTH, {"ftl.mapping.log-block.stripe": stripe})
                for stripe in ("block", "page")
            },
        )


def highest(runs: Mapping[str, Summary], names: Iterable[str]) -> list[float | None]:
    """Worst case of a group of members, interval by interval. Milliseconds."""
    curves = [worst_ms(runs[name]) for name in names]
    longest = max(map(len, curves))
    padded = [one + [None] * (longest - len(one)) for one in curves]
    return [
        max((one for one in interval if one is not None), default=None)
        for interval in zip(*padded, strict=True)
    ]


def days(curve: Sequence[float | None]) -> list[float]:
    """Worst case of each day."""
    each = -(-len(curve) // DAYS)
    return [
        max((one for one in curve[at : at + each] if one is not None), default=0.0)
        for at in range(0, len(curve), each)
    ]


def _curves(runs: Runs, names: Sequence[str]) -> Series:
    return {scheme: highest(one, names) for scheme, one in runs.items()}


def _cuts(curves: Mapping[str, Series]) -> dict[str, float]:
    """By how much AGC+DGC cuts the worst case of a group's days, mean of the groups. Per cent."""
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
            "Longest response time of each tenth of a day, over the members of the group. Dotted: "
            f"{MARGIN_MS} ms.",
            over_days(one, DAYS),
        )
        for where, one in curves.items()
    ]


def _late(runs: Mapping[str, Summary], names: Iterable[str]) -> int:
    return sum(late(runs[name]) for name in names)


def _worst(setup: Setup, device: str, runs: Runs, spread: Mapping[str, Summary]) -> Figure:
    groups = GROUPS[device]
    curves = {where: _curves(runs, names) for where, names in groups.items()}
    small = [name for name in groups[LOW] if name != LARGE]
    of_small = _curves(runs, small)
    busy = {scheme: days(curves[HIGH][scheme]) for scheme in COMPARED}
    collecting = [
        worst
        for scheme in (L, H)
        for name in small
        for worst in days(worst_ms(runs[scheme][name]))
        if worst > MARGIN_MS
    ]
    waits = (min(collecting, default=0.0), max(collecting, default=0.0))
    cuts = _cuts({LOW: of_small, HIGH: curves[HIGH]})
    over = max(busy[P]) / max(busy[L])
    both = max(busy[BOTH])
    quiet = {scheme: max(days(of_small[scheme])) for scheme in (P, BOTH)}
    striped = {stripe: late(one) for stripe, one in spread.items()}
    kept = f"{count(setup, 5):,} requests of each disk that has as many"
    return Figure(
        id="7.10",
        title="Figure 7.10: worst-case response times of 6SSDs-RAID",
        section="7.6.2",
        measured="The longest response time of each interval, over the disks of a group, under "
        "L-FTL, H-FTL (2:8), P-FTL with 14 GB more, and AGC+DGC on L-FTL. Loads fitted to table "
        f"7.1, see there; {kept}. A day is a fifth of the load.",
        rows=[
            *(
                Row(f"low intensity but SSD3, L- and H-FTL: {what} of the days that collect",
                    value, "ms", PUBLISHED("7.10", "worst case, L and H, low"))
                for what, value in zip(("least", "most"), waits, strict=True)
            ),
            *(
                Row(f"AGC+DGC cuts the worst case of {SCHEMES[scheme].title}", value, "%",
                    PUBLISHED("7.10", f"cut against {scheme}"))
                for scheme, value in cuts.items()
            ),
            Row("high intensity, AGC+DGC: longest", both, "ms",
                PUBLISHED("7.10", "worst case, AGC+DGC, high")),
            Row("high intensity, P-FTL over L-FTL: longest", over, "times",
                PUBLISHED("7.10", "P over L, high")),
            *(
                Row(f"SSD3, first {spread[stripe]['input']['requests']} requests, AGC+DGC, "
                    f'stripe = "{stripe}": beyond {MARGIN_MS} ms', float(number), "")
                for stripe, number in striped.items()
            ),
            *_rows("low intensity but SSD3", of_small),
            *_rows("high intensity", curves[HIGH]),
        ],
        plots=_plots({f"{LOW} but SSD3": of_small, f"{LOW}, SSD3": _curves(runs, [LARGE]),
                      HIGH: curves[HIGH]}),
        claims=[
            Claim("Worst cases of L- and H-FTL range from 131 to 311 ms at low intensity",
                  waits[0] >= 131 and waits[1] <= 311, f"{waits[0]:.0f} to {waits[1]:.0f} ms "
                  "without SSD3",
                  because="a collection takes about 170 ms here (128 pages of 183 + 860 µs, their "
                  "way over the bus, two erases, two records), and a write that meets another one "
                  "waits for both, 340 ms; how often that is depends on addresses, which are not "
                  "published"),
            Claim("A worst case that is one collection lies within that range",
                  131 <= waits[0] <= 311, f"{waits[0]:.0f} ms"),
            Claim("P-FTL and AGC+DGC hide collections at low intensity",
                  _late(runs[P], groups[LOW]) + _late(runs[BOTH], groups[LOW]) == 0,
                  f"{_late(runs[P], groups[LOW]):,} and {_late(runs[BOTH], groups[LOW]):,} "
                  f"requests are late, all of SSD3", because=WIDE),
            Claim("so they do but for SSD3", max(quiet.values()) <= MARGIN_MS, _ranges(of_small)),
            Claim("SSD3: none is late if its pages are spread over all planes",
                  striped["page"] == 0, f"{striped['block']} and {striped['page']} of "
                  f"{spread['page']['input']['requests']}"),
            Claim("AGC+DGC cuts the worst case of L-FTL by about 98.6 %",
                  abs(cuts[L] - 98.6) <= ABOUT, f"{cuts[L]:.1f} %"),
            Claim("and that of H-FTL by about 96.4 %",
                  abs(cuts[H] - 96.4) <= ABOUT, f"{cuts[H]:.1f} %"),
            Claim("and that of P-FTL by about 65.2 %",
                  abs(cuts[P] - 65.2) <= ABOUT, f"{cuts[P]:.1f} %", because=HIDES),
            Claim("At high intensity AGC+DGC answers within about 53 ms",
                  both <= 53, f"{both:.1f} ms"),
            Claim("and P-FTL's worst case is ten times L-FTL's, or worse than it at all",
                  over > 1, f"{over:.3f} times", because=ROOMY),
        ],
        explanation=[
            "L-FTL and H-FTL collect when they have to: a write that would leave a plane fewer "
            "free blocks than the threshold of 1 % waits until a collection is over (section "
            "7.2.2). Begun by itself at that threshold, while writes go on down to half of it "
            "(`on-demand` of this simulator), the same collection is in nobody's way where there "
            "are pauses: see L-FTL, early, in figures 7.8 and 7.9.",
            "SSD3 has 4,352 requests of 550 KB. Cuts are means over both groups, without SSD3.",
        ],
        data={
            "worst_ms": curves | {"low intensity but SSD3": of_small},
            "cut_percent": cuts,
        },
    )  # fmt: skip


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
        measured="As figure 7.10, with two disks on each of three SSDs of 8 channels x 8 ways: "
        "disks 0 and 1 on SSD0 (low intensity), 2 and 5 on SSD1, 3 and 4 on SSD2.",
        rows=[
            *(
                Row(f"AGC+DGC cuts the worst case of {SCHEMES[scheme].title}, SSD0 and SSD1",
                    value, "%")
                for scheme, value in cuts.items()
            ),
            *(
                Row(f"high intensity, {SCHEMES[scheme].title}: mean of the days over 6SSDs-RAID",
                    value, "times")
                for scheme, value in ratio.items()
            ),
            *_rows("low intensity", curves[LOW]),
            *_rows("high intensity", curves[HIGH]),
        ],
        plots=_plots({"low intensity (SSD0)": curves[LOW],
                      "SSD1": _curves(runs, ["SSD1"]), "SSD2": _curves(runs, ["SSD2"])}),
        claims=[
            Claim("AGC+DGC satisfies the bound on SSD0 and SSD1", both <= MARGIN_MS,
                  f"longest {both:.1f} ms"),
            Claim("also on SSD2, which has disk 3",
                  max(days(worst_ms(runs[BOTH]["SSD2"]))) <= MARGIN_MS,
                  f"longest {max(days(worst_ms(runs[BOTH]['SSD2']))):.0f} ms", because=WIDE),
            Claim("AGC+DGC cuts the worst cases of L- and H-FTL by more than 90 % on SSD0 and SSD1",
                  min(cuts[L], cuts[H]) > 90, f"{cuts[L]:.1f} and {cuts[H]:.1f} %"),
            Claim("P-FTL becomes worse than L- and H-FTL",
                  over > 1, f"{over:.2f} times L-FTL", because=ROOMY),
        ],
        data={"worst_ms": curves, "cut_percent": cuts, "over_six": ratio},
    )  # fmt: skip


def _excess(device: str, runs: Runs, number: str) -> Figure:
    groups = GROUPS[device]
    large = LARGE if device == SIX else "SSD2"
    found = {
        where: {scheme: _beyond(one, names) for scheme, one in runs.items()}
        for where, names in groups.items()
    }
    count_of = {
        where: {scheme: _late(one, names) for scheme, one in runs.items()}
        for where, names in groups.items()
    }
    plain = [name for names in groups.values() for name in names if name != large]
    none = {scheme: _late(one, plain) for scheme, one in runs.items()}
    sums = {
        scheme: sum(one[name]["excess"]["all"]["sum_s"] for name in plain)
        for scheme, one in runs.items()
    }
    everyone = {scheme: _late(one, MEMBERS[device]) for scheme, one in runs.items()}
    return Figure(
        id=number,
        title=f"Figure {number}: excess waiting times of {ARRAYS[device]}",
        section="7.6.3" if device == SIX else "7.6.4",
        measured=f"How many requests take longer than {MARGIN_MS} ms by more than so much, in the "
        f"runs of figure {'7.10' if device == SIX else '7.13'}.",
        rows=[
            *(
                Row(f"{where}, {SCHEMES[scheme].title}: beyond {MARGIN_MS} ms", float(value), "",
                    PUBLISHED("7.12", "late, AGC+DGC") if scheme == BOTH else None)
                for where, one in count_of.items() for scheme, value in one.items()
            ),
            *(
                Row(f"all but {large}, {SCHEMES[scheme].title}: beyond {MARGIN_MS} ms",
                    float(value), "",
                    PUBLISHED("7.12", "late, AGC+DGC") if scheme == BOTH else None)
                for scheme, value in none.items()
            ),
            *(
                Row(f"all but {large}, {SCHEMES[scheme].title}: sum of the excess", value, "s")
                for scheme, value in sums.items()
            ),
        ],
        plots=[
            Plot(f"Excess waiting time, {where}",
                 f"Requests with a longer one; in brackets all beyond {MARGIN_MS} ms.", beyond(one))
            for where, one in found.items()
        ],
        claims=[
            Claim("No request exceeds the bound under AGC+DGC", everyone[BOTH] == 0,
                  f"{everyone[BOTH]:,} do, {none[BOTH]:,} without {large}", because=WIDE),
            Claim(f"none does but for {large}", none[BOTH] == 0, f"{none[BOTH]:,} do"),
            Claim(f"none does under P-FTL at low intensity, but for {large}",
                  _late(runs[P], [one for one in groups[LOW] if one != large]) == 0,
                  f"{_late(runs[P], [one for one in groups[LOW] if one != large]):,} do"),
            Claim("Fewer do under H-FTL than under L-FTL", none[H] < none[L],
                  f"{none[H]:,} and {none[L]:,}"),
            Claim("At high intensity fewer do under H-FTL than under P-FTL",
                  count_of[HIGH][H] < count_of[HIGH][P],
                  f"{count_of[HIGH][H]:,} and {count_of[HIGH][P]:,}", because=ROOMY),
        ],
        data={"late": count_of, "sum_s": sums},
    )  # fmt: skip


def _beyond(runs: Mapping[str, Summary], names: Iterable[str]) -> dict[float, int]:
    """Requests with a longer excess, summed over members. By excess in microseconds."""
    told = [runs[name]["excess"]["all"]["above"] for name in names]
    steps = sorted({one["excess_us"] for above in told for one in above})
    found = dict.fromkeys(steps, 0)
    for above in told:
        for one in above:
            found[one["excess_us"]] += one["requests"]
    return found
