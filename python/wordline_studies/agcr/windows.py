"""Figures 19 to 22: the window, and fewer channels."""

from collections.abc import Mapping
from math import nan
from statistics import fmean

from wordline._render.charts import bars
from wordline.config import Value
from wordline_studies.agcr.runs import DEVICE, RWL, SCHEMES, TRADITIONAL
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.regulation.recordings import (
    Recording,
    folder,
    measured,
    recordings,
    too_few,
)
from wordline_studies.regulation.runs import (
    REGULATION,
    Key,
    Told,
    mean_change,
    passes,
    reading,
    writing,
)

WINDOWS = (1, 2, 3)
FEWER: dict[str, Value] = {"ssd.channels": 4}
COLOURS = dict(
    zip((f"window {one}" for one in WINDOWS), ("#8b929c", "#7cc0ea", "#1f78b4"), strict=True)
)


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures of R+W+L with several windows and with fewer channels."""
    found = recordings(setup, DEVICE.page)
    told = too_few(setup, found)
    windows: dict[str, Mapping[str, Value]] = {TRADITIONAL: SCHEMES[TRADITIONAL]}
    windows |= {f"window {one}": {f"{REGULATION}.r-w-l.window": one} for one in WINDOWS}
    with folder() as traces:
        by_window = passes(setup, DEVICE, traces, found, windows)
        both = {one: SCHEMES[one] for one in (TRADITIONAL, RWL)}
        wide = passes(setup, DEVICE, traces, found, both)
        narrow = passes(
            setup, DEVICE, traces, found, {name: {**own, **FEWER} for name, own in both.items()}
        )
    made = [_windows(found, by_window, told), _channels(found, wide, narrow, told)]
    return measured(found, made)


def _windows(found: Mapping[str, Recording], runs: Mapping[Key, list[Told]], told: str) -> Figure:
    names = list(COLOURS)
    of = {"read_us": reading(found), "write_us": writing(found), "wear": writing(found)}
    mean = {
        (what, name): mean_change(runs, those, name, TRADITIONAL, 1, what)
        for what, those in of.items()
        for name in names
    }
    rewrites = {
        name: fmean(runs[load, name][1].rewrites for load in found) if found else nan
        for name in names
    }
    reads = [mean["read_us", name] for name in names]
    moved = {
        what: [abs(mean[what, name] - mean[what, "window 2"]) for name in ("window 1", "window 3")]
        for what in ("write_us", "wear")
    }
    return Figure(
        id="19",
        title="Figures 19 and 20: the window",
        section="5.3.1",
        measured="R+W+L with windows of 1 to 3 accesses, second pass, relative to Traditional.",
        rows=[
            *(
                Row(f"{what.split('_')[0]}, {name}", value, "%")
                for (what, name), value in mean.items()
            ),
            *(Row(f"re-writes, {name}", value, "%") for name, value in rewrites.items()),
        ],
        plots=[
            Plot(
                "Reads",
                "Relative to Traditional.",
                bars(
                    {
                        load: {
                            name: mean_change(runs, [load], name, TRADITIONAL, 1, "read_us")
                            for name in names
                        }
                        for load in of["read_us"]
                    },
                    COLOURS,
                    "%",
                ),
            ),
        ]
        if found
        else [],
        claims=[
            Claim(
                "A14: reads are faster with a wider window",
                reads[0] > reads[1] > reads[2],
                ", ".join(f"{one:+.1f} %" for one in reads),
                report_only=told,
            ),
            Claim(
                "A14: a window of 1 has the most re-writes",
                rewrites["window 1"] == max(rewrites.values()),
                ", ".join(f"{one:.2f} %" for one in rewrites.values()),
                report_only=told,
            ),
            Claim(
                "A15: writes and wear hardly change from window 2 to 3 (at most 3.5 points)",
                max(moved["write_us"][1], moved["wear"][1]) <= 3.5,
                f"{moved['write_us'][1]:.1f} and {moved['wear'][1]:.1f} points",
                report_only=told,
            ),
        ],
        explanation=[
            f"From window 1 to 2, writes change by {moved['write_us'][0]:.1f} and wear by "
            f"{moved['wear'][0]:.1f} points: with a window of 1, every written page counts as "
            "write-only.",
        ]
        if found
        else [],
        data={"change_percent": {f"{what}, {name}": value for (what, name), value in mean.items()}},
    )


def _channels(
    found: Mapping[str, Recording],
    wide: Mapping[Key, list[Told]],
    narrow: Mapping[Key, list[Told]],
    told: str,
) -> Figure:
    def gains(runs: Mapping[Key, list[Told]], what: str, names: list[str]) -> dict[str, float]:
        return {name: mean_change(runs, [name], RWL, TRADITIONAL, 1, what) for name in names}

    writes = writing(found)
    slower = [
        name
        for name in found
        if narrow[name, TRADITIONAL][1].all_us > wide[name, TRADITIONAL][1].all_us
    ]
    latency = {key: gains(runs, "write_us", writes) for key, runs in (("8", wide), ("4", narrow))}
    wear = {key: gains(runs, "wear", writes) for key, runs in (("8", wide), ("4", narrow))}
    better = [name for name in writes if latency["4"][name] <= latency["8"][name]]
    less = [name for name in writes if wear["4"][name] >= wear["8"][name]]
    half = len(writes) / 2
    return Figure(
        id="21",
        title="Figures 21 and 22: four channels",
        section="5.3.2",
        measured="R+W+L relative to Traditional, with 8 and 4 channels of 4 dies, second pass.",
        rows=[
            *(
                Row(f"{name}, writes, {key} channels", one[name], "%")
                for key, one in latency.items()
                for name in writes
            ),
            *(
                Row(f"{name}, wear, {key} channels", one[name], "%")
                for key, one in wear.items()
                for name in writes
            ),
        ],
        claims=[
            Claim(
                "A16: requests take longer with four channels (on most recordings)",
                len(slower) > len(found) / 2,
                f"{len(slower)} of {len(found)} recordings",
                report_only=told,
            ),
            Claim(
                "A16: writes gain more with four channels (on most recordings)",
                len(better) > half,
                f"{len(better)} of {len(writes)} recordings",
                report_only=told,
            ),
            Claim(
                "A16: wear is reduced less with four channels (on most recordings)",
                len(less) > half,
                f"{len(less)} of {len(writes)} recordings",
                report_only=told,
            ),
        ],
        data={"writes_percent": latency, "wear_percent": wear},
    )
