"""Section 3.5.5: requests that span all planes, one after another."""

from wordline import WordlineError
from wordline.config import Value
from wordline.study.cases import Case
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.measures import gain, iops
from wordline.study.palloc.charts import spread
from wordline.study.palloc.loads import PAGE, device
from wordline.study.palloc.orders import ORDERS, normalised
from wordline.study.palloc.runs import DEPTH, by_order, over

REQUESTS = 2000
LOADS = ("reads", "writes", "writes, one program time")
STEP = (
    "pages that take 250 and 2,200 µs alternate, dies on a channel fall into step, and how they do "
    "depends on the order in which they are reached; with one program time for all pages it "
    "hardly does"
)
# A page for each of 8 channels x 8 ways x 2 dies x 2 planes.
BYTES = 256 * PAGE
# What cannot be seen in a chart.
NONE = 5


def figure(setup: Setup) -> Figure:
    """Reads and writes of a page of every plane."""
    found, faults = by_order(setup, LOADS, lambda op, order: _case(setup, op, order))
    for fault in faults.values():
        raise WordlineError(fault)
    absolute = {op: over(runs, iops) for op, runs in found.items()}
    apart = {op: gain(min(one.values()), max(one.values())) for op, one in absolute.items()}
    return Figure(
        id="sequential",
        title="Fully sequential load",
        section="3.5.5",
        measured=f"Sequential requests of {BYTES // 1024} KiB, which have a page in every plane, "
        f"{DEPTH} at a time; pages are placed by address. Once more with the mean program time "
        "for every page.",
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
                because=STEP if op == "writes" else "",
            )
            for op, value in apart.items()
        ],
        explanation=[
            "Reads fill the channels under every strategy. Writes do not. With the plane last in "
            "order, the planes of a die fall a page apart, no command can join them again, and "
            "they are programmed one at a time. With the plane first, commands take both, but give "
            "up the bus between the two transfers: 16 dies take turns until all are loaded, and "
            "work while the bus stands still. With one program time both come to 2.5 ms for a page "
            "of every plane.",
        ],
        data={
            "iops": {op: {order: one[order] for order in ORDERS} for op, one in absolute.items()}
        },
    )


def _case(setup: Setup, op: str, order: str) -> Case:
    overrides: dict[str, Value] = device(setup) | {
        "ftl.allocate.static.order": order,
        "workload.requests": setup.requests(REQUESTS),
        "workload.read_ratio": 1.0 if op == "reads" else 0.0,
        "workload.request_bytes": BYTES,
        "workload.align_bytes": BYTES,
        "workload.pattern": "sequential",
        "workload.arrival.closed-loop.queue_depth": DEPTH,
    }
    if op == LOADS[2]:
        overrides |= {"nand.timing.model": "typical", "nand.timing.typical_program_ns": 0}
    return Case(f"sequential {op}, static {order}", overrides)
