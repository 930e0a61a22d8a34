"""Figures 21 and 22: the parameters m and n."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from wordline._render.charts import sweep
from wordline.config import Value
from wordline_studies.ecc.runs import (
    DIFFERENTIATED,
    FITTED,
    NORMAL,
    SCHEMES,
    SIZED,
    Loads,
    Passes,
    changes,
    loads,
    means,
    of_loads,
    of_seeds,
)
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.outcome import IN_POINTS

MS = (-4, -2, -1, 0, 2, 4)
NS = (0, 1, 2, 3, 4)
COLOURS = {"all": "#444b54", "read": "#3b86c6", "write": "#d8731c"}
NAMES = {"all": "all requests", "read": "reads", "write": "writes"}
EQUAL = 1.0
"""Largest difference at which response times count as equal. Percentage points, that is, per cent
of the response time under the normal scheme."""
Means = Mapping[str, Mapping[str, float]]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for m with n = 2, and for n with m = -1."""
    return of_loads(setup, _figures, loads(setup))


def _figures(setup: Setup, found: Loads, sized: Mapping[str, Mapping[str, Value]]) -> list[Figure]:
    by_m: dict[str, Mapping[str, Value]] = {
        f"m = {m}": {f"{DIFFERENTIATED}.m": float(m), f"{DIFFERENTIATED}.n": 2.0} for m in MS
    }
    by_n: dict[str, Mapping[str, Value]] = {
        f"n = {n}": {f"{DIFFERENTIATED}.m": -1.0, f"{DIFFERENTIATED}.n": float(n)} for n in NS
    }
    schemes = {NORMAL: SCHEMES[NORMAL], **by_m, **by_n}
    runs = of_seeds(setup, found, schemes, sized)
    return [_m(found, runs), _n(found, runs)]


def _means(found: Loads, runs: Passes, schemes: list[str]) -> dict[str, dict[str, float]]:
    of = {one: means(found, runs, one, NORMAL) for one in schemes}
    return {what: {one: value[what] for one, value in of.items()} for what in COLOURS}


def _figure(
    number: str,
    letter: str,
    values: tuple[int, ...],
    mean: Means,
    more: Sequence[Row],
    claims: Sequence[Claim],
) -> Figure:
    return Figure(
        id=number,
        title=f"Figure {number}: parameter {letter}",
        section="5.4.2.1",
        measured=(
            f"Change of the mean response time against the normal scheme, by {letter}, in the "
            "second pass; mean of the loads."
        ),
        rows=[
            *(
                Row(
                    f"{name}: change of the response time of {NAMES[of]} against the normal scheme",
                    value,
                    "%",
                )
                for of, one in mean.items()
                for name, value in one.items()
            ),
            *more,
        ],
        plots=[
            Plot(
                f"Change of the response time by {letter}",
                "Against the normal scheme, mean of the loads.",
                sweep(
                    values,
                    {of: list(one.values()) for of, one in mean.items()},
                    COLOURS,
                    letter,
                    "%",
                ),
            )
        ],
        claims=claims,
        explanation=[FITTED, SIZED],
        data={of: dict(one) for of, one in mean.items()},
    )


def _shares(found: Loads, runs: Passes, schemes: list[str], op: str, mode: str) -> list[float]:
    """Returns the share of the host's page reads or writes (`op`) in a program mode, as the mean of
    the loads. Per cent, one value per scheme."""
    found_by: list[float] = []
    for one in schemes:
        counts = [runs[name, one][1].by_mode[op] for name in found]
        shares = [
            100 * count[mode] / sum(count.values()) for count in counts if any(count.values())
        ]
        found_by.append(fmean(shares))
    return found_by


def _m(found: Loads, runs: Passes) -> Figure:
    names = [f"m = {m}" for m in MS]
    mean = _means(found, runs, names)
    fast = _shares(found, runs, names, "host_writes", "low")
    slow = _shares(found, runs, names, "host_reads", "low")
    by = {name: changes(found, runs, "all", name) for name in names}
    span = {
        load: max(one[load] for one in by.values()) - min(one[load] for one in by.values())
        for load in found
    }
    rows = [
        *(
            Row(f"{name}: share of fast writes", one, "%")
            for name, one in zip(names, fast, strict=True)
        ),
        *(
            Row(f"{name}: share of reads with LDPC", one, "%")
            for name, one in zip(names, slow, strict=True)
        ),
        *(
            Row(f"{load}: range of the change of the response time over m", one, "points")
            for load, one in span.items()
        ),
    ]
    little = [load for load, value in span.items() if value <= IN_POINTS]
    claims = [
        *_on_best(mean),
        Claim(
            "The larger m, the fewer writes are fast and the fewer reads use LDPC",
            all(a >= b for of in (fast, slow) for a, b in pairwise(of))
            and fast[0] > fast[-1]
            and slow[0] > slow[-1],
            f"fast writes {_numbers(fast)}; reads with LDPC {_numbers(slow)}",
            ids=("X5-014",),
        ),
        Claim(
            f"On most loads, m has little effect on the response time (at most {IN_POINTS:g} "
            "percentage points)",
            len(little) > len(span) / 2,
            ", ".join(f"{load} {value:.1f}" for load, value in span.items()) + " percentage points",
            ids=("X5-024",),
        ),
        *_on_hm0(by),
    ]
    return _figure("21", "m", MS, mean, rows, claims)


def _on_best(mean: Means) -> list[Claim]:
    best = {of: min(one, key=one.__getitem__) for of, one in mean.items()}
    behind = {of: mean[of]["m = -1"] - mean[of][best[of]] for of in mean}
    told = {
        of: f"{NAMES[of]}: fastest with {best[of]}, slower by {behind[of]:.2f} percentage "
        "points with m = -1"
        for of in mean
    }
    return [
        Claim(
            "Writes are fastest with the smallest m, and reads with a larger m",
            best["write"] == f"m = {MS[0]}" != best["read"],
            f"reads {best['read']}, writes {best['write']}",
        ),
        Claim(
            "All requests together are fastest with m = -1",
            best["all"] == "m = -1",
            told["all"],
            ids=("X5-023",),
            because="a fast write saves 650 µs, and a read with LDPC costs 100 µs more, so fast "
            "writes pay unless a page is read more than six times per write; here, pages are read "
            "less often, so a lower m is faster",
        ),
        Claim(
            "Reads and writes are each fastest with m = -1",
            best["read"] == best["write"] == "m = -1",
            f"{told['read']}; {told['write']}",
            ids=("X5-026",),
            because="the more writes are fast, the shorter the mean time of writes and the longer "
            "that of reads, so writes are fastest with the smallest m and reads with a larger m",
        ),
    ]


def _on_hm0(by: Mapping[str, Mapping[str, float]]) -> list[Claim]:
    hm0 = {name: one["hm0"] for name, one in by.items() if "hm0" in one}
    if not hm0:
        return []
    fall = max(hm0["m = 2"], hm0["m = 4"]) - min(hm0["m = -4"], hm0["m = -2"], hm0["m = -1"])
    return [
        Claim(
            "Requests of hm0 are faster with negative than with positive m, by more than "
            f"{IN_POINTS:g} percentage points",
            fall > IN_POINTS,
            ", ".join(f"{name} {value:+.1f} %" for name, value in hm0.items()),
            ids=("X5-025",),
            because="m decides only on pages that are read and written within 2,048 requests, "
            "which are few here; with a fiftieth of the pages, the claim holds",
        )
    ]


def _n(found: Loads, runs: Passes) -> Figure:
    names = [f"n = {n}" for n in NS]
    mean = _means(found, runs, names)
    rewrites = [fmean(runs[load, name][1].rewrites for load in found) for name in names]
    erases = [float(sum(runs[load, name][1].erases for load in found)) for name in names]
    rows = [
        *(
            Row(f"{name}: re-written pages per page read or written", one, "%")
            for name, one in zip(names, rewrites, strict=True)
        ),
        *(
            Row(f"{name}: number of erases", one, "")
            for name, one in zip(names, erases, strict=True)
        ),
    ]
    claims = [*_on_n(mean), *_on_rewrites(mean, rewrites, erases)]
    return _figure("22", "n", NS, mean, rows, claims)


def _on_n(mean: Means) -> list[Claim]:
    by = {of: list(one.values()) for of, one in mean.items()}
    best = min(mean["all"], key=mean["all"].__getitem__)

    def listed(of: str) -> str:
        return ", ".join(f"{one:+.1f}" for one in by[of]) + " %"

    def falls(of: str, last: int) -> bool:
        return all(b <= a + EQUAL for a, b in pairwise(by[of][: last + 1]))

    return [
        Claim(
            f"Writes get no slower as n rises (within {EQUAL:g} percentage point)",
            falls("write", 4),
            listed("write"),
            ids=("X5-027",),
        ),
        Claim(
            f"Reads and all requests get no slower as n rises to 3 (within {EQUAL:g} percentage "
            "point)",
            falls("read", 3) and falls("all", 3),
            f"reads {listed('read')}; all {listed('all')}",
            ids=("X5-028",),
        ),
        Claim(
            "Reads and all requests are no faster with n = 4 than with n = 3",
            by["read"][4] >= by["read"][3] and by["all"][4] >= by["all"][3],
            f"reads {by['read'][3]:+.2f} and {by['read'][4]:+.2f} %, all {by['all'][3]:+.2f} and "
            f"{by['all'][4]:+.2f} %",
            ids=("X5-029",),
            because=N_FOUR,
        ),
        Claim(
            "All requests together are fastest with n = 3",
            best == "n = 3",
            f"fastest with {best}; {listed('all')}",
            ids=("X5-030",),
            because=N_FOUR,
        ),
    ]


N_FOUR = (
    "the hotness of reads rarely exceeds that of writes by more than 3, so with n = 3 and n = 4 "
    "hardly any page is re-written, and both are equally fast"
)


def _on_rewrites(mean: Means, rewrites: Sequence[float], erases: Sequence[float]) -> list[Claim]:
    fewer = all(a >= b for a, b in pairwise(rewrites)) and rewrites[0] > rewrites[-1]
    listed = f"re-writes {_numbers(rewrites)}; erases {', '.join(f'{one:.0f}' for one in erases)}"
    reads = mean["read"]
    return [
        Claim(
            "With n = 3, fewer than 0.1 % of the pages read or written are re-written",
            rewrites[3] < 0.1,
            f"{rewrites[3]:.3f} %",
        ),
        Claim(
            "The larger n, the fewer re-writes; with n = 3 fewer blocks are erased than with n = 0",
            fewer and erases[3] < erases[0],
            listed,
            ids=("X5-042",),
        ),
        Claim(
            "Reads are slower with the largest n than with n = 3; re-writes and erases are most "
            "frequent with the smallest n",
            reads["n = 4"] > reads["n = 3"]
            and rewrites[0] == max(rewrites)
            and erases[0] == max(erases),
            f"reads {reads['n = 3']:+.2f} and {reads['n = 4']:+.2f} %; {listed}",
            quick=False,
            ids=("X5-015",),
            because=N_FOUR,
        ),
    ]


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{one:.2f}" for one in values) + " %"
