"""Figures 21 and 22: the parameters m and n."""

from collections.abc import Mapping
from itertools import pairwise

from wordline._render.charts import sweep
from wordline.config import Value
from wordline_studies.ecc.runs import DEVICE, DIFFERENTIATED, NORMAL, SCHEMES
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.regulation.recordings import (
    Recording,
    folder,
    measured,
    recordings,
    too_few,
)
from wordline_studies.regulation.runs import Key, Told, mean_change, passes, reading, writing

MS = (-4, -2, -1, 0, 2, 4)
NS = (0, 1, 2, 3, 4)
OF = ("all_us", "read_us", "write_us")
COLOURS = {"all": "#444b54", "read": "#3b86c6", "write": "#d8731c"}
Runs = Mapping[Key, list[Told]]
Means = dict[str, dict[str, float]]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures of m with n = 2, and of n with m = -1."""
    found = recordings(setup, DEVICE.page)
    by_m: dict[str, Mapping[str, Value]] = {
        f"m = {m}": {f"{DIFFERENTIATED}.m": float(m), f"{DIFFERENTIATED}.n": 2.0} for m in MS
    }
    by_n: dict[str, Mapping[str, Value]] = {
        f"n = {n}": {f"{DIFFERENTIATED}.m": -1.0, f"{DIFFERENTIATED}.n": float(n)} for n in NS
    }
    schemes = {NORMAL: SCHEMES[NORMAL], **by_m, **by_n}
    with folder() as traces:
        runs = passes(setup, DEVICE, traces, found, schemes)
    told = too_few(setup, found)
    return measured(found, [_m(found, runs, told), _n(found, runs, told)])


def _means(found: Mapping[str, Recording], runs: Runs, schemes: list[str]) -> Means:
    names = {"all_us": list(found), "read_us": reading(found), "write_us": writing(found)}
    return {
        of: {one: mean_change(runs, names[of], one, NORMAL, 1, of) for one in schemes} for of in OF
    }


def _figure(
    number: str, letter: str, values: tuple[int, ...], mean: Means, claims: list[Claim], more: str
) -> Figure:
    curves = {of.split("_")[0]: list(one.values()) for of, one in mean.items()}
    return Figure(
        id=number,
        title=f"Figure {number}: {letter}",
        section="5.4.2.1",
        measured=(
            f"Mean response times over {letter}, second pass, relative to the normal scheme; "
            "mean of the recordings."
        ),
        rows=[
            Row(f"{name}: {of.split('_')[0]}", value, "%")
            for of, one in mean.items()
            for name, value in one.items()
        ],
        plots=[
            Plot(
                f"Response times over {letter}",
                "Relative to the normal scheme.",
                sweep(values, curves, COLOURS, letter, "%"),
            )
        ],
        claims=claims,
        explanation=[more],
        data=mean,
    )


def _m(found: Mapping[str, Recording], runs: Runs, told: str) -> Figure:
    mean = _means(found, runs, [f"m = {m}" for m in MS])
    overall = mean["all_us"]
    best = min(overall, key=overall.__getitem__)
    behind = overall["m = -1"] - overall[best]
    worse = min(overall["m = 2"], overall["m = 4"]) - overall["m = -1"]
    claims = [
        Claim(
            "X7: m = -1 is best over all requests, or within a point of the best",
            behind <= 1,
            f"{best} is best; m = -1 is {behind:.2f} points behind",
            report_only=told,
            because=""
            if told
            else "a fast write saves 650 µs, and a read with LDPC costs 100 µs more, so fast "
            "writes pay unless a page is read more than six times per write; pages that are both "
            "read and written are read less often here, so a lower m is better",
        ),
        Claim(
            "X7: m above zero is not better",
            worse >= -0.05,
            f"{worse:+.2f} points",
            report_only=told,
        ),
    ]
    more = (
        "Most loads hardly depend on m, because they have few pages that are both read and written."
    )
    return _figure("21", "m", MS, mean, claims, more)


def _n(found: Mapping[str, Recording], runs: Runs, told: str) -> Figure:
    mean = _means(found, runs, [f"n = {n}" for n in NS])
    write, overall = list(mean["write_us"].values()), mean["all_us"]
    best = min(overall, key=overall.__getitem__)
    behind = overall["n = 3"] - overall[best]
    claims = [
        Claim(
            "X8: writes are no slower as n rises (within half a point)",
            all(later <= earlier + 0.5 for earlier, later in pairwise(write)),
            ", ".join(f"{one:+.1f}" for one in write) + " %",
            report_only=told,
        ),
        Claim(
            "X8: n = 3 is best over all requests, or within half a point of the best",
            behind <= 0.5,
            f"{best} is best; n = 3 is {behind:.2f} points behind",
            report_only=told,
        ),
    ]
    more = (
        "With n = 4, pages are hardly ever re-written; with n = 0, they are re-written at the "
        "first opportunity."
    )
    return _figure("22", "n", NS, mean, claims, more)
