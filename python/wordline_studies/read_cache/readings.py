"""Alternative readings of points that the text leaves open, and recordings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import wordline
from wordline.config import Value
from wordline_studies.cases import completed, required
from wordline_studies.figure import PREVIEW, Claim, Figure, Row, Setup
from wordline_studies.outcome import IN_POINTS
from wordline_studies.read_cache.claims import published
from wordline_studies.read_cache.loads import part, written
from wordline_studies.read_cache.runs import (
    BLOCK_PAGES,
    FULL_PAGES_PER_GB,
    PUBLISHED,
    Cell,
    case,
    less_percent,
)
from wordline_studies.read_cache.schemes import ALL, ARC, LRU, PLAIN, ZM, Scheme
from wordline_studies.traces import missing, recorded

REQUESTS = 1_000_000
"""Largest number of requests of a recording, unless the study is run with `--full`."""
LOAD, GB, OP = "websearch2", 3, 15
KNOWN = {"arc-p3": ("arc-p3",), "w106": ("w106",)}
SHARES = {3: 0.46, 4: 0.62, 5: 0.77, 6: 0.93}
"""The document's capacities in GB, as shares of WebSearch2's footprint."""


@dataclass(frozen=True)
class Choice:
    """An alternative reading."""

    title: str
    settings: dict[str, Value] = field(default_factory=dict[str, Value], hash=False)


DEFAULT = Choice("as in the figures")
CHOICES = (
    DEFAULT,
    Choice("separate active block for relocated pages", {"ftl.gc.own_block": True}),
    Choice("no ghost entries of dropped pages", {"cache.ghosts_of_dropped": False}),
    Choice("a request waits for the fill, not for GC", {"cache.reply": "fill"}),
    Choice("a request waits for its data only", {"cache.reply": "data"}),
    Choice("two requests outstanding", {"replay.mode.closed-loop.queue_depth": 2}),
)


def readings(setup: Setup) -> Figure:
    """Returns the figure for one load under each reading."""
    pages = GB * FULL_PAGES_PER_GB // part(setup, LOAD)
    schemes = [*PLAIN, Scheme(LRU, reclaim=ZM), Scheme(ARC, reclaim=ZM)]
    path = written(setup, [LOAD])[LOAD]
    found = required(
        setup,
        {
            (choice, scheme): case(LOAD, path, pages, OP, scheme, choice.settings)
            for choice in CHOICES
            for scheme in schemes
        },
    )
    cells = {key: Cell.of(summary) for key, summary in found.items()}
    savings = {
        choice: [
            less_percent(
                cells[choice, base].mean_us, cells[choice, Scheme(base.policy, reclaim=ZM)].mean_us
            )
            for base in PLAIN
        ]
        for choice in CHOICES
    }
    own = CHOICES[1]
    forgetful = CHOICES[2]
    answered, two = CHOICES[4:]
    wanted = [published("9", f"{base}-ZM, {GB} GB, OP {OP} %") for base in PLAIN]
    arc_zm = Scheme(ARC, reclaim=ZM)
    return Figure(
        id="readings",
        title="Readings",
        section="2.3, 3.3",
        measured=f"{LOAD} at {GB} GB and OP {OP} %, 1/{part(setup, LOAD)} of the document's. The "
        "defaults for the active block and the ghost entries were chosen after seeing "
        "results.",
        rows=[
            row
            for (choice, scheme), cell in cells.items()
            for row in (
                Row(f"{choice.title}, {scheme}: hit ratio", cell.hit, "%"),
                Row(
                    f"{choice.title}, {scheme}: erases times {part(setup, LOAD)}",
                    float(cell.erases * part(setup, LOAD)),
                    "erases",
                    PUBLISHED("6", f"{LOAD}, {scheme}, {GB} GB, OP {OP} %")
                    if scheme in PLAIN and choice == own
                    else None,
                    other_reading=choice == own,
                ),
                Row(f"{choice.title}, {scheme}: mean response time", cell.mean_us, "µs"),
            )
        ],
        claims=[
            Claim(
                "A separate active block for relocated pages saves erases with LRU and with ARC",
                all(cells[own, one].erases < cells[DEFAULT, one].erases for one in PLAIN),
                _percents(
                    [
                        less_percent(cells[DEFAULT, one].erases, cells[own, one].erases)
                        for one in PLAIN
                    ]
                ),
            ),
            Claim(
                "Without ghost entries of dropped pages, zero-migration lowers ARC's hit ratio",
                cells[forgetful, arc_zm].hit < cells[DEFAULT, arc_zm].hit,
                f"{cells[forgetful, arc_zm].hit - cells[DEFAULT, arc_zm].hit:+.1f} points",
            ),
            Claim(
                "If requests wait for their data only, zero-migration saves less time",
                all(
                    one < other
                    for one, other in zip(savings[answered], savings[DEFAULT], strict=True)
                ),
                f"{_percents(savings[answered])} against {_percents(savings[DEFAULT])}",
            ),
            Claim(
                "R2: with two requests outstanding, which wait for each other's GC, "
                f"zero-migration saves the published {wanted[1]:g} % with ARC or more, but with "
                f"LRU more than the published {wanted[0]:g} % (by more than {IN_POINTS:g} points)",
                savings[two][1] >= wanted[1] and savings[two][0] > wanted[0] + IN_POINTS,
                f"{_percents(savings[two])} against {_percents(savings[DEFAULT])}",
            ),
        ],
        explanation=[
            "If a request waits for its data only, programs and GC continue in the background, "
            "and the next hit waits for a busy flash. Zero-migration shortens that wait only.",
        ],
    )


def _percents(values: Sequence[float]) -> str:
    return " and ".join(f"{value:+.1f} %" for value in values)


def _footprint(path: Path, many: int | None) -> int:
    """Returns the number of distinct pages in the first `many` requests of a recording."""
    found = wordline.cache(path, "lru", ["1p"], align="expand", max_requests=many)
    return found.summary["input"]["distinct_pages"]


def _flash(footprint: int, share: float) -> int:
    """Returns the given share of a footprint as flash pages in whole blocks."""
    return round(footprint * share / BLOCK_PAGES) * BLOCK_PAGES


def _kept(setup: Setup, name: str, path: Path) -> float | None:
    """Returns the gain in hit ratio of zero-migration with ARC over a whole recording, at 3 GB and
    15 %. Percentage points.

    None in a quick study. In shorter runs, most misses are first accesses, and there is no gain
    yet.
    """
    if setup.quick:
        return None
    pages = _flash(_footprint(path, None), SHARES[3])
    found = required(
        setup,
        {
            scheme: case(f"{name}, whole recording", path, pages, 15, scheme)
            for scheme in (Scheme(ARC), Scheme(ARC, reclaim=ZM))
        },
    )
    moved, dropped = (Cell.of(summary).hit for summary in found.values())
    return dropped - moved


def _recorded(setup: Setup, name: str, path: Path, cells: Mapping[Scheme, Cell]) -> list[Claim]:
    """Returns the claims of the text on a recording, at 3 GB and OP 15 %."""
    lru, arc = PLAIN
    short = PREVIEW if setup.quick else ""
    dropping = cells[Scheme(ARC, reclaim=ZM)]
    spared = less_percent(cells[arc].erases, dropping.erases)
    if name.startswith("arc-p3"):
        ratio = cells[arc].erases / max(1, cells[lru].erases)
        return [
            Claim(
                "E5: on P3, ARC erases at least 1.2 times as much as LRU",
                ratio >= 1.2,
                f"{ratio:.2f}",
                report_only=short,
            ),
            Claim(
                "Z1: on P3, zero-migration with ARC saves 60 to 80 % of the erases",
                60 <= spared <= 80,
                f"{spared:.1f} %",
                report_only=short,
            ),
        ]
    kept = _kept(setup, name, path)
    if kept is None:
        kept = dropping.hit - cells[arc].hit
    return [
        Claim(
            "Z1: on w106, zero-migration with ARC saves 60 to 80 % of the erases",
            60 <= spared <= 80,
            f"{spared:.1f} %",
            report_only=short,
        ),
        Claim(
            "T4: on the whole of w106, zero-migration raises ARC's hit ratio (by 0.3 points or "
            "more)",
            kept >= 0.3,
            f"{kept:+.1f} points",
            report_only=short,
        ),
    ]


def recordings(setup: Setup) -> Figure:
    """Returns the figure for all schemes on recorded loads."""
    paths = {
        name: path for name, path in recorded(setup, KNOWN).items() if not name.startswith("post")
    }
    many = None if setup.full else setup.requests(REQUESTS)
    footprints = {name: _footprint(path, many) for name, path in paths.items()}
    ops = (15,) if setup.quick else (15, 25, 35)
    runs, faults = completed(
        setup,
        {
            (name, gb, op, scheme): replace(
                case(name, path, _flash(footprints[name], share), op, scheme), requests=many
            )
            for name, path in paths.items()
            for gb, share in SHARES.items()
            if gb == 3 or not setup.quick
            for op in ops
            for scheme in ALL
        },
    )
    for fault in faults.values():
        raise wordline.WordlineError(fault)
    cells = {key: Cell.of(summary) for key, summary in runs.items()}
    claims = [
        claim
        for name, path in paths.items()
        for claim in _recorded(setup, name, path, {one: cells[name, 3, 15, one] for one in ALL})
    ]
    return Figure(
        id="recordings",
        title="Recordings",
        section="figures 4 to 10",
        measured="Recorded loads without time stamps, one request at a time, all treated as reads; "
        f"{'all' if many is None else f'at most {many:,}'} of their requests. The flash has "
        "the same shares of their footprints as 3 to 6 GB have of the footprint of WebSearch2.",
        rows=[
            row
            for (name, gb, op, scheme), cell in cells.items()
            for row in (
                Row(
                    f"{name}, {scheme}, {SHARES[gb]} of the footprint, OP {op} %: hit ratio",
                    cell.hit,
                    "%",
                ),
                Row(
                    f"{name}, {scheme}, {SHARES[gb]} of the footprint, OP {op} %: erases",
                    float(cell.erases),
                    "erases",
                ),
                Row(
                    f"{name}, {scheme}, {SHARES[gb]} of the footprint, OP {op} %: "
                    "write amplification",
                    cell.amplification,
                    "",
                ),
                Row(
                    f"{name}, {scheme}, {SHARES[gb]} of the footprint, OP {op} %: "
                    "mean response time",
                    cell.mean_us,
                    "µs",
                ),
            )
        ],
        claims=claims,
        explanation=[*missing(KNOWN, paths)],
    )
