"""Section 5.6: effect of idle time on a drive past its write cliff."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random

from wordline._lab.trial import FILLED, Measured, Phase, Trial, line
from wordline._render import units
from wordline._render.plotly import figure as plotted
from wordline._render.plotly import line as drawn
from wordline.config import Value
from wordline_studies.device_lab.runs import WHOLE_BLOCKS, Drive, carried_out, drive
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup
from wordline_studies.measures import gain
from wordline_studies.outcome import PER_CENT

PUBLISHED = Numbers(__package__ or __name__)

BLOCKS = 128
ON_CLIFF: Mapping[str, Value] = {**FILLED, "precondition.overwrite_ratio": 0.3}
FREED = 0.5
"""Share of L's over-provisioned blocks that are free when background GC stops."""
RESERVED = 1
COARSE = 2
"""Number of parts of a burst that are averaged into one. Batches of the buffer make single parts
faster or slower."""
PAUSES_S = (0, 1000)
SHORT_S = 20
"""End of a short pause on L, in seconds from the start of the run, about 6 s after the end of the
burst before it. On a whole drive, which is 16 times larger, GC would need 16 times as long for the
same share of blocks."""
FRESH = "before the cliff"
COLOURS = {"L, no pause": "#9bd8c6", "L": "#12a07b", "C, no pause": "#a6cee3", "C": "#1f78b4"}


def _bursts(one: Drive) -> tuple[int, int]:
    """Returns the number of writes before and after the pause. The first burst uses up the free
    blocks, so that GC cannot be postponed any longer."""
    spare = one.bench.spare_pages
    return spare // 2 + one.bench.cycle, spare


def _requests(one: Drive, pause_s: int, bursts: int = 2) -> Iterable[str]:
    draw = Random(one.bench.seed)  # noqa: S311 - a load
    places = one.bench.user_bytes // 4096
    for at_s, many in list(zip((0, pause_s), _bursts(one), strict=True))[:bursts]:
        for _ in range(many):
            yield line("write", draw.randrange(places) * 4096, 4096, at_s * 10**9)


def _of_pauses(one: Drive, pauses: Sequence[int]) -> Mapping[str, Trial]:
    before, after = _bursts(one)
    phases = (Phase("before", before // 2, before), Phase("after", before, before + after))
    return {
        str(pause): Trial(
            ON_CLIFF, trace=lambda pause=pause: _requests(one, pause), timed=True, phases=phases
        )
        for pause in pauses
    } | {
        FRESH: Trial(
            FILLED,
            trace=lambda: _requests(one, 0, bursts=1),
            timed=True,
            phases=(Phase("writes", 0, before),),
        )
    }


def coarse(pace: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Averages the rates of each `COARSE` consecutive parts of a burst by their durations. `pace`
    and the result have pairs of the bytes written so far and the rate in MB/s. An incomplete group
    at the end is dropped."""
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
    of the first part. Zero if the first part is less than 20 % faster than `level`. Rates are in
    MB/s."""
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
    ends = {"L": (*PAUSES_S, SHORT_S), "C": PAUSES_S}
    wanted = [(one, "pause", _of_pauses(one, ends[name])) for name, one in made.items()]
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
    brief = fast_bytes(coarse(found["L"][str(SHORT_S)].phases["after"]["pace"]), level["L"])
    part = pace["L"][0][0]
    free = freed_bytes(made["L"])
    buffer = made["C"].bench.buffer_bytes
    rate = {name: pace[name][0][1] for name in made}
    fresh = {
        name: coarse(runs[FRESH].phases["writes"]["pace"])[0][1] for name, runs in found.items()
    }
    seconds = {name: gained[name] / 1e6 / rate[name] for name in made}
    idle = {name: _idle_mj(runs) for name, runs in found.items()}
    return Figure(
        id="5.15",
        title="Figure 5.15: recovery in idle time",
        section="5.6",
        measured=(
            "Two bursts of random 4 KiB writes past the write cliff, once without and once with a "
            "pause between them. The first burst and the pause together take 1,000 s. In idle "
            "time, L runs GC until half of its over-provisioned blocks are free, and C flushes "
            f"its buffer. Blocks per die: {BLOCKS} on L, {BLOCKS // 2} on C. C's map is in "
            "memory. Data count as written at the fast rate until the write rate first falls "
            "below the mean of two rates: that of the first measured part of the second burst, "
            "and that before the pause."
        ),
        rows=[
            Row(
                "write rate after the pause over that before it, L", rate["L"] / level["L"], "times"
            ),
            Row(
                "write rate after the pause over that before it, C", rate["C"] / level["C"], "times"
            ),
            *(
                Row(
                    f"write rate after the pause over that before the cliff, {name}",
                    rate[name] / fresh[name],
                    "times",
                )
                for name in made
            ),
            Row(
                "flash energy of the work in idle time, excess of L over C",
                gain(idle["C"], idle["L"]),
                "%",
                PUBLISHED("5.15", "idle power, excess of L over C"),
            ),
            Row("data written at the fast rate after the pause, L", gained["L"] / 2**20, "MiB"),
            Row(
                f"data written at the fast rate after a pause that ends at {SHORT_S} s, L",
                brief / 2**20,
                "MiB",
            ),
            Row("capacity of the blocks that are free after the pause, L", free / 2**20, "MiB"),
            Row("data written at the fast rate after the pause, C", gained["C"] / 2**20, "MiB"),
            Row("buffer size, C", buffer / 2**20, "MiB"),
            *(
                Row(
                    f"duration of writes at the fast rate after the pause, {name}",
                    seconds[name],
                    "s",
                )
                for name in made
            ),
        ],
        claims=[
            Claim(
                "B1: after a pause, the write rate recovers to that before the cliff (within "
                f"{PER_CENT:g} %)",
                all(rate[name] >= (1 - PER_CENT / 100) * fresh[name] for name in made),
                ", ".join(
                    f"{name} {rate[name]:.0f} MB/s after the pause, {fresh[name]:.0f} MB/s "
                    "before the cliff"
                    for name in made
                ),
                ids=("J5-108",),
            ),
            Claim(
                "B1: L writes at the fast rate until the blocks freed in the pause are used up, "
                "within 10 %",
                abs(gained["L"] / free - 1) < 0.1,
                f"{units.size(gained['L'])} written at the fast rate, {units.size(free)} in free "
                f"blocks, measured in parts of {units.size(part)}",
                ids=("J5-116",),
            ),
            Claim(
                "B1: C writes no more data at the fast rate than its buffer holds, plus one "
                "measured part",
                gained["C"] <= buffer + pace["C"][0][0],
                f"{units.size(gained['C'])} written at the fast rate, {units.size(buffer)} in the "
                f"buffer, measured in parts of {units.size(pace['C'][0][0])}",
                ids=("J5-116",),
            ),
            Claim(
                f"B1: full recovery needs long idle time: after a pause that ends after {SHORT_S} "
                "s, L writes less data at the fast rate than after a pause that ends after 1,000 "
                f"s, by more than {PER_CENT:g} %",
                brief < (1 - PER_CENT / 100) * gained["L"],
                f"{units.size(brief)} and {units.size(gained['L'])} written at the fast rate",
                ids=("J5-117",),
            ),
        ],
        explanation=[
            "The phase of fast writes is shorter than on a whole drive: the drives are "
            f"{WHOLE_BLOCKS // BLOCKS} times smaller here, and GC on L frees correspondingly "
            "less. The published powers are those of whole drives; the model counts the energy of "
            "the flash only, with assumed currents that are equal on all drives."
        ],
        plots=[
            Plot(
                "Write rate after the pause",
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
