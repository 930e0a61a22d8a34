"""Figure 2: load imbalance of the dies."""

from collections.abc import Mapping
from statistics import fmean

from wordline._render.charts import bars
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.claims import WRITING
from wordline_studies.lcr.loads import written
from wordline_studies.lcr.policies import LRU
from wordline_studies.lcr.responses import REQUESTS
from wordline_studies.lcr.runs import PUBLISHED, WORN, case, playback, wanted
from wordline_studies.measures import or_nan
from wordline_studies.outcome import IN_POINTS

FASTER = (1, 1000)
# Time of a page write on an idle die: transfer at 40 MB/s and program (table II). Microseconds.
IDLE_WRITE_US = 4096 / 40 + 200
# Smallest ratio of two times that differ by orders of magnitude.
ORDERS = 100.0
BALANCED: dict[str, Value] = {"ftl.allocate": "least-busy"}
LOOK: dict[str, Value] = {
    "observe.balance_at_evictions": True,
    "observe.chip_load_interval_ms": 0.5,
}
COLOURS = {
    "pages replaced": "#1f78b4",
    "1,000 times the rate": "#7cc0ea",
    "an overwritten device": "#e0a30a",
    "instants": "#c2457f",
    "least busy die": "#12a07a",
    "least busy die, an overwritten device": "#8b929c",
}


def figure(setup: Setup) -> Figure:
    """Returns the figure for load balance rates of the four write-dominated loads under LRU, at
    their own rate and in each variant."""
    runs = _runs(setup)
    above = {load: _above(runs, load) for load in WRITING}
    means = {words: fmean(above[load][words] for load in WRITING) for words in COLOURS}
    return Figure(
        id="2",
        title="Figure 2: load balance rates",
        section="II-A",
        measured=(
            "Load of the most loaded die relative to the mean of the dies, sampled at each page "
            "replacement, under LRU with the buffer of figure 5, for four loads. The document "
            "counts cases without defining them. Its policy checks the load of a die only when a "
            "block is evicted (section III-A), and the document runs four traces (II-A). Here, a "
            "case is a page replacement; if no die has work, the rate counts as at most 10. This "
            "definition was chosen after results for replacements, dirty replacements, arrivals "
            "and instants were known. For comparison, the figure shows instants at which a die "
            "has work, sampled every 0.5 ms; bursts at 1,000 times the rate; an overwritten "
            "device; and writes to the least busy die instead of to the dies in turn."
        ),
        rows=[
            Row(
                "share of cases with a load balance rate above 10, mean of the loads",
                means["pages replaced"],
                "%",
                PUBLISHED("2", "share of cases with a load balance rate above 10"),
            ),
            *(
                Row(
                    f"{words}: share of cases with a load balance rate above 10, mean of the loads",
                    value,
                    "%",
                )
                for words, value in means.items()
                if words != "pages replaced"
            ),
            *(
                Row(
                    f"{load}, {words}: share of cases with a load balance rate above 10", value, "%"
                )
                for load, one in above.items()
                for words, value in one.items()
            ),
        ],
        plots=[
            Plot(
                "Load balance rates above 10",
                "Share of cases by load and variant.",
                bars(above, COLOURS, "%"),
            )
        ],
        claims=[_unbalanced(above, means), _penalty(runs)],
        data={"above_10_percent": above},
    )


def _runs(setup: Setup) -> dict[tuple[str, str], Summary]:
    """Returns the runs by load and variant."""
    played = {
        f"{load}, {times}": (
            load,
            playback(setup, wanted(setup, load, REQUESTS[load]), faster=times),
        )
        for load in WRITING
        for times in FASTER
    }
    paths = written(setup, played)
    settings = {
        "worn": WORN,
        "balanced": BALANCED,
        "balanced, worn": BALANCED | WORN,
    }
    return required(
        setup,
        {
            (load, f"{times}"): case(
                setup,
                f"{load}, {times} times as fast",
                paths[f"{load}, {times}"],
                LRU,
                more=LOOK,
            )
            for load in WRITING
            for times in FASTER
        }
        | {
            (load, what): case(setup, load, paths[f"{load}, 1"], LRU, more=LOOK | more)
            for load in WRITING
            for what, more in settings.items()
        },
    )


def _above(runs: Mapping[tuple[str, str], Summary], load: str) -> dict[str, float]:
    return {
        "pages replaced": _replaced(runs[load, "1"]),
        "1,000 times the rate": _replaced(runs[load, "1000"]),
        "an overwritten device": _replaced(runs[load, "worn"]),
        "instants": _instants(runs[load, "1"]),
        "least busy die": _replaced(runs[load, "balanced"]),
        "least busy die, an overwritten device": _replaced(runs[load, "balanced, worn"]),
    }


def _unbalanced(above: Mapping[str, Mapping[str, float]], means: Mapping[str, float]) -> Claim:
    left, worn = means["least busy die"], means["least busy die, an overwritten device"]
    return Claim(
        "If writes go to the least busy die, load balance rates above 10 remain (in more than "
        f"{IN_POINTS:g} % of the cases on every load), and are more frequent on an overwritten "
        "device, on which GC runs (mean of the loads)",
        all(one["least busy die"] > IN_POINTS for one in above.values()) and worn > left,
        f"{left:.1f} and {worn:.1f} %: "
        + ", ".join(
            f"{load} {one['least busy die']:.1f} and "
            f"{one['least busy die, an overwritten device']:.1f}"
            for load, one in above.items()
        ),
        ids=("L-012",),
    )


def _penalty(runs: Mapping[tuple[str, str], Summary]) -> Claim:
    slowest = {
        f"{load}{words}": or_nan(runs[load, what]["latency"]["write"]["max_us"]) / IDLE_WRITE_US
        for load in WRITING
        for what, words in (("1", ""), ("worn", ", worn"))
    }
    return Claim(
        "A miss may cost orders of magnitude more on an overloaded die: on some load, the "
        f"slowest write takes at least {ORDERS:g} times as long as a page write on an idle die",
        max(slowest.values()) >= ORDERS,
        ", ".join(f"{load} {value:.0f}" for load, value in slowest.items()) + " times",
        ids=("L-013", "L-018"),
    )


def _replaced(summary: Summary) -> float:
    buffer = summary["buffer"]
    return 100 * or_nan(buffer["balance_above_10_ratio"] if buffer else None)


def _instants(summary: Summary) -> float:
    load = summary["chip_load"]
    return 100 * or_nan(load["balance_above_10_ratio"] if load else None)
