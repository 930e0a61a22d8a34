"""Recorded traces: worst cases and late requests."""

from collections.abc import Callable, Mapping
from pathlib import Path

import wordline
from wordline import WordlineError
from wordline._render.charts import bars
from wordline.summary import Summary
from wordline_studies.cases import completed
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.gc.charts import MARGIN_MS
from wordline_studies.gc.idleness import KINDS, shares
from wordline_studies.gc.runs import Load, case, late_percent, longest_ms
from wordline_studies.gc.schemes import AGC, BOTH, DGC, SCHEMES, H, L, P
from wordline_studies.traces import missing, recorded

STRATEGIES = (L, H, P, AGC, DGC, BOTH)
REQUESTS = 60_000
PAUSES = {
    "at once": "share of intervals without a pause",
    "short": "share of intervals with a short pause",
    "long": "share of intervals with a long pause",
}
# Names of traces with time stamps and writes.
KNOWN = {
    one: (one,)
    for one in (
        "msnfs",
        "web_3",
        "rsrch_1",
        "hm_0",
        "financial1",
        "devdivrelease",
        "tpcc",
        "hplajw",
        "cloudphysics-io",
        "mayun2",
        "desktop-sys1",
        "hil-desktop",
        "postmark",
        "fillrandom",
        "telegram_exec",
        "cod_exec",
        "genshin_impact_exec",
        "slideshow_exec",
        "installing",
        "movie",
        "opt7b",
        "systor17",
        "tencent",
    )
}


def figure(setup: Setup) -> Figure:
    """Returns the figure for the available recorded traces on one SSD of 6SSDs-RAID."""
    found_traces = recorded(setup, KNOWN)
    many = setup.requests(REQUESTS)
    skipped: list[str] = []
    loads: dict[str, Load] = {}
    pauses: dict[str, dict[str, float]] = {}
    for name, path in found_traces.items():
        try:
            told = _stat(path)
        except WordlineError as fault:
            skipped.append(f"{name} is omitted: {fault}")
            continue
        pauses[name] = told[1]
        loads[name] = Load(name, path, told[0], many)
    runs, faults = completed(
        setup,
        {
            (name, scheme): case(load, scheme)
            for name, load in loads.items()
            for scheme in STRATEGIES
        },
    )
    for (name, scheme), fault in faults.items():
        if scheme == STRATEGIES[0]:
            skipped.append(f"{name} is omitted: {fault}")
    left_out = {name for name, _ in faults}
    names = [name for name in loads if name not in left_out]
    skipped += missing(KNOWN, found_traces)
    colours = {SCHEMES[scheme].title: SCHEMES[scheme].colour for scheme in STRATEGIES}
    worst = {name: _by_title(runs, name, longest_ms) for name in names}
    late = {name: _by_title(runs, name, late_percent) for name in names}
    return Figure(
        id="recorded",
        title="Recorded traces",
        section="7.6",
        measured=(
            f"The first {many:,} requests of traces of other machines, and the available 100,000 "
            "requests of disk 5 of the document's server. Requests arrive at their recorded times "
            "on one SSD of 6SSDs-RAID. Addresses beyond its end are wrapped around, and the SSD "
            "is full at the start."
        ),
        rows=[
            *(
                Row(f"{name}: {PAUSES[kind]}", value, "%")
                for name in names
                for kind, value in pauses[name].items()
            ),
            *(
                Row(f"{name}, {title}: longest response time", value, "ms")
                for name, one in worst.items()
                for title, value in one.items()
            ),
            *(
                Row(f"{name}, {title}: share of requests slower than {MARGIN_MS} ms", value, "%")
                for name, one in late.items()
                for title, value in one.items()
            ),
        ],
        plots=[
            Plot(
                "Worst-case response time",
                "Longest response time of each trace.",
                bars(_brief(worst), colours, "ms", log=True),
            ),
            Plot(
                "Late requests",
                f"Share of requests slower than {MARGIN_MS} ms.",
                bars(_brief(late), colours, "% of requests"),
            ),
            Plot(
                "Pauses",
                "Intervals between requests of the whole trace.",
                bars(
                    _brief({name: pauses[name] for name in names}),
                    KINDS,
                    "% of intervals",
                    stacked=True,
                ),
            ),
        ]
        if names
        else [],
        explanation=[
            "No claim is tested on these traces, because no two of them have similar pauses and "
            "writes.",
            *skipped,
        ],
        data={"worst_ms": worst, "late_percent": late, "pauses_percent": pauses},
    )


def _stat(path: Path) -> tuple[float, dict[str, float]]:
    """Returns the duration of a trace in seconds, and the shares of its pauses in per cent. Raises
    WordlineError if the trace cannot be read, or has no writes or no time stamps."""
    told = wordline.trace_stat(
        path, on_bad_line="skip", time_order="clamp", align="expand", volumes="shared"
    )
    if not told["writes"]:
        raise WordlineError("the trace has no writes")
    if told["duration_s"] is None:
        raise WordlineError("the trace has no time stamps")
    return told["duration_s"], shares(told)


def _by_title(
    runs: Mapping[tuple[str, str], Summary], name: str, measure: Callable[[Summary], float]
) -> dict[str, float]:
    return {SCHEMES[scheme].title: measure(runs[name, scheme]) for scheme in STRATEGIES}


def _brief(values: Mapping[str, Mapping[str, float]]) -> dict[str, Mapping[str, float]]:
    """Returns the values by the name of the workload alone, without that of the file."""
    return {name.split(" (")[0]: one for name, one in values.items()}
