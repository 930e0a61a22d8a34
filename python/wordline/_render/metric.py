"""Display of metrics and configuration keys: name, value with unit, and the better direction.

The simulator declares metrics and their units (`wordline.metrics()`). The better direction is
declared only here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal, TypeAlias, cast

from wordline import _wordline
from wordline._render import units
from wordline._render.parts import PARTS

Better: TypeAlias = Literal["lower", "higher"]

LOWER = (
    "latency.*_us",
    "breakdown.*_us",
    "worst_case.*.*_us",
    "excess.*.*",
    "flash.write_amplification*",
    "flash.page_write_amplification",
    "flash.page_programs",
    "flash.programmed*",
    "flash.erases*",
    "flash.gc_*",
    "flash.read_modify_writes",
    "flash.own_page_*",
    "read_errors.*",
    "bad_blocks.grown*",
    "bad_blocks.*_failures",
    "bad_blocks.pages_copied",
    "bad_blocks.lost_reads",
    "regulation.wear*",
    "buffer.read_misses",
    "buffer.write_misses",
    "buffer.write_amplification",
    "buffer.page_write_amplification",
    "cache.misses",
    "cache.*_mean_us",
    "cache.by_tier.*_us",
    "cache.bytes_programmed_per_byte_hit",
    "cache.lru_miss_ratio",
    "cache.pages_lost",
    "cache.host_failures",
    "cache.hits_uncorrectable",
    "cache.disk_utilisation",
    "cache.disk_requests",
    "cache.read_deviation_us",
    "host_side.cpu_*",
    "map_cache.misses",
    "map_cache.*evictions",
    "power.requests_lost",
    "power.pages_lost",
    "power.pages_torn",
    "power.recovery_*_ms",
    "execution.bus_contention",
    "energy.*",
)
"""Path patterns of metrics for which lower is better."""
HIGHER = (
    "throughput.*",
    "fairness.jain_index",
    "fairness.slowdown_ratio",
    "fairness.*_speedup",
    "*.hit_ratio",
    "*.read_hit_ratio",
    "*.write_hit_ratio",
    "*.request_hit_ratio",
    "*.map_hit_ratio",
    "buffer.*_hits",
    "cache.*_hits",
    "map_cache.hits",
    "cache.lifetime_years",
    "cache.disk_read_savings",
    "bad_blocks.spare*",
    "bad_blocks.in_use",
    "power.pages_saved",
    "commands.pages_per_command",
)
"""Path patterns of metrics for which higher is better."""
NEUTRAL = (
    "*.count",
    "read_errors.page_reads",
    "cache.written_hits",
    "read_errors.*.count",
    "flash.programmed.host_bytes",
)
"""Exceptions to LOWER and HIGHER: metrics that count the load."""

NAMES = {
    "throughput.iops": "IOPS",
    "throughput.read_iops": "read IOPS",
    "throughput.write_iops": "write IOPS",
    "throughput.read_mb_per_s": "read bandwidth",
    "throughput.write_mb_per_s": "write bandwidth",
    "flash.write_amplification": "write amplification",
    "flash.page_write_amplification": "write amplification in pages",
    "flash.erases": "block erases",
    "flash.page_programs": "pages programmed",
    "flash.gc_pages_moved": "pages moved by GC",
    "flash.gc_runs": "GC runs",
    "time.simulated_s": "simulated time",
    "time.busy_s": "time with requests",
    "cache.hit_ratio": "cache hit ratio",
    "cache.lifetime_years": "flash lifetime",
    "energy.total_mj": "energy",
}
"""Names that cannot be derived from the path."""
BY_OP = {"latency": "latency", "worst_case": "worst case", "excess": "excess"}
"""Tables with a row per operation."""
STATISTICS = {
    "mean": "mean",
    "std": "standard deviation",
    "min": "min",
    "max": "max",
    "count": "requests",
    "sum": "sum",
    "share": "share",
    "p99_9": "p99.9",
    "p99_99": "p99.99",
}
SPELLED = {
    "gc": "GC",
    "cpu": "CPU",
    "slc": "SLC",
    "lru": "LRU",
    "iops": "IOPS",
    "ftl": "FTL",
    "nand": "NAND",
    "dram": "DRAM",
    "ecc": "ECC",
    "over provisioning": "over-provisioning",
    "dies interleaved planes shared": "dies interleaved, planes shared",
}
SUFFIXES = ("_mb_per_s", "_us", "_ms", "_s", "_mj", "_bytes", "_years")
KEY_UNITS = {
    "_ns": "ns",
    "_us": "µs",
    "_ms": "ms",
    "_s": "s",
    "_kib": "KiB",
    "_mib": "MiB",
    "_bytes": "bytes",
    "_mt_per_s": "MT/s",
    "_mb_per_s": "MB/s",
}
UNNAMED = ("ftl", "ssd", "nand", "geometry")
"""Configuration tables whose names are left out of key names."""
RATIOS = ("_ratio", "_share", ".share", "utilisation")
"""Path suffixes of metrics that are shown in per cent."""


@dataclass(frozen=True)
class Metric:
    """A number of the summary."""

    path: str
    name: str
    unit: str
    """Unit in the summary, as in `wordline.metrics()`."""
    better: Better | None
    """The better direction; None for descriptive metrics."""

    def text(self, value: float | None, half_width: float | None = None) -> str:
        """Formats a value with its unit, optionally with the half width of its interval in the same
        unit."""
        if value is None:
            return units.ABSENT
        scale, unit = self._scale(value)
        shown = value / scale
        if half_width is None:
            return f"{units.figures(shown)} {unit}".rstrip()
        width = half_width / scale
        decimals = _decimals(shown, width)
        return f"{shown:,.{decimals}f} ± {width:,.{decimals}f} {unit}".rstrip()

    def axis(self, values: Iterable[float | None]) -> tuple[float, str]:
        """Returns the scale of a chart axis in units of the metric, and the axis title."""
        scale, unit = self._scale(max((abs(one) for one in values if one is not None), default=0.0))
        return scale, f"{self.name} ({unit})" if unit else self.name

    def verdict(self, change: float) -> Literal["better", "worse", ""]:
        """Returns whether a change is better or worse. Empty if it is 0, or if the metric has no
        better direction."""
        if not change or self.better is None:
            return ""
        return "better" if (change < 0) == (self.better == "lower") else "worse"

    def _scale(self, value: float) -> tuple[float, str]:
        in_us = {"us": 1.0, "ms": 1e3, "s": 1e6}.get(self.unit)
        if in_us is not None:
            scale, unit = units.duration_unit(value * in_us)
            return scale / in_us, unit
        if self.unit == "MB/s":
            return units.bandwidth_unit(value)
        if self.unit == "B":
            return units.size_unit(value)
        if self.path.endswith(RATIOS) or self.path.startswith(("utilisation.", "execution.")):
            return 0.01, "%"
        if self.path.endswith("_years"):
            return 1.0, "years"
        return 1.0, "" if self.unit == "1/s" else self.unit


def _decimals(value: float, width: float) -> int:
    """Returns the number of decimals to show: two significant digits of the half width, or three of
    the value without a half width."""
    size = width or value / 10
    if not size or not math.isfinite(size):
        return 0
    return min(6, max(0, 1 - math.floor(math.log10(abs(size)))))


@cache
def metric(path: str) -> Metric:
    """Returns the metric at a path of the summary."""
    return Metric(path, _name(path), _units().get(path, ""), _better(path))


@cache
def _units() -> dict[str, str]:
    """Returns the units of all metrics by path."""
    ops = ("all", "read", "write")
    return {
        one["name"].replace("{op}", op): one["unit"]
        for one in json.loads(_wordline.metrics())
        for op in ops
    }


def _better(path: str) -> Better | None:
    if any(fnmatchcase(path, one) for one in NEUTRAL):
        return None
    if any(fnmatchcase(path, one) for one in LOWER):
        return "lower"
    return "higher" if any(fnmatchcase(path, one) for one in HIGHER) else None


def _name(path: str) -> str:
    if path in NAMES:
        return NAMES[path]
    head, *rest = path.split(".")
    if len(rest) == 2 and (head in BY_OP or head == "breakdown"):
        of, figure = rest
        op = "" if of == "all" else f"{of} "
        if head == "breakdown":
            part = next((one["name"] for one in PARTS if one["figure"] == figure), figure)
            return f"{op}latency: {part}"
        statistic = _without_unit(figure)
        return f"{op}{BY_OP[head]}, {STATISTICS.get(statistic, _words(statistic))}"
    words = " ".join(_words(part) for part in [*rest[:-1], _without_unit(rest[-1])]) if rest else ""
    return f"{_words(head)}: {words}" if words else _words(head)


def _without_unit(name: str) -> str:
    return next((name.removesuffix(one) for one in SUFFIXES if name.endswith(one)), name)


def _words(name: str) -> str:
    if name in STATISTICS:
        return STATISTICS[name]
    text = name.replace("_", " ")
    text = SPELLED.get(text, text).replace("over provisioning", "over-provisioning")
    return " ".join(SPELLED.get(word, word) for word in text.split(" "))


def key_name(key: str) -> str:
    """Returns the display name of a configuration key with its unit: "timing read (ns)" for
    `nand.timing.read_ns`."""
    *tables, leaf = key.split(".")
    end = next((one for one in KEY_UNITS if leaf.endswith(one)), "")
    unit = f" ({KEY_UNITS[end]})" if end else ""
    named = [_words(one) for one in tables if one not in UNNAMED]
    return " ".join([*named, _words(leaf.removesuffix(end))]) + unit


def value_text(value: object) -> str:
    """Formats the value of a key in few digits."""
    if value is None:
        return units.ABSENT
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, list):
        return ", ".join(map(value_text, cast("list[object]", value)))
    return str(value)
