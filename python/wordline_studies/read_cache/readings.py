"""Other readings of points that the text leaves open, and recorded traces."""

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
"""Largest number of requests that are replayed of a recorded trace, unless the study is run with
`--full`."""
LOAD, GB, OP = "websearch2", 3, 15
KNOWN = {"arc-p3": ("arc-p3",), "w106": ("w106",)}
SHARES = {3: 0.46, 4: 0.62, 5: 0.77, 6: 0.93}
"""The document's capacities in GB, as shares of WebSearch2's footprint."""


@dataclass(frozen=True)
class Choice:
    """A reading that differs from that of the figures."""

    title: str
    settings: dict[str, Value] = field(default_factory=dict[str, Value], hash=False)


DEFAULT = Choice("as in the figures")
CHOICES = (
    DEFAULT,
    Choice("separate active block for relocated pages", {"ftl.gc.own_block": True}),
    Choice("no ghost entries of dropped pages", {"cache.ghosts_of_dropped": False}),
    Choice("requests wait for the fill, but not for GC", {"cache.reply": "fill"}),
    Choice("requests wait for their data only", {"cache.reply": "data"}),
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
    wanted = [
        published("9", f"{GB} GB, OP {OP} %: reduction of the mean response time by {base}-ZM")
        for base in PLAIN
    ]
    arc_zm = Scheme(ARC, reclaim=ZM)
    return Figure(
        id="readings",
        title="Other readings",
        section="2.3, 3.3",
        measured=f"{LOAD} at {GB} GB and OP {OP} %. The load and the flash are "
        f"1/{part(setup, LOAD)} of the document's. The defaults for the active block and the "
        "ghost entries were chosen after seeing results.",
        rows=[
            row
            for (choice, scheme), cell in cells.items()
            for row in (
                Row(f"{choice.title}, {scheme}: hit ratio", cell.hit, "%"),
                Row(
                    f"{choice.title}, {scheme}: number of erases, multiplied by "
                    f"{part(setup, LOAD)}",
                    float(cell.erases * part(setup, LOAD)),
                    "erases",
                    PUBLISHED("6", f"{LOAD}, {scheme}, {GB} GB, OP {OP} %: number of erases")
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
                "Without ghost entries of dropped pages, ARC has a lower hit ratio with "
                "zero-migration than in the figures",
                cells[forgetful, arc_zm].hit < cells[DEFAULT, arc_zm].hit,
                f"{cells[forgetful, arc_zm].hit - cells[DEFAULT, arc_zm].hit:+.1f} points",
            ),
            Claim(
                "If requests wait for their data only, zero-migration shortens the mean response "
                "time less than in the figures",
                all(
                    one < other
                    for one, other in zip(savings[answered], savings[DEFAULT], strict=True)
                ),
                f"{_percents(savings[answered])}; in the figures, {_percents(savings[DEFAULT])}",
            ),
            Claim(
                "R2: with two requests outstanding, which wait for each other's GC, "
                "zero-migration shortens the mean response time with ARC by the published "
                f"{wanted[1]:g} % or more, but with LRU by over {IN_POINTS:g} percentage points "
                f"more than the published {wanted[0]:g} %",
                savings[two][1] >= wanted[1] and savings[two][0] > wanted[0] + IN_POINTS,
                f"{_percents(savings[two])}; in the figures, {_percents(savings[DEFAULT])}",
            ),
        ],
        explanation=[
            "If a request waits for its data only, programs and GC continue in the background, "
            "and the next hit waits for a busy flash. Zero-migration shortens only that wait.",
        ],
    )


def _percents(values: Sequence[float]) -> str:
    """Formats a value with LRU and one with ARC."""
    return " and ".join(
        f"{value:+.1f} % with {base}" for value, base in zip(values, PLAIN, strict=True)
    )


def _footprint(path: Path, many: int | None) -> int:
    """Returns the number of distinct pages in the first `many` requests of a recorded trace."""
    found = wordline.cache(path, "lru", ["1p"], align="expand", max_requests=many)
    return found.summary["input"]["distinct_pages"]


def _flash(footprint: int, share: float) -> int:
    """Returns the given share of a footprint as flash pages in whole blocks."""
    return round(footprint * share / BLOCK_PAGES) * BLOCK_PAGES


def _kept(setup: Setup, name: str, path: Path) -> float | None:
    """Returns the change of ARC's hit ratio by zero-migration over a whole recorded trace, at 3 GB
    and 15 % over-provisioning. Percentage points.

    None in a quick study. In shorter runs, most misses are first accesses, and the hit ratio does
    not rise yet.
    """
    if setup.quick:
        return None
    pages = _flash(_footprint(path, None), SHARES[3])
    found = required(
        setup,
        {
            scheme: case(f"{name}, whole trace", path, pages, 15, scheme)
            for scheme in (Scheme(ARC), Scheme(ARC, reclaim=ZM))
        },
    )
    moved, dropped = (Cell.of(summary).hit for summary in found.values())
    return dropped - moved


def _recorded(setup: Setup, name: str, path: Path, cells: Mapping[Scheme, Cell]) -> list[Claim]:
    """Returns the claims of the text on a recorded trace, at 3 GB and OP 15 %."""
    lru, arc = PLAIN
    short = PREVIEW if setup.quick else ""
    dropping = cells[Scheme(ARC, reclaim=ZM)]
    spared = less_percent(cells[arc].erases, dropping.erases)
    if name.startswith("arc-p3"):
        ratio = cells[arc].erases / max(1, cells[lru].erases)
        return [
            Claim(
                "E5: on the trace P3, ARC erases at least 1.2 times as many blocks as LRU",
                ratio >= 1.2,
                f"{ratio:.2f}",
                report_only=short,
            ),
            Claim(
                "Z1: on the trace P3, zero-migration with ARC saves 60 to 80 % of the erases",
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
            "Z1: on the trace w106, zero-migration with ARC saves 60 to 80 % of the erases",
            60 <= spared <= 80,
            f"{spared:.1f} %",
            report_only=short,
        ),
        Claim(
            "T4: over all requests of the trace w106, zero-migration raises ARC's hit ratio by "
            "0.3 percentage points or more",
            kept >= 0.3,
            f"{kept:+.1f} points",
            report_only=short,
        ),
    ]


def recordings(setup: Setup) -> Figure:
    """Returns the figure of all schemes on recorded traces."""
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
        title="Recorded traces",
        section="figures 4 to 10",
        measured="Recorded traces, replayed without their time stamps, one request at a time. All "
        f"requests are treated as reads; {'all' if many is None else f'at most {many:,}'} "
        "requests of each trace are replayed. The capacities of the flash are the same shares of "
        "the footprint of the trace as 3 to 6 GB are of the footprint of WebSearch2.",
        rows=[
            row
            for (name, gb, op, scheme), cell in cells.items()
            for row in (
                Row(
                    f"{name}, {scheme}, flash of {100 * SHARES[gb]:.0f} % of the footprint, OP "
                    f"{op} %: hit ratio",
                    cell.hit,
                    "%",
                ),
                Row(
                    f"{name}, {scheme}, flash of {100 * SHARES[gb]:.0f} % of the footprint, OP "
                    f"{op} %: erases",
                    float(cell.erases),
                    "erases",
                ),
                Row(
                    f"{name}, {scheme}, flash of {100 * SHARES[gb]:.0f} % of the footprint, OP "
                    f"{op} %: write amplification",
                    cell.amplification,
                    "",
                ),
                Row(
                    f"{name}, {scheme}, flash of {100 * SHARES[gb]:.0f} % of the footprint, OP "
                    f"{op} %: mean response time",
                    cell.mean_us,
                    "µs",
                ),
            )
        ],
        claims=claims,
        explanation=[*missing(KNOWN, paths)],
    )
