"""Another reading of the loads: spaced requests."""

from collections.abc import Callable, Mapping
from statistics import fmean

from wordline_studies.agcr.extremes import quantity
from wordline_studies.agcr.runs import (
    ALL,
    DEVICE,
    EXTREMES,
    LI,
    PROPOSED,
    RL,
    RW,
    RWL,
    SCHEMES,
    TRADITIONAL,
    Loads,
    Passes,
    loads,
    mean_share,
)
from wordline_studies.agcr.schemes import LOW_COST
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.outcome import IN_POINTS
from wordline_studies.regulation import fitted
from wordline_studies.regulation.runs import mean_change, passes, reading, writing

MEASURED, SPACED = "measured bursts", "spaced"
NAMES: dict[str, Callable[[Loads], list[str]]] = {
    "read_us": reading,
    "write_us": writing,
    "all_us": list[str],
    "wear": writing,
}
COMPARED = (
    *((scheme, TRADITIONAL, of, 0) for of in ("read_us", "write_us") for scheme in EXTREMES),
    *((scheme, LI, of, 1) for of in ("read_us", "write_us") for scheme in PROPOSED),
    (RW, LI, "all_us", 1),
    (RL, TRADITIONAL, "wear", 1),
)
"""Scheme, base, metric and pass of each compared number."""


def figure(setup: Setup) -> Figure:
    """Returns the figure for loads whose requests are spaced so that few of them wait."""
    found = {MEASURED: loads(setup), SPACED: loads(setup, "spaced")}
    runs = {key: passes(setup, DEVICE, of, {**SCHEMES, **EXTREMES}) for key, of in found.items()}
    low = {
        key: {one: mean_share(runs[key], list(of), one, LOW_COST) for one in ALL}
        for key, of in found.items()
    }
    return Figure(
        id="readings",
        title="Another reading: spaced requests",
        section="3.1 to 5.2",
        measured=(
            "Mean changes under the loads with measured bursts, and under loads with bursts of "
            f"{fitted.SPACED} requests with a median gap of {fitted.SPACED_NS / 1e6:g} ms, in "
            "which each request reads or writes independently. Values of the extremes are from "
            "the first pass, all others from the second."
        ),
        rows=[
            *(
                Row(
                    f"{quantity(of)}, {scheme} against {base}, {key}",
                    mean_change(runs[key], NAMES[of](found[key]), scheme, base, turn, of),
                    "%",
                )
                for scheme, base, of, turn in COMPARED
                for key in found
            ),
            *(
                Row(f"share of low-cost reads and writes, {scheme}, {key}", value, "%")
                for key, of in low.items()
                for scheme, value in of.items()
            ),
        ],
        claims=_claims(found[SPACED], runs[SPACED], low[SPACED]),
        explanation=[
            "The document does not say how densely requests arrive, except that they mostly wait "
            "under SRC1_2, and rarely under USR_0 and RSRCH_2. With spaced requests almost none "
            "wait, so Li et al. hardly ever write at low cost, and R+W+L equals R+L. The reads of "
            "figure 3 are then nearer to the published ones, the writes of figure 13 are not, and "
            "the differences between R+W+L and R+L disappear.",
        ],
    )


def _claims(found: Loads, runs: Passes, low: Mapping[str, float]) -> list[Claim]:
    """Returns the claims that test why claims of other figures do not hold."""
    name = next(one for one in found if one.startswith("rsrch2"))
    wear, write = (
        mean_change(runs, [name], RWL, TRADITIONAL, 1, of) for of in ("wear", "write_us")
    )
    queued = fmean(runs[one, LI][1].share("host_writes", "low") for one in writing(found))
    return [
        Claim(
            "With spaced requests, R+W+L reduces the wear of rsrch2 by nearly 20 % (within "
            f"{IN_POINTS:g} percentage points), and hardly changes the response time of its writes",
            abs(wear + 20) <= IN_POINTS and abs(write) <= IN_POINTS,
            f"wear {wear:+.1f} %, writes {write:+.1f} %",
        ),
        Claim(
            "With spaced requests, each proposed scheme has more low-cost reads and writes than "
            f"Li et al., by more than {IN_POINTS:g} percentage points",
            all(low[one] > low[LI] + IN_POINTS for one in PROPOSED),
            ", ".join(f"{one} {value:.1f} %" for one, value in low.items())
            + f"; {queued:.1f} % of the writes of Li et al. are low-cost",
        ),
    ]
