"""Figures 2.13, 2.14 and 2.16: stages."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from wordline._api.package import Report, Strip
from wordline._render.plotly import figure
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.nand.modes import (
    CACHE,
    FROM_650_US,
    LEGACY,
    MODES,
    OPERATIONS,
    PUBLISHED,
    TWO,
    WORDS,
    bars,
    part,
    stream,
)

STAGES = {
    "CLE": "#8b929c",
    "ALE": "#b9bec6",
    "TIR": "#e0a30a",
    "TOR": "#12a07a",
    "TIN": "#d8731c",
    "TON": "#3b86c6",
    "BER": "#c2457f",
    "status": "#7a6bc9",
}
ARRAY = ("TIN", "TON", "BER")
DATA = ("TIR", "TOR")
PAGES = 16


def share(report: Report, stages: Sequence[str]) -> float:
    """Returns the share of all cycles spent in the given stages. Per cent."""
    times = report["stage_ps"]
    return 100 * sum(times[stage] for stage in stages) / sum(times.values())


def stacked(
    names: Sequence[str], shares: Mapping[str, Sequence[float]], unit: str
) -> dict[str, Any]:
    """Draws a bar per name, stacked by stage."""
    seen = {stage: values for stage, values in shares.items() if any(values)}
    return bars(names, seen, unit, [STAGES[stage] for stage in seen], stacked=True)


def _strips(setup: Setup, operation: Literal["program", "read"]) -> dict[str, list[Strip]]:
    found: dict[str, list[Strip]] = {}
    for mode in (LEGACY, CACHE, TWO):
        package = part(setup, mode=mode)
        report = package.stream(
            operation, requests=PAGES, queue_depth=PAGES, cache_rows=mode.rows, strips=True
        )
        found[mode.name] = report.get("strips", [])
    return found


def _gantt(found: dict[str, list[Strip]]) -> dict[str, Any]:
    data: list[dict[str, Any]] = []
    for stage, colour in STAGES.items():
        shown = [(mode, strip) for mode, strips in found.items() for strip in strips]
        shown = [(mode, strip) for mode, strip in shown if strip["stage"] == stage]
        if not shown:
            continue
        data.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": stage,
                "y": [f"{mode}, {'array' if stage in ARRAY else 'bus'}" for mode, _ in shown],
                "base": [strip["from_ps"] / 1e9 for _, strip in shown],
                "x": [(strip["until_ps"] - strip["from_ps"]) / 1e9 for _, strip in shown],
                "customdata": [
                    [
                        strip["transaction"],
                        "" if strip["command"] is None else f" {strip['command']:02X}h",
                        (strip["until_ps"] - strip["from_ps"]) / 1e6,
                    ]
                    for _, strip in shown
                ],
                "marker": {"color": colour, "line": {"width": 0.6, "color": "#ffffff"}},
                "hovertemplate": f"{stage}%{{customdata[1]}} of transaction %{{customdata[0]}}: "
                "%{customdata[2]:.3~f} µs<extra></extra>",
            }
        )
    order = [f"{mode}, {what}" for mode in found for what in ("bus", "array")]
    return figure(
        data,
        height=380,
        barmode="overlay",
        bargap=0.25,
        xaxis={"title": {"text": "ms"}},
        yaxis={"type": "category", "categoryorder": "array", "categoryarray": order[::-1]},
    )


def _of(strips: list[Strip], stage: str) -> list[Strip]:
    return [strip for strip in strips if strip["stage"] == stage]


def _us(strips: list[Strip], stage: str) -> list[float]:
    return [(strip["until_ps"] - strip["from_ps"]) / 1e6 for strip in _of(strips, stage)]


def _data(found: dict[str, list[Strip]]) -> dict[str, Any]:
    return {
        mode: {stage: _us(strips, stage) for stage in STAGES if _of(strips, stage)}
        for mode, strips in found.items()
    }


def _plot(found: dict[str, list[Strip]]) -> Plot:
    return Plot(
        "Stages over time",
        "Each strip is a stage, on the bus (commands, addresses, data, status) or in the array. "
        "Drag to zoom in.",
        _gantt(found),
    )


def writes(setup: Setup) -> Figure:
    """Reproduces figure 2.13: cycles of writes."""
    found = _strips(setup, "program")
    programs = {mode: _us(strips, "TIN") for mode, strips in found.items()}
    runs = pairwise(_of(found["cache"], "TIN"))
    gaps = [later["from_ps"] - earlier["until_ps"] for earlier, later in runs]
    bus = [_us(found["legacy"], stage) for stage in ("CLE", "ALE", "TIR")]
    return Figure(
        id="2.13",
        title="Figure 2.13: cycles of writes",
        section="2.8.2",
        measured=(
            "Writes of 8 pages to each of two blocks, in different planes of one die of MLC1, "
            "as 16 requests of 2 KiB that are all present at the start."
        ),
        rows=[
            Row(
                f"{mode}: array programs",
                len(times),
                "",
                PUBLISHED("2.13", "programs of the array") if mode != "2x" else None,
            )
            for mode, times in programs.items()
        ]
        + [
            Row(
                "legacy: shortest program",
                min(programs["legacy"]),
                "µs",
                PUBLISHED("2.13", "shortest program"),
            ),
            Row(
                "legacy: longest program",
                max(programs["legacy"]),
                "µs",
                PUBLISHED("2.13", "longest program"),
            ),
            Row("cache: longest pause between array programs", max(gaps) / 1e6, "µs"),
        ],
        plots=[_plot(found)],
        claims=[
            Claim(
                "Cache mode: the sixteen array programs follow one another without a pause",
                max(gaps) == 0 and len(programs["cache"]) == PAGES,
                f"{len(programs['cache'])} programs, longest pause {max(gaps)} ps",
            ),
            Claim(
                "2x halves the number of array programs",
                2 * len(programs["2x"]) == len(programs["legacy"]),
                f"{len(programs['2x'])} instead of {len(programs['legacy'])}",
            ),
            Claim(
                "Program times depend on the page address",
                min(programs["legacy"]) < max(programs["legacy"]),
                f"{min(programs['legacy']):g} to {max(programs['legacy']):g} µs",
            ),
            Claim(
                "The array takes much longer than the bus",
                sum(programs["legacy"]) > 5 * sum(map(sum, bus)),
                f"{sum(programs['legacy']):,.0f} µs against {sum(map(sum, bus)):,.0f} µs",
            ),
        ],
        explanation=[
            "Programs in the document's figure take 650 µs to 5 ms, which matches neither of "
            "its MLC parts (table 2.1: 250 to 2,200 µs, and 440 to 5,000 µs). The simulated "
            "programs are those of MLC1, the document's default part.",
        ],
        data=_data(found),
    )


def reads(setup: Setup) -> Figure:
    """Reproduces figure 2.14: cycles of reads."""
    found = _strips(setup, "read")
    times = {mode: (_us(strips, "TON"), _us(strips, "TOR")) for mode, strips in found.items()}
    commands = {mode: len(_of(strips, "CLE")) for mode, strips in found.items()}
    array, out = (sum(part) for part in times["legacy"])
    return Figure(
        id="2.14",
        title="Figure 2.14: cycles of reads",
        section="2.8.2",
        measured="Reads of the pages of figure 2.13.",
        rows=[
            row
            for mode, (array_us, out_us) in times.items()
            for row in (
                Row(f"{mode}: array reads", len(array_us), ""),
                Row(f"{mode}: data-out time over array time", sum(out_us) / sum(array_us), ""),
                Row(f"{mode}: command cycles without status", commands[mode], ""),
            )
        ],
        plots=[_plot(found)],
        claims=[
            Claim(
                "All array reads take the same time",
                len({time for array_us, _ in times.values() for time in array_us}) == 1,
                f"{times['legacy'][0][0]:g} µs",
            ),
            Claim(
                "Legacy: data out takes about as long as the array",
                0.8 <= out / array <= 1.25,
                f"{out:,.1f} µs and {array:,.1f} µs",
            ),
            Claim(
                "Cache: data out takes longer than the array",
                sum(times["cache"][1]) > sum(times["cache"][0]),
                f"{sum(times['cache'][1]):,.1f} µs and {sum(times['cache'][0]):,.1f} µs",
            ),
            Claim(
                "2x needs more commands than legacy to read the same data",
                commands["2x"] > commands["legacy"],
                f"{commands['2x']} and {commands['legacy']}",
            ),
        ],
        explanation=[
            "2x selects each plane before its data out (06h, address, E0h), which takes 7 "
            "cycles of 25 ns per page; it saves one array read for every second page.",
            "There are two cache read commands, one per plane, because a cache read stays in "
            "the planes in which it began.",
        ],
        data=_data(found),
    )


def breakdown(setup: Setup) -> Figure:
    """Reproduces figure 2.16: cycles by stage."""
    reports = {
        operation: [
            stream(setup, part(setup, mode=mode, more=FROM_650_US), operation, mode)
            for mode in MODES
        ]
        for operation in OPERATIONS
    }
    names = [mode.name for mode in MODES]
    shares = {
        operation: {stage: [share(report, (stage,)) for report in told] for stage in STAGES}
        for operation, told in reports.items()
    }
    array = [share(report, ARRAY) for report in reports["program"]]
    moved = [share(report, DATA) for report in reports["program"]]
    read = [share(report, DATA) for report in reports["read"]]
    rows = [
        row
        for place, name in enumerate(names)
        for row in (
            Row(f"writes, {name}: array", array[place], "%", PUBLISHED("2.16", "writes, array")),
            Row(
                f"writes, {name}: data transfer",
                moved[place],
                "%",
                PUBLISHED("2.16", "writes, moving data"),
            ),
            Row(
                f"reads, {name}: data transfer",
                read[place],
                "%",
                PUBLISHED("2.16", "reads, moving data"),
            ),
        )
    ]
    return Figure(
        id="2.16",
        title="Figure 2.16: cycles by stage",
        section="2.8.4",
        measured=(
            "Share of all cycles by stage, for writes and reads of 2 KiB on one die of MLC1 "
            "with programs of 650 to 2,200 µs. Overlapping cycles are counted in each stage."
        ),
        rows=rows,
        plots=[
            Plot(
                WORDS[operation].capitalize(),
                "Share of cycles by stage.",
                stacked(names, shares[operation], "%"),
            )
            for operation in OPERATIONS
        ],
        claims=[
            Claim(
                "Writes: the array has most of the cycles in every mode",
                min(array) > 50,
                ", ".join(f"{name} {a:.1f} %" for name, a in zip(names, array, strict=True)),
            ),
            Claim(
                "Legacy and cache writes: at least 93 % array, at most 7 % data transfer",
                min(array[:2]) >= 93 and max(moved[:2]) <= 7,
                f"array {min(array[:2]):.1f} %, data transfer {max(moved[:2]):.1f} %",
            ),
            Claim(
                "2x writes: at most 7 % data transfer, at least 93 % array",
                max(moved[2:]) <= 7 and min(array[2:]) >= 93,
                f"{max(moved[2:]):.2f} and {min(array[2:]):.2f} %",
            ),
            Claim(
                "Reads: data transfer has at least half of the cycles in every mode",
                round(min(read), 1) >= 50.5,
                ", ".join(f"{name} {r:.2f} %" for name, r in zip(names, read, strict=True)),
            ),
        ],
        explanation=[
            "For one page, a program takes 1,400.8 µs on average, a read 50 µs, a transfer "
            "51.2 µs. Programs take 650 to 2,200 µs: section 2.8.2 gives 650,000 cycles of 1 "
            "ns as the shortest. The published shares need a mean program time of 1,360 to "
            "1,411 µs on this bus; with table 2.1's 250 µs for the fast pages, data transfer "
            "has 7.7 % in 2x mode. Combining 650 µs with 2,200 µs, and not with the 5,000 µs "
            "of figure 2.13, is our choice.",
        ],
        data={"share_of_cycles_percent": shares, "modes": names},
    )
