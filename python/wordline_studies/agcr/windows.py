"""Figures 19 to 22: the window, and fewer channels."""

from collections.abc import Mapping
from statistics import fmean

from wordline._render.charts import bars
from wordline.config import Value
from wordline_studies.agcr.extremes import quantity
from wordline_studies.agcr.runs import (
    DEVICE,
    RWL,
    SCHEMES,
    TRADITIONAL,
    Loads,
    Passes,
    mean_share,
    of_loads,
)
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.outcome import IN_POINTS
from wordline_studies.regulation.runs import (
    REGULATION,
    change,
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
OF = {"read_us": "reads", "write_us": "writes", "wear": "wear"}


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for the loads and for the available recorded traces."""
    return of_loads(setup, _figures)


def _figures(setup: Setup, found: Loads) -> list[Figure]:
    windows: dict[str, Mapping[str, Value]] = {TRADITIONAL: SCHEMES[TRADITIONAL]}
    windows |= {f"window {one}": {f"{REGULATION}.r-w-l.window": one} for one in WINDOWS}
    both = {one: SCHEMES[one] for one in (TRADITIONAL, RWL)}
    fewer = {name: {**own, **FEWER} for name, own in both.items()}
    return [
        _windows(found, passes(setup, DEVICE, found, windows)),
        _channels(found, passes(setup, DEVICE, found, both), passes(setup, DEVICE, found, fewer)),
    ]


def _windows(found: Loads, runs: Passes) -> Figure:
    names = list(COLOURS)
    of = {"read_us": reading(found), "write_us": writing(found), "wear": writing(found)}
    mean = {
        (what, name): mean_change(runs, those, name, TRADITIONAL, 1, what)
        for what, those in of.items()
        for name in names
    }
    rewrites = {name: fmean(runs[load, name][1].rewrites for load in found) for name in names}
    return Figure(
        id="19",
        title="Figures 19 and 20: the window",
        section="5.3.1",
        measured="Changes under R+W+L with windows of 1 to 3 accesses against Traditional, second "
        "pass.",
        rows=[
            *(Row(f"{quantity(what)}, {name}", value, "%") for (what, name), value in mean.items()),
            *(
                Row(f"re-written pages per page read or written, {name}", value, "%")
                for name, value in rewrites.items()
            ),
        ],
        plots=[
            Plot(
                "Response time of reads",
                "Change against Traditional.",
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
        ],
        claims=_on_windows(mean, list(rewrites.values())),
        explanation=[
            "With a window of 1, every written page counts as write-only and every read page as "
            "read-only."
        ],
        data={"change_percent": {f"{what}, {name}": value for (what, name), value in mean.items()}},
    )


def _on_windows(mean: Mapping[tuple[str, str], float], rewrites: list[float]) -> list[Claim]:
    by = {what: [mean[what, name] for name in COLOURS] for what in OF}
    reads = by["read_us"]
    spread = {what: max(one) - min(one) for what, one in by.items()}

    def listed(what: str) -> str:
        return ", ".join(f"{one:+.1f} %" for one in by[what])

    return [
        Claim(
            "The wider the window, the faster the reads",
            reads[0] > reads[1] > reads[2],
            listed("read_us"),
            ids=("A-070",),
        ),
        Claim(
            "The smaller the window, the more re-writes",
            rewrites[0] > rewrites[1] > rewrites[2],
            ", ".join(f"{one:.2f} %" for one in rewrites),
            ids=("A-071",),
        ),
        Claim(
            f"The response time of writes hardly depends on the window (within {IN_POINTS:g} "
            "percentage points)",
            spread["write_us"] <= IN_POINTS,
            listed("write_us"),
            ids=("A-072",),
        ),
        Claim(
            f"Wear hardly depends on the window (within {IN_POINTS:g} percentage points)",
            spread["wear"] <= IN_POINTS,
            listed("wear"),
            ids=("A-073",),
        ),
    ]


def _channels(found: Loads, wide: Passes, narrow: Passes) -> Figure:
    of = {"read_us": reading(found), "write_us": writing(found), "wear": writing(found)}
    by = {"8": wide, "4": narrow}
    gains = {
        (key, what): mean_change(runs, names, RWL, TRADITIONAL, 1, what)
        for key, runs in by.items()
        for what, names in of.items()
    }
    slower = {
        (scheme, what): fmean(
            change(getattr(narrow[name, scheme][1], what), getattr(wide[name, scheme][1], what))
            for name in of[what]
        )
        for scheme in (TRADITIONAL, RWL)
        for what in ("read_us", "write_us")
    }
    low = {
        key: mean_share(runs, of["write_us"], RWL, {"host_writes": "low"})
        for key, runs in by.items()
    }
    return Figure(
        id="21",
        title="Figures 21 and 22: four channels",
        section="5.3.2",
        measured=(
            "Changes under R+W+L against Traditional, with 8 and 4 channels of 4 dies, second "
            "pass, mean of the loads."
        ),
        rows=[
            *(
                Row(f"{quantity(what)} against Traditional, {key} channels", value, "%")
                for (key, what), value in gains.items()
            ),
            *(
                Row(f"{quantity(what)} from 8 to 4 channels, {scheme}", value, "%")
                for (scheme, what), value in slower.items()
            ),
            *(
                Row(f"share of low-cost writes, {key} channels", one, "%")
                for key, one in low.items()
            ),
        ],
        claims=_on_channels(gains, slower, low),
        data={
            "change_percent": {f"{OF[what]}, {key}": one for (key, what), one in gains.items()},
            "low_cost_writes_percent": low,
        },
    )


def _on_channels(
    gains: Mapping[tuple[str, str], float],
    slower: Mapping[tuple[str, str], float],
    low: Mapping[str, float],
) -> list[Claim]:
    def listed(what: str) -> str:
        return f"{OF[what]} {gains['8', what]:+.1f} % with 8, {gains['4', what]:+.1f} % with 4"

    return [
        Claim(
            "Reads and writes of both schemes are slower with four channels than with eight",
            min(slower.values()) > 0,
            ", ".join(f"{scheme} {OF[of]} {one:+.1f} %" for (scheme, of), one in slower.items()),
            ids=("A-074",),
        ),
        Claim(
            "Reads and writes gain more from R+W+L with four channels than with eight",
            all(gains["4", of] < gains["8", of] for of in ("read_us", "write_us")),
            f"{listed('read_us')}; {listed('write_us')}",
            ids=("A-075",),
        ),
        Claim(
            "R+W+L reduces wear less with four channels than with eight",
            gains["4", "wear"] > gains["8", "wear"],
            listed("wear"),
            ids=("A-076",),
        ),
        Claim(
            "More writes are low-cost with four channels than with eight, because more requests "
            "wait",
            low["4"] > low["8"],
            f"{low['8']:.1f} % with 8, {low['4']:.1f} % with 4",
            ids=("A-077",),
        ),
    ]
