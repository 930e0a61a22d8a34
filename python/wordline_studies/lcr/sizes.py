"""Figures 9 and 10: wdev_2 by buffer size."""

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean

from wordline._render.charts import lines
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.loads import TABLE, Playback, written
from wordline_studies.lcr.policies import ALL, COLOURS, LCR, LRU, TITLES, less
from wordline_studies.lcr.runs import PUBLISHED, WHOLE, case, hit_percent, playback, wanted
from wordline_studies.measures import latency_us
from wordline_studies.outcome import IN_POINTS, PER_CENT

LOAD = "wdev_2"
MIBS = (1, 2, 4, 8, 16)
# The document's response times and hit ratios are stable above this size. MiB.
ENOUGH = 4
# Sizes and largest number of requests of the other loads.
SOME_MIBS = (1, 4, 16)
REQUESTS = {"web_0": 100_000, "ts_0": 100_000, "proj_0": 50_000, "financial2": 100_000}


def figures(setup: Setup) -> list[Figure]:
    """Returns figures 9 and 10, from the same runs of wdev_2: all of its requests, or a quarter for
    a quick study. Figure 9 also has the other loads."""
    paths = written(
        setup, {LOAD: (LOAD, Playback(TABLE[LOAD].requests // (4 if setup.quick else 1)))}
    )
    runs = required(
        setup,
        {
            (mib, policy): case(setup, LOAD, paths[LOAD], policy, mib=mib, more=WHOLE)
            for mib in MIBS
            for policy in ALL
        },
    )
    means = {mib: {policy: latency_us(runs[mib, policy]) for policy in ALL} for mib in MIBS}
    hits = {mib: {policy: hit_percent(runs[mib, policy]) for policy in ALL} for mib in MIBS}
    share = "A quarter of the" if setup.quick else "All"
    return [_means(means, share, _others(setup)), _hits(hits, means)]


def _others(setup: Setup) -> dict[str, dict[int, tuple[float, float, float]]]:
    """Returns the response times of LRU and LCR, and LCR's hit ratio, on the other loads by buffer
    size."""
    played = {
        load: (load, playback(setup, wanted(setup, load, most))) for load, most in REQUESTS.items()
    }
    paths = written(setup, played)
    runs = required(
        setup,
        {
            (load, mib, policy): case(setup, load, paths[load], policy, mib=mib)
            for load in REQUESTS
            for mib in SOME_MIBS
            for policy in (LRU, LCR)
        },
    )
    return {
        load: {
            mib: (
                latency_us(runs[load, mib, LRU]),
                latency_us(runs[load, mib, LCR]),
                hit_percent(runs[load, mib, LCR]),
            )
            for mib in SOME_MIBS
        }
        for load in REQUESTS
    }


def _lines(values: dict[int, dict[str, float]], unit: str) -> Plot:
    by_policy = {
        TITLES[policy]: {f"{mib} MiB": values[mib][policy] for mib in MIBS} for policy in ALL
    }
    drawn = lines(by_policy, COLOURS, "buffer", unit, category=True, height=340)
    return Plot("wdev_2 by buffer size", "By policy.", drawn)


def _rows(values: dict[int, dict[str, float]], what: str, unit: str) -> list[Row]:
    return [
        Row(f"wdev_2, {mib} MiB, {TITLES[policy]}: {what}", one[policy], unit)
        for mib, one in values.items()
        for policy in ALL
    ]


def _means(
    means: dict[int, dict[str, float]],
    share: str,
    others: Mapping[str, Mapping[int, tuple[float, float, float]]],
) -> Figure:
    gains = {policy: fmean(less(means[mib], LCR, policy) for mib in MIBS) for policy in ALL[:-1]}
    return Figure(
        id="9",
        title="Figure 9: response time by buffer size",
        section="IV-C",
        measured=(
            f"{share} requests of wdev_2 on the full-size device, with buffers of 1 to 16 MiB; the "
            "first requests of the other loads, with buffers of 1, 4 and 16 MiB."
        ),
        rows=[
            *(
                Row(
                    f"mean response time, reduction by LCR relative to {TITLES[policy]}, mean of "
                    "the buffer sizes",
                    value,
                    "%",
                    PUBLISHED(
                        "9",
                        f"mean response time, reduction by LCR relative to {TITLES[policy]}, mean "
                        "of the buffer sizes",
                    ),
                )
                for policy, value in gains.items()
            ),
            *_rows(means, "mean response time", "µs"),
            *(
                Row(f"{load}, {mib} MiB, {what}", value, unit)
                for load, one in others.items()
                for mib, (lru, lcr, hit) in one.items()
                for what, value, unit in (
                    ("LRU: mean response time", lru, "µs"),
                    ("LCR: mean response time", lcr, "µs"),
                    ("LCR: hit ratio", hit, "%"),
                )
            ),
        ],
        plots=[_lines(means, "µs")],
        claims=[*_claims(means, gains), _alike(others)],
        explanation=[
            "The load was made to be stable above 4 MiB: half of its writes go to 1 MiB.",
            "LCR gains less than published over all three policies, for the reason given with "
            "figure 5: the load runs no GC on a device that is only filled.",
        ],
        data={"mean_us": means},
    )


def _claims(means: Mapping[int, Mapping[str, float]], gains: Mapping[str, float]) -> list[Claim]:
    stable = {policy: 100 * (1 - means[MIBS[-1]][policy] / means[ENOUGH][policy]) for policy in ALL}
    return [
        Claim(
            "LCR has the shortest mean response time at every buffer size",
            all(one[LCR] < min(one[policy] for policy in ALL[:-1]) for one in means.values()),
            ", ".join(f"{mib} MiB {less(one, LCR):.1f} %" for mib, one in means.items())
            + " below LRU",
            ids=("L-067",),
        ),
        Claim(
            "The response time falls with the buffer size, under every policy",
            all(
                means[large][policy] < means[small][policy]
                for small, large in pairwise(MIBS)
                for policy in ALL
            ),
            "LCR " + ", ".join(f"{one[LCR]:.0f}" for one in means.values()) + " µs",
            ids=("L-065",),
        ),
        Claim(
            f"Above {ENOUGH} MiB, the response time is stable (within {PER_CENT:g} %)",
            max(map(abs, stable.values())) <= PER_CENT,
            ", ".join(f"{TITLES[policy]} {value:.1f}" for policy, value in stable.items())
            + f" % below that at {ENOUGH} MiB",
            ids=("L-066",),
        ),
        Claim(
            "LCR gains most over LRU, less over CFLRU and least over GCaR-CFLRU (mean of the "
            "buffer sizes)",
            all(gains[first] > gains[second] for first, second in pairwise(ALL[:-1])),
            ", ".join(f"{TITLES[policy]} {value:.2f} %" for policy, value in gains.items()),
            because=(
                "the load hardly reads, so CFLRU finds no clean pages, and a device that is only "
                "filled runs no GC, so GCaR-CFLRU equals CFLRU; on an overwritten device, LCR "
                "gains less over GCaR-CFLRU than over LRU (see Reasons)"
            ),
            ids=("L-071",),
        ),
    ]


def _alike(others: Mapping[str, Mapping[int, tuple[float, float, float]]]) -> Claim:
    first, enough, last = SOME_MIBS
    follow = {
        load: one[first][1] > one[enough][1] > one[last][1]
        and one[first][2] < one[enough][2] < one[last][2]
        and all(lcr <= lru for lru, lcr, _ in one.values())
        and one[last][1] >= one[enough][1] * (1 - PER_CENT / 100)
        for load, one in others.items()
    }
    return Claim(
        "The other loads behave like wdev_2: with larger buffers, LCR responds faster and hits "
        "more often; it responds no more slowly than LRU at any buffer size, and its response "
        f"time is stable above {enough} MiB (within {PER_CENT:g} %)",
        all(follow.values()),
        "; ".join(
            f"{load} "
            + ", ".join(f"{lcr:.0f} of {lru:.0f} µs" for lru, lcr, _ in one.values())
            + ("" if follow[load] else " (exception)")
            for load, one in others.items()
        ),
        because=(
            "the document gives no reuse; these loads repeat requests at all distances, or repeat "
            f"few requests between large ones, so a buffer larger than {enough} MiB still has a "
            f"higher hit ratio (by {_listed_hits(others)} percentage points)"
        ),
        ids=("L-063",),
    )


def _listed_hits(others: Mapping[str, Mapping[int, tuple[float, float, float]]]) -> str:
    _, enough, last = SOME_MIBS
    return ", ".join(f"{one[last][2] - one[enough][2]:.1f}" for one in others.values())


def _hits(hits: dict[int, dict[str, float]], means: dict[int, dict[str, float]]) -> Figure:
    apart = max(max(one.values()) - min(one.values()) for one in hits.values())
    above = {policy: hits[MIBS[-1]][policy] - hits[ENOUGH][policy] for policy in ALL}
    return Figure(
        id="10",
        title="Figure 10: hit ratio by buffer size",
        section="IV-C",
        measured="The runs of figure 9.",
        rows=_rows(hits, "hit ratio", "%"),
        plots=[_lines(hits, "%")],
        claims=[
            Claim(
                f"The hit ratios of the policies differ by at most {IN_POINTS:g} percentage points",
                apart <= IN_POINTS,
                f"at most {apart:.2f} percentage points apart",
                ids=("L-074",),
            ),
            Claim(
                "The hit ratio rises with the buffer size, under every policy",
                all(
                    hits[large][policy] > hits[small][policy]
                    for small, large in pairwise(MIBS)
                    for policy in ALL
                ),
                "LCR " + ", ".join(f"{one[LCR]:.1f}" for one in hits.values()) + " %",
                ids=("L-072",),
            ),
            Claim(
                f"Above {ENOUGH} MiB, the hit ratio is stable (within {IN_POINTS:g} percentage "
                "points)",
                max(map(abs, above.values())) <= IN_POINTS,
                ", ".join(f"{TITLES[policy]} {value:+.1f}" for policy, value in above.items())
                + " percentage points",
                ids=("L-073",),
            ),
            _inconsistent(hits, means),
        ],
        explanation=["The load was made to be stable above 4 MiB: half of its writes go to 1 MiB."],
        data={"hit_percent": hits},
    )


def _inconsistent(
    hits: Mapping[int, Mapping[str, float]], means: Mapping[int, Mapping[str, float]]
) -> Claim:
    more = {mib: max(one[policy] for policy in ALL[:-1]) - one[LCR] for mib, one in hits.items()}
    fastest = {
        mib: one[LCR] < min(one[policy] for policy in ALL[:-1]) for mib, one in means.items()
    }
    return Claim(
        "Response times do not follow hit ratios: LCR responds fastest at every buffer size, even "
        "if another policy hits more often",
        all(fastest.values()) and any(value > 0 for value in more.values()),
        "hit ratio of the best other policy minus that of LCR: "
        + ", ".join(f"{value:+.3f}" for value in more.values())
        + " percentage points",
        ids=("L-061",),
    )
