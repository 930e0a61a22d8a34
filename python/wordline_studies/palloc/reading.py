"""The interpretation of the thesis that the figures follow, and the other possible one."""

from collections.abc import Sequence

from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.palloc import latency, throughput
from wordline_studies.palloc.loads import REQUESTS

TOLD = (
    "Queue: a first-in first-out queue of 32 requests with virtual addresses (section 3.4). It "
    "issues no further pages after a conflict on a die or channel (3.5.3). Its first page "
    "waits while its die is busy or another request uses its channel, and all later pages wait "
    "behind it.",
    "Gathering: advanced flash commands combine pages of several incoming requests (3.5.1). "
    "Pages committed at one instant do not conflict, and pages of different requests can form "
    "one command.",
    "Pairs: writes can be combined freely (6.3), because a page-mapped FTL chooses the page of "
    "a program. Writes are allocated on issue. Programs issued together on both planes of a "
    "die take the same page of two blocks that are filled in parallel for this purpose, as the "
    "plane rule of the flash part requires.",
    "Bus: about 40 MB/s (3.1), which is 25 ns per byte, without spare bytes. The transfer of "
    "2,048 bytes then takes 50.6 % of the sum of transfer and 50 µs of array read; 50.5 % is "
    "published.",
    "Data written before the run: a strategy sets the order in which data are written to "
    "pages, and therefore the order in which they are read (3.3, 6.4.5). The thesis does not "
    "say how these data were written; web has 212 writes in 1.06 million requests (table 6.1). "
    "Here, they are placed by the strategy in the order in which the run first reads them. "
    "This was chosen after seeing results, out of six placements; the truth may be neither of "
    "the two shown. The effect fades as pages are read again in another order. It therefore "
    f"depends on the size of the device and the number of requests: 27 GiB, {REQUESTS:,} "
    "requests per load.",
    "The other reading: data are placed by address, as are the writes of the run. web and "
    "sql2, which are almost only reads, cannot gain then: a read of 7.4 pages takes 101 µs "
    "over eight channels and 429 µs over one, and at most eight reads, in their order, are in "
    "progress.",
)


def figure(setup: Setup) -> Figure:
    """Returns the figure that describes the reading, with the verdicts of the claims if data are
    placed by address."""
    made = [] if setup.quick else [*throughput.by_address(setup), *latency.by_address(setup)]
    claims = [(one.id, claim) for one in made for claim in one.claims]
    held = sum(claim.holds is True for _, claim in claims)
    return Figure(
        id="reading",
        title="Interpretation of the thesis",
        section="3.3 to 3.5",
        measured=(
            "The interpretation of the text that the figures follow. Under the other reading, "
            "with data placed by address, all other rules are the same; it is not simulated with "
            "`--quick`."
        ),
        rows=[
            Row(
                "placement by address: number of claims that hold",
                float(held) if made else None,
                f"of {len(claims)}",
            ),
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
    """Returns the rows with a published value, for data placed by address."""
    return [
        Row(
            f"placement by address, figure {one.id}: {row.what}",
            row.ours,
            row.unit,
            row.published,
            other_reading=True,
        )
        for one in made
        for row in one.rows
        if row.published
    ]


def _told(name: str, claim: Claim) -> str:
    verdict = "holds" if claim.holds else "does not hold"
    return f"By address, figure {name}: {claim.text}: {verdict} ({claim.detail})."
