"""Section 6.4: two reads that share a channel, a package or a die, and the examples of clumping and
of packing."""

from collections.abc import Iterator
from itertools import chain

from wordline.config import Value
from wordline_studies import generated
from wordline_studies.cases import Case, latencies_us, required, tabled
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.generated import Request
from wordline_studies.outcome import PER_CENT
from wordline_studies.paq.charts import PUBLISHED
from wordline_studies.paq.loads import PAGE
from wordline_studies.paq.runs import DEVICE, closed
from wordline_studies.paq.schedulers import BOTH, VAQ, A

# Address of the second read, in pages; the first reads page 0. Pages are striped over 8 channels,
# then 8 packages, 2 dies and 2 planes.
SECOND = {"nothing": 1, "channel": 8, "package": 64, "die": 256}
NAMED = {shared: shared if shared == "nothing" else f"a {shared}" for shared in SECOND}
TRANSFER = (
    "at 25 ns per byte, the transfer of 4 KiB takes 102.4 of the published 180 µs of a read, more "
    "than the array"
)


# Requests of figure 6.7: first page and number of pages. Pages 2k and 2k + 1 are on the planes of a
# die of channel k: 0 and 1 are the figure's 2 and 3, then 6 and 7, 4 and 5, 72 and 73.
EXAMPLE = ((0, 1), (2, 1), (4, 1), (6, 2), (1, 1), (3, 1), (5, 1))

# Requests of figure 6.5, with the channel, package and die of each page, from 0. Requests 1 and 2
# share a package; two pages of request 2, and requests 4 and 5, need the same die.
CLUMPED = (
    ((0, 0, 1), (0, 1, 0), (0, 1, 1)),
    ((0, 0, 0), (0, 0, 0), (2, 0, 2)),
    ((1, 1, 0),),
    ((3, 0, 3),),
    ((3, 0, 3),),
    ((3, 0, 2),),
)
CHANNELS, PACKAGES, DIES = 4, 2, 4
# The smallest device that holds the example, empty. Its bus takes 1 µs per page, so that the time
# of reads is that of the array.
SMALL: dict[str, Value] = {
    "ssd.channels": CHANNELS,
    "ssd.ways": PACKAGES,
    "nand.geometry.dies_per_package": DIES,
    "nand.geometry.planes_per_die": 1,
    "nand.geometry.blocks_per_plane": 64,
    "nand.timing.bus_mt_per_s": 4000.0,
    "precondition.fill_ratio": 0.0,
}
WRITE_NS, READ_AT_NS = 10_000_000, 10_000_000_000
"""Interval between the writes that place the pages of figure 6.5, and arrival of its reads."""


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures of two reads and of the examples."""
    return [_conflicts(setup), _clumps(setup), _example(setup)]


def _conflicts(setup: Setup) -> Figure:
    loads = {
        shared: [Request(0, False, page, 1) for page in (0, second)]
        for shared, second in SECOND.items()
    }
    with generated.written(loads, PAGE) as paths:
        found = tabled(
            setup,
            {shared: closed(shared, path, "immediate") for shared, path in paths.items()},
            "requests",
        )
    times = {shared: latencies_us(run) for shared, run in found.items()}
    alone = times["nothing"][0]
    lost = {shared: max(one) - alone for shared, one in times.items()}
    array = alone - 102.4
    return Figure(
        id="conflicts",
        title="Conflicts of two reads",
        section="6.4.2",
        measured=(
            "Delay of the later of two single-page reads, relative to a read without conflict. "
            "Both start at the same time and share nothing, a channel, a package or a die. No "
            "scheduler delays them (`immediate`)."
        ),
        rows=[
            Row(f"delay of the later read if the reads share {NAMED[shared]}", value, "µs")
            for shared, value in lost.items()
        ],
        claims=[
            Claim(
                "The delay is longest for a conflict at the die, and at least as long at the "
                "package as at the channel",
                lost["die"] > lost["package"] >= lost["channel"] > lost["nothing"],
                ", ".join(f"{shared} {value:.0f} µs" for shared, value in lost.items()),
                ids=("J6-028",),
            ),
            Claim(
                "A conflict at the channel or package is short compared with the time at the die "
                f"(at most {PER_CENT:g} % of the array time)",
                lost["package"] <= PER_CENT / 100 * array,
                f"{lost['package']:.0f} µs, array {array:.0f} µs",
                because=TRANSFER,
                ids=("J6-029",),
            ),
        ],
        data={"latency_us": times},
    )


def _placed() -> Iterator[Request]:
    """Yields writes that place each page of figure 6.5 on its die, then the reads of the figure.

    Pages are placed in order of arrival, over channels, packages and dies. Pages of the example are
    numbered from 0; a write whose die holds none of them gets another page.
    """
    wanted = [(place, page) for page, place in enumerate(chain.from_iterable(CLUMPED))]
    other = len(wanted)
    for turn in range(2 * CHANNELS * PACKAGES * DIES):
        place = (
            turn % CHANNELS,
            turn // CHANNELS % PACKAGES,
            turn // (CHANNELS * PACKAGES) % DIES,
        )
        found = next((one for one in wanted if one[0] == place), None)
        if found:
            wanted.remove(found)
        yield Request(turn * WRITE_NS, True, found[1] if found else other + turn, 1)
    first = 0
    for pages in CLUMPED:
        yield Request(READ_AT_NS, False, first, len(pages))
        first += len(pages)


def _clumps(setup: Setup) -> Figure:
    with generated.written({"example": _placed()}, PAGE) as paths:
        cases = {
            scheduler: Case(
                DEVICE,
                f"figure 6.5, {scheduler}",
                SMALL | A.settings(scheduler) | {"replay.mode.open-loop.time_scale": 1.0},
                paths["example"],
            )
            for scheduler in (VAQ, BOTH)
        }
        runs = tabled(setup, cases, "requests")
    times = {scheduler: latencies_us(run)[-len(CLUMPED) :] for scheduler, run in runs.items()}
    # Under VAQ, the last request reads one page after all others are done.
    single = times[VAQ][-1] - times[VAQ][-2]
    lasting = {scheduler: max(one) / single for scheduler, one in times.items()}
    return Figure(
        id="6.6",
        title="Figure 6.6: request sets of VAQ",
        section="6.4.3",
        measured=(
            "Time until the six requests of figure 6.5 are read, relative to that of the last "
            "request under VAQ, which reads one page after all others are done. Under VAQ, "
            "request sets follow one another, so this ratio is their number. The pages are on the "
            "dies of the figure, and the bus takes 1 µs per page."
        ),
        rows=[
            Row(
                "VAQ: number of request sets",
                lasting[VAQ],
                "",
                PUBLISHED("6.6", "VAQ: number of request sets"),
            ),
            Row("PAQ2: duration in units of a single-page read", lasting[BOTH], ""),
        ],
        explanation=[
            "The clumps of PAQ2 overlap: a die that is idle gets a page of the next clump while "
            "other dies of its package still read. The time is therefore shorter than that of "
            "three clumps, one after the other.",
        ],
        data={"latency_us": times},
    )


def _example(setup: Setup) -> Figure:
    load = [Request(0, False, first, pages) for first, pages in EXAMPLE]
    with generated.written({"example": load}, PAGE) as paths:
        found = required(
            setup,
            {
                scheduler: closed(
                    "figure 6.7",
                    paths["example"],
                    scheduler,
                    more={"ftl.allocate.dynamic.order": "PCWD"},
                )
                for scheduler in (VAQ, BOTH)
            },
        )
    commands = {scheduler: summary["commands"] for scheduler, summary in found.items()}
    return Figure(
        id="6.7",
        title="Figure 6.7: packing",
        section="6.4.4",
        measured=(
            "Flash commands of the seven requests of the example, which read both planes of a die "
            "on each of four channels. All requests are in the queue at the start."
        ),
        rows=[
            Row(
                "VAQ: number of commands on one plane",
                commands[VAQ]["plain"],
                "",
                PUBLISHED("6.7", "VAQ: number of commands on one plane"),
            ),
            Row(
                "PAQ2: number of commands on two planes",
                commands[BOTH]["planes_shared"],
                "",
                PUBLISHED("6.7", "PAQ: number of commands on two planes"),
            ),
            Row("VAQ: number of commands on two planes", commands[VAQ]["planes_shared"], ""),
            Row("PAQ2: number of commands on one plane", commands[BOTH]["plain"], ""),
        ],
    )
