"""Figures 9 and 10: wdev_2 by buffer size."""

from itertools import pairwise
from statistics import fmean

from wordline._render.charts import lines
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.loads import TABLE, Playback, written
from wordline_studies.lcr.policies import ALL, COLOURS, LCR, TITLES, less
from wordline_studies.lcr.runs import PUBLISHED, WHOLE, case, hit_percent
from wordline_studies.measures import latency_us

LOAD = "wdev_2"
MIBS = (1, 2, 4, 8, 16)
# The document's response times and hit ratios are stable above this size. MiB.
ENOUGH = 4
# Largest change above that size that counts as stable, relative to the change up to it.
STABLE = 0.2
EQUAL = 1.0


def figures(setup: Setup) -> list[Figure]:
    """Returns figures 9 and 10, from the same runs: all requests of the table, or half for a quick
    study."""
    paths = written(
        setup, {LOAD: (LOAD, Playback(TABLE[LOAD].requests // (2 if setup.quick else 1)))}
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
    share = "Half of the" if setup.quick else "All"
    return [_means(means, share), _hits(hits)]


def _lines(values: dict[int, dict[str, float]], unit: str) -> Plot:
    by_policy = {
        TITLES[policy]: {f"{mib} MiB": values[mib][policy] for mib in MIBS} for policy in ALL
    }
    drawn = lines(by_policy, COLOURS, "buffer", unit, category=True, height=340)
    return Plot("wdev_2 by buffer size", "", drawn)


def _rows(values: dict[int, dict[str, float]], unit: str) -> list[Row]:
    return [
        Row(f"{mib} MiB, {TITLES[policy]}", one[policy], unit)
        for mib, one in values.items()
        for policy in ALL
    ]


def _means(means: dict[int, dict[str, float]], share: str) -> Figure:
    gains = {policy: fmean(less(means[mib], LCR, policy) for mib in MIBS) for policy in ALL[:-1]}
    stable = [means[mib][LCR] for mib in MIBS if mib >= ENOUGH]
    small = [means[mib][LCR] for mib in MIBS if mib <= ENOUGH]
    above = (max(stable) - min(stable)) / (max(small) - min(small))
    return Figure(
        id="9",
        title="Figure 9: response time by buffer size",
        section="IV-C",
        measured=f"{share} requests of wdev_2 on the full-size disk, with buffers of 1 to 16 MiB.",
        rows=[
            *(
                Row(
                    f"reduction by LCR relative to {TITLES[policy]}, mean of the sizes",
                    value,
                    "%",
                    PUBLISHED("9", TITLES[policy]),
                )
                for policy, value in gains.items()
            ),
            *_rows(means, "µs"),
        ],
        plots=[_lines(means, "µs")],
        claims=[
            Claim(
                f"LCR has the shortest response time at every size (within {EQUAL:g} %)",
                all(one[LCR] <= min(one.values()) * (1 + EQUAL / 100) for one in means.values()),
                ", ".join(f"{mib} MiB {less(one, LCR):.1f} %" for mib, one in means.items())
                + " below LRU",
            ),
            Claim(
                f"The response time falls with the buffer size up to {ENOUGH} MiB",
                all(later < earlier for earlier, later in pairwise(small)),
                ", ".join(f"{one:.0f}" for one in small) + " µs",
            ),
            Claim(
                "Above that size, the response time is stable (changes by at most a fifth of "
                "the change up to it)",
                above <= STABLE,
                ", ".join(f"{one:.0f}" for one in stable) + " µs",
            ),
        ],
        data={"mean_us": means},
    )


def _hits(hits: dict[int, dict[str, float]]) -> Figure:
    apart = max(max(one.values()) - min(one.values()) for one in hits.values())
    stable = [hits[mib][LCR] for mib in MIBS if mib >= ENOUGH]
    small = [hits[mib][LCR] for mib in MIBS if mib <= ENOUGH]
    above = (max(stable) - min(stable)) / (max(small) - min(small))
    return Figure(
        id="10",
        title="Figure 10: hit ratio by buffer size",
        section="IV-C",
        measured="The runs of figure 9.",
        rows=_rows(hits, "%"),
        plots=[_lines(hits, "%")],
        claims=[
            Claim(
                "The hit ratios of the policies are within one point of each other",
                apart <= 1,
                f"{apart:.2f} points",
            ),
            Claim(
                f"The hit ratio rises with the buffer size up to {ENOUGH} MiB",
                all(later > earlier for earlier, later in pairwise(small)),
                ", ".join(f"{one:.1f}" for one in small) + " %",
            ),
            Claim(
                "Above that size, the hit ratio is stable (changes by at most a fifth of the "
                "change up to it)",
                above <= STABLE,
                ", ".join(f"{one:.1f}" for one in stable) + " %",
            ),
        ],
        explanation=["The load was made to be stable above 4 MiB: half of its writes go to 1 MiB."],
        data={"hit_percent": hits},
    )
