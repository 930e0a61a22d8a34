"""Figure 11(a): GC time of Exchange from a cached share of 70 to 80 %."""

from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.op_fcl.loads import TABLE, with_exponents, written
from wordline_studies.op_fcl.runs import (
    FIXED,
    FP,
    RW,
    STEPS_PART,
    Cell,
    Store,
    at_least,
    case,
    scaled,
)

SHARES = (70, 80)
LESS = 0.7
"""Exponent of the reads of the other load."""
FITTED, SKEWED_LESS = "exchange", f"exchange, reads {LESS:g}"
SKEW = (
    "it depends on the skew of the reads, which is not published: with an exponent of "
    f"{LESS:g}, GC time rises more with FP-FCL (below)"
)

Steps = dict[str, float]
"""Rise of GC time from the lower to the higher share by scheme. Seconds."""


def steps(setup: Setup) -> Figure:
    """Returns the figure for the rise of GC time, with and without the skew of the fitted load."""
    exchange = TABLE["exchange"]
    loads = {FITTED: exchange}
    if not setup.quick:
        loads[SKEWED_LESS] = with_exponents(exchange, LESS, exchange.writes.exponent)
    parts = at_least(setup, STEPS_PART)
    paths = written(setup, loads, parts)
    cases = {
        (name, scheme, share): case(name, paths[name], Store.of(load, parts), scheme, share)
        for name, load in loads.items()
        for scheme in FIXED
        for share in SHARES
    }
    gc_s = {key: Cell.of(summary).gc_s for key, summary in required(setup, cases).items()}
    rises: dict[str, Steps] = {
        name: {
            scheme: gc_s[name, scheme, SHARES[1]] - gc_s[name, scheme, SHARES[0]]
            for scheme in FIXED
        }
        for name in loads
    }
    return Figure(
        id="11a-steps",
        title="GC time of Exchange from a cached share of 70 to 80 %",
        section="figure 11(a), 6.2",
        measured=(
            f"As in figure 11, at another scale ({scaled({FITTED: parts[FITTED]})}): at smaller "
            "scales, the schemes differ by less than noise. The exponent of the reads is that of "
            f"the fitted load ({exchange.reads.exponent:g}), or {LESS:g}."
        ),
        rows=[
            Row(
                f"Exchange, exponent of the reads {loads[name].reads.exponent:g}, {scheme}: rise "
                "of GC time",
                value,
                "s",
            )
            for name, rise in rises.items()
            for scheme, value in rise.items()
        ],
        claims=[_steeper(FITTED, rises[FITTED])]
        + [_steeper(name, rise) for name, rise in rises.items() if name != FITTED],
    )


def _steeper(name: str, rise: Steps) -> Claim:
    holds = rise[FP] > rise[RW]
    detail = ", ".join(f"{scheme} {value:+.1f} s" for scheme, value in rise.items())
    what = "from a cached share of 70 to 80 %, GC time rises more with FP-FCL than with RW-FCL"
    if name == FITTED:
        return Claim(f"Exchange: {what}", holds, detail, SKEW, quick=False, ids=("O-077",))
    return Claim(f"Exchange, exponent of the reads {LESS:g}: {what}", holds, detail)
