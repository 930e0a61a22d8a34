"""Recorded traces of writes."""

from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.traces import missing
from wordline_studies.write_cache.claims import erases_fall, never_rises, one_turn
from wordline_studies.write_cache.loads import BLOCK_PAGES, SHARES, Folder, folder, recordings
from wordline_studies.write_cache.runs import (
    Device,
    Statics,
    best,
    dynamics,
    ended,
    over,
    statics,
    victims,
)
from wordline_studies.write_cache.schemes import OPS, TRACKERS, Dynamic

WINDOW = 2.0
FEWEST_BLOCKS = 200
"""Smallest number of blocks of a flash in which rounding to whole blocks hardly changes the GC
threshold of 5 %."""


def figure(setup: Setup) -> Figure:
    """Returns the figure of the available recorded traces."""
    found = recordings(setup, SHARES)
    with folder() as traces:
        loads = {
            f"{name}, flash of {100 * share:.0f} % of its pages": (
                _device(traces, written, share),
                traces.trace(name, written),
            )
            for name, written in found.items()
            for share in SHARES[name]
        }
        static = statics(setup, loads)
        schemes = [Dynamic(WINDOW, tracker) for tracker in TRACKERS]
        dynamic = dynamics(
            setup,
            loads,
            {load: victims(cells) for load, cells in static.items()},
            dict.fromkeys(loads, schemes),
        )
    rows: list[Row] = []
    for load, cells in static.items():
        pages = loads[load][0].pages
        rows.append(Row(f"{load}: best static over-provisioning", float(best(cells)), "%"))
        rows += [
            Row(f"{load}, OP {op} %: mean response time per page write", cells[op].mean_us, "µs")
            for op in OPS
        ]
        for scheme, cell in dynamic[load].items():
            rows += [
                Row(
                    f"{load}, tracker {scheme.tracker}: excess of the response time over that of "
                    "the best static cache",
                    over(cell, cells),
                    "%",
                ),
                Row(
                    f"{load}, tracker {scheme.tracker}: excess of the response time, including "
                    "destages by shrinking, over that of the best static cache",
                    over(cell, cells, charged=True),
                    "%",
                ),
                Row(
                    f"{load}, tracker {scheme.tracker}: final over-provisioning of the dynamic "
                    "cache",
                    float(ended(cell, pages)),
                    "%",
                ),
            ]
    return Figure(
        id="recorded",
        title="Recorded traces",
        section="4.5.1, 4.5.2",
        measured=(
            "The page writes of recorded traces, one at a time, on flash whose capacity is a "
            "share of their distinct pages. The window is twice the flash. Reads are omitted: "
            "section 1.2 gives them a separate cache."
        ),
        rows=rows,
        claims=[
            claim
            for load, cells in static.items()
            for claim in _claims(load, cells, loads[load][0])
        ],
        explanation=[
            "Of the available traces, these rewrite pages often enough. The excerpts of "
            "Financial1 and MSNFS are too short to replay; the fitted loads have their locality.",
            "On flash of fewer than 200 blocks, rounding to whole blocks changes the GC threshold "
            "of 5 % too much, so erases are not compared.",
            *missing(SHARES, [f"{name} (" for name in found]),
        ],
        data={
            load: {str(op): cell.erases for op, cell in cells.items()}
            for load, cells in static.items()
        },
    )


def _device(traces: Folder, written: list[int], share: float) -> Device:
    pages = round(share * len(set(written)) / BLOCK_PAGES) * BLOCK_PAGES
    return Device(pages, traces.fills(pages, [WINDOW]))


def _claims(load: str, cells: Statics, on: Device) -> list[Claim]:
    means = ", ".join(f"{cells[op].mean_us:.0f}" for op in OPS)
    claims = [
        Claim(
            f"X1: the hit ratio never rises with over-provisioning ({load})",
            never_rises(cells),
            "exact comparison",
        ),
        Claim(
            "X3: with rising over-provisioning, response times fall to one interior minimum and "
            f"then rise ({load})",
            one_turn(cells),
            means,
        ),
    ]
    if on.pages // BLOCK_PAGES >= FEWEST_BLOCKS:
        erases = ", ".join(str(cells[op].erases) for op in OPS)
        claims.append(
            Claim(
                f"X2: no step of over-provisioning raises the number of erases ({load})",
                erases_fall(cells),
                erases,
            )
        )
    return claims
