"""Figures 2.11 and 2.12: three latency models."""

from typing import Literal

from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.nand.modes import MODES, OPERATIONS, PUBLISHED, WORDS, bars, gain, part, stream

# Overrides of [nand.timing]. The data sheet's typical time is in the preset.
MODELS = {
    "variation": {"timing__model": "variation"},
    "typical, data sheet": {"timing__model": "typical"},
    "typical, mean": {"timing__model": "typical", "timing__typical_program_ns": 0},
    "worst": {"timing__model": "worst"},
}
Bandwidths = dict[str, dict[str, list[float]]]


def sdp(setup: Setup) -> Figure:
    """One die."""
    made = _figure(setup, "2.11", 1, "one die (SDP)")
    explanation = [
        "The data sheet's typical time (650 µs) is that of most programs when the part is asked "
        "for few; the mean over the pages of a block is 1,194.5 µs, as 62 of 128 pages are slow. "
        "A model with 650 µs is therefore too fast by about (1,194.5 + bus) / (650 + bus). With "
        "the mean as typical time (the third column) one die comes out exactly right: where "
        "nothing overlaps, only the sum of the times matters. The error of the typical model is "
        "one of the number, not of taking a constant.",
        "Deviations of the document are from hardware, which we do not have; ours are from the "
        "variation model. Both put the typical model 50 to 85 % above and the worst model 45 to "
        "55 % below.",
    ]
    return _with(made, explanation)


def ddp(setup: Setup) -> Figure:
    """Two dies."""
    made = _figure(setup, "2.12", 2, "two dies (DDP)")
    explanation = [
        "Two dies share the bus, which is used for less than a tenth of the time, so that both "
        "double whatever the model, and the deviations remain those of one die. The document has "
        "larger ones for the typical model (83 to 171 %) and smaller ones for the worst (7 to 42 "
        "%): its hardware got less out of the second die than any of the models. Something in the "
        "hardware that is neither bus nor array holds the dies back; it is not described, so no "
        "model of ours has it.",
    ]
    return _with(made, explanation)


def _with(made: Figure, explanation: list[str]) -> Figure:
    return Figure(**{**made.__dict__, "explanation": explanation})


def _bandwidths(setup: Setup, dies: int) -> Bandwidths:
    return {
        operation: {
            model: [
                stream(setup, part(setup, dies=dies, mode=mode, **more), operation, mode)[
                    "bandwidth_mb_per_s"
                ]
                for mode in MODES
            ]
            for model, more in MODELS.items()
        }
        for operation in OPERATIONS
    }


def _figure(setup: Setup, number: Literal["2.11", "2.12"], dies: int, words: str) -> Figure:
    found = _bandwidths(setup, dies)
    return Figure(
        id=number,
        title=f"Figure {number}: latency models, {words}",
        section="2.8.1",
        measured=f"Bandwidth of pages written and read one after another on {words} of MLC1, in "
        "four operation modes, under four latency models: each page its own program time "
        "(variation), the data sheet's typical time of 650 µs, the mean over the pages of a "
        "block, and the slowest. Deviations are from the variation model.",
        rows=_rows(number, found["program"]),
        plots=[
            Plot(
                WORDS[operation].capitalize(),
                "Bandwidth by mode and latency model.",
                bars([mode.name for mode in MODES], found[operation], "MB/s"),
            )
            for operation in OPERATIONS
        ],
        claims=_claims(found, dies),
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
        rows.append(Row(f"{mode.name}: variation, from hardware", None, "%", published))
        for model, name in (("typical, data sheet", "typical"), ("worst", "worst")):
            deviation = abs(gain(base, writes[model][place]))
            what = f"{mode.name}: {model}, from variation"
            rows.append(Row(what, deviation, "%", PUBLISHED(number, name)))
        mean = abs(gain(base, writes["typical, mean"][place]))
        rows.append(Row(f"{mode.name}: typical, mean, from variation", mean, "%"))
    return rows


def _claims(found: Bandwidths, dies: int) -> list[Claim]:
    writes, reads = found["program"], found["read"]
    orders = zip(writes["typical, data sheet"], writes["variation"], writes["worst"], strict=True)
    spread = max(
        abs(gain(reads["variation"][place], values[place]))
        for values in reads.values()
        for place in range(len(MODES))
    )
    claims = [
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
    if dies == 1:
        doubled = writes["variation"][2] / writes["variation"][0]
        text = "2x doubles the write throughput of legacy mode"
        claims.append(Claim(text, 1.8 <= doubled <= 2.1, f"{doubled:.2f} times"))
    return claims
