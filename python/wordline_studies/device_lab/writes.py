"""Section 5.5: mixed loads on drives and disks, the write cliff, and the effect of the buffer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
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
"""Preconditioning past the write cliff: the drive is filled, then overwritten at random with more
pages than there is spare space, so that writes cause GC."""
MEMORY_MAP: Mapping[str, Value] = {"ftl.mapping": "page"}
AT_THRESHOLD: Mapping[str, Value] = {**MEMORY_MAP, "ftl.gc.schedule": "on-demand"}
WRITES: Mapping[str, Value] = {"read_ratio": 0.0, "request_bytes": 4096, "align_bytes": 4096}
PARTS = 40
SAME = {"nand.timing.program_ns": 250_000, "host.interface.sata.gigabits_per_s": 3.0}
"""Settings of L with flash twice as fast as its link, which transfers about 256 MB/s of data at 3
Gbit/s."""
LINKED = "L, flash twice the link"
SPEEDS = "the speeds of flash and link"
"""What was chosen by the published ratio of rates, on `LINKED`."""
LOADED = 0.5
"""Request rate of a host that does not saturate the flash, relative to the rate of the flash."""
COLOURS = {"L": "#12a07b", "C": "#1f78b4"}


def _flash_rate(one: Drive) -> float:
    """Returns the rate of all dies programming together. MB/s."""
    program: int = one.bench.config["nand"]["timing"]["program_ns"]
    return one.bench.dies * one.bench.page_bytes / program * 1000


def mixes(setup: Setup) -> Figure:
    """Reproduces figure 5.8: mean and worst-case response times of drives and disks."""
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
        title="Figure 5.8: mean and worst-case response times of drives and disks",
        section="5.5.1",
        measured=(
            f"Four mixes at queue depth {DEPTH}. Means are of filled drives. Worst cases are of "
            "drives past their write cliff with on-demand GC at the free-block threshold. The "
            f"disks are the presets {DISK} (7,200 rpm) and {FAST_DISK} (10,000 rpm). Maps in "
            f"memory, {MIXED_BLOCKS} blocks per die. Sizes and access orders of the mixes are "
            "those of Intel's access patterns for Iometer."
        ),
        rows=[
            Row(
                "mean of the 7,200 rpm disk over that of a drive, minimum",
                min(shorter),
                "times",
                PUBLISHED("5.8", "mean of a disk of 7,200 rpm over that of a drive"),
            ),
            Row(
                "mean of the 7,200 rpm disk over that of a drive, maximum",
                max(shorter),
                "times",
                PUBLISHED("5.8", "mean of a disk of 7,200 rpm over that of a drive"),
            ),
            Row(
                "worst case over that of the 10,000 rpm disk, mean of drives and mixes",
                typical,
                "times",
                PUBLISHED("5.8", "worst case over that of a disk of 10,000 rpm"),
            ),
        ],
        claims=[
            Claim(
                "W1: mean response times are at least 2 times shorter than those of the disk, and "
                "over 100 times in at least one mix",
                min(shorter) >= 2 and max(shorter) > 100,
                f"{units.figures(min(shorter))} to {units.figures(max(shorter))} times",
            ),
            Claim(
                "W2: every drive has a longer worst case than the fast disk in at least one mix",
                min(longest) > 1,
                ", ".join(
                    f"{letter} {units.figures(max(one.values()))}" for letter, one in worst.items()
                ),
            ),
            Claim(
                "W2: worst cases are 5 to 30 times longer on average",
                5 <= typical <= 30,
                f"{units.figures(typical)} times",
                report_only="a worst case is one GC run plus the buffer batch that waits for it; "
                "the sizes of blocks and batches are assumed",
            ),
        ],
        explanation=["P is not simulated: it equals X in this model."],
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
    """Reproduces figure 5.9: the write cliff."""
    made = {
        "L": drive("L", setup, more=AT_THRESHOLD),
        LINKED: drive("L", setup, more={**AT_THRESHOLD, **SAME}),
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
    fitted = told[LINKED]
    slower = PUBLISHED("5.9", "rate before over after")
    rows = [
        Row(
            f"rate before the cliff over rate after it, {name}",
            one["rate"],
            "times",
            replace(slower, fitted=SPEEDS) if name == LINKED else slower,
        )
        for name, one in told.items()
    ] + [
        Row(
            f"worst case of an interval, after the cliff over before it, {name}",
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
            f"Random and sequential 4 KiB writes at queue depth {DEPTH} after one sequential "
            "pass. Before: until the first GC run. After: the second half of the run, as "
            "medians over its intervals. Maps in memory, GC at the free-block threshold. "
            f"Blocks per die: {BLOCKS}, on C {BLOCKS // 2}. C is not simulated with `--quick`."
        ),
        rows=rows,
        claims=[
            Claim(
                "W3: after the cliff, the rate falls to less than half and does not recover",
                all(one["rate"] > 2 and one["stays"] < 1.25 for one in told.values()),
                ", ".join(
                    f"{name} {units.figures(one['rate'])} times" for name, one in told.items()
                ),
            ),
            Claim(
                "W3: on L with flash twice as fast as its link, the rate falls to a third, within "
                "25 %",
                2.25 <= fitted["rate"] <= 3.75,
                f"{units.figures(fitted['rate'])} times (fitted: before the cliff, the link "
                "bounds the rate at 3 Gbit/s)",
            ),
            Claim(
                "W3: the worst case of an interval is at least 8 times longer",
                all(one["worst"] >= 8 for one in told.values()),
                ", ".join(f"{name} {units.figures(one['worst'])}" for name, one in told.items()),
            ),
            Claim(
                "W3: the worst case is 11 times longer",
                holds=False,
                detail=f"L {units.figures(told['L']['worst'])}",
                report_only="the time for which GC occupies a die depends on the assumed block "
                "size and on the buffer batch that waits for it",
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
            "At a constant queue depth, the mean response time grows as the rate falls. The "
            "published factor of 3 refers to the rate and the mean, the factor of 11 to the "
            "worst case.",
            "The rate after the cliff is that of the flash divided by the write amplification. "
            "The rate before it is that of the flash, or of the link if that is slower. The "
            "ratio therefore equals the write amplification times the share of the flash rate "
            "that the link transfers. That share is not published.",
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
    """Compares the device before and after the cliff.

    `rate` is the rate before over that after, `worst` the worst case after over that before, and
    `stays` the larger of the last two quarters' rates over the smaller.
    """
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
    """Returns the rate after the start of GC over the rate before it."""
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
        Plot("Random writes", "Rate over time.", rate),
        Plot("Longest response time", "Longest response time per interval.", worst),
    ]


def buffers(setup: Setup) -> Figure:
    """Reproduces figure 5.10: the buffer before and after the cliff."""
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
            "Random 4 KiB writes with the buffer, and with FUA. Before the cliff: at half the "
            f"rate of the flash, until GC starts. After it: at queue depth {DEPTH}. Maps in "
            f"memory, {MIXED_BLOCKS} blocks per die."
        ),
        rows=[
            Row(
                f"worst case after the cliff, with the buffer over without it, {letter}",
                value,
                "times",
                PUBLISHED("5.10", f"worst case with over without, {letter}"),
            )
            for letter, value in after.items()
        ]
        + [
            Row(f"after the cliff, pages destaged one by one, {letter}", value, "times")
            for letter, value in single.items()
        ]
        + [
            Row(
                f"worst case before the cliff, with the buffer over without it, {letter}",
                value,
                "times",
            )
            for letter, value in before.items()
        ]
        + [
            Row(f"mean before the cliff, with the buffer over without it, {letter}", value, "times")
            for letter, value in mean.items()
        ],
        claims=[
            Claim(
                "W5: before the cliff, the buffer more than halves the mean response time",
                max(mean.values()) < 0.5,
                _each(mean),
            ),
            Claim(
                "W5: before the cliff, the buffer shortens the worst case too",
                max(before.values()) < 1,
                _each(before),
                because="the pages of a batch are read from DRAM at once, and a write that arrives "
                f"then waits for the DRAM port: {port_ms:.2f} ms for 16 MiB",
            ),
            Claim(
                "W5: after the cliff, the worst case is longer with the buffer",
                min(after.values()) > 1,
                _each(after),
            ),
            Claim(
                "W5: the cause is that a batch frees its memory as a whole: if pages are "
                "destaged one by one, the worst case is at most a tenth longer",
                max(single.values()) < 1.1,
                _each(single),
            ),
            Claim(
                "W5: after the cliff, the worst case is twice (L) and four times (C) as long",
                holds=False,
                detail=_each(after),
                report_only="it depends on the batch size, which is assumed (16 MiB)",
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
    """Returns a metric with the buffer over the metric without it."""
    with_it, without = (runs[f"{state}, {on}"].phases["writes"][what] for on in ("buffer", "FUA"))
    return with_it / without
