"""Other localities of the loads than those of the figures, and the best static size under each."""

from collections.abc import Mapping
from itertools import pairwise

from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.write_cache.claims import by_fit, published_best
from wordline_studies.write_cache.loads import (
    DISTANT,
    EXPONENTS,
    MAIN,
    Fit,
    Folder,
    distinct,
    objects,
)
from wordline_studies.write_cache.runs import (
    PUBLISHED,
    Fitted,
    Statics,
    best,
    device,
    optima,
    part,
    statics,
)
from wordline_studies.write_cache.schemes import OPS

FIRST = {"Financial1": (34_490, 6_610), "MSNFS": (24_424, 23_863)}
"""Number of page writes at the start of the recorded traces, and the number of distinct pages among
them."""
SAME = 5.0
"""Largest difference between the number of distinct pages and that of a recorded trace. Per
cent."""


def figure(setup: Setup, traces: Folder, found: Fitted) -> Figure:
    """Returns the figure of the loads with other localities."""
    on = device(setup, traces)
    far = Fit("Financial1", None, DISTANT)
    exponents = (0.9,) if setup.quick else EXPONENTS
    exchange = Fit("Exchange", EXPONENTS[0])
    others = [far, exchange, *(Fit(name, exponent) for name in FIRST for exponent in exponents)]
    paths = {str(fit): (on, traces.load(fit, part(setup))) for fit in others}
    runs = statics(setup, paths)
    cells = {MAIN[name]: found.static[MAIN[name]] for name in FIRST}
    cells |= {fit: runs[str(fit)] for fit in others}
    early = {
        fit: float(round(distinct(objects(fit, 1), fit, FIRST[fit.name][0])))
        for fit in cells
        if fit.exponent is not None and fit.name in FIRST
    }
    return Figure(
        id="locality",
        title="Locality of the loads",
        section="4.5.1 to 4.5.3",
        measured=(
            "Static caches run under the loads of the figures, which have the locality of the "
            "first writes of the recorded traces, and under others with the same numbers of table "
            "6: Financial1, MSNFS and Exchange with objects chosen by Zipf's law, and Financial1 "
            f"with a share of {DISTANT:g} of its writes to any earlier page."
        ),
        rows=_rows(cells, early),
        claims=[*_claims(cells, early, far), _exceeds(cells[exchange])],
        explanation=[
            "The available recorded traces are the first 30,000 requests of Financial1 and "
            "100,000 of MSNFS. Repeats at longer distances than 6,610 pages do not show in the "
            "former. By table 6, at most 7 % of the writes of Financial1 are such repeats; "
            "section 4.5.3 attributes a limited active working set to it. The load of the figures "
            "has no such repeats.",
            optima(found),
        ],
    )


def _rows(cells: Mapping[Fit, Statics], early: Mapping[Fit, float]) -> list[Row]:
    near = MAIN["Financial1"]
    return [
        *(
            Row(
                f"{name}, recorded trace: number of distinct pages in the first {writes:,} page "
                "writes",
                float(pages),
                "pages",
            )
            for name, (writes, pages) in FIRST.items()
        ),
        *(
            Row(
                f"{fit}: expected number of distinct pages in the first {FIRST[fit.name][0]:,} "
                "page writes",
                pages,
                "pages",
            )
            for fit, pages in early.items()
        ),
        *(
            Row(f"{fit}: best static over-provisioning", float(best(one)), "%")
            for fit, one in cells.items()
        ),
        *(
            Row(
                f"{near}: share of valid pages in victim blocks at {op} % over-provisioning",
                100 * cells[near][op].victims,
                "%",
            )
            for op in OPS
        ),
    ]


def _exceeds(cells: Statics) -> Claim:
    """Returns the claim that leaves out the smallest exponent of Exchange."""
    most = PUBLISHED("13", "Exchange: response time at 65 % over-provisioning").value
    assert isinstance(most, tuple)
    return Claim(
        f"The response time of Exchange with a = {EXPONENTS[0]:g} at 65 % over-provisioning "
        f"exceeds the {most[1]:g} µs of section 4.5.2, so its writes are more skewed",
        cells[65].mean_us > most[1],
        f"{cells[65].mean_us:.0f} µs",
    )


def _claims(cells: Mapping[Fit, Statics], early: Mapping[Fit, float], far: Fit) -> list[Claim]:
    near, msnfs = MAIN["Financial1"], MAIN["MSNFS"]
    hits = [cell.hit for cell in cells[near].values()]
    skewed = {fit: pages for fit, pages in early.items() if fit.name == "Financial1"}
    bests = {fit: float(best(one)) for fit, one in cells.items() if fit.name == "Financial1"}
    recorded = FIRST["MSNFS"][1]
    return [
        Claim(
            "No Zipf law up to an exponent of 1.1 that has the working set of table 6 repeats "
            "pages as soon as the recorded trace of Financial1",
            min(skewed.values()) > FIRST["Financial1"][1],
            f"{by_fit(skewed, 0)}; recorded: {FIRST['Financial1'][1]}",
        ),
        Claim(
            "MSNFS at a = 0.5 writes as many distinct pages as its recorded trace (within "
            f"{SAME:g} %), and fewer at every larger exponent",
            abs(100 * (early[msnfs] / recorded - 1)) <= SAME
            and all(
                pages < early[msnfs]
                for fit, pages in early.items()
                if fit.name == "MSNFS" and fit != msnfs
            ),
            f"{by_fit({fit: one for fit, one in early.items() if fit.name == 'MSNFS'}, 0)}; "
            f"recorded: {recorded}",
        ),
        Claim(
            "The locality decides the best static over-provisioning of Financial1: at recorded "
            f"reuse distances, it is the published {published_best('Financial1'):g} %; with "
            "distant repeats, it is lower, and with every Zipf law still lower",
            bests[near] == published_best("Financial1")
            and max(one for fit, one in bests.items() if fit.exponent is not None)
            < bests[far]
            < bests[near],
            by_fit(bests, 0),
        ),
        Claim(
            "At recorded reuse distances, Financial1 has the same hit ratio with every cache size "
            "(within 0.1 percentage points), and victims hold fewer valid pages at every step of "
            "over-provisioning",
            max(hits) - min(hits) <= 0.1
            and all(
                cells[near][low].victims > cells[near][high].victims for low, high in pairwise(OPS)
            ),
            f"{min(hits):.2f} to {max(hits):.2f} %",
        ),
    ]
