"""Figure 15: sequential unit and period."""

from dataclasses import replace

from wordline._render.charts import lines
from wordline.config import Value
from wordline_studies.cases import Case, required
from wordline_studies.figure import Figure, Plot, Row, Setup
from wordline_studies.op_fcl import claims
from wordline_studies.op_fcl.loads import TABLE, named, written
from wordline_studies.op_fcl.runs import INITIAL_PERCENT, OP, Cell, Store, case, part, title

UNITS = (4, 16, 32, 64, 128, 512)
"""Sequential units in KB."""
QUICK_UNITS, QUICK_EXPONENTS = (4, 32, 128), (12, 16, 20)
EXPONENTS = (12, 14, 16, 18, 20)
"""Exponents of two of the periods, in requests of the full-scale load."""
COLOURS = dict(zip(TABLE, ("#3b86c6", "#12a07b", "#d9701a", "#c0457e", "#8b929c"), strict=True))


def sensitivity(setup: Setup) -> Figure:
    """Returns the figure of OP-FCL's response time relative to that at 128 KB and 2^16 requests."""
    loads = named(TABLE)
    units_kb = QUICK_UNITS if setup.quick else UNITS
    exponents = QUICK_EXPONENTS if setup.quick else EXPONENTS
    paths = written(setup, loads, part(setup))
    cases: dict[tuple[str, str, int], Case] = {}
    for name, load in loads.items():
        store = Store.of(load, part(setup))
        for unit in units_kb:
            cut: dict[str, Value] = {
                "cache.admission.sequential-bypass.cutoff_bytes": unit * 1024 + 1
            }
            cases[name, "unit", unit] = case(name, paths[name], store, OP, INITIAL_PERCENT, cut)
        for exponent in exponents:
            other = replace(store, period=max(1, (1 << exponent) // load.part(part(setup))))
            cases[name, "period", exponent] = replace(
                case(name, paths[name], other, OP, INITIAL_PERCENT),
                label=f"{name}, {OP}, period of 2^{exponent}",
            )
    found = {key: Cell.of(summary).mean_ms for key, summary in required(setup, cases).items()}
    units, periods = (
        {
            name: {at: 100 * (found[name, what, at] / found[name, what, base] - 1) for at in points}
            for name in loads
        }
        for what, base, points in (("unit", 128, units_kb), ("period", 16, exponents))
    )
    colours = {title(name): colour for name, colour in COLOURS.items()}
    return Figure(
        id="15",
        title="Sequential unit and period",
        section="figure 15, 6.4",
        measured=(
            "Response time of OP-FCL relative to that at 128 KB and 2^16 requests. Periods are "
            "scaled like the flash."
        ),
        rows=[
            *(
                Row(f"{title(name)}, sequential unit of {unit} KB", value, "% more")
                for name, one in units.items()
                for unit, value in one.items()
            ),
            *(
                Row(f"{title(name)}, period of 2^{exponent} requests", value, "% more")
                for name, one in periods.items()
                for exponent, value in one.items()
            ),
        ],
        plots=[
            Plot(
                heading,
                caption,
                lines(
                    {
                        title(name): {str(at): value for at, value in one.items()}
                        for name, one in values.items()
                    },
                    colours,
                    x_title,
                    "% more",
                    category=True,
                ),
            )
            for heading, caption, values, x_title in (
                ("Sequential unit", "Relative to 128 KB.", units, "KB"),
                ("Period", "Relative to 2^16 requests.", periods, "exponent of two"),
            )
        ],
        claims=[*claims.sequential(units), *claims.periods(periods)],
    )
