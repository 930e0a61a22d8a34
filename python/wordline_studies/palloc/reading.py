"""The reading that the figures follow, and the other that the text allows."""

from collections.abc import Sequence

from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.palloc import latency, throughput
from wordline_studies.palloc.loads import REQUESTS

TOLD = (
    "The queue: `a FIFO-style NCQ (32 entries on virtual addresses that the FTL provides)` "
    "(section 3.4), which `cannot commit flash-transactions until the previous requests are "
    "completed, when there is a conflict in a flash or channel` (3.5.3). The first page in it "
    "waits while its die is busy or another request uses its channel, and all behind it wait.",
    "Gathering: flash-level parallelism is `achieved via advance flash operations, constructed by "
    "aggregating multiple incoming requests at runtime` (3.5.1). Pages committed at one instant "
    "are in nobody's way, and those of different requests may be one command.",
    "Pairs: `the writes can simply be packed together in any manner` (6.3). Under page mapping the "
    "translation layer chooses the place of a program: writes get their pages when they are "
    "issued, and programs issued together to both planes of a die take the same page of two blocks "
    "that are kept in step for this, as the plane rule of the part demands.",
    "The bus: `still limited by about 40MB/sec` (3.1), 25 ns a byte, and no spare. 2,048 bytes "
    "over 2,048 bytes and 50 µs are then 50.6 %, and 50.5 % is published.",
    "Data that were there before the run: strategies `determine the order in which coalesced data "
    "pages are written to physical pages, which in turn influences the order in which the pages "
    "are read` (3.3); `the addresses of read are decided at write time` (6.4.5). How the data came "
    "to be there is not said: web has 212 writes in 1.06 million requests (table 6.1). They lie, "
    "in the order of the strategy, as the run first reads them. This was chosen after seeing "
    "results, out of six ways to place them; the truth need not be either of the two shown. It "
    "fades as pages are read again in another order, so that the size of the device and the "
    "number of requests belong to it: 27 GiB, "
    f"{REQUESTS:,} requests of a load.",
    "The other reading: data lie by their address, as the writes of the run do. web and sql2, "
    "nearly all reads, cannot gain then: a read of 7.4 pages takes 101 µs over eight channels and "
    "429 over one, and at most eight, in their order, are under way.",
)


def figure(setup: Setup) -> Figure:
    """What is read, and how the claims come out by address."""
    made = [] if setup.quick else [*throughput.by_address(setup), *latency.by_address(setup)]
    claims = [(one.id, claim) for one in made for claim in one.claims]
    held = sum(claim.holds for _, claim in claims)
    return Figure(
        id="reading",
        title="The reading",
        section="3.3 to 3.5",
        measured="What the text is taken to say. Under the other reading, of data that lie by "
        "address, everything else is the same; it is not run with `--quick`.",
        rows=[
            Row("by address: claims that hold", float(held), f"of {len(claims)}"),
            *_rows(made),
        ],
        explanation=[*TOLD, *(_told(name, claim) for name, claim in claims)],
        data={
            "by_address": [
                {"figure": name, "text": claim.text, "holds": claim.holds, "detail": claim.detail}
                for name, claim in claims
            ]
        },
    )


def _rows(made: Sequence[Figure]) -> list[Row]:
    """What has a published number, by address."""
    return [
        Row(f"by address, {one.id}: {row.what}", row.ours, row.unit, row.published)
        for one in made
        for row in one.rows
        if row.published
    ]


def _told(name: str, claim: Claim) -> str:
    verdict = "holds" if claim.holds else "does not hold"
    return f"By address, figure {name}: {claim.text}: {verdict} ({claim.detail})."
