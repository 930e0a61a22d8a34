"""Physical layout: the same reads of data written sequentially or at random, by requests of
several sizes."""

from collections.abc import Iterable, Mapping
from random import Random

from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import ERASED, Phase, Trial, line
from wordline._render import units
from wordline._render.charts import Plot, lines

WRITES, QUICK_WRITES = tuple(2048 << place for place in range(7)), (4096, 131072)
READS = (4096, 8192, 16384, 32768)
ORDERS = ("sequential", "random")
COLOURS = {"sequential": "#12a07b", "random": "#d8731c"}
LARGEST = 131072


def space(bench: TestDevice) -> int:
    """Returns the number of bytes that are written and read. A part of the device suffices for
    hundreds of pages per die."""
    wanted = bench.page_bytes * bench.count(16_384, 4_096)
    return max(LARGEST, min(wanted, bench.user_bytes) // LARGEST * LARGEST)


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: writes that fill the space, followed by one pass of reads per read
    size."""
    size = space(bench)
    found: dict[str, Trial] = {}
    for order in ORDERS:
        for piece in QUICK_WRITES if bench.quick else WRITES:
            at, phases = size // piece, list[Phase]()
            for read in READS:
                phases.append(Phase(str(read), at, at + size // read))
                at += size // read
            found[f"{order} {piece}"] = Trial(
                ERASED,
                trace=lambda order=order, piece=piece: _requests(bench, order, piece, size),
                phases=tuple(phases),
            )
    return found


def _requests(bench: TestDevice, order: str, piece: int, size: int) -> Iterable[str]:
    places = list(range(0, size, piece))
    if order == "random":
        Random(bench.seed).shuffle(places)  # noqa: S311 - an order
    for place in places:
        yield line("write", place, piece)
    for read in READS:
        for place in range(0, size, read):
            yield line("read", place, read)


def finding(bench: TestDevice, found: Found) -> Finding:
    """Compares the read rates by order and size of the writes."""
    pieces = QUICK_WRITES if bench.quick else WRITES
    rates = {
        order: {
            piece: {read: found[f"{order} {piece}"].phases[str(read)]["mb_per_s"] for read in READS}
            for piece in pieces
        }
        for order in ORDERS
    }
    every = {
        order: [mb for one in rates[order].values() for mb in one.values()] for order in ORDERS
    }
    ratio = sum(
        rates["sequential"][piece][read] / rates["random"][piece][read]
        for piece in pieces
        for read in READS
    ) / (len(pieces) * len(READS))
    told = "as fast as" if 0.9 < ratio < 1.1 else f"{ratio:.2f} times as fast as"
    verdict = (
        f"Data written sequentially is read {told} data written at random: "
        f"{units.bandwidth(min(every['sequential']))} to "
        f"{units.bandwidth(max(every['sequential']))} against "
        f"{units.bandwidth(min(every['random']))} to {units.bandwidth(max(every['random']))}."
    )
    drawn = {
        order: {units.size(piece): rates[order][piece][READS[0]] for piece in pieces}
        for order in ORDERS
    }
    return Finding(
        verdict,
        {"mb_per_s": rates, "mean_ratio": ratio},
        Table(
            ("written", *(f"reads of {units.size(read)}" for read in READS)),
            [
                (
                    f"{order}, {units.size(piece)}",
                    *(units.bandwidth(rates[order][piece][read]) for read in READS),
                )
                for order in ORDERS
                for piece in pieces
            ],
        ),
        [
            Plot(
                "Sequential reads of 4 KiB",
                "By size and order of the writes.",
                lines(drawn, COLOURS, "size of the writes", "MB/s", category=True),
            )
        ],
        [f"{units.size(space(bench))} of the device are written and read."],
    )


EXPERIMENT = Experiment(
    "layout",
    "Physical layout",
    "An erased device is written by requests of 4 to 256 sectors, sequentially or in random "
    "order, and then read sequentially, 4 to 32 KiB at a time.",
    "No counterpart in PTS.",
    trials,
    finding,
)
