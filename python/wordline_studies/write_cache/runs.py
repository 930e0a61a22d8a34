"""Loads on caches that are full at the start, static and dynamic."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import wordline
from wordline._caching.mrc import MrcCurve
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Numbers, Setup
from wordline_studies.write_cache.loads import (
    BLOCK_PAGES,
    FITS,
    FULL_PART,
    PART,
    QUICK,
    QUICK_PART,
    TABLE,
    Fills,
    Fit,
    Folder,
    cached,
    capacity,
)
from wordline_studies.write_cache.model import choice
from wordline_studies.write_cache.schemes import (
    ANALYTIC,
    CLEAR,
    KEEP,
    OPS,
    RATIOS,
    TRACKERS,
    Dynamic,
    static,
)

PUBLISHED = Numbers("wordline_studies.write_cache")
DEVICE = "xia2017-write-cache"
THRESHOLD = 0.05


@dataclass(frozen=True)
class Cell:
    """What came of the pages that a load writes. Counts, and microseconds of all of them."""

    pages: int
    hits: int
    response_us: float
    erases: int
    moved: int
    resized: int
    resize_us: float
    divisions: int
    held: int
    demanded: int = 0
    trainings: int = 0
    trained: tuple[float, ...] = ()

    @staticmethod
    def of(summary: Summary) -> "Cell":
        """What a summary has of it. Requests are single pages."""
        cache, flash = summary["cache"], summary["flash"]
        assert cache is not None
        pages = cache["write_hits"] + cache["write_misses"]
        return Cell(
            pages=pages,
            hits=cache["write_hits"],
            response_us=(summary["latency"]["write"]["mean_us"] or 0.0) * pages,
            erases=flash["erases"],
            moved=flash["gc_pages_moved"],
            resized=cache["destaged_to_resize"],
            resize_us=cache["resize_destage_s"] * 1e6,
            divisions=cache["divisions"],
            held=cache["write_list_pages"],
            demanded=cache["destaged_on_demand"],
            trainings=cache["trainings"],
            trained=tuple(cache["victim_utilisations"]),
        )

    def after(self, before: "Cell") -> "Cell":
        """What is left of it without that which came before, with the pages held and what was
        trained at its end."""
        return Cell(
            self.pages - before.pages,
            self.hits - before.hits,
            self.response_us - before.response_us,
            self.erases - before.erases,
            self.moved - before.moved,
            self.resized - before.resized,
            self.resize_us - before.resize_us,
            self.divisions - before.divisions,
            self.held,
            self.demanded - before.demanded,
            self.trainings - before.trainings,
            self.trained,
        )

    @property
    def hit(self) -> float:
        """Per cent of the pages."""
        return 100 * self.hits / max(1, self.pages)

    @property
    def mean_us(self) -> float:
        """Response time of a page, without destages that a shrinking causes."""
        return self.response_us / max(1, self.pages)

    @property
    def charged_us(self) -> float:
        """With them."""
        return (self.response_us + self.resize_us) / max(1, self.pages)

    @property
    def victims(self) -> float:
        """U: the mean share of valid pages in victims."""
        return self.moved / max(1, self.erases * BLOCK_PAGES)


Statics = Mapping[int, Cell]
"""By over-provisioning."""


@dataclass(frozen=True)
class Device:
    """A flash of so many pages, and what fills caches on it."""

    pages: int
    fills: Fills

    def case(
        self,
        label: str,
        more: Mapping[str, Value],
        traces: Sequence[Path],
        requests: int | None = None,
    ) -> Case:
        """Traces on it, one request at a time; at most so many of all."""
        blocks = self.pages // BLOCK_PAGES
        settings: dict[str, Value] = {
            "nand.geometry.blocks_per_plane": blocks,
            "ftl.gc.start_free_pages": int(THRESHOLD * self.pages),
            "disk.capacity_bytes": 1 << 50,
            "replay.mode.closed-loop.queue_depth": 1,
            **more,
        }
        return Case(DEVICE, f"{label}, {blocks} blocks", settings, traces, requests)


def seeds(setup: Setup) -> range:
    """Of hashes that choose what is sampled."""
    return range(1, 5 if setup.quick else 11)


def part(setup: Setup) -> int:
    """The loads of 4 GB and their flash are this part of the document's."""
    return QUICK_PART if setup.quick else FULL_PART if setup.full else PART


def device(setup: Setup, folder: Folder) -> Device:
    """That of the fitted loads."""
    pages = capacity(part(setup))
    return Device(pages, folder.fills(pages))


Loads = Mapping[str, tuple[Device, Path]]
"""Traces, and what they are run on."""


def statics(
    setup: Setup, loads: Loads, more: Mapping[str, Value] | None = None, told: str = ""
) -> dict[str, dict[int, Cell]]:
    """Loads on caches of every over-provisioning. `more` keys are told in the labels."""
    cases: dict[tuple[str, int, bool], Case] = {}
    for load, (on, trace) in loads.items():
        for op in OPS:
            fill, keys = on.fills.static, {**static(op), **(more or {})}
            cases[load, op, False] = on.case(f"{op} %, filled{told}", keys, [fill])
            cases[load, op, True] = on.case(f"{load}, {op} %{told}", keys, [fill, trace])
    found = {key: Cell.of(summary) for key, summary in required(setup, cases).items()}
    return {
        load: {op: found[load, op, True].after(found[load, op, False]) for op in OPS}
        for load in loads
    }


def partial(
    setup: Setup, load: str, on: Device, trace: Path, wanted: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], Cell]:
    """What has come of a load after so many of its pages. By over-provisioning and pages."""
    asked = list(wanted)
    fill = on.fills.static
    cases = {
        (op, pages): on.case(
            f"{load}, {op} %, {pages} pages", static(op), [fill, trace], on.pages + pages
        )
        for op, pages in asked
    }
    cases |= {(op, 0): on.case(f"{op} %, filled", static(op), [fill]) for op, _ in asked}
    found = {key: Cell.of(summary) for key, summary in required(setup, cases).items()}
    return {(op, pages): found[op, pages].after(found[op, 0]) for op, pages in asked}


def cold(setup: Setup, loads: Loads) -> dict[str, dict[int, Cell]]:
    """Loads on caches that are empty at the start."""
    cases = {
        (load, op): on.case(f"{load}, {op} %, empty at the start", static(op), [trace])
        for load, (on, trace) in loads.items()
        for op in OPS
    }
    found = {key: Cell.of(summary) for key, summary in required(setup, cases).items()}
    return {load: {op: found[load, op] for op in OPS} for load in loads}


def dynamics(
    setup: Setup,
    loads: Loads,
    victims: Mapping[str, Sequence[float]],
    schemes: Mapping[str, Iterable[Dynamic]],
    more: Mapping[str, Value] | None = None,
    told: str = "",
) -> dict[str, dict[Dynamic, Cell]]:
    """Loads on dynamic caches that know how full victims are. By load. `more` keys are told in the
    labels."""
    cases: dict[tuple[str, Dynamic, bool], Case] = {}
    for load, wanted in schemes.items():
        on, trace = loads[load]
        for one in wanted:
            keys = {**one.overrides(on.pages, victims[load]), **(more or {})}
            fill = on.fills.dynamic[one.window]
            cases[load, one, False] = on.case(f"{one}, {load}, filled{told}", keys, [fill])
            cases[load, one, True] = on.case(f"{one}, {load}{told}", keys, [fill, trace])
    found = {key: Cell.of(summary) for key, summary in required(setup, cases).items()}
    for (load, one, whole), cell in found.items():
        if not whole and cell.divisions:
            raise wordline.WordlineError(f"{load}, {one}: the cache was resized before the load")
    return {
        load: {one: found[load, one, True].after(found[load, one, False]) for one in wanted}
        for load, wanted in schemes.items()
    }


def cold_dynamic(
    setup: Setup,
    loads: Loads,
    victims: Mapping[str, Sequence[float]],
    schemes: Mapping[str, Iterable[Dynamic]],
    seed: int = 1,
) -> dict[str, dict[Dynamic, Cell]]:
    """Loads on dynamic caches that are empty at the start. By load. The seed is that of the hash
    which chooses what is sampled."""
    told = f", hash {seed}" if seed > 1 else ""
    cases = {
        (load, one): replace(
            on.case(
                f"{one}, {load}, empty at the start{told}",
                one.overrides(on.pages, victims[load]),
                [trace],
            ),
            seed=seed,
        )
        for load, (on, trace) in loads.items()
        for one in schemes[load]
    }
    found: dict[str, dict[Dynamic, Cell]] = {}
    for (load, one), summary in required(setup, cases).items():
        found.setdefault(load, {})[one] = Cell.of(summary)
    return found


def victims(cells: Statics) -> list[float]:
    """U at every over-provisioning."""
    return [cells[op].victims for op in OPS]


def best(cells: Statics) -> int:
    """The over-provisioning of the least response time."""
    return min(OPS, key=lambda op: cells[op].mean_us)


def over(cell: Cell, cells: Statics, *, charged: bool = False) -> float:
    """By how many per cent a page takes longer than in the best static cache."""
    least = cells[best(cells)].mean_us
    # What fills the cache is taken off, which leaves rounding.
    return round(100 * ((cell.charged_us if charged else cell.mean_us) / least - 1), 6) + 0.0


def ended(cell: Cell, pages: int) -> int:
    """The over-provisioning that a cache ended with, to the nearest of the eight."""
    return min(OPS, key=lambda op: abs(cached(op, pages) - cell.held))


Curve = Mapping[int, float]
"""Miss ratios by over-provisioning."""


def curves(
    trace: Path,
    pages: int,
    method: str,
    *,
    rate: float | None = None,
    samples: int | None = None,
    first: int | None = None,
    seed: int = 1,
) -> tuple[Curve, MrcCurve]:
    """The curve of the first writes of a trace at the eight sizes, and what else is known of it."""
    found = wordline.mrc(
        trace,
        method,
        rate=rate,
        samples=samples,
        max_requests=first,
        seed=seed,
        sizes=[f"{cached(op, pages)}p" for op in OPS],
    )
    (curve,) = found.curves
    by_size = {one["size_pages"]: one["miss_ratio"] for one in curve["sizes"]}
    return {op: by_size[cached(op, pages)] for op in OPS}, curve


def chosen(curve: Curve, victims: Sequence[float]) -> int:
    """The over-provisioning of the least latency by formula 4.5."""
    return choice({op: (one, curve[op]) for op, one in zip(OPS, victims, strict=True)})


@dataclass(frozen=True)
class Fitted:
    """What came of the fitted loads on a flash of so many pages."""

    pages: int
    static: Mapping[Fit, Statics]
    dynamic: Mapping[Fit, Mapping[Dynamic, Cell]]

    own: Mapping[Fit, tuple[Statics, Mapping[Dynamic, Cell]]]
    """Of some loads the same, static and dynamic, with a frontier of their own for moved pages."""
    first: Mapping[Fit, float]
    """Share of the writes that are the first of their pages."""

    @property
    def fits(self) -> list[Fit]:
        """The loads."""
        return list(self.static)

    def of(self, name: str, *exponents: float) -> list[Fit]:
        """Those of a row, of these exponents."""
        return [fit for fit in self.static if fit.name == name and fit.exponent in exponents]

    def over(self, fit: Fit, scheme: Dynamic, *, charged: bool = False) -> float:
        """By how many per cent a page takes longer than in the best static cache."""
        return over(self.dynamic[fit][scheme], self.static[fit], charged=charged)

    def ended(self, fit: Fit, scheme: Dynamic) -> int:
        """The over-provisioning that a dynamic cache ended with."""
        return ended(self.dynamic[fit][scheme], self.pages)

    def best(self, fit: Fit) -> int:
        """The best static over-provisioning."""
        return best(self.static[fit])


def optima(found: Fitted) -> str:
    """The best static over-provisionings by the exponent, as a sentence."""
    by_name: dict[str, list[Fit]] = {}
    for fit in found.fits:
        by_name.setdefault(fit.name, []).append(fit)
    told = "; ".join(
        f"{name} {', '.join(str(found.best(fit)) for fit in fits)} % at "
        f"{', '.join(f'{fit.exponent:g}' for fit in fits)}"
        for name, fits in by_name.items()
    )
    alike = {(fit.exponent, found.best(fit)) for fit in found.fits}
    apart = len(alike) > len({fit.exponent for fit in found.fits})
    ending = "" if apart else " It is the exponent that decides, and not which load it is."
    return f"Best static over-provisioning by the exponent a: {told}.{ending}"


def fitted(setup: Setup, folder: Folder) -> Fitted:
    """Every fitted load on every static cache, and on the dynamic ones of the figures."""
    on = device(setup, folder)
    fits = QUICK if setup.quick else FITS
    paths = {str(fit): (on, folder.load(fit, part(setup))) for fit in fits}
    static = statics(setup, paths)
    shares = {load: victims(cells) for load, cells in static.items()}
    dynamic = dynamics(setup, paths, shares, {str(fit): schemes(fit, setup) for fit in fits})
    return Fitted(
        on.pages,
        {fit: static[str(fit)] for fit in fits},
        {fit: dynamic[str(fit)] for fit in fits},
        _with_own_frontier(setup, {fit: paths[str(fit)] for fit in fits if fit.name == "Homes"}),
        {fit: _first(setup, paths[str(fit)][1], fit) for fit in fits},
    )


def _first(setup: Setup, path: Path, fit: Fit) -> float:
    _, told = curves(path, capacity(part(setup)), "exact")
    return told["distinct_pages"] / fit.writes(part(setup))


OWN: dict[str, Value] = {"ftl.gc.own_block": True}


def _with_own_frontier(
    setup: Setup, paths: Mapping[Fit, tuple[Device, Path]]
) -> dict[Fit, tuple[Statics, Mapping[Dynamic, Cell]]]:
    loads = {str(fit): path for fit, path in paths.items()}
    told = ", own frontier for moves"
    static = statics(setup, loads, OWN, told)
    shares = {load: victims(cells) for load, cells in static.items()}
    wanted = {str(fit): [Dynamic(fit.row.window, one) for one in TRACKERS] for fit in paths}
    dynamic = dynamics(setup, loads, shares, wanted, OWN, told)
    return {fit: (static[str(fit)], dynamic[str(fit)]) for fit in paths}


def schemes(fit: Fit, setup: Setup) -> list[Dynamic]:
    """The dynamic caches of a fitted load, without repeats. Every other window if it has to be
    quick."""
    window = fit.row.window
    found = [*(Dynamic(window, one) for one in TRACKERS), Dynamic(window, CLEAR, ANALYTIC)]
    for tracker, fits in SWEPT.items():
        if (fit.name, fit.exponent) in fits:
            found += [Dynamic(one, tracker) for one in RATIOS[:: 2 if setup.quick else 1]]
    return list(dict.fromkeys(found))


SWEPT = {
    CLEAR: {*((name, 0.9) for name in TABLE), ("Homes", 1.1), ("MSNFS", 0.6)},
    KEEP: {("Financial1", 0.9), ("Homes", 0.9), ("Homes", 1.1)},
}
"""Loads that are run with every window."""
