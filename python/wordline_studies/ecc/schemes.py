"""Figures 17 and 23 to 26: overlaps, and the schemes."""

from collections.abc import Mapping
from statistics import fmean, median

from wordline._render.charts import bars
from wordline.config import Value
from wordline_studies.ecc.runs import (
    AGCR,
    ALL,
    COLOURS,
    FITTED,
    NORMAL,
    OURS,
    OVERLAPPED,
    PUBLISHED,
    SCHEMES,
    SEEDS,
    SIZED,
    Loads,
    Passes,
    changes,
    listed,
    loads,
    means,
    of_loads,
    of_seeds,
)
from wordline_studies.figure import Claim, Figure, Plot, Published, Row, Setup
from wordline_studies.outcome import IN_POINTS
from wordline_studies.regulation.plots import against_published

ByLoad = Mapping[str, float]
Changes = Mapping[str, Mapping[str, ByLoad]]
"""Changes against the normal scheme, by metric (`all`, `read`, `write`), scheme and load."""
OF = {"all": "all requests", "read": "reads", "write": "writes"}
PAIRS = ((OURS, NORMAL), (AGCR, NORMAL), (OURS, AGCR))


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for the loads and for the available recorded traces."""
    return of_loads(setup, _figures, loads(setup))


def _figures(setup: Setup, found: Loads, sized: Mapping[str, Mapping[str, Value]]) -> list[Figure]:
    runs = of_seeds(setup, found, SCHEMES, sized)
    by: Changes = {
        of: {scheme: changes(found, runs, of, scheme) for scheme in ALL[1:]} for of in OF
    }
    return [
        _overlaps(found),
        _overall(by, found, runs),
        _by_direction(by, found, runs),
        _operations(found, runs),
        _erases(found, runs),
    ]


def _overlaps(found: Loads) -> Figure:
    both = {name: one.both_percent for name, one in found.items()}
    named = {
        name: f"{name}: share of pages both read and written" for name in (*OVERLAPPED, "src0")
    }
    others = [value for name, value in both.items() if name not in OVERLAPPED]
    return Figure(
        id="17",
        title="Figure 17: pages that are both read and written",
        section="5.3.1",
        measured="Share of the accessed pages of 8 KiB that are both read and written.",
        rows=[
            Row(
                "largest share of pages both read and written, other loads",
                max(others),
                "%",
                PUBLISHED("17", "largest share of pages both read and written, other loads"),
            ),
            *(
                Row(
                    f"{name}: share of pages both read and written",
                    value,
                    "%",
                    PUBLISHED("17", named[name]) if name in named else None,
                )
                for name, value in both.items()
            ),
        ],
        explanation=[
            "The published share refers to the address space that a load both reads and writes. "
            "The simulated requests are too few to both read and write each of these pages, so "
            "the share of such pages is smaller.",
            "The trace web_3 is available: 11.1 % of its pages of 8 KiB are both read and "
            "written, and 9.1 % of its pages of 4 KiB. The chapter gives less than 10 % with "
            "pages of 8 KB.",
        ],
        data={"both_percent": both},
    )


def _overall(by: Changes, found: Loads, runs: Passes) -> Figure:
    ours, agcr = by["all"][OURS], by["all"][AGCR]
    mean = means(found, runs, OURS, AGCR)["all"]
    rows = [
        *(
            Row(
                f"{name}: change of the response time, {scheme} against normal",
                value,
                "%",
                _of_load(name, scheme),
            )
            for scheme, one in by["all"].items()
            for name, value in one.items()
        ),
        *(
            Row(
                f"change of the response time, {scheme} against {base}, mean of the loads",
                means(found, runs, scheme, base)["all"],
                "%",
            )
            for scheme, base in PAIRS
        ),
    ]
    return Figure(
        id="23",
        title="Figure 23: response times of all requests",
        section="5.4.2.2",
        measured=(
            "Changes of the mean response time against normal writes with BCH. In the second "
            "pass, which is shown, the filters and histories are those left by the first."
        ),
        rows=rows,
        plots=[against_published(rows), _plot(by, "all")],
        claims=_on_overall(ours, agcr, mean),
        explanation=[
            FITTED,
            SIZED,
            f"{FULL}. The locality of the traces is not published. The figure of other readings "
            "shows six of the loads, half as long, on a device without GC.",
        ],
        data={"change_percent": by["all"]},
    )


def _on_overall(ours: ByLoad, agcr: ByLoad, mean: float) -> list[Claim]:
    better = [name for name in ours if max(ours[name], agcr[name]) < 0]
    ahead = {name: ours[name] - agcr[name] for name in OVERLAPPED if name in ours}
    return [
        Claim(
            "On most loads, among them Financial1, mds0 and proj0, requests are faster under both "
            "schemes than under the normal scheme",
            len(better) > len(ours) / 2
            and {"financial1", "mds0", "proj0"} & ours.keys() <= set(better),
            f"{len(better)} of {len(ours)} loads; not on "
            + (", ".join(name for name in ours if name not in better) or "none"),
            ids=("X5-031",),
        ),
        Claim(
            "On average, requests are faster with differentiated codes than with AGCR's uniform "
            "code",
            mean < 0,
            f"{mean:+.1f} %",
            ids=("X5-007",),
        ),
        Claim(
            "On Financial1, hm0 and hm1, requests are faster under differentiated ECC than under "
            f"AGCR by more than {IN_POINTS:g} percentage points",
            max(ahead.values(), default=0.0) < -IN_POINTS,
            ", ".join(f"{name} {value:+.1f} percentage points" for name, value in ahead.items()),
            ids=("X5-034",),
        ),
    ]


FULL = (
    "All pages of a load are equally popular, so GC on its full device moves many valid pages, "
    "those of AGCR's high-cost writes in 2.6 ms each"
)


def _of_load(name: str, scheme: str) -> Published | None:
    if name not in OVERLAPPED:
        return None
    return PUBLISHED("23", f"{name}: change of the response time, {scheme} against normal")


def _plot(by: Changes, of: str) -> Plot:
    names = next(iter(by[of].values()))
    return Plot(
        f"Response time of {OF[of]}, second pass",
        "Change against the normal scheme.",
        bars(
            {name: {scheme: by[of][scheme][name] for scheme in ALL[1:]} for name in names},
            {scheme: COLOURS[scheme] for scheme in ALL[1:]},
            "%",
        ),
    )


def _by_direction(by: Changes, found: Loads, runs: Passes) -> Figure:
    mean = means(found, runs, OURS, NORMAL)
    rows = _rows_by_direction(by, found, runs)
    return Figure(
        id="24",
        title="Figure 24: response times of writes and reads",
        section="5.4.2.2, 5.5",
        measured="Changes as in figure 23, as means of the loads and for each load.",
        rows=rows,
        plots=[against_published(rows), _plot(by, "write"), _plot(by, "read")],
        claims=[
            *_on_means(mean),
            *_on_loads(by["write"], by["read"]),
            *_on_waiting(found, runs),
            _on_ldpc(by["read"][AGCR], found, runs),
        ],
        explanation=[
            "Under some loads, among them hm0 and src0, a few reads that wait for GC determine the "
            "mean of reads, so it depends on the seed of the load. Each load is therefore run with "
            f"{len(SEEDS)} seeds, whose requests are taken together.",
            "AGCR writes pages without history at 2.6 ms, so its writes are slower than normal "
            "writes in a first pass.",
            READS,
        ],
        data={"change_percent": {of: by[of] for of in ("write", "read")}},
    )


# Published numbers of figure 24: of the mean by operation and two schemes, and of single loads.
_MEANS = {
    ("write", OURS, NORMAL): "change of the response time of writes, differentiated against normal",
    ("read", OURS, NORMAL): "change of the response time of reads, differentiated against normal",
    ("write", OURS, AGCR): "change of the response time of writes, differentiated against AGCR",
    ("read", OURS, AGCR): "change of the response time of reads, differentiated against AGCR",
}
_HIGH = {
    "financial1": "financial1: change of the response time of reads, differentiated against normal",
    "hm0": "hm0: change of the response time of reads, differentiated against normal",
}


def _rows_of_first_pass(found: Loads, runs: Passes) -> list[Row]:
    first = {pair: means(found, runs, *pair, turn=0) for pair in PAIRS}
    return [
        Row(
            f"change of the response time of {OF[of]}, {ours} against {base}, mean of the loads, "
            "first pass",
            one[of],
            "%",
        )
        for (ours, base), one in first.items()
        for of in ("write", "read")
    ]


def _rows_by_direction(by: Changes, found: Loads, runs: Passes) -> list[Row]:
    mean = {pair: means(found, runs, *pair) for pair in PAIRS}
    return [
        *(
            Row(
                f"change of the response time of {OF[of]}, {ours} against {base}, mean of the "
                "loads",
                mean[ours, base][of],
                "%",
                PUBLISHED("24", name),
            )
            for (of, ours, base), name in _MEANS.items()
        ),
        *(
            Row(
                f"change of the response time of writes, {scheme} against normal, median load",
                median(by["write"][scheme].values()),
                "%",
                PUBLISHED("24", "change of the response time of writes against normal, most loads"),
            )
            for scheme in ALL[1:]
        ),
        *(
            Row(
                f"{name}: change of the response time of reads, {OURS} against normal",
                by["read"][OURS][name],
                "%",
                PUBLISHED("24", what),
            )
            for name, what in _HIGH.items()
            if name in by["read"][OURS]
        ),
        *(
            Row(
                f"change of the response time of {OF[of]}, {AGCR} against {NORMAL}, mean of the "
                "loads",
                mean[AGCR, NORMAL][of],
                "%",
            )
            for of in ("write", "read")
        ),
        *_rows_of_first_pass(found, runs),
        *(
            Row(
                f"{name}: change of the response time of {OF[of]}, {scheme} against normal",
                value,
                "%",
            )
            for of in ("write", "read")
            for scheme, one in by[of].items()
            for name, value in one.items()
            if (of, scheme) != ("read", OURS) or name not in _HIGH
        ),
    ]


IN_BURSTS = (
    "bursts only read or only write, so reads rarely wait for writes; if each request of a burst "
    "reads or writes independently, and there is no GC, the claim holds"
)
HARDLY_US = 60.0
LEAST = 100 * (75 / 45 - 1)
READS = (
    "Without waiting, a read under AGCR takes 75 to 145 µs instead of 45 µs, at least 67 % more. "
    "By the two published values of 11 %, reads under AGCR are on average as fast as normal "
    "reads. This is possible only on loads on which reads mostly wait."
)


def _on_means(mean: ByLoad) -> list[Claim]:
    return [
        Claim(
            "On average, reads are no slower than under the normal scheme",
            mean["read"] <= 0,
            f"{mean['read']:+.1f} %",
            ids=("X5-006",),
        ),
        Claim(
            "On average, writes are faster than under the normal scheme, and reads are no slower",
            mean["write"] < 0 and mean["read"] <= 0,
            f"writes {mean['write']:+.1f} %, reads {mean['read']:+.1f} %",
            ids=("X0-004",),
        ),
    ]


def _on_loads(write: Mapping[str, ByLoad], read: Mapping[str, ByLoad]) -> list[Claim]:
    ahead = {
        name: write[OURS][name] - write[AGCR][name] for name in OVERLAPPED if name in write[OURS]
    }
    same = [name for name, value in read[OURS].items() if abs(value) <= IN_POINTS]
    named = ("financial1", "hm0", "src0")
    gains = {name: read[AGCR][name] for name in named if name in read[AGCR]}
    others = {name: value for name, value in read[AGCR].items() if name not in named}
    worse = sum(value > 0 for value in others.values())
    return [
        Claim(
            "On Financial1, hm0 and hm1, writes are faster than under AGCR by more than "
            f"{IN_POINTS:g} percentage points",
            max(ahead.values(), default=0.0) < -IN_POINTS,
            ", ".join(f"{name} {value:+.1f} percentage points" for name, value in ahead.items()),
            ids=("X5-044",),
        ),
        Claim(
            f"On most loads, reads are as fast as under the normal scheme (within {IN_POINTS:g} "
            "percentage points)",
            len(same) > len(read[OURS]) / 2,
            f"{len(same)} of {len(read[OURS])} loads; {listed(read[OURS])}",
            ids=("X5-045",),
            because="5 % of the reads are assumed to access written pages, and LDPC takes 3.2 "
            "times as long, so reads that rarely wait take more than 10 % longer; with 1 % of "
            "such pages, the claim holds for a load without GC",
        ),
        Claim(
            "On src0, reads are faster than under the normal scheme",
            read[OURS].get("src0", 0.0) < 0,
            listed({name: value for name, value in read[OURS].items() if name == "src0"}),
            quick=False,
            ids=("X5-050",),
        ),
        Claim(
            "On Financial1, hm0 and src0, reads are faster under AGCR than under the normal scheme",
            max(gains.values(), default=0.0) < 0,
            listed(gains),
            ids=("X5-051",),
            because=IN_BURSTS,
        ),
        Claim(
            "On most other loads, reads are slower under AGCR than under the normal scheme",
            worse > len(others) / 2,
            f"{worse} of {len(others)} loads",
            ids=("X5-052",),
        ),
    ]


def _on_waiting(found: Loads, runs: Passes) -> list[Claim]:
    waits = {
        name: [runs[name, scheme][1].wait_us for scheme in ALL]
        for name in OVERLAPPED
        if name in found
    }
    return [
        Claim(
            "On Financial1, hm0 and hm1, requests wait less than under the normal scheme and than "
            "under AGCR",
            all(ours < min(normal, agcr) for normal, ours, agcr in waits.values()),
            ", ".join(
                f"{name} {ours:.0f} µs (normal {normal:.0f}, AGCR {agcr:.0f})"
                for name, (normal, ours, agcr) in waits.items()
            ),
            ids=("X5-041",),
        )
    ]


def _on_ldpc(agcr: ByLoad, found: Loads, runs: Passes) -> Claim:
    """Returns the claim on the cost of LDPC. It is the reason why AGCR's reads are slower than
    normal on average."""
    still = {
        name: value for name, value in agcr.items() if runs[name, NORMAL][1].read_us < HARDLY_US
    }
    return Claim(
        f"On loads whose normal reads take less than {HARDLY_US:g} µs, and so hardly wait, reads "
        f"under AGCR take at least {LEAST:.0f} % longer, the increase of LDPC after a slow write",
        bool(still) and min(still.values()) >= LEAST,
        f"{len(still)} of {len(found)} loads; {listed(still)}",
    )


def _operations(found: Loads, runs: Passes) -> Figure:
    fast = {name: runs[name, OURS][1].share("host_writes", "low") for name in found}
    bch = {name: runs[name, OURS][1].share("host_reads", "medium") for name in found}
    low = {name: runs[name, AGCR][1].share("host_writes", "low") for name in found}
    good = {name: _good(runs[name, OURS][1].by_mode) for name in found}
    rewrites = {name: runs[name, OURS][1].rewrites for name in found}
    named = {name: (fast[name], low[name]) for name in ("financial1", "hm0") if name in found}
    return Figure(
        id="25",
        title="Figure 25: operations by cost",
        section="5.4.2.2",
        measured=(
            "Shares of fast writes and of reads with BCH among the page writes and reads of the "
            "host, second pass."
        ),
        rows=[
            Row(
                "share of fast writes and reads with BCH, median load",
                median(good.values()),
                "%",
                PUBLISHED("25", "share of fast writes and normal reads"),
            ),
            *(
                Row(f"{name}: share of fast writes and reads with BCH", one, "%")
                for name, one in good.items()
            ),
            *(Row(f"{name}: share of fast writes", one, "%") for name, one in fast.items()),
            *(Row(f"{name}: share of reads with BCH", one, "%") for name, one in bch.items()),
            *(
                Row(f"{name}: re-written pages per page read or written", one, "%")
                for name, one in rewrites.items()
            ),
            *(Row(f"{name}, {AGCR}: share of fast writes", one, "%") for name, one in low.items()),
        ],
        claims=[
            Claim(
                "On Financial1 and hm0, more writes are fast than under AGCR",
                all(ours > agcr for ours, agcr in named.values()),
                ", ".join(f"{name} {a:.1f} (AGCR {b:.1f}) %" for name, (a, b) in named.items()),
                ids=("X5-054",),
            ),
            Claim(
                "On hm1, most writes are normal writes",
                fast.get("hm1", 100.0) < 50,
                ", ".join(f"{one:.1f} % fast" for name, one in fast.items() if name == "hm1"),
                ids=("X5-056",),
                because="28 % of the pages are both read and written, and receive 28 % of the "
                "writes of this load; the other writes are always fast, and pages are seldom read "
                "twice within the 2,048 requests that the filters remember",
            ),
            Claim(
                "Re-writes are negligible: at most 1 % of the pages read and written, on each load",
                max(rewrites.values()) <= 1,
                f"at most {max(rewrites.values()):.2f} %",
                ids=("X5-057",),
            ),
        ],
        data={"fast_writes": fast, "bch_reads": bch, "rewrites": rewrites},
    )


def _good(by_mode: Mapping[str, Mapping[str, int]]) -> float:
    """Returns the share of fast writes and of reads with BCH in the host's page reads and writes.
    Per cent."""
    good = by_mode["host_writes"]["low"] + by_mode["host_reads"]["medium"]
    return 100 * good / max(1, sum(sum(one.values()) for one in by_mode.values()))


def _erases(found: Loads, runs: Passes) -> Figure:
    erases = {
        name: {scheme: runs[name, scheme][1].erases for scheme in ALL}
        for name in found
        if runs[name, NORMAL][1].erases
    }
    more = {
        scheme: {name: 100 * (one[scheme] / one[NORMAL] - 1) for name, one in erases.items()}
        for scheme in (OURS, AGCR)
    }
    ours, agcr = (list(more[scheme].values()) for scheme in (OURS, AGCR))
    most = max(ours, default=None)
    return Figure(
        id="26",
        title="Figure 26: erases",
        section="5.4.2.3",
        measured="Blocks erased in the second pass, relative to the normal scheme.",
        rows=[
            Row(
                "largest change of the number of erases under differentiated ECC",
                most,
                "%",
                PUBLISHED("26", "change of the number of erases under differentiated ECC"),
                missing="" if erases else "there is no GC",
            ),
            *(
                Row(f"{name}, {scheme}: number of erases", float(value), "")
                for name, one in erases.items()
                for scheme, value in one.items()
            ),
        ],
        claims=[
            Claim(
                "Differentiated ECC causes fewer additional erases than AGCR, on average",
                fmean(ours) < fmean(agcr) if ours else None,
                f"{fmean(ours):+.2f} and {fmean(agcr):+.2f} %" if ours else "",
                ids=("X5-058",),
            ),
            Claim(
                "Additional erases under differentiated ECC are negligible: at most 2 % on each "
                "load",
                max(ours) <= 2 if ours else None,
                f"at most {most:+.2f} %" if ours else "",
                ids=("X5-060",),
            ),
        ],
        explanation=[
            SIZED,
            "The other loads write less in two passes than their over-provisioned blocks hold: "
            + (", ".join(name for name in found if name not in erases) or "none")
            + ".",
        ],
        data={"erases": erases},
    )
