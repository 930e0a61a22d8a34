"""Wear caused by reads, in rounds of reads alone."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from wordline._lab.finding import Experiment, Finding, Found, Table, absent
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import FILLED, Trial
from wordline._render.charts import Plot, lines

ROUNDS = 4
LIMIT = 64
"""Maximum read limit of a block. The device's own limit would take too long to reach."""
HOT = 1 / 16
"""Share of the device that is read. It is small, so that few reads reach the limit."""
COLOURS = {"most": "#c0392b", "mean": "#1f78b4"}


def errs(bench: TestDevice) -> bool:
    """Returns True if the device models read errors."""
    return bench.policy("nand", "reliability", "errors") not in ("", "none")


def limit(bench: TestDevice) -> int:
    """Returns the read limit of the device; 0 without a limit, or without read errors, whose model
    counts the reads."""
    return bench.config["nand"]["reliability"]["read_limit"] if errs(bench) else 0


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: runs of one, two, three and four rounds of the same load."""
    if not limit(bench):
        return {}
    reads = round(bench.blocks * HOT * min(LIMIT, limit(bench)) * 2)
    return {
        f"{one}": Trial(
            FILLED,
            {
                "requests": reads * one,
                "read_ratio": 1.0,
                "request_bytes": bench.page_bytes,
                "align_bytes": bench.page_bytes,
                "working_set_ratio": HOT,
            },
            settings={"nand.reliability.read_limit": min(LIMIT, limit(bench))},
        )
        for one in range(1, ROUNDS + 1)
    }


def finding(bench: TestDevice, found: Found) -> Finding:
    """Counts the erases by number of rounds."""
    own = limit(bench)
    if not own:
        return absent(
            "Read disturb is not modelled for this device "
            "(nand.reliability has no read_limit, or no errors)."
        )
    rows: list[dict[str, Any]] = []
    for name, one in found.items():
        flash = one.summary["flash"]
        rows.append(
            {
                "round": int(name),
                "erases": flash["erases"],
                "most": flash["erases_per_block_max"],
                "mean": flash["erases_per_block_mean"],
            }
        )
    last = rows[-1]
    factor = own / min(LIMIT, own)
    verdict = (
        "No data was moved in these rounds: wear by reads is too low to measure here."
        if not last["erases"]
        else f"Reads wear this device: they caused {last['erases']:,} erases. The most worn block "
        f"was erased {last['most']} times, {last['most'] / last['mean']:.3g} times the mean of "
        f"{last['mean']:.3g}."
    )
    grows = all(one["most"] <= two["most"] for one, two in pairwise(rows))
    drawn = {key: {str(row["round"]): float(row[key]) for row in rows} for key in COLOURS}
    return Finding(
        verdict,
        {"rounds": rows, "scaled_limit": min(LIMIT, own), "factor": factor, "grows": grows},
        Table(
            ("round", "erases", "maximum per block", "mean"),
            [
                (f"{row['round']}", f"{row['erases']:,}", f"{row['most']}", f"{row['mean']:.3g}")
                for row in rows
            ],
        ),
        [
            Plot(
                "Erases per block",
                "By number of rounds.",
                lines(drawn, COLOURS, "rounds", "erases", category=True),
            )
        ],
        [f"The read limit of {own:,} and the reads per round were divided by {factor:.4g}."],
    )


EXPERIMENT = Experiment(
    "read-wear",
    "Wear by reads",
    "A sixteenth of a filled device is read at random, round after round; a round has "
    "twice as many reads as it takes to move the data of all these blocks once.",
    "No counterpart in PTS.",
    trials,
    finding,
)
