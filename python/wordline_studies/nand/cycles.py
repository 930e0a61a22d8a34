"""Figures 2.13, 2.14 and 2.16: stages."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from wordline._api.package import Report, Strip
from wordline._render.plotly import figure
from wordline.config import Value
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain
from wordline_studies.nand.modes import (
    CACHE,
    FROM_650_US,
    LEGACY,
    MODES,
    OPERATIONS,
    PUBLISHED,
    SLC,
    TWO,
    WORDS,
    bars,
    part,
    stream,
)
from wordline_studies.outcome import PER_CENT

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
PAGE_BYTES = 2048
FAST_BUS = 400.0
"""Rate of the fast interface that section 2.10 names. MB/s."""
FAST_US = 250
"""Program time of an LSB page of MLC1. Microseconds."""


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
    gaps = _gaps(_of(found["cache"], "TIN"))
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
                "cache mode: number of consecutive array programs without a pause between them",
                _in_a_row(gaps),
                "",
                PUBLISHED("2.13", "number of consecutive array programs in cache mode"),
            ),
            # The two ends have different units, so their order does not count as an agreement.
            Row(
                "legacy mode: shortest time of an array program",
                min(programs["legacy"]),
                "µs",
                PUBLISHED("2.13", "shortest time of an array program"),
            ),
            Row(
                "legacy mode: longest time of an array program",
                max(programs["legacy"]) / 1000,
                "ms",
                PUBLISHED("2.13", "longest time of an array program"),
            ),
            *(
                Row(f"{mode} mode: number of array programs", len(times), "")
                for mode, times in programs.items()
            ),
            Row("cache mode: longest pause between array programs", max(gaps) / 1e6, "µs"),
        ],
        plots=[_plot(found)],
        claims=_write_claims(setup, found, programs, gaps),
        explanation=[
            "Programs in the document's figure take 650 µs to 5 ms, which matches neither of "
            "its MLC parts (table 2.1: 250 to 2,200 µs, and 440 to 5,000 µs). The simulated "
            "programs are those of MLC1, the document's default part.",
        ],
        data=_data(found),
    )


def _gaps(strips: list[Strip]) -> list[int]:
    """Returns the times between strips that follow one another. Picoseconds."""
    return [later["from_ps"] - earlier["until_ps"] for earlier, later in pairwise(strips)]


def _in_a_row(gaps: Sequence[int]) -> int:
    """Returns the largest number of stages without a pause between them."""
    longest = run = 1
    for gap in gaps:
        run = run + 1 if gap == 0 else 1
        longest = max(longest, run)
    return longest


def _write_claims(
    setup: Setup, found: dict[str, list[Strip]], programs: dict[str, list[float]], gaps: list[int]
) -> list[Claim]:
    legacy = programs["legacy"]
    bus = [_us(found["legacy"], stage) for stage in ("CLE", "ALE", "TIR")]
    fixed = all(len(set(_us(found["legacy"], stage))) == 1 for stage in ("ALE", "TIR"))
    return [
        Claim(
            "Cache mode: no bus stage delays an array program after the first",
            max(gaps) == 0 and len(programs["cache"]) == PAGES,
            f"{len(programs['cache'])} programs, longest pause {max(gaps)} ps",
            ids=("J2-057",),
        ),
        Claim(
            "2x mode halves the number of array programs",
            2 * len(programs["2x"]) == len(legacy),
            f"{len(programs['2x'])} instead of {len(legacy)}",
            ids=("J2-058",),
        ),
        Claim(
            "The program times of the pages of a block range from the shortest to the longest "
            "program time of the part",
            (min(legacy), max(legacy)) == PUBLISHED("2.1", "MLC1: program time of a page").value,
            f"{min(legacy):g} to {max(legacy):g} µs",
            ids=("J2-003",),
        ),
        Claim(
            "The page address changes the time of the array program, but no time on the bus",
            fixed and len(set(legacy)) > 1,
            f"programs {' and '.join(f'{one:g}' for one in sorted(set(legacy)))} µs, data in "
            f"{bus[-1][0]:g} µs for every page",
            ids=("J2-032",),
        ),
        Claim(
            "In legacy mode, array programs take more than ten times as long as commands, "
            "addresses and data in",
            sum(legacy) > 10 * sum(map(sum, bus)),
            f"{sum(legacy):,.0f} µs against {sum(map(sum, bus)):,.0f} µs",
            ids=("J2-059",),
        ),
        *_cell_claims(setup, legacy),
        _interleaved(setup),
    ]


def _cell_claims(setup: Setup, legacy: Sequence[float]) -> list[Claim]:
    slc = part(setup, SLC).stream("program", requests=PAGES, strips=True)
    single = _us(slc.get("strips", []), "TIN")
    spread, of_slc = max(legacy) / min(legacy), max(single) / min(single)
    fast, slow = _energies(setup)
    return [
        Claim(
            "Program times vary more between pages in MLC1 than in SLC",
            spread > of_slc,
            f"longest over shortest {spread:.1f} and {of_slc:.1f}",
            ids=("J2-026",),
        ),
        Claim(
            "Programming MSB pages, which are slow, takes more energy than programming LSB pages",
            max(fast) < min(slow),
            f"at least {min(slow):.1f} µJ per MSB page, at most {max(fast):.1f} µJ per LSB page",
            ids=("J2-025",),
        ),
    ]


def _energies(setup: Setup) -> tuple[list[float], list[float]]:
    """Returns the energies of programming each fast and each slow page, for the first pages of a
    block. The energy of a page is the increase when one more page is programmed. Microjoules."""
    package = part(setup, planes=1)
    fast: list[float] = []
    slow: list[float] = []
    before = 0.0
    for pages in range(1, PAGES // 2 + 1):
        report = package.stream("program", requests=pages, queue_depth=1, strips=True)
        last = _us(report.get("strips", []), "TIN")[-1]
        spent = report["energy_nj"]["total"] / 1000
        (fast if last == FAST_US else slow).append(spent - before)
        before = spent
    return fast, slow


def _interleaved(setup: Setup) -> Claim:
    """Returns the claim on figure 2.4: four writes, interleaved over three dies."""
    times = {model: _responses(setup, model) for model in ("variation", "typical")}
    spread = {model: gain(min(of), max(of)) for model, of in times.items()}
    return Claim(
        "Four writes interleaved over three dies (figure 2.4): response times differ by more than "
        f"{PER_CENT:g} %, with a constant program time by less",
        spread["variation"] > PER_CENT > spread["typical"],
        ", ".join(f"{model} {min(of):,.0f} to {max(of):,.0f} µs" for model, of in times.items()),
        ids=("J2-024",),
    )


def _responses(setup: Setup, model: str) -> list[float]:
    """Returns the response times of requests of four pages on three dies, one at a time.
    Microseconds."""
    package = part(setup, dies=3, more={"timing.model": model})
    report = package.stream(
        "program", requests=PAGES, request_bytes=4 * PAGE_BYTES, queue_depth=1, strips=True
    )
    ends: dict[int, list[int]] = {}
    for strip in report.get("strips", []):
        request = ends.setdefault(strip["transaction"] // 4, [])
        request += (strip["from_ps"], strip["until_ps"])
    return [(max(of) - min(of)) / 1e6 for of in ends.values()]


def reads(setup: Setup) -> Figure:
    """Reproduces figure 2.14: cycles of reads."""
    found = _strips(setup, "read")
    times = {mode: (_us(strips, "TON"), _us(strips, "TOR")) for mode, strips in found.items()}
    commands = {mode: len(_of(strips, "CLE")) for mode, strips in found.items()}
    return Figure(
        id="2.14",
        title="Figure 2.14: cycles of reads",
        section="2.8.2",
        measured="Reads of the pages of figure 2.13.",
        rows=[
            row
            for mode, (array_us, out_us) in times.items()
            for row in (
                Row(f"{mode} mode: number of array reads", len(array_us), ""),
                Row(
                    f"{mode} mode: time of data out over that of array reads",
                    sum(out_us) / sum(array_us),
                    "",
                ),
                Row(
                    f"{mode} mode: number of command cycles, excluding status reads",
                    commands[mode],
                    "",
                ),
            )
        ],
        plots=[_plot(found)],
        claims=_read_claims(found, times, commands),
        explanation=[
            "2x selects each plane before its data out (06h, address, E0h), which takes 7 "
            "cycles of 25 ns per page; it saves one array read for every second page.",
            "There are two cache read commands, one per plane, because a cache read stays in "
            "the planes in which it began.",
        ],
        data=_data(found),
    )


def _read_claims(
    found: dict[str, list[Strip]],
    times: dict[str, tuple[list[float], list[float]]],
    commands: dict[str, int],
) -> list[Claim]:
    array, out = (sum(part) for part in times["legacy"])
    counts = {mode: len(array_us) for mode, (array_us, _) in times.items()}
    span = {
        mode: max(strip["until_ps"] for strip in strips) / 1e6 for mode, strips in found.items()
    }
    return [
        Claim(
            "Array reads take the same time on every page, in every mode",
            len({time for array_us, _ in times.values() for time in array_us}) == 1,
            f"{times['legacy'][0][0]:g} µs",
            ids=("J2-061",),
        ),
        Claim(
            "As for writes, cache mode overlaps array and bus operations, and 2x mode halves the "
            "number of array operations",
            span["cache"] < array + out and 2 * counts["2x"] == counts["legacy"],
            f"cache: {span['cache']:,.0f} µs in total, array reads {sum(times['cache'][0]):,.0f} "
            f"µs, data out {sum(times['cache'][1]):,.0f} µs; 2x: {counts['2x']} array reads "
            f"instead of {counts['legacy']}",
            ids=("J2-062",),
        ),
        Claim(
            f"Legacy mode: data out takes as long as the array reads, within {PER_CENT:g} %",
            abs(gain(array, out)) <= PER_CENT,
            f"{out:,.1f} µs and {array:,.1f} µs",
            ids=("J2-063",),
        ),
        Claim(
            "Cache mode: data out takes longer than the array reads",
            sum(times["cache"][1]) > sum(times["cache"][0]),
            f"{sum(times['cache'][1]):,.1f} µs and {sum(times['cache'][0]):,.1f} µs",
            ids=("J2-064",),
        ),
        Claim(
            "2x mode needs more commands than legacy and cache mode to read the same data",
            commands["2x"] > max(commands["legacy"], commands["cache"]),
            f"{commands['2x']}, {commands['legacy']} and {commands['cache']}",
            ids=("J2-065",),
        ),
    ]


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
        operation: {stage: [share(report, (stage,)) for report in of] for stage in STAGES}
        for operation, of in reports.items()
    }
    return Figure(
        id="2.16",
        title="Figure 2.16: cycles by stage",
        section="2.8.4",
        measured=(
            "Share of all cycles by stage, for writes and reads of 2 KiB on one die of MLC1 "
            "with programs of 650 to 2,200 µs. Overlapping cycles are counted in each stage."
        ),
        rows=_breakdown_rows(names, reports),
        plots=[
            Plot(
                WORDS[operation].capitalize(),
                "Share of cycles by stage.",
                stacked(names, shares[operation], "%"),
            )
            for operation in OPERATIONS
        ],
        claims=[
            _bottleneck(names, shares),
            *_bus_claims(names, reports["read"]),
            _fast_bus(setup, reports["program"]),
        ],
        explanation=[
            "For one page, a program takes 1,400.8 µs on average, a read 50 µs, a transfer 51.2 "
            "µs. Programs take 650 to 2,200 µs: section 2.8.2 gives 650,000 cycles of 1 ns as the "
            "shortest. The published shares need a mean program time of 1,360 to 1,411 µs on this "
            "bus; with table 2.1's 250 µs for the fast pages, data transfer takes 7.7 % of the "
            "cycles in 2x mode. Combining 650 µs with 2,200 µs, and not with the 5,000 µs of "
            "figure 2.13, is our choice.",
        ],
        data={"share_of_cycles_percent": shares, "modes": names},
    )


def _breakdown_rows(names: Sequence[str], reports: Mapping[str, Sequence[Report]]) -> list[Row]:
    array = [share(report, ARRAY) for report in reports["program"]]
    moved = [share(report, DATA) for report in reports["program"]]
    read = [share(report, DATA) for report in reports["read"]]
    return [
        row
        for place, name in enumerate(names)
        for row in (
            Row(
                f"writes, {name}: share of cycles for array programs",
                array[place],
                "%",
                PUBLISHED("2.16", "writes: share of cycles for array programs"),
            ),
            Row(
                f"writes, {name}: share of cycles for data transfer",
                moved[place],
                "%",
                PUBLISHED("2.16", "writes: share of cycles for data transfer"),
            ),
            Row(
                f"reads, {name}: share of cycles for data transfer",
                read[place],
                "%",
                PUBLISHED("2.16", "reads: share of cycles for data transfer"),
            ),
        )
    ]


def _bottleneck(names: Sequence[str], shares: Mapping[str, Mapping[str, Sequence[float]]]) -> Claim:
    most = {
        operation: [max(STAGES, key=lambda stage: of[stage][place]) for place in range(len(names))]
        for operation, of in shares.items()
    }
    return Claim(
        "In every mode, data out (TOR) takes the most cycles of reads, and the array program "
        "(TIN) the most cycles of writes",
        set(most["read"]) == {"TOR"} and set(most["program"]) == {"TIN"},
        "; ".join(
            f"{WORDS[operation]} "
            + ", ".join(
                f"{name} {stage} {shares[operation][stage][place]:.1f} %"
                for place, (name, stage) in enumerate(zip(names, stages, strict=True))
            )
            for operation, stages in most.items()
        ),
        ids=("J2-010",),
    )


def _bus_claims(names: Sequence[str], reads: Sequence[Report]) -> list[Claim]:
    busy = [100 * one["bus_busy_ps"] / one["elapsed_ps"] for one in reads]
    gains = [gain(reads[0]["bandwidth_mb_per_s"], one["bandwidth_mb_per_s"]) for one in reads[1:]]
    return [
        Claim(
            "Reads keep the bus busy for a larger share of the time with cache and two-plane "
            "commands than in legacy mode",
            min(busy[1:]) > busy[0],
            ", ".join(f"{name} {one:.1f} %" for name, one in zip(names, busy, strict=True)),
            ids=("J2-012",),
        ),
        Claim(
            "On one die, cache and two-plane commands raise read bandwidth by at most "
            f"{PER_CENT:g} %",
            max(gains) <= PER_CENT,
            ", ".join(f"{name} {one:+.1f} %" for name, one in zip(names[1:], gains, strict=True)),
            because=(
                "on one die in legacy mode, array reads and data out take turns and take about as "
                "long (figure 2.14), so commands that overlap them raise bandwidth by up to a "
                "factor of two; with eight dies, which overlap them in legacy mode, the gains are "
                "small (figure 2.19)"
            ),
            ids=("J2-078",),
        ),
    ]


def _fast_bus(setup: Setup, writes: Sequence[Report]) -> Claim:
    fast: Mapping[str, Value] = {**FROM_650_US, "timing.bus_mt_per_s": FAST_BUS}
    gains = {
        mode.name: gain(
            before["bandwidth_mb_per_s"],
            stream(setup, part(setup, mode=mode, more=fast), "program", mode)["bandwidth_mb_per_s"],
        )
        for mode, before in zip(MODES, writes, strict=True)
    }
    return Claim(
        f"A bus of {FAST_BUS:g} instead of 40 MB/s raises write bandwidth by at most {PER_CENT:g} "
        "%, in every mode",
        max(gains.values()) <= PER_CENT,
        ", ".join(f"{name} {one:+.1f} %" for name, one in gains.items()),
        ids=("J2-079",),
    )
