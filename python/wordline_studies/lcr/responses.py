"""Figures 5 to 7: response times, their deviation and hit ratios, with the claims of the text."""

from collections.abc import Mapping

from wordline._render.charts import bars
from wordline_studies.cases import required
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.lcr.claims import (
    MOST,
    WRITING,
    of_deviations,
    of_hits,
    of_means,
    over_loads,
)
from wordline_studies.lcr.loads import FITTED, RECORDED_LOADS, TABLE, written
from wordline_studies.lcr.policies import (
    ALL,
    CFLRU,
    COLOURS,
    GCAR,
    LCR,
    LRU,
    TITLES,
    Values,
    further,
    less,
    titled,
)
from wordline_studies.lcr.runs import (
    MIB,
    PUBLISHED,
    Runs,
    by_policy,
    case,
    clean_percent,
    deviation_us,
    gc_runs,
    hit_percent,
    playback,
    wanted,
)
from wordline_studies.measures import latency_us

# Largest number of requests of a load: an eighth of all, fewer for proj_0 and financial2.
REQUESTS = {
    "web_0": 260_000,
    "ts_0": 260_000,
    "proj_0": 100_000,
    "wdev_2": 260_000,
    "financial2": 260_000,
}


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures that share the runs of the five loads, and that of recorded reuse."""
    most = REQUESTS | {load: REQUESTS[load.split(",")[0]] for load in RECORDED_LOADS}
    played = {load: (load, playback(setup, wanted(setup, load, most[load]))) for load in most}
    paths = written(setup, played)
    runs = required(
        setup,
        {(load, policy): case(setup, load, paths[load], policy) for load in most for policy in ALL},
    )
    smaller = required(
        setup, {load: case(setup, load, paths[load], LRU, mib=MIB // 2) for load in TABLE}
    )
    halves = {load: hit_percent(summary) for load, summary in smaller.items()}
    return [_means(runs), _deviations(runs), _hits(runs, halves), _clean(runs), _recorded(runs)]


def _to_lru(values: Mapping[str, Values]) -> dict[str, Values]:
    """Returns the values relative to LRU, by load and title."""
    return {
        load: titled({policy: value / one[LRU] for policy, value in one.items()})
        for load, one in values.items()
    }


def _rows(
    values: Mapping[str, Values], what: str, figure: str, published: Mapping[str, str]
) -> list[Row]:
    """Returns rows with LCR's reductions of `what` relative to LRU, and these minus GCaR-CFLRU's.
    `published` has, for each of the two policies, the loads for which the document states the
    reduction."""
    labels = {
        LRU: "reduction by LCR relative to LRU",
        GCAR: "reduction by LCR minus that by GCaR-CFLRU, relative to LRU",
    }

    def row(load: str, than: str, value: float, unit: str) -> Row:
        label = f"{load}: {what}, {labels[than]}"
        return Row(
            label, value, unit, PUBLISHED(figure, label) if load in published[than] else None
        )

    return [
        *(row(load, LRU, less(values[load], LCR), "%") for load in values),
        *(row(load, GCAR, further(values[load]), "points") for load in values),
    ]


def _many(runs: Runs) -> str:
    counts = {runs[load, LRU]["input"]["requests"] for load in TABLE}
    return " or ".join(f"{count:,}" for count in sorted(counts, reverse=True)) + " requests of each"


def _means(runs: Runs) -> Figure:
    means = over_loads(runs, latency_us)
    return Figure(
        id="5",
        title="Figure 5: mean response time",
        section="IV-B",
        measured=(
            f"Five loads, {_many(runs)}, under {len(ALL)} policies, with a buffer of {MIB} MiB "
            "and a window of a half, on a full device. Device, address spaces and requests are an "
            "eighth of the document's unless `--full` is given; proj_0 and financial2 run "
            f"their first {REQUESTS['proj_0']:,} and {REQUESTS['financial2']:,} requests. "
        )
        + FITTED,
        rows=[
            *_rows(
                means, "mean response time", "5", {LRU: " ".join(WRITING), GCAR: " ".join(WRITING)}
            ),
            Row(
                "proj_0: mean response time, reduction by GCaR-CFLRU relative to LRU",
                less(means["proj_0"], GCAR),
                "%",
                PUBLISHED(
                    "5", "proj_0: mean response time, reduction by GCaR-CFLRU relative to LRU"
                ),
            ),
            *(
                Row(f"{load}, {TITLES[policy]}: mean response time", value, "µs")
                for load, one in means.items()
                for policy, value in one.items()
            ),
            *(
                Row(
                    f"{load}, LRU: number of GC runs per 1,000 requests",
                    gc_runs(runs[load, LRU]),
                    "",
                )
                for load in TABLE
            ),
        ],
        plots=[
            Plot(
                "Mean response time",
                "Relative to LRU.",
                bars(_to_lru(means), COLOURS, "relative to LRU"),
            )
        ],
        claims=of_means(runs),
        explanation=[
            "The document's gains over GCaR-CFLRU are percentage points of LRU's time: on proj_0, "
            "23.7 % less 11.4 % is 12.3. Those over LRU are per cent of LRU's time.",
            "On ts_0, the document's 39.2 % and its share of 40 % clean replacements exclude each "
            "other in a steady run, because as many pages leave dirty as become dirty (see the "
            "claim on CFLRU). On web_0, LCR gains less than published over LRU, because CFLRU "
            "gains less, and as much as published over GCaR-CFLRU.",
            "On wdev_2, a device that is only filled runs no GC: 181,266 writes of two pages are "
            "0.36 million pages, and 1.68 million can be written before GC starts. LCR's gain "
            "then comes from bursts only; with single requests it is almost zero, and on an "
            "overwritten device it is larger (see Reasons).",
            "On proj_0, LCR gains more than published. Large writes evict many pages at once, "
            "and each package has its own link, so a request waits for the slowest of sixteen "
            "dies. LRU cannot avoid a die that runs GC. The gain is smaller with single "
            "requests, or with links shared by eight packages, and so is that of GCaR-CFLRU, which "
            "depends on the amount of GC (see Reasons).",
        ],
        data={"mean_us": means},
    )


def _deviations(runs: Runs) -> Figure:
    values = over_loads(runs, deviation_us)
    return Figure(
        id="6",
        title="Figure 6: standard deviation of response times",
        section="IV-B",
        measured="The runs of figure 5.",
        rows=[
            *_rows(values, "standard deviation", "6", {LRU: "ts_0 proj_0", GCAR: "ts_0 proj_0"}),
            *(
                Row(f"{load}, {TITLES[policy]}: standard deviation", value, "µs")
                for load, one in values.items()
                for policy, value in one.items()
            ),
        ],
        plots=[
            Plot(
                "Standard deviation",
                "Relative to LRU.",
                bars(_to_lru(values), COLOURS, "relative to LRU"),
            )
        ],
        claims=of_deviations(runs),
        explanation=[
            "On ts_0, the published reduction is almost all CFLRU's (43.9 % of LRU's deviation, "
            "5.4 percentage points more than GCaR-CFLRU). Here CFLRU gains little, for the reason "
            "given with figure 5. On proj_0, LCR and GCaR-CFLRU reduce the deviation more than "
            "published, because they avoid dies that run GC (see Reasons).",
        ],
        data={"deviation_us": values},
    )


def _hits(runs: Runs, halves: Mapping[str, float]) -> Figure:
    values = over_loads(runs, hit_percent)
    return Figure(
        id="7",
        title="Figure 7: hit ratio",
        section="IV-B",
        measured="Hit ratio of the pages of reads and writes, in the runs of figure 5.",
        rows=[
            Row(f"{load}, {TITLES[policy]}: hit ratio", value, "%")
            for load, one in values.items()
            for policy, value in one.items()
        ]
        + [
            Row(f"{load}, LRU with a buffer of {MIB // 2} MiB: hit ratio", value, "%")
            for load, value in halves.items()
        ],
        plots=[
            Plot(
                "Hit ratio",
                "Share of pages found in the buffer.",
                bars({load: titled(one) for load, one in values.items()}, COLOURS, "%"),
            )
        ],
        claims=of_hits(runs, halves),
        data={"hit_percent": values},
    )


def _clean(runs: Runs) -> Figure:
    values = over_loads(runs, clean_percent)
    return Figure(
        id="clean",
        title="Clean pages among evicted pages",
        section="IV-B",
        measured=(
            "The runs of figure 5. The loads web_0 and ts_0 were fitted to the published shares, "
            "so their agreement is no result."
        ),
        rows=[
            Row(
                f"{load}, {TITLES[policy]}: share of clean pages among evicted pages",
                values[load][policy],
                "%",
                PUBLISHED("clean", f"{load}: share of clean pages among evicted pages")
                if load in WRITING and policy == LCR
                else None,
            )
            for load in TABLE
            for policy in ALL
        ],
        plots=[
            Plot(
                "Clean pages among evicted pages",
                "Share of clean pages among the pages evicted from the buffer.",
                bars({load: titled(one) for load, one in values.items()}, COLOURS, "%"),
            )
        ],
        data={"clean_percent": values},
    )


def _recorded(runs: Runs) -> Figure:
    means = {load: by_policy(runs, load, latency_us) for load in RECORDED_LOADS}
    return Figure(
        id="reuse",
        title="Reuse in a recorded trace",
        section="IV-B",
        measured=(
            "web_0 and ts_0 as in figure 5, but small requests repeat as in hplajw, with unscaled "
            "distances. Recorded traces differ: 79 % of the writes of hplajw repeat within 1,024 "
            "page writes, but only 15 % of those of web_3. The document gives no reuse."
        ),
        rows=[
            *(
                Row(
                    f"{load}: mean response time, reduction by {TITLES[policy]} relative to LRU",
                    less(one, policy),
                    "%",
                    PUBLISHED(
                        "5",
                        f"{load.split(',')[0]}: mean response time, reduction by LCR relative to "
                        "LRU",
                    )
                    if policy == LCR
                    else None,
                    other_reading=True,
                )
                for load, one in means.items()
                for policy in (CFLRU, GCAR, LCR)
            ),
            *(
                Row(
                    f"{load}: mean response time, reduction by LCR minus that by GCaR-CFLRU, "
                    "relative to LRU",
                    further(one),
                    "points",
                    PUBLISHED(
                        "5",
                        f"{load.split(',')[0]}: mean response time, reduction by LCR minus that "
                        "by GCaR-CFLRU, relative to LRU",
                    ),
                    other_reading=True,
                )
                for load, one in means.items()
            ),
            *(
                Row(
                    f"{load}, {TITLES[policy]}: share of clean pages among evicted pages",
                    clean_percent(runs[load, policy]),
                    "%",
                    PUBLISHED(
                        "clean", f"{load.split(',')[0]}: share of clean pages among evicted pages"
                    ),
                    other_reading=True,
                )
                for load in means
                for policy in (LRU, LCR)
            ),
            *(
                Row(f"{load}, {TITLES[policy]}: hit ratio", hit_percent(runs[load, policy]), "%")
                for load in means
                for policy in ALL
            ),
        ],
        plots=[
            Plot(
                "Mean response time",
                "Relative to LRU.",
                bars(_to_lru(means), COLOURS, "relative to LRU"),
            )
        ],
        explanation=[
            f"Under this reuse, the claim `{MOST}` "
            + (
                "holds: "
                if all(2 * less(one, CFLRU) > less(one, LCR) for one in means.values())
                else "does not hold: "
            )
            + ", ".join(
                f"{less(one, CFLRU):.1f} of {less(one, LCR):.1f} %" for one in means.values()
            )
            + ". The figures do not use this reuse, because it does not give the document's "
            "shares of clean replacements.",
        ],
        data={"mean_us": means},
    )
