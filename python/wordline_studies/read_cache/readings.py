"""What the text leaves open, chosen otherwise; and recordings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import wordline
from wordline.config import Value
from wordline_studies.cases import completed, required
from wordline_studies.figure import PREVIEW, Claim, Figure, Row, Setup
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
"""Of a recording, at most."""
LOAD, GB, OP = "websearch2", 3, 15
KNOWN = {"arc-p3": ("arc-p3",), "w106": ("w106",)}
SHARES = {3: 0.46, 4: 0.62, 5: 0.77, 6: 0.93}
"""The document's gigabytes as shares of WebSearch2's footprint."""


@dataclass(frozen=True)
class Choice:
    """Another reading."""

    title: str
    settings: dict[str, Value] = field(default_factory=dict[str, Value], hash=False)


DEFAULT = Choice("as in the figures")
CHOICES = (
    DEFAULT,
    Choice("moved pages in a block of their own", {"ftl.gc.own_block": True}),
    Choice("no ghosts of dropped pages", {"cache.ghosts_of_dropped": False}),
    Choice("the host waits for the fill, not for collections", {"cache.reply": "fill"}),
    Choice("the host waits for the data only", {"cache.reply": "data"}),
)


def readings(setup: Setup) -> Figure:
    """One load under each reading."""
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
    answered = CHOICES[4]
    arc_zm = Scheme(ARC, reclaim=ZM)
    return Figure(
        id="readings",
        title="Readings",
        section="2.3, 3.3",
        measured=f"{LOAD} at {GB} GB and {OP} %, 1/{part(setup, LOAD)} of the document's. The "
        "default of open block and ghosts was chosen after results had been seen.",
        rows=[
            row
            for (choice, scheme), cell in cells.items()
            for row in (
                Row(f"{choice.title}, {scheme}: hit ratio", cell.hit, "%"),
                Row(
                    f"{choice.title}, {scheme}: erases times {part(setup, LOAD)}",
                    float(cell.erases * part(setup, LOAD)),
                    "erases",
                    PUBLISHED("6", f"{LOAD}, {scheme}, {GB} GB, {OP} %")
                    if scheme in PLAIN
                    else None,
                ),
                Row(f"{choice.title}, {scheme}: mean", cell.mean_us, "µs"),
            )
        ],
        claims=[
            Claim(
                "a block of their own for moved pages erases less with LRU and with ARC",
                all(cells[own, one].erases < cells[DEFAULT, one].erases for one in PLAIN),
                _percents(
                    [
                        less_percent(cells[DEFAULT, one].erases, cells[own, one].erases)
                        for one in PLAIN
                    ]
                ),
            ),
            Claim(
                "without ghosts of dropped pages ARC with zero-migration hits less",
                cells[forgetful, arc_zm].hit < cells[DEFAULT, arc_zm].hit,
                f"{cells[forgetful, arc_zm].hit - cells[DEFAULT, arc_zm].hit:+.1f} points",
            ),
            Claim(
                "where the host waits for the data only, zero-migration saves less",
                all(
                    one < other
                    for one, other in zip(savings[answered], savings[DEFAULT], strict=True)
                ),
                f"{_percents(savings[answered])} against {_percents(savings[DEFAULT])}",
            ),
        ],
        explanation=[
            "Where the host waits for the data only, programs and collections go on while it asks "
            "for the next page, and a hit waits for the flash that is at work: what zero-migration "
            "spares still shortens these waits.",
        ],
    )


def _percents(values: Sequence[float]) -> str:
    return " and ".join(f"{value:+.1f} %" for value in values)


def _footprint(path: Path, many: int | None) -> int:
    """Pages that the first `many` requests of a recording ask for."""
    found = wordline.cache(path, "lru", ["1p"], align="expand", max_requests=many)
    return found.summary["input"]["distinct_pages"]


def _flash(footprint: int, share: float) -> int:
    """Pages of flash, in whole blocks."""
    return round(footprint * share / BLOCK_PAGES) * BLOCK_PAGES


def _kept(setup: Setup, name: str, path: Path) -> float | None:
    """What zero-migration gains with ARC over all of a recording, at 3 GB and 15 %. Points; None if
    it has to be quick. Of fewer requests most miss for the first time, and it gains nothing yet."""
    if setup.quick:
        return None
    pages = _flash(_footprint(path, None), SHARES[3])
    found = required(
        setup,
        {
            scheme: case(f"{name}, all of it", path, pages, 15, scheme)
            for scheme in (Scheme(ARC), Scheme(ARC, reclaim=ZM))
        },
    )
    moved, dropped = (Cell.of(summary).hit for summary in found.values())
    return dropped - moved


def _recorded(setup: Setup, name: str, path: Path, cells: Mapping[Scheme, Cell]) -> list[Claim]:
    """What the text says of a recording, at 3 GB and 15 %."""
    lru, arc = PLAIN
    short = PREVIEW if setup.quick else ""
    dropping = cells[Scheme(ARC, reclaim=ZM)]
    spared = less_percent(cells[arc].erases, dropping.erases)
    if name.startswith("arc-p3"):
        ratio = cells[arc].erases / max(1, cells[lru].erases)
        return [
            Claim(
                "E5: on P3 ARC erases 1.2 times as much as LRU or more",
                ratio >= 1.2,
                f"{ratio:.2f}",
                only_told=short,
            ),
            Claim(
                "Z1: on P3 zero-migration erases 60 to 80 % less with ARC",
                60 <= spared <= 80,
                f"{spared:.1f} %",
                only_told=short,
            ),
        ]
    kept = _kept(setup, name, path)
    if kept is None:
        kept = dropping.hit - cells[arc].hit
    return [
        Claim(
            "Z1: on w106 zero-migration erases 60 to 80 % less with ARC",
            60 <= spared <= 80,
            f"{spared:.1f} %",
            only_told=short,
        ),
        Claim(
            "T4: on all of w106 zero-migration gains hits with ARC (0.3 points or more)",
            kept >= 0.3,
            f"{kept:+.1f} points",
            only_told=short,
        ),
    ]


def recordings(setup: Setup) -> Figure:
    """Every scheme on recorded loads."""
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
        measured="Recorded loads without times, one request at a time, all of them read; "
        f"{'all' if many is None else f'at most {many:,}'} of their requests; flash of "
        "the shares of their footprints that 3 to 6 GB are of WebSearch2's.",
        rows=[
            row
            for (name, gb, op, scheme), cell in cells.items()
            for row in (
                Row(
                    f"{name}, {scheme}, {SHARES[gb]} of the footprint, {op} %: hit ratio",
                    cell.hit,
                    "%",
                ),
                Row(
                    f"{name}, {scheme}, {SHARES[gb]}, {op} %: erases", float(cell.erases), "erases"
                ),
                Row(
                    f"{name}, {scheme}, {SHARES[gb]}, {op} %: write amplification",
                    cell.amplification,
                    "",
                ),
                Row(f"{name}, {scheme}, {SHARES[gb]}, {op} %: mean", cell.mean_us, "µs"),
            )
        ],
        claims=claims,
        explanation=[*missing(KNOWN, paths)],
    )
