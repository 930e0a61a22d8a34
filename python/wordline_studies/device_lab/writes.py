"""Section 5.5: mixed loads against disks, the write cliff, and the buffer in it."""

from collections.abc import Mapping, Sequence
from typing import Any

from wordline._lab.experiments.cliff import cliff, intervals
from wordline._lab.experiments.mixes import DISK, MIXES
from wordline._lab.trial import FILLED, Measured, Phase, Trial
from wordline._render import units
from wordline._render.plotly import decades
from wordline._render.plotly import figure as plotted
from wordline._render.plotly import line as drawn
from wordline.config import Value
from wordline_studies.device_lab.runs import BLOCKS, DEPTH, Drive, carried_out, drive
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup

PUBLISHED = Numbers(__package__ or __name__)
FAST_DISK = "atlas-10k-iv"
MIXED_BLOCKS = 64
WORN: Mapping[str, Value] = {**FILLED, "precondition.overwrite_ratio": 0.3}
"""Filled, and overwritten at random with more pages than are spare, so that writes are collected
for: on the cliff."""
MEMORY_MAP: Mapping[str, Value] = {"ftl.mapping": "page"}
AT_THRESHOLD: Mapping[str, Value] = {**MEMORY_MAP, "ftl.gc.schedule": "on-demand"}
WRITES: Mapping[str, Value] = {"read_ratio": 0.0, "request_bytes": 4096, "align_bytes": 4096}
PARTS = 40
SAME = {"nand.timing.program_ns": 250_000, "host.interface.sata.gigabits_per_s": 3.0}
"""L with flash that takes twice as much as its link brings: 3 Gbit/s, of which data may take some
256 MB/s."""
LOADED = 0.5
"""Of the rate that flash takes, where the host is slower than it."""
COLOURS = {"L": "#12a07b", "C": "#1f78b4"}


def _flash_rate(one: Drive) -> float:
    """MB/s that all dies program at once."""
    program: int = one.bench.config["nand"]["timing"]["program_ns"]
    return one.bench.dies * one.bench.page_bytes / program * 1000


def mixes(setup: Setup) -> Figure:
    """Figure 5.8."""
    letters = "LZ" if setup.quick else "LCZAX"
    made = [drive(letter, setup, more=AT_THRESHOLD, blocks=MIXED_BLOCKS) for letter in letters]
    wanted = [(one, "mixes", _of_mixes(one)) for one in made]
    found = carried_out(setup, [*wanted, (made[0], "disks", _of_disks(made[0]))])
    *ssds, disks = found
    means: dict[str, dict[str, float]] = {}
    worst: dict[str, dict[str, float]] = {}
    for one, runs in zip(made, ssds, strict=True):
        means[one.letter] = {
            mix: disks[f"{mix}, {DISK}"].summary["latency"]["all"]["mean_us"]
            / runs[f"{mix}, fresh"].summary["latency"]["all"]["mean_us"]
            for mix in MIXES
        }
        worst[one.letter] = {
            mix: runs[f"{mix}, used"].summary["latency"]["all"]["max_us"]
            / disks[f"{mix}, {FAST_DISK}"].summary["latency"]["all"]["max_us"]
            for mix in MIXES
        }
    shorter = [value for one in means.values() for value in one.values()]
    longest = [max(one.values()) for one in worst.values()]
    typical = sum(sum(one.values()) for one in worst.values()) / len(worst) / len(MIXES)
    return Figure(
        id="5.8",
        title="Figure 5.8: averages and worst cases beside disks",
        section="5.5.1",
        measured=(
            f"Four mixes, {DEPTH} under way: averages of filled drives, worst cases of drives that "
            "are on the cliff, whose collections run on demand and at their threshold; the "
            f"presets {DISK} (7,200 rpm) and {FAST_DISK} (10,000). Maps in memory, "
            f"{MIXED_BLOCKS} blocks on a die. Sizes and orders of the mixes are "
            "those of Intel's access patterns of Iometer."
        ),
        rows=[
            Row(
                "mean of the disk over that of a drive, least",
                min(shorter),
                "times",
                PUBLISHED("5.8", "mean of a disk of 7,200 rpm over that of a drive"),
            ),
            Row(
                "the same, most",
                max(shorter),
                "times",
                PUBLISHED("5.8", "mean of a disk of 7,200 rpm over that of a drive"),
            ),
            Row(
                "worst case over that of the disk, mean of drives and mixes",
                typical,
                "times",
                PUBLISHED("5.8", "worst case over that of a disk of 10,000 rpm"),
            ),
        ],
        claims=[
            Claim(
                "W1: averages are at least twice as short as those of the disk, over 100 times "
                "somewhere",
                min(shorter) >= 2 and max(shorter) > 100,
                f"{units.figures(min(shorter))} to {units.figures(max(shorter))} times",
            ),
            Claim(
                "W2: worst cases are longer than those of a fast disk, on every drive in some mix",
                min(longest) > 1,
                ", ".join(
                    f"{letter} {units.figures(max(one.values()))}" for letter, one in worst.items()
                ),
            ),
            Claim(
                "W2: 5 to 30 times on average",
                5 <= typical <= 30,
                f"{units.figures(typical)} times",
                only_told="a worst case is that of a collection, and of the batch of the buffer "
                "that waits for it: blocks and batches are assumed",
            ),
        ],
        explanation=["P is not run: it is X here."],
        data={"mean_times": means, "worst_times": worst},
    )


def _of_mixes(one: Drive) -> Mapping[str, Trial]:
    found: dict[str, Trial] = {}
    for name, mix in MIXES.items():
        count = one.bench.count(20_000, 5_000)
        found[f"{name}, fresh"] = Trial(FILLED, mix | {"requests": count})
        pages = round(one.bench.cycle / (1 - mix["read_ratio"]))
        found[f"{name}, used"] = Trial(WORN, mix | {"requests": max(count, pages)})
    return found


def _of_disks(one: Drive) -> Mapping[str, Trial]:
    return {
        f"{name}, {disk}": Trial({}, mix | {"requests": one.bench.count(2_000, 500)}, device=disk)
        for name, mix in MIXES.items()
        for disk in (DISK, FAST_DISK)
    }


def cliffs(setup: Setup) -> Figure:
    """Figure 5.9."""
    made = {
        "L": drive("L", setup, more=AT_THRESHOLD),
        "L, flash twice the link": drive("L", setup, more={**AT_THRESHOLD, **SAME}),
    }
    if not setup.quick:
        made["C"] = drive("C", setup, more=AT_THRESHOLD, blocks=BLOCKS // 2)
    found = carried_out(
        setup, [(one, f"cliff of {name}", _of_cliff(one)) for name, one in made.items()]
    )
    told = {name: levels(runs["random"].series) for name, runs in zip(made, found, strict=True)}
    even = {
        name: evenness(runs["sequential"].series) for name, runs in zip(made, found, strict=True)
    }
    fitted = told["L, flash twice the link"]
    rows = [
        Row(
            f"rate before over after, {name}",
            one["rate"],
            "times",
            PUBLISHED("5.9", "rate before over after"),
        )
        for name, one in told.items()
    ] + [
        Row(
            f"worst case of an interval, after over before, {name}",
            one["worst"],
            "times",
            PUBLISHED("5.9", "worst case after over before"),
        )
        for name, one in told.items()
    ]
    return Figure(
        id="5.9",
        title="Figure 5.9: the write cliff",
        section="5.5.2",
        measured=(
            f"After one sequential pass, random and sequential writes of 4 KiB, {DEPTH} under way. "
            "Before: until the first collection; after: the last half of the run, medians of its "
            f"intervals. Maps in memory, collections at their threshold; {BLOCKS} blocks on a die, "
            f"{BLOCKS // 2} of C, which is not run with `--quick`."
        ),
        rows=rows,
        claims=[
            Claim(
                "W3: once it begins, the rate falls to less than half, and stays there",
                all(one["rate"] > 2 and one["stays"] < 1.25 for one in told.values()),
                ", ".join(
                    f"{name} {units.figures(one['rate'])} times" for name, one in told.items()
                ),
            ),
            Claim(
                "W3: to a third, within 25 %, of L whose flash takes twice what its link brings",
                2.25 <= fitted["rate"] <= 3.75,
                f"{units.figures(fitted['rate'])} times "
                "(fitted: the rate before is that of the link, 3 Gbit/s)",
            ),
            Claim(
                "W3: worst cases of an interval are 8 times longer at least",
                all(one["worst"] >= 8 for one in told.values()),
                ", ".join(f"{name} {units.figures(one['worst'])}" for name, one in told.items()),
            ),
            Claim(
                "W3: worst cases 11 times longer",
                holds=False,
                detail=f"L {units.figures(told['L']['worst'])}",
                only_told="how long a collection holds a die is set by the block, which is "
                "assumed, and the batch of the buffer that waits for it",
            ),
            Claim(
                "W4: sequential writes keep their rate within 5 %",
                all(abs(value - 1) < 0.05 for value in even.values()),
                ", ".join(f"{name} {100 * (value - 1):+.2f} %" for name, value in even.items()),
            ),
        ],
        plots=_plots(
            {
                name: runs["random"].series
                for name, runs in zip(made, found, strict=True)
                if name in COLOURS
            }
        ),
        explanation=[
            "At a constant number of requests under way the mean grows as the rate falls: 3 times "
            "are of rate and mean, 11 of the worst case.",
            "The rate after is that of flash over write amplification; the rate before is that of "
            "flash, or of the link where that is slower. The quotient is therefore write "
            "amplification, times the share of the rate of flash that the link brings, which is "
            "not published.",
        ],
        data={"levels": told, "sequential_ratio": even},
    )


def _of_cliff(one: Drive) -> Mapping[str, Trial]:
    pages = one.bench.user_bytes // 4096
    after = one.bench.spare_pages + round((0.25 if one.bench.quick else 0.5) * pages)
    return {
        "random": Trial(FILLED, {**WRITES, "requests": after}, series=True),
        "sequential": Trial(
            FILLED, {**WRITES, "requests": after, "pattern": "sequential"}, series=True
        ),
    }


def _middle(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def levels(series: Mapping[str, Sequence[Any]]) -> dict[str, float]:
    """By how much rate falls and the worst case of an interval grows; `stays`, the third quarter's
    rate over the last's."""
    begin = cliff(series)
    span = series["end_s"][-1] - series["start_s"][0]
    wide = intervals(series, span / PARTS)
    rates, longest = wide["mb_per_s"][:-1], wide["max_us"][:-1]
    half, rest = rates[len(rates) // 2 :], longest[len(longest) // 2 :]
    third, last = half[: len(half) // 2], half[len(half) // 2 :]
    after = sum(half) / len(half)
    before_s = begin.at_s or 0.0
    before = [
        us
        for end, us in zip(wide["end_s"], longest, strict=False)
        if end - series["start_s"][0] <= before_s
    ] or [begin.worst_before_us]
    return {
        "before_mb_per_s": begin.before_mb_per_s,
        "after_mb_per_s": after,
        "rate": begin.before_mb_per_s / after,
        "worst": _middle(rest) / _middle(before),
        "stays": max(
            sum(last) / len(last) * len(third) / sum(third),
            sum(third) / len(third) * len(last) / sum(last),
        ),
        "at_s": before_s,
    }


def evenness(series: Mapping[str, Sequence[Any]]) -> float:
    """Rate once collections have begun over that before."""
    begin = cliff(series)
    if begin.at_s is None:
        return 1.0
    after = [
        (size, end - start)
        for size, start, end in zip(
            series["write_bytes"], series["start_s"], series["end_s"], strict=True
        )
        if start - series["start_s"][0] >= begin.at_s
    ][:-1]
    rate = sum(size for size, _ in after) / 1e6 / sum(width for _, width in after)
    return rate / begin.before_mb_per_s


def _plots(series: Mapping[str, Mapping[str, Sequence[Any]]]) -> list[Plot]:
    wide = {
        name: intervals(one, (one["end_s"][-1] - one["start_s"][0]) / 100)
        for name, one in series.items()
    }
    rate = plotted(
        [drawn(name, COLOURS[name], one["end_s"], one["mb_per_s"]) for name, one in wide.items()],
        height=320,
        xaxis={"title": {"text": "s"}},
        yaxis={"title": {"text": "MB/s"}, "rangemode": "tozero"},
    )
    worst = plotted(
        [drawn(name, COLOURS[name], one["end_s"], one["max_us"]) for name, one in wide.items()],
        height=320,
        xaxis={"title": {"text": "s"}},
        yaxis=decades("response time", [us for one in wide.values() for us in one["max_us"] if us]),
    )
    return [
        Plot("Random writes", "Rate in time.", rate),
        Plot("Longest response time", "Of each interval.", worst),
    ]


def buffers(setup: Setup) -> Figure:
    """Figure 5.10."""
    made = [drive(letter, setup, more=AT_THRESHOLD, blocks=MIXED_BLOCKS) for letter in "LC"]
    found = carried_out(setup, [(one, "buffer", _of_buffers(one)) for one in made])
    told = {one.letter: runs for one, runs in zip(made, found, strict=True)}
    mean = {letter: _over(runs, "before", "mean_us") for letter, runs in told.items()}
    before = {letter: _over(runs, "before", "max_us") for letter, runs in told.items()}
    after = {letter: _over(runs, "after", "max_us") for letter, runs in told.items()}
    single = {
        letter: runs["after, one by one"].phases["writes"]["max_us"]
        / runs["after, FUA"].phases["writes"]["max_us"]
        for letter, runs in told.items()
    }
    port_ms = (
        made[0].bench.config["buffer"]["flush"]["batches"]["batch_kib"]
        * 1.024
        / (made[0].bench.config["buffer"]["mb_per_s"])
    )
    return Figure(
        id="5.10",
        title="Figure 5.10: the buffer before and after the cliff",
        section="5.5.3",
        measured=(
            "Random writes of 4 KiB with the buffer, and each durable (FUA). Before: at half the "
            f"rate that flash takes, before collections begin; after: on the cliff, {DEPTH} under "
            f"way. Maps in memory, {MIXED_BLOCKS} blocks on a die."
        ),
        rows=[
            Row(
                f"worst case with over without, after the cliff, {letter}",
                value,
                "times",
                PUBLISHED("5.10", f"worst case with over without, {letter}"),
            )
            for letter, value in after.items()
        ]
        + [
            Row(f"after the cliff, pages leaving one by one, {letter}", value, "times")
            for letter, value in single.items()
        ]
        + [
            Row(f"worst case with over without, before the cliff, {letter}", value, "times")
            for letter, value in before.items()
        ]
        + [
            Row(f"mean with over without, before the cliff, {letter}", value, "times")
            for letter, value in mean.items()
        ],
        claims=[
            Claim(
                "W5: before the cliff the buffer hides writes: they take less than half of "
                "the time on average",
                max(mean.values()) < 0.5,
                _each(mean),
            ),
            Claim(
                "W5: it hides the worst case, too",
                max(before.values()) < 1,
                _each(before),
                because="the pages of a batch are read from memory at one go, and a write that "
                f"comes then waits for the memory's port: {port_ms:.2f} ms for 16 MiB",
            ),
            Claim(
                "W5: after it the worst case is longer with the buffer",
                min(after.values()) > 1,
                _each(after),
            ),
            Claim(
                "W5: what makes it longer is that a batch gives its memory back as a whole: with "
                "pages that leave one by one it is no longer by a tenth",
                max(single.values()) < 1.1,
                _each(single),
            ),
            Claim(
                "W5: twice (L) and four times (C)",
                holds=False,
                detail=_each(after),
                only_told="the size of a batch sets it (16 MiB here, assumed)",
            ),
        ],
        data={"mean": mean, "before": before, "after": after, "one_by_one": single},
    )


def _each(values: Mapping[str, float]) -> str:
    return ", ".join(f"{letter} {units.figures(value)}" for letter, value in values.items())


def _of_buffers(one: Drive) -> Mapping[str, Trial]:
    rate = round(LOADED * _flash_rate(one) * 1e6 / 4096)
    calm = min(one.bench.spare_pages // 3, one.bench.count(60_000, 30_000))
    used = max(2 * one.bench.cycle, 2 * one.bench.buffer_bytes // 4096)
    paced = {**WRITES, "requests": calm}
    arriving: Mapping[str, Value] = {"workload.arrival.constant.iops": rate}
    hard = {**WRITES, "requests": used}
    single: Mapping[str, Value] = {"buffer.flush": "one-by-one"}
    calm_phase, hard_phase = (Phase("writes", 0, calm),), (Phase("writes", 0, used),)
    return {
        "before, buffer": Trial(FILLED, paced, phases=calm_phase, settings=arriving),
        "before, FUA": Trial(
            FILLED, {**paced, "fua_ratio": 1.0}, phases=calm_phase, settings=arriving
        ),
        "after, buffer": Trial(WORN, hard, phases=hard_phase),
        "after, FUA": Trial(WORN, {**hard, "fua_ratio": 1.0}, phases=hard_phase),
        "after, one by one": Trial(WORN, hard, phases=hard_phase, settings=single),
    }


def _over(runs: Mapping[str, Measured], state: str, what: str) -> float:
    """With the buffer over without."""
    with_it, without = (runs[f"{state}, {on}"].phases["writes"][what] for on in ("buffer", "FUA"))
    return with_it / without
