"""Figures 7.1 and 7.11: response times at the host, and activity of the device."""

from collections.abc import Sequence

import polars as pl

from wordline._render.report.views import views
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, summary_of, tabled
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.gc.charts import MARGIN_MS, PUBLISHED
from wordline_studies.gc.loads import PLANES, QUARTERS, Kind, busy, requests
from wordline_studies.gc.runs import (
    DELAYED,
    DEMAND,
    WORN,
    Load,
    case,
    collected,
    late,
    longest_ms,
    mean_ms,
)
from wordline_studies.gc.schemes import BOTH, NEW, SCHEMES, H, L
from wordline_studies.generated import Request, written
from wordline_studies.outcome import PER_CENT, is_reproduced

# Random writes of 2,048 KB, as in the document's figure.
LARGE_REQUESTS, LARGE_PAGES = 60, 512
SECTION_REQUESTS = 20_000
# Number of adjacent logical blocks: that of the blocks that the loads write to, rounded down to two
# rows of the planes.
SIDE = sum(QUARTERS) // (2 * PLANES) * 2 * PLANES
# Number of intervals of the charts.
INTERVALS = 800


def figures(setup: Setup) -> list[Figure]:
    """Returns figures 7.1 and 7.11."""
    mix = Kind(1.0, LARGE_PAGES, 1.0, 0.359, 0.346, 2.0)
    large = list(requests(lambda _: mix, LARGE_REQUESTS, 31))
    section = list(requests(lambda _: busy(5), SECTION_REQUESTS, 33))
    beside = list(requests(lambda _: busy(5), SECTION_REQUESTS, 33, SIDE, (SIDE,)))
    return [_overview(setup, large), _section(setup, section, beside)]


def _runs(
    setup: Setup, name: str, load: Sequence[Request], schemes: Sequence[str]
) -> tuple[dict[str, Summary], dict[str, pl.DataFrame]]:
    """Runs a load under each scheme. Returns summaries by scheme, and time series by the title of
    the scheme."""
    end = load[-1].at / 1e9 + 1
    with written({name: load}) as paths:
        made = Load(name, paths[name], end, worn=True)
        runs = tabled(setup, {scheme: _case(made, scheme) for scheme in schemes}, "series")
    series = {
        SCHEMES[scheme].title: run.table("series").filter(pl.col("start_s") < end)
        for scheme, run in runs.items()
    }
    return {scheme: summary_of(run) for scheme, run in runs.items()}, series


def _case(load: Load, scheme: str) -> Case:
    more: dict[str, Value] = {
        "series.interval_ms": round(1000 * load.duration_s / INTERVALS, 3),
        "series.intervals": 4 * INTERVALS,
    }
    return case(load, scheme, more)


def _rows(found: dict[str, Summary]) -> list[Row]:
    rows: list[Row] = []
    for scheme, summary in found.items():
        title = SCHEMES[scheme].title
        rows += [
            Row(f"{title}: mean response time of writes", mean_ms(summary), "ms"),
            Row(f"{title}: longest response time", longest_ms(summary), "ms"),
            Row(
                f"{title}: number of requests slower than {MARGIN_MS} ms", float(late(summary)), ""
            ),
            Row(f"{title}: die time spent on GC", summary["flash"]["gc_die_time_s"], "s"),
        ]
    return rows


def _picture(title: str, series: dict[str, pl.DataFrame]) -> list[Plot]:
    drawn = views(series)
    caption = (
        "Upper part: response times at the host. Lower part: share of die time spent on GC, in "
        "one colour while requests are outstanding and in another while no request is."
    )
    return [Plot(title, caption, drawn)] if drawn else []


def _overview(setup: Setup, load: Sequence[Request]) -> Figure:
    found, series = _runs(setup, "2 MiB at random", load, (NEW, L, BOTH))
    new, old, both = (mean_ms(found[scheme]) for scheme in (NEW, L, BOTH))
    return Figure(
        id="7.1",
        title="Figure 7.1: user view",
        section="7.1",
        measured=(
            f"{LARGE_REQUESTS} random writes of 2,048 KiB, with the pauses of section 7.6, on a "
            f"pristine SSD under L-FTL, and on a used SSD ({100 * WORN:g} % of the pages "
            "overwritten at random beforehand) under L-FTL and AGC+DGC."
        ),
        rows=_rows(found),
        plots=_picture("User view and device view", series),
        claims=[
            Claim(
                "Under AGC+DGC, the mean response time of writes on the used SSD equals that on a "
                f"pristine one, within {PER_CENT:g} %",
                is_reproduced(both, new, "ms"),
                f"{both:.0f} and {new:.0f} ms",
                ids=("J7-005",),
            ),
            Claim(
                "Under L-FTL, GC raises the mean response time of writes by more than "
                f"{PER_CENT:g} %",
                old > new * (1 + PER_CENT / 100),
                f"{old:.0f} and {new:.0f} ms",
                ids=("J1-011",),
            ),
        ],
        data={"mean_ms": {scheme: mean_ms(one) for scheme, one in found.items()}},
    )


def _removed(found: dict[str, Summary]) -> dict[str, float]:
    """Returns the share of L-FTL's GC cost that each scheme removes. Per cent, by scheme."""
    means = {scheme: mean_ms(one) for scheme, one in found.items()}
    overhead = {scheme: means[scheme] - means[NEW] for scheme in found if scheme != NEW}
    return {scheme: 100 * (1 - one / overhead[L]) for scheme, one in overhead.items()}


def _section(setup: Setup, load: Sequence[Request], beside: Sequence[Request]) -> Figure:
    found, series = _runs(setup, "write-intensive section", load, (NEW, L, H, BOTH))
    near, _ = _runs(setup, "adjacent", beside, (NEW, L, H))
    means = {scheme: mean_ms(one) for scheme, one in found.items()}
    removed = _removed(found)
    side = _removed(near)[H]
    return Figure(
        id="7.11",
        title="Figure 7.11: a write-intensive section",
        section="7.6.2",
        measured=(
            f"{SECTION_REQUESTS:,} requests with 80 % writes and the sizes of disk 5; 90 % of "
            "them follow without a pause. The cost of GC is the mean response time of writes, "
            "less that on a pristine SSD. 'Adjacent' is the same load with writes to about as "
            f"many logical blocks ({SIDE:,}), but with adjacent addresses."
        ),
        rows=[
            Row(
                "share of L-FTL's GC cost that H-FTL removes",
                removed[H],
                "%",
                PUBLISHED("7.11", "share of L-FTL's GC cost that H-FTL removes"),
            ),
            Row(
                "share of L-FTL's GC cost that H-FTL removes, adjacent blocks",
                side,
                "%",
                PUBLISHED("7.11", "share of L-FTL's GC cost that H-FTL removes"),
                other_reading=True,
            ),
            Row("share of L-FTL's GC cost that AGC+DGC removes", removed[BOTH], "%"),
            *_rows(found),
        ],
        plots=_picture(
            "User view and device view",
            {name: one for name, one in series.items() if name != SCHEMES[NEW].title},
        ),
        claims=_section_claims(found, near, removed[H], side),
        explanation=[
            "With writes spread as recorded, two logical blocks that share their update blocks "
            "are merged nearly as often as one, and have twice as many pages, so H-FTL removes "
            "little. Adjacent logical blocks favour block-level locality, which section 7.6.3 "
            "gives as the reason for fewer GC runs."
        ],
        data={"mean_ms": means, "removed_percent": removed},
    )


def _section_claims(
    found: dict[str, Summary], near: dict[str, Summary], removed: float, side: float
) -> list[Claim]:
    """Returns the claims on a write-intensive section. `near` are the runs with writes to adjacent
    blocks; `removed` and `side` are the shares of L-FTL's GC cost that H-FTL removes without and
    with them."""
    adjacent = {scheme: collected(near[scheme]) for scheme in (L, H)}
    runs = {scheme: collected(found[scheme]) for scheme in (L, H, BOTH)}
    demanded = {scheme: collected(found[scheme], DEMAND) for scheme in (L, H, BOTH)}
    busy = ", ".join(
        f"{SCHEMES[scheme].title} {demanded[scheme]:,} of {runs[scheme]:,}" for scheme in runs
    )
    both = late(found[BOTH])
    return [
        Claim(
            "H-FTL removes more of L-FTL's GC cost if writes go to adjacent blocks than if they "
            "are spread as recorded",
            side > removed,
            f"{side:.1f} and {removed:.1f} %",
        ),
        Claim(
            "If writes go to adjacent blocks, H-FTL performs significantly fewer GC runs than "
            f"L-FTL (by more than {PER_CENT:g} %)",
            adjacent[H] < (1 - PER_CENT / 100) * adjacent[L],
            f"{adjacent[H]:,} and {adjacent[L]:,} GC runs",
        ),
        Claim(
            "AGC+DGC hides all on-demand GC", both == 0, f"{both} late requests", ids=("J1-004",)
        ),
        Claim(
            "AGC+DGC has no late request, although 90 % of the requests follow without a pause",
            both == 0,
            f"{both} late requests",
            ids=("J7-063",),
        ),
        Claim(
            "L-FTL and H-FTL run GC while requests wait, AGC+DGC in idle periods only",
            demanded[L] > 0 and demanded[H] > 0 and demanded[BOTH] == 0 < runs[BOTH],
            f"on-demand GC runs: {busy}",
            ids=("J7-064",),
        ),
        Claim(
            "DGC postpones GC runs to idle periods: some GC runs are postponed, and none is on "
            "demand",
            collected(found[BOTH], DELAYED) > 0 and demanded[BOTH] == 0,
            f"{collected(found[BOTH], DELAYED):,} postponed, {demanded[BOTH]} on demand",
            ids=("J7-065",),
        ),
    ]
