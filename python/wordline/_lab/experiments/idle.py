"""Idle time: the write rate that a pause restores."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import SETTLED, Measured, Phase, Trial, line
from wordline._render import units
from wordline._render.charts import Plot
from wordline._render.plotly import figure
from wordline._render.plotly import line as drawn

PAUSES_S, QUICK_PAUSES_S = (1, 10, 100), (30,)
"""Minimum pauses between the bursts in seconds, in addition to the longest expected first burst."""
MOST_AMPLIFICATION = 120
"""Upper limit of the cost of a write in the first burst, in page programs, including reads and
erases."""
BEFORE, LEAST_AFTER, MOST_AFTER = 1500, 6000, 200_000
WITHOUT = "no pause"
AT_REST = 4
BYTES = 4096
BACKGROUND = ("background", "agc", "agc-dgc", "dgc")
COLOURS = ("#7cc0ea", "#3b86c6", "#1f4f8b")


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: two bursts of random writes on a steady-state device, separated by a
    pause."""
    before, after = _counts(bench)
    pauses = QUICK_PAUSES_S if bench.quick else PAUSES_S
    return {
        name: Trial(
            SETTLED,
            trace=lambda pause=pause: _bursts(bench, pause),
            timed=True,
            phases=(
                Phase("before", 2 * before // 3, before),
                Phase("after", before, before + after),
            ),
        )
        for name, pause in {WITHOUT: None, **{f"{one} s": one for one in pauses}}.items()
    }


def _counts(bench: TestDevice) -> tuple[int, int]:
    """Returns the number of writes of each burst. The first burst uses up the free blocks that
    deferred GC leaves; its last third gives the steady-state rate."""
    after = min(bench.spare_pages, bench.count(MOST_AFTER, MOST_AFTER // 5))
    return max(BEFORE, bench.cycle, 3 * bench.slack // 2), max(LEAST_AFTER, bench.cycle, after)


def start_ns(bench: TestDevice, pause_s: int | None) -> int:
    """Returns the start of the second burst in ns; 0 without a pause. A trace must state this time
    before the end of the first burst is known."""
    if pause_s is None:
        return 0
    program: int | list[int] = bench.config["nand"]["timing"]["program_ns"]
    longest = max(program) if isinstance(program, list) else program
    return _counts(bench)[0] * MOST_AMPLIFICATION * longest // bench.planes + pause_s * 10**9


def _bursts(bench: TestDevice, pause_s: int | None) -> Iterable[str]:
    before, after = _counts(bench)
    draw = Random(bench.seed)  # noqa: S311 - a load
    places = bench.user_bytes // BYTES
    for at_ns, count in ((0, before), (start_ns(bench, pause_s), after)):
        for _ in range(count):
            yield line("write", draw.randrange(places) * BYTES, BYTES, at_ns)


def recovered(pace: list[list[float]] | list[tuple[int, float]], level: float) -> tuple[int, float]:
    """Returns the effect of a pause: the bytes written until the pace falls below the midpoint of
    its initial value and `level`, and the mean pace until then relative to `level`. The bytes are 0
    if the initial pace is less than 20 % above `level`."""
    first = pace[0][1]
    if first < 1.2 * level:
        return 0, first / level
    middle = (first + level) / 2
    count = next((place for place, one in enumerate(pace) if one[1] < middle), len(pace))
    return int(pace[count - 1][0]), sum(one[1] for one in pace[:count]) / count / level


def gain(size: int, without: int, bench: TestDevice) -> int:
    """Returns the bytes that a pause restored: the bytes written fast after it, minus those without
    a pause. A few writes per plane count as 0, because they profit only from idle dies."""
    own = size - without
    return own if own > AT_REST * bench.planes * BYTES else 0


def finding(bench: TestDevice, found: Found) -> Finding:
    """Measures the bytes that are written fast after each pause."""
    paused = {name: one for name, one in found.items() if name != WITHOUT}
    control = found[WITHOUT].phases
    without, _ = recovered(control["after"]["pace"], control["before"]["mb_per_s"])
    rows = [_row(bench, one, without) for one in paused.values()]
    schedule = bench.policy("ftl", "gc", "schedule")
    works = schedule in BACKGROUND or bench.config["buffer"].get("idle_flush_ms", 0) > 0
    verdict = _verdict(max(rows, key=lambda row: (row["recovered_bytes"], row["idle_s"])))
    if not works:
        verdict += f" The device does no work in idle time (GC schedule: {schedule})."
    notes = [
        "Amounts apply to the simulated device. A larger device has more blocks to reclaim in the "
        "same time, and more spare blocks to regain."
    ]
    return Finding(
        verdict,
        {"pauses": rows, "works_in_idle_time": works},
        _table(rows),
        [_plot(rows, list(paused.values()))],
        notes if bench.scale != 1 else [],
    )


def _row(bench: TestDevice, one: Measured, without: int) -> dict[str, Any]:
    """Returns the measurements of a pause, with its gain over the bytes that are written fast
    `without` a pause."""
    before, after = one.phases["before"], one.phases["after"]
    size, ratio = recovered(after["pace"], before["mb_per_s"])
    size = gain(size, without, bench)
    ratio = ratio if size else 1.0
    return {
        "idle_s": max(0.0, after["first_s"] - before["last_s"]),
        "before_mb_per_s": before["mb_per_s"],
        "recovered_bytes": size,
        "whole_burst": size + without > 0.95 * after["pace"][-1][0],
        "ratio": ratio,
        "recovered_s": size / 1e6 / (ratio * before["mb_per_s"]),
    }


def _verdict(best: Mapping[str, Any]) -> str:
    pause = units.duration(1e6 * best["idle_s"])
    if not best["recovered_bytes"]:
        return f"A pause of {pause} regains nothing: writes continue at the steady-state rate."
    more = "at least " if best["whole_burst"] else ""
    return (
        f"After a pause of {pause}, writes run at {best['ratio']:.3g} times the steady-state rate, "
        f"for {more}{units.duration(1e6 * best['recovered_s'])} or "
        f"{units.size(best['recovered_bytes'])}."
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        (
            "pause",
            "steady-state rate",
            "written at the fast rate afterwards",
            "fast rate / steady-state rate",
        ),
        [
            (
                units.duration(1e6 * row["idle_s"]),
                units.bandwidth(row["before_mb_per_s"]),
                units.size(row["recovered_bytes"]),
                f"{row['ratio']:.2f}",
            )
            for row in rows
        ],
    )


def _plot(rows: Sequence[Mapping[str, Any]], paused: Sequence[Measured]) -> Plot:
    """Draws the rate after each pause."""
    data = [
        drawn(
            f"after {units.duration(1e6 * row['idle_s'])}",
            colour,
            [done / 2**20 for done, _ in one.phases["after"]["pace"]],
            [mb for _, mb in one.phases["after"]["pace"]],
        )
        for row, one, colour in zip(rows, paused, COLOURS, strict=False)
    ]
    return Plot(
        "After the pause",
        "Rate of random writes of 4 KiB, by bytes written since the pause.",
        figure(
            data,
            height=320,
            xaxis={"title": {"text": "MiB"}},
            yaxis={"title": {"text": "MB/s"}, "rangemode": "tozero"},
        ),
    )


EXPERIMENT = Experiment(
    "idle",
    "Idle time",
    "A burst of random writes of 4 KiB on a steady-state device, a pause of seconds to minutes, "
    "and a second burst; for comparison, the same bursts without a pause.",
    "PTS host idle recovery (HIR) alternates bursts and growing pauses in the same way.",
    trials,
    finding,
)
