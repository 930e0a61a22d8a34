"""Section 3.5.5: requests that span all planes, one after another."""

from wordline.config import Value
from wordline.study.cases import Case
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.measures import gain, iops, over_loads
from wordline.study.palloc.charts import spread
from wordline.study.palloc.loads import IMMEDIATE, PAGE, Variant
from wordline.study.palloc.orders import ORDERS, normalised
from wordline.study.palloc.runs import DEPTH, DEVICE, by_order

REQUESTS = 2000
# A page for each of 8 channels x 8 ways x 2 dies x 2 planes: a stripe.
BYTES = 256 * PAGE
# A quarter held back, so that the host's pages are a whole number of stripes.
WHOLE: dict[str, Value] = {"ftl.over_provisioning_ratio": 0.25}
LOADS: dict[str, dict[str, Value]] = {"reads": {}, "writes": {}, "writes, whole stripes": WHOLE}
QUEUES = ("package", IMMEDIATE)
# What cannot be seen in a chart.
NONE = 5
BROKEN = (
    "the preset's pages are not a whole number of stripes, so that some planes hold a page more "
    "than others once the device is full; where the two of a die differ they cannot be programmed "
    "by one command, and which dies those are is up to the strategy. With whole stripes it holds"
)


def figure(setup: Setup) -> Figure:
    """Reads and writes of a page of every plane."""
    names = {f"{op}, {queue}": (op, queue) for queue in QUEUES for op in LOADS}
    found, _ = by_order(setup, list(names), lambda name, order: _case(setup, *names[name], order))
    absolute = over_loads(found, iops)
    apart = {name: gain(min(one.values()), max(one.values())) for name, one in absolute.items()}
    return Figure(
        id="sequential",
        title="Fully sequential load",
        section="3.5.5",
        measured=f"Sequential requests of {BYTES // 1024} KiB, which have a page in every plane, "
        f"{DEPTH} at a time; pages are placed by address. On the document's queue (package) and "
        "without a queue that blocks (immediate); writes also on a device of which the host's "
        "pages are a whole number of such stripes.",
        rows=[
            Row(f"{name}: fastest strategy over slowest", value, "%")
            for name, value in apart.items()
        ],
        plots=[
            Plot(
                f"Throughput, {queue}",
                "IOPS over those of CWDP.",
                spread({op: normalised(absolute[f"{op}, {queue}"]) for op in LOADS}, "IOPS / CWDP"),
            )
            for queue in QUEUES
        ],
        claims=[
            Claim(
                f"{op.capitalize()}: no difference between strategies (below {NONE} %)",
                apart[f"{op}, package"] < NONE,
                f"{apart[f'{op}, package']:.2f} %",
                because=BROKEN if op == "writes" else "",
            )
            for op in LOADS
        ],
        explanation=[
            "Planes that hold equally many pages are at the same page of their blocks and stay so "
            "under requests that write one page to each, and all strategies need the same commands "
            "for a request. That is what no difference means here, and then it is none at all, "
            "whatever the queue.",
            "Where the planes of a die are a page apart they are programmed one after the other. "
            "The document's queue has nothing else to do meanwhile, because every request needs "
            "all packages; without it the other dies and the next requests fill the time, and less "
            "of the difference is left.",
        ],
        data={
            "iops": {
                name: {order: one[order] for order in ORDERS} for name, one in absolute.items()
            }
        },
    )


def _case(setup: Setup, op: str, queue: str, order: str) -> Case:
    overrides: dict[str, Value] = (
        Variant(queue=queue).overrides(setup, order)
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
