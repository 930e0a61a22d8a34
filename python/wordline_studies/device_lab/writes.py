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
from wordline_studies.outcome import IN_POINTS, PER_CENT

PUBLISHED = Numbers(__package__ or __name__)
FAST_DISK = "atlas-10k-iv"
MIXED_BLOCKS = 64
WORN: Mapping[str, Value] = {**FILLED, "precondition.overwrite_ratio": 0.3}
"""Preconditioning past the write cliff: the drive is filled, then overwritten at random with more
pages than are over-provisioned, so that writes cause GC."""
MEMORY_MAP: Mapping[str, Value] = {"ftl.mapping": "page"}
AT_THRESHOLD: Mapping[str, Value] = {**MEMORY_MAP, "ftl.gc.schedule": "on-demand"}
WRITES: Mapping[str, Value] = {"read_ratio": 0.0, "request_bytes": 4096, "align_bytes": 4096}
PARTS = 40
SAME = {"nand.timing.program_ns": 250_000, "host.interface.sata.gigabits_per_s": 3.0}
"""Settings of L with flash twice as fast as its link, which transfers about 256 MB/s of data at 3
Gbit/s."""
LINKED = "L, flash twice as fast as the link"
SPEEDS = "the speeds of flash and link"
"""Settings that were fitted to the published ratio of rates, on `LINKED`."""
PLOTTED = ("L", LINKED, "C")
LOADED = 0.5
"""Request rate of a host that does not saturate the flash, relative to the rate of the flash."""
COLOURS = {"L": "#12a07b", "C": "#1f78b4"}
ALIKE = (
    "before the cliff, C gains less from the buffer than L; the cause is not known, and no "
    "explanation was tested; both presets have the same assumed buffer and batches, because the "
    "shares of DRAM that hold data are not published"
)
ABSORBS = (
    "the buffer absorbs rewrites of pages that it still holds, so fewer pages are written to the "
    "flash than without the buffer"
)


def _flash_rate(one: Drive) -> float:
    """Returns the rate at which all dies together program pages, without transfers. MB/s."""
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
    over_fresh: dict[str, dict[str, float]] = {}
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
        over_fresh[one.letter] = {
            mix: runs[f"{mix}, used"].summary["latency"]["all"]["max_us"]
            / runs[f"{mix}, fresh"].summary["latency"]["all"]["max_us"]
            for mix in MIXES
        }
    # Mean response time of the disk of 10,000 rpm over that of the disk of 7,200 rpm.
    fast = {
        mix: disks[f"{mix}, {FAST_DISK}"].summary["latency"]["all"]["mean_us"]
        / disks[f"{mix}, {DISK}"].summary["latency"]["all"]["mean_us"]
        for mix in MIXES
    }
    shorter = [value for one in means.values() for value in one.values()]
    typical = sum(sum(one.values()) for one in worst.values()) / len(worst) / len(MIXES)
    return Figure(
        id="5.8",
        title="Figure 5.8: mean and worst-case response times of drives and disks",
        section="5.5.1",
        measured=(
            f"Four mixes of reads and writes at queue depth {DEPTH}. Mean response times are "
            "those of filled drives; worst cases are those of drives past their write cliff with "
            f"on-demand GC at the free-block threshold. The disks are the presets {DISK} (7,200 "
            f"rpm) and {FAST_DISK} (10,000 rpm). Maps in memory, {MIXED_BLOCKS} blocks per die. "
            "Sizes and access orders of the mixes are those of Intel's access patterns for "
            "Iometer."
        ),
        rows=[
            Row(
                "mean response time of the 7,200 rpm disk over that of a drive, minimum",
                min(shorter),
                "times",
                PUBLISHED("5.8", "mean response time of a 7,200 rpm disk over that of a drive"),
            ),
            Row(
                "mean response time of the 7,200 rpm disk over that of a drive, maximum",
                max(shorter),
                "times",
                PUBLISHED("5.8", "mean response time of a 7,200 rpm disk over that of a drive"),
            ),
            Row(
                "worst-case response time of a drive over that of the 10,000 rpm disk, mean over "
                "drives and mixes",
                typical,
                "times",
                PUBLISHED(
                    "5.8", "worst-case response time of a drive over that of a 10,000 rpm disk"
                ),
            ),
        ],
        claims=[
            Claim(
                "W1: every drive has a shorter mean response time than either disk in every mix",
                all(
                    value * min(1.0, fast[mix]) > 1
                    for one in means.values()
                    for mix, value in one.items()
                ),
                "; ".join(f"{letter} {_range(one)} times" for letter, one in means.items()),
                ids=("J5-062",),
            ),
            Claim(
                "W2: every drive has a longer worst-case response time than the 10,000 rpm disk "
                "in every mix",
                all(value > 1 for one in worst.values() for value in one.values()),
                "; ".join(f"{letter} {_range(one)} times" for letter, one in worst.items()),
                ids=("J5-061",),
            ),
            Claim(
                "W2: GC is the cause: the worst-case response time is longer past the write cliff "
                "than without GC, for every drive and mix",
                all(value > 1 for one in over_fresh.values() for value in one.values()),
                "; ".join(f"{letter} {_range(one)} times" for letter, one in over_fresh.items()),
                ids=("J5-068",),
            ),
        ],
        explanation=["P is not simulated: it equals X in this model."],
        data={"mean_times": means, "worst_times": worst, "worst_over_fresh": over_fresh},
    )


def _range(values: Mapping[str, float]) -> str:
    return " to ".join(units.figures(end(values.values())) for end in (min, max))


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
    blocks = BLOCKS // 2 if setup.quick else BLOCKS
    made = {
        "L": drive("L", setup, more=AT_THRESHOLD, blocks=blocks),
        LINKED: drive("L", setup, more={**AT_THRESHOLD, **SAME}, blocks=blocks),
    }
    if not setup.quick:
        made["C"] = drive("C", setup, more=AT_THRESHOLD, blocks=BLOCKS // 2)
        for letter in "ZAX":
            made[letter] = drive(letter, setup, more=AT_THRESHOLD, blocks=MIXED_BLOCKS)
    found = carried_out(
        setup, [(one, f"cliff of {name}", _of_cliff(one)) for name, one in made.items()]
    )
    told = {name: levels(runs["random"].series) for name, runs in zip(made, found, strict=True)}
    even = {
        name: evenness(runs["sequential"].series) for name, runs in zip(made, found, strict=True)
    }
    amplification = {
        name: {kind: _amplification(one) for kind, one in runs.items()}
        for name, runs in zip(made, found, strict=True)
    }
    slower = PUBLISHED("5.9", "write rate before the cliff over that after it")
    rows = [
        Row(
            f"write rate before the cliff over that after it, {name}",
            one["rate"],
            "times",
            replace(slower, fitted=SPEEDS) if name == LINKED else slower,
        )
        for name, one in told.items()
        if name in PLOTTED
    ] + [
        Row(
            f"worst-case response time of an interval, after the cliff over before it, {name}",
            one["worst"],
            "times",
            PUBLISHED("5.9", "worst-case response time after the cliff over that before it"),
        )
        for name, one in told.items()
        if name in PLOTTED
    ]
    return Figure(
        id="5.9",
        title="Figure 5.9: the write cliff",
        section="5.5.2",
        measured=(
            f"Random and sequential 4 KiB writes at queue depth {DEPTH} after one sequential "
            "pass. Before the cliff means until the first GC run, after the cliff means the "
            "second half of the run. Worst cases are medians of the longest response times of "
            "intervals. Maps in memory, GC at the free-block threshold. Blocks per die: "
            f"{blocks}, on C {BLOCKS // 2}, on Z, A and X {MIXED_BLOCKS}. With `--quick`, only L "
            "is simulated."
        ),
        rows=rows,
        claims=_cliff_claims(told, even, amplification),
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


def _amplification(run: Measured) -> float:
    """Returns the bytes programmed per byte written by the host."""
    flash = run.summary["flash"]
    return flash["programmed_bytes"] / flash["host_written_bytes"]


def _cliff_claims(
    told: Mapping[str, Mapping[str, float]],
    even: Mapping[str, float],
    amplification: Mapping[str, Mapping[str, float]],
) -> list[Claim]:
    """Returns the claims of figure 5.9: `told` has the levels before and after the cliff, `even`
    the rate of sequential writes after the start of GC over that before it."""
    basic = {name: one for name, one in told.items() if name in PLOTTED}
    spare = {name: one["random"] for name, one in amplification.items() if name in "LC"}
    return [
        Claim(
            "W3: under random writes, the rate falls and the worst-case response time rises at "
            "the cliff, and the rate does not recover (the rates of the last two quarters of the "
            f"run are within {PER_CENT:g} %)",
            all(_has_cliff(one) for one in basic.values()),
            ", ".join(
                f"{name} {units.figures(one['rate'])} and {units.figures(one['worst'])} times"
                for name, one in basic.items()
            ),
            ids=("J5-070", "J1-014"),
        ),
        Claim(
            "W3: all drives have a write cliff",
            all(_has_cliff(one) for one in told.values()),
            ", ".join(f"{name} {units.figures(one['rate'])} times" for name, one in told.items()),
            quick=False,
            ids=("J5-076",),
        ),
        Claim(
            f"W4: sequential writes keep their rate within {IN_POINTS:g} %",
            all(abs(value - 1) < IN_POINTS / 100 for value in even.values()),
            ", ".join(f"{name} {100 * (value - 1):+.2f} %" for name, value in even.items()),
            ids=("J5-069",),
        ),
        Claim(
            "W4: the cause is that blocks reclaimed under random writes still hold valid pages: "
            "write amplification is higher than under sequential writes",
            all(one["random"] > one["sequential"] for one in amplification.values()),
            ", ".join(
                f"{name} {one['random']:.2f} and {one['sequential']:.2f}"
                for name, one in amplification.items()
            ),
            ids=("J5-075",),
        ),
        Claim(
            "L has a lower write amplification than C, which has less over-provisioning",
            spare["L"] < spare["C"] if len(spare) > 1 else None,
            ", ".join(f"{name} {value:.2f}" for name, value in spare.items()),
            quick=False,
            ids=("J5-105",),
        ),
    ]


def _has_cliff(levels: Mapping[str, float]) -> bool:
    return (
        levels["rate"] > 1 + PER_CENT / 100
        and levels["worst"] > 1 + PER_CENT / 100
        and levels["stays"] <= 1 + PER_CENT / 100
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
    """Compares the device before the first GC run and in the second half of the run.

    Returns both rates in MB/s; `rate`, the rate before over that after; `worst`, the median of the
    worst cases of the intervals after over that before; `stays`, the larger of the rates of the
    last two quarters over the smaller; and `at_s`, the time of the first GC run in seconds, 0
    without GC.
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
    """Returns the rate of writes after the start of GC over the rate before it, or 1 without
    GC."""
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
        Plot("Rate of random writes", "Rate over time.", rate),
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
    calm = {
        letter: runs["before, one by one"].phases["writes"]["max_us"]
        / runs["before, FUA"].phases["writes"]["max_us"]
        for letter, runs in told.items()
    }
    gc, pages = (
        {
            letter: tuple(runs[f"after, {on}"].summary["flash"][what] for on in ("buffer", "FUA"))
            for letter, runs in told.items()
        }
        for what in ("gc_runs", "host_page_writes")
    )
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
            "Random 4 KiB writes with the buffer, and with FUA instead of the buffer. Before the "
            "cliff, writes arrive at half the rate of the flash and are too few to start GC. "
            f"After the cliff, the queue depth is {DEPTH}. Maps in memory, {MIXED_BLOCKS} blocks "
            "per die."
        ),
        rows=[
            Row(
                "worst-case response time after the cliff with the buffer over that without it, "
                f"{letter}",
                value,
                "times",
                PUBLISHED(
                    "5.10",
                    "worst-case response time after the cliff with the buffer over "
                    f"that without it, {letter}",
                ),
            )
            for letter, value in after.items()
        ]
        + [
            Row(
                "worst-case response time after the cliff with a buffer destaged page by page "
                f"over that without a buffer, {letter}",
                value,
                "times",
            )
            for letter, value in single.items()
        ]
        + [
            Row(
                "worst-case response time before the cliff with the buffer over that without it, "
                f"{letter}",
                value,
                "times",
            )
            for letter, value in before.items()
        ]
        + [
            Row(
                "worst-case response time before the cliff with a buffer destaged page by page "
                f"over that without a buffer, {letter}",
                value,
                "times",
            )
            for letter, value in calm.items()
        ]
        + [
            Row(
                "mean response time before the cliff with the buffer over that without it, "
                f"{letter}",
                value,
                "times",
            )
            for letter, value in mean.items()
        ]
        + [
            Row(
                "mean response time before the cliff without the buffer over that with it, C",
                1 / mean["C"],
                "times",
                PUBLISHED(
                    "5.10",
                    "mean response time before the cliff without the buffer over that with it, C",
                ),
            )
        ],
        claims=[
            Claim(
                "W5: before the cliff, the buffer shortens the mean response time",
                max(mean.values()) < 1,
                _each(mean),
                ids=("J5-083",),
            ),
            Claim(
                "W5: before the cliff, the buffer shortens the worst-case response time of L",
                before["L"] < 1,
                _each(before),
                because="the pages of a batch are read from DRAM at once, and a write that "
                f"arrives at that time waits for the DRAM port: {port_ms:.2f} ms for 16 MiB; if "
                "pages are destaged one by one, the worst case is shorter than with batches",
                ids=("J5-077",),
            ),
            Claim(
                "W5: before the cliff, the worst-case response time with the buffer is shorter if "
                "pages are destaged one by one than if they are destaged in batches",
                all(calm[letter] < before[letter] for letter in before),
                _each(calm),
            ),
            Claim(
                "W5: after the cliff, the worst-case response time is longer with the buffer than "
                "without it",
                min(after.values()) > 1,
                _each(after),
                ids=("J5-083",),
            ),
            Claim(
                "W5: the cause is that a batch frees its memory as a whole: if pages are destaged "
                "one by one, the worst-case response time with the buffer is shorter than with "
                "batches",
                all(single[letter] < after[letter] for letter in after),
                _each(single),
            ),
            Claim(
                "W5: C gains more from the buffer before the cliff than L, and loses more after it",
                mean["C"] < mean["L"] and after["C"] > after["L"],
                f"before {_each(mean)}; after {_each(after)}",
                because=ALIKE,
                ids=("J5-081",),
            ),
            Claim(
                "W5: with the buffer, GC runs more often than without it",
                all(with_it > without for with_it, without in gc.values()),
                "; ".join(
                    f"{letter} {with_it:,} and {without:,} GC runs"
                    for letter, (with_it, without) in gc.items()
                ),
                because=ABSORBS,
                ids=("J5-082",),
            ),
            Claim(
                "W5: with the buffer, fewer host pages are written to the flash than without it",
                all(with_it < without for with_it, without in pages.values()),
                "; ".join(
                    f"{letter} {with_it:,} and {without:,} pages"
                    for letter, (with_it, without) in pages.items()
                ),
            ),
        ],
        data={
            "mean": mean,
            "before": before,
            "after": after,
            "one_by_one": single,
            "gc_runs": {letter: list(one) for letter, one in gc.items()},
        },
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
        "before, one by one": Trial(
            FILLED, paced, phases=calm_phase, settings={**arriving, **single}
        ),
        "after, buffer": Trial(WORN, hard, phases=hard_phase),
        "after, FUA": Trial(WORN, {**hard, "fua_ratio": 1.0}, phases=hard_phase),
        "after, one by one": Trial(WORN, hard, phases=hard_phase, settings=single),
    }


def _over(runs: Mapping[str, Measured], state: str, what: str) -> float:
    """Returns a metric with the buffer over the metric without it."""
    with_it, without = (runs[f"{state}, {on}"].phases["writes"][what] for on in ("buffer", "FUA"))
    return with_it / without
