"""Reasons for differences: runs with other rates, wear, links and queues, and short runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from wordline._render.charts import bars
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.loads import written
from wordline_studies.lcr.policies import CFLRU, GCAR, LCR, LRU, TITLES, Values, less
from wordline_studies.lcr.responses import READING, WRITING
from wordline_studies.lcr.runs import WHOLE, WORN, case, deviation_us, playback, wanted
from wordline_studies.measures import latency_us

REQUESTS = 50_000
# Requests of the short runs. A buffer of 4 MiB has 1,024 pages.
SHORT = (3_000, 6_000, 25_000, 100_000)

Key = tuple[str, str, str]
"""Load, variant and policy."""


@dataclass(frozen=True)
class Variant:
    """A variant: arrival pattern of the load, and settings of the device."""

    title: str
    faster: float = 1.0
    bursts: bool = True
    settings: dict[str, Value] = field(default_factory=dict[str, Value])


BASE = Variant("as in figure 5")
CALM = Variant("single requests", bursts=False)
FRESH = Variant("no GC", settings=WHOLE)
WEAR = Variant("worn", settings=WORN)
SHARED = Variant("8 channels of 8", settings={"ssd.channels": 8, "ssd.ways": 8})
VARIANTS = (
    BASE,
    Variant("10 times the rate", faster=10),
    Variant("100 times the rate", faster=100),
    CALM,
    FRESH,
    WEAR,
    SHARED,
    Variant("copies over the links", settings={"ftl.gc.internal_data_move": False}),
    Variant("queue of 256", settings={"host.queue_depth": 256}),
)
QUICK = (BASE, CALM, FRESH, WEAR, SHARED)
POLICIES = (LRU, GCAR, LCR)
COLOURS: dict[str, str] = dict(
    zip(WRITING, ("#1f78b4", "#12a07a", "#e0a30a", "#8b929c"), strict=True)
)


def _cases(setup: Setup, variants: Sequence[Variant]) -> dict[Key, Case]:
    """Returns the runs of each variant, and of the first requests of the loads with many clean
    pages."""
    played = {
        f"{load}, {variant.title}": (
            load,
            playback(
                setup,
                wanted(setup, load, REQUESTS),
                faster=variant.faster,
                bursts=variant.bursts,
            ),
        )
        for load in WRITING
        for variant in variants
    }
    played |= {load: (load, playback(setup, SHORT[-1])) for load in READING}
    paths = written(setup, played)
    return {
        (load, variant.title, policy): case(
            setup,
            f"{load}, {variant.title}",
            paths[f"{load}, {variant.title}"],
            policy,
            more=variant.settings,
        )
        for load in WRITING
        for variant in variants
        for policy in POLICIES
    } | {
        (load, f"first {many}", policy): case(
            setup,
            f"{load}, the first {many}",
            paths[load],
            policy,
            requests=many,
        )
        for load in READING
        for many in SHORT
        for policy in (LRU, CFLRU)
    }


def _steadier(found: Mapping[Key, Summary], load: str) -> float:
    """Returns how much LCR reduces LRU's standard deviation of response times without GC. Per
    cent."""
    lcr, lru = (deviation_us(found[load, FRESH.title, policy]) for policy in (LCR, LRU))
    return 100 * (1 - lcr / lru)


def figure(setup: Setup) -> Figure:
    """Returns the figure of LCR's reduction of the response time relative to LRU and GCaR-CFLRU
    under each variant, and of CFLRU's in short runs."""
    variants = QUICK if setup.quick else VARIANTS
    found = required(setup, _cases(setup, variants))
    means = {key: latency_us(one) for key, one in found.items()}
    deviating = {load: _steadier(found, load) for load in WRITING}

    def values(load: str, what: str) -> Values:
        return {
            policy: means[load, what, policy]
            for policy in (*POLICIES, CFLRU)
            if (load, what, policy) in means
        }

    gains = {
        than: {
            variant.title: {load: less(values(load, variant.title), LCR, than) for load in WRITING}
            for variant in variants
        }
        for than in (LRU, GCAR)
    }
    short = {
        load: [less(values(load, f"first {many}"), CFLRU) for many in SHORT] for load in READING
    }
    to_lru, to_gcar = gains[LRU], gains[GCAR]
    return Figure(
        id="reasons",
        title="Reasons",
        section="IV",
        measured=(
            f"At most {REQUESTS:,} requests of the loads of figure 5, with one change each: "
            "bursts at 10 and 100 times the rate; single requests at the same mean rate; a "
            "disk with eight times the blocks, on which GC does not start; a disk overwritten "
            "until GC runs; links shared by eight packages; GC that moves pages over the "
            "links; a queue of 256 instead of 32. In addition, the first requests of runs."
        ),
        rows=[
            *(
                Row(f"{load}, {title}: reduction by LCR relative to {TITLES[than]}", one[load], "%")
                for than, each in gains.items()
                for title, one in each.items()
                for load in WRITING
            ),
            *(
                Row(
                    f"{load}, {FRESH.title}: standard deviation, reduction by LCR relative to LRU",
                    value,
                    "%",
                )
                for load, value in deviating.items()
            ),
            *(
                Row(
                    f"{load}, the first {many:,} requests: reduction by CFLRU relative to LRU",
                    value,
                    "%",
                )
                for load, one in short.items()
                for many, value in zip(SHORT, one, strict=True)
            ),
        ],
        plots=[
            Plot(
                f"LCR relative to {TITLES[than]}",
                "Reduction of the mean response time by LCR.",
                bars(each, COLOURS, "%"),
            )
            for than, each in gains.items()
        ],
        claims=[
            Claim(
                "CFLRU gains more in short runs than in long ones, because it postpones writes",
                all(one[0] > one[-1] for one in short.values()),
                "; ".join(
                    f"{load} " + ", ".join(f"{value:.1f}" for value in one) + " %"
                    for load, one in short.items()
                ),
            ),
            Claim(
                "wdev_2: with single requests, LCR has no more choice than GCaR-CFLRU "
                "(gains less than 1 %)",
                to_gcar[CALM.title]["wdev_2"] < 1,
                f"{to_gcar[CALM.title]['wdev_2']:.1f} %",
            ),
            *(
                Claim(
                    f"proj_0: with {title}, LCR keeps less than two thirds of its gain",
                    1.5 * to_lru[title]["proj_0"] < to_lru[BASE.title]["proj_0"],
                    f"{to_lru[title]['proj_0']:.1f} of {to_lru[BASE.title]['proj_0']:.1f} %",
                    quick=title != FRESH.title,
                )
                for title in (CALM.title, FRESH.title, SHARED.title)
            ),
            Claim(
                "wdev_2: on a worn disk, LCR gains more than 5 %",
                to_lru[WEAR.title]["wdev_2"] > 5,
                f"{to_lru[WEAR.title]['wdev_2']:.1f} %",
            ),
            Claim(
                "Without GC, GCaR-CFLRU equals CFLRU, and LCR still gains on proj_0",
                to_gcar[FRESH.title]["proj_0"] > 5,
                f"{to_gcar[FRESH.title]['proj_0']:.1f} %",
            ),
        ],
        data={"less_than_lru": gains[LRU], "less_than_gcar": gains[GCAR], "short_runs": short},
    )
