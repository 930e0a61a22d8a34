"""Section 5.6: effect of idle time on a drive past its write cliff."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from wordline._lab.trial import FILLED, Measured, Phase, Trial, line
from wordline._render import units
from wordline._render.plotly import figure as plotted
from wordline._render.plotly import line as drawn
from wordline.config import Value
from wordline_studies.device_lab.runs import WHOLE_BLOCKS, Drive, carried_out, drive
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup

BLOCKS = 128
ON_CLIFF: Mapping[str, Value] = {**FILLED, "precondition.overwrite_ratio": 0.3}
FREED = 0.5
"""Share of L's spare blocks that background GC frees in idle time."""
RESERVED = 1
COARSE = 2
"""Number of parts of a burst that are averaged into one. Batches of the buffer make single parts
faster or slower."""
PAUSES_S = (0, 1000)
COLOURS = {"L, no pause": "#9bd8c6", "L": "#12a07b", "C, no pause": "#a6cee3", "C": "#1f78b4"}


def _bursts(one: Drive) -> tuple[int, int]:
    """Returns the number of writes before and after the pause. The first burst uses up the free
    blocks, so that GC cannot be postponed any longer."""
    spare = one.bench.spare_pages
    return spare // 2 + one.bench.cycle, spare


def _requests(one: Drive, pause_s: int) -> Iterable[str]:
    draw = Random(one.bench.seed)  # noqa: S311 - a load
    places = one.bench.user_bytes // 4096
    for at_s, many in zip((0, pause_s), _bursts(one), strict=True):
        for _ in range(many):
            yield line("write", draw.randrange(places) * 4096, 4096, at_s * 10**9)


def _of_pauses(one: Drive) -> Mapping[str, Trial]:
    before, after = _bursts(one)
    phases = (Phase("before", before // 2, before), Phase("after", before, before + after))
    return {
        str(pause): Trial(
            ON_CLIFF, trace=lambda pause=pause: _requests(one, pause), timed=True, phases=phases
        )
        for pause in PAUSES_S
    }


def coarse(pace: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Averages consecutive parts of a burst. Returns bytes written so far and MB/s."""
    found: list[tuple[int, float]] = []
    done = 0
    for place in range(0, len(pace) - COARSE + 1, COARSE):
        first, seconds = done, 0.0
        for after, rate in pace[place : place + COARSE]:
            seconds += (after - done) / 1e6 / rate
            done = after
        found.append((done, (done - first) / 1e6 / seconds))
    return found


def fast_bytes(pace: list[tuple[int, float]], level: float) -> float:
    """Returns the bytes written before the rate first falls below the mean of `level` and the rate
    of the first part."""
    if pace[0][1] < 1.2 * level:
        return 0.0
    middle = (pace[0][1] + level) / 2
    fast = [
        done
        for place, (done, _) in enumerate(pace)
        if all(rate >= middle for _, rate in pace[: place + 1])
    ]
    return float(fast[-1])


def pauses(setup: Setup) -> Figure:
    """Reproduces figure 5.15."""
    made = {
        "L": drive("L", setup, blocks=BLOCKS, depth=4),
        "C": drive("C", setup, blocks=BLOCKS // 2, depth=4, more={"ftl.mapping": "page"}),
    }
    wanted = [(one, "pause", _of_pauses(one)) for one in made.values()]
    found = dict(zip(made, carried_out(setup, wanted), strict=True))
    pace = {
        f"{name}{', no pause' if pause == 0 else ''}": coarse(
            runs[str(pause)].phases["after"]["pace"]
        )
        for name, runs in found.items()
        for pause in PAUSES_S
    }
    level = {name: runs["0"].phases["before"]["mb_per_s"] for name, runs in found.items()}
    gained = {name: fast_bytes(pace[name], level[name]) for name in made}
    part = pace["L"][0][0]
    free = freed_bytes(made["L"])
    buffer = made["C"].bench.buffer_bytes
    rate = {name: pace[name][0][1] for name in made}
    seconds = {name: gained[name] / 1e6 / rate[name] for name in made}
    idle = {name: _idle_mj(runs) for name, runs in found.items()}
    return Figure(
        id="5.15",
        title="Figure 5.15: recovery in idle time",
        section="5.6",
        measured=(
            "Two bursts of random 4 KiB writes past the write cliff, without a pause and with "
            "one. The pause and the first burst together take 1,000 s. In idle time, L runs GC "
            "until half of its spare blocks are free, and C flushes its buffer. Blocks per die: "
            f"{BLOCKS} on L, {BLOCKS // 2} on C. C's map is in memory. Data are written fast until "
            "the rate first falls below the mean of two rates: that of the first part and that "
            "before the pause."
        ),
        rows=[
            Row("rate after the pause over the rate before it, L", rate["L"] / level["L"], "times"),
            Row("rate after the pause over the rate before it, C", rate["C"] / level["C"], "times"),
            Row("written fast after the pause, L", gained["L"] / 2**20, "MiB"),
            Row("free blocks after the pause, L", free / 2**20, "MiB"),
            Row("written fast after the pause, C", gained["C"] / 2**20, "MiB"),
            Row("buffer size, C", buffer / 2**20, "MiB"),
        ],
        claims=[
            Claim(
                "B1: the write rate after a pause is at least twice the rate before it",
                all(rate[name] > 2 * level[name] for name in made),
                ", ".join(f"{name} {rate[name] / level[name]:.1f} times" for name in made),
            ),
            Claim(
                "B1: L writes fast until the blocks freed in the pause are used, within 10 %",
                abs(gained["L"] / free - 1) < 0.1,
                f"{units.size(gained['L'])} written fast, {units.size(free)} free, in parts of "
                f"{units.size(part)}",
            ),
            Claim(
                "B1: C writes fast for no more data than its buffer holds",
                gained["C"] <= buffer + pace["C"][0][0],
                f"{units.size(gained['C'])} against {units.size(buffer)}",
            ),
            Claim(
                "B1: the fast phase lasts less than 10 s",
                holds=max(seconds.values()) < 10,
                detail=", ".join(f"{name} {value:.2f} s" for name, value in seconds.items()),
                report_only=f"the drives are {WHOLE_BLOCKS // BLOCKS} times smaller here, and GC "
                "on L frees that much less; the number of blocks that GC frees is assumed",
            ),
            Claim(
                "B1: idle time costs L more energy than C",
                holds=idle["L"] > idle["C"],
                detail=", ".join(f"{name} {value:.3g} mJ" for name, value in idle.items()),
                report_only="the published 270 and 78 % are those of whole drives; the model "
                "counts flash energy only, with assumed currents that are equal on all drives",
            ),
        ],
        plots=[
            Plot(
                "After the pause",
                "Rate of random writes by the amount of data written.",
                plotted(
                    [
                        drawn(
                            name,
                            COLOURS[name],
                            [done / 2**20 for done, _ in one],
                            [mb for _, mb in one],
                        )
                        for name, one in pace.items()
                    ],
                    height=320,
                    xaxis={"title": {"text": "MiB"}},
                    yaxis={"title": {"text": "MB/s"}, "rangemode": "tozero"},
                ),
            )
        ],
        data={
            "level_mb_per_s": level,
            "fast_bytes": gained,
            "free_bytes": free,
            "seconds": seconds,
            "first_mb_per_s": rate,
            "idle_mj": idle,
        },
    )


def freed_bytes(one: Drive) -> float:
    """Returns the bytes that writes can use in the blocks freed in a pause, over all dies.

    Excludes the GC reserve, which is one block per die at these sizes.
    """
    blocks = one.bench.config["nand"]["geometry"]["blocks_per_plane"]
    spare = blocks * one.bench.spare_pages * one.bench.page_bytes / one.bench.flash_bytes
    block = one.bench.flash_bytes / one.bench.blocks
    return (FREED * spare - RESERVED) * one.bench.planes * block


def _idle_mj(runs: Mapping[str, Measured]) -> float:
    """Returns the array energy of the run with a pause minus that of the run without. Millijoules.

    Includes the energy of the work done in idle time, less the energy that this work saves later.
    """
    straight, paused = (
        sum(
            runs[str(pause)].summary["energy"][f"{what}_mj"]
            for what in ("read", "program", "erase")
        )
        for pause in PAUSES_S
    )
    return paused - straight
