"""Section 5.6: what idle time gives back on the cliff."""

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
"""Of the spare blocks of L, which it collects until they are free."""
RESERVED = 1
COARSE = 2
"""Parts of a burst taken as one: a batch of the buffer makes single ones faster and slower."""
PAUSES_S = (0, 1000)
COLOURS = {"L, no pause": "#9bd8c6", "L": "#12a07b", "C, no pause": "#a6cee3", "C": "#1f78b4"}


def _bursts(one: Drive) -> tuple[int, int]:
    """Writes before the pause, which use up what collections may be put off for, and behind it."""
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
    """Bytes written so far and MB/s of several parts of a burst taken as one."""
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
    """Bytes written until the pace is first below the middle of its first part and the level."""
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
    """Figure 5.15."""
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
        title="Figure 5.15: what idle time gives back",
        section="5.6",
        measured=(
            "Bursts of random writes of 4 KiB on the cliff, with a pause of 1,000 s less the first "
            "burst between them, and without. L collects in idle time until half of its spare "
            f"blocks are free, C flushes its buffer. {BLOCKS} blocks on a die of L, "
            f"{BLOCKS // 2} of C, C's map in memory. "
            "Written fast: until the rate is first below the middle of its first part and of the "
            "level before the pause."
        ),
        rows=[
            Row("rate after the pause over that before it, L", rate["L"] / level["L"], "times"),
            Row("rate after the pause over that before it, C", rate["C"] / level["C"], "times"),
            Row("written fast after it, L", gained["L"] / 2**20, "MiB"),
            Row("free blocks that idle time left, L", free / 2**20, "MiB"),
            Row("written fast after it, C", gained["C"] / 2**20, "MiB"),
            Row("the buffer of C", buffer / 2**20, "MiB"),
        ],
        claims=[
            Claim(
                "B1: after a pause writes are twice as fast at least",
                all(rate[name] > 2 * level[name] for name in made),
                ", ".join(f"{name} {rate[name] / level[name]:.1f} times" for name in made),
            ),
            Claim(
                "B1: L writes fast for as long as the blocks last that it has freed, within 10 %",
                abs(gained["L"] / free - 1) < 0.1,
                f"{units.size(gained['L'])} against {units.size(free)}, in parts of "
                f"{units.size(part)}",
            ),
            Claim(
                "B1: C writes fast for as long as its buffer takes",
                gained["C"] <= buffer + pace["C"][0][0],
                f"{units.size(gained['C'])} against {units.size(buffer)}",
            ),
            Claim(
                "B1: for a few seconds only",
                holds=max(seconds.values()) < 10,
                detail=", ".join(f"{name} {value:.2f} s" for name, value in seconds.items()),
                only_told=f"drives are {WHOLE_BLOCKS // BLOCKS} times smaller here, and what L "
                "frees in proportion; until when it collects is assumed",
            ),
            Claim(
                "B1: L takes more energy for its idle time than C",
                holds=idle["L"] > idle["C"],
                detail=", ".join(f"{name} {value:.3g} mJ" for name, value in idle.items()),
                only_told="270 and 78 % are those of drives; here only the flash has energy, "
                "with currents that are assumed, alike for all",
            ),
        ],
        plots=[
            Plot(
                "After the pause",
                "Rate of random writes by what has been written.",
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
    """Free blocks of all dies that writes can take after a pause: those that idle time leaves, less
    the reserve of collections (one of each die, at so few blocks)."""
    blocks = one.bench.config["nand"]["geometry"]["blocks_per_plane"]
    spare = blocks * one.bench.spare_pages * one.bench.page_bytes / one.bench.flash_bytes
    block = one.bench.flash_bytes / one.bench.blocks
    return (FREED * spare - RESERVED) * one.bench.planes * block


def _idle_mj(runs: Mapping[str, Measured]) -> float:
    """Energy of the arrays in the run with a pause beyond that of the one without: what was done in
    idle time, less what it spared later."""
    straight, paused = (
        sum(
            runs[str(pause)].summary["energy"][f"{what}_mj"]
            for what in ("read", "program", "erase")
        )
        for pause in PAUSES_S
    )
    return paused - straight
