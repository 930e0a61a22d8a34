"""Costs of isolated reads and writes."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from wordline.config import Value
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Published, Row, Setup, largest_difference
from wordline_studies.measures import or_nan
from wordline_studies.regulation.runs import REGULATION, Device, Op

Cost: TypeAlias = tuple[str, Op]
"""Program mode, and `read` or `write`."""


def one_at_a_time(device: Device) -> dict[str, Value]:
    """Returns the settings of single-page requests, one at a time."""
    return {
        "workload.requests": 200,
        "workload.request_bytes": device.page,
        "workload.align_bytes": device.page,
        "workload.working_set_ratio": 0.01,
        "workload.arrival.closed-loop.queue_depth": 1,
        "precondition.fill_ratio": 0.02,
    }


def costs(
    setup: Setup,
    device: Device,
    wanted: Mapping[str, tuple[Cost, Mapping[str, Value], Published]],
    *,
    id: str,
    title: str,
    section: str,
    explanation: Sequence[str],
) -> Figure:
    """Returns a table of simulated and published costs. `wanted` has the program mode, the
    operation, further settings and the published cost of each row. Pages are read or written one at
    a time."""
    found = required(
        setup,
        {
            what: Case(
                device.name,
                f"{what}, one at a time",
                one_at_a_time(device)
                | {f"{REGULATION}.fixed.mode": mode, "workload.read_ratio": float(op == "read")}
                | dict(more),
            )
            for what, ((mode, op), more, _) in wanted.items()
        },
    )
    us: dict[str, float] = {
        what: or_nan(found[what]["latency"][op]["mean_us"])
        for what, ((_, op), _, _) in wanted.items()
    }
    rows = [
        Row(f"response time, {what}", us[what], "µs", published)
        for what, (_, _, published) in wanted.items()
    ]
    return Figure(
        id=id,
        title=title,
        section=section,
        measured=(
            "Response times of pages that are read or written one at a time on the preset "
            f"`{device.name}`, programmed in each mode."
        ),
        rows=rows,
        claims=[
            Claim(
                "Reads and writes take the published times",
                largest_difference(rows) < 0.01,
                f"at most {largest_difference(rows):.2g} % apart",
            ),
        ],
        explanation=explanation,
        data=us,
    )
