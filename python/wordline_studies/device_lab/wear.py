"""Sections 5.4.4 and 5.4.5: what reads wear, and what their reliability costs."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from wordline._lab.experiments import reliability
from wordline._lab.experiments.read_wear import HOT as HOT_SHARE
from wordline._lab.trial import FILLED, Phase, Trial
from wordline._render import units
from wordline._render.charts import lines
from wordline.config import Value
from wordline_studies.device_lab.runs import DEPTH, Drive, carried_out, drive
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup

PUBLISHED = Numbers(__package__ or __name__)
LIMIT, WHOLE_LIMIT = 64, 100_000
ROUNDS, QUICK_ROUNDS = 4, 2
HOT = 1 / 32
"""Share of the drive that is read: two blocks on each die."""
WEAR_BLOCKS = 64
SWEEPS = 5
"""Times that what is read reaches its limit in a round: in the first of them blocks are written
that have never been."""
EVEN_BLOCKS = 48
EVEN_ROUNDS, QUICK_EVEN_ROUNDS = 3, 1
READ_BLOCKS = 64
WHOLE_PROGRAM: Mapping[str, Value] = {"nand.timing.program_ns": 1_000_000}
"""A copy holds its die for the whole program of a page, however many units it has."""
ERRS: Mapping[str, Value] = {
    "nand.reliability.errors": "analytic",
    "nand.reliability.read_limit": LIMIT,
}
BASIC = "LCZ"
SIZES = (4096, 32_768, 262_144)
TIMES = 5
COLOURS = {"most": "#c0392b", "mean": "#1f78b4", "L": "#12a07b", "C": "#1f78b4", "Z": "#d8731c"}


def _reads(one: Drive, share: float, rounds: int) -> Trial:
    """So many times as many reads as the blocks that are read take until their data is moved."""
    count = round(one.bench.blocks * share * LIMIT * rounds)
    load = {
        "requests": count,
        "read_ratio": 1.0,
        "request_bytes": one.bench.page_bytes,
        "align_bytes": one.bench.page_bytes,
        "working_set_ratio": share,
    }
    return Trial(FILLED, load, depth=32)


def cycles(setup: Setup) -> Figure:
    """Figure 5.6."""
    more = {**ERRS, "ftl.mapping": "page"}
    blind = drive("A", setup, more=more, blocks=WEAR_BLOCKS)
    least = drive("A", setup, more={**more, "ftl.wear": "dynamic"}, blocks=WEAR_BLOCKS)
    levelled = {**more, "ftl.wear": "dynamic", "ftl.refresh.target": "in-place"}
    back = drive("A", setup, more=levelled, blocks=WEAR_BLOCKS)
    even = drive("A", setup, more=more, blocks=EVEN_BLOCKS)
    turns = QUICK_EVEN_ROUNDS if setup.quick else EVEN_ROUNDS
    whole = QUICK_ROUNDS if setup.quick else ROUNDS
    hot, fair, returned, all_of_it = carried_out(
        setup,
        [
            (
                blind,
                "rounds of reads of 1/32",
                {str(many): _reads(blind, HOT, SWEEPS * many) for many in range(1, whole + 1)},
            ),
            (
                least,
                "rounds of reads of 1/32, wear levelling that sees them",
                {str(many): _reads(least, HOT, SWEEPS * many) for many in (whole // 2, whole)},
            ),
            (
                back,
                "rounds of reads of 1/32, whose data returns to its blocks",
                {str(many): _reads(back, HOT, SWEEPS * many) for many in (whole // 2, whole)},
            ),
            (even, "reads of all", {"1": _reads(even, 1.0, turns)}),
        ],
    )
    rounds = [_worn(hot[str(many)].summary) for many in range(1, whole + 1)]
    last = since(rounds[whole // 2 - 1], rounds[-1])
    spread = since(*(_worn(fair[str(many)].summary) for many in (whole // 2, whole)))
    own = since(*(_worn(returned[str(many)].summary) for many in (whole // 2, whole)))
    uniform = _worn(all_of_it["1"].summary)
    grows = all(
        one["most"] < two["most"] and one["mean"] < two["mean"] for one, two in pairwise(rounds)
    )
    turn = 1 / (HOT + blind.bench.spare_pages * blind.bench.page_bytes / blind.bench.flash_bytes)
    return Figure(
        id="5.6",
        title="Figure 5.6: erases by reads",
        section="5.4.4",
        measured=(
            f"SSD-A, filled, read at random in 1/32 of its space, {whole} rounds; "
            f"{WEAR_BLOCKS} blocks on a die (where all is read, {EVEN_BLOCKS}), the map in memory. "
            f"{WHOLE_LIMIT:,} reads until data is moved, and the rounds, are divided by "
            f"{WHOLE_LIMIT / LIMIT:,.4g}."
        ),
        rows=[
            Row(
                "most worn block over the mean, wear levelling blind to reads",
                last["ratio"],
                "times",
            ),
            Row("its limit, the drive over what is read", 1 / HOT, "times"),
            Row(
                "published, of an unknown share",
                None,
                "times",
                PUBLISHED("5.6", "most worn over mean"),
            ),
            Row("the same, wear levelling that sees them", spread["ratio"], "times"),
            Row("its limit, the drive over what is read and what is spare", turn, "times"),
            Row("the same, data that returns to its own block", own["ratio"], "times"),
            Row(
                "its limit, half of the drive over what is read: half of the erases are of blocks "
                "that keep the data meanwhile",
                1 / (2 * HOT),
                "times",
            ),
            Row("all of the drive read", uniform["ratio"], "times"),
        ],
        claims=[
            Claim(
                "P1: cycles rise in every round of reads",
                grows,
                ", ".join(f"{one['most']} (mean {one['mean']:.3f})" for one in rounds),
            ),
            Claim(
                "P2: where wear levelling ignores reads, the most worn block has as many times "
                "the mean as the drive has what is read, within 30 %",
                abs(last["ratio"] * HOT - 1) < 0.3,
                f"{last['ratio']:.1f} against {1 / HOT:.0f}",
                quick=False,
            ),
            Claim(
                "P2: where it sees them, data that is read goes round in all that is spare, and "
                "the ratio is less than half of that",
                spread["ratio"] < 0.5 * last["ratio"],
                f"{spread['ratio']:.1f}",
            ),
            Claim(
                "P2: where the data returns to its own block, levelling that sees the erases "
                "cannot spread them, and the ratio is its limit, within 30 %",
                abs(own["ratio"] * 2 * HOT - 1) < 0.3,
                f"{own['ratio']:.1f} against {1 / (2 * HOT):.0f}",
            ),
            Claim(
                "P2: reads of all of the drive wear all blocks alike, within half of the mean",
                uniform["ratio"] < 1.5,
                f"{uniform['most']} at most, {uniform['mean']:.3f} on average",
                quick=False,
            ),
            Claim(
                "P2: 247 times",
                holds=False,
                detail=f"{last['ratio']:.1f} with 1/32",
                only_told="the share that is read decides, and is not published: it would be 1/247",
            ),
            Claim(
                "P3: random reads reach 12 times the maximum of writes, sequential ones half",
                holds=False,
                detail="not run",
                only_told="an hour of reads against an hour of writes is set by the limit of "
                "reads and by rates, neither of which is published; 200 rounds of an hour are "
                "1.4e10 reads",
            ),
        ],
        plots=[
            Plot(
                "Erases",
                "By rounds of reads.",
                lines(
                    {
                        key: {str(many + 1): float(one[key]) for many, one in enumerate(rounds)}
                        for key in ("most", "mean")
                    },
                    COLOURS,
                    "rounds",
                    "erases",
                    category=True,
                ),
            )
        ],
        data={"rounds": rounds, "seen": spread, "own": own, "all": uniform},
    )


def _worn(summary: Mapping[str, Any]) -> dict[str, Any]:
    flash = summary["flash"]
    most, mean = flash["erases_per_block_max"], flash["erases_per_block_mean"]
    return {"most": most, "mean": mean, "ratio": most / mean if mean else 0.0}


def _by_size(one: Drive) -> Mapping[str, Trial]:
    """Random reads of what reaches its limit; fewer of large ones."""
    found: dict[str, Trial] = {}
    for size in SIZES:
        requests = max(2000, one.bench.count(30_000, 10_000) * SIZES[0] // size)
        load = {
            "requests": requests,
            "read_ratio": 1.0,
            "request_bytes": size,
            "align_bytes": size,
            "working_set_ratio": HOT_SHARE,
        }
        found[str(size)] = Trial(FILLED, load, phases=(Phase("reads", 0, requests),))
    return found


def since(first: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """What came between two rounds."""
    most, mean = last["most"] - first["most"], last["mean"] - first["mean"]
    return {"most": most, "mean": mean, "ratio": most / mean if mean else 0.0}


def managed_reads(setup: Setup) -> Figure:
    """Figure 5.7."""
    more = {**ERRS, **WHOLE_PROGRAM, "ftl.refresh.steps": "page", "ftl.mapping": "page"}
    made = [drive(letter, setup, more=more, depth=1, blocks=READ_BLOCKS) for letter in BASIC]
    found = carried_out(setup, [(one, "reliability", _by_size(one)) for one in made])
    sizes = {
        one.letter: reliability.finding(one.bench, runs).figures["sizes"]
        for one, runs in zip(made, found, strict=True)
    }
    ratio = {
        letter: {row["bytes"]: row["ratio"] or 0.0 for row in rows}
        for letter, rows in sizes.items()
    }
    told = {letter: one[4096] for letter, one in ratio.items()}
    falls = all(one[4096] > one[max(one)] for one in ratio.values())
    us = {
        letter: next(row["met_mean_us"] for row in rows if row["bytes"] == 4096)
        for letter, rows in sizes.items()
    }
    return Figure(
        id="5.7",
        title="Figure 5.7: reads with and without reliability management",
        section="5.4.5",
        measured=(
            "Random reads of a sixteenth of the filled drive, one under way. A read is told by "
            "whether a block of its die was being moved for having been read too often (the limit "
            f"divided down to {LIMIT}), page by page, so that reads come between. "
            f"{READ_BLOCKS} blocks on a die, the map in memory. A copy holds its die for 1 ms, "
            "the program of a whole page."
        ),
        rows=[
            Row(
                f"with over without at 4 KiB, {letter}",
                value,
                "times",
                PUBLISHED("5.7", "with over without"),
            )
            for letter, value in told.items()
        ],
        claims=[
            Claim(
                "M1: reads that meet it take five times as long at least, at 4 KiB",
                min(told.values()) >= TIMES,
                ", ".join(f"{letter} {units.figures(value)}" for letter, value in told.items()),
            ),
            Claim(
                "M1: small reads suffer more than large ones, 4 KiB than 256",
                falls,
                "; ".join(
                    f"{letter} "
                    + ", ".join(
                        f"{units.size(size)} {units.figures(value)}" for size, value in one.items()
                    )
                    for letter, one in ratio.items()
                ),
            ),
            Claim(
                "M1: 685, 1,787, and 4,944 us",
                holds=False,
                detail=", ".join(
                    f"{letter} {units.duration(value)}" for letter, value in us.items()
                ),
                only_told="they are sums of times of flash that is not published; what counts "
                "as a read with management is not defined",
            ),
        ],
        plots=[
            Plot(
                "With over without",
                "By size of the reads.",
                lines(
                    {
                        letter: {units.size(size): value for size, value in one.items()}
                        for letter, one in ratio.items()
                    },
                    COLOURS,
                    "read",
                    "times",
                    category=True,
                ),
            )
        ],
        data={"sizes": sizes, "depth": DEPTH},
    )
