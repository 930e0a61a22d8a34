"""Figures 2.11 and 2.12: comparison of latency models."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

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
    part,
    stream,
)

# Overrides of [nand.timing]. The preset has the data sheet's typical time.
MODELS: dict[str, dict[str, Value]] = {
    "variation": {"timing.model": "variation"},
    "typical, data sheet": {"timing.model": "typical"},
    "typical, mean": {"timing.model": "typical", "timing.typical_program_ns": 0},
    "worst": {"timing.model": "worst"},
}
Bandwidths = dict[str, dict[str, list[float]]]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures of one die (SDP) and of two dies (DDP)."""
    one, two = _bandwidths(setup, 1, {}), _bandwidths(setup, 2, FROM_650_US)
    return [_sdp(one), _ddp(one, two)]


def _sdp(found: Bandwidths) -> Figure:
    made = _figure("2.11", "one die (SDP)", found)
    writes = found["program"]["variation"]
    doubled = writes[2] / writes[0]
    claim = Claim(
        "2x doubles the write throughput of legacy mode",
        1.8 <= doubled <= 2.1,
        f"{doubled:.2f} times",
    )
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
    return replace(made, claims=[*made.claims, claim], explanation=explanation)


def _ddp(one: Bandwidths, two: Bandwidths) -> Figure:
    made = _figure("2.12", "two dies (DDP)", two)
    deviations = {
        model: [
            [abs(gain(*pair)) for pair in zip(of["variation"], of[model], strict=True)]
            for of in (one["program"], two["program"])
        ]
        for model in ("typical, data sheet", "worst")
    }
    typical, worst = deviations["typical, data sheet"], deviations["worst"]
    claim = Claim(
        "With two dies, the typical model deviates more than with one, and the worst model less",
        max(typical[1]) > max(typical[0]) and max(worst[1]) < max(worst[0]) - 1,
        f"typical at most {max(typical[0]):.1f} and {max(typical[1]):.1f} %, worst at most "
        f"{max(worst[0]):.1f} and {max(worst[1]):.1f} %",
    )
    explanation = [
        "Section 2.8 uses two types of MLC packages, SDP and DDP, and gives the program times "
        "of one. The package of two dies has those of section 2.8.2 here, 650 to 2,200 µs. "
        "Nearly all of its pages are slower than the data sheet's typical time, so the typical "
        "model deviates more; none is much faster than the slowest, so the worst model "
        "deviates less. Assigning these times to the DDP was chosen after seeing results. With "
        "table 2.1's 250 µs in both packages, the second die doubles the throughput of every "
        "model, and the deviations of two dies equal those of one.",
    ]
    return replace(made, claims=[*made.claims, claim], explanation=explanation)


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
            published = PUBLISHED(number, f"variation, {mode.name}")
        else:
            published = PUBLISHED(number, "variation")
        rows.append(
            Row(
                f"{mode.name}: deviation of variation from hardware",
                None,
                "%",
                published,
                "a measurement of the hardware",
            )
        )
        for model, name in (("typical, data sheet", "typical"), ("worst", "worst")):
            deviation = abs(gain(base, writes[model][place]))
            what = f"{mode.name}: deviation of {model} from variation"
            rows.append(Row(what, deviation, "%", PUBLISHED(number, name)))
        mean = abs(gain(base, writes["typical, mean"][place]))
        rows.append(Row(f"{mode.name}: deviation of typical, mean from variation", mean, "%"))
    return rows


def _claims(found: Bandwidths) -> list[Claim]:
    writes, reads = found["program"], found["read"]
    orders = zip(writes["typical, data sheet"], writes["variation"], writes["worst"], strict=True)
    spread = max(
        abs(gain(reads["variation"][place], values[place]))
        for values in reads.values()
        for place in range(len(MODES))
    )
    return [
        Claim(
            "Writes: the typical model is fastest and the worst model slowest, in every mode",
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
        Claim(
            "Reads: the models do not differ",
            spread == 0,
            f"largest deviation {spread:.3f} %",
        ),
    ]
