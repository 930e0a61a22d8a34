"""Statements of section 4.4 on sampled curves: memory, errors, and the sizes chosen with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.write_cache.claims import labelled
from wordline_studies.write_cache.loads import GB_PAGES, MAIN, Fit, Folder, uniform
from wordline_studies.write_cache.model import latency_us
from wordline_studies.write_cache.runs import (
    PUBLISHED,
    Cell,
    Curve,
    Fitted,
    chosen,
    cold_dynamic,
    curves,
    device,
    optima,
    part,
    seeds,
    victims,
)
from wordline_studies.write_cache.schemes import AET, BY_RATE, BY_SIZE, CLEAR, OPS, Dynamic

PRINTED, MEANT = 1e-4, 1 / 1024
"""The printed sampling rate, and the rate that gives the printed 24 and 120 KB."""
ENTRY_BYTES = 12
GIVEN_KIB = {8: 24, 40: 120}
"""Memory of a sample according to the text, by size of the window in GB. The text prints KB; KiB
are assumed."""
EXTENT_PAGES = GB_PAGES


@dataclass(frozen=True)
class Sampled:
    """Curves of the first window, from samples of as many pages as a rate takes in the document, or
    of a fixed number of pages.

    By hash: the chosen size, the error of the curve at the eight sizes, and how much longer the
    response time per page is than at the size that the exact curve chooses, in the static runs
    (`regrets`) and by formula 4.5 (`foreseen`). Per cent.
    """

    exact: int
    choices: Sequence[int]
    errors: Sequence[float]
    regrets: Sequence[float]
    foreseen: Sequence[float]

    @property
    def wrong(self) -> int:
        """Number of hashes that choose another size than the exact curve."""
        return sum(one != self.exact for one in self.choices)


@dataclass(frozen=True)
class Memory:
    """Size of a sample at the end of a window of distinct writes."""

    pages: int
    bytes: int

    @property
    def kib(self) -> float:
        """Memory with the document's entries of 12 bytes. KiB."""
        return self.pages * ENTRY_BYTES / 1024


def figure(setup: Setup, traces: Folder, found: Fitted) -> Figure:
    """Returns the figure of the memory and accuracy of sampled curves, and of dynamic caches that
    use them."""
    fits = found.main
    printed = {
        fit: _sampled(setup, traces, found, fit, _by_rate(setup, fit, PRINTED)) for fit in fits
    }
    meant = {fit: _sampled(setup, traces, found, fit, _by_rate(setup, fit, MEANT)) for fit in fits}
    sized = {fit: _sampled(setup, traces, found, fit, _by_size(fit)) for fit in fits}
    aet = {
        str(fit): _aet(setup, traces, found, fit)
        for fit in found.fits
        if fit.exponent is not None and fit.exponent > 0.6
    }
    flat = _uniform(traces, found)
    by_rate = {gb: _memory(traces, gb, rate=MEANT) for gb in GIVEN_KIB}
    by_size = {gb: _memory(traces, gb, samples=_entries(gb)) for gb in GIVEN_KIB}
    real = {fit: _kib(setup, traces, found, fit) for fit in fits}
    moving = [MAIN["Financial1"]] if setup.quick else fits
    cells = _dynamic(setup, traces, found, moving)
    return Figure(
        id="4.4 curves",
        title="Sampled curves",
        section="4.4",
        measured=(
            "Memory: windows of 8 and 40 GB at the document's size, in which every write is to a "
            f"new page. Accuracy: the first window of each load, with {len(seeds(setup))} hashes; "
            "sampling rates are scaled up by the factor by which loads are scaled down, so that "
            "the number of sampled pages is the same; AET samples all pages. Response times: "
            "caches start empty."
        ),
        rows=[
            *_memory_rows(by_rate, by_size),
            *(
                Row(f"{fit}, R = 1/1024: memory of the sample of the first window", value, "KiB")
                for fit, value in real.items()
            ),
            *(
                row
                for name, one in (
                    ("R = 0.0001", printed),
                    ("R = 1/1024", meant),
                    ("fixed size", sized),
                )
                for fit, values in one.items()
                for row in _rows(fit, name, values)
            ),
            *(
                Row(
                    f"{load}, AET: largest difference of the miss ratio from the exact curve",
                    100 * value,
                    "points",
                )
                for load, value in (*aet.items(), ("uniform, cleared window", flat))
            ),
            *(row for fit in moving for row in _dynamic_rows(fit, cells[str(fit)])),
        ],
        claims=[
            *_memory_claims(by_size, real),
            *_accuracy_claims(printed, meant, sized),
            Claim(
                "The miss ratios of AET are within 0.006 of the exact curve for pages chosen by "
                "Zipf's law (Homes, a = 0.9 and 1.1), and within 0.02 for a uniform load in a "
                "cleared window",
                max(value for load, value in aet.items() if load.startswith("Homes")) <= 0.006
                and round(flat, 2) <= 0.02,
                labelled({**aet, "uniform": flat}, 4),
                quick=False,
            ),
        ],
        explanation=[
            "The text prints R = 0.0001. Its 24 KB are the memory for 2,097,152 writes of "
            "distinct pages at R = 1/1024 with 12 bytes for each sampled page; R = 0.0001 would "
            "give 2.4 KB. The tracker's entries are larger here: a hash, a stack position, and a "
            "count by distance.",
            "AET has a slightly larger error for objects of several pages, whose distances are "
            "not independent.",
            optima(found),
        ],
    )


def _by_rate(setup: Setup, fit: Fit, rate: float) -> tuple[float, None]:
    return rate * fit.part(part(setup)), None


def _entries(gigabytes: int) -> int:
    return 2048 if gigabytes == 8 else 10240


def _by_size(fit: Fit) -> tuple[None, int]:
    return None, _entries(8 if fit.row.flash_gb == 4 else 40)


def _window(found: Fitted, fit: Fit) -> int:
    return round(fit.row.window * found.pages)


def _sampled(
    setup: Setup, traces: Folder, found: Fitted, fit: Fit, by: tuple[float | None, int | None]
) -> Sampled:
    trace, first = traces.load(fit, part(setup)), _window(found, fit)
    table, cells = victims(found.static[fit]), found.static[fit]
    exact, _ = curves(trace, found.pages, "exact", first=first)
    rate, samples = by
    sampled = [
        curves(trace, found.pages, "shards", rate=rate, samples=samples, first=first, seed=seed)[0]
        for seed in seeds(setup)
    ]
    right = chosen(exact, table)
    choices = [chosen(curve, table) for curve in sampled]
    formula = {op: latency_us(u, exact[op]) for op, u in zip(OPS, table, strict=True)}
    return Sampled(
        right,
        choices,
        [_off(curve, exact, op) for curve in sampled for op in OPS],
        [100 * (cells[op].mean_us / cells[right].mean_us - 1) for op in choices],
        [100 * (formula[op] / formula[right] - 1) for op in choices],
    )


def _off(curve: Curve, exact: Curve, op: int) -> float:
    return 100 * abs(curve[op] - exact[op])


def _farthest(path: Path, flash: int, first: int) -> float:
    exact, _ = curves(path, flash, "exact", first=first)
    aet, _ = curves(path, flash, "aet", first=first)
    return max(abs(aet[op] - exact[op]) for op in OPS)


def _aet(setup: Setup, traces: Folder, found: Fitted, fit: Fit) -> float:
    return _farthest(traces.load(fit, part(setup)), found.pages, _window(found, fit))


def _uniform(traces: Folder, found: Fitted) -> float:
    length = 2 * found.pages
    path = traces.trace("uniform", uniform(length, round(1.25 * found.pages)))
    return _farthest(path, found.pages, length)


def _kib(setup: Setup, traces: Folder, found: Fitted, fit: Fit) -> float:
    """Returns the memory of a tracker that has seen the first window, with entries of the
    document's size. KiB."""
    rate, _ = _by_rate(setup, fit, MEANT)
    trace = traces.load(fit, part(setup))
    _, curve = curves(trace, found.pages, "shards", rate=rate, first=_window(found, fit))
    return (curve["sampled_pages"] or 0) * ENTRY_BYTES / 1024


def _memory(
    traces: Folder, gigabytes: int, *, rate: float | None = None, samples: int | None = None
) -> Memory:
    """Returns the memory of a window of distinct writes."""
    path = traces.extents(f"{gigabytes} GB", gigabytes, EXTENT_PAGES)
    _, curve = curves(path, EXTENT_PAGES, "shards", rate=rate, samples=samples)
    return Memory(curve["sampled_pages"] or 0, curve["sample_bytes"] or 0)


def _memory_rows(by_rate: Mapping[int, Memory], by_size: Mapping[int, Memory]) -> list[Row]:
    return [
        *(
            Row(
                f"{gb} GB of distinct writes, R = 1/1024: memory with entries of 12 bytes",
                one.kib,
                "KiB",
                PUBLISHED("4.4", f"memory of the miss-ratio curve, window of {gb} GB"),
            )
            for gb, one in by_rate.items()
        ),
        *(
            Row(
                f"{gb} GB of distinct writes, R = 1/1024: memory of the tracker here",
                one.bytes / 1024,
                "KiB",
            )
            for gb, one in by_rate.items()
        ),
        *(
            Row(
                f"{gb} GB of distinct writes, sample of fixed size: number of sampled pages",
                float(one.pages),
                "",
            )
            for gb, one in by_size.items()
        ),
        *(
            Row(
                f"{gb} GB of distinct writes, sample of fixed size: memory of the tracker here",
                one.bytes / 1024,
                "KiB",
            )
            for gb, one in by_size.items()
        ),
    ]


def _memory_claims(by_size: Mapping[int, Memory], real: Mapping[Fit, float]) -> list[Claim]:
    limits = {fit: 1.07 * (24 if fit.row.flash_gb == 4 else 120) for fit in real}
    return [
        Claim(
            "X16: samples of the first windows of the loads take at most 24 KiB (4 GB of flash) "
            "or 120 KiB (16 GB), plus 7 %",
            all(value <= limits[fit] for fit, value in real.items()),
            labelled({str(fit): value for fit, value in real.items()}),
        ),
        Claim(
            "X16: samples of a fixed size never hold more than 2,048 pages (window of 8 GB) or "
            "10,240 pages (40 GB)",
            all(one.pages <= _entries(gb) for gb, one in by_size.items()),
            labelled({f"{gb} GB": float(one.pages) for gb, one in by_size.items()}, 0),
        ),
    ]


def _accuracy_claims(
    printed: Mapping[Fit, Sampled], meant: Mapping[Fit, Sampled], sized: Mapping[Fit, Sampled]
) -> list[Claim]:
    few = {str(fit): max(one.regrets) for fit, one in printed.items()}
    foreseen = {str(fit): max(one.foreseen) for fit, one in printed.items()}
    more = {
        f"{fit}, {name}": max(one.regrets)
        for name, by_fit in (("R = 1/1024", meant), ("fixed size", sized))
        for fit, one in by_fit.items()
    }
    return [
        Claim(
            "X17: R = 0.0001 is enough: by formula 4.5, the response time at the chosen size is "
            "at most 5 % longer than at the size that the exact curve chooses",
            max(foreseen.values()) <= 5,
            labelled(foreseen),
        ),
        Claim(
            "X17: with R = 0.0001, the response time at the chosen size is at most 5 % longer in "
            "the static runs, too",
            max(few.values()) <= 5,
            labelled(few),
            quick=False,
        ),
        Claim(
            "X17: with ten times as many sampled writes, the response time at the chosen size in "
            "the static runs is at most 5 % longer on all loads",
            max(more.values()) <= 5,
            labelled(more),
        ),
    ]


def _rows(fit: Fit, name: str, one: Sampled) -> list[Row]:
    return [
        Row(f"{fit}, {name}: mean error of the miss ratio", fmean(one.errors), "points"),
        Row(f"{fit}, {name}: largest error of the miss ratio", max(one.errors), "points"),
        Row(
            f"{fit}, {name}: number of hashes that choose another size than the exact curve, of "
            f"{len(one.choices)}",
            float(one.wrong),
            "",
        ),
        Row(
            f"{fit}, {name}: largest excess of the response time over that at the size that the "
            "exact curve chooses, in static runs",
            max(one.regrets),
            "%",
        ),
        Row(
            f"{fit}, {name}: largest excess of the response time over that at the size that the "
            "exact curve chooses, by formula 4.5",
            max(one.foreseen),
            "%",
        ),
    ]


def _dynamic(
    setup: Setup, traces: Folder, found: Fitted, fits: Sequence[Fit]
) -> dict[str, dict[Dynamic, Cell]]:
    """Runs dynamic caches with sampled and exact curves, empty at the start.

    If writes preceded the load, a sample of them could resize the cache.
    """
    on = device(setup, traces)
    paths = {str(fit): (on, traces.load(fit, part(setup))) for fit in fits}
    schemes: dict[str, list[Dynamic]] = {}
    for fit in fits:
        rate, _ = _by_rate(setup, fit, MEANT)
        _, entries = _by_size(fit)
        kinds = ((BY_RATE, rate), (BY_SIZE, float(entries)), (AET, rate))
        schemes[str(fit)] = [
            Dynamic(fit.row.window, CLEAR, curve=curve, sampled=sampled) for curve, sampled in kinds
        ]
    shares = {str(fit): victims(found.static[fit]) for fit in fits}
    for fit in fits:
        schemes[str(fit)].append(Dynamic(fit.row.window))
    return cold_dynamic(setup, paths, shares, schemes)


def _dynamic_rows(fit: Fit, cells: Mapping[Dynamic, Cell]) -> list[Row]:
    exact = cells[Dynamic(fit.row.window)]
    return [
        Row(
            f"{fit}: change of the response time if the curve is sampled ({_KINDS[one.curve]}) "
            "instead of exact",
            100 * (cell.mean_us / exact.mean_us - 1),
            "%",
        )
        for one, cell in cells.items()
        if one.curve in _KINDS
    ]


_KINDS = {BY_RATE: "SHARDS, R = 1/1024", BY_SIZE: "SHARDS, fixed size", AET: "AET, R = 1/1024"}
