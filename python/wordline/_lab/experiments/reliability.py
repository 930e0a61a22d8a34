"""Read reliability: response times of reads delayed by a retry or a relocation, and of other
reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from wordline._lab.experiments.read_wear import HOT, LIMIT, errs, limit
from wordline._lab.finding import Experiment, Finding, Found, Table, absent
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import FILLED, Measured, Phase, Trial
from wordline._render import units
from wordline._render.charts import Plot, lines

SIZES, QUICK_SIZES = (512, 4096, 32768, 262144), (4096, 65536)
COLOURS = {"delayed": "#c0392b", "not delayed": "#1f78b4"}


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: random reads of each size."""
    if not errs(bench):
        return {}
    requests = bench.count(30_000, 8_000)
    settings = {"nand.reliability.read_limit": min(LIMIT, limit(bench))} if limit(bench) else {}
    return {
        str(size): Trial(
            FILLED,
            {
                "requests": requests,
                "read_ratio": 1.0,
                "request_bytes": size,
                "align_bytes": size,
                "working_set_ratio": HOT,
            },
            phases=(Phase("reads", 0, requests),),
            settings=settings,
        )
        for size in (QUICK_SIZES if bench.quick else SIZES)
    }


def finding(bench: TestDevice, found: Found) -> Finding:
    """Compares mean response times by cause of delay and by size."""
    if not found:
        return absent(
            "Reads of this device have no errors and move no data (nand.reliability.errors = none)."
        )
    rows = [_row(int(size), one) for size, one in found.items()]
    notes = [
        f"The limit of {limit(bench):,} reads of a block was divided by "
        f"{limit(bench) / min(LIMIT, limit(bench)):.4g}."
    ]
    return Finding(
        _verdict(rows) or "No read was delayed by a retry or by moving data.",
        {"sizes": rows},
        _table(rows),
        _plots([row for row in rows if row["ratio"]]),
        notes if limit(bench) else [],
    )


def _row(size: int, one: Measured) -> dict[str, Any]:
    """Returns the delays of the reads of one size, with counts and response times."""
    reads = one.phases["reads"]
    errors: dict[str, Any] = one.summary["read_errors"]
    nothing, retry, moved = (errors["reads_met"][what] for what in ("nothing", "retry", "reclaim"))
    return {
        "bytes": size,
        "met": moved["count"],
        "met_mean_us": moved["mean_us"],
        "retried": retry["count"],
        "retried_mean_us": retry["mean_us"],
        "other_mean_us": nothing["mean_us"],
        "ratio": moved["mean_us"] / nothing["mean_us"]
        if moved["count"] and nothing["count"]
        else None,
        "pages_retried": errors["page_reads_retried"],
        "page_reads": errors["page_reads"],
        "uncorrectable": errors["uncorrectable"],
        "median_cell_us": reads["cell_us"][0],
        "longest_cell_us": reads["cell_us"][1],
    }


def _verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Describes the delays of reads in sentences; empty without delays."""
    known = [row for row in rows if row["ratio"]]
    retried, pages = (sum(row[key] for row in rows) for key in ("pages_retried", "page_reads"))
    parts: list[str] = []
    if known:
        worst = max(known, key=lambda row: row["ratio"])
        parts.append(
            f"Reads delayed by moving data take {worst['ratio']:.3g} times as long as "
            f"others, worst at {units.size(worst['bytes'])}: "
            f"{units.duration(worst['met_mean_us'])} against "
            f"{units.duration(worst['other_mean_us'])}."
        )
    if retried:
        longest = max(row["longest_cell_us"] for row in rows)
        parts.append(
            f"{units.share(retried / pages)} of the pages are read more than once; the longest "
            f"such read holds its die for {units.duration(longest)}."
        )
    if lost := sum(row["uncorrectable"] for row in rows):
        parts.append(f"{units.share(lost / pages)} of the pages read cannot be corrected.")
    return " ".join(parts)


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        (
            "size",
            "delayed by moving data",
            "mean if delayed",
            "with a retry",
            "mean with a retry",
            "mean of undelayed reads",
        ),
        [
            (
                units.size(row["bytes"]),
                f"{row['met']:,}",
                units.duration(row["met_mean_us"]),
                f"{row['retried']:,}",
                units.duration(row["retried_mean_us"]),
                units.duration(row["other_mean_us"]),
            )
            for row in rows
        ],
    )


def _plots(known: Sequence[Mapping[str, Any]]) -> list[Plot]:
    """Draws the means by size, for sizes with delayed reads. Empty without such sizes."""
    if not known:
        return []
    drawn = {
        "delayed": {units.size(row["bytes"]): row["met_mean_us"] for row in known},
        "not delayed": {units.size(row["bytes"]): row["other_mean_us"] for row in known},
    }
    return [
        Plot(
            "Mean response time",
            "Reads delayed by moving data, and undelayed reads.",
            lines(drawn, COLOURS, "request", "µs", category=True, log=True),
        )
    ]


EXPERIMENT = Experiment(
    "reliability",
    "Read reliability",
    "Random reads of a sixteenth of a filled device, grouped by cause of delay.",
    "No counterpart in PTS.",
    trials,
    finding,
)
