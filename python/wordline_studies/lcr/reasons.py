"""Reasons for differences: runs with other rates, wear, links and queues, and short runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from wordline._render.charts import bars
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.bursts import READS, WRITES, Bursts
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.claims import READING, WRITING
from wordline_studies.lcr.loads import RESIZED_LOADS, written
from wordline_studies.lcr.policies import CFLRU, GCAR, LCR, LRU, Values, further, less
from wordline_studies.lcr.runs import (
    PART,
    WHOLE_BLOCKS,
    WORN,
    case,
    deviation_us,
    part,
    playback,
    wanted,
)
from wordline_studies.measures import latency_us
from wordline_studies.outcome import IN_POINTS

REQUESTS = 50_000
# Requests of the short runs. A buffer of 4 MiB has 1,024 pages.
SHORT = (3_000, 6_000, 25_000, 100_000)

Key = tuple[str, str, str]
"""Load, variant and policy."""


@dataclass(frozen=True)
class Variant:
    """A variant: factor on the arrival rate, arrivals in bursts or one at a time, bursts of reads,
    settings of the device, and factor on its size."""

    title: str
    faster: float = 1.0
    bursts: bool = True
    reads: Bursts = READS
    settings: dict[str, Value] = field(default_factory=dict[str, Value])
    larger: int = 1

    def overrides(self, setup: Setup) -> dict[str, Value]:
        """Returns the settings that override those of the scaled device."""
        if self.larger == 1:
            return self.settings
        blocks = WHOLE_BLOCKS // part(setup) * self.larger
        return {**self.settings, "nand.geometry.blocks_per_plane": blocks}


BASE = Variant("as in figure 5")
CALM = Variant("single requests", bursts=False)
LONG_READS = Variant("reads in bursts like those of writes", reads=WRITES)
FRESH = Variant("no GC", larger=PART)
WEAR = Variant("overwritten device", settings=WORN)
SHARED = Variant("8 channels of 8 packages", settings={"ssd.channels": 8, "ssd.ways": 8})
VARIANTS = (
    BASE,
    Variant("10 times the rate", faster=10),
    Variant("100 times the rate", faster=100),
    CALM,
    LONG_READS,
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
    """Returns the cases of each variant, and those of the first requests of the loads with many
    clean replacements."""
    played = {
        f"{load}, {variant.title}": (
            load,
            playback(
                setup,
                wanted(setup, load, REQUESTS),
                faster=variant.faster,
                bursts=variant.bursts,
                reads=variant.reads,
            ),
        )
        for load in WRITING
        for variant in variants
    }
    played |= {load: (load, playback(setup, SHORT[-1])) for load in READING}
    played |= {
        load: (load, playback(setup, wanted(setup, load, REQUESTS))) for load in RESIZED_LOADS
    }
    paths = written(setup, played)
    return (
        {
            (load, variant.title, policy): case(
                setup,
                f"{load}, {variant.title}",
                paths[f"{load}, {variant.title}"],
                policy,
                more=variant.overrides(setup),
            )
            for load in WRITING
            for variant in variants
            for policy in POLICIES
        }
        | {
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
        | {
            (load, BASE.title, policy): case(setup, load, paths[load], policy)
            for load in RESIZED_LOADS
            for policy in (LRU, LCR)
        }
    )


def _steadier(found: Mapping[Key, Summary], load: str, variant: Variant) -> float:
    """Returns the reduction of the standard deviation of response times by LCR relative to LRU. Per
    cent."""
    lcr, lru = (deviation_us(found[load, variant.title, policy]) for policy in (LCR, LRU))
    return 100 * (1 - lcr / lru)


def _to_lru(values: Values) -> float:
    return less(values, LCR)


def figure(setup: Setup) -> Figure:
    """Returns the figure for LCR's reduction of the response time relative to LRU and GCaR-CFLRU
    under each variant, and for CFLRU's in short runs."""
    variants = QUICK if setup.quick else VARIANTS
    found = required(setup, _cases(setup, variants))
    means = {key: latency_us(one) for key, one in found.items()}
    deviating = {
        variant.title: {load: _steadier(found, load, variant) for load in WRITING}
        for variant in (BASE, CALM, FRESH, WEAR)
    }
    deviating[BASE.title] |= {load: _steadier(found, load, BASE) for load in RESIZED_LOADS}

    def values(load: str, what: str) -> Values:
        return {
            policy: means[load, what, policy]
            for policy in (*POLICIES, CFLRU)
            if (load, what, policy) in means
        }

    to_lru, to_gcar = (
        {
            variant.title: {load: measure(values(load, variant.title)) for load in WRITING}
            for variant in variants
        }
        for measure in (_to_lru, further)
    )
    short = {
        load: [less(values(load, f"first {many}"), CFLRU) for many in SHORT] for load in READING
    }
    return Figure(
        id="reasons",
        title="Reasons",
        section="IV",
        measured=(
            f"At most {REQUESTS:,} requests of the loads of figure 5, with one change each: "
            "bursts at 10 and 100 times the rate; single requests at the same mean rate; reads in "
            "bursts with the lengths and gaps of bursts of writes; a device with eight times the "
            "blocks, on which GC does not start; a device overwritten until GC runs; links shared "
            "by eight packages; GC that moves pages over the links; a queue of 256 instead of 32. "
            "The figure also shows the first requests of web_0 and ts_0 under LRU and CFLRU, and "
            "these loads with the sizes of their reads exchanged."
        ),
        rows=[
            *(
                Row(
                    f"{load}, {title}: mean response time, reduction by LCR{words}, relative to "
                    "LRU",
                    one[load],
                    unit,
                )
                for each, words, unit in (
                    (to_lru, "", "%"),
                    (to_gcar, " minus that by GCaR-CFLRU", "points"),
                )
                for title, one in each.items()
                for load in WRITING
            ),
            *(
                Row(
                    f"{load}, {title}: standard deviation, reduction by LCR relative to LRU",
                    value,
                    "%",
                )
                for title, one in deviating.items()
                for load, value in one.items()
            ),
            *(
                Row(
                    f"{load}, the first {many:,} requests: mean response time, reduction by CFLRU "
                    "relative to LRU",
                    value,
                    "%",
                )
                for load, one in short.items()
                for many, value in zip(SHORT, one, strict=True)
            ),
        ],
        plots=[
            Plot(title, caption, bars(each, COLOURS, unit))
            for title, caption, each, unit in (
                ("LCR relative to LRU", "Reduction of the mean response time.", to_lru, "%"),
                (
                    "LCR and GCaR-CFLRU",
                    "Reduction by LCR minus that by GCaR-CFLRU, relative to LRU.",
                    to_gcar,
                    "points",
                ),
            )
        ],
        claims=_claims(to_lru, to_gcar, deviating, short),
        data={"less_than_lru": to_lru, "less_than_gcar": to_gcar, "short_runs": short},
    )


Gains = Mapping[str, Mapping[str, float]]
"""Reductions by variant and load."""


def _claims(
    to_lru: Gains, to_gcar: Gains, deviating: Gains, short: Mapping[str, Sequence[float]]
) -> list[Claim]:
    fresh = to_gcar[FRESH.title]
    worn = (to_lru[WEAR.title]["wdev_2"], to_gcar[WEAR.title]["wdev_2"])
    return [
        Claim(
            "Without GC, where GCaR-CFLRU equals CFLRU, LCR gains noticeably more than either "
            f"(more than {IN_POINTS:g} percentage points, mean of the loads), because it avoids "
            "dies with long queues",
            fmean(fresh.values()) > IN_POINTS,
            ", ".join(f"{load} {value:.1f}" for load, value in fresh.items()) + " points",
            ids=("L-015",),
        ),
        Claim(
            "proj_0: without GC, LCR still gains noticeably more than GCaR-CFLRU (more than "
            f"{IN_POINTS:g} percentage points)",
            fresh["proj_0"] > IN_POINTS,
            f"{fresh['proj_0']:.1f} percentage points",
            ids=("L-046",),
        ),
        Claim(
            "CFLRU gains more in short runs than in long ones, because it postpones writes",
            all(one[0] > one[-1] for one in short.values()),
            "; ".join(
                f"{load} " + ", ".join(f"{value:.1f}" for value in one) + " %"
                for load, one in short.items()
            ),
        ),
        *(
            Claim(
                f"{load}: with reads in bursts like those of writes, LCR gains more than "
                f"{IN_POINTS:g} percentage points over GCaR-CFLRU",
                to_gcar[LONG_READS.title][load] > IN_POINTS,
                f"{to_gcar[LONG_READS.title][load]:.1f} percentage points",
                quick=False,
            )
            for load in READING
            if LONG_READS.title in to_gcar
        ),
        Claim(
            "wdev_2: with single requests, LCR has no more choice than GCaR-CFLRU (it gains less "
            "than a percentage point more)",
            to_gcar[CALM.title]["wdev_2"] < 1,
            f"{to_gcar[CALM.title]['wdev_2']:.1f} percentage points",
        ),
        Claim(
            f"wdev_2: on an overwritten device, LCR gains more than {IN_POINTS:g} % over LRU, and "
            "less over GCaR-CFLRU than over LRU",
            worn[0] > IN_POINTS and worn[1] < worn[0],
            f"{worn[0]:.1f} % over LRU and {worn[1]:.1f} percentage points over GCaR-CFLRU",
        ),
        _more_gc(to_lru, to_gcar),
        *_large_writes(to_lru, deviating),
    ]


def _more_gc(to_lru: Gains, to_gcar: Gains) -> Claim:
    """Returns the claim on the cause of GCaR-CFLRU's gain on proj_0."""
    gcar = {
        one.title: to_lru[one.title]["proj_0"] - to_gcar[one.title]["proj_0"]
        for one in (FRESH, BASE, WEAR)
    }
    return Claim(
        "proj_0: GCaR-CFLRU gains more the more GC there is: at most a percentage point without "
        "GC, and most on an overwritten device",
        abs(gcar[FRESH.title]) <= 1 and gcar[BASE.title] < gcar[WEAR.title],
        ", ".join(f"{title} {value:.1f} %" for title, value in gcar.items()),
    )


def _large_writes(to_lru: Gains, deviating: Gains) -> list[Claim]:
    """Returns the claims on the causes of LCR's gain on proj_0, and on the standard deviations on
    web_0 and ts_0."""
    whole, steadier = to_lru[BASE.title]["proj_0"], deviating[BASE.title]["proj_0"]
    return [
        *(
            Claim(
                f"proj_0: with {title}, LCR keeps less than two thirds of its gain",
                1.5 * to_lru[title]["proj_0"] < whole,
                f"{to_lru[title]['proj_0']:.1f} of {whole:.1f} %",
                quick=title != FRESH.title,
            )
            for title in (CALM.title, FRESH.title, SHARED.title)
        ),
        Claim(
            "proj_0: without GC, LCR reduces the standard deviation by less than two thirds as "
            "much",
            1.5 * deviating[FRESH.title]["proj_0"] < steadier,
            f"{deviating[FRESH.title]['proj_0']:.1f} of {steadier:.1f} %",
            quick=False,
        ),
        Claim(
            "web_0 and ts_0: LCR's reductions of the standard deviation differ by more than "
            f"{IN_POINTS:g} percentage points also with single requests and without GC",
            all(
                abs(deviating[one.title]["web_0"] - deviating[one.title]["ts_0"]) > IN_POINTS
                for one in (CALM, FRESH)
            ),
            "; ".join(
                f"{one.title} {deviating[one.title]['web_0']:.1f} and "
                f"{deviating[one.title]['ts_0']:.1f} %"
                for one in (CALM, FRESH, WEAR)
            ),
        ),
        *_exchanged(deviating[BASE.title]),
    ]


def _exchanged(steadier: Mapping[str, float]) -> list[Claim]:
    """Returns the claims on web_0 and ts_0 with reads as large as those of the other load."""
    return [
        Claim(
            f"{load}: with reads as large as on {other}, LCR reduces the standard deviation as "
            f"much as on {other} (within {IN_POINTS:g} percentage points)",
            abs(steadier[f"{load}, reads as large as on {other}"] - steadier[other]) <= IN_POINTS,
            f"{steadier[f'{load}, reads as large as on {other}']:.1f} and {steadier[other]:.1f} %, "
            f"{steadier[load]:.1f} % with its own reads",
        )
        for load, other in (READING, READING[::-1])
    ]
