"""Runs of loads on static and dynamic caches that are full at the start."""

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
    MAIN,
    PART,
    QUICK,
    QUICK_PART,
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
    """Results for the pages that a load writes: counts, sums of times in microseconds, and the
    victim utilisations that the partition policy predicts (`trained`)."""

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
        """Takes the results from a summary. Requests are single pages."""
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
        """Returns the results minus those of an earlier run. Held pages and the victim table are
        those at the end."""
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
        """Hit ratio of the pages. Per cent."""
        return 100 * self.hits / max(1, self.pages)

    @property
    def mean_us(self) -> float:
        """Response time per page, excluding destages caused by shrinking the cache.
        Microseconds."""
        return self.response_us / max(1, self.pages)

    @property
    def charged_us(self) -> float:
        """Response time per page, with these destages. Microseconds."""
        return (self.response_us + self.resize_us) / max(1, self.pages)

    @property
    def victims(self) -> float:
        """U: mean share of valid pages in victim blocks."""
        return self.moved / max(1, self.erases * BLOCK_PAGES)


Statics = Mapping[int, Cell]
"""Results by over-provisioning."""


@dataclass(frozen=True)
class Device:
    """Flash of `pages` pages, and the traces that fill caches on it."""

    pages: int
    fills: Fills

    def case(
        self,
        label: str,
        more: Mapping[str, Value],
        traces: Sequence[Path],
        requests: int | None = None,
    ) -> Case:
        """Returns a case of traces on the flash, one request at a time."""
        blocks = self.pages // BLOCK_PAGES
        settings: dict[str, Value] = {
            "nand.geometry.blocks_per_plane": blocks,
            "ftl.gc.start_free_pages": int(THRESHOLD * self.pages),
            "disk.capacity_bytes": 1 << 50,
            "replay.mode.closed-loop.queue_depth": 1,
            **more,
        }
        return Case(DEVICE, f"{label}, {blocks} blocks", settings, traces, requests)

    def filled(
        self,
        label: str,
        more: Mapping[str, Value],
        fill: Path,
        trace: Path,
        requests: int | None = None,
    ) -> Case:
        """Returns a case of a trace on a cache that `fill` fills during the warm-up. The results
        cover only the trace; `requests` also counts those of the warm-up."""
        return self.case(label, {**more, "observe.warm_up_files": 1}, [fill, trace], requests)


def seeds(setup: Setup) -> range:
    """Returns the seeds of the hashes that choose the sampled pages."""
    return range(1, 5 if setup.quick else 11)


def part(setup: Setup) -> int:
    """Returns the factor by which the 4 GB loads and their flash are scaled down."""
    return QUICK_PART if setup.quick else FULL_PART if setup.full else PART


def device(setup: Setup, folder: Folder) -> Device:
    """Returns the flash of the fitted loads."""
    pages = capacity(part(setup))
    return Device(pages, folder.fills(pages))


Loads = Mapping[str, tuple[Device, Path]]
"""Traces, and the flash that they run on."""


def statics(
    setup: Setup, loads: Loads, more: Mapping[str, Value] | None = None, suffix: str = ""
) -> dict[str, dict[int, Cell]]:
    """Runs loads on caches of every over-provisioning. `suffix` describes `more` in the labels."""
    cases = {
        (load, op): on.filled(
            f"{load}, {op} %{suffix}", {**static(op), **(more or {})}, on.fills.static, trace
        )
        for load, (on, trace) in loads.items()
        for op in OPS
    }
    found = {key: Cell.of(summary) for key, summary in required(setup, cases).items()}
    return {load: {op: found[load, op] for op in OPS} for load in loads}


def partial(
    setup: Setup, load: str, on: Device, trace: Path, wanted: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], Cell]:
    """Returns the results after given numbers of a load's pages, by over-provisioning and number of
    pages."""
    cases = {
        (op, pages): on.filled(
            f"{load}, {op} %, {pages} pages", static(op), on.fills.static, trace, on.pages + pages
        )
        for op, pages in wanted
    }
    return {key: Cell.of(summary) for key, summary in required(setup, cases).items()}


def cold(setup: Setup, loads: Loads) -> dict[str, dict[int, Cell]]:
    """Runs loads on caches that are empty at the start."""
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
    suffix: str = "",
) -> dict[str, dict[Dynamic, Cell]]:
    """Runs loads on dynamic caches with given victim tables. Returns results by load. `suffix`
    describes `more` in the labels."""
    cases = {
        (load, one): on.filled(
            f"{one}, {load}{suffix}",
            {**one.overrides(on.pages, victims[load]), **(more or {})},
            on.fills.dynamic[one.window],
            trace,
        )
        for load, (on, trace) in loads.items()
        for one in schemes.get(load, ())
    }
    found = {key: Cell.of(summary) for key, summary in required(setup, cases).items()}
    return {load: {one: found[load, one] for one in wanted} for load, wanted in schemes.items()}


def cold_dynamic(
    setup: Setup,
    loads: Loads,
    victims: Mapping[str, Sequence[float]],
    schemes: Mapping[str, Iterable[Dynamic]],
    seed: int = 1,
) -> dict[str, dict[Dynamic, Cell]]:
    """Runs loads on dynamic caches that are empty at the start. Returns results by load. The seed
    is that of the sampling hash."""
    suffix = f", hash {seed}" if seed > 1 else ""
    cases = {
        (load, one): replace(
            on.case(
                f"{one}, {load}, empty at the start{suffix}",
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
    """Returns U, the share of valid pages in victim blocks, at every over-provisioning."""
    return [cells[op].victims for op in OPS]


def best(cells: Statics) -> int:
    """Returns the over-provisioning with the shortest response time."""
    return min(OPS, key=lambda op: cells[op].mean_us)


def over(cell: Cell, cells: Statics, *, charged: bool = False) -> float:
    """Returns by how much the response time per page exceeds that of the best static cache. Per
    cent."""
    least = cells[best(cells)].mean_us
    # Subtracting the fill leaves rounding errors.
    return round(100 * ((cell.charged_us if charged else cell.mean_us) / least - 1), 6) + 0.0


def ended(cell: Cell, pages: int) -> int:
    """Returns the final over-provisioning of a cache, rounded to one of the eight."""
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
    """Returns the miss-ratio curve of a trace, or of its `first` requests, at the eight sizes, and
    the result from which it was taken."""
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
    """Returns the over-provisioning with the shortest response time by formula 4.5."""
    return choice({op: (one, curve[op]) for op, one in zip(OPS, victims, strict=True)})


@dataclass(frozen=True)
class Fitted:
    """Results of the fitted loads on flash of `pages` pages."""

    pages: int
    static: Mapping[Fit, Statics]
    dynamic: Mapping[Fit, Mapping[Dynamic, Cell]]

    own: Mapping[Fit, tuple[Statics, Mapping[Dynamic, Cell]]]
    """Results of some loads with a separate active block for relocated pages, static and
    dynamic."""

    @property
    def fits(self) -> list[Fit]:
        """The fitted loads."""
        return list(self.static)

    def of(self, name: str, *exponents: float) -> list[Fit]:
        """Returns the fitted loads of a row at the given exponents."""
        return [fit for fit in self.static if fit.name == name and fit.exponent in exponents]

    @property
    def main(self) -> list[Fit]:
        """The loads that every figure shows, one of each row of the table."""
        return [fit for fit in self.static if fit.is_main]

    def over(self, fit: Fit, scheme: Dynamic, *, charged: bool = False) -> float:
        """Returns by how much the response time per page exceeds that of the best static cache. Per
        cent."""
        return over(self.dynamic[fit][scheme], self.static[fit], charged=charged)

    def ended(self, fit: Fit, scheme: Dynamic) -> int:
        """Returns the final over-provisioning of a dynamic cache."""
        return ended(self.dynamic[fit][scheme], self.pages)

    def best(self, fit: Fit) -> int:
        """Returns the best static over-provisioning."""
        return best(self.static[fit])


def optima(found: Fitted) -> str:
    """Returns a sentence with the best static over-provisioning of each load."""
    bests = "; ".join(f"{fit}: {found.best(fit)} %" for fit in found.fits)
    return f"Best static over-provisioning: {bests}."


def fitted(setup: Setup, folder: Folder) -> Fitted:
    """Runs every fitted load on every static cache and on the dynamic ones of the figures."""
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
    )


OWN: dict[str, Value] = {"ftl.gc.own_block": True}


def _with_own_frontier(
    setup: Setup, paths: Mapping[Fit, tuple[Device, Path]]
) -> dict[Fit, tuple[Statics, Mapping[Dynamic, Cell]]]:
    loads = {str(fit): path for fit, path in paths.items()}
    suffix = ", separate active block for relocated pages"
    static = statics(setup, loads, OWN, suffix)
    shares = {load: victims(cells) for load, cells in static.items()}
    wanted = {str(fit): [Dynamic(fit.row.window, one) for one in TRACKERS] for fit in paths}
    dynamic = dynamics(setup, loads, shares, wanted, OWN, suffix)
    return {fit: (static[str(fit)], dynamic[str(fit)]) for fit in paths}


def schemes(fit: Fit, setup: Setup) -> list[Dynamic]:
    """Returns the dynamic caches of a fitted load, without repetitions. A quick study takes every
    other window."""
    window = fit.row.window
    found = [*(Dynamic(window, one) for one in TRACKERS), Dynamic(window, CLEAR, ANALYTIC)]
    for tracker, fits in SWEPT.items():
        if fit in fits:
            found += [Dynamic(one, tracker) for one in RATIOS[:: 2 if setup.quick else 1]]
    return list(dict.fromkeys(found))


SWEPT = {tracker: {*MAIN.values(), Fit("Homes", 1.1)} for tracker in (CLEAR, KEEP)}
"""Loads that are run with every window."""
