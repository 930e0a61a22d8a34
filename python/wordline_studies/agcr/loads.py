"""Figures 6 and 12: access kinds of pages, and the accuracy of their detection."""

from collections.abc import Mapping
from itertools import pairwise
from statistics import fmean

from wordline._render.charts import bars
from wordline_studies.agcr.runs import FITTED, PUBLISHED, Loads, of_loads
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.regulation.recordings import THRESHOLD
from wordline_studies.regulation.runs import reading, writing

WINDOWS = (1, 2, 3)
COLOURS = {"reads": "#3b86c6", "writes": "#d8731c"}
BY_WINDOW = dict(
    zip((f"window {window}" for window in WINDOWS), ("#8b929c", "#7cc0ea", "#1f78b4"), strict=True)
)
SMALL = 13.0
"""Largest share of requests that counts as few. Per cent. By the first observation, more than 87 %
of reads access read-only pages, which leaves 13 %."""
ByLoad = Mapping[str, float]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for the loads and for the available recorded traces."""
    return of_loads(setup, lambda _, found: [_kinds(found), _detection(found)])


def _kinds(found: Loads) -> Figure:
    reads = {name: found[name].of_their_kind(writes=False) for name in reading(found)}
    writes = {name: found[name].of_their_kind(writes=True) for name in writing(found)}
    both = {name: one.interleaved_percent for name, one in found.items()}
    expected = {name: one.expected_percent for name, one in found.items()}
    return Figure(
        id="6",
        title="Figure 6: access kinds of pages",
        section="4.1.1",
        measured=(
            "Share of page reads that go to read-only pages, and of page writes that go to "
            f"write-only pages. A page is read-only or write-only if {100 * THRESHOLD:g} % of its "
            "accesses are of that kind, and interleaved otherwise."
        ),
        rows=_rows_of_kinds(reads, writes, both, expected),
        plots=[
            Plot(
                "Accesses to pages of their kind",
                "Share of reads of read-only pages, and share of writes of write-only pages.",
                bars(
                    {
                        name: {"reads": reads.get(name, 0.0), "writes": writes.get(name, 0.0)}
                        for name in found
                    },
                    COLOURS,
                    "%",
                ),
            )
        ],
        claims=_claims_on_kinds(reads, writes, both),
        explanation=[
            FITTED,
            "The overlaps of the loads are those of another publication, which does not give the "
            "single accesses. This figure therefore depends on the pages that the loads are "
            "assumed to access. Only reads of write-only pages and writes of read-only pages are "
            "unexpected for the kind of the page. They are at most a twentieth of the accesses of "
            "a page.",
        ],
        data={"reads": reads, "writes": writes, "interleaved": both},
    )


def _rows_of_kinds(reads: ByLoad, writes: ByLoad, both: ByLoad, expected: ByLoad) -> list[Row]:
    return [
        Row(
            "share of page reads that go to read-only pages, mean",
            fmean(reads.values()),
            "%",
            PUBLISHED("6", "share of page reads that go to read-only pages"),
        ),
        Row(
            "share of page writes that go to write-only pages, mean",
            fmean(writes.values()),
            "%",
            PUBLISHED("6", "share of page writes that go to write-only pages"),
        ),
        Row(
            "share of accesses that are expected for the kind of the page, minimum of the loads",
            min(expected.values()),
            "%",
            PUBLISHED("6", "share of accesses that are expected for the kind of the page"),
        ),
        *(
            Row(f"{name}: share of page reads that go to read-only pages", one, "%")
            for name, one in reads.items()
        ),
        *(
            Row(f"{name}: share of page writes that go to write-only pages", one, "%")
            for name, one in writes.items()
        ),
        *(
            Row(f"{name}: share of page accesses that go to interleaved pages", one, "%")
            for name, one in both.items()
        ),
    ]


def _claims_on_kinds(reads: ByLoad, writes: ByLoad, both: ByLoad) -> list[Claim]:
    def most(found: ByLoad) -> int:
        return sum(one > 50 for one in found.values())

    most_both = max(both, key=both.__getitem__)
    return [
        Claim(
            "Most reads go to read-only pages, and most writes to write-only pages, under each "
            "load",
            most(reads) == len(reads) and most(writes) == len(writes),
            f"reads at least {min(reads.values()):.1f} %, writes at least "
            f"{min(writes.values()):.1f} %",
            ids=("A-007",),
        ),
        Claim(
            f"Few page accesses go to interleaved pages: at most {SMALL:g} % on average",
            fmean(both.values()) <= SMALL,
            f"{fmean(both.values()):.1f} % on average, at most {both[most_both]:.1f} % "
            f"({most_both})",
            ids=("A-023",),
        ),
    ]


def _detection(found: Loads) -> Figure:
    right = {
        name: {f"window {window}": one.accuracy(window) for window in WINDOWS}
        for name, one in found.items()
    }
    changes = {name: one.changes(2) for name, one in found.items()}
    single, mixed = (
        {
            name: max(one.get(kind, 0.0) for kind in kinds)
            for name, one in changes.items()
            if any(kind in one for kind in kinds)
        }
        for kinds in (("read", "write"), ("both",))
    )
    return Figure(
        id="12",
        title="Figure 12: detection of the access kind",
        section="4.1.2, 5.1",
        measured=(
            "Share of accesses at which the kind of the page is detected, by the window in "
            "accesses; and share of accesses at which the detected kind changes, with a window of "
            "2."
        ),
        rows=[
            *(
                Row(
                    f"{name}, {window}: share of accesses at which the kind of the page is "
                    "detected",
                    value,
                    "%",
                )
                for name, one in right.items()
                for window, value in one.items()
            ),
            *(
                Row(
                    f"{name}: share of accesses at which the detected kind changes, read-only or "
                    "write-only pages",
                    one,
                    "%",
                )
                for name, one in single.items()
            ),
            *(
                Row(
                    f"{name}: share of accesses at which the detected kind changes, interleaved "
                    "pages",
                    one,
                    "%",
                )
                for name, one in mixed.items()
            ),
        ],
        plots=[
            Plot(
                "Accesses at which the kind of the page is detected",
                "By the window in accesses.",
                bars(right, BY_WINDOW, "%"),
            )
        ],
        claims=_on_detection(right, single, mixed),
        explanation=[
            "With a window of 1, no page is detected as interleaved, so the kind is wrong at all "
            "accesses to interleaved pages."
        ],
        data={"found": right, "changes": changes},
    )


def _on_detection(right: Mapping[str, ByLoad], single: ByLoad, mixed: ByLoad) -> list[Claim]:
    steps = {name: [b - a for a, b in pairwise(one.values())] for name, one in right.items()}
    listed = "; ".join(f"{name} {one[0]:+.1f} {one[1]:+.1f}" for name, one in steps.items())
    return [
        Claim(
            "A wider window detects the kind at more accesses, under each load",
            all(min(one) > 0 for one in steps.values()),
            f"{listed} percentage points",
            ids=("A-042",),
        ),
        Claim(
            "Widening the window from 1 to 2 gains more detections than widening it from 2 to 3, "
            "under each load",
            all(one[0] > one[1] for one in steps.values()),
            f"{listed} percentage points",
            ids=("A-043",),
        ),
        Claim(
            "The detected kind of an interleaved page changes more often than that of a "
            "read-only or write-only page, under each load",
            all(mixed[name] > single[name] for name in mixed),
            f"{fmean(mixed.values()):.1f} and {fmean(single.values()):.1f} % of accesses",
            ids=("A-024",),
        ),
    ]
