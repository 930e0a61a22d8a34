"""Figures 5 to 7: response times, their deviation and hit ratios, with the claims of the text."""

from collections.abc import Mapping
from itertools import pairwise

from wordline._render.charts import bars
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.loads import FITTED, LOADS, RECORDED_LOADS, TABLE, written
from wordline_studies.lcr.policies import (
    ALL,
    CFLRU,
    COLOURS,
    GCAR,
    LCR,
    LRU,
    TITLES,
    Values,
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
    collections,
    deviation_us,
    hit_percent,
    playback,
    wanted,
)
from wordline_studies.measures import Measure, latency_us, or_nan

# Largest number of requests of a load: an eighth of all, fewer for proj_0 and financial2.
REQUESTS = {
    "web_0": 260_000,
    "ts_0": 260_000,
    "proj_0": 100_000,
    "wdev_2": 260_000,
    "financial2": 260_000,
}
WRITING = ("web_0", "ts_0", "proj_0", "wdev_2")
# Loads with many clean replacements. The document states that CFLRU performs well on them.
READING = ("web_0", "ts_0")
READS = "financial2"
# Tolerance of equal response times, which is the difference between seeds. Per cent.
EQUAL = 1.0
# Largest improvement that counts as almost none. Per cent.
ALMOST = 5.0
# Tolerance of similar hit ratios. Points.
ALIKE = 1.5
# Tolerance of similar standard deviations. Per cent.
SPREAD = 10.0
CONSERVED = (
    "as many pages leave dirty as become dirty, less those left at the end, so CFLRU gains "
    "only by additional write hits; with the document's shares of clean replacements it has "
    "few more than LRU ({more}); with the reuse of hplajw it gains {recorded}, but then "
    "{clean} of the replacements are clean, not 76 and 40 %"
)
MOST = "web_0 and ts_0: CFLRU has most of LCR's gain"


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures that share the runs of the five loads."""
    most = REQUESTS | {load: REQUESTS[load.split(",")[0]] for load in RECORDED_LOADS}
    played = {load: (load, playback(setup, wanted(setup, load, most[load]))) for load in LOADS}
    paths = written(setup, played)
    runs = required(
        setup,
        {
            (load, policy): case(setup, load, paths[load], policy)
            for load in LOADS
            for policy in ALL
        },
    )
    return [_means(runs), _deviations(runs), _hits(runs), _clean(runs), _recorded(runs)]


def _over_loads(runs: Runs, measure: Measure) -> dict[str, Values]:
    return {load: by_policy(runs, load, measure) for load in TABLE}


def _to_lru(values: Mapping[str, Values]) -> dict[str, Values]:
    """Returns the values relative to LRU, by load and title."""
    return {
        load: titled({policy: value / one[LRU] for policy, value in one.items()})
        for load, one in values.items()
    }


def _rows(values: Mapping[str, Values], figure: str, published: Mapping[str, str]) -> list[Row]:
    """Returns rows with LCR's reductions relative to LRU and GCaR-CFLRU. `published` has, for each
    of the two policies, the loads for which the document states the reduction."""
    rows: list[Row] = []
    for than in (LRU, GCAR):
        for load in values:
            known = f"{load}, {TITLES[than]}"
            number = PUBLISHED(figure, known) if load in published[than] else None
            rows.append(
                Row(
                    f"{load}: reduction by LCR relative to {TITLES[than]}",
                    less(values[load], LCR, than),
                    "%",
                    number,
                )
            )
    return rows


def _many(runs: Runs) -> str:
    counts = {runs[load, LRU]["input"]["requests"] for load in TABLE}
    return " or ".join(f"{count:,}" for count in sorted(counts, reverse=True)) + " requests of each"


def _told(values: Values, unit: str = "µs") -> str:
    return ", ".join(f"{TITLES[policy]} {value:.4g}" for policy, value in values.items()) + (
        f" {unit}"
    )


def _means(runs: Runs) -> Figure:
    means = _over_loads(runs, latency_us)
    recorded = {load: by_policy(runs, load, latency_us) for load in RECORDED_LOADS}
    ordered = [
        Claim(
            f"{load}: response times rise from LCR over GCaR-CFLRU and CFLRU to LRU (within "
            f"{EQUAL:g} %)",
            all(
                means[load][later] <= means[load][earlier] * (1 + EQUAL / 100)
                for earlier, later in pairwise(ALL)
            ),
            _told(means[load]),
        )
        for load in WRITING
    ]
    gains = {load: less(means[load], LCR) for load in TABLE}
    reading = [less(means[load], CFLRU) for load in READING]
    rest = {policy: less(means[READS], policy) for policy in (CFLRU, GCAR, LCR)}
    return Figure(
        id="5",
        title="Figure 5: mean response time",
        section="IV-B",
        measured=(
            f"Five loads, {_many(runs)}, under {len(ALL)} policies, with a buffer of {MIB} MiB "
            "and a window of a half, on a full disk. Disk, address spaces and requests are an "
            "eighth of the document's unless `--full` is given; proj_0 and financial2 run "
            f"their first {REQUESTS['proj_0']:,} and {REQUESTS['financial2']:,} requests. "
        )
        + FITTED,
        rows=[
            *_rows(means, "5", {LRU: " ".join(TABLE), GCAR: " ".join(WRITING)}),
            Row(
                "proj_0: reduction by GCaR-CFLRU relative to LRU",
                less(means["proj_0"], GCAR),
                "%",
                PUBLISHED("5", "proj_0, GCaR-CFLRU against LRU"),
            ),
            *(
                Row(f"{load}, {TITLES[policy]}", value, "µs")
                for load, one in means.items()
                for policy, value in one.items()
            ),
            *(
                Row(
                    f"{load}, LRU: GC runs per 1,000 requests",
                    1000 * collections(runs[load, LRU]) / runs[load, LRU]["input"]["requests"],
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
        claims=[
            *ordered,
            Claim(
                "LCR responds more than 5 % faster than LRU on every write-dominated load",
                all(gains[load] > 5 for load in WRITING),
                ", ".join(f"{load} {gains[load]:.1f} %" for load in WRITING),
                because=(
                    "under wdev_2, a disk that is only filled runs no GC "
                    f"({collections(runs['wdev_2', LRU])} GC runs; 181,266 writes of two pages "
                    "are 0.36 million pages, and 1.68 million can be written before GC "
                    "starts), so only bursts leave a choice of die; on a worn disk LCR gains "
                    "14 % (see Reasons)"
                ),
            ),
            Claim(
                f"financial2: CFLRU, GCaR-CFLRU and LCR gain almost nothing (at most {ALMOST:g} %)",
                all(value <= ALMOST for value in rest.values()),
                ", ".join(f"{TITLES[one]} {value:.1f} %" for one, value in rest.items()),
            ),
            Claim(
                "wdev_2: CFLRU gains almost nothing, because no page is clean (at most "
                f"{ALMOST:g} %)",
                abs(less(means["wdev_2"], CFLRU)) <= ALMOST,
                f"{less(means['wdev_2'], CFLRU):.1f} %",
            ),
            Claim(
                "proj_0: GCaR-CFLRU responds more than 10 % faster than LRU",
                less(means["proj_0"], GCAR) > 10,
                f"{less(means['proj_0'], GCAR):.1f} %",
            ),
            Claim(
                MOST,
                all(2 * less(means[load], CFLRU) > gains[load] for load in READING),
                ", ".join(
                    f"{load} {value:.1f} of {gains[load]:.1f} %"
                    for load, value in zip(READING, reading, strict=True)
                ),
                because=CONSERVED.format(
                    more=", ".join(
                        f"{load} {_more_hits(runs, load):.1f} points" for load in READING
                    ),
                    recorded=" and ".join(
                        f"{less(one, CFLRU):.1f} of {less(one, LCR):.1f} %"
                        for one in recorded.values()
                    ),
                    clean=" and ".join(
                        f"{clean_percent(runs[load, LCR]):.0f} %" for load in RECORDED_LOADS
                    ),
                ),
            ),
        ],
        explanation=[
            "On wdev_2, LCR's gain over GCaR-CFLRU comes from bursts only: with single "
            "requests it is almost zero (see Reasons).",
            "On proj_0, LCR gains more than published. Large writes evict many pages at once, "
            "and each package has its own link, so a request waits for the slowest of sixteen "
            "dies. LRU cannot avoid a die that runs GC. The gain is smaller with single "
            "requests, or with links shared by eight packages (see Reasons).",
        ],
        data={"mean_us": means},
    )


def _more_hits(runs: Runs, load: str) -> float:
    """Returns the write hit ratio of CFLRU minus that of LRU. Percentage points."""
    ratios = [runs[load, policy]["buffer"] for policy in (LRU, CFLRU)]
    lru, cflru = (100 * or_nan(one["write_hit_ratio"] if one else None) for one in ratios)
    return cflru - lru


def _deviations(runs: Runs) -> Figure:
    values = _over_loads(runs, deviation_us)
    spread = 100 * (max(values[READS].values()) / min(values[READS].values()) - 1)
    return Figure(
        id="6",
        title="Figure 6: standard deviation of response times",
        section="IV-B",
        measured="The runs of figure 5.",
        rows=[
            *_rows(values, "6", {LRU: "ts_0 proj_0", GCAR: "ts_0 proj_0"}),
            *(
                Row(f"{load}, {TITLES[policy]}", value, "µs")
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
        claims=[
            Claim(
                f"{load}: LCR has the smallest standard deviation (within {EQUAL:g} %)",
                values[load][LCR] <= min(values[load].values()) * (1 + EQUAL / 100),
                _told(values[load]),
            )
            for load in WRITING
        ]
        + [
            Claim(
                "financial2: the standard deviations of the policies are similar (within "
                f"{SPREAD:g} %)",
                spread <= SPREAD,
                _told(values[READS]),
            ),
        ],
        data={"deviation_us": values},
    )


def _hits(runs: Runs) -> Figure:
    values = _over_loads(runs, hit_percent)
    apart = {load: max(one.values()) - min(one.values()) for load, one in values.items()}
    return Figure(
        id="7",
        title="Figure 7: hit ratio",
        section="IV-B",
        measured="The runs of figure 5. Pages of requests, reads and writes.",
        rows=[
            Row(f"{load}, {TITLES[policy]}", value, "%")
            for load, one in values.items()
            for policy, value in one.items()
        ],
        plots=[
            Plot(
                "Hit ratio",
                "Share of pages found in the buffer.",
                bars({load: titled(one) for load, one in values.items()}, COLOURS, "%"),
            )
        ],
        claims=[
            Claim(
                f"The hit ratios of the policies are within {ALIKE:g} points of each other",
                all(value <= ALIKE for value in apart.values()),
                ", ".join(f"{load} {value:.2f}" for load, value in apart.items()) + " points",
            ),
        ],
        data={"hit_percent": values},
    )


def _clean(runs: Runs) -> Figure:
    values = _over_loads(runs, clean_percent)
    return Figure(
        id="clean",
        title="Clean pages among replacements",
        section="IV-B",
        measured=(
            "The runs of figure 5. The loads web_0 and ts_0 were made to have the published "
            "shares, so their agreement shows nothing more."
        ),
        rows=[
            Row(
                f"{load}, {TITLES[policy]}",
                values[load][policy],
                "%",
                PUBLISHED("clean", load) if load in WRITING and policy == LCR else None,
            )
            for load in TABLE
            for policy in ALL
        ],
        plots=[
            Plot(
                "Clean pages among replacements",
                "",
                bars({load: titled(one) for load, one in values.items()}, COLOURS, "%"),
            )
        ],
        claims=[
            Claim(
                "More than 95 % of the evicted pages of proj_0 and wdev_2 are dirty",
                all(values[load][LCR] < 5 for load in ("proj_0", "wdev_2")),
                (
                    f"{100 - values['proj_0'][LCR]:.1f} and {100 - values['wdev_2'][LCR]:.1f} % "
                    "dirty"
                ),
            ),
        ],
        data={"clean_percent": values},
    )


def _recorded(runs: Runs) -> Figure:
    means = {load: by_policy(runs, load, latency_us) for load in RECORDED_LOADS}
    return Figure(
        id="reuse",
        title="Reuse of a recording",
        section="IV-B",
        measured=(
            "web_0 and ts_0 as in figure 5, but small requests repeat as in hplajw, with "
            "unscaled distances. Recordings differ: 79 % of the writes of hplajw repeat within "
            "1,024 page writes, but only 15 % of those of web_3. The document gives no reuse."
        ),
        rows=[
            *(
                Row(
                    f"{load}: reduction by {TITLES[policy]} relative to LRU",
                    less(one, policy),
                    "%",
                    PUBLISHED("5", f"{load.split(',')[0]}, LRU") if policy == LCR else None,
                )
                for load, one in means.items()
                for policy in (CFLRU, GCAR, LCR)
            ),
            *(
                Row(
                    f"{load}: reduction by LCR relative to GCaR-CFLRU",
                    less(one, LCR, GCAR),
                    "%",
                    PUBLISHED("5", f"{load.split(',')[0]}, GCaR-CFLRU"),
                )
                for load, one in means.items()
            ),
            *(
                Row(
                    f"{load}, {TITLES[policy]}: clean replacements",
                    clean_percent(runs[load, policy]),
                    "%",
                    PUBLISHED("clean", load.split(",")[0]),
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
            f"Under this reuse the claim `{MOST}` "
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
