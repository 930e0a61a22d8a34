"""Section 3.5.5: requests that span all planes, one after another."""

from wordline import WordlineError
from wordline.config import Value
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.palloc.charts import spread
from wordline.study.palloc.loads import PAGE
from wordline.study.palloc.orders import ORDERS, gain, normalised
from wordline.study.palloc.runs import DEPTH, Case, by_order, iops, over

REQUESTS = 2000
# A page for each of 8 channels x 8 ways x 2 dies x 2 planes.
BYTES = 256 * PAGE
# What cannot be seen in a chart.
NONE = 5


def figure(setup: Setup) -> Figure:
    """Reads and writes of a page of every plane."""
    found, faults = by_order(setup, ("reads", "writes"), lambda op, order: _case(setup, op, order))
    for fault in faults.values():
        raise WordlineError(fault)
    absolute = {op: over(runs, iops) for op, runs in found.items()}
    apart = {op: gain(min(one.values()), max(one.values())) for op, one in absolute.items()}
    return Figure(
        id="sequential",
        title="Fully sequential load",
        section="3.5.5",
        measured=f"Sequential requests of {BYTES // 1024} KiB, which have a page in every plane, "
        f"{DEPTH} at a time; pages are placed by address.",
        rows=[
            Row(f"{op}: fastest strategy over slowest", value, "%") for op, value in apart.items()
        ],
        plots=[
            Plot(
                "Throughput",
                "IOPS over those of CWDP.",
                spread({op: normalised(one) for op, one in absolute.items()}, "IOPS / CWDP"),
            )
        ],
        claims=[
            Claim(
                f"{op.capitalize()}: no difference between strategies (below {NONE} %)",
                value < NONE,
                f"{value:.2f} %",
            )
            for op, value in apart.items()
        ],
        data={
            "iops": {op: {order: one[order] for order in ORDERS} for op, one in absolute.items()}
        },
    )


def _case(setup: Setup, op: str, order: str) -> Case:
    overrides: dict[str, Value] = {
        "ftl.allocate.static.order": order,
        "workload.requests": setup.requests(REQUESTS),
        "workload.read_ratio": 1.0 if op == "reads" else 0.0,
        "workload.request_bytes": BYTES,
        "workload.align_bytes": BYTES,
        "workload.pattern": "sequential",
        "workload.arrival.closed-loop.queue_depth": DEPTH,
    }
    return Case(f"sequential {op}, static {order}", overrides)
