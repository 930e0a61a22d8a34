"""Figures 6 and 12: access kinds of pages, and the accuracy of their detection."""

from itertools import pairwise
from math import nan
from statistics import fmean

from wordline._render.charts import bars
from wordline_studies.agcr.runs import DEVICE, PUBLISHED
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.regulation.recordings import THRESHOLD, measured, recordings, too_few
from wordline_studies.regulation.runs import reading, writing

WINDOWS = (1, 2, 3)
MSR = ("hm_0", "web_3", "rsrch_1")
"""The available recordings of MSR Cambridge. Most of the document's traces are of that set."""
COLOURS = {"reads": "#3b86c6", "writes": "#d8731c"}
BY_WINDOW = dict(
    zip((f"window {window}" for window in WINDOWS), ("#8b929c", "#7cc0ea", "#1f78b4"), strict=True)
)
WHOLE = (
    "web_3 and rsrch_1 are complete recordings of MSR Cambridge. The others are excerpts or "
    "recordings of other systems. The document's other traces are not available, and no recording "
    "is shown under their names. slideshow and movie represent its media loads."
)


def figure(setup: Setup) -> Figure:
    """Returns the figure of the available recordings."""
    found = recordings(setup, DEVICE.page)
    reads = {name: found[name].of_their_kind(writes=False) for name in reading(found)}
    writes = {name: found[name].of_their_kind(writes=True) for name in writing(found)}
    right = {
        name: {f"window {window}": one.accuracy(window) for window in WINDOWS}
        for name, one in found.items()
    }
    steps = {name: [b - a for a, b in pairwise(one.values())] for name, one in right.items()}
    told = too_few(setup, found)
    mean_reads, mean_writes = (
        fmean([one[name] for name in MSR if name in one] or [nan]) for one in (reads, writes)
    )
    made = Figure(
        id="6",
        title="Figures 6 and 12: access kinds of pages",
        section="4.1",
        measured=(
            "Share of page reads that go to read-only pages, and of page writes that go to "
            f"write-only pages. A page is read-only or write-only if {100 * THRESHOLD:g} % of its "
            "accesses are of that kind. In addition, the share of accesses at which the kind of "
            "the page is detected, by the window in accesses."
        ),
        rows=[
            Row(
                "reads of read-only pages, mean of MSR Cambridge",
                mean_reads,
                "%",
                PUBLISHED("6", "reads of read-only pages"),
            ),
            Row(
                "writes of write-only pages, mean of MSR Cambridge",
                mean_writes,
                "%",
                PUBLISHED("6", "writes of write-only pages"),
            ),
            *(Row(f"{name}: share of reads", one.read_percent, "%") for name, one in found.items()),
            *(
                Row(f"{name}: reads of read-only pages", value, "%")
                for name, value in reads.items()
            ),
            *(
                Row(f"{name}: writes of write-only pages", value, "%")
                for name, value in writes.items()
            ),
            *(
                Row(f"{name}, {window}: kind detected", value, "%")
                for name, one in right.items()
                for window, value in one.items()
            ),
        ],
        plots=[
            Plot(
                "Accesses to pages of their kind",
                "",
                bars(
                    {
                        name: {"reads": reads.get(name, 0.0), "writes": writes.get(name, 0.0)}
                        for name in found
                    },
                    COLOURS,
                    "%",
                ),
            ),
            Plot(
                "Accesses at which the kind of the page is detected",
                "By the window in accesses.",
                bars(right, BY_WINDOW, "%"),
            ),
        ]
        if found
        else [],
        claims=[
            Claim(
                "A4: most reads go to read-only pages, more than 87 % (MSR Cambridge)",
                mean_reads > 87,
                f"{mean_reads:.1f} %",
                report_only=told,
            ),
            Claim(
                "A4: most writes go to write-only pages, more than 92 % (MSR Cambridge)",
                mean_writes > 92,
                f"{mean_writes:.1f} %",
                report_only=told,
            ),
            Claim(
                "A5: a wider window detects the kind at more accesses",
                all(min(one) >= 0 for one in steps.values()),
                "; ".join(f"{name} {one[0]:+.1f} {one[1]:+.1f}" for name, one in steps.items())
                + " points",
                report_only=told,
            ),
            Claim(
                "A5: the first widening gains more than the second",
                all(one[0] >= one[1] for one in steps.values()),
                "as for the claim above",
                report_only=told,
            ),
        ],
        explanation=[WHOLE],
        data={"reads": reads, "writes": writes, "found": right},
    )
    return measured(found, [made])[0]
