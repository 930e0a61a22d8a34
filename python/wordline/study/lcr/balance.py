"""Figure 2: how unequally the chips are loaded."""

from wordline.study.cases import required
from wordline.study.charts import bars
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.lcr.loads import TABLE, written
from wordline.study.lcr.policies import LRU
from wordline.study.lcr.runs import PUBLISHED, case, playback
from wordline.summary import Summary

REQUESTS = 40_000
FASTER = (1, 10, 100, 1000)
COLOURS: dict[str, str] = dict(
    zip(
        (f"{times:,} x" for times in FASTER),
        ("#1f78b4", "#7cc0ea", "#e0a30a", "#c2457f"),
        strict=True,
    )
)
STILL = "1 x, no collections"
COLOURS[STILL] = "#8b929c"
INTERVAL_MS = 0.5
# Cases with a rate above 10 are two of five: within so many points.
NEAR = 10.0


def figure(setup: Setup) -> Figure:
    """All loads at their rate and faster, under LRU."""
    keys = [(load, times) for load in TABLE for times in FASTER]
    played = {
        f"{load}, {times}": (load, playback(setup, setup.requests(REQUESTS), faster=times))
        for load, times in keys
    }
    with written(played) as paths:
        runs = required(
            setup,
            {
                (load, times): case(
                    setup, f"{load}, {times} times as fast", paths[f"{load}, {times}"], LRU,
                    more={"observe.chip_load_interval_ms": INTERVAL_MS},
                )
                for load, times in keys
            } | {
                (load, 0): case(
                    setup, load, paths[f"{load}, 1"], LRU,
                    more={"observe.chip_load_interval_ms": INTERVAL_MS,
                          "precondition.overwrite_ratio": 0.0},
                )
                for load in TABLE
            },
        )  # fmt: skip
    above = {
        load: {f"{times:,} x": _above(runs[load, times]) for times in FASTER} for load in TABLE
    }
    first, last = (f"{times:,} x" for times in (FASTER[0], FASTER[-1]))
    own = {load: one[first] for load, one in above.items()}
    idle = {load: _above(runs[load, 0]) for load in TABLE}
    return Figure(
        id="2",
        title="Figure 2: load balance rates",
        section="II-A",
        measured="The load of the most loaded chip against the mean of the chips, looked at every "
        f"{INTERVAL_MS:g} ms (less often in long runs), of the instants at which any has something "
        "to do. LRU with the buffer of figure 5; the loads at their rates, and with bursts that "
        "come 10, 100 and 1,000 times as often; and a disk that does not collect.",
        rows=[
            *(Row(f"{load}: rates above 10", value, "%", PUBLISHED("2", "above 10"))
              for load, value in own.items()),
            *(Row(f"{load}, no collections: rates above 10", value, "%")
              for load, value in idle.items()),
            *(Row(f"{load}, {times:,} times as often: rates above 10", above[load][f"{times:,} x"],
                  "%") for load in TABLE for times in FASTER[1:]),
            *(Row(f"{load}, {times:,} times as often: median rate" if times > 1
                  else f"{load}: median rate",
                  _median(runs[load, times]), "") for load in TABLE for times in FASTER),
        ],
        plots=[
            Plot("Rates above 10", "Share of the instants at which a chip has something to do.",
                 bars({load: one | {STILL: idle[load]} for load, one in above.items()}, COLOURS,
                      "%"))
        ],
        claims=[
            Claim("In two of five cases at least, the most loaded chip has more than ten times the "
                  "mean load", min(own.values()) >= 40,
                  ", ".join(f"{load} {value:.0f} %" for load, value in own.items())),
            Claim(f"in two of five and no more (within {NEAR:g} points)",
                  all(abs(value - 40) <= NEAR for value in own.values()),
                  ", ".join(f"{load} {value:.0f} %" for load, value in own.items()),
                  because="the rate of 64 chips is above 10 whenever fewer than seven have "
                  "something to do, and most instants see one chip that collects, long after a "
                  f"burst. On a disk that does not collect {idle['proj_0']:.0f} % are above 10 "
                  f"under proj_0 ({idle['web_0']:.0f} % under web_0), on one that does "
                  f"{above['proj_0'][last]:.0f} % with bursts {FASTER[-1]:,} times as often"),
            Claim("the more there is to do, the better it is balanced: proj_0",
                  above["proj_0"][last] < above["proj_0"][first],
                  f"{above['proj_0'][first]:.0f} % and {above['proj_0'][last]:.0f} %"),
        ],
        explanation=[
            "How often the document looked, at which rates, and whether instants without any load "
            "count is not stated."
        ],
        data={"above_10_percent": above, "no_collections_percent": idle},
    )  # fmt: skip


def _above(summary: Summary) -> float:
    load = summary["chip_load"]
    return 100 * ((load and load["balance_above_10_ratio"]) or 0.0)


def _median(summary: Summary) -> float | None:
    load = summary["chip_load"]
    return load and load["balance_p50"]
