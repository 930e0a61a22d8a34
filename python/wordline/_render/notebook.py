"""Display of results in notebooks: small tables in the notebook's own colours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordline._render import html, parts, units
from wordline._render.replay_text import replayed

if TYPE_CHECKING:
    from wordline._caching.cache import CacheInput, CacheSummary
    from wordline._caching.mrc import MrcSummary
    from wordline._caching.plan_cache import PlanSummary

MOST_ROWS = 40
LATENCIES = [(name, key) for name, key in units.LATENCIES if name not in ("std", "min")]


@dataclass(frozen=True)
class Rows:
    """A table. The first cell of each row is its heading."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]


def run_html(summary: Mapping[str, Any]) -> str:
    """Shows a run: latency, key figures and notes."""
    latency = summary["latency"]
    times = [
        [op, units.whole(latency[op]["count"])]
        + [units.duration(latency[op][key]) for _, key in LATENCIES]
        for op in parts.ops(summary)
    ]
    through, flash, busy = summary["throughput"], summary["flash"], summary["utilisation"]
    told = [
        f"{units.figures(through['iops'])} IOPS, {units.bandwidth(through['read_mb_per_s'])} read, "
        f"{units.bandwidth(through['write_mb_per_s'])} written; "
        f"write amplification {units.number(flash['write_amplification'])}; "
        f"die utilisation {units.share(busy['die_mean'])}",
        f"{units.many(summary['input']['requests'], 'request')} · {replayed(summary)} · "
        f"seed {summary['seed']} · digest {summary['digest']}",
        *summary["notes"],
    ]
    partial = f"Partial result: {summary['error'] or 'interrupted'}"
    return _html(
        [
            Rows(
                f"{summary['device']['name']}: latency, arrival to completion",
                ["requests", "count", *(name for name, _ in LATENCIES)],
                times,
            )
        ],
        told,
        [partial] if summary["partial"] else [],
    )


def cache_html(summary: "CacheSummary") -> str:
    """Shows the miss ratios of policies by size."""
    runs = summary["runs"]
    names = list(dict.fromkeys(run["policy"] for run in runs))
    missed = {(run["size_pages"], run["policy"]): run["miss_ratio"] for run in runs}
    sizes = {run["size_pages"]: run["size_bytes"] for run in runs}
    rows = [
        [f"{units.many(pages, 'page')}, {units.size(size)}"]
        + [_percent(missed.get((pages, name))) for name in names]
        for pages, size in sizes.items()
    ]
    return _html([Rows("Miss ratio", ["size", *names], rows)], _trace(summary["input"]))


def mrc_html(summary: "MrcSummary") -> str:
    """Shows the curves of a trace at the requested sizes."""
    curves = summary["curves"]
    rows = [
        [f"{units.many(at['size_pages'], 'page')}, {units.size(at['size_bytes'])}"]
        + [_percent(curve["sizes"][place]["miss_ratio"]) for curve in curves]
        for place, at in enumerate(curves[0]["sizes"])
    ]
    headings = ["size", *(curve["method"] for curve in curves)]
    return _html([Rows("Miss ratio of an LRU cache", headings, rows)], _trace(summary["input"]))


def plan_html(summary: "PlanSummary") -> str:
    """Shows the divisions of a plan, one table per flash size."""
    headings = ["policy", "reads", "writes", "over-provisioning", "latency", "lifetime"]
    page_bytes = summary["flash"]["page_bytes"]
    tables = [
        Rows(
            f"{units.size(size['flash_bytes'])} of flash",
            headings,
            [
                [
                    answer["policy"],
                    "shared"
                    if answer["read_pages"] is None
                    else units.size(answer["read_pages"] * page_bytes),
                    units.size(answer["write_pages"] * page_bytes),
                    units.share(answer["over_provisioning_ratio"]),
                    units.duration(answer["request_us"]),
                    units.lifetime(answer["lifetime_years"]),
                ]
                for answer in size["answers"]
            ],
        )
        for size in summary["sizes"]
    ]
    advice = summary["advice"]
    lines = [advice["sentence"], advice["reason"], *_trace(summary["input"]), *summary["notes"]]
    return _html(tables, lines)


def _trace(told: "CacheInput") -> list[str]:
    files = ", ".join(file["path"] for file in told["files"])
    return [
        f"{files}: {units.many(told['page_requests'], 'request')} for pages of "
        f"{units.size(told['page_bytes'])}; {units.many(told['distinct_pages'], 'distinct page')}, "
        f"{units.size(told['footprint_bytes'])}",
        *told["notes"],
    ]


def _percent(ratio: float | None) -> str:
    return units.ABSENT if ratio is None else f"{100 * ratio:.2f} %"


def _html(tables: list[Rows], lines: Sequence[str], warnings: Sequence[str] = ()) -> str:
    lines = list(lines)
    for place, table in enumerate(tables):
        if len(table.rows) > MOST_ROWS:
            lines.append(f"{len(table.rows) - MOST_ROWS} more rows are in `summary`.")
            tables[place] = Rows(table.caption, table.headings, table.rows[:MOST_ROWS])
    found = html.environment("wordline._render.templates").get_template("notebook.html.jinja")
    return found.render(tables=tables, lines=lines, warnings=warnings)
