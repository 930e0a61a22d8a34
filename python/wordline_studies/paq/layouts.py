"""The gains of figures 6.8 and 6.9 for several orders in which pages are placed."""

from collections.abc import Mapping
from pathlib import Path

from wordline._render import charts
from wordline._render.plotly import Figure as Drawn
from wordline_studies.cases import by_load
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.measures import iops, over_loads
from wordline_studies.paq.charts import COLOURS, PUBLISHED
from wordline_studies.paq.loads import TABLE
from wordline_studies.paq.runs import closed
from wordline_studies.paq.schedulers import (
    BOTH,
    PAQ,
    TITLES,
    VARIANTS,
    Runs,
    Values,
    gains,
    mean_gain,
    short,
)

# The order of the reading, and the resources that come first in each of the others.
READING = "CWDP"
OTHERS = {"CPWD": "channels, then planes", "PCWD": "planes, as in figure 6.7"}


NAMES = {READING: f"{READING} (the reading)"} | {
    order: f"{order} ({first})" for order, first in OTHERS.items()
}
Means = dict[str, Values]


def figure(setup: Setup, paths: Mapping[str, Path], base: Mapping[str, Runs]) -> Figure:
    """Returns the figure for the gains of IOPS, by order."""
    values = {order: over_loads(one, iops) for order, one in _runs(setup, paths, base).items()}
    means = {
        order: {scheduler: mean_gain(one, scheduler) for scheduler in PAQ}
        for order, one in values.items()
    }
    most = {order: max(gains(one, BOTH).values()) for order, one in values.items()}
    mean, largest = (
        PUBLISHED("6.9", what).value
        for what in ("IOPS gain of PAQ2 over VAQ, mean", "IOPS gain of PAQ2 over VAQ, maximum")
    )
    return Figure(
        id="layouts",
        title="Orders of placement",
        section="6.3, 6.4.4",
        measured=(
            "IOPS relative to VAQ in the runs of figure 6.9, for three orders in which pages are "
            "placed. C, W, D and P are channels, packages, dies and planes."
        ),
        rows=_rows(means, most),
        plots=[
            Plot(
                "Gain by order",
                f"Mean gain of IOPS over the loads. Published for PAQ2: {mean} %.",
                _bars(means),
            )
        ],
        explanation=[
            "The document stripes writes over the channels (6.3) and does not say which resource "
            "follows. The example of figure 6.7 has consecutive pages on the planes of a die. The "
            f"reading uses {READING}. Published for PAQ2 are a mean of {mean} % and a maximum of "
            f"{largest} %.",
        ],
        data={"gain_percent": means, "most_percent": most},
    )


def _runs(
    setup: Setup, paths: Mapping[str, Path], base: Mapping[str, Runs]
) -> dict[str, dict[str, Runs]]:
    """Returns the runs of the document's schedulers, by order and load."""
    found = by_load(
        setup,
        {
            (load, f"{order}: {scheduler}"): closed(
                load, paths[load], scheduler, more={"ftl.allocate.dynamic.order": order}
            )
            for load in TABLE
            for order in OTHERS
            for scheduler in VARIANTS
        },
    )[0]
    return {READING: {load: base[load] for load in TABLE}} | {
        order: {
            load: {scheduler: one[f"{order}: {scheduler}"] for scheduler in VARIANTS}
            for load, one in found.items()
        }
        for order in OTHERS
    }


def _rows(means: Means, most: Mapping[str, float]) -> list[Row]:
    rows: list[Row] = []
    for order, name in NAMES.items():
        rows += [
            Row(
                f"{name}: IOPS gain of {short(scheduler)} over VAQ, mean",
                means[order][scheduler],
                "%",
            )
            for scheduler in PAQ
        ]
        rows.append(Row(f"{name}: IOPS gain of PAQ2 over VAQ, maximum", most[order], "%"))
    return rows


def _bars(means: Means) -> Drawn:
    titled = {
        NAMES[order]: {TITLES[scheduler]: value for scheduler, value in one.items()}
        for order, one in means.items()
    }
    colours = {TITLES[scheduler]: COLOURS[scheduler] for scheduler in PAQ}
    return charts.bars(titled, colours, "%", height=400)
