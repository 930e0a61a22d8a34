"""Figures 2.11 and 2.12: comparison of latency models."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from wordline._render.units import many
from wordline.config import Value
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain
from wordline_studies.nand.modes import (
    FROM_650_US,
    MODES,
    OPERATIONS,
    PUBLISHED,
    WORDS,
    bars,
    lines,
    part,
    stream,
)
from wordline_studies.outcome import IN_POINTS, PER_CENT

# Overrides of [nand.timing]. The preset has the data sheet's typical time.
MODELS: dict[str, dict[str, Value]] = {
    "variation": {"timing.model": "variation"},
    "typical, data sheet": {"timing.model": "typical"},
    "typical, mean": {"timing.model": "typical", "timing.typical_program_ns": 0},
    "worst": {"timing.model": "worst"},
}
CONSTANT = ("typical, data sheet", "worst")
"""Models with one program time for all pages, which the document compares with the variation."""
NAMED = {
    "typical, data sheet": "the typical model, time of the data sheet,",
    "typical, mean": "the typical model, mean time,",
    "worst": "the worst model",
}
"""Names of the models with one program time in labels of rows."""
HARDWARE = "deviation of the variation model from the hardware"
DIES = (1, 2, 3, 4, 5, 6, 7, 8)
LARGE_KIB = 8
Bandwidths = dict[str, dict[str, list[float]]]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for one die (SDP) and for two dies (DDP)."""
    one, two = _bandwidths(setup, 1, {}), _bandwidths(setup, 2, FROM_650_US)
    return [_sdp(one), _ddp(setup, one, two)]


def _sdp(found: Bandwidths) -> Figure:
    made = _figure("2.11", "one die (SDP)", found)
    writes = found["program"]["variation"]
    published = PUBLISHED("2.11", "write bandwidth, 2x over legacy")
    doubled = Row("write bandwidth, 2x over legacy", writes[2] / writes[0], "times", published)
    explanation = [
        "The data sheet's typical time, 650 µs, is well below the mean over the pages of a block, "
        "1,194.5 µs, because 62 of 128 pages are slow. A model with 650 µs is too fast by a "
        "factor of (1,194.5 + bus) / (650 + bus). With the mean as typical time, the throughput "
        "of one die is correct: if programs follow one another, only the sum of their times "
        "matters. The typical model therefore errs by the value of its constant, not by using a "
        "constant.",
        "The document's deviations are relative to hardware, the simulated ones relative to the "
        "variation model.",
    ]
    return replace(
        made,
        rows=[*made.rows, doubled],
        claims=[*made.claims, _off(found), _uneven(found)],
        explanation=explanation,
    )


def _deviations(found: Bandwidths, model: str) -> list[float]:
    """Returns the absolute deviation of a model from the variation model, by mode. Per cent."""
    writes = found["program"]
    return [abs(gain(*pair)) for pair in zip(writes["variation"], writes[model], strict=True)]


def _off(found: Bandwidths) -> Claim:
    off = {model: _deviations(found, model) for model in CONSTANT}
    return Claim(
        f"Writes: the typical and the worst model deviate by more than {PER_CENT:g} %, in every "
        "mode, from the variation model, which stands for the part",
        min(min(values) for values in off.values()) > PER_CENT,
        ", ".join(
            f"{model} {min(values):.1f} to {max(values):.1f} %" for model, values in off.items()
        ),
        ids=("J2-040",),
    )


def _uneven(found: Bandwidths) -> Claim:
    reads, writes = (gain(*found[one]["variation"][:2]) for one in ("read", "program"))
    return Claim(
        f"Cache mode: the bandwidth gains of reads and writes differ by at most {IN_POINTS:g} "
        "percentage points",
        abs(reads - writes) <= IN_POINTS,
        f"reads {reads:+.1f} %, writes {writes:+.1f} %",
        because=(
            "cache mode hides data in, which takes 51.2 of 1,246 µs, behind programs, and array "
            "reads, which take 50 of 101 µs, behind data out"
        ),
        ids=("J2-019",),
    )


def _ddp(setup: Setup, one: Bandwidths, two: Bandwidths) -> Figure:
    made = _figure("2.12", "two dies (DDP)", two)
    same = _bandwidths(setup, 2, {})
    off, busy = _by_dies(setup)
    by_dies = {"bus busy": [100 * share for share in busy], "deviation of typical": off}
    explanation = [
        "Section 2.8 uses two types of MLC packages, SDP and DDP, and gives the program times "
        "of one. The package of two dies has those of section 2.8.2 here, 650 to 2,200 µs. "
        "Nearly all of its pages are slower than the data sheet's typical time, so the typical "
        "model deviates more; none is much faster than the slowest, so the worst model "
        "deviates less. Assigning these times to the DDP was chosen after seeing results. With "
        "table 2.1's 250 µs in both packages, the second die doubles the throughput of every "
        "model, and the deviations of two dies equal those of one.",
        "A constant time is only correct if the bus, and not the array, limits the writes. With "
        "the pages of 2 KiB of the figure, eight dies use a third of the bus. The plot of dies has "
        f"pages of {LARGE_KIB} KiB, with which eight dies saturate it.",
    ]
    plot = Plot(
        f"Typical model and bus, pages of {LARGE_KIB} KiB",
        "Deviation of legacy writes from the variation model, and use of the bus under that "
        "model, by number of dies.",
        lines(
            DIES,
            {
                "share of time in which the bus is busy": by_dies["bus busy"],
                "deviation of the typical model": by_dies["deviation of typical"],
            },
            "dies",
            "%",
        ),
    )
    return replace(
        made,
        plots=[*made.plots, plot],
        claims=[*made.claims, *_two_dies(one, two, same), _ideal(off, busy)],
        explanation=explanation,
        data={**made.data, "by_dies": by_dies},
    )


def _two_dies(one: Bandwidths, two: Bandwidths, same: Bandwidths) -> list[Claim]:
    typical, worst = CONSTANT
    pairs = [
        pair
        for found in (two, same)
        for pair in zip(_deviations(found, worst), _deviations(found, typical), strict=True)
    ]
    first, second = (_deviations(found, typical) for found in (one, two))
    equal = max(
        abs(a - b)
        for model in CONSTANT
        for a, b in zip(_deviations(one, model), _deviations(same, model), strict=True)
    )
    return [
        Claim(
            "Two dies: the worst model deviates less than the typical model in every mode, with "
            "shortest program times of 650 µs and of 250 µs",
            all(less < more for less, more in pairs),
            f"worst at most {max(less for less, _ in pairs):.1f} %, typical at least "
            f"{min(more for _, more in pairs):.1f} %",
            ids=("J2-051",),
        ),
        Claim(
            "The typical model deviates more from the variation model with two dies than with "
            "one, in every mode",
            all(more > less for less, more in zip(first, second, strict=True)),
            f"{min(second):.1f} to {max(second):.1f} %, and {min(first):.1f} to {max(first):.1f} %",
            ids=("J2-053",),
        ),
        Claim(
            "With the program times of table 2.1 in both packages, the deviations of both models "
            f"with two dies equal those with one, within {IN_POINTS:g} percentage points",
            equal <= IN_POINTS,
            f"at most {equal:.1f} percentage points apart",
        ),
    ]


def _by_dies(setup: Setup) -> tuple[list[float], list[float]]:
    """Returns the deviation of the typical model in per cent, and the share of time in which the
    bus is busy under the variation model, by dies."""
    pages: dict[str, Value] = {
        "geometry.page_bytes": 1024 * LARGE_KIB,
        "geometry.spare_bytes": 32 * LARGE_KIB,
    }
    found = [
        [
            stream(setup, part(setup, dies=dies, more={**pages, **MODELS[model]}), "program")
            for model in ("variation", "typical, data sheet")
        ]
        for dies in DIES
    ]
    off = [abs(gain(a["bandwidth_mb_per_s"], b["bandwidth_mb_per_s"])) for a, b in found]
    return off, [report["bus_busy_ps"] / report["elapsed_ps"] for report, _ in found]


def _ideal(off: list[float], busy: list[float]) -> Claim:
    full = 1 - PER_CENT / 100
    ideal = [share for one, share in zip(off, busy, strict=True) if one <= PER_CENT]
    return Claim(
        f"The typical model is within {PER_CENT:g} % of the variation model if and only if the "
        f"bus is busy for at least {100 * full:g} % of the time",
        bool(ideal)
        and all((one <= PER_CENT) == (share >= full) for one, share in zip(off, busy, strict=True)),
        f"pages of {LARGE_KIB} KiB: "
        + ", ".join(
            f"{many(dies, 'die')} {one:.0f} % off, bus {share:.0%} busy"
            for dies, one, share in zip(DIES, off, busy, strict=True)
        ),
        ids=("J2-052",),
    )


def _bandwidths(setup: Setup, dies: int, programs: Mapping[str, Value]) -> Bandwidths:
    return {
        operation: {
            model: [
                stream(
                    setup,
                    part(setup, dies=dies, mode=mode, more={**programs, **more}),
                    operation,
                    mode,
                )["bandwidth_mb_per_s"]
                for mode in MODES
            ]
            for model, more in MODELS.items()
        }
        for operation in OPERATIONS
    }


def _figure(number: Literal["2.11", "2.12"], words: str, found: Bandwidths) -> Figure:
    return Figure(
        id=number,
        title=f"Figure {number}: latency models, {words}",
        section="2.8.1",
        measured=(
            f"Bandwidth of sequential page writes and reads on {words} of MLC1, in four "
            "operation modes, under four latency models: a program time per page (variation), "
            "the data sheet's typical time of 650 µs, the mean over the pages of a block, and "
            "the slowest page. Deviations are from the variation model."
        ),
        rows=_rows(number, found["program"]),
        plots=[
            Plot(
                WORDS[operation].capitalize(),
                "Bandwidth by mode and latency model.",
                bars([mode.name for mode in MODES], found[operation], "MB/s"),
            )
            for operation in OPERATIONS
        ],
        claims=_claims(found),
        data=found,
    )


def _rows(number: str, writes: dict[str, list[float]]) -> list[Row]:
    rows: list[Row] = []
    for place, mode in enumerate(MODES):
        base = writes["variation"][place]
        if number == "2.11":
            published = PUBLISHED(number, f"write bandwidth, {mode.name}: {HARDWARE}")
        else:
            published = PUBLISHED(number, f"write bandwidth: {HARDWARE}")
        rows.append(
            Row(
                f"write bandwidth, {mode.name}: {HARDWARE}",
                None,
                "%",
                published,
                "a measurement of the hardware",
            )
        )
        for model, name in zip(CONSTANT, ("typical", "worst"), strict=True):
            deviation = abs(gain(base, writes[model][place]))
            what = (
                f"write bandwidth, {mode.name}: deviation of {NAMED[model]} from the variation "
                "model"
            )
            published = PUBLISHED(
                number, f"write bandwidth: deviation of the {name} model from the hardware"
            )
            rows.append(Row(what, deviation, "%", published))
        mean = abs(gain(base, writes["typical, mean"][place]))
        what = (
            f"write bandwidth, {mode.name}: deviation of {NAMED['typical, mean']} from the "
            "variation model"
        )
        rows.append(Row(what, mean, "%"))
    return rows


def _claims(found: Bandwidths) -> list[Claim]:
    writes = found["program"]
    orders = zip(writes["typical, data sheet"], writes["variation"], writes["worst"], strict=True)
    return [
        Claim(
            "Writes: the typical model has the highest bandwidth and the worst model the lowest, "
            "in every mode",
            all(typical > variation > worst for typical, variation, worst in orders),
            ", ".join(
                f"{mode.name} {t:.2f} > {v:.2f} > {w:.2f} MB/s"
                for mode, t, v, w in zip(
                    MODES,
                    writes["typical, data sheet"],
                    writes["variation"],
                    writes["worst"],
                    strict=True,
                )
            ),
        ),
    ]
