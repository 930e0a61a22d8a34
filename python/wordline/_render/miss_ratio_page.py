"""Pages of `wordline cache` and `wordline mrc`: miss ratio over cache size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from wordline._render import html, units
from wordline._render.plotly import Figure, figure, line

if TYPE_CHECKING:
    from wordline._caching.cache import CacheRun, CacheSummary
    from wordline._caching.cache_on_flash import FlashSide
    from wordline._caching.mrc import MrcCurve, MrcSummary

COLOURS = (
    "#3b86c6",
    "#d8731c",
    "#12a07a",
    "#c2457f",
    "#e0a30a",
    "#7a6bc9",
    "#7cc0ea",
    "#a0522d",
    "#5f9e2f",
    "#d9a5c7",
    "#00838f",
    "#b5a642",
)
CEILINGS = {"belady": "dash", "unbounded": "dot"}
"""Policies that give an upper bound of the hit ratio, with their line styles."""
CEILING = "#8b929c"

FLASH_FIGURES: dict[str, tuple[str, Callable[[FlashSide], float | None]]] = {
    "flash-hits": ("read hit ratio (%)", lambda side: _percent(side["hit_ratio"])),
    "flash-erases": ("blocks erased", lambda side: side["erases"]),
    "flash-latency": (
        "mean latency (ms)",
        lambda side: None if side["mean_us"] is None else side["mean_us"] / 1e3,
    ),
}
"""Charts of the runs on flash."""

Ratio = Literal["miss_ratio", "read_miss_ratio", "write_miss_ratio"]


def cache_page(summary: CacheSummary) -> str:
    """Returns the runs of `wordline cache` as HTML."""
    runs = summary["runs"]
    mixed = bool(summary["input"]["page_reads"] and summary["input"]["page_writes"])
    charts = {"miss-ratio": by_size(runs, "miss_ratio", "miss ratio (%)")}
    if mixed:
        charts["reads"] = by_size(runs, "read_miss_ratio", "read miss ratio (%)", height=340)
        charts["writes"] = by_size(runs, "write_miss_ratio", "write miss ratio (%)", height=340)
    if summary["input"]["page_writes"]:
        charts["write-backs"] = write_backs(runs)
    if any("flash" in run for run in runs):
        charts |= {name: on_flash(runs, name) for name in FLASH_FIGURES}
    return _page(summary, charts, mixed=mixed)


def mrc_page(summary: MrcSummary) -> str:
    """Returns the curves of `wordline mrc` as HTML."""
    page_bytes = summary["input"]["page_bytes"]
    return _page(summary, {"miss-ratio": curves(summary["curves"], page_bytes)}, mixed=False)


def by_size(runs: Sequence[CacheRun], ratio: Ratio, title: str, *, height: int = 440) -> Figure:
    """Draws the miss ratio of each policy over size. A low chart has no legend, because it is
    placed below a chart with the same legend."""
    data = [
        _line(
            name,
            place,
            [run["size_pages"] for run in own],
            [_percent(run[ratio]) for run in own],
            [units.size(run["size_bytes"]) for run in own],
        )
        for place, (name, own) in enumerate(_by_policy(runs).items())
    ]
    return _figure(data, _sizes(runs), title, height, showlegend=height > 400)


def write_backs(runs: Sequence[CacheRun]) -> Figure:
    """Draws the write-backs of each policy, as a share of writes, by cache size."""
    data = [
        _line(
            name,
            place,
            [run["size_pages"] for run in own],
            [100 * run["write_backs"] / run["writes"] for run in own],
            [units.size(run["size_bytes"]) for run in own],
        )
        for place, (name, own) in enumerate(_by_policy(runs).items())
    ]
    return _figure(data, _sizes(runs), "pages written back per page write (%)", 340)


def on_flash(runs: Sequence[CacheRun], name: str) -> Figure:
    """Draws a metric of the runs on flash by cache size, with a line per policy."""
    title, value = FLASH_FIGURES[name]
    data: list[Figure] = []
    for place, (policy, every) in enumerate(_by_policy(runs).items()):
        sides = [run["flash"] for run in every if "flash" in run]
        if sides:
            data.append(
                _line(
                    policy,
                    place,
                    [side["capacity_pages"] for side in sides],
                    [value(side) for side in sides],
                    [units.number(value(side)) for side in sides],
                )
                | {"hovertemplate": "%{customdata} at %{x:,} pages"}
            )
    shown = _figure(data, _sizes(runs), title, 340)
    shown["layout"]["yaxis"] |= {"range": None, "rangemode": "tozero"}
    return shown


def curves(found: Sequence[MrcCurve], page_bytes: int) -> Figure:
    """Draws the miss ratio against cache size, one line per method."""
    data = [
        _line(
            curve["method"],
            place,
            [point["size_pages"] for point in curve["points"]],
            [100 * point["miss_ratio"] for point in curve["points"]],
            [units.size(point["size_pages"] * page_bytes) for point in curve["points"]],
        )
        | {"mode": "lines"}
        for place, curve in enumerate(found)
    ]
    pages = [point["size_pages"] for curve in found for point in curve["points"]]
    sizes = {count: count * page_bytes for count in pages}
    return _figure(data, sizes, "miss ratio (%)", 440)


def _by_policy(runs: Sequence[CacheRun]) -> dict[str, list[CacheRun]]:
    names = dict.fromkeys(run["policy"] for run in runs)
    return {name: [run for run in runs if run["policy"] == name] for name in names}


def _sizes(runs: Sequence[CacheRun]) -> dict[float, float]:
    """Returns the size in bytes by size in pages."""
    return {run["size_pages"]: run["size_bytes"] for run in runs}


def _percent(ratio: float | None) -> float | None:
    return None if ratio is None else 100 * ratio


def _line(
    name: str, place: int, x: Sequence[float], y: Sequence[float | None], told: Sequence[str]
) -> Figure:
    dash = CEILINGS.get(name)
    colour = CEILING if dash else COLOURS[place % len(COLOURS)]
    drawn = line(
        name,
        colour,
        [float(f"{value:.6g}") for value in x],
        [None if value is None else float(f"{value:.6g}") for value in y],
        customdata=list(told),
        hovertemplate="%{y:.4g} % at %{x:,} pages, %{customdata}",
    )
    if dash:
        drawn["line"] |= {"dash": dash}
    elif place >= len(COLOURS):
        drawn["line"] |= {"dash": "longdash"}
    return drawn


def _figure(
    data: list[Figure], sizes: Mapping[float, float], title: str, height: int, **layout: Any
) -> Figure:
    return figure(
        data,
        height=height,
        **layout,
        hovermode="closest",
        xaxis=_pages(sizes),
        yaxis={"title": {"text": title}, "range": [-1, 101], "exponentformat": "none"},
    )


def _pages(sizes: Mapping[float, float]) -> Figure:
    """Returns a logarithmic axis of pages and bytes with ticks at powers of ten, and also at 2 and
    5 if the axis is short."""
    low, high = math.log10(max(1, min(sizes))), math.log10(max(1, *sizes, 1))
    page_bytes = max(sizes.values()) / max(sizes)
    if high - low < 1:
        low, high = low - 0.5, high + 0.5
    steps = (1, 2, 5) if high - low <= 3 else (1,)
    powers = range(max(0, math.floor(low)), math.ceil(high) + 1)
    ticks = [step * 10**power for power in powers for step in steps]
    return {
        "title": {"text": "pages and bytes (log)"},
        "type": "log",
        "tickvals": ticks,
        "ticktext": [f"{tick:,}<br>{units.size(tick * page_bytes)}" for tick in ticks],
        "range": [low - 0.03, high + 0.03],
    }


def _page(summary: CacheSummary | MrcSummary, charts: Mapping[str, Figure], *, mixed: bool) -> str:
    return html.render(
        "wordline._render.templates",
        "miss_ratio.html.jinja",
        charts,
        s=summary,
        runs=_by_size_runs(summary),
        mixed=mixed,
        charts=charts,
        units=units,
    )


def _by_size_runs(summary: CacheSummary | MrcSummary) -> dict[int, list[CacheRun]]:
    """Groups runs by size."""
    runs: list[CacheRun] = summary.get("runs", [])
    sizes = dict.fromkeys(run["size_pages"] for run in runs)
    return {size: [run for run in runs if run["size_pages"] == size] for size in sizes}


def page_of(summary: Mapping[str, Any]) -> str | None:
    """Returns the page of a summary.json of `wordline cache` or `wordline mrc`; None for other
    commands."""
    kinds: dict[str, Any] = {"cache": cache_page, "mrc": mrc_page}
    draw = kinds.get(str(summary.get("kind")))
    return draw(summary) if draw else None
