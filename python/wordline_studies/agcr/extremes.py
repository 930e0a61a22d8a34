"""Figures 3 and 5: all pages in one mode."""

from wordline._render.charts import bars
from wordline_studies.agcr.runs import (
    DEVICE,
    EXTREMES,
    FITTED,
    PUBLISHED,
    SCHEMES,
    TRADITIONAL,
    Loads,
    of_loads,
)
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.outcome import IN_POINTS
from wordline_studies.regulation.plots import against_published
from wordline_studies.regulation.runs import change, mean_change, passes, reading, writing

COLOURS = dict(zip(EXTREMES, ("#1f78b4", "#d8731c", "#12a07a"), strict=True))
SLOW, FAST, REDUCED = EXTREMES
NAMED = {
    (SLOW, "read_us"): "HCW/LCR: change of the response time of reads",
    (SLOW, "write_us"): "HCW/LCR: change of the response time of writes",
    (FAST, "write_us"): "LCW/HCR: change of the response time of writes",
    (FAST, "read_us"): "LCW/HCR: change of the response time of reads",
    (REDUCED, "read_us"): "reduced wear: change of the response time of reads",
}
OF = {"read_us": "reads", "write_us": "writes", "all_us": "all requests", "wear": "wear"}


def quantity(of: str) -> str:
    """Returns the name of a measured change of `OF` for the label of a row."""
    return "change of wear" if of == "wear" else f"change of the response time of {OF[of]}"


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for the loads and for the available recorded traces."""
    return of_loads(setup, _figure)


def _figure(setup: Setup, found: Loads) -> list[Figure]:
    runs = passes(setup, DEVICE, found, {TRADITIONAL: SCHEMES[TRADITIONAL], **EXTREMES})
    names = {
        "read_us": reading(found),
        "write_us": writing(found),
        "all_us": list(found),
        "wear": writing(found),
    }
    mean = {
        (scheme, of): mean_change(runs, those, scheme, TRADITIONAL, 0, of)
        for scheme in EXTREMES
        for of, those in names.items()
    }
    by_load = {
        of: {
            name: {
                scheme: change(
                    getattr(runs[name, scheme][0], of), getattr(runs[name, TRADITIONAL][0], of)
                )
                for scheme in EXTREMES
            }
            for name in names[of]
        }
        for of in ("read_us", "write_us")
    }
    return [_extremes(mean, by_load)]


def _extremes(
    mean: dict[tuple[str, str], float], by_load: dict[str, dict[str, dict[str, float]]]
) -> Figure:
    rows = [
        *(
            Row(f"{scheme}: {quantity(of)}", mean[scheme, of], "%", PUBLISHED("3", name))
            for (scheme, of), name in NAMED.items()
        ),
        Row(
            f"{REDUCED}: wear, relative to that of medium mode (100 %)",
            100 + mean[REDUCED, "wear"],
            "%",
            PUBLISHED("3", "reduced wear: wear relative to that of medium mode"),
        ),
        *(
            Row(f"{scheme}: {quantity(of)}", value, "%")
            for (scheme, of), value in mean.items()
            if (scheme, of) not in NAMED and of != "wear"
        ),
        *(
            Row(f"{name}, {scheme}: {quantity(of)}", value, "%")
            for of, one in by_load.items()
            for name, own in one.items()
            for scheme, value in own.items()
        ),
    ]
    return Figure(
        id="3",
        title="Figures 3 and 5: all pages in one mode",
        section="3.1, 3.2",
        measured=(
            "Changes of the mean response time against medium mode, with all pages programmed in "
            "one mode, including those written before the run; mean of the loads."
        ),
        rows=rows,
        plots=[
            against_published(rows),
            *(
                Plot(
                    f"Response time of {OF[of]}",
                    "Change of the response time against medium cost.",
                    bars(one, COLOURS, "%"),
                )
                for of, one in by_load.items()
            ),
        ],
        claims=_claims(mean),
        explanation=[
            FITTED,
            "The document gives the differences between the two extremes, 114 and 61 percentage "
            "points of the response time under the traditional scheme. With its -54 and -26 %, "
            "these are +60 and +35 %.",
            "A read after a low-cost or reduced-wear write takes 310 instead of 170 µs, 82 % more. "
            "The published 60 and 52 % are less, which is possible only if reads also wait for "
            "writes. They wait less for low-cost writes, which are shorter, so the two values "
            "would be in reverse order.",
        ],
        data={"change_percent": dict(by_load.items())},
    )


def _claims(mean: dict[tuple[str, str], float]) -> list[Claim]:
    reads = {scheme: mean[scheme, "read_us"] for scheme in EXTREMES}
    gaps = {of: abs(mean[SLOW, of] - mean[FAST, of]) for of in ("read_us", "write_us")}
    listed = ", ".join(f"{scheme} {value:+.1f} %" for scheme, value in reads.items())
    return [
        Claim(
            "Reads are faster after high-cost than after medium-cost writes",
            reads[SLOW] < 0,
            f"{reads[SLOW]:+.1f} %",
            ids=("A-005",),
        ),
        Claim(
            "Over all requests, LCW/HCR is faster than medium-cost mode",
            mean[FAST, "all_us"] < 0,
            f"{mean[FAST, 'all_us']:+.1f} %",
            ids=("A-015",),
        ),
        Claim(
            "Of the three modes of figure 3, LCW/HCR has the slowest reads",
            reads[FAST] > max(0.0, reads[SLOW]),
            listed,
            ids=("A-016",),
        ),
        Claim(
            "The response times of reads and of writes differ between the two extremes by more "
            f"than {IN_POINTS:g} percentage points",
            min(gaps.values()) > IN_POINTS,
            f"reads {gaps['read_us']:.1f}, writes {gaps['write_us']:.1f} percentage points",
            ids=("A-079",),
        ),
    ]
