"""Beyond the document: one cache for reads and writes with revivable clean pages, and grouped
destages from several dies."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import wordline
from wordline._render.charts import lines
from wordline._render.units import many
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.op_fcl.loads import named, written
from wordline_studies.write_cache.claims import labelled
from wordline_studies.write_cache.loads import BLOCK_PAGES, Fit, Folder, files
from wordline_studies.write_cache.runs import DEVICE, THRESHOLD, Fitted, device, optima, part

BOTH: dict[str, Value] = {"cache.mode": "write-back", "cache.partition": "unified"}
"""One list for reads and writes."""
PERCENTS = (15, 35, 55)
LRU, FLRU = "LRU", "FLRU"
SHARES = {"desktop mayun2": 0.1, "hplajw": 0.3}
"""Recorded traces, and the size of their flash as a share of the pages that they access."""
LARGER = 2
"""The loads of OP-FCL's table 1 are scaled down by this factor more than those of table 6."""
DIES = (1, 2, 4, 8)
GROUPS = (1, 4, 16)
COLOURS = dict(zip(map(str, GROUPS), ("#8b929c", "#3b86c6", "#d9701a"), strict=True))
DISK_US, READ_US = 5000, 25


@dataclass(frozen=True)
class Both:
    """Results of a cache for reads and writes. Times in microseconds, ratios in per cent."""

    mean_us: float
    read_hit: float
    revived: int
    erases: int

    @staticmethod
    def of(summary: Summary) -> "Both":
        """Takes the results from a summary."""
        cache = summary["cache"]
        assert cache is not None
        return Both(
            mean_us=summary["latency"]["all"]["mean_us"] or 0.0,
            read_hit=100 * (cache["hit_ratio"] or 0.0),
            revived=cache["suspected_hits"],
            erases=summary["flash"]["erases"],
        )


Key = tuple[str, int, str]
"""Load, over-provisioning, policy."""


def figure(setup: Setup, traces: Folder, found: Fitted) -> Figure:
    """Returns the figure of both extensions."""
    revived = _both(setup)
    grouped = _grouped(setup, traces)
    loads = list(dict.fromkeys(load for load, _, _ in revived))
    return Figure(
        id="beyond",
        title="One cache for reads and writes; grouped destages on several dies",
        section="chapter 6, future work",
        measured=(
            "A cache with one list for reads and writes runs under recorded traces and the loads "
            "of OP-FCL's table 1: under LRU, and with clean pages that can be revived until their "
            "blocks are erased (reviving). In addition, the writes of Homes (a = 0.9) at 35 % "
            "over-provisioning: pages are destaged singly or in groups, on flash of 1 to 8 dies "
            "with the same total capacity."
        ),
        rows=[
            *(row for load in loads for op in PERCENTS for row in _both_rows(revived, load, op)),
            *(
                Row(f"Homes, {_dies(dies)}, groups of {many(group, 'page')}: {what}", value, "µs")
                for (dies, group), one in grouped.items()
                for what, value in (
                    ("mean response time per page write", one[0]),
                    ("mean time to destage a group", one[1]),
                )
            ),
            *(
                Row(
                    f"Homes, {_dies(dies)}, groups of {many(group, 'page')}: upper bound of the "
                    "reduction of the destage time by choosing pages from different dies",
                    100 * _turns_left(dies, group, one[1]) / one[1],
                    "%",
                )
                for (dies, group), one in grouped.items()
                if min(dies, group) > 1
            ),
        ],
        plots=[
            Plot(
                "Mean response time per page write",
                "By the number of dies, for groups of 1, 4 and 16 pages that are destaged "
                "together.",
                lines(
                    {
                        str(group): {str(dies): grouped[dies, group][0] for dies in DIES}
                        for group in GROUPS
                    },
                    COLOURS,
                    "dies",
                    "µs",
                    category=True,
                    height=300,
                ),
            ),
            Plot(
                "Mean time to destage a group",
                "From the first read of a group to its last write, by the number of dies, for "
                "groups of 1, 4 and 16 pages.",
                lines(
                    {
                        str(group): {str(dies): grouped[dies, group][1] for dies in DIES}
                        for group in GROUPS
                    },
                    COLOURS,
                    "dies",
                    "µs",
                    category=True,
                    height=300,
                ),
            ),
        ],
        claims=[*_both_claims(revived), *_grouped_claims(grouped)],
        explanation=[
            "A dirty page is free once it is destaged, so only clean pages can be revived. "
            "The more of the cache dirty pages occupy, the fewer clean pages it holds.",
            "A group contains the least recently used pages, on any die. Its reads go to their "
            "dies in parallel, then its writes go to the disk. A group whose pages are chosen "
            "from different dies would spread its reads evenly but still wait for the disk; the "
            "rows above give the upper bound of what this saves. Such a group would contain pages "
            "that are not the least recently used.",
            optima(found),
        ],
    )


def _both(setup: Setup) -> dict[Key, Both]:
    cases: dict[Key, Case] = {}
    small = named(["financial"] if setup.quick else ["financial", "home", "exchange"])
    scale = LARGER * part(setup)
    parts = {name: 4 * scale if load.large else scale for name, load in small.items()}
    for name, path in written(setup, small, parts).items():
        pages = (4 << 18) // scale
        cases |= _cases(f"{small[name].title}, table 1", path, pages)
    for name, path in files(setup, SHARES).items():
        cases |= _cases(name, path, _pages(path, SHARES[name]))
    return {key: Both.of(summary) for key, summary in required(setup, cases).items()}


def _pages(path: Path, share: float) -> int:
    """Returns the size of a flash in pages: the given share of the pages that a recorded trace
    accesses, in whole blocks, of which there are at least 128."""
    seen = wordline.cache(path, "lru", ["1p"], align="expand", on_bad_line="skip")
    blocks = round(share * seen.summary["input"]["distinct_pages"] / BLOCK_PAGES)
    return max(128, blocks) * BLOCK_PAGES


def _cases(load: str, path: Path, pages: int) -> dict[Key, Case]:
    return {
        (load, op, policy): Case(
            DEVICE,
            f"{load}, {op} %, {policy}",
            {
                **BOTH,
                "cache.suspected_queue": policy == FLRU,
                "ftl.over_provisioning_ratio": op / 100,
                "nand.geometry.blocks_per_plane": pages // BLOCK_PAGES,
                "ftl.gc.start_free_pages": int(THRESHOLD * pages),
                "disk.capacity_bytes": 1 << 50,
                "replay.mode.closed-loop.queue_depth": 1,
            },
            path,
        )
        for op in PERCENTS
        for policy in (LRU, FLRU)
    }


def _both_rows(found: Mapping[Key, Both], load: str, op: int) -> list[Row]:
    lru, flru = found[load, op, LRU], found[load, op, FLRU]
    return [
        Row(f"{load}, OP {op} %: read hit ratio with LRU", lru.read_hit, "%"),
        Row(
            f"{load}, OP {op} %: gain in read hit ratio by reviving",
            flru.read_hit - lru.read_hit,
            "points",
        ),
        Row(
            f"{load}, OP {op} %: change of the mean response time by reviving",
            100 * (flru.mean_us / lru.mean_us - 1),
            "%",
        ),
        Row(
            f"{load}, OP {op} %: change of the number of erases by reviving",
            100 * (flru.erases / max(1, lru.erases) - 1),
            "%",
        ),
    ]


def _both_claims(found: Mapping[Key, Both]) -> list[Claim]:
    points = [(load, op) for load, op, policy in found if policy == LRU]
    gains = {
        f"{load}, {op} %": found[load, op, FLRU].read_hit - found[load, op, LRU].read_hit
        for load, op in points
    }
    slower = {
        f"{load}, {op} %": 100 * (found[load, op, FLRU].mean_us / found[load, op, LRU].mean_us - 1)
        for load, op in points
    }
    return [
        Claim(
            "Reviving clean pages never lowers the read hit ratio by more than 0.1 percentage "
            "points",
            min(gains.values()) >= -0.1,
            labelled(gains),
        ),
        Claim(
            "Reviving clean pages never lengthens the mean response time by more than 1 %",
            max(slower.values()) <= 1,
            labelled(slower),
        ),
        Claim(
            f"The gain in read hit ratio by reviving is at least as high at {PERCENTS[-1]} % "
            f"over-provisioning as at {PERCENTS[0]} %",
            all(
                gains[f"{load}, {PERCENTS[-1]} %"] >= gains[f"{load}, {PERCENTS[0]} %"]
                for load in {load for load, _ in points}
            ),
            labelled(gains),
        ),
    ]


def _dies(count: int) -> str:
    return f"{count} die" + ("s" if count > 1 else "")


def _grouped(setup: Setup, traces: Folder) -> dict[tuple[int, int], tuple[float, float]]:
    """Returns the mean response time per page and the mean time to destage a group, by number of
    dies and group size. Microseconds."""
    on, trace = device(setup, traces), traces.load(Fit("Homes", 0.9), part(setup))
    cases: dict[tuple[int, int], Case] = {}
    for dies in DIES:
        for group in GROUPS:
            more: dict[str, Value] = {
                "cache.partition": "unified",
                "ftl.over_provisioning_ratio": 0.35,
                "cache.destage.group_pages": group,
                "nand.geometry.dies_per_package": dies,
                "nand.geometry.blocks_per_plane": on.pages // BLOCK_PAGES // dies,
                "ftl.gc.start_free_pages": int(THRESHOLD * on.pages / dies),
            }
            label = f"Homes, {_dies(dies)}, groups of {group}"
            cases[dies, group] = on.case(label, more, [on.fills.static, trace], 4 * on.pages)
    found = required(setup, cases)
    return {key: (_mean_us(summary), _destage_us(summary)) for key, summary in found.items()}


def _turns_left(dies: int, group: int, destage_us: float) -> float:
    """Returns by how much a destage takes longer than one with its pages spread evenly over the
    dies. Microseconds."""
    return max(0.0, destage_us - DISK_US - READ_US * math.ceil(group / dies))


def _mean_us(summary: Summary) -> float:
    return summary["latency"]["write"]["mean_us"] or 0.0


def _destage_us(summary: Summary) -> float:
    cache = summary["cache"]
    assert cache is not None
    return cache["destage_mean_us"] or 0.0


def _grouped_claims(found: Mapping[tuple[int, int], tuple[float, float]]) -> list[Claim]:
    one = {group: found[1, group][1] for group in GROUPS}
    most, fewest = GROUPS[-1], GROUPS[0]
    spread = found[DIES[-1], most][1]
    return [
        Claim(
            "On one die, the reads of a group are serial: a destage takes 5,000 µs plus 25 µs per "
            "page (within 1 %)",
            all(
                abs(value / (DISK_US + READ_US * group) - 1) <= 0.01 for group, value in one.items()
            ),
            labelled({str(group): value for group, value in one.items()}, 0),
        ),
        Claim(
            "On eight dies, the reads of a group run in parallel: the destage time of 16 pages is "
            "that of 2 to 8 serial reads",
            DISK_US + 2 * READ_US <= spread <= DISK_US + most / 2 * READ_US,
            f"{spread:.0f} µs per destage",
        ),
        Claim(
            "If pages are destaged in groups of 16, the mean response time is shorter than if "
            "they are destaged singly, for any number of dies",
            all(found[dies, most][0] < found[dies, fewest][0] for dies in DIES),
            labelled(
                {
                    _dies(dies): 100 * (found[dies, most][0] / found[dies, fewest][0] - 1)
                    for dies in DIES
                }
            ),
        ),
    ]
