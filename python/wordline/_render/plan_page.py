"""Page of `wordline plan-cache`: recommendation, latencies and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from wordline._render import html, units
from wordline._render.plotly import EACH, HEAT, Figure, figure, line
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline._caching.plan_cache import PlanAnswer, PlanSize, PlanSummary
    from wordline._caching.plan_check import PlanCheck

MIB = 1 << 20
US_A_MS = 1e3
POLICIES = {
    "unified": "one list, over-provisioning as configured",
    "unified-best": "one list of the cheapest size",
    "rw-fcl": "reads and writes separate, over-provisioning as configured",
    "op-fcl": "reads, writes and over-provisioning by cost",
    "locality-driven": "writes only, over-provisioning by cost",
}


def plan_page(summary: PlanSummary) -> str:
    """Returns the plan as HTML."""
    charts: dict[str, Figure] = {"by-size": by_size(summary)}
    for place, size in enumerate(summary["sizes"]):
        charts[f"map-{place}"] = heat_map(size)
        charts[f"curves-{place}"] = curves(size)
    return html.render(
        "wordline._render.templates",
        "plan_cache.html.jinja",
        charts,
        s=summary,
        charts=charts,
        policies=POLICIES,
        units=units,
    )


def by_size(summary: PlanSummary) -> Figure:
    """Draws the mean latency of each policy against the flash size."""
    data: list[Figure] = []
    check = summary["check"]
    for policy, colour in zip(POLICIES, EACH, strict=False):
        rows = [
            (size, answer)
            for size in summary["sizes"]
            for answer in size["answers"]
            if answer["policy"] == policy
        ]
        data.append(
            line(
                policy,
                colour,
                [size["flash_bytes"] / MIB for size, _ in rows],
                [_figures(answer["request_us"] / US_A_MS) for _, answer in rows],
                customdata=[units.size(size["flash_bytes"]) for size, _ in rows],
                hovertemplate="%{y:,} ms with %{customdata}",
            )
        )
    ends: list[float] = [summary["sizes"][place]["flash_bytes"] / MIB for place in (0, -1)]
    alone = summary["disk_only"]["request_us"]
    if alone is not None:
        data.append(
            line("disk alone", "#8b929c", ends, [_figures(alone / US_A_MS)] * 2)
            | {"line": {"color": "#8b929c", "dash": "dot"}, "hovertemplate": "%{y:,} ms"}
        )
    if check and check["runs"]:
        data.append(_simulated(summary, check))
    shown = _figure(data, "MiB of flash", 380)
    shown["layout"]["yaxis"]["title"]["text"] = "mean request latency (ms)"
    places = sorted({size["flash_bytes"] / MIB for size in summary["sizes"]})
    shown["layout"]["xaxis"] |= {
        "type": "log",
        "tickvals": places,
        "ticktext": [units.figures(place) for place in places],
    }
    return shown


def _simulated(summary: PlanSummary, check: PlanCheck) -> Figure:
    """Draws the simulated divisions as markers."""
    runs, page = check["runs"], summary["flash"]["page_bytes"]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "simulated",
        "x": [run["flash_pages"] * page / MIB for run in runs],
        "y": [_figures(run["simulated_us"] / US_A_MS) for run in runs],
        "customdata": [run["policy"] for run in runs],
        "marker": {
            "symbol": "diamond",
            "size": 11,
            "color": "#ffffff",
            "line": {"color": "#000000", "width": 1.5},
        },
        "hovertemplate": "%{y:,} ms: %{customdata}, simulated<extra></extra>",
    }


def curves(size: PlanSize) -> Figure:
    """Draws the page cost of one list, of the best division into two lists, and of a write cache,
    over the cached share."""
    drawn = size["map"]
    shares = [100 * share for share in drawn["utilisations"]]
    least = [min(column) for column in zip(*drawn["page_us"], strict=True)]
    data = [
        line(name, colour, shares, [_figures(us) for us in costs]) | {"mode": "lines"}
        for name, colour, costs in (
            ("one list", EACH[0], drawn["unified_us"]),
            ("two lists, best division", EACH[1], least),
            ("writes only", EACH[2], drawn["locality_us"]),
        )
    ]
    return _figure(data, "cached share of the flash (%)", 300)


def heat_map(size: PlanSize) -> Figure:
    """Draws the page cost of two lists by cached share and share of reads, and marks the
    minimum."""
    drawn = size["map"]
    shares = [100 * share for share in drawn["utilisations"]]
    best = _answer(size, "op-fcl")
    cached = 1 - best["over_provisioning_ratio"]
    pages_cached = (best["read_pages"] or 0) + best["write_pages"]
    read = (best["read_pages"] or 0) / max(1, pages_cached)
    data: list[Figure] = [
        {
            "type": "heatmap",
            "z": [[_figures(us) for us in row] for row in drawn["page_us"]],
            "x": [_figures(share) for share in shares],
            "y": [_figures(100 * ratio) for ratio in drawn["read_ratios"]],
            "colorscale": HEAT,
            "hovertemplate": "%{z:,} µs: %{x} % cached, of which %{y} % for reads<extra></extra>",
            "colorbar": {
                "title": {"text": "µs per page", "side": "right"},
                "thickness": 12,
                "outlinewidth": 0,
            },
        },
        {
            "type": "scatter",
            "mode": "markers",
            "name": "minimum",
            "x": [_figures(100 * cached)],
            "y": [_figures(100 * read)],
            "marker": {
                "symbol": "diamond",
                "size": 11,
                "color": "#ffffff",
                "line": {"color": "#000000", "width": 1.5},
            },
            "hovertemplate": f"{best['page_us']:,.1f} µs, minimum<extra></extra>",
        },
    ]
    return figure(
        data,
        height=380,
        hovermode="closest",
        showlegend=False,
        xaxis={"title": {"text": "cached share of the flash (%)"}, "showgrid": False},
        yaxis={"title": {"text": "share of the cache for reads (%)"}, "showgrid": False},
    )


def _answer(size: PlanSize, policy: str) -> PlanAnswer:
    return next(answer for answer in size["answers"] if answer["policy"] == policy)


def _figure(data: Sequence[Figure], x_title: str, height: int) -> Figure:
    return figure(
        list(data),
        height=height,
        hovermode="closest",
        xaxis={"title": {"text": x_title}},
        yaxis={
            "title": {"text": "cost per page (µs)"},
            "rangemode": "tozero",
            "exponentformat": "none",
            "separatethousands": True,
        },
    )


def _figures(value: float) -> float:
    return float(f"{value:.6g}")


def page_of(summary: Mapping[str, Any]) -> str | None:
    """Returns the page of a summary.json of `wordline plan-cache`; None for other commands."""
    if summary.get("kind") != "plan-cache":
        return None
    if "advice" not in summary:
        version = summary.get("version")
        raise WordlineError(
            f"summary.json is a plan of Wordline {version} without advice; repeat the command"
        )
    return plan_page(cast("PlanSummary", summary))
