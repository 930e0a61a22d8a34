"""Figures 7.1 and 7.11: what the host sees, and what the device does."""

from collections.abc import Sequence

import polars as pl

from wordline._render.report.views import views
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, summary_of, tabled
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.gc.charts import MARGIN_MS, PUBLISHED
from wordline_studies.gc.loads import PLANES, QUARTERS, Kind, busy, requests
from wordline_studies.gc.runs import WORN, Load, case, late, longest_ms, mean_ms
from wordline_studies.gc.schemes import BOTH, NEW, SCHEMES, H, L
from wordline_studies.generated import Request, written

# 2048 KB at random, as in the document's figure.
LARGE_REQUESTS, LARGE_PAGES = 60, 512
SECTION_REQUESTS = 20_000
# As many logical blocks as the loads write to, but side by side.
SIDE = sum(QUARTERS) // (2 * PLANES) * 2 * PLANES
# Intervals of the pictures.
INTERVALS = 800
# Like a pristine disk: the mean response time of writes is within so many per cent.
LIKE = 25


def figures(setup: Setup) -> list[Figure]:
    """Both pictures."""
    mix = Kind(1.0, LARGE_PAGES, 1.0, 0.359, 0.346, 2.0)
    large = list(requests(lambda _: mix, LARGE_REQUESTS, 31))
    section = list(requests(lambda _: busy(5), SECTION_REQUESTS, 33))
    beside = list(requests(lambda _: busy(5), SECTION_REQUESTS, 33, SIDE, (SIDE,)))
    return [_overview(setup, large), _section(setup, section, beside)]


def _runs(
    setup: Setup, name: str, load: Sequence[Request], schemes: Sequence[str]
) -> tuple[dict[str, Summary], dict[str, pl.DataFrame]]:
    """Summaries, and what happened interval by interval. By scheme."""
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
            Row(f"{title}: mean of writes", mean_ms(summary), "ms"),
            Row(f"{title}: longest", longest_ms(summary), "ms"),
            Row(f"{title}: beyond {MARGIN_MS} ms", float(late(summary)), ""),
            Row(
                f"{title}: time of the dies for collections", summary["flash"]["gc_die_time_s"], "s"
            ),
        ]
    return rows


def _picture(title: str, series: dict[str, pl.DataFrame]) -> list[Plot]:
    drawn = views(series)
    caption = (
        "Above what the host sees, below what the device does: bars are the share of the dies' "
        "time that collections took, in one colour beside requests, in another while there were "
        "none."
    )
    return [Plot(title, caption, drawn)] if drawn else []


def _overview(setup: Setup, load: Sequence[Request]) -> Figure:
    found, series = _runs(setup, "2 MiB at random", load, (NEW, L, BOTH))
    new, old, both = (mean_ms(found[scheme]) for scheme in (NEW, L, BOTH))
    return Figure(
        id="7.1",
        title="Figure 7.1: what the user sees",
        section="7.1",
        measured=f"{LARGE_REQUESTS} writes of 2,048 KiB at random, with the pauses of section 7.6, "
        "on a pristine disk under L-FTL, and on a worn one under L-FTL and AGC+DGC "
        f"({100 * WORN:g} % of the pages overwritten at random beforehand).",
        rows=_rows(found),
        plots=_picture("User view and real view", series),
        claims=[
            Claim(
                "Under AGC+DGC the worn disk answers like a pristine one (mean within "
                f"{LIKE} %, or sooner)",
                both <= new * (1 + LIKE / 100),
                f"{both:.0f} and {new:.0f} ms",
            ),
            Claim(
                "under L-FTL it does not",
                old > new * (1 + LIKE / 100),
                f"{old:.0f} and {new:.0f} ms",
            ),
        ],
        data={"mean_ms": {scheme: mean_ms(one) for scheme, one in found.items()}},
    )


def _removed(found: dict[str, Summary]) -> dict[str, float]:
    """Of what collections cost under L-FTL. By scheme, per cent."""
    means = {scheme: mean_ms(one) for scheme, one in found.items()}
    overhead = {scheme: means[scheme] - means[NEW] for scheme in found if scheme != NEW}
    return {scheme: 100 * (1 - one / overhead[L]) for scheme, one in overhead.items()}


def _section(setup: Setup, load: Sequence[Request], beside: Sequence[Request]) -> Figure:
    found, series = _runs(setup, "write-intensive section", load, (NEW, L, H, BOTH))
    near, _ = _runs(setup, "side by side", beside, (NEW, L, H))
    means = {scheme: mean_ms(one) for scheme, one in found.items()}
    removed = _removed(found)
    side = _removed(near)[H]
    return Figure(
        id="7.11",
        title="Figure 7.11: a write-intensive section",
        section="7.6.2",
        measured=f"{SECTION_REQUESTS:,} requests with 80 % writes, of the sizes of disk 5, 90 % of "
        "them at once. What collections cost is the mean response time of writes beyond that on a "
        "pristine disk. Side by side: the same with writes to as many logical blocks "
        f"({SIDE:,}) that lie beside each other.",
        rows=[
            Row(
                "H-FTL: removed of what collections cost under L-FTL",
                removed[H],
                "%",
                PUBLISHED("7.11", "overhead that H removes"),
            ),
            Row(
                "H-FTL, side by side: removed",
                side,
                "%",
                PUBLISHED("7.11", "overhead that H removes"),
            ),
            Row("AGC+DGC: removed", removed[BOTH], "%"),
            *_rows(found),
        ],
        plots=_picture(
            "User view and real view",
            {name: one for name, one in series.items() if name != SCHEMES[NEW].title},
        ),
        claims=[
            Claim(
                "H-FTL removes about 40 % of what collections cost (within 10 points)",
                abs(removed[H] - 40) <= 10,
                f"{removed[H]:.1f} %",
                because="with writes as spread as recorded, two blocks that share their update "
                "blocks are merged nearly as often as one, and have twice as many pages; it does "
                'where they lie side by side (section 7.6.3: "by maximizing the block-level '
                'locality")',
            ),
            Claim(
                "It does where as many logical blocks lie side by side",
                abs(side - 40) <= 10,
                f"{side:.1f} %",
            ),
            Claim("H-FTL removes some of it", removed[H] > 0, f"{removed[H]:.1f} %"),
            Claim(
                "AGC+DGC hides all on-demand collections",
                late(found[BOTH]) == 0,
                f"{late(found[BOTH])} late",
            ),
        ],
        data={"mean_ms": means, "removed_percent": removed},
    )
