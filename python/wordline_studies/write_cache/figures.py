"""Figures 11 and 13 to 16, from the same runs, and the statements of section 4.4 on their
curves."""

from collections.abc import Callable, Mapping

from wordline._render.charts import lines
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.write_cache import (
    beyond,
    claims,
    detector,
    locality,
    sampled,
    start,
    training,
    windows,
)
from wordline_studies.write_cache.loads import (
    EXPONENTS,
    FITTED,
    MAIN,
    TABLE,
    WARM,
    Fit,
    Folder,
    folder,
)
from wordline_studies.write_cache.runs import PUBLISHED, Cell, Fitted, curves, fitted, optima, part
from wordline_studies.write_cache.schemes import CLEAR, COLOURS, OPS, RATIOS, TRACKERS, Dynamic

OTHERS = (
    "Over-provisioning is the share of all physical pages that is not cached. The valid shares of "
    "victims are measured in the eight static runs. This is the training of section 4.4, done "
    "offline: in line, it would write the flash twice for each of the eight sizes, which is 64 "
    "GB, and Financial1 writes only 28.8 GB. Curves are exact here; the figure Sampled curves "
    "shows sampled ones. A dynamic cache chooses among the eight sizes. The tracker `clear` "
    "forgets the writes of earlier windows, `keep` keeps them, and with `half` the first half of "
    "each window only warms up the tracker.",
    "Response times are those of page writes. When a cache shrinks, its excess pages are destaged "
    "while the disk is otherwise idle, at most one per write, and are counted separately. "
    "`Charged` adds their time as if the writes waited for them. The text does not say whether "
    "writes wait for them.",
)


FRONTIERS = (
    "There is one active block: relocated pages share blocks with host writes, as the text "
    "mentions no second one. An independent model of Homes at a = 0.9 gives victims with 78 and "
    "47 % valid pages at 15 and 35 % over-provisioning, which are those with two active blocks "
    "here. Homes is therefore run with two active blocks as well."
)
AFTERWARDS = (
    "Chosen after seeing results: full caches at the start (formula 4.4 assumes them); the "
    "tracker `half`, which repairs the error of a cleared window; and the exponents of Homes and "
    "Exchange, which table 6 leaves open. Claims on statements of the text cover every load and "
    "exponent that is run."
)


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures that share the runs of the fitted loads."""
    with folder() as traces:
        found = fitted(setup, traces)
        measured = (
            "Loads fitted to table 6. The 4 GB and 16 GB flash and their loads are scaled down by "
            f"{part(setup)} and {4 * part(setup)}. The flash has one plane with blocks of 64 "
            "pages and one active block; GC is greedy and starts below 5 % of free pages "
            f"({int(0.05 * found.pages) // 64} blocks)."
        )
        return [
            _curve(setup, traces, found),
            _responses(found, measured),
            _hits(found, measured),
            _erases(found, measured),
            _windows(found, measured, windows.alternating(setup, traces)),
            locality.figure(setup, traces, found),
            start.figure(setup, traces, found),
            training.figure(setup, traces, found),
            sampled.figure(setup, traces, found),
            detector.figure(setup, traces, found),
            beyond.figure(setup, traces, found),
        ]


def _curve(setup: Setup, traces: Folder, found: Fitted) -> Figure:
    fits = [MAIN["Financial1"]]
    by_load = {fit: curves(traces.load(fit, part(setup)), found.pages, "exact")[0] for fit in fits}
    return Figure(
        id="11",
        title="Miss-ratio curve of Financial1",
        section="4.2.1",
        measured="The miss ratio is computed from the exact stack distances of the writes of the "
        "fitted load.",
        rows=[
            Row(f"{fit}: miss ratio with a cache of {(100 - op) / 25:g} GB", 100 * curve[op], "%")
            for fit, curve in by_load.items()
            for op in OPS
        ],
        plots=[
            Plot(
                "Miss ratio",
                "By the cache size in GB. The published curve has no numbers.",
                lines(
                    {
                        _a(fit): {(100 - op) / 25: 100 * curve[op] for op in reversed(OPS)}
                        for fit, curve in by_load.items()
                    },
                    COLOURS,
                    "gigabytes",
                    "%",
                ),
            ),
        ],
        claims=[claims.diminishing({fit: found.static[fit] for fit in fits})],
        explanation=[FITTED, optima(found)],
    )


def _a(fit: Fit) -> str:
    return str(fit) if fit.exponent is None else f"a = {fit.exponent:g}"


def _main(fit: Fit, tracker: str = CLEAR) -> Dynamic:
    return Dynamic(fit.row.window, tracker)


def _responses(found: Fitted, measured: str) -> Figure:
    return Figure(
        id="13",
        title="Response times of static and dynamic caches",
        section="4.5.1, 4.5.2",
        measured=measured,
        rows=[
            *(
                Row(
                    f"{fit}: best static over-provisioning",
                    float(found.best(fit)),
                    "%",
                    PUBLISHED("13", f"{fit.name}: best static over-provisioning"),
                )
                for fit in found.fits
            ),
            *(
                Row(
                    f"{fit}: best static over-provisioning (compared with section 4.5.2)",
                    float(found.best(fit)),
                    "%",
                    PUBLISHED("13", "Exchange: best static over-provisioning, section 4.5.2"),
                )
                for fit in found.fits
                if fit.name == "Exchange"
            ),
            *(
                Row(
                    f"{fit}: mean response time per page write with the static cache at 65 % "
                    "over-provisioning",
                    found.static[fit][65].mean_us,
                    "µs",
                    PUBLISHED("13", "Exchange: response time at 65 % over-provisioning")
                    if fit.name == "Exchange"
                    else None,
                )
                for fit in found.fits
            ),
            *(
                Row(
                    f"{fit}: mean response time per request with the best static cache, if its "
                    "pages are written one after the other",
                    found.static[fit][found.best(fit)].mean_us * fit.mean_pages,
                    "µs",
                )
                for fit in found.fits
            ),
            *(
                row
                for fit in found.fits
                for tracker in TRACKERS
                for row in _dynamic(found, fit, _main(fit, tracker))
            ),
        ],
        plots=[
            *_plots(found, "Mean response time per page write", "µs", lambda cell: cell.mean_us),
            *_optima(found),
        ],
        claims=[*claims.responses(found), *claims.dynamic(found)],
        explanation=[FITTED, WARM, *OTHERS, FRONTIERS, AFTERWARDS, optima(found)],
        data=_data(found, lambda cell: cell.mean_us),
    )


def _dynamic(found: Fitted, fit: Fit, scheme: Dynamic) -> list[Row]:
    cell = found.dynamic[fit][scheme]
    return [
        Row(
            f"{fit}, tracker {scheme.tracker}: excess of the response time over that of the best "
            "static cache",
            found.over(fit, scheme),
            "%",
        ),
        Row(
            f"{fit}, tracker {scheme.tracker}: time of destages by shrinking, per page write",
            cell.resize_us / cell.pages,
            "µs",
        ),
        Row(
            f"{fit}, tracker {scheme.tracker}: final over-provisioning of the dynamic cache",
            float(found.ended(fit, scheme)),
            "%",
        ),
    ]


def _hits(found: Fitted, measured: str) -> Figure:
    return Figure(
        id="14",
        title="Hit ratios of static caches",
        section="4.5.1",
        measured=measured,
        rows=[
            Row(
                f"{fit}: hit ratio at 15 % over-provisioning",
                found.static[fit][15].hit,
                "%",
                PUBLISHED("14", f"{fit.name}: highest possible hit ratio"),
            )
            for fit in found.fits
        ],
        plots=_plots(found, "Hit ratio", "%", lambda cell: cell.hit),
        claims=claims.hits(found),
        explanation=[optima(found)],
        data=_data(found, lambda cell: cell.hit),
    )


def _erases(found: Fitted, measured: str) -> Figure:
    return Figure(
        id="15",
        title="Erases of static and dynamic caches",
        section="4.5.2",
        measured=measured,
        rows=[
            *(
                Row(
                    f"{fit}: increase of the flash lifetime from 35 to 65 % over-provisioning",
                    claims.lifetime(found, fit),
                    "%",
                    PUBLISHED(
                        "15",
                        "Exchange: increase of the flash lifetime from 35 to 65 % "
                        "over-provisioning",
                    ),
                )
                for fit in found.fits
                if fit.name == "Exchange"
            ),
            *(
                Row(
                    f"{fit}, tracker {tracker}: excess of the erases of the dynamic cache over "
                    "those of the static one at 35 %",
                    claims.erased(found, fit, _main(fit, tracker)),
                    "%",
                )
                for fit in found.fits
                for tracker in TRACKERS
            ),
        ],
        plots=_plots(found, "Number of erases", "erases", lambda cell: float(cell.erases)),
        claims=claims.erases(found),
        explanation=[
            "A lifetime that is 20 % longer at 65 % over-provisioning than at 35 % needs victims "
            "with at most 17 % valid pages at 35 %.",
            optima(found),
        ],
        data=_data(found, lambda cell: float(cell.erases)),
    )


def _windows(found: Fitted, measured: str, alternating: Mapping[float, float]) -> Figure:
    swept = {
        fit: {
            tracker: by_window
            for tracker in TRACKERS
            if len(by_window := windows.windows(found, fit, tracker)) > 1
        }
        for fit in found.fits
    }
    swept = {fit: by_tracker for fit, by_tracker in swept.items() if by_tracker}
    return Figure(
        id="16",
        title="Window of the dynamic cache",
        section="4.5.3",
        measured=measured,
        rows=[
            row
            for fit, by_tracker in swept.items()
            for tracker, by_window in by_tracker.items()
            for window in (RATIOS[0], RATIOS[2], RATIOS[-1])
            for row in (
                Row(
                    f"{fit}, tracker {tracker}, window of {_gb(fit, window)} GB: excess of the "
                    "response time over that of the best static cache",
                    by_window[window],
                    "%",
                ),
                Row(
                    f"{fit}, tracker {tracker}, window of {_gb(fit, window)} GB: final "
                    "over-provisioning of the dynamic cache",
                    float(found.ended(fit, Dynamic(window, tracker))),
                    "%",
                ),
            )
        ],
        plots=[
            Plot(
                f"{fit}",
                "Excess of the response time of the dynamic cache over that of the best static "
                "one, by the window in GB and the tracker.",
                lines(
                    {
                        tracker: {
                            window * fit.row.flash_gb: value for window, value in by_window.items()
                        }
                        for tracker, by_window in by_tracker.items()
                    },
                    COLOURS,
                    "gigabytes",
                    "%",
                    height=240,
                ),
            )
            for fit, by_tracker in swept.items()
        ],
        claims=[*windows.sensitivity(found), windows.inner(alternating)],
        explanation=[
            "Section 4.4 says that the miss-ratio curve of the previous window is cleared. Then "
            "either the tracker forgets earlier writes (clear), or it keeps them and the curve "
            "counts the distances of the new window only (keep). The former makes short windows "
            "pessimistic, as sections 4.4 and 4.5.3 say, so the claims on statements of the text "
            "use it; the latter is an equal reading of the words.",
            "Financial1 is slower with windows above 8 GB because the cache stays at 35 % "
            "over-provisioning for longer.",
            optima(found),
        ],
        data={
            f"{fit}, {tracker}": {_gb(fit, window): value for window, value in by_window.items()}
            for fit, by_tracker in swept.items()
            for tracker, by_window in by_tracker.items()
        },
    )


def _gb(fit: Fit, window: float) -> str:
    return f"{window * fit.row.flash_gb:g}"


def _optima(found: Fitted) -> list[Plot]:
    if len(EXPONENTS) > len(found.of("Homes", *EXPONENTS)):
        return []
    return [
        Plot(
            "Best static over-provisioning",
            "In per cent, by Zipf's exponent a, which is not known for these loads.",
            lines(
                {
                    name: {
                        f"{fit.exponent:g}": float(found.best(fit))
                        for fit in found.of(name, *EXPONENTS)
                    }
                    for name in ("Homes", "Exchange")
                },
                COLOURS,
                "a",
                "%",
                category=True,
                height=300,
            ),
        ),
    ]


def _plots(found: Fitted, what: str, unit: str, value: Callable[[Cell], float]) -> list[Plot]:
    return [
        Plot(
            name,
            f"{what} of static caches by over-provisioning in per cent. Loads with different "
            "exponents a of Zipf's law are drawn separately.",
            lines(
                {
                    _a(fit): {str(op): value(found.static[fit][op]) for op in OPS}
                    for fit in found.fits
                    if fit.name == name
                },
                COLOURS,
                "over-provisioning, %",
                unit,
                category=True,
                height=300,
            ),
        )
        for name in TABLE
    ]


def _data(found: Fitted, value: Callable[[Cell], float]) -> dict[str, Mapping[str, float]]:
    return {
        str(fit): {
            **{f"{op} %": value(cell) for op, cell in found.static[fit].items()},
            **{str(one): value(cell) for one, cell in found.dynamic[fit].items()},
        }
        for fit in found.fits
    }
