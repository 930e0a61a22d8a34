"""Wear by reads: rounds of reads alone."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from wordline._lab.finding import Experiment, Finding, Found, Table, absent
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import FILLED, Trial
from wordline._render.charts import Plot, lines

ROUNDS = 4
LIMIT = 64
"""Reads of a block until its data is moved, at most: the device's own limit would take too long."""
HOT = 1 / 16
"""Share of the device that is read, so that few reads reach the limit."""
COLOURS = {"most": "#c0392b", "mean": "#1f78b4"}


def errs(bench: TestDevice) -> bool:
    """Whether reads of the device may err."""
    return bench.policy("nand", "reliability", "errors") not in ("", "none")


def limit(bench: TestDevice) -> int:
    """Of reads, the device's own; 0 for none, and where reads do not err: what counts them is the
    model of errors."""
    return bench.config["nand"]["reliability"]["read_limit"] if errs(bench) else 0


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """As many reads as one, two, three, four rounds have: of the same load, longer and longer."""
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
    """Erases by rounds."""
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
        "No data was moved in these rounds: reads wear this device less than they can show."
        if not last["erases"]
        else f"Reads wear this device: {last['erases']:,} erases by reads alone, {last['most']} at "
        f"most on a block where the mean is {last['mean']:.3g} ({last['most'] / last['mean']:.3g} "
        "times)."
    )
    grows = all(one["most"] <= two["most"] for one, two in pairwise(rows))
    drawn = {key: {str(row["round"]): float(row[key]) for row in rows} for key in COLOURS}
    return Finding(
        verdict,
        {"rounds": rows, "scaled_limit": min(LIMIT, own), "factor": factor, "grows": grows},
        Table(
            ("round", "erases", "most of a block", "mean"),
            [
                (f"{row['round']}", f"{row['erases']:,}", f"{row['most']}", f"{row['mean']:.3g}")
                for row in rows
            ],
        ),
        [
            Plot(
                "Erases of a block",
                "By rounds of reads.",
                lines(drawn, COLOURS, "rounds", "erases", category=True),
            )
        ],
        [f"The limit of {own:,} reads was divided by {factor:.4g}, and so were the rounds."],
    )


EXPERIMENT = Experiment(
    "read-wear",
    "Wear by reads",
    "A filled device is read at random in a sixteenth of its space, round after round; a round has "
    "twice as many reads as its blocks take until their data is moved.",
    "No counterpart in PTS.",
    trials,
    finding,
)
