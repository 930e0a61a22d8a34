"""Runs of loads on flash with a fixed cached share, or partitioned by the cost model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Numbers, Setup
from wordline_studies.measures import or_nan
from wordline_studies.op_fcl import model
from wordline_studies.op_fcl.loads import TABLE, Load, Parts

PUBLISHED = Numbers("wordline_studies.op_fcl")
FP, RW, OP = "FP-FCL", "RW-FCL", "OP-FCL"
FIXED = (FP, RW)
COLOURS = {FP: "#8b929c", RW: "#3b86c6", OP: "#d9701a"}
PERCENTS = (30, 40, 50, 60, 70, 80, 90, 95)
QUICK_PERCENTS = (50, 60, 70, 80, 90, 95)
INITIAL_PERCENT = 95
BLOCKS = 16_384
PERIOD = 1 << 16
PART: Parts = {"financial": 4, "home": 32, "search": 8, "exchange": 128, "msn": 64}
"""Smallest scale at which the claims have the verdicts of larger scales, by load. Chosen after
seeing results."""
PERIODS_PART: Parts = PART | {"home": 8, "msn": 16}
"""Scales of the figure on periods. At smaller scales, a short period has so few requests that the
sizes of the lists follow noise."""
STEPS_PART: Parts = PART | {"exchange": 32}
"""Scales of the figure on GC time from a cached share of 70 to 80 %."""
FULL_PART: Parts = {"financial": 4, "home": 4, "search": 4, "exchange": 16, "msn": 16}
QUICK_PART: Parts = {"financial": 64, "home": 128, "search": 64, "exchange": 256, "msn": 256}
GROUP_PAGES = 32
"""Number of pages destaged together. Section 5 says several, in elevator order, without a
number."""
BLOCK_PAGES, DATA_PAGES = 64, 63
"""Pages of a block, and pages of data in it: the last page holds the map (section 5; the presets do
the same)."""
CHARGED: dict[str, Value] = {"replay.mode.closed-loop.queue_depth": 1, "cache.reply": "fill"}
"""Settings under which a request waits for its fill, and for work left over from the previous
request."""
ALONE: dict[str, Value] = {"replay.mode": "open-loop", "cache.reply": "data"}
"""Settings under which fills and GC follow the reply. Requests are far enough apart that none waits
for them."""


@dataclass(frozen=True)
class Cell:
    """Results of a run. Milliseconds, seconds, per cent; erases per block.

    `gc_often` are GC runs per 1,000 requests and `gc_ms` is their mean time. `written` are pages
    written per request by requests and fills, `map_percent` the share of programmed bytes that hold
    the map.
    """

    mean_ms: float
    gc_s: float
    hit: float
    erases: float
    capacity: int
    resize_s: float = 0.0
    work_ms: float = 0.0
    resized: float = 0.0
    reads: float = 0.0
    gc_often: float = 0.0
    gc_ms: float = 0.0
    written: float = 0.0
    map_percent: float = 0.0

    @staticmethod
    def of(summary: Summary, disks: int = 1) -> "Cell":
        """Takes the results from a summary.

        Hits are those of reads and writes together. Work is the busy time of flash and disks per
        request, whether the request waits for it or not. `reads` is the read list's share of the
        pages held, 0 to 1. `resized` is the share of destages that no request waits for, in per
        cent.
        """
        cache, flash = summary["cache"], summary["flash"]
        assert cache is not None
        destaged = cache["destaged_on_demand"] + cache["destaged_to_resize"]
        reads = cache["pages_read"]
        writes = cache["write_hits"] + cache["write_misses"] + cache["writes_bypassed"]
        hits = reads * (cache["hit_ratio"] or 0.0) + cache["write_hits"]
        requests, runs = max(1, summary["input"]["requests"]), flash["gc_runs"]
        return Cell(
            mean_ms=or_nan(summary["latency"]["all"]["mean_us"]) / 1000,
            gc_s=flash["gc_time_s"],
            hit=100 * hits / max(1, reads + writes),
            erases=flash["erases_per_block_mean"],
            capacity=cache["capacity_pages"],
            resize_s=cache["resize_destage_s"],
            work_ms=1000 * work_s(summary, disks) / requests,
            reads=cache["read_list_pages"] / max(1, cache["resident_pages"]),
            resized=100 * cache["destaged_to_resize"] / max(1, destaged),
            gc_often=1000 * runs / requests,
            gc_ms=1000 * flash["gc_time_s"] / runs if runs else nan,
            written=flash["host_page_writes"] / requests,
            map_percent=100
            * flash["programmed"]["summary_bytes"]
            / max(1, flash["programmed_bytes"]),
        )


def work_s(summary: Summary, disks: int) -> float:
    """Returns the total busy time of dies, buses and disks. Seconds."""
    cache, flash = summary["cache"], summary["flash"]
    assert cache is not None
    reads = flash["page_reads"] - flash["gc_pages_moved"]
    programs = flash["page_programs"] - flash["gc_pages_moved"]
    of_disks = (cache["disk_utilisation"] or 0.0) * summary["time"]["busy_s"] * disks
    of_flash = (reads * model.READ_US + programs * model.PROGRAM_US) / 1e6
    return of_disks + of_flash + flash["gc_die_time_s"]


Curve = dict[str, dict[int, Cell]]
"""Results by scheme and cached share in per cent. OP-FCL is under `INITIAL_PERCENT`."""


def part(setup: Setup) -> Parts:
    """Returns the factors by which stores and their loads are scaled down."""
    return QUICK_PART if setup.quick else FULL_PART if setup.full else PART


def at_least(setup: Setup, parts: Parts) -> Parts:
    """Returns the scales of a figure: `parts`, unless the study is quick or full."""
    return part(setup) if setup.quick or setup.full else parts


def scaled(parts: Parts) -> str:
    """Formats the scale of each load, as in "Home 1/32"."""
    return ", ".join(f"{title(name)} 1/{part}" for name, part in parts.items())


def percents(setup: Setup) -> tuple[int, ...]:
    """Returns the cached shares of the flash. Per cent."""
    return QUICK_PERCENTS if setup.quick else PERCENTS


def divided(scheme: str, period: int, segments: int) -> dict[str, Value]:
    """Returns the settings of a scheme. `period` is in requests; `FP` has neither periods nor
    segments."""
    if scheme == FP:
        return {"cache.partition": "unified"}
    name = {RW: "rw-fcl", OP: "op-fcl"}[scheme]
    return {
        f"cache.partition.{name}.period_requests": period,
        f"cache.partition.{name}.segments": segments,
    }


@dataclass(frozen=True)
class Store:
    """Scaled flash and disks of a load."""

    device: str
    blocks: int
    period: int
    segments: int
    large: bool

    @staticmethod
    def of(load: Load, parts: Parts) -> "Store":
        """Returns the store of a load of table 1."""
        own = load.part(parts)
        return Store(
            "opfcl-large" if load.large else "opfcl-small",
            BLOCKS // own,
            PERIOD // own,
            64 if load.large else 16,
            load.large,
        )


def case(
    name: str,
    trace: Path,
    store: Store,
    scheme: str,
    percent: int,
    more: Mapping[str, Value] | None = None,
) -> Case:
    """Returns the case of a load on a store, one request at a time."""
    settings: dict[str, Value] = {
        "nand.geometry.blocks_per_plane": store.blocks,
        "cache.destage.group_pages": GROUP_PAGES,
        **CHARGED,
        **divided(scheme, store.period, store.segments),
        **(more or {}),
    }
    settings["ftl.over_provisioning_ratio"] = 1 - percent / 100
    told = [f"{key} = {value}" for key, value in (more or {}).items()]
    label = ", ".join([name, scheme, f"{store.blocks} blocks", f"{percent} %", *told])
    return Case(store.device, label, settings, trace, by_disk=store.large)


def points(wanted: Iterable[int]) -> list[tuple[str, int]]:
    """Returns pairs of scheme and cached share: both fixed schemes at every share, and OP-FCL."""
    fixed = [(scheme, percent) for scheme in FIXED for percent in wanted]
    return [*fixed, (OP, INITIAL_PERCENT)]


def curves(
    setup: Setup,
    paths: Mapping[str, Path],
    loads: Mapping[str, Load],
    wanted: Iterable[int],
    more: Mapping[str, Value] | None = None,
    scale: Parts | None = None,
) -> dict[str, Curve]:
    """Runs every load under the fixed schemes at every share, and under OP-FCL from its initial
    share. `scale` defaults to that of the setup."""
    shares, scale = tuple(wanted), scale or part(setup)
    cases = {
        (name, scheme, percent): case(
            name, paths[name], Store.of(load, scale), scheme, percent, more
        )
        for name, load in loads.items()
        for scheme, percent in points(shares)
    }
    found: dict[str, Curve] = {}
    for (name, scheme, percent), summary in required(setup, cases).items():
        disks = 3 if loads[name].large else 1
        found.setdefault(name, {}).setdefault(scheme, {})[percent] = Cell.of(summary, disks)
    return found


def best(curve: Mapping[int, Cell]) -> int:
    """Returns the cached share with the shortest mean response time. Per cent."""
    return min(curve, key=lambda percent: curve[percent].mean_ms)


def least_ms(curve: Mapping[int, Cell]) -> float:
    """Returns the mean response time at the best cached share. Milliseconds."""
    return curve[best(curve)].mean_ms


def title(name: str) -> str:
    """Returns the title of a load."""
    return TABLE[name].title
