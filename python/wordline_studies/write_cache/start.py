"""Points that the text leaves open: full or empty caches at the start, and whether destages of a
shrinking cache count as response time."""

from collections.abc import Mapping

from wordline._render.charts import bars
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.write_cache.claims import labelled
from wordline_studies.write_cache.loads import MAIN, Fit, Folder
from wordline_studies.write_cache.runs import (
    Fitted,
    Statics,
    best,
    cold,
    cold_dynamic,
    device,
    optima,
    over,
    part,
    victims,
)
from wordline_studies.write_cache.schemes import CLEAR, START, TRACKERS, Dynamic

COLOURS = {
    "clear": "#d9701a",
    "clear, charged": "#edb58c",
    "keep": "#3b86c6",
    "keep, charged": "#a4c6e4",
    "half": "#12a07b",
    "half, charged": "#90d2bf",
}


def figure(setup: Setup, traces: Folder, found: Fitted) -> Figure:
    """Returns the figure of both alternatives with every tracker."""
    fits = [MAIN["Financial1"]] if setup.quick else found.main
    on = device(setup, traces)
    paths = {str(fit): (on, traces.load(fit, part(setup))) for fit in fits}
    empty = cold(setup, paths)
    moving = {fit: Dynamic(fit.row.window, CLEAR) for fit in fits}
    cells = cold_dynamic(
        setup,
        paths,
        {str(fit): victims(found.static[fit]) for fit in fits},
        {str(fit): [one] for fit, one in moving.items()},
    )
    by_load = {
        str(fit): {
            name: value
            for tracker in TRACKERS
            for name, value in (
                (tracker, found.over(fit, Dynamic(fit.row.window, tracker))),
                (
                    f"{tracker}, charged",
                    found.over(fit, Dynamic(fit.row.window, tracker), charged=True),
                ),
            )
        }
        for fit in found.fits
    }
    return Figure(
        id="4.3",
        title="State at the start, and charged destages",
        section="4.3, 4.4",
        measured=(
            "The rows compare static caches and the dynamic cache with a cleared tracker that are "
            "empty at the start with those that are full. Charged: the destages of a shrinking "
            "cache count as response time."
        ),
        rows=[
            row
            for fit in fits
            for row in (
                Row(
                    f"{fit}: best static over-provisioning, empty at the start",
                    float(best(empty[str(fit)])),
                    "%",
                ),
                Row(
                    f"{fit}: best static over-provisioning, full at the start",
                    float(found.best(fit)),
                    "%",
                ),
                Row(
                    f"{fit}: excess of the response time of the dynamic cache over that of the "
                    "best static one, both empty at the start",
                    over(cells[str(fit)][moving[fit]], empty[str(fit)]),
                    "%",
                ),
                Row(
                    f"{fit}: excess of the response time of the dynamic cache, empty at the "
                    "start, over that of the best static one, full at the start",
                    100
                    * (
                        cells[str(fit)][moving[fit]].mean_us
                        / found.static[fit][found.best(fit)].mean_us
                        - 1
                    ),
                    "%",
                ),
            )
        ],
        plots=[
            Plot(
                "Excess of the response time of dynamic caches over that of the best static one",
                "By load and tracker; all caches are full at the start.",
                bars(by_load, COLOURS, "%", height=420),
            ),
        ],
        claims=_claims(found, fits, empty),
        explanation=[
            "An empty cache evicts nothing until it is full, and saves 5 ms once for each of "
            "its pages. A dynamic cache that is empty at the start must not be compared with "
            "static ones that are full.",
            optima(found),
        ],
        data=by_load,
    )


def _claims(found: Fitted, fits: list[Fit], empty: Mapping[str, Statics]) -> list[Claim]:
    pairs = {str(fit): (best(empty[str(fit)]), found.best(fit)) for fit in fits}
    saved = {str(fit): _saved(found, fit, empty[str(fit)]) for fit in fits}
    return [
        Claim(
            "The best static cache that is empty at the start is as large as the best one that is "
            "full at the start, or larger",
            all(start <= full for start, full in pairs.values()),
            "; ".join(
                f"{load}: {start} % empty and {full} % full"
                for load, (start, full) in pairs.items()
            ),
        ),
        Claim(
            "Each page that an empty cache admits before it is full saves one destage (destages "
            "saved compared with a full cache, per page held, at 35 % over-provisioning; within 1 "
            "%)",
            max(abs(value - 1) for value in saved.values()) <= 0.01,
            labelled(saved, 3),
        ),
    ]


def _saved(found: Fitted, fit: Fit, empty: Statics) -> float:
    """Returns the destages that an empty cache at 35 % over-provisioning saves, per page held."""
    full, start = found.static[fit][START], empty[START]
    return (full.demanded - start.demanded) / start.held
