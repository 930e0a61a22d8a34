"""Recorded loads of writes."""

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
"""Of a flash whose threshold of 5 % is not mostly rounding."""


def figure(setup: Setup) -> Figure:
    """Those that there are."""
    found = recordings(setup, SHARES)
    with folder() as traces:
        loads = {
            f"{name}, {share} of its pages": (
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
        rows += [Row(f"{load}, {op} %: a page write", cells[op].mean_us, "µs") for op in OPS]
        for scheme, cell in dynamic[load].items():
            rows += [
                Row(f"{load}, {scheme.tracker}: above the best static", over(cell, cells), "%"),
                Row(
                    f"{load}, {scheme.tracker}: above it, charged",
                    over(cell, cells, charged=True),
                    "%",
                ),
                Row(f"{load}, {scheme.tracker}: ended at", float(ended(cell, pages)), "%"),
            ]
    return Figure(
        id="recorded",
        title="Recordings",
        section="4.5.1, 4.5.2",
        measured="The pages that recordings write, one at a time, on flash of shares of their "
        "distinct pages; windows of twice the flash. Their reads are left out: section 1.2 has a "
        "cache of its own for them.",
        rows=rows,
        claims=[
            claim
            for load, cells in static.items()
            for claim in _claims(load, cells, loads[load][0])
        ],
        explanation=[
            "Of the recordings at hand these write the same pages often enough; the heads of "
            "Financial1 and MSNFS are too short for the published optima.",
            "On flash of fewer than 200 blocks the threshold of 5 % is mostly rounding, and erases "
            "are not compared.",
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
    told = ", ".join(f"{cells[op].mean_us:.0f}" for op in OPS)
    claims = [
        Claim(
            f"X1: the hit ratio never rises with over-provisioning ({load})",
            never_rises(cells),
            "exact",
        ),
        Claim(
            f"X3: response times fall to one minimum and rise after it ({load})",
            one_turn(cells),
            told,
        ),
    ]
    if on.pages // BLOCK_PAGES >= FEWEST_BLOCKS:
        erases = ", ".join(str(cells[op].erases) for op in OPS)
        claims.append(Claim(f"X2: erases fall or stay ({load})", erases_fall(cells), erases))
    return claims
