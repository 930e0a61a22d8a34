"""Figures 3, 4 and 6 to 14."""

from collections.abc import Callable, Mapping
from pathlib import Path

from wordline._render.charts import lines
from wordline._sweep.work import Run
from wordline_studies.cases import summary_of, tabled
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.op_fcl import claims, courses, model, wear
from wordline_studies.op_fcl.courses import Course
from wordline_studies.op_fcl.loads import FITTED, PAGES_PER_GB, TABLE, named, written
from wordline_studies.op_fcl.runs import (
    ALONE,
    COLOURS,
    FIXED,
    FP,
    INITIAL_PERCENT,
    OP,
    PUBLISHED,
    RW,
    Cell,
    Curve,
    Store,
    best,
    case,
    curves,
    least_ms,
    part,
    percents,
    scaled,
    title,
)

STEPS = 100
QUANTITIES = {
    "ms": "response time",
    "s of GC": "GC time",
    "% hits": "hit ratio",
    "erases per block": "erases",
}
"""Quantities of the plots by unit."""
READING = (
    "Response times are those of a closed loop at queue depth 1. A request waits for the work "
    "that it causes and for work left over from the previous request. Pages that a write "
    "evicts are destaged before it; a fill is charged to its read. A list that shrinks gives "
    "up one page per request, and more while the disk is idle. No request waits for these "
    "pages, so the figures also show work: the busy time of flash and disks per request, "
    "whether the request waits for it or not.",
    "Chosen after seeing results: groups of 32 pages (the document says several; the figure Other "
    "readings shows destages one by one), the exponents, and requests one at a time. Each of them "
    "moves an optimum by a step of 10 %.",
    "The disk is the average one of table 2. Blocks hold 63 pages of data. The last page holds "
    "the map and is programmed after the others. Shares and the cost model's N_P are of all 64 "
    "pages.",
)


def model_figures(setup: Setup) -> list[Figure]:
    """Reproduces figures 3 and 4, from the cost model alone."""
    del setup
    least_3 = model.optimum(model.FIGURE_3, STEPS, only_reads=True)
    least_4 = model.optimum(model.FIGURE_4, STEPS)
    measured = (
        "Equations 3 to 6 with the constants of table 2, in steps of 0.01. Hit ratios are exact "
        "sums of truncated Zipf laws; a value is one per cent of the flash."
    )
    reads = {
        utilisation: cost
        for cost, utilisation, _ in model.costs(model.FIGURE_3, STEPS, only_reads=True)
    }
    by_ratio = {
        f"r = {ratio / 4:g}": {
            step / 20: model.FIGURE_4.cost_us(step / 20, ratio / 4, model.page_write_us(step / 20))
            for step in range(1, 20)
        }
        for ratio in range(5)
    }
    colours = dict(
        zip(by_ratio, ("#3b86c6", "#12a07b", "#d9701a", "#c0457e", "#8b929c"), strict=True)
    )
    return [
        Figure(
            id="3",
            title="Cost of reads over the utilisation",
            section="figure 3",
            measured=measured,
            rows=[
                Row(
                    "utilisation u with the lowest cost",
                    100 * least_3[1],
                    "%",
                    PUBLISHED("3", "utilisation u with the lowest cost"),
                ),
                Row(
                    "excess of the cost at u = 92 % over the lowest cost",
                    model.excess_percent(model.FIGURE_3, 0.92, 1.0, least_3[0]),
                    "%",
                ),
            ],
            plots=[
                Plot(
                    "Cost of a read",
                    "By the utilisation u.",
                    lines({"C_HR": reads}, {"C_HR": "#3b86c6"}, "u", "µs"),
                )
            ],
            claims=claims.figure_3(),
            explanation=[
                "The simulated curve is exact, and that of the document is sampled. The minima of "
                "curves from 1,000 draws spread from u = 0.87 to 0.97."
            ],
        ),
        Figure(
            id="4",
            title="Cost of reads and writes",
            section="figure 4, 4.2",
            measured=measured,
            rows=[
                Row(
                    "utilisation u with the lowest cost",
                    100 * least_4[1],
                    "%",
                    PUBLISHED("4", "utilisation u with the lowest cost"),
                ),
                Row(
                    "read-cache share r with the lowest cost",
                    100 * least_4[2],
                    "%",
                    PUBLISHED("4", "read-cache share r with the lowest cost"),
                ),
                *(
                    Row(
                        f"size of the {what} with the lowest cost, flash of 4 GB",
                        size,
                        "GB",
                        PUBLISHED("4", f"size of the {what} with the lowest cost"),
                    )
                    for what, size in zip(
                        ("read cache", "write cache", "over-provisioning"),
                        model.sizes_gb(4.0, least_4[1], least_4[2]),
                        strict=True,
                    )
                ),
                *(
                    Row(
                        f"number of evaluations of the cost model in a period, {segments} segments",
                        float(sum(1 for _ in model.costs(model.FIGURE_4, segments))),
                        "",
                        PUBLISHED(
                            "4",
                            "number of evaluations of the cost model in a period, "
                            f"{segments} segments",
                        ),
                    )
                    for segments in (16, 64)
                ),
                Row(
                    "excess of the cost at u = 64 % and r = 25 % over the lowest cost",
                    model.excess_percent(model.FIGURE_4, 0.64, 0.25, least_4[0]),
                    "%",
                ),
            ],
            plots=[
                Plot(
                    "Cost of a page",
                    "By the utilisation u and the read cache's share r of the cache.",
                    lines(by_ratio, colours, "u", "µs"),
                )
            ],
            explanation=[
                (
                    "The published digits come from sampled curves. The cost is flat around the "
                    "optimum."
                )
            ],
        ),
    ]


def figures(setup: Setup) -> list[Figure]:
    """Reproduces figures 6 to 14."""
    loads = named(TABLE)
    paths = written(setup, loads, part(setup))
    # First, because the summaries of these runs, which record more, serve the curves as well.
    found = _courses_of(setup, paths)
    charged = curves(setup, paths, loads, percents(setup))
    alone = curves(setup, paths, named(["search"]), percents(setup), ALONE)["search"]
    measured = (
        "Loads fitted to table 1. Flash, loads and periods are scaled down from the document's "
        f"({scaled(part(setup))}), with 16 segments (Exchange, MSN: 64)."
    )
    return [
        _times(measured, charged),
        _uncharged(measured, alone),
        _trade_off(measured, charged),
        _erases(measured, charged),
        _courses(measured, found),
    ]


def _times(measured: str, charged: Mapping[str, Curve]) -> Figure:
    return Figure(
        id="6-10",
        title="Response time over the cached share",
        section="figures 6, 10",
        measured=measured,
        rows=[
            *_best_rows(charged, numbers=True),
            *(
                Row(
                    f"{title(name)}, {scheme}: shortest response time",
                    least_ms(curve[scheme]),
                    "ms",
                )
                for name, curve in charged.items()
                for scheme in (*FIXED, OP)
            ),
            *_above_rows(charged),
            *(row for name, curve in charged.items() for row in work_rows(title(name), curve)),
        ],
        plots=[
            _plot(name, "ms", curve, lambda cell: cell.mean_ms) for name, curve in charged.items()
        ],
        claims=claims.times(charged),
        explanation=[
            FITTED,
            *READING,
            "On Exchange, the best share of RW-FCL is smaller than published, because pages of a "
            "request are destaged together (see Reasons). On Search Engine it is smaller if fills "
            "are charged to reads, as in the cost model (equation 5), and as published if they are "
            "not (next figure).",
        ],
        data={
            "mean_ms": _data(charged, lambda cell: cell.mean_ms),
            "work_ms": _data(charged, lambda cell: cell.work_ms),
        },
    )


def _best_rows(curves: Mapping[str, Curve], *, numbers: bool) -> list[Row]:
    return [
        Row(
            f"{title(name)}, {scheme}: best cached share",
            float(best(curve[scheme])),
            "%",
            PUBLISHED("6", f"{title(name)}, {scheme}: best cached share") if numbers else None,
        )
        for name, curve in curves.items()
        for scheme in FIXED
    ]


def _above_rows(curves: Mapping[str, Curve]) -> list[Row]:
    return [
        Row(
            f"{title(name)}: excess of the response time of OP-FCL over that of RW-FCL at its "
            "best share",
            claims.above_percent(curve),
            "%",
        )
        for name, curve in curves.items()
    ]


def _uncharged(measured: str, alone: Curve) -> Figure:
    """Returns the figure for Search Engine with fills after the reply, the alternative reading."""
    shown = {"search": alone}
    return Figure(
        id="6c",
        title="Search Engine with fills after the reply",
        section="figure 6(c)",
        measured=f"{measured} Requests are far apart, and no request waits for fills or GC.",
        rows=[*_best_rows(shown, numbers=False), *_above_rows(shown)],
        plots=[_plot("search", "ms", alone, lambda cell: cell.mean_ms)],
        claims=[
            Claim(
                "Reading: with fills after the reply, the response time of Search Engine falls "
                "continuously up to a cached share of 95 %, with both schemes",
                claims.falls_to_the_end(alone),
                "; ".join(
                    f"{scheme} "
                    + ", ".join(f"{at}: {cell.mean_ms:.3f}" for at, cell in alone[scheme].items())
                    for scheme in FIXED
                ),
            )
        ],
        explanation=[
            "OP-FCL's model charges fills in this reading too, and therefore caches less than "
            "would be best. The document does not say what a read waits for; its cost model "
            "charges the page write of a fill to the read that misses (equation 5)."
        ],
        data={"mean_ms": _data(shown, lambda cell: cell.mean_ms)},
    )


def work_rows(name: str, curve: Curve) -> list[Row]:
    """Returns rows on the work per request: the share with the least work, and by how much the
    least work of a scheme exceeds that of another."""
    least = {scheme: min(cell.work_ms for cell in curve[scheme].values()) for scheme in curve}
    at = {
        scheme: min(cells, key=lambda percent: cells[percent].work_ms)
        for scheme, cells in curve.items()
    }
    return [
        *(
            Row(
                f"{name}, {scheme}: cached share with the least work per request",
                float(at[scheme]),
                "%",
            )
            for scheme in FIXED
        ),
        Row(
            f"{name}: excess of the least work per request of RW-FCL over that of FP-FCL",
            100 * (least[RW] / least[FP] - 1),
            "%",
        ),
        Row(
            f"{name}: excess of the work per request of OP-FCL over the least work of RW-FCL",
            100 * (least[OP] / least[RW] - 1),
            "%",
        ),
    ]


def _trade_off(measured: str, charged: Mapping[str, Curve]) -> Figure:
    return Figure(
        id="7-8-11-12",
        title="GC time and hit ratio",
        section="figures 7, 8, 11, 12",
        measured=measured,
        rows=[
            row
            for name, curve in charged.items()
            for scheme in (*FIXED, OP)
            for row in (
                Row(
                    f"{title(name)}, {scheme}: GC time at the largest cached share",
                    list(curve[scheme].values())[-1].gc_s,
                    "s",
                ),
                Row(
                    f"{title(name)}, {scheme}: hit ratio at the largest cached share",
                    list(curve[scheme].values())[-1].hit,
                    "%",
                ),
            )
        ],
        plots=[
            *(
                _plot(name, "s of GC", curve, lambda cell: cell.gc_s)
                for name, curve in charged.items()
            ),
            *(
                _plot(name, "% hits", curve, lambda cell: cell.hit)
                for name, curve in charged.items()
            ),
        ],
        claims=claims.trade_off(charged),
        explanation=[
            "A write to a page of the read list counts as a hit here and as a miss in the "
            "document. The hit ratios differ by a few percentage points at most, and only with "
            "separate lists."
        ],
        data={
            "gc_s": _data(charged, lambda cell: cell.gc_s),
            "hit_percent": _data(charged, lambda cell: cell.hit),
        },
    )


def _erases(measured: str, charged: Mapping[str, Curve]) -> Figure:
    return Figure(
        id="14",
        title="Erases",
        section="figure 14, 6.3",
        measured=measured,
        rows=[
            Row(
                f"erases of FP-FCL at a cached share of {percent} % over those of OP-FCL, maximum "
                "of the loads",
                max(wear.longer(curve, percent) for curve in charged.values()),
                "times",
                PUBLISHED("14", "largest gain in lifetime"),
            )
            for percent in wear.SHARES
        ]
        + [
            Row(
                f"{title(name)}: erases of FP-FCL at a cached share of {percent} % over those of "
                "OP-FCL",
                wear.longer(curve, percent),
                "times",
            )
            for name, curve in charged.items()
            for percent in wear.SHARES
        ],
        plots=[
            _plot(name, "erases per block", curve, lambda cell: cell.erases)
            for name, curve in charged.items()
        ],
        claims=wear.erases(charged),
        explanation=[
            "The document does not name the conventional scheme to which its number refers, so "
            "three cached shares are shown. The larger the share, the more erases OP-FCL saves."
        ],
        data={"erases": _data(charged, lambda cell: cell.erases)},
    )


def _courses_of(setup: Setup, paths: Mapping[str, Path]) -> dict[str, Course]:
    """Runs every load under OP-FCL and returns the sizes of its lists over the run."""
    cases = {
        name: case(name, path, Store.of(TABLE[name], part(setup)), OP, INITIAL_PERCENT)
        for name, path in paths.items()
    }
    runs = tabled(setup, cases, "series")
    return {name: _course(run, TABLE[name].part(part(setup))) for name, run in runs.items()}


def _course(run: Run, scale: int) -> Course:
    table, cache = run.table("series"), summary_of(run)["cache"]
    assert cache is not None
    served = (table["reads"] + table["writes"]).cum_sum().to_list()
    gb = scale / PAGES_PER_GB
    # Intervals after the last request have no sizes.
    sampled = [
        (done, reads * gb, writes * gb)
        for done, reads, writes in zip(
            served,
            table["cache_read_list"].to_list(),
            table["cache_write_list"].to_list(),
            strict=True,
        )
        if reads is not None and writes is not None
    ]
    done, reads, writes = (list(values) for values in zip(*sampled, strict=True))
    return Course(done, reads, writes, cache["flash_pages"] * gb)


def _courses(measured: str, found: Mapping[str, Course]) -> Figure:
    return Figure(
        id="9-13",
        title="Sizes set by OP-FCL",
        section="figures 9, 13",
        measured=f"{measured} Sizes are those of the pages held, not limits.",
        rows=[
            row
            for name, course in found.items()
            for row in (
                Row(
                    f"{title(name)}: cached size after the first third of the run",
                    sum(course.settled()),
                    "GB",
                    PUBLISHED("9", f"{title(name)}: cached size")
                    if name in ("financial", "home")
                    else None,
                ),
                Row(
                    f"{title(name)}: size of the read list after the first third of the run",
                    course.settled()[0],
                    "GB",
                ),
            )
        ],
        plots=[_course_plot(name, course) for name, course in found.items()],
        claims=courses.claims(found),
    )


def _course_plot(name: str, course: Course) -> Plot:
    whole = [read + write for read, write in zip(course.reads_gb, course.writes_gb, strict=True)]
    shown = {
        "both lists": dict(zip(map(float, course.requests), whole, strict=True)),
        "read list": dict(zip(map(float, course.requests), course.reads_gb, strict=True)),
    }
    colours = {"both lists": "#3b86c6", "read list": "#d9701a"}
    caption = f"Of {course.flash_gb:.0f} GB of flash, over the requests completed."
    return Plot(title(name), caption, lines(shown, colours, "requests", "GB"))


def _plot(name: str, unit: str, curve: Curve, value: Callable[[Cell], float]) -> Plot:
    drawn = {
        scheme: {float(percent): value(cell) for percent, cell in curve[scheme].items()}
        for scheme in (FP, RW)
    }
    same = value(next(iter(curve[OP].values())))
    drawn[OP] = {float(percent): same for percent in curve[FP]}
    told = lines(drawn, COLOURS, "cached share, % of the flash", unit, dashed=OP)
    return Plot(
        f"{title(name)}: {QUANTITIES[unit]}", "By the cached share; OP-FCL has one value.", told
    )


def _data(found: Mapping[str, Curve], value: Callable[[Cell], float]) -> dict[str, object]:
    return {
        name: {
            scheme: {str(percent): value(cell) for percent, cell in cells.items()}
            for scheme, cells in curve.items()
        }
        for name, curve in found.items()
    }
