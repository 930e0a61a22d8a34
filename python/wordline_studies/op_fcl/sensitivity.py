"""Figure 15: sequential unit and period."""

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from wordline._render.charts import lines
from wordline.config import Value
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.op_fcl.claims import LARGE, percent
from wordline_studies.op_fcl.courses import STEADY
from wordline_studies.op_fcl.loads import TABLE, named, written
from wordline_studies.op_fcl.runs import (
    INITIAL_PERCENT,
    OP,
    PERIODS_PART,
    PUBLISHED,
    Cell,
    Store,
    at_least,
    case,
    part,
    scaled,
    title,
)
from wordline_studies.outcome import IN_POINTS, PER_CENT

UNITS = (4, 16, 32, 64, 128, 512)
"""Sequential units in KB."""
QUICK_UNITS, QUICK_EXPONENTS = (4, 16, 128), (12, 16, 20)
EXPONENTS = (12, 14, 16, 18, 20)
"""The periods are two to the power of these numbers. Requests at full scale."""
COLOURS = dict(zip(TABLE, ("#3b86c6", "#12a07b", "#d9701a", "#c0457e", "#8b929c"), strict=True))

UNCHANGED = (
    "the document's reason is that the load changes; the fitted load draws from the same law "
    "throughout; with reads in bursts, the claim holds (figure Reasons)"
)
WIDER = ("financial", "search", "exchange", "msn")
"""Loads with requests of more than one page."""


def sensitivity(setup: Setup) -> Figure:
    """Returns the figure for OP-FCL's response time relative to that at 128 KB and 2^16
    requests."""
    units, periods = _relative(setup)
    alike = [
        unit
        for unit in next(iter(units.values()))
        if all(abs(one[unit]) <= IN_POINTS for one in units.values())
    ]
    means = {at: fmean(one[at] for one in periods.values()) for at in next(iter(periods.values()))}
    return Figure(
        id="15",
        title="Sequential unit and period",
        section="figure 15, 6.4",
        measured=(
            "Response time of OP-FCL relative to that at 128 KB and 2^16 requests. Periods are "
            "scaled like the flash. Scales of the periods: "
            f"{scaled(at_least(setup, PERIODS_PART))}; at smaller scales, short periods have so "
            "few requests that the curves are noise."
        ),
        rows=[
            Row(
                f"smallest sequential unit that takes as long as 128 KB (within {IN_POINTS:g} % on "
                "every load)",
                float(min(alike)),
                "KB",
                PUBLISHED("15", "smallest sufficient sequential unit"),
            ),
            Row(
                "period with the shortest response time, mean of the loads",
                float(1 << min(means, key=lambda at: means[at])),
                "requests",
                PUBLISHED("15", "period with the shortest response time"),
            ),
            *(
                Row(
                    f"{title(name)}: response time with a sequential unit of {unit} KB against "
                    "128 KB",
                    value,
                    "% more",
                )
                for name, one in units.items()
                for unit, value in one.items()
            ),
            *(
                Row(
                    f"{title(name)}: response time with a period of 2^{exponent} requests against "
                    "2^16",
                    value,
                    "% more",
                )
                for name, one in periods.items()
                for exponent, value in one.items()
            ),
        ],
        plots=[
            _plot("Sequential unit", "Response time relative to that with 128 KB.", units, "KB"),
            _plot(
                "Period",
                "Response time relative to that with 2^16 requests.",
                periods,
                "exponent of two",
            ),
        ],
        claims=[*sequential(units), *of_periods(periods)],
        explanation=[
            "No request of the loads is longer than 24 KB, and none continues the request before "
            "it, so units above 24 KB cannot differ."
        ],
    )


Relative = Mapping[str, Mapping[int, float]]
"""By how much response times exceed a base, in per cent, by load and point."""


def _relative(setup: Setup) -> tuple[Relative, Relative]:
    """Returns by how much response times exceed those at 128 KB, by unit in KB, and those at 2^16
    requests, by exponent of the period."""
    loads = named(TABLE)
    units_kb = QUICK_UNITS if setup.quick else UNITS
    exponents = QUICK_EXPONENTS if setup.quick else EXPONENTS
    wide = at_least(setup, PERIODS_PART)
    paths, longer = (written(setup, loads, parts) for parts in (part(setup), wide))
    cases: dict[tuple[str, str, int], Case] = {}
    for name, load in loads.items():
        store = Store.of(load, part(setup))
        for unit in units_kb:
            cut: dict[str, Value] = {
                "cache.admission.sequential-bypass.cutoff_bytes": unit * 1024 + 1
            }
            cases[name, "unit", unit] = case(name, paths[name], store, OP, INITIAL_PERCENT, cut)
        store, own = Store.of(load, wide), load.part(wide)
        for exponent in exponents:
            other = replace(store, period=max(1, (1 << exponent) // own))
            cases[name, "period", exponent] = replace(
                case(name, longer[name], other, OP, INITIAL_PERCENT),
                label=f"{name}, {OP}, period of 2^{exponent}",
            )
    found = {key: Cell.of(summary).mean_ms for key, summary in required(setup, cases).items()}
    units, periods = (
        {
            name: {at: percent(found[name, what, base], found[name, what, at]) for at in points}
            for name in loads
        }
        for what, base, points in (("unit", 128, units_kb), ("period", 16, exponents))
    )
    return units, periods


def _plot(heading: str, caption: str, values: Relative, x_title: str) -> Plot:
    return Plot(
        heading,
        caption,
        lines(
            {
                title(name): {str(at): value for at, value in one.items()}
                for name, one in values.items()
            },
            {title(name): colour for name, colour in COLOURS.items()},
            x_title,
            "% more",
            category=True,
        ),
    )


def sequential(relative: Relative) -> list[Claim]:
    """Returns the claims on figure 15(a)."""
    poor = {name: one[4] for name, one in relative.items()}
    return [
        Claim(
            "With a sequential unit of 4 KB, response times are much longer than with 128 KB (by "
            f"more than {PER_CENT:g} %) on every load",
            min(poor.values()) > PER_CENT,
            listed_by(poor),
            "a request of Home has one page or is one of the rare reads of more pages; on the "
            "loads with longer requests, the claim holds (below)",
            ids=("O-094",),
        ),
        Claim(
            "Reason: with a sequential unit of 4 KB, response times are much longer than with 128 "
            "KB on every load whose requests have more than one page",
            min(poor[name] for name in WIDER) > PER_CENT,
            listed_by({name: poor[name] for name in WIDER}),
        ),
    ]


def listed_by(values: Mapping[str, float]) -> str:
    """Formats differences by load."""
    return ", ".join(f"{title(name)} {value:+.1f}" for name, value in values.items()) + " %"


def of_periods(relative: Relative) -> list[Claim]:
    """Returns the claims on figure 15(b)."""
    home = relative["home"]
    stable = {name: max(map(abs, one.values())) for name, one in relative.items()}
    end = {name: one[20] for name, one in relative.items()}
    more = {name: one[20] - one.get(18, 0.0) for name, one in relative.items()}
    return [
        Claim(
            "Response times with periods of 2^12 to 2^20 requests are about those with 2^16 "
            f"(within {PER_CENT:g} %) on every load",
            max(stable.values()) <= PER_CENT,
            listed_by(stable),
            quick=False,
            ids=("O-096",),
        ),
        Claim(
            "Home: response times are longer with periods of 2^14 requests than with 2^16, and "
            "longer still with 2^12",
            home[12] > home.get(14, 0.0) > 0,
            ", ".join(f"2^{at} {value:+.1f}" for at, value in home.items()) + " %",
            UNCHANGED,
            quick=False,
            ids=("O-097",),
        ),
        Claim(
            "Response times with periods of 2^20 requests are somewhat longer than with 2^18 and "
            f"with 2^16 (by at most {PER_CENT:g} %) on every load",
            min(end.values()) > 0 and min(more.values()) > 0 and max(end.values()) <= PER_CENT,
            f"above 2^16 {listed_by(end)}",
            STEADY,
            quick=False,
            ids=("O-099",),
        ),
        Claim(
            "Exchange and MSN: response times are longer with periods of 2^20 requests than with "
            "2^16",
            min(end[name] for name in LARGE) > 0,
            listed_by({name: end[name] for name in LARGE}),
            STEADY,
            quick=False,
            ids=("O-100",),
        ),
    ]
