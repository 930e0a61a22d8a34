"""Figure 8: window of the destaging region."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

from wordline._render.charts import lines
from wordline._render.plotly import Figure as Drawn
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.loads import RECORDED_LOADS, written
from wordline_studies.lcr.policies import LCR
from wordline_studies.lcr.runs import MIB, case, clean_percent, hit_percent, playback, wanted
from wordline_studies.measures import latency_us
from wordline_studies.outcome import IN_POINTS

LOADS = ("ts_0", "web_0", "wdev_2", "proj_0")
COLOURS: dict[str, str] = dict(
    zip(LOADS, ("#12a07a", "#1f78b4", "#8b929c", "#e0a30a"), strict=True)
)
# Largest number of requests of a load.
REQUESTS = {"ts_0": 260_000, "web_0": 260_000, "wdev_2": 260_000, "proj_0": 50_000}
WINDOWS = tuple(Fraction(1, 2**power) for power in range(6, -1, -1))
SOME = (WINDOWS[0], WINDOWS[3], *WINDOWS[-2:])
HALF = Fraction(1, 2)
# Differences up to which two windows are equally good: of response times, in per cent, and of hit
# ratios, in percentage points.
EQUAL_PERCENT, EQUAL_POINTS = 1.0, 1.0
CALM = "proj_0, single requests"
# Published statements by load: those by which the response time is stable over the windows, and
# those by which it falls.
STABLE = {"wdev_2": "L-081", "proj_0": "L-082"}
SHORTER = {"ts_0": "L-077", "web_0": "L-078"}


def figure(setup: Setup) -> Figure:
    """Returns the figure for LCR with windows from a 64th of the buffer to all of it."""
    windows = SOME if setup.quick else WINDOWS
    played = {load: (load, playback(setup, wanted(setup, load, REQUESTS[load]))) for load in LOADS}
    played |= {
        load: (load, playback(setup, wanted(setup, load, REQUESTS[load.split(",")[0]])))
        for load in RECORDED_LOADS
    }
    played[CALM] = (
        "proj_0",
        playback(setup, wanted(setup, "proj_0", REQUESTS["proj_0"]), bursts=False),
    )
    beside = (*RECORDED_LOADS, CALM)
    paths = written(setup, played)
    cases = {
        (load, window): case(setup, load, paths[load], LCR, window=float(window))
        for load in (*LOADS, *beside)
        for window in (windows if load in LOADS else (windows[0], HALF))
    }
    found = required(setup, cases)
    means = {load: [latency_us(found[load, one]) for one in windows] for load in LOADS}
    hits = {load: [hit_percent(found[load, one]) for one in windows] for load in LOADS}
    clean = {load: [clean_percent(found[load, one]) for one in windows] for load in LOADS}
    place = windows.index(HALF)
    gain = {load: 100 * (1 - one[place] / one[0]) for load, one in means.items()}
    other = {
        load: 100 * (1 - latency_us(found[load, HALF]) / latency_us(found[load, windows[0]]))
        for load in beside
    }
    ticks = [str(window) for window in windows]
    return Figure(
        id="8",
        title="Figure 8: window size",
        section="IV-D",
        measured=(
            f"LCR with windows from 1/64 of a buffer of {MIB} MiB to all of it (16 to 1,024 "
            "pages), under the loads of figure 5."
        ),
        rows=[
            *(
                Row(f"{load}, window {tick}: mean response time", value, "µs")
                for load, one in means.items()
                for tick, value in zip(ticks, one, strict=True)
            ),
            *(
                Row(f"{load}, window {tick}: hit ratio", value, "%")
                for load, one in hits.items()
                for tick, value in zip(ticks, one, strict=True)
            ),
            *(
                Row(
                    f"{load}: reduction of the response time by a window of 1/2 relative to one "
                    "of 1/64",
                    value,
                    "%",
                )
                for load, value in {**{load: gain[load] for load in LOADS}, **other}.items()
            ),
        ],
        plots=[
            Plot(
                "Mean response time",
                "Mean response time under LCR by window.",
                _lines(means, ticks, "µs"),
            ),
            Plot("Hit ratio", "Hit ratio under LCR by window.", _lines(hits, ticks, "%")),
        ],
        claims=[
            *_insensitive(hits, place),
            *(
                _stable(load, means[load], because)
                for load, because in (
                    ("wdev_2", ""),
                    (
                        "proj_0",
                        "the cause is bursts: several large writes at once evict many pages "
                        "together, and a larger window spreads them over more dies; with the same "
                        f"requests one at a time, a window of a half takes {other[CALM]:.1f} % "
                        "less time than one of 1/64",
                    ),
                )
            ),
            *(_shorter(load, means[load][: place + 1], known) for load, known in SHORTER.items()),
            *_candidates(means, clean),
            *_best(means, hits, ticks, place),
        ],
        data={
            "mean_us": {load: dict(zip(ticks, one, strict=True)) for load, one in means.items()},
            "hit_percent": {load: dict(zip(ticks, one, strict=True)) for load, one in hits.items()},
            "clean_percent": {
                load: dict(zip(ticks, one, strict=True)) for load, one in clean.items()
            },
        },
    )


def _insensitive(hits: Mapping[str, Sequence[float]], place: int) -> list[Claim]:
    """Returns the claim on the hit ratio. `place` is the index of a window of a half."""
    apart = {load: max(one) - min(one) for load, one in hits.items()}
    below = max(max(one[: place + 1]) - min(one[: place + 1]) for one in hits.values())
    return [
        Claim(
            f"The hit ratio does not depend on the window (within {IN_POINTS:g} percentage points)",
            max(apart.values()) <= IN_POINTS,
            ", ".join(f"{load} {value:.1f}" for load, value in apart.items())
            + (" percentage points"),
            because=(
                "with a window of the whole buffer, clean pages are evicted however recently they "
                "were read, and half of the reads of web_0 and ts_0 are repeated; up to a window "
                f"of a half, the hit ratio changes by at most {below:.1f} percentage points"
            ),
            ids=("L-084",),
        )
    ]


def _stable(load: str, values: Sequence[float], because: str) -> Claim:
    spread = 100 * (max(values) / min(values) - 1)
    return Claim(
        f"{load}: the response time does not depend on the window (within {IN_POINTS:g} %)",
        spread <= IN_POINTS,
        f"{spread:.1f} %",
        because=because,
        ids=(STABLE[load],),
    )


def _shorter(load: str, values: Sequence[float], known: str) -> Claim:
    gain = 100 * (1 - values[-1] / values[0])
    return Claim(
        f"{load}: up to a half, each larger window shortens the response time, in total "
        f"noticeably (by more than {IN_POINTS:g} %)",
        all(later < earlier for earlier, later in pairwise(values)) and gain > IN_POINTS,
        f"{gain:.1f} %: " + ", ".join(f"{one:.1f}" for one in values) + " µs",
        ids=(known,),
    )


def _candidates(
    means: Mapping[str, Sequence[float]], clean: Mapping[str, Sequence[float]]
) -> list[Claim]:
    found = {load: clean[load] for load in SHORTER}
    return [
        Claim(
            "web_0 and ts_0: the larger the window, the more clean pages are found (share of the "
            "replacements)",
            all(low < high for one in found.values() for low, high in pairwise(one)),
            "; ".join(
                f"{load} " + ", ".join(f"{value:.1f}" for value in one) + " %"
                for load, one in found.items()
            ),
            ids=("L-079",),
        ),
        Claim(
            f"proj_0: with hardly any clean pages (at most {IN_POINTS:g} % of the replacements), "
            "LCR responds faster with a window of the whole buffer than with one of 1/64, because "
            "victims are on less loaded dies",
            max(clean["proj_0"]) <= IN_POINTS and means["proj_0"][-1] < means["proj_0"][0],
            f"{means['proj_0'][0]:.0f} and {means['proj_0'][-1]:.0f} µs",
            ids=("L-079",),
        ),
    ]


def _best(
    means: Mapping[str, Sequence[float]],
    hits: Mapping[str, Sequence[float]],
    ticks: Sequence[str],
    place: int,
) -> list[Claim]:
    """Returns the claim on the best window, with its reason. `place` is the index of a window of a
    half."""
    best = {
        load: [
            tick
            for tick, value in zip(ticks, one, strict=True)
            if value <= min(one) * (1 + EQUAL_PERCENT / 100)
        ]
        for load, one in means.items()
    }
    lost = {load: (one[0] - one[place], one[place] - one[-1]) for load, one in hits.items()}
    repeats = set(SHORTER)
    return [
        Claim(
            "The window with the shortest response time is not the same on all loads (response "
            f"times within {EQUAL_PERCENT:g} % of the shortest count as equal)",
            not set(ticks).intersection(*best.values()),
            "; ".join(f"{load} " + ", ".join(equal) for load, equal in best.items()),
            because=(
                "up to a half, a larger window costs no hits; with the whole buffer as window, "
                "recently read clean pages are evicted, which costs hits on the loads that repeat "
                "reads. A half is therefore best on ts_0 and web_0, and on wdev_2 and proj_0, a "
                "half and the whole are equal"
            ),
            ids=("L-083",),
        ),
        Claim(
            "Reason: a window of a half has the hit ratio of one of 1/64 or a higher one (within "
            f"{EQUAL_POINTS:g} percentage point); a window of the whole buffer costs more than "
            f"{IN_POINTS:g} percentage points on ts_0 and web_0, and at most {EQUAL_POINTS:g} on "
            "wdev_2 and proj_0",
            all(
                half <= EQUAL_POINTS
                and (whole > IN_POINTS if load in repeats else whole <= EQUAL_POINTS)
                for load, (half, whole) in lost.items()
            ),
            ", ".join(f"{load} {half:.1f} and {whole:.1f}" for load, (half, whole) in lost.items())
            + " percentage points lost",
        ),
    ]


def _lines(values: Mapping[str, Sequence[float]], ticks: Sequence[str], unit: str) -> Drawn:
    by_tick = {load: dict(zip(ticks, one, strict=True)) for load, one in values.items()}
    x_title = "window, share of the buffer"
    return lines(by_tick, COLOURS, x_title, unit, category=True, height=340)
