"""The write cliff: the rate of random writes after free blocks run out."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wordline._lab import steady
from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import FILLED, SETTLED, Phase, Trial
from wordline._render import units
from wordline._render.charts import Plot
from wordline._render.plotly import NEUTRAL, Figure, decades, figure, line

BYTES, SEQUENTIAL_BYTES = 4096, 131072
ROUNDS = 25
STOP = 0.1
LEVEL = 0.8
"""Fraction of the rate before the first GC run; a steady rate below it is a cliff."""
INTERVAL_S = 1.0
FULL = 1 - 1e-6
"""Minimum width of a full interval, relative to the first; allows for rounding."""


@dataclass(frozen=True)
class Cliff:
    """Writes over time: rate in MB/s before the first GC run; bytes written and seconds until then,
    which are None without GC; and the longest response times of the intervals before and after
    it."""

    before_mb_per_s: float
    at_bytes: float | None
    at_s: float | None
    worst_before_us: float
    worst_us: float


@dataclass(frozen=True)
class Interval:
    """Writes of an interval: its end in seconds from the first interval, the rate in MB/s, and the
    longest response time, which is None if no write completed."""

    end_s: float
    mb_per_s: float
    max_us: float | None


def intervals(series: Mapping[str, Sequence[Any]], width_s: float) -> dict[str, list[float]]:
    """Merges the intervals of a series into intervals of about `width_s` seconds. Leaves out a
    partial interval at the end unless it is the only one."""
    own = series["end_s"][0] - series["start_s"][0]
    many = max(1, round(width_s / own))
    count = len(series["end_s"])
    whole = max(1, count // many)
    found: dict[str, list[float]] = {"end_s": [], "mb_per_s": [], "max_us": []}
    for place in range(whole):
        part = slice(place * many, min(count, (place + 1) * many))
        start, end = series["start_s"][part][0], series["end_s"][part][-1]
        found["end_s"].append(end)
        found["mb_per_s"].append(sum(series["write_bytes"][part]) / 1e6 / (end - start))
        found["max_us"].append(max(us or 0.0 for us in series["max_us"][part]))
    return found


def full(found: Mapping[str, Sequence[float]], start_s: float) -> list[Interval]:
    """Returns the merged intervals that are comparable. A shorter interval at the end is left out,
    because its rate is based on few writes."""
    ends = [start_s, *found["end_s"]]
    widths = [end - begin for begin, end in itertools.pairwise(ends)]
    rows = zip(found["end_s"], found["mb_per_s"], found["max_us"], widths, strict=True)
    return [
        Interval(end - start_s, rate, longest or None)
        for end, rate, longest, width in rows
        if width > FULL * widths[0]
    ]


def cliff(series: Mapping[str, Sequence[Any]]) -> Cliff:
    """Finds the first GC run. If it falls into the first interval, the rate before it is the rate
    of that interval."""
    collects = [die_ms > 0 for die_ms in series["gc_die_ms"]]
    first = collects.index(True) if any(collects) else None
    end = max(1, len(collects) if first is None else first)
    seconds = series["end_s"][end - 1] - series["start_s"][0]
    size = sum(series["write_bytes"][:end])
    longest = [us or 0.0 for us in series["max_us"]]
    return Cliff(
        size / 1e6 / seconds,
        None if first is None else float(sum(series["write_bytes"][:first])),
        None if first is None else series["start_s"][first] - series["start_s"][0],
        max(longest[:end]),
        max(longest if first is None else longest[first:]),
    )


def stopped(rates: Sequence[float], before: float) -> float:
    """Returns the share of intervals in which writes stall, with less than a tenth of the rate
    before the cliff."""
    return sum(rate < STOP * before for rate in rates) / len(rates)


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: random writes after one sequential pass, random writes in steady
    state, and sequential writes."""
    spare = bench.spare_pages
    more = max(bench.count(300_000, 60_000), bench.count(3, 1) * bench.cycle)
    more = min(bench.user_bytes // bench.page_bytes, more)
    settled = max(bench.count(60_000, 20_000), bench.count(4, 2) * bench.cycle)
    writes = {"read_ratio": 0.0, "request_bytes": BYTES, "align_bytes": BYTES}
    wide = bench.page_bytes * (spare + more // 2) // SEQUENTIAL_BYTES
    return {
        "random": Trial(FILLED, writes | {"requests": spare + more}, series=True),
        "settled": Trial(
            SETTLED,
            writes | {"requests": bench.slack + settled},
            phases=(Phase("writes", bench.slack, bench.slack + settled),),
        ),
        "sequential": Trial(
            FILLED,
            {
                "read_ratio": 0.0,
                "request_bytes": SEQUENTIAL_BYTES,
                "requests": max(100, wide),
                "align_bytes": SEQUENTIAL_BYTES,
                "pattern": "sequential",
            },
            series=True,
        ),
    }


def finding(bench: TestDevice, found: Found) -> Finding:
    """Determines position and depth of the cliff, and the worst case."""
    series = found["random"].series
    begin, settled = cliff(series), found["settled"].phases["writes"]
    level = settled["mb_per_s"]
    worst_us = max(begin.worst_us, settled["max_us"])
    amplification = (
        None if bench.slack else found["settled"].summary["flash"]["write_amplification"]
    )
    wide = full(intervals(series, INTERVAL_S), series["start_s"][0])
    rounds = _rounds(series)
    steady_at = steady.first_steady(rounds) if len(rounds) >= steady.ROUNDS else None
    straight = cliff(found["sequential"].series)
    even = found["sequential"].summary["throughput"]["write_mb_per_s"] / straight.before_mb_per_s
    deep = level < LEVEL * begin.before_mb_per_s
    at_bytes = None if begin.at_bytes is None else begin.at_bytes * bench.scale
    at_s = None if begin.at_s is None else begin.at_s * bench.scale
    after = [one.mb_per_s for one in wide if begin.at_s is not None and one.end_s > begin.at_s]
    figures = {
        "cliff_at_bytes": at_bytes if deep else None,
        "cliff_at_s": at_s if deep else None,
        "first_collection_at_bytes": at_bytes,
        "before_mb_per_s": begin.before_mb_per_s,
        "steady_mb_per_s": level,
        "ratio": begin.before_mb_per_s / level,
        "stopped_share": stopped(after, begin.before_mb_per_s) if after else 0.0,
        "worst_before_us": begin.worst_before_us,
        "worst_us": worst_us,
        "worst_ratio": worst_us / begin.worst_before_us,
        "steady_mean_us": settled["mean_us"],
        "steady_write_amplification": amplification,
        "steady_round": None if steady_at is None else steady_at.first + steady.ROUNDS,
        "steady_round_mb_per_s": None if steady_at is None else steady_at.average,
        "sequential_ratio": even,
    }
    return Finding(
        " ".join(filter(None, (_verdict(figures), lacks(bench)))),
        figures,
        Table(
            ("random writes of 4 KiB", "before the first GC run", "steady state"),
            [
                ("rate", units.bandwidth(begin.before_mb_per_s), units.bandwidth(level)),
                (
                    "longest response time",
                    units.duration(begin.worst_before_us),
                    units.duration(worst_us),
                ),
                ("write amplification", units.ABSENT, units.number(amplification)),
            ],
        ),
        _plots(bench, wide, figures, begin.at_s),
        [
            _steady(steady_at, rounds),
            f"Sequential writes of 128 KiB keep {units.share(even)} of their rate "
            "before the first GC run.",
        ],
    )


def _rounds(series: Mapping[str, Sequence[Any]]) -> list[float]:
    """Returns the rates in MB/s of 25 equal rounds of the run, excluding rounds in which nothing
    was written."""
    width = (series["end_s"][-1] - series["start_s"][0]) / ROUNDS
    return [mb for mb in intervals(series, width)["mb_per_s"] if mb > 0]


def _steady(found: steady.Window | None, rounds: Sequence[float]) -> str:
    many = len(rounds)
    if found is None:
        return (
            f"PTS: no {steady.ROUNDS} consecutive rounds of the {many} of this run are steady "
            "(range within 20 %, slope within 10 % of the average). The level is that of a device "
            "after random writes until its write amplification has settled."
        )
    return (
        f"PTS: of {many} rounds, {found.first + 1} to {found.first + steady.ROUNDS} are the first "
        f"steady ones (range {units.share(found.range)}, slope {units.share(found.slope)} of "
        f"the average of {units.bandwidth(found.average)}). Steady rounds may precede "
        "the cliff; the level is that of the steady-state device."
    )


def _verdict(figures: Mapping[str, Any]) -> str:
    worst = units.duration(figures["worst_us"])
    level, before = figures["steady_mb_per_s"], figures["before_mb_per_s"]
    if figures["cliff_at_bytes"] is None:
        return (
            f"No write cliff: random writes of 4 KiB settle at {units.bandwidth(level)}, "
            f"{units.share(level / before)} of the {units.bandwidth(before)} of a fresh device. "
            f"Worst case {worst}."
        )
    share = figures["stopped_share"]
    stops = (
        f"Writes stall {units.share(share)} of the time (below a tenth of the initial rate). "
        if share > 0.1
        else ""
    )
    return (
        f"Write cliff at {units.size(figures['cliff_at_bytes'])} after "
        f"{units.duration(1e6 * figures['cliff_at_s'])} of random writes of 4 KiB, when free "
        f"blocks run out: from {units.bandwidth(before)} to {units.bandwidth(level)}, "
        f"lower by a factor of {units.figures(before / level)}. {stops}Worst case {worst}, "
        f"{units.figures(figures['worst_ratio'])} times that before the cliff."
    )


def lacks(bench: TestDevice) -> str:
    """Names the buffers that could absorb writes and that the device lacks, in a sentence; empty if
    it has both."""
    without = [
        name
        for name, is_there in (
            ("SLC cache", bench.policy("ftl", "slc_cache") not in ("", "off")),
            ("DRAM buffer", bench.buffer_bytes > 0),
        )
        if not is_there
    ]
    if not without:
        return ""
    return f"The drive has no {' and no '.join(without)} to absorb writes."


def _plots(
    bench: TestDevice,
    wide: Sequence[Interval],
    figures: Mapping[str, Any],
    at_s: float | None,
) -> list[Plot]:
    """Draws the rate and the longest response time over time, scaled to the whole device. Marks the
    first GC run and the rates before the cliff and in steady state."""
    width = wide[0].end_s
    seconds, unit = units.axis(wide[-1].end_s * bench.scale)
    times = [float(f"{(one.end_s - width / 2) * bench.scale / seconds:.6g}") for one in wide]
    across = {"title": {"text": f"time of writes ({unit})"}, "rangemode": "tozero"}
    marks = [] if at_s is None else [_mark(at_s * bench.scale / seconds)]
    before, settled = figures["before_mb_per_s"], figures["steady_mb_per_s"]
    levels = [_level("before", before), _level("steady state", settled)]
    rate = figure(
        [line("random writes", "#d8731c", times, [one.mb_per_s for one in wide])],
        height=340,
        showlegend=False,
        shapes=[*marks, *levels],
        xaxis=across,
        yaxis={"title": {"text": "random writes (MB/s)"}, "rangemode": "tozero"},
    )
    worst = figure(
        [line("longest", "#c0392b", times, [one.max_us for one in wide])],
        height=340,
        showlegend=False,
        shapes=marks,
        xaxis=across,
        yaxis=decades("response time", [one.max_us for one in wide if one.max_us]),
    )
    none = "" if at_s is not None else " No GC ran: free blocks did not run out."
    each = units.duration(width * bench.scale * 1e6)
    told = f"In intervals of {each}.{none} {lacks(bench)}".rstrip()
    return [
        Plot("Rate", told, rate),
        Plot(
            "Longest response time",
            "Per interval; no write completed in a gap.",
            worst,
        ),
    ]


def _mark(place: float) -> Figure:
    """Draws a vertical line at the time of the first GC run."""
    return {
        "type": "line",
        "x0": place,
        "x1": place,
        "yref": "paper",
        "y0": 0,
        "y1": 1,
        "line": {"color": NEUTRAL, "width": 1.4, "dash": "dot"},
        "label": {
            "text": "free blocks run out",
            "textangle": -90,
            "textposition": "end",
            "xanchor": "right",
            "yanchor": "bottom",
            "font": {"size": 11},
        },
    }


def _level(name: str, level: float) -> Figure:
    """Draws a horizontal line at a rate in MB/s."""
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": level,
        "y1": level,
        "line": {"color": NEUTRAL, "width": 1.2, "dash": "dash"},
        "label": {
            "text": f"{name} {units.bandwidth(level)}",
            "textposition": "end",
            "yanchor": "bottom",
            "font": {"size": 11},
        },
    }


EXPERIMENT = Experiment(
    "cliff",
    "The write cliff",
    "After one sequential pass, random writes of 4 KiB until all spare pages have been written. "
    "300,000 more writes follow, or three blocks per plane if these are more pages (with `--quick` "
    "60,000, or one block). The cliff begins with the first GC run; its level is that of "
    "steady state.",
    "PTS write saturation (WSAT) begins with an erased device and has rounds of a minute; here a "
    "round is a 25th of the run. Steady state is checked over five rounds as PTS defines it.",
    trials,
    finding,
)
