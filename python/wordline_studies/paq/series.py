"""Figure 6.13: latencies of single requests."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from wordline.config import Value
from wordline_studies.cases import Case, latencies_us, tabled
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain
from wordline_studies.outcome import IN_POINTS, PER_CENT
from wordline_studies.paq.charts import dots
from wordline_studies.paq.loads import written
from wordline_studies.paq.runs import QUEUE, closed
from wordline_studies.paq.schedulers import BOTH, VAQ

LOAD = "sql3"
# Additional load, which has late requests.
LATE = "web1"
REQUESTS = 5000
SCHEDULERS = {"VAQ": VAQ, "PAQ2": BOTH, "PAQ2, bounded": BOTH}
BOUNDED = "PAQ2, bounded"
# Latency of each request in order, by scheduler. Microseconds.
Series = dict[str, list[float]]


def figure(setup: Setup) -> Figure:
    """Returns the figure for the requests of sql3 in order, without and with an age bound."""
    with written([LOAD, LATE], REQUESTS) as paths:
        found = _series(setup, paths)
    series = found[LOAD]
    physical, bounded = series["PAQ2"], series[BOUNDED]
    cost = gain(fmean(physical), fmean(bounded))
    return Figure(
        id="6.13",
        title="Figure 6.13: latencies of sql3",
        section="6.6.4",
        measured=(
            f"Time from admission to completion of the first {REQUESTS:,} requests of sql3, in "
            f"order, at queue depth {QUEUE}. A second run under PAQ2 has `age_bound_us` at VAQ's "
            "mean: a read that has waited for that long goes first. The same runs are shown for "
            "web1."
        ),
        rows=[row for load, one in found.items() for row in _rows(load, one)],
        plots=[
            Plot(
                f"{load}: {name}",
                "One dot per request.",
                dots(
                    name,
                    SCHEDULERS[name],
                    [value / 1000 for value in values],
                    "ms",
                    1.05 * max(map(max, one.values())) / 1000,
                ),
            )
            for load, one in found.items()
            for name, values in one.items()
        ],
        claims=_claims(found),
        explanation=[
            "The document calls 5,000 requests about the first tenth of the trace. By table "
            "6.1, it has five million.",
            f"The age bound changes PAQ2's mean latency of sql3 by {cost:+.1f} %.",
        ],
        data={"latency_us": found},
    )


def _claims(found: Mapping[str, Series]) -> list[Claim]:
    virtual, physical, _ = found[LOAD].values()
    much = 1 - PER_CENT / 100
    faster = 100 * fmean(late < much * early for late, early in zip(physical, virtual, strict=True))
    above, bounded = (
        {load: _above(one[name], one["VAQ"]) for load, one in found.items()}
        for name in ("PAQ2", BOUNDED)
    )
    return [
        Claim(
            "Most requests of sql3 take much less time under PAQ2 than under VAQ (by more than "
            f"{PER_CENT:g} %)",
            faster > 50,
            f"{faster:.1f} %",
            ids=("J6-067",),
        ),
        Claim(
            f"A small subset of the requests of sql3 (at most {IN_POINTS:g} %) takes more than "
            "twice as long under PAQ2 as under VAQ",
            0 < above[LOAD] <= IN_POINTS,
            f"{above[LOAD]:.2f} %",
            ids=("J6-068",),
        ),
        Claim(
            "On sql3, VAQ's latencies vary less than PAQ2's (standard deviation over mean), and "
            "their mean is higher",
            _scatter(virtual) < _scatter(physical) and fmean(virtual) > fmean(physical),
            f"{_scatter(virtual):.2f} and {_scatter(physical):.2f}; {fmean(virtual):,.0f} and "
            f"{fmean(physical):,.0f} µs",
            ids=("J6-066",),
        ),
        Claim(
            "With the age bound, fewer requests take more than twice as long under PAQ2 as under "
            "VAQ",
            all(bounded[load] < above[load] for load in found),
            ", ".join(
                f"{load} {bounded[load]:.2f} instead of {above[load]:.2f} %" for load in found
            ),
            ids=("J6-070",),
        ),
    ]


def _series(setup: Setup, paths: Mapping[str, Path]) -> dict[str, Series]:
    """Returns the latencies of each scheduler, by load."""
    free = {"VAQ": VAQ, "PAQ2": BOTH}
    cases = {
        (load, name): closed(load, path, scheduler)
        for load, path in paths.items()
        for name, scheduler in free.items()
    }
    found = _latencies(setup, cases)
    bounds: dict[str, dict[str, Value]] = {
        load: {"ssd.scheduler.paq2.age_bound_us": round(fmean(found[load, "VAQ"]))}
        for load in paths
    }
    found |= _latencies(
        setup,
        {
            (load, BOUNDED): closed(load, path, BOTH, more=bounds[load])
            for load, path in paths.items()
        },
    )
    return {load: {name: found[load, name] for name in SCHEDULERS} for load in paths}


def _rows(load: str, series: Series) -> list[Row]:
    virtual = series["VAQ"]
    rows: list[Row] = []
    for name, values in series.items():
        rows += [
            Row(f"{load}, {name}: mean latency", fmean(values), "µs"),
            Row(f"{load}, {name}: longest latency", max(values), "µs"),
            Row(
                f"{load}, {name}: share of requests that take more than twice VAQ's mean latency",
                _far(values, virtual),
                "%",
            ),
        ]
        if name != "VAQ":
            twice = _above(values, virtual)
            rows.append(
                Row(
                    f"{load}, {name}: share of requests that take more than twice their latency "
                    "under VAQ",
                    twice,
                    "%",
                )
            )
    return rows


def _latencies(
    setup: Setup, cases: Mapping[tuple[str, str], Case]
) -> dict[tuple[str, str], list[float]]:
    """Returns the latencies of the requests in order, by case. Microseconds."""
    named = {
        key: replace(case, label=f"{case.label}, {REQUESTS} requests")
        for key, case in cases.items()
    }
    return {key: latencies_us(run) for key, run in tabled(setup, named, "requests").items()}


def _above(values: Sequence[float], others: Sequence[float]) -> float:
    """Returns the share of requests that take more than twice their latency in `others`. Per
    cent."""
    return 100 * fmean(one > 2 * other for one, other in zip(values, others, strict=True))


def _far(values: Sequence[float], others: Sequence[float]) -> float:
    """Returns the share of requests that take more than twice the mean latency in `others`. Per
    cent."""
    mean = fmean(others)
    return 100 * fmean(one > 2 * mean for one in values)


def _scatter(values: Sequence[float]) -> float:
    """Returns the standard deviation over the mean."""
    mean = fmean(values)
    return fmean((value - mean) ** 2 for value in values) ** 0.5 / mean
