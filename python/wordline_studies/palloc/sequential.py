"""Section 3.5.5: sequential requests that span all planes."""

from wordline.config import Value
from wordline_studies.cases import Case
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain, iops, over_loads
from wordline_studies.outcome import IN_POINTS
from wordline_studies.palloc.charts import spread
from wordline_studies.palloc.loads import BY_ADDRESS, IMMEDIATE, NCQ, PAGE, Variant, smaller
from wordline_studies.palloc.orders import ORDERS, normalised
from wordline_studies.palloc.runs import DEPTH, DEVICE, by_order

REQUESTS = 1000
# One page for each of 8 channels x 8 ways x 2 dies x 2 planes: a stripe.
BYTES = 256 * PAGE
# A quarter of the capacity is over-provisioned, so that the user pages are a whole number of
# stripes.
WHOLE: dict[str, Value] = {"ftl.over_provisioning_ratio": 0.25}
LOADS: dict[str, dict[str, Value]] = {"reads": {}, "writes": {}, "writes, whole stripes": WHOLE}
QUEUES = (NCQ, IMMEDIATE)


def figure(setup: Setup) -> Figure:
    """Returns the figure for reads and writes with one page in every plane."""
    names = {f"{op}, {queue}": (op, queue) for queue in QUEUES for op in LOADS}
    found, _ = by_order(setup, list(names), lambda name, order: _case(setup, *names[name], order))
    absolute = over_loads(found, iops)
    apart = {name: gain(min(one.values()), max(one.values())) for name, one in absolute.items()}
    return Figure(
        id="sequential",
        title="Fully sequential load",
        section="3.5.5",
        measured=(
            f"Sequential requests of {BYTES // 1024} KiB, which have one page in every plane, at "
            f"queue depth {DEPTH}; pages are placed by address. The scheduler is the document's "
            f"queue ({NCQ}) or one in which no request blocks another ({IMMEDIATE}). Writes are "
            "also run on a device whose user pages are a whole number of stripes of this size."
        ),
        rows=[
            Row(f"{name}: IOPS gain of the fastest strategy over the slowest", value, "%")
            for name, value in apart.items()
        ],
        plots=[
            Plot(
                f"Throughput, {queue}",
                "IOPS relative to CWDP.",
                spread({op: normalised(absolute[f"{op}, {queue}"]) for op in LOADS}, "IOPS / CWDP"),
            )
            for queue in QUEUES
        ],
        claims=[
            Claim(
                f"{op.capitalize()}: the IOPS of the strategies differ by at most {IN_POINTS:g} %",
                apart[f"{op}, {NCQ}"] <= IN_POINTS,
                f"{apart[f'{op}, {NCQ}']:.2f} %",
                ids=("J3-057",),
            )
            for op in LOADS
        ],
        explanation=[
            "All strategies need the same commands for a request that has one page in every "
            "plane. The preset's user pages are not a whole number of stripes, so some planes "
            "hold one page more than others. Writes allocated on issue still form one command "
            "per die. With the immediate scheduler they are allocated on arrival, and two "
            "planes of a die that are a page apart are programmed one after the other.",
        ],
        data={
            "iops": {
                name: {order: one[order] for order in ORDERS} for name, one in absolute.items()
            }
        },
    )


def _case(setup: Setup, op: str, queue: str, order: str) -> Case:
    overrides: dict[str, Value] = (
        smaller(setup)
        | Variant(queue=queue, layout=BY_ADDRESS).overrides(order)
        | LOADS[op]
        | {
            "workload.requests": setup.requests(REQUESTS),
            "workload.read_ratio": 1.0 if op == "reads" else 0.0,
            "workload.request_bytes": BYTES,
            "workload.align_bytes": BYTES,
            "workload.pattern": "sequential",
            "workload.arrival.closed-loop.queue_depth": DEPTH,
        }
    )
    return Case(DEVICE, f"sequential {op}, {queue}, static {order}", overrides)
