"""HTML report of a run, a single self-contained file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import jinja2
import polars as pl
from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name  # pyright: ignore[reportUnknownVariableType]

from wordline._internal import checksums
from wordline._internal.set_lines import settings_of
from wordline._render import html, miss_ratio_page, parts, plan_page, programmed_text, units
from wordline._render.disk_load_text import disk_spared
from wordline._render.metric import key_name
from wordline._render.plotly import Figure
from wordline._render.replay_text import load_without_trace, replayed
from wordline._render.report import disks, hit_curve, latency, time_series
from wordline._render.report import wear as wear_charts
from wordline._render.report.tables import Tables
from wordline._render.report.utilisation import utilisation
from wordline._render.report.views import views
from wordline._wordline import WordlineError

__all__ = ["Tables", "from_folder", "render"]

TABLES = ("series", "latency")
MORE = ("blocks", "wear", "latency_by")
"""Tables that only some runs have."""
SMART = (
    ("critical_warning", "critical warning", ""),
    ("available_spare", "available spare", " %"),
    ("available_spare_threshold", "available spare threshold", " %"),
    ("percentage_used", "percentage used", " %"),
    ("data_units_read", "data units read (512,000 bytes)", ""),
    ("data_units_written", "data units written (512,000 bytes)", ""),
    ("physical_media_written_bytes", "physical media units written (OCP)", " bytes"),
    ("host_read_commands", "host read commands", ""),
    ("host_write_commands", "host write commands", ""),
    ("controller_busy_time_min", "controller busy time", " min"),
    ("unsafe_shutdowns", "unsafe shutdowns", ""),
    ("media_errors", "media and data integrity errors", ""),
)
"""Attributes of the SMART log page: keys of the summary, names, units."""

READS_MET = (
    ("nothing", "nothing"),
    ("retry", "a retry"),
    ("reclaim", "read reclaim or refresh of a block"),
    ("bad_block", "replacement of a bad block"),
)
"""Events that delay reads: keys of the summary, names."""

NO_REQUESTS = "No request completed."


@dataclass(frozen=True)
class Chart:
    """A chart of the report: id, title, caption, figure, and the text that replaces an empty
    chart."""

    id: str
    title: str
    caption: str
    figure: Figure | None
    empty: str


def render(summary: Mapping[str, Any], config: str, tables: Tables) -> str:
    """Returns the report as HTML from a summary, the resolved configuration and the tables."""
    shown = {chart.id: chart for chart in _charts(summary, tables)}
    drawn = {name: chart.figure for name, chart in shown.items() if chart.figure}
    return html.render(
        "wordline._render.templates",
        "report.html.jinja",
        drawn,
        s=summary,
        smart_attributes=SMART,
        reads_met=READS_MET,
        programmed=programmed_text.parts(summary["flash"]),
        charts=shown,
        config=_highlighted(config),
        key_name=key_name,
        settings=settings_of(config),
        ops=parts.of_data(summary),
        served=parts.ops(summary),
        replayed=replayed(summary),
        load_without_trace=load_without_trace(summary),
        units=units,
        parts=parts.shown(summary),
        disk_spared=disk_spared(summary["cache"]) if summary["cache"] else "",
    )


def from_folder(path: Path) -> str:
    """Returns the report of a results folder. Raises WordlineError if a file is missing or
    damaged."""
    if (path / "summary.json").is_file():
        checksums.require_whole(path)
    summary = _summary(path / "summary.json")
    if page := miss_ratio_page.page_of(summary) or plan_page.page_of(summary):
        return page
    more = {name: path / f"{name}.parquet" for name in MORE}
    tables = Tables(
        *(_table(path / f"{name}.parquet") for name in TABLES),
        **{name: _table(file) for name, file in more.items() if file.exists()},
    )
    try:
        config = (path / "config.resolved.toml").read_text(encoding="utf-8")
        return render(summary, config, tables)
    except (OSError, UnicodeDecodeError) as fault:
        raise WordlineError(f"{path / 'config.resolved.toml'}: cannot be read: {fault}") from fault
    except (
        KeyError,
        TypeError,
        AttributeError,
        jinja2.UndefinedError,
        pl.exceptions.PolarsError,
    ) as fault:
        raise WordlineError(
            f"{path}: is not a result of this version of Wordline ({fault}); repeat the run"
        ) from fault


def _charts(summary: Mapping[str, Any], tables: Tables) -> list[Chart]:
    return [
        *_of_latency(summary, tables),
        *_over_time(summary, tables),
        *_of_caches(summary, tables),
        *_of_parts(summary, tables),
        *_of_wear(summary, tables),
    ]


def _of_latency(summary: Mapping[str, Any], tables: Tables) -> list[Chart]:
    """Returns the charts of response times."""
    return [
        Chart(
            "distribution",
            "Distribution",
            "Share of requests completed within a given time. Further left is faster, "
            "steeper is more consistent.",
            latency.distribution(tables.latency, summary),
            NO_REQUESTS,
        ),
        Chart(
            "tail",
            "The slow end",
            "Share of requests slower than a given time. p99 is where the curve crosses 1 %.",
            latency.tail(tables.latency, summary),
            "Too few requests, or equal response times.",
        ),
        *(
            Chart(
                f"{of}s",
                f"Distribution by {of}",
                f"Share of the requests of each {of} completed within a given time, reads and "
                "writes together.",
                latency.each(tables.latency_by, of),
                NO_REQUESTS,
            )
            for of in ("stream", "member")
        ),
        Chart(
            "breakdown",
            "Where the time goes",
            "Mean latency by component. The components of each request sum exactly to its latency.",
            latency.breakdown(summary),
            NO_REQUESTS,
        ),
    ]


def _over_time(summary: Mapping[str, Any], tables: Tables) -> list[Chart]:
    """Returns the charts over simulated time."""
    return [
        Chart(
            "time",
            "Over time",
            "Each point is an interval of simulated time. Drag to zoom into all panels, "
            "double-click to return. If the load has long pauses, a button leaves them out: each "
            "interval is then as wide as the time in which the device held requests. A dotted "
            "line, labelled with the length of the pause where there is room, replaces the "
            "intervals without a request.",
            time_series.over_time(tables.series),
            NO_REQUESTS,
        ),
        Chart(
            "views",
            "User view and device view",
            "Above, the mean and maximum latency of each interval, as the host sees them. Below, "
            "the maximum latency over the share of die time that garbage collection took, during "
            "requests and in intervals in which the device held none.",
            views({"": tables.series}) if summary["flash"]["gc_die_time_s"] else None,
            "No GC ran.",
        ),
        Chart(
            "health",
            "Health over time",
            "Read retries, blocks moved by read reclaim or refresh, "
            "grown bad blocks, and spare blocks left.",
            time_series.health(
                tables.series, summary["bad_blocks"]["spare"] if summary["bad_blocks"] else None
            ),
            "No read retry, read reclaim, refresh or bad block.",
        ),
    ]


def _of_caches(summary: Mapping[str, Any], tables: Tables) -> list[Chart]:
    """Returns the charts of the DRAM buffer, and of flash in front of other storage."""
    return [
        Chart(
            "buffer",
            "Hits and evictions",
            "Share of requested pages in each interval that hit the buffer; below, pages evicted "
            "from it, and pages destaged to flash.",
            time_series.buffer(tables.series) if summary["buffer"] else None,
            "No page was requested.",
        ),
        Chart(
            "cache",
            "Read hits and misses",
            "Share of the pages read in each interval that were in the cache, were evicted "
            "but still readable, were being fetched by another read, or were read from the "
            "disk.",
            time_series.cache(tables.series) if summary["cache"] else None,
            "No page was read.",
        ),
        Chart(
            "space",
            "Division of the flash",
            "Shares of the flash that held written pages, read pages, and "
            "over-provisioning, which GC needs. Dotted: the chosen sizes; the "
            "lists reach them as pages are evicted.",
            time_series.space(tables.series, summary["cache"]["flash_pages"])
            if summary["cache"]
            else None,
            "The division of this cache is fixed.",
        ),
        Chart(
            "cache-curve",
            "Other cache sizes",
            "Hit ratio of an LRU cache of each size over the pages read in this run, estimated "
            "from a sample, and the cache of this run. Writes are left out.",
            hit_curve.curve(summary["cache"], summary["device"]["page_bytes"])
            if summary["cache"]
            else None,
            "No curve was sampled (observe.miss_ratio_pages).",
        ),
    ]


def _of_parts(summary: Mapping[str, Any], tables: Tables) -> list[Chart]:
    """Returns the charts of the utilisation of channels, dies and disks."""
    return [
        Chart(
            "seeks",
            "Seek distances",
            "Accesses by distance of the arm from the previous access.",
            disks.seeks(summary["disks"]),
            "The arm did not move, or the disk model has no positions.",
        ),
        Chart(
            "channels",
            "Channels",
            "Share of each interval that the bus of a channel was busy.",
            utilisation(
                tables.series, "channel_utilisation", "channel", _of_members(summary, "channels")
            )
            if summary["device"]["channels"]
            else None,
            NO_REQUESTS,
        ),
        Chart(
            "dies",
            "Dies",
            "Share of each interval that a die was reading, programming or erasing.",
            utilisation(tables.series, "die_utilisation", "die", _of_members(summary, "dies"))
            if summary["device"]["dies"]
            else None,
            NO_REQUESTS,
        ),
        Chart(
            "mechanisms",
            "Mechanisms",
            "Share of each interval that a disk was positioning or transferring.",
            utilisation(tables.series, "die_utilisation", "disk", _of_disks(summary))
            if summary["disks"] and not summary["device"]["dies"]
            else None,
            NO_REQUESTS,
        ),
    ]


def _of_wear(summary: Mapping[str, Any], tables: Tables) -> list[Chart]:
    """Returns the charts of erases per block."""
    return [
        Chart(
            "erases",
            "Erases per block",
            ("A row is a plane: " + "member m, " * bool(summary["members"]))
            + "channel c, way w, die d, plane p. A uniform colour means even wear. Erases before "
            "the measurement are included.",
            wear_charts.erases(tables.blocks)
            if tables.blocks is not None and summary["flash"]["erases_per_block_max"]
            else None,
            "No block was erased.",
        ),
        Chart(
            "wear",
            "Blocks by erase count",
            "A narrow distribution means even wear. Erases before the measurement are included.",
            wear_charts.wear(tables.wear)
            if tables.wear is not None and summary["flash"]["erases_per_block_max"]
            else None,
            "No block was erased.",
        ),
    ]


def _of_members(summary: Mapping[str, Any], parts: str) -> dict[str, int]:
    """Returns the number of channels or dies of each member of an array by name; empty for a single
    device. The mechanism of a hard disk counts as a die."""
    counts = {member["name"]: member["device"][parts] for member in summary["members"]}
    if parts == "dies":
        counts = {name: count or 1 for name, count in counts.items()}
    return {name: count for name, count in counts.items() if count}


def _of_disks(summary: Mapping[str, Any]) -> dict[str, int]:
    """Returns the disks by name; empty for a single disk."""
    disks = summary["disks"]
    return {disk["name"]: 1 for disk in disks} if len(disks) > 1 else {}


def _summary(path: Path) -> dict[str, Any]:
    try:
        summary: object = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as fault:
        raise WordlineError(
            f"{path}: no such file; name a folder that `wordline run` wrote"
        ) from fault
    except (OSError, ValueError) as fault:
        raise WordlineError(f"{path}: cannot be read: {fault}; repeat the run") from fault
    if not isinstance(summary, dict):
        raise WordlineError(f"{path}: is not a summary; repeat the run")
    told = cast("dict[str, Any]", summary)
    if "schema" in told:
        checksums.require_schema(str(path), told["schema"])
        checksums.require_version(str(path), str(told.get("version")))
    return told


def _table(path: Path) -> pl.DataFrame:
    try:
        return pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as fault:
        reason = str(fault).splitlines()[0]
        raise WordlineError(f"{path}: cannot be read: {reason}; repeat the run") from fault


def _highlighted(config: str) -> Markup:
    """Highlights the configuration as HTML with Pygments classes."""
    lexer = get_lexer_by_name("toml", stripnl=False)
    return Markup(highlight(config, lexer, HtmlFormatter[str](nowrap=True)))  # noqa: S704
