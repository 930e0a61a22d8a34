"""Figure 2.21: contention for the bus."""

from itertools import pairwise

from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain
from wordline_studies.nand.modes import MLC, OPERATIONS, PUBLISHED, SLC, WORDS, lines, part, stream

DIES = (1, 2, 4, 8)
NAMES = {"SLC": SLC, "MLC1": MLC}


def figure(setup: Setup) -> Figure:
    """Reproduces figure 2.21: contention for the bus."""
    found = {
        operation: {
            name: [
                100 * stream(setup, part(setup, device, dies=dies), operation)["contention_ratio"]
                for dies in DIES
            ]
            for name, device in NAMES.items()
        }
        for operation in OPERATIONS
    }
    mixed = {
        name: [
            (a + b) / 2 for a, b in zip(found["program"][name], found["read"][name], strict=True)
        ]
        for name in NAMES
    }
    curves = {**found, "mixed": mixed}
    words = {**WORDS, "mixed": "mean of both"}
    pairs = [
        (slc, mlc)
        for curve in found.values()
        for slc, mlc in zip(curve["SLC"], curve["MLC1"], strict=True)
    ]
    growing = [
        later >= earlier and curve[-1] > curve[0]
        for one in found.values()
        for curve in one.values()
        for earlier, later in pairwise(curve)
    ]
    # With few dies, writes hardly wait, and the ratio is meaningless.
    over = {
        kind: [
            gain(mlc, slc)
            for slc, mlc in zip(curves[kind]["SLC"][1:], curves[kind]["MLC1"][1:], strict=True)
        ]
        for kind in ("read", "mixed")
    }
    published = PUBLISHED("2.21", "SLC over MLC")
    return Figure(
        id="2.21",
        title="Figure 2.21: bus contention",
        section="2.8.7",
        measured=(
            "Share of transaction time spent waiting for the bus, in packages of 1 to 8 dies "
            "of SLC and MLC1, legacy mode, die-interleaved."
        ),
        rows=[
            *(
                Row(f"{words[kind]}, {dies} dies: SLC over MLC1", value, "%", published)
                for kind, values in over.items()
                for dies, value in zip(DIES[1:], values, strict=True)
            ),
            *(
                Row(f"{words[kind]}, {name}, {dies} dies", value, "%")
                for kind, one in curves.items()
                for name, curve in one.items()
                for dies, value in zip(DIES, curve, strict=True)
                if dies > 1
            ),
        ],
        plots=[
            Plot(
                words[kind].capitalize(),
                "Share of time spent waiting for the bus.",
                lines(DIES, curves[kind], "dies", "%", log=True),
            )
            for kind in found
        ],
        claims=[
            Claim(
                "SLC waits for the bus at least as much as MLC1, with any number of dies",
                all(slc >= mlc for slc, mlc in pairs),
                f"8 dies: writes {pairs[3][0]:.1f} and {pairs[3][1]:.1f} %, reads "
                f"{pairs[7][0]:.1f} and {pairs[7][1]:.1f} %",
            ),
            Claim(
                "Contention grows with the number of dies, for both parts",
                all(growing),
                ", ".join(
                    f"{name} {words[kind]} {curve[1]:.1f} to {curve[-1]:.1f} %"
                    for kind, one in found.items()
                    for name, curve in one.items()
                ),
            ),
        ],
        explanation=[
            "The document measured recorded workloads with mixed reads and writes, and does "
            "not give the number of dies. This figure has separate streams of reads and "
            "writes, and their mean. The ratio depends on both: it is near the published one "
            "only for the mean with eight dies, where writes of SLC begin to saturate the bus. "
            "The document's explanation holds in all cases: other dies use the bus while the "
            "array of one works, and the array operations of SLC are shorter.",
            "With up to four dies, writes hardly wait: in a closed loop, the dies take turns "
            "on the bus without collisions.",
        ],
        data={"dies": list(DIES), "contention_percent": curves},
    )
