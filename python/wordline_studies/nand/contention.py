"""Figure 2.21: contention for the bus."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from statistics import fmean
from typing import Literal

from wordline_studies.cases import by_load
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain
from wordline_studies.nand import recorded
from wordline_studies.nand.loads import FITTED, TABLE
from wordline_studies.nand.modes import MLC, OPERATIONS, PUBLISHED, SLC, WORDS, lines, part, stream
from wordline_studies.traces import recorded as traces_of

DIES = (1, 2, 4, 8)
NAMES = {"SLC": SLC, "MLC1": MLC}
MIXED, OWN = "mean of reads and writes", "mean of the document's traces"
FIVE = "the loads of table 2.2"
Curves = dict[str, list[float]]


def figure(setup: Setup) -> Figure:
    """Reproduces figure 2.21: contention for the bus."""
    streams = {WORDS[operation]: _streams(setup, operation) for operation in OPERATIONS}
    traces, skipped = _traces(setup)
    own = [of for name, of in traces.items() if recorded.is_known(name)]
    five = _mean(of for name, of in traces.items() if name in TABLE)
    means = {FIVE: five, MIXED: _mean(streams.values())} | ({OWN: _mean(own)} if own else {})
    curves = {**streams, **means, **traces}
    tested = {**streams, **traces}
    return Figure(
        id="2.21",
        title="Figure 2.21: bus contention",
        section="2.8.7",
        measured=(
            "Share of transaction time spent waiting for the bus, in packages of 1 to 8 dies of "
            "SLC and MLC1, legacy mode, die-interleaved. For the loads of table 2.2 and for "
            "recorded traces, it is the share of the dies' busy time, in the SSDs of figure 2.20, "
            "with pages placed by address. The published ratio is compared with the ratio of the "
            "means over the loads of table 2.2 and over 2, 4 and 8 dies; other rows refer to one "
            "number of dies or to other loads."
        ),
        rows=_rows(curves, [WORDS["read"], *means]),
        plots=[
            Plot(
                name[:1].upper() + name[1:],
                "Share of time spent waiting for the bus.",
                lines(DIES, curve, "dies", "%", log=True),
            )
            for name, curve in tested.items()
        ],
        claims=_claims(tested),
        explanation=[
            FITTED,
            "The document measured the loads of table 2.2 for several numbers of dies and gives "
            "one ratio. The choice of the ratio of the means was made after results were known; "
            "the mean of the ratios of the loads is far higher, because MLC1 hardly waits under "
            "loads that mostly write. Separate streams of reads and writes and their mean have "
            "other ratios. The document's explanation holds in all cases: other dies use the bus "
            "while the array of one works, and the array operations of SLC are shorter.",
            "With up to four dies, writes hardly wait: in a closed loop, the dies take turns "
            "on the bus without collisions.",
            *skipped,
        ],
        data={"dies": list(DIES), "contention_percent": curves},
    )


def _streams(setup: Setup, operation: Literal["program", "read"]) -> Curves:
    return {
        name: [
            100 * stream(setup, part(setup, device, dies=dies), operation)["contention_ratio"]
            for dies in DIES
        ]
        for name, device in NAMES.items()
    }


def _traces(setup: Setup) -> tuple[dict[str, Curves], list[str]]:
    """Returns the contention by load or trace and part, and a sentence for each omitted trace."""
    paths = traces_of(setup, recorded.KNOWN)
    cases = {
        (trace, f"{name} {dies}"): recorded.case(
            setup, trace, path, "dies", "by address", dies, device
        )
        for trace, path in {**dict.fromkeys(TABLE), **paths}.items()
        for name, device in NAMES.items()
        for dies in DIES
    }
    runs, skipped = by_load(setup, cases, paths)
    shares = {
        trace: {key: run["execution"] for key, run in of.items()} for trace, of in runs.items()
    }
    found = {
        trace: {
            name: [
                100 * one["bus_contention"] / (1 - one["idle"])
                for one in (of[f"{name} {dies}"] for dies in DIES)
            ]
            for name in NAMES
        }
        for trace, of in shares.items()
    }
    return found, skipped


def _mean(curves: Iterable[Curves]) -> Curves:
    some = list(curves)
    return {
        name: [fmean(values) for values in zip(*(one[name] for one in some), strict=True)]
        for name in NAMES
    }


def _rows(curves: Mapping[str, Curves], compared: list[str]) -> list[Row]:
    published = PUBLISHED("2.21", "bus contention: excess of SLC over MLC")
    # With few dies, writes hardly wait, and the ratio is meaningless.
    rows = [
        Row(
            f"bus contention, {FIVE}, mean of 2, 4 and 8 dies: excess of SLC over MLC1",
            gain(*(fmean(curves[FIVE][part][1:]) for part in ("MLC1", "SLC"))),
            "%",
            published,
        )
    ]
    rows += [
        Row(
            f"bus contention, {kind}, {dies} dies: excess of SLC over MLC1",
            gain(mlc, slc),
            "%",
            published,
            other_reading=True,
        )
        for kind in compared
        for dies, slc, mlc in zip(
            DIES[1:], curves[kind]["SLC"][1:], curves[kind]["MLC1"][1:], strict=True
        )
    ]
    rows += [
        Row(f"share of time spent waiting for the bus, {kind}, {name}, {dies} dies", value, "%")
        for kind, one in curves.items()
        for name, curve in one.items()
        for dies, value in zip(DIES, curve, strict=True)
        if dies > 1
    ]
    return rows


def _claims(tested: Mapping[str, Curves]) -> list[Claim]:
    pairs = [
        pair
        for one in tested.values()
        for pair in zip(one["MLC1"][1:], one["SLC"][1:], strict=True)
    ]
    steps = [step for one in tested.values() for curve in one.values() for step in pairwise(curve)]
    return [
        Claim(
            "MLC1 waits less for the bus than SLC with 2, 4 and 8 dies, under writes, reads, and "
            "every load and trace",
            all(mlc < slc for mlc, slc in pairs),
            "8 dies: "
            + ", ".join(
                f"{kind} {one['MLC1'][-1]:.1f} and {one['SLC'][-1]:.1f} %"
                for kind, one in tested.items()
            ),
            ids=("J2-013",),
        ),
        Claim(
            "Bus contention grows with every doubling of the dies, for both parts",
            all(later > earlier for earlier, later in steps),
            ", ".join(
                f"{name} {kind} {curve[1]:.1f} to {curve[-1]:.1f} %"
                for kind, one in tested.items()
                for name, curve in one.items()
            ),
            ids=("J2-014",),
        ),
    ]
