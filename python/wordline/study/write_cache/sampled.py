"""What section 4.4 says of sampled curves and of the static equation, and caches that are empty at
the start."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from wordline.study.figure import Claim, Figure, Row, Setup
from wordline.study.write_cache.loads import Fit, Folder, unrelated
from wordline.study.write_cache.model import equation
from wordline.study.write_cache.runs import (
    PUBLISHED,
    Fitted,
    best,
    chosen,
    cold,
    curves,
    device,
    part,
    victims,
)
from wordline.study.write_cache.schemes import ANALYTIC, CLEAR, OPS, Dynamic

PRINTED, MEANT = 1e-4, 1 / 1024
"""The sampling rate that the text prints, and the one of its 24 and 120 KB."""
ENTRY_BYTES = 12
SEEDS = tuple(range(1, 11))


@dataclass(frozen=True)
class Sampled:
    """Curves of the first window by samples of as many pages as a rate takes of the document's."""

    exact: int
    choices: Sequence[int]
    errors: Sequence[float]
    regrets: Sequence[float]

    @property
    def wrong(self) -> int:
        """How many choose another size than the exact curve."""
        return sum(one != self.exact for one in self.choices)


def figure(setup: Setup, traces: Folder, found: Fitted) -> Figure:
    """Memory, accuracy, the equation, and the start."""
    fits = [fit for fit in found.fits if fit.exponent == 0.9]
    printed = {fit: _sampled(setup, traces, found, fit, PRINTED) for fit in fits}
    meant = {fit: _sampled(setup, traces, found, fit, MEANT) for fit in fits}
    most = {
        name: _distinct_kib(setup, traces, found, window, larger)
        for name, window, larger in (("8 GB", 2.0, 1), ("40 GB", 2.5, 4))
    }
    real = {fit: _kib(setup, traces, found, fit) for fit in fits}
    (financial,) = found.of("Financial1", 0.9)
    start = _cold(setup, traces, financial)
    return Figure(
        id="4.4",
        title="Sampled curves, the static equation, the start",
        section="4.3, 4.4",
        measured=f"The first window of each load, read by SHARDS with {len(SEEDS)} hashes; rates "
        "are larger where loads are smaller, so that as many pages are looked at.",
        rows=[
            *(Row(f"memory of a window of {name} of distinct writes, R = 1/1024", value, "KiB",
                  PUBLISHED("4.4", f"memory, {name}")) for name, value in most.items()),
            *(Row(f"{fit}: memory of its first window, R = 1/1024", value, "KiB")
              for fit, value in real.items()),
            *(row for name, rate in (("0.0001", printed), ("1/1024", meant))
              for fit, one in rate.items() for row in _rows(fit, name, one)),
            *_equation(found),
            Row(f"{financial}: best static, empty at the start", float(start), "%"),
        ],
        claims=[
            Claim("X16: 24 and 120 KB hold a window in which every write is to another page, at "
                  "R = 1/1024 (7 %)",
                  all(abs(value / full - 1) <= 0.07 for value, full in
                      zip(most.values(), (24, 120), strict=True)),
                  ", ".join(f"{value:.1f}" for value in most.values())),
            Claim("X16: and the windows of the loads with less",
                  all(value <= 1.07 * _published_kib(fit) for fit, value in real.items()),
                  ", ".join(f"{value:.1f}" for value in real.values())),
            Claim("X17: R = 0.0001 is enough: what is chosen by it takes at most 5 % longer",
                  max(max(one.regrets) for one in printed.values()) <= 5,
                  ", ".join(f"{max(one.regrets):.1f}" for one in printed.values())),
            Claim("a cache that is empty at the start is best at the same size or a larger one",
                  start <= found.best(financial), f"{start} % and {found.best(financial)} %"),
        ],
        explanation=[
            "The text prints R = 0.0001; 24 KB are 2,097,152 writes of 12 bytes at R = 1/1024, "
            "each to another page.",
            "The text says that a static equation can not work (report only). The one here is "
            "u = (u' - 1) / ln u', with u the cached share of the 95 % that is not kept free: too "
            "high where victims of a write cache are empty, which changes few choices.",
            "An empty cache evicts nothing until it is full: each page of it saves 5 ms once.",
        ],
    )  # fmt: skip


def _rows(fit: Fit, rate: str, one: Sampled) -> list[Row]:
    return [
        Row(f"{fit}, R = {rate}: mean error of the curve", fmean(one.errors), "points"),
        Row(f"{fit}, R = {rate}: largest", max(one.errors), "points"),
        Row(f"{fit}, R = {rate}: other choices, of {len(SEEDS)}", float(one.wrong), ""),
        Row(f"{fit}, R = {rate}: longest above the choice of the exact curve", max(one.regrets),
            "%"),
    ]  # fmt: skip


def _equation(found: Fitted) -> list[Row]:
    rows = [
        Row(f"victims at {op} %: equation", 100 * equation(op), "%") for op in OPS
    ]  # fmt: skip
    for fit in found.fits:
        cells = found.dynamic[fit]
        table, static = (
            cells[Dynamic(fit.row.window, CLEAR)], cells[Dynamic(fit.row.window, CLEAR, ANALYTIC)]
        )  # fmt: skip
        rows += [
            Row(f"{fit}: largest error of the equation",
                max(abs(100 * (equation(op) - found.static[fit][op].victims)) for op in OPS),
                "points"),
            Row(f"{fit}: response time with the equation, against the table (report only)",
                100 * (static.mean_us / table.mean_us - 1), "%"),
        ]  # fmt: skip
    return rows


def _window(found: Fitted, fit: Fit) -> int:
    return round(fit.row.window * found.pages)


def _sampled(setup: Setup, traces: Folder, found: Fitted, fit: Fit, rate: float) -> Sampled:
    trace, first = traces.load(fit, part(setup)), _window(found, fit)
    table, cells = victims(found.static[fit]), found.static[fit]
    exact, _ = curves(trace, found.pages, "exact", first=first)
    sampled = [
        curves(trace, found.pages, "shards", rate=_rate(setup, fit, rate), first=first, seed=seed)[
            0
        ]
        for seed in SEEDS
    ]
    right = chosen(exact, table)
    choices = [chosen(curve, table) for curve in sampled]
    return Sampled(
        right,
        choices,
        [100 * abs(curve[op] - exact[op]) for curve in sampled for op in OPS],
        [100 * (cells[op].mean_us / cells[right].mean_us - 1) for op in choices],
    )


def _rate(setup: Setup, fit: Fit, rate: float) -> float:
    return rate * fit.part(part(setup))


def _kib(setup: Setup, traces: Folder, found: Fitted, fit: Fit) -> float:
    """What a tracker of the first window takes."""
    rate = _rate(setup, fit, MEANT)
    trace = traces.load(fit, part(setup))
    _, pages = curves(trace, found.pages, "shards", rate=rate, first=_window(found, fit))
    return pages * rate * ENTRY_BYTES / 1024


def _published_kib(fit: Fit) -> float:
    return 24 if fit.row.flash_gb == 4 else 120


def _distinct_kib(setup: Setup, traces: Folder, found: Fitted, window: float, larger: int) -> float:
    """What a tracker of a window of distinct pages takes, on a flash `larger` times 4 GB."""
    count = round(window * found.pages)
    trace = traces.trace(f"distinct/{count}", unrelated(count, count))
    rate = MEANT * larger * part(setup)
    _, pages = curves(trace, found.pages, "shards", rate=rate)
    return pages * rate * ENTRY_BYTES / 1024


def _cold(setup: Setup, traces: Folder, fit: Fit) -> int:
    """The best static cache of those that are empty at the start."""
    loads = {str(fit): (device(setup, traces), traces.load(fit, part(setup)))}
    return best(cold(setup, loads)[str(fit)])
