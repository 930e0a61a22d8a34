"""Section 6.4: two reads that share a channel, a package or a die, and the example of packing."""

from wordline_studies import generated
from wordline_studies.cases import latencies_us, required, tabled
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.generated import Request
from wordline_studies.outcome import PER_CENT
from wordline_studies.paq.charts import PUBLISHED
from wordline_studies.paq.loads import PAGE
from wordline_studies.paq.runs import closed
from wordline_studies.paq.schedulers import BOTH, VAQ

# Address of the second read, in pages; the first reads page 0. Pages are striped over 8 channels,
# then 8 packages, 2 dies and 2 planes.
SECOND = {"nothing": 1, "channel": 8, "package": 64, "die": 256}
TRANSFER = (
    "at 25 ns per byte, the transfer of 4 KiB takes 102.4 of the published 180 µs of a read, more "
    "than the array"
)


# Requests of figure 6.7: first page and number of pages. Pages 2k and 2k + 1 are on the planes of a
# die of channel k: 0 and 1 are the figure's 2 and 3, then 6 and 7, 4 and 5, 72 and 73.
EXAMPLE = ((0, 1), (2, 1), (4, 1), (6, 2), (1, 1), (3, 1), (5, 1))


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for two reads and for the example."""
    return [_conflicts(setup), _example(setup)]


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
            Row(f"delay if the reads share: {shared}", value, "µs")
            for shared, value in lost.items()
        ],
        claims=[
            Claim(
                "The conflict is longest at the die, and at the package at least as long as at the "
                "channel",
                lost["die"] > lost["package"] >= lost["channel"] > lost["nothing"],
                ", ".join(f"{shared} {value:.0f} µs" for shared, value in lost.items()),
                ids=("J6-028",),
            ),
            Claim(
                "A conflict at the channel or package is short compared with the time at the die "
                f"(at most {PER_CENT:g} %)",
                lost["package"] <= PER_CENT / 100 * array,
                f"{lost['package']:.0f} µs, array {array:.0f} µs",
                because=TRANSFER,
                ids=("J6-029",),
            ),
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
                "VAQ: commands on one plane",
                commands[VAQ]["plain"],
                "",
                PUBLISHED("6.7", "VAQ, commands on one plane"),
            ),
            Row(
                "PAQ2: commands on two planes",
                commands[BOTH]["planes_shared"],
                "",
                PUBLISHED("6.7", "PAQ, commands on two planes"),
            ),
            Row("VAQ: commands on two planes", commands[VAQ]["planes_shared"], ""),
            Row("PAQ2: commands on one plane", commands[BOTH]["plain"], ""),
        ],
    )
