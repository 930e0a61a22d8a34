"""Figure 8: window of the destaging region."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from wordline._render.charts import lines
from wordline._render.plotly import Figure as Drawn
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.lcr.loads import RECORDED_LOADS, written
from wordline_studies.lcr.policies import LCR
from wordline_studies.lcr.runs import MIB, case, clean_percent, hit_percent, playback, wanted
from wordline_studies.measures import latency_us

LOADS = ("ts_0", "web_0", "wdev_2", "proj_0")
COLOURS: dict[str, str] = dict(
    zip(LOADS, ("#12a07a", "#1f78b4", "#8b929c", "#e0a30a"), strict=True)
)
# Largest number of requests of a load.
REQUESTS = {"ts_0": 260_000, "web_0": 260_000, "wdev_2": 260_000, "proj_0": 50_000}
WINDOWS = tuple(Fraction(1, 2**power) for power in range(6, -1, -1))
SOME = (WINDOWS[0], WINDOWS[3], *WINDOWS[-2:])
HALF = Fraction(1, 2)
CALM = "proj_0, one by one"
# Largest variation of a stable response time. Per cent.
STABLE = 3.0
# Smallest change that counts as evident. Per cent.
EVIDENT = 10.0


def figure(setup: Setup) -> Figure:
    """Returns the figure of LCR with windows from a 64th of the buffer to all of it."""
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
    upto = {load: one[: place + 1] for load, one in means.items()}
    gain = {load: 100 * (1 - one[-1] / one[0]) for load, one in upto.items()}
    spread = {load: 100 * (max(one) / min(one) - 1) for load, one in upto.items()}
    apart = max(max(one) - min(one) for one in hits.values())
    below = max(max(one[: place + 1]) - min(one[: place + 1]) for one in hits.values())
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
            f"LCR with windows of 1/64 to all of a buffer of {MIB} MiB (16 to 1,024 pages), "
            "under the loads of figure 5."
        ),
        rows=[
            *(
                Row(f"{load}, window {tick}", value, "µs")
                for load, one in means.items()
                for tick, value in zip(ticks, one, strict=True)
            ),
            *(
                Row(f"{load}, window {tick}: hit ratio", value, "%")
                for load, one in hits.items()
                for tick, value in zip(ticks, one, strict=True)
            ),
            *(
                Row(f"{load}: reduction by window 1/2 relative to window 1/64", value, "%")
                for load, value in {**{load: gain[load] for load in LOADS}, **other}.items()
            ),
        ],
        plots=[
            Plot("Mean response time", "Response time under LCR.", _lines(means, ticks, "µs")),
            Plot("Hit ratio", "Hit ratio under LCR.", _lines(hits, ticks, "%")),
        ],
        claims=[
            Claim(
                "The hit ratio hardly depends on the window (within two points)",
                apart <= 2,
                f"{apart:.2f} points",
                because=(
                    "with a window of the whole buffer, clean pages leave however recently "
                    "they were read, and half of the reads of web_0 and ts_0 are repeated; up "
                    f"to a window of a half, the hit ratio is within {below:.1f} points"
                ),
            ),
            Claim(
                f"wdev_2: the response time does not depend on the window (within {STABLE:g} %)",
                spread["wdev_2"] <= STABLE,
                f"{spread['wdev_2']:.1f} %",
            ),
            Claim(
                f"proj_0: the response time does not depend on the window (within {STABLE:g} %)",
                spread["proj_0"] <= STABLE,
                f"{spread['proj_0']:.1f} %",
                because=(
                    "the cause is bursts: several large writes at once evict many pages "
                    "together, and a larger window spreads them over more dies; the same "
                    f"requests one at a time gain {other[CALM]:.1f} %"
                ),
            ),
            *(
                Claim(
                    f"{load}: up to a half, a larger window shortens the response time by more "
                    f"than {EVIDENT:g} %",
                    gain[load] > EVIDENT,
                    f"{gain[load]:.1f} %",
                    because=""
                    if load == "web_0"
                    else "the number of additional clean pages in a larger window depends on "
                    f"the distance of repeated writes: {clean[load][0]:.1f} % of the "
                    f"replacements are clean with 1/64, {clean[load][place]:.1f} % with a "
                    "half; with the reuse of hplajw, the gain is "
                    f"{other[f'{load}, recorded reuse']:.1f} %",
                )
                for load in ("ts_0", "web_0")
            ),
        ],
        data={
            "mean_us": {load: dict(zip(ticks, one, strict=True)) for load, one in means.items()},
            "hit_percent": {load: dict(zip(ticks, one, strict=True)) for load, one in hits.items()},
            "clean_percent": {
                load: dict(zip(ticks, one, strict=True)) for load, one in clean.items()
            },
        },
    )


def _lines(values: Mapping[str, Sequence[float]], ticks: Sequence[str], unit: str) -> Drawn:
    by_tick = {load: dict(zip(ticks, one, strict=True)) for load, one in values.items()}
    x_title = "window, share of the buffer"
    return lines(by_tick, COLOURS, x_title, unit, category=True, height=340)
