"""Figure 6.13: latencies one by one."""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import wordline
from wordline.config import Value
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.measures import gain
from wordline.study.paq.charts import dots
from wordline.study.paq.loads import written
from wordline.study.paq.runs import DEVICE, QUEUE, closed
from wordline.study.paq.schedulers import BOTH, VAQ

LOAD = "sql3"
REQUESTS = 5000
# Fixed before the first run: a small subset is less than this share. Per cent.
FEW = 10
BOUND = "with an age bound"


def figure(setup: Setup) -> Figure:
    """Requests of sql3 in order, without and with a bound on their age."""
    with written([LOAD], REQUESTS) as paths:
        path = paths[LOAD]
        virtual = _latencies(setup, path, VAQ)
        physical = _latencies(setup, path, BOTH)
        bound_us = round(fmean(virtual))
        bounded = _latencies(setup, path, BOTH, {"ssd.scheduler.paq2.age_bound_us": bound_us})
    series = {"VAQ": virtual, "PAQ2": physical, f"PAQ2 {BOUND}": bounded}
    shown = {"VAQ": VAQ, "PAQ2": BOTH, f"PAQ2 {BOUND}": "paq1"}
    above = {name: _above(values, virtual) for name, values in series.items()}
    far = {name: _far(values, virtual) for name, values in series.items()}
    faster = 100 * fmean(late < early for late, early in zip(physical, virtual, strict=True))
    cost = gain(fmean(physical), fmean(bounded))
    top = 1.05 * max(map(max, series.values()))
    return Figure(
        id="6.13",
        title="Figure 6.13: latencies of sql3",
        section="6.6.4",
        measured=f"Time from admission to completion of the first {REQUESTS:,} requests of sql3, "
        f"in order, {QUEUE} at a time. Once more under PAQ2 with `age_bound_us` at VAQ's mean: a "
        "request that has waited for so long goes first.",
        rows=[
            *(Row(f"{name}: mean", fmean(values), "µs") for name, values in series.items()),
            *(Row(f"{name}: longest", max(values), "µs") for name, values in series.items()),
            Row("PAQ2: requests answered sooner than under VAQ", faster, "%"),
            *(
                Row(f"{name}: requests that took more than twice their time under VAQ", value, "%")
                for name, value in above.items() if name != "VAQ"
            ),
            *(
                Row(f"{name}: requests that took more than twice VAQ's mean", value, "%")
                for name, value in far.items()
            ),
        ],
        plots=[
            Plot(name, "A dot for each request.",
                 dots(name, shown[name], [value / 1000 for value in values], "ms", top / 1000))
            for name, values in series.items()
        ],
        claims=[
            Claim("Most requests are answered sooner under PAQ2", faster > 50, f"{faster:.1f} %"),
            Claim(f"A small subset (below {FEW} %) takes more than twice its time under VAQ",
                  0 < above["PAQ2"] < FEW, f"{above['PAQ2']:.2f} %"),
            Claim("VAQ's latencies scatter less than PAQ2's, by their standard deviation over mean",
                  _scatter(virtual) < _scatter(physical),
                  f"{_scatter(virtual):.2f} and {_scatter(physical):.2f}"),
            Claim("With the bound fewer exceed twice VAQ's mean, or as few",
                  far[f"PAQ2 {BOUND}"] <= far["PAQ2"],
                  f"{far[f'PAQ2 {BOUND}']:.2f} and {far['PAQ2']:.2f} %"),
        ],
        explanation=[
            "The document calls 5,000 requests about the first tenth of the trace; by table 6.1 "
            "it has five million.",
            f"The bound costs {cost:+.1f} % of PAQ2's mean latency.",
        ],
        data={"latency_us": series},
    )  # fmt: skip


def _latencies(
    setup: Setup, path: Path, scheduler: str, more: dict[str, Value] | None = None
) -> list[float]:
    """Of the requests in order. Microseconds."""
    case = closed(LOAD, path, scheduler, more=more)
    result = wordline.run(DEVICE, case.trace, overrides=case.overrides)
    setup.note(f"{case.label}, {REQUESTS} requests", result.config)
    table = result.requests.polars().sort("index")
    return [ps / 1e6 for ps in table["latency_ps"].to_list()]


def _above(values: Sequence[float], others: Sequence[float]) -> float:
    """Requests that took more than twice their time among the others. Per cent."""
    return 100 * fmean(one > 2 * other for one, other in zip(values, others, strict=True))


def _far(values: Sequence[float], others: Sequence[float]) -> float:
    """Requests that took more than twice the mean of the others. Per cent."""
    mean = fmean(others)
    return 100 * fmean(one > 2 * mean for one in values)


def _scatter(values: Sequence[float]) -> float:
    """Standard deviation over mean."""
    mean = fmean(values)
    return fmean((value - mean) ** 2 for value in values) ** 0.5 / mean
