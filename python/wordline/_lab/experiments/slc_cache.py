"""The SLC cache: bytes that are written fast, and the rate of the writes after them."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from wordline._lab.experiments.idle import recovered
from wordline._lab.finding import Experiment, Finding, Found, Table, absent
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import Phase, Trial
from wordline._render import units
from wordline._render.charts import Plot
from wordline._render.plotly import figure, line

BYTES = 131072
DEPTH = 32
FULL = (0.0, 0.5, 0.9)
"""Shares of the device that are filled beforehand."""
COLOURS = ("#7cc0ea", "#3b86c6", "#1f4f8b")


def share(bench: TestDevice) -> float:
    """Returns the maximum share of all blocks that the SLC cache uses; 0 without a cache."""
    cache: Any = bench.config["ftl"].get("slc_cache", "off")
    if isinstance(cache, str):
        return 0.0
    return sum(value for of in cache.values() for key, value in of.items() if key.endswith("ratio"))


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: sequential writes of as many bytes as the blocks of the cache hold in the
    part's own mode, which is at least twice their capacity in single-level mode."""
    size = min(bench.user_bytes, share(bench) * bench.flash_bytes)
    requests = int(size / BYTES)
    if requests == 0:
        return {}
    load = {
        "read_ratio": 0.0,
        "request_bytes": BYTES,
        "align_bytes": BYTES,
        "pattern": "sequential",
        "requests": requests,
    }
    return {
        f"{full:.0%} full": Trial(
            {"precondition.fill_ratio": full}, load, DEPTH, phases=(Phase("writes", 0, requests),)
        )
        for full in FULL
    }


def finding(bench: TestDevice, found: Found) -> Finding:
    """Determines where the rate falls, by how full the device is."""
    if not found:
        return absent("The device has no SLC cache (ftl.slc_cache = off).")
    rows = [
        _row(bench, name, one.phases["writes"]["pace"], one.summary["slc_cache"])
        for name, one in found.items()
    ]
    data = [
        line(
            name,
            colour,
            [bench.scale * done / 2**30 for done, _ in one.phases["writes"]["pace"]],
            [mb for _, mb in one.phases["writes"]["pace"]],
        )
        for (name, one), colour in zip(found.items(), COLOURS, strict=True)
    ]
    return Finding(
        " ".join(_told(row) for row in rows),
        {"states": rows},
        Table(
            ("device", "written fast", "fast rate", "slow rate", "pages in single-level mode"),
            [
                (
                    row["state"],
                    units.size(row["cliff_at_bytes"] or 0),
                    units.bandwidth(row["fast_mb_per_s"]),
                    units.bandwidth(row["slow_mb_per_s"]),
                    units.share(row["cached_ratio"]),
                )
                for row in rows
            ],
        ),
        [
            Plot(
                "Rate",
                "Sequential writes of 128 KiB, by bytes written.",
                figure(
                    data,
                    height=320,
                    xaxis={"title": {"text": "GiB"}},
                    yaxis={"title": {"text": "MB/s"}, "rangemode": "tozero"},
                ),
            )
        ],
    )


def _row(
    bench: TestDevice, state: str, pace: list[tuple[int, float]], cache: Any
) -> dict[str, Any]:
    """Returns the metrics of a fill state. Leaves out the first writes, which the DRAM buffer
    absorbs."""
    behind = [one for one in pace if one[0] > 2 * bench.buffer_bytes] or pace
    slow = fmean(mb for _, mb in behind[-max(1, len(behind) // 5) :])
    size, ratio = recovered(behind, slow)
    return {
        "state": state,
        "cliff_at_bytes": bench.scale * size if size else None,
        "fast_mb_per_s": ratio * slow,
        "slow_mb_per_s": slow,
        "ratio": ratio,
        "cached_ratio": cache["written_ratio"],
    }


def _told(row: Mapping[str, Any]) -> str:
    if row["cliff_at_bytes"] is None:
        return f"{row['state']}: no cliff, {units.bandwidth(row['slow_mb_per_s'])} throughout."
    return (
        f"{row['state']}: {units.size(row['cliff_at_bytes'])} at "
        f"{units.bandwidth(row['fast_mb_per_s'])}, then {units.bandwidth(row['slow_mb_per_s'])}, "
        f"lower by a factor of {units.figures(row['ratio'])}."
    )


EXPERIMENT = Experiment(
    "slc-cache",
    "The SLC cache",
    "Sequential writes of 128 KiB without a pause, 32 outstanding, on a device that is empty, half "
    "full and nine tenths full: as many bytes as the cache's blocks hold in the mode of "
    "the part. The cliff is where the rate first falls below the midpoint of its initial and "
    "final values.",
    "No counterpart in PTS; reviews also fill a device sequentially.",
    trials,
    finding,
)
