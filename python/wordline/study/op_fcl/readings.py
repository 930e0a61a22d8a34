"""What the document leaves open, chosen otherwise; and recordings."""

from dataclasses import replace

import wordline
from wordline.config import Value
from wordline.study.cases import Case, required
from wordline.study.figure import Figure, Row, Setup
from wordline.study.op_fcl.claims import above_percent
from wordline.study.op_fcl.loads import (
    TABLE,
    named,
    with_exponents,
    written,
    written_over_a_disk,
)
from wordline.study.op_fcl.runs import (
    FIXED,
    FP,
    OP,
    Cell,
    Curve,
    Store,
    best,
    case,
    curves,
    least_ms,
    part,
    percents,
    points,
    title,
)
from wordline.study.traces import missing, recorded

EXPONENTS = (0.5, 0.8, 1.0, 1.2)
"""Of the writes."""
POSITIONED: dict[str, Value] = {"disk.base": "atlas-10k-iv"}
BY_THE_CLOCK: dict[str, Value] = {"replay.mode": "open-loop"}
BLOCK_PAGES, SEGMENTS, PERIODS = 64, 16, 16
SHARES = {"desktop-mayun2": 0.3, "cloudphysics-io": 0.3, "hplajw": 0.3, "msr-web_3": 0.2}
"""Recordings, and the flash that they get as a share of their footprint."""
KNOWN = {name: (name,) for name in SHARES}
REQUESTS = 200_000
"""Of a recording, at most."""


def readings(setup: Setup) -> Figure:
    """Financial's optimum over the exponent of its writes; group destaging; a positioned disk."""
    financial = TABLE["financial"]
    exponents = EXPONENTS[::3] if setup.quick else EXPONENTS
    loads = {f"financial, {writes:g}": with_exponents(financial, 1.0, writes)
             for writes in exponents}  # fmt: skip
    with written(loads, part(setup)) as paths:
        skewed = curves(setup, paths, loads, percents(setup))
    small = named(["financial"] if setup.quick else ["financial", "home", "search"])
    with written(small, part(setup)) as paths:
        grouped = curves(setup, paths, small, percents(setup),
                         {"cache.destage.group_pages": 1})  # fmt: skip
    with written_over_a_disk(small, part(setup)) as paths:
        positioned = curves(setup, paths, small, percents(setup), POSITIONED)
    told: dict[str, Curve] = {
        **{f"Financial, exponent of writes {name.split(', ')[1]}": curve
           for name, curve in skewed.items()},
        **{f"{title(name)}, pages destaged one by one": curve
           for name, curve in grouped.items()},
        **{f"{title(name)}, positioned disk": curve for name, curve in positioned.items()},
    }  # fmt: skip
    return Figure(
        id="readings",
        title="Readings",
        section="5, 6.1",
        measured="As figure 6, but for one choice; requests of the positioned disk are spread over "
        "all of it. Reported, not asserted.",
        rows=[
            row
            for name, curve in told.items()
            for row in (
                *(Row(f"{name}, {scheme}: best share", float(best(curve[scheme])), "%")
                  for scheme in FIXED),
                *(Row(f"{name}, {scheme}: least", least_ms(curve[scheme]), "ms")
                  for scheme in (*FIXED, OP)),
                Row(f"{name}: OP-FCL above RW-FCL's best", above_percent(curve), "%"),
            )
        ],
    )  # fmt: skip


def recordings(setup: Setup) -> Figure:
    """Recorded loads, one request at a time; OP-FCL by their clocks, too."""
    paths = {
        name: path for name, path in recorded(setup, KNOWN).items() if not name.startswith("post")
    }
    many = setup.requests(REQUESTS)
    cases: dict[tuple[str, str, int], Case] = {}
    for name, path in paths.items():
        seen = wordline.cache(path, "lru", ["1p"], align="expand", max_requests=many).summary[
            "input"
        ]
        share = next(share for known, share in SHARES.items() if name.startswith(f"{known} ("))
        blocks = max(128, round(seen["distinct_pages"] * share / BLOCK_PAGES))
        store = Store("opfcl-small", blocks, max(1, seen["requests"] // PERIODS), SEGMENTS, False)
        for scheme, percent in points(percents(setup)):
            cases[name, scheme, percent] = replace(
                case(name, path, store, scheme, percent), requests=many
            )
        cases[name, f"{OP} by the clock", 95] = replace(
            case(name, path, store, OP, 95, BY_THE_CLOCK), requests=many
        )
    found: dict[str, Curve] = {}
    for (name, scheme, percent), summary in required(setup, cases).items():
        found.setdefault(name, {}).setdefault(scheme, {})[percent] = Cell.of(summary)
    return Figure(
        id="recordings",
        title="Recordings",
        section="6.1",
        measured=f"At most {many:,} requests, {PERIODS} periods, flash of 0.2 to 0.3 of the "
        "footprint. Reported, not asserted.",
        rows=[
            row
            for name, curve in found.items()
            for row in (
                *(Row(f"{name}, {scheme}: best share", float(best(curve[scheme])), "%")
                  for scheme in FIXED),
                *(Row(f"{name}, {scheme}: least", least_ms(curve[scheme]), "ms")
                  for scheme in curve),
                Row(f"{name}: OP-FCL above RW-FCL's best", above_percent(curve), "%"),
                Row(f"{name}: erases of FP-FCL at 90 % over OP-FCL's",
                    curve[FP][90].erases / max(1e-9, curve[OP][95].erases), "times"),
            )
        ],
        explanation=missing(KNOWN, paths),
    )  # fmt: skip
