"""Sequential reads before and after the device was overwritten at random."""

from collections.abc import Mapping

from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import AGED, FILLED, Phase, Trial
from wordline._render import units
from wordline._render.charts import Plot
from wordline._render.plotly import decades, figure, line
from wordline.config import Value

SIZES, QUICK_SIZES = (512, 1024, 2048, 4096, 8192), (4096,)
STATES = {"pristine": FILLED, "aged": AGED}
COLOURS = {"pristine": "#12a07b", "aged": "#d8731c"}
TOLD = 4096


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: one pass over the device, or over the part of it that the number of
    requests covers."""
    return reads_of(bench, STATES)


def reads_of(bench: TestDevice, states: Mapping[str, Mapping[str, Value]]) -> dict[str, Trial]:
    """Returns trials of sequential reads of each size in each state."""
    requests = bench.count(20_000, 5_000)
    return {
        f"{name} {size}": Trial(
            state,
            {
                "requests": requests,
                "read_ratio": 1.0,
                "request_bytes": size,
                "align_bytes": size,
                "pattern": "sequential",
            },
            phases=(Phase("reads", 0, requests),),
        )
        for name, state in states.items()
        for size in (QUICK_SIZES if bench.quick else SIZES)
    }


def finding(bench: TestDevice, found: Found) -> Finding:
    """Compares the mean response times, and the distributions at 4 KiB."""
    sizes = QUICK_SIZES if bench.quick else SIZES
    means = {
        name: {size: found[f"{name} {size}"].phases["reads"]["mean_us"] for size in sizes}
        for name in STATES
    }
    ratio = {size: means["aged"][size] / means["pristine"][size] for size in sizes}
    before, after = means["pristine"][TOLD], means["aged"][TOLD]
    change = (
        "take no longer" if 0.95 < ratio[TOLD] <= 1.05 else f"take {ratio[TOLD]:.2f} times as long"
    )
    verdict = (
        f"Sequential reads of 4 KiB {change} once the device has been overwritten at random: "
        f"{units.duration(before)} before, {units.duration(after)} after, on average."
    )
    shown = {name: found[f"{name} {TOLD}"].phases["reads"]["percentiles_us"] for name in STATES}
    return Finding(
        verdict,
        {"mean_us": means, "ratio": ratio},
        Table(
            ("size", "pristine", "aged", "ratio"),
            [
                (
                    units.size(size),
                    units.duration(means["pristine"][size]),
                    units.duration(means["aged"][size]),
                    f"{ratio[size]:.2f}",
                )
                for size in sizes
            ],
        ),
        [
            Plot(
                "Distribution at 4 KiB",
                "Share of reads completed within the response time.",
                _distribution(shown),
            )
        ],
    )


def _distribution(shown: Mapping[str, list[float]]) -> dict[str, object]:
    every = [us for one in shown.values() for us in one]
    return figure(
        [
            line(name, COLOURS[name], one, [float(at) for at in range(101)])
            | {"mode": "lines", "hovertemplate": "%{y} % within %{x:.4~g} µs"}
            for name, one in shown.items()
        ],
        height=320,
        hovermode="closest",
        xaxis=decades("response time", every),
        yaxis={"title": {"text": "% of reads"}, "range": [0, 101]},
    )


EXPERIMENT = Experiment(
    "aged",
    "Pristine and aged",
    "Sequential reads of 1 to 16 sectors from a device that was filled sequentially, and from one "
    "that was then overwritten at random with three times its number of pages. All but 5 % of its "
    "pages have then moved (e to the power of -3).",
    "No counterpart in PTS.",
    trials,
    finding,
)
