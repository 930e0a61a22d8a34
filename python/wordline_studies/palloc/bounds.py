"""Sections 3.2 and 3.5.5: what dies and planes can gain, and requests that exceed a channel."""

from wordline._render.units import many
from wordline.config import Value
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.measures import gain, iops
from wordline_studies.outcome import PER_CENT
from wordline_studies.palloc.loads import BY_ADDRESS, DOCUMENT, PAGE, QUICK_BLOCKS, Variant
from wordline_studies.palloc.orders import CHANNEL, WAY, of
from wordline_studies.palloc.runs import DEPTH, DEVICE

REQUESTS, QUICK_REQUESTS = 1000, 400
# Pages of a request that has one page in every plane of a package.
SPANNING = 4
# Pages of a channel that way-first strategies can fill before the next channel: 8 ways, 2 dies, 2
# planes.
CONTIGUOUS = 32
SIZES = (8, 32, 64, 128)


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for one package and for request sizes."""
    return [_package(setup), _sizes(setup)]


def _package(setup: Setup) -> Figure:
    shapes = [(dies, planes) for dies in (1, 2) for planes in (1, 2)]
    found = required(
        setup,
        {
            (op, dies, planes): _on_one(setup, op, dies, planes)
            for op in ("writes", "reads")
            for dies, planes in shapes
        },
    )
    times = {key: iops(run) / iops(found[key[0], 1, 1]) for key, run in found.items()}
    writes = {shape: times["writes", *shape] for shape in shapes[1:]}
    return Figure(
        id="package",
        title="Dies and planes of one package",
        section="3.2",
        measured=(
            "IOPS of sequential requests of four pages, one at a time, on one package with one or "
            "two dies of one or two planes, relative to one die with one plane."
        ),
        rows=[
            Row(
                f"{op}: IOPS with {many(dies, 'die')} of {many(planes, 'plane')} over one die of "
                "one plane",
                times[op, dies, planes],
                "times",
            )
            for op, dies, planes in times
            if (dies, planes) != (1, 1)
        ],
        claims=[
            Claim(
                "Die interleaving multiplies write IOPS by the number of dies, plane sharing by "
                f"the number of planes, and both by the product (within {PER_CENT:g} %)",
                all(
                    abs(gain(dies * planes, value)) <= PER_CENT
                    for (dies, planes), value in writes.items()
                ),
                ", ".join(
                    f"{many(dies, 'die')} of {many(planes, 'plane')} {value:.2f} times"
                    for (dies, planes), value in writes.items()
                ),
                ids=("J3-012",),
            ),
        ],
        explanation=[
            "Reads gain less, because they are limited by the bus, which takes half of their time."
        ],
    )


def _on_one(setup: Setup, op: str, dies: int, planes: int) -> Case:
    overrides: dict[str, Value] = Variant(layout=BY_ADDRESS).overrides("PDWC") | {
        "ssd.channels": 1,
        "ssd.ways": 1,
        "nand.geometry.dies_per_package": dies,
        "nand.geometry.planes_per_die": planes,
        "nand.geometry.blocks_per_plane": QUICK_BLOCKS * SPANNING // (dies * planes),
        "workload.requests": setup.requests(REQUESTS),
        "workload.read_ratio": 1.0 if op == "reads" else 0.0,
        "workload.request_bytes": SPANNING * PAGE,
        "workload.align_bytes": SPANNING * PAGE,
        "workload.pattern": "sequential",
        "workload.arrival.closed-loop.queue_depth": 1,
    }
    return Case(DEVICE, f"one package, {op}, {dies} dies of {planes} planes", overrides)


def _sizes(setup: Setup) -> Figure:
    orders = CHANNEL + WAY
    found = required(
        setup, {(pages, order): _of(setup, pages, order) for pages in SIZES for order in orders}
    )
    values = {pages: {order: iops(found[pages, order]) for order in orders} for pages in SIZES}
    more = {pages: gain(of(one, CHANNEL), of(one, WAY)) for pages, one in values.items()}
    small, large = (
        [value for pages, value in more.items() if (pages > CONTIGUOUS) is exceeds]
        for exceeds in (False, True)
    )
    return Figure(
        id="sizes",
        title="Requests that exceed a channel",
        section="3.5.5",
        measured=(
            f"IOPS of random reads of one size at queue depth {DEPTH}, averaged over the "
            "way-first and over the channel-first strategies. A way-first strategy fills at most "
            f"{CONTIGUOUS} pages of a channel before it goes to the next."
        ),
        rows=[
            Row(
                f"requests of {pages} pages: IOPS gain of way-first over channel-first strategies",
                value,
                "%",
            )
            for pages, value in more.items()
        ],
        claims=[
            Claim(
                f"Requests of more than {CONTIGUOUS} pages gain less IOPS from way-first "
                "strategies than requests of any smaller size",
                max(large) < min(small),
                ", ".join(f"{pages} pages {value:+.1f} %" for pages, value in more.items()),
                ids=("J3-056",),
            ),
        ],
        data={"iops": values},
    )


def _of(setup: Setup, pages: int, order: str) -> Case:
    overrides: dict[str, Value] = DOCUMENT.overrides(order) | {
        "nand.geometry.blocks_per_plane": QUICK_BLOCKS,
        "workload.requests": QUICK_REQUESTS if setup.quick else REQUESTS,
        "workload.read_ratio": 1.0,
        "workload.request_bytes": pages * PAGE,
        "workload.align_bytes": PAGE,
        "workload.pattern": "uniform",
        "workload.arrival.closed-loop.queue_depth": DEPTH,
    }
    return Case(DEVICE, f"random reads of {pages} pages, static {order}", overrides)
