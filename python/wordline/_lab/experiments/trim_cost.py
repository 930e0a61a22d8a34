"""Response time of TRIM by size."""

from collections.abc import Iterable, Mapping
from math import log
from random import Random
from typing import Any

from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import FILLED, Phase, Trial, line
from wordline._render import units
from wordline._render.charts import Plot
from wordline._render.plotly import at_values, figure
from wordline._render.plotly import line as drawn

LONGEST = 64 * 65_535 * 512
"""Bytes covered by one block of an ATA DATA SET MANAGEMENT command: 64 ranges of 65,535 sectors."""
WRITES = 200


def sizes(bench: TestDevice) -> list[int]:
    """Returns sizes from one sector in powers of four, and the largest size. Together they leave
    the last quarter of the device to the writes."""
    most = min(LONGEST, bench.user_bytes // 4 // 512 * 512)
    found = [512 * 4**place for place in range(12) if 512 * 4**place < most]
    return [*found, most]


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: TRIMs of ascending size, one at a time, each of its own range; then
    writes of 4 KiB."""
    many = len(sizes(bench))
    return {
        "trims": Trial(
            FILLED,
            depth=1,
            trace=lambda: _requests(bench),
            phases=(Phase("trims", 0, many), Phase("writes", many, many + WRITES)),
        )
    }


def _requests(bench: TestDevice) -> Iterable[str]:
    at = 0
    for size in sizes(bench):
        yield line("trim", at, size)
        at += size
    draw = Random(bench.seed)  # noqa: S311 - a load
    pages = bench.user_bytes // 4096
    for _ in range(WRITES):
        yield line("write", (pages - 1 - draw.randrange(pages // 4)) * 4096, 4096)


def slope(of: list[int], took_us: list[float]) -> float:
    """Returns the growth exponent of the time between the two largest sizes: 1 if time is
    proportional to size, 0 if it is constant. Times must be positive."""
    return log(took_us[-1] / took_us[-2]) / log(of[-1] / of[-2])


def finding(bench: TestDevice, found: Found) -> Finding:
    """Compares the response times by size."""
    phases = found["trims"].phases
    took, of, write = phases["trims"]["each_us"], sizes(bench), phases["writes"]["mean_us"]
    longest, largest = max(took), units.size(of[-1])
    figures: dict[str, Any] = {
        "us": dict(zip(map(str, of), took, strict=True)),
        "write_us": write,
        "longest_writes": longest / write,
        "growth": slope(of, took) if min(took[-2:]) > 0 else 0.0,
    }
    if longest <= 0:
        verdict = "A TRIM costs no time: it completes at once at every size."
    else:
        how = "grows with the size" if figures["growth"] > 0.5 else "hardly grows with the size"
        verdict = (
            f"A TRIM takes {units.duration(took[0])} for a sector and {units.duration(took[-1])} "
            f"for {largest}, as long as {figures['longest_writes']:.3g} writes of 4 KiB. The time "
            f"{how}."
        )
    plots = (
        [
            Plot(
                "Response time",
                "One TRIM, by size.",
                figure(
                    [drawn("TRIM", "#7a5ec2", [float(one) for one in of], took)],
                    height=320,
                    xaxis=at_values("size of the TRIM", of, units.size),
                    yaxis={"title": {"text": "µs"}, "rangemode": "tozero"},
                ),
            )
        ]
        if longest > 0
        else []
    )
    answer = bench.policy("ftl", "trim", "answer")
    notes = (
        [] if answer else ["This version of Wordline models only ideal TRIMs (it has no ftl.trim)."]
    )
    return Finding(
        verdict,
        figures,
        Table(
            ("TRIM of", "response time"),
            [(units.size(size), units.duration(us)) for size, us in zip(of, took, strict=True)],
        ),
        plots,
        notes,
    )


EXPERIMENT = Experiment(
    "trim-cost",
    "Cost of TRIM",
    "TRIMs on a filled device, one at a time, each of a different range; timed from submission to "
    "completion. Sizes are from one sector to the limit of an ATA command (64 ranges of 65,535 "
    "sectors, 2 GiB less 32 KiB) or a quarter of the device.",
    "No counterpart in PTS.",
    trials,
    finding,
)
