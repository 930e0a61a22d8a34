"""Idle time: what a pause gives back."""

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
"""Between the bursts, at least, and beyond what the first may take."""
MOST_AMPLIFICATION = 120
"""Of the first burst, in programs a write, reads and erases among them."""
BEFORE, LEAST_AFTER, MOST_AFTER = 1500, 6000, 200_000
WITHOUT = "no pause"
AT_REST = 4
BYTES = 4096
BACKGROUND = ("background", "agc", "agc-dgc", "dgc")
COLOURS = ("#7cc0ea", "#3b86c6", "#1f4f8b")


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Two bursts of random writes at a settled device, with a pause between them."""
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
    """Writes of the bursts. The first uses up the free blocks that collections may be put off for;
    its last third is the settled rate."""
    after = min(bench.spare_pages, bench.count(MOST_AFTER, MOST_AFTER // 5))
    return max(BEFORE, bench.cycle, 3 * bench.slack // 2), max(LEAST_AFTER, bench.cycle, after)


def start_ns(bench: TestDevice, pause_s: int | None) -> int:
    """When the second burst begins, which a trace has to say before it is known when the first
    ends; at once if there is no pause."""
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
    """Bytes written until the pace is first below the middle of its first part and the level, and
    the pace until then over the level: what a pause gave back. No bytes if the first part is no
    faster than the level by a fifth."""
    first = pace[0][1]
    if first < 1.2 * level:
        return 0, first / level
    middle = (first + level) / 2
    count = next((place for place, one in enumerate(pace) if one[1] < middle), len(pace))
    return int(pace[count - 1][0]), sum(one[1] for one in pace[:count]) / count / level


def gain(size: int, without: int, bench: TestDevice) -> int:
    """What a pause gave back, of what was written fast after it: beyond what the same load without
    a pause writes fast there, and beyond a few writes a plane, which meet dies at rest. Bytes."""
    own = size - without
    return own if own > AT_REST * bench.planes * BYTES else 0


def finding(bench: TestDevice, found: Found) -> Finding:
    """What was written fast after each pause."""
    paused = {name: one for name, one in found.items() if name != WITHOUT}
    control = found[WITHOUT].phases
    without, _ = recovered(control["after"]["pace"], control["before"]["mb_per_s"])
    rows = [_row(bench, one, without) for one in paused.values()]
    schedule = bench.policy("ftl", "gc", "schedule")
    works = schedule in BACKGROUND or bench.config["buffer"].get("idle_flush_ms", 0) > 0
    verdict = _verdict(max(rows, key=lambda row: (row["recovered_bytes"], row["idle_s"])))
    if not works:
        verdict += f" The device has nothing that works in idle time (collection: {schedule})."
    notes = [
        "Amounts are those of the simulated device: a larger one has more to collect in as "
        "much time, and more spare blocks to gain."
    ]
    return Finding(
        verdict,
        {"pauses": rows, "works_in_idle_time": works},
        _table(rows),
        [_plot(rows, list(paused.values()))],
        notes if bench.scale != 1 else [],
    )


def _row(bench: TestDevice, one: Measured, without: int) -> dict[str, Any]:
    """A pause, and what it gained beyond the bytes that are written fast `without` one."""
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
        return f"A pause of {pause} regains nothing: writes continue at the settled rate."
    more = "at least " if best["whole_burst"] else ""
    return (
        f"After a pause of {pause}, writes run at {best['ratio']:.3g} times the settled rate, for "
        f"{more}{units.duration(1e6 * best['recovered_s'])} or "
        f"{units.size(best['recovered_bytes'])}."
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        ("pause", "settled rate", "written fast after it", "times the rate"),
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
    """The rate after each pause."""
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
        "Rate of random writes of 4 KiB by what has been written since.",
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
    "At the settled device a burst of random writes of 4 KiB, a pause of seconds to minutes, and a "
    "burst again; beside it the same without a pause.",
    "PTS host idle recovery (HIR) alternates bursts and growing pauses likewise.",
    trials,
    finding,
)
