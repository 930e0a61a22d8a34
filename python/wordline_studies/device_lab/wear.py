"""Sections 5.4.4 and 5.4.5: wear by reads, and the cost of reliability management."""

from collections.abc import Mapping
from itertools import pairwise
from math import nan
from typing import Any

from wordline._lab.experiments import reliability
from wordline._lab.experiments.read_wear import HOT as HOT_SHARE
from wordline._lab.trial import FILLED, Phase, Trial
from wordline._render import units
from wordline._render.charts import lines
from wordline.config import Value
from wordline_studies.device_lab.runs import DEPTH, Drive, carried_out, drive
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup
from wordline_studies.measures import or_nan
from wordline_studies.outcome import PER_CENT, is_reproduced

PUBLISHED = Numbers(__package__ or __name__)
LIMIT, WHOLE_LIMIT = 64, 100_000
ROUNDS, QUICK_ROUNDS = 4, 2
HOT = 1 / 32
"""Share of the drive that is read: two of 64 blocks per die."""
WEAR_BLOCKS = 64
WRITE_TURNS = 16
"""Number of times that the written share of the drive is overwritten. Three times use up the
over-provisioned blocks."""
SWEEPS = 5
"""Number of times that the read blocks reach the read limit in one round. The first time, the data
move to blocks that were never written."""
EVEN_BLOCKS = 48
EVEN_ROUNDS, QUICK_EVEN_ROUNDS = 3, 1
READ_BLOCKS = 64
WHOLE_PROGRAM: Mapping[str, Value] = {"nand.timing.program_ns": 1_000_000}
"""Program time of a whole page, even for a copy of fewer units."""
ERRS: Mapping[str, Value] = {
    "nand.reliability.errors": "analytic",
    "nand.reliability.read_limit": LIMIT,
}
BASIC = "LCZ"
SIZES = (4096, 32_768, 262_144)
TIMES = 5
COLOURS = {"highest": "#c0392b", "mean": "#1f78b4", "L": "#12a07b", "C": "#1f78b4", "Z": "#d8731c"}


def _reads(one: Drive, share: float, rounds: int) -> Trial:
    """Returns the trial that reads a share of the drive at random, until its blocks have reached
    the read limit `rounds` times on average."""
    count = round(one.bench.blocks * share * LIMIT * rounds)
    load = {
        "requests": count,
        "read_ratio": 1.0,
        "request_bytes": one.bench.page_bytes,
        "align_bytes": one.bench.page_bytes,
        "working_set_ratio": share,
    }
    return Trial(FILLED, load, depth=32)


def _writes(one: Drive, share: float, times: int) -> Trial:
    """Returns the trial that overwrites a share of the drive at random. It writes `times` times as
    many pages as the share holds."""
    load = {
        "requests": round(one.bench.user_bytes // one.bench.page_bytes * share * times),
        "read_ratio": 0.0,
        "request_bytes": one.bench.page_bytes,
        "align_bytes": one.bench.page_bytes,
        "working_set_ratio": share,
    }
    return Trial(FILLED, load, depth=32)


def cycles(setup: Setup) -> Figure:
    """Reproduces figure 5.6: erases caused by reads."""
    more = {**ERRS, "ftl.mapping": "page"}
    blind = drive("A", setup, more=more, blocks=WEAR_BLOCKS)
    least = drive("A", setup, more={**more, "ftl.wear": "dynamic"}, blocks=WEAR_BLOCKS)
    levelled = {**more, "ftl.wear": "dynamic", "ftl.refresh.target": "in-place"}
    back = drive("A", setup, more=levelled, blocks=WEAR_BLOCKS)
    even = drive("A", setup, more=more, blocks=EVEN_BLOCKS)
    turns = QUICK_EVEN_ROUNDS if setup.quick else EVEN_ROUNDS
    whole = QUICK_ROUNDS if setup.quick else ROUNDS
    hot, fair, returned, all_of_it, put = carried_out(
        setup,
        [
            (
                blind,
                "rounds of reads of 1/32",
                {str(many): _reads(blind, HOT, SWEEPS * many) for many in range(1, whole + 1)},
            ),
            (
                least,
                "rounds of reads of 1/32, wear levelling counts read erases",
                {str(many): _reads(least, HOT, SWEEPS * many) for many in (whole // 2, whole)},
            ),
            (
                back,
                "rounds of reads of 1/32, data return to their blocks",
                {str(many): _reads(back, HOT, SWEEPS * many) for many in (whole // 2, whole)},
            ),
            (even, "reads of the whole drive", {"1": _reads(even, 1.0, turns)}),
            (blind, "writes to 1/32", {"1": _writes(blind, HOT, WRITE_TURNS)}),
        ],
    )
    rounds = [_worn(hot[str(many)].summary) for many in range(1, whole + 1)]
    last = since(rounds[whole // 2 - 1], rounds[-1])
    spread = since(*(_worn(fair[str(many)].summary) for many in (whole // 2, whole)))
    own = since(*(_worn(returned[str(many)].summary) for many in (whole // 2, whole)))
    uniform, by_writes = (_worn(one["1"].summary) for one in (all_of_it, put))
    grows = all(
        one["most"] < two["most"] and one["mean"] < two["mean"] for one, two in pairwise(rounds)
    )
    few = WEAR_BLOCKS / (HOT * WEAR_BLOCKS + 1)
    turn = 1 / (HOT + blind.bench.spare_pages * blind.bench.page_bytes / blind.bench.flash_bytes)
    return Figure(
        id="5.6",
        title="Figure 5.6: erases caused by reads",
        section="5.4.4",
        measured=(
            f"Random reads of 1/32 of a filled SSD-A, in {whole} rounds. {WEAR_BLOCKS} blocks "
            f"per die ({EVEN_BLOCKS} where the whole drive is read), map in memory. The read "
            f"limit of {WHOLE_LIMIT:,} and the length of the rounds are divided by "
            f"{WHOLE_LIMIT / LIMIT:,.4g}."
        ),
        rows=[
            Row(
                "highest over mean erase count, wear levelling ignores erases caused by reads",
                last["ratio"],
                "times",
            ),
            Row(
                "bound of highest over mean erase count: all blocks over those of the read share "
                "and one free block per die",
                few,
                "times",
            ),
            Row(
                "highest over mean erase count, unpublished share of the drive read",
                None,
                "times",
                PUBLISHED("5.6", "highest over mean erase count"),
                "the share of the drive that is read",
            ),
            Row(
                "highest over mean erase count, wear levelling counts erases caused by reads",
                spread["ratio"],
                "times",
            ),
            Row(
                "bound of highest over mean erase count: whole drive over the read share plus "
                "over-provisioning",
                turn,
                "times",
            ),
            Row(
                "highest over mean erase count, data return to their own blocks",
                own["ratio"],
                "times",
            ),
            Row(
                "bound of highest over mean erase count: half of the drive over the read share, "
                "because half of the erases are of blocks that hold the data temporarily",
                1 / (2 * HOT),
                "times",
            ),
            Row("highest over mean erase count, whole drive read", uniform["ratio"], "times"),
            Row(
                "highest over mean erase count, writes to 1/32 of the drive",
                by_writes["ratio"],
                "times",
            ),
        ],
        claims=[
            Claim(
                "P1: erase counts rise in each round of reads",
                grows,
                ", ".join(f"{one['most']} (mean {one['mean']:.3f})" for one in rounds),
                ids=("J5-041",),
            ),
            Claim(
                "P2: if wear levelling ignores erases caused by reads, the data rotate through "
                "the blocks of the read share and one free block per die, and the ratio of "
                "highest to mean erase count equals the number of all blocks over that of these "
                f"blocks, within {PER_CENT:g} %",
                is_reproduced(last["ratio"], few, "times"),
                f"{last['ratio']:.1f} against {few:.1f}",
            ),
            Claim(
                "P2: if wear levelling counts erases caused by reads, the data rotate through all "
                "over-provisioned blocks, and the ratio of highest to mean erase count is less "
                "than half as large as without counting",
                spread["ratio"] < 0.5 * last["ratio"],
                f"{spread['ratio']:.1f}",
            ),
            Claim(
                "P2: if data return to their own blocks, wear levelling cannot spread the erases, "
                "and the ratio of highest to mean erase count equals its bound, within "
                f"{PER_CENT:g} %",
                is_reproduced(own["ratio"], 1 / (2 * HOT), "times"),
                f"{own['ratio']:.1f} against {1 / (2 * HOT):.0f}",
            ),
            Claim(
                "P2: reads of the whole drive wear all blocks evenly: the highest erase count is "
                "less than 1.5 times the mean",
                uniform["ratio"] < 1.5,
                f"highest {uniform['most']}, mean {uniform['mean']:.3f}",
                quick=False,
            ),
            Claim(
                "P3: wear levelling narrows the gap between the highest and the mean erase count "
                "under writes, not under reads",
                by_writes["ratio"] < last["ratio"],
                f"{by_writes['ratio']:.1f} under writes, {last['ratio']:.1f} under reads of the "
                "same share",
                ids=("J5-049",),
            ),
        ],
        plots=[
            Plot(
                "Erase counts",
                "Highest and mean erase count of a block by number of rounds of reads.",
                lines(
                    {
                        name: {str(many + 1): float(one[key]) for many, one in enumerate(rounds)}
                        for name, key in (("highest", "most"), ("mean", "mean"))
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
    return {"most": most, "mean": mean, "ratio": most / mean if mean else nan}


def _by_size(one: Drive) -> Mapping[str, Trial]:
    """Returns trials of random reads that reach the read limit, by request size. The number of
    requests falls with their size, to no fewer than 2,000."""
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
    """Returns the increase of the highest and of the mean erase count from one round to another,
    and the ratio of the two increases (NaN if the mean did not change)."""
    most, mean = last["most"] - first["most"], last["mean"] - first["mean"]
    return {"most": most, "mean": mean, "ratio": most / mean if mean else nan}


def managed_reads(setup: Setup) -> Figure:
    """Reproduces figure 5.7: reads with and without reliability management."""
    more = {**ERRS, **WHOLE_PROGRAM, "ftl.refresh.steps": "page", "ftl.mapping": "page"}
    made = [drive(letter, setup, more=more, depth=1, blocks=READ_BLOCKS) for letter in BASIC]
    found = carried_out(setup, [(one, "reliability", _by_size(one)) for one in made])
    sizes = {
        one.letter: reliability.finding(one.bench, runs).figures["sizes"]
        for one, runs in zip(made, found, strict=True)
    }
    ratio = {
        letter: {row["bytes"]: or_nan(row["ratio"]) for row in rows}
        for letter, rows in sizes.items()
    }
    told = {letter: one[4096] for letter, one in ratio.items()}
    small = {
        letter: {
            "without reliability management": row["other_mean_us"],
            "with reliability management": row["met_mean_us"],
        }
        for letter, rows in sizes.items()
        for row in rows
        if row["bytes"] == SIZES[0]
    }
    return Figure(
        id="5.7",
        title="Figure 5.7: reads with and without reliability management",
        section="5.4.5",
        measured=(
            "Random reads of a sixteenth of a filled drive at queue depth 1. A read counts as "
            "managed if read reclaim was relocating a block of its die (the read limit is scaled "
            f"down to {LIMIT}). Relocation proceeds page by page, so reads can come in between. "
            f"{READ_BLOCKS} blocks per die, map in memory. A copy occupies its die for 1 ms, the "
            "program time of a whole page."
        ),
        rows=[
            Row(
                "response time of 4 KiB reads with reliability management over that without it, "
                f"{letter}",
                value,
                "times",
                PUBLISHED(
                    "5.7", "response time of reads with reliability management over that without it"
                ),
            )
            for letter, value in told.items()
        ]
        + [
            Row(
                f"response time of 4 KiB reads {words}, {letter}",
                us,
                "µs",
                PUBLISHED("5.7", f"response time of 4 KiB reads {words}, {letter}"),
            )
            for letter, one in small.items()
            for words, us in one.items()
        ],
        claims=_managed_claims(ratio),
        explanation=[
            "The text does not define a read with management. Its times are sums of flash times "
            "that are not published.",
        ],
        plots=[
            Plot(
                "Reads with over reads without reliability management",
                "Ratio of response times by size of the reads.",
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


def _managed_claims(ratio: Mapping[str, Mapping[int, float]]) -> list[Claim]:
    """Returns the claims on reads with management. `ratio` is their response time over that of
    other reads, by drive and size."""
    small = {letter: one[SIZES[0]] for letter, one in ratio.items()}
    every = "; ".join(
        f"{letter} "
        + ", ".join(f"{units.size(size)} {units.figures(value)}" for size, value in one.items())
        for letter, one in ratio.items()
    )
    return [
        Claim(
            "M1: 4 KiB reads with reliability management take at least five times as long as "
            "those without it",
            min(small.values()) >= TIMES,
            ", ".join(f"{letter} {units.figures(value)}" for letter, value in small.items()),
            ids=("J5-005", "J5-027"),
        ),
        Claim(
            "M1: reliability management slows reads of 1 to 64 sectors (simulated: 4 and 32 KiB) "
            "more than reads of 256 KiB",
            all(min(one[SIZES[0]], one[SIZES[1]]) > one[SIZES[2]] for one in ratio.values()),
            every,
            ids=("J5-052",),
        ),
        Claim(
            "M1: the relative effect of reliability management decreases with each larger read "
            "size",
            all(one > two for of in ratio.values() for one, two in pairwise(of.values())),
            every,
            because="reads of 32 KiB are slowed more than reads of 4 KiB; the cause is not known, "
            "and no explanation was tested",
            ids=("J5-059",),
        ),
    ]
