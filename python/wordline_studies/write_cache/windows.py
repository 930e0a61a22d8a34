"""Claims of the document on the window of the dynamic cache (figure 16, section 4.5.3)."""

from collections.abc import Mapping, Sequence
from itertools import chain, islice

from wordline_studies.figure import Claim, Setup
from wordline_studies.write_cache.claims import KEPT, READING, by_fit
from wordline_studies.write_cache.loads import MAIN, Fit, Folder, pages
from wordline_studies.write_cache.runs import Fitted, device, dynamics, over, part, statics, victims
from wordline_studies.write_cache.schemes import CLEAR, KEEP, RATIOS, Dynamic

NOTICEABLE = 5.0
"""Smallest change of a response time that is called noticeable. Per cent."""
LONGER = (
    "in a cleared window, first writes count as misses at every size; the shorter the window, the "
    "larger their share and the smaller the cache that is chosen; if the pages of earlier windows "
    "are kept, the response times depend on the window as the text says"
)
STEADY = (
    "the fitted loads keep their locality, so old writes do no harm: the longest windows are the "
    "best on Homes at a = 0.9 and on Exchange; on Financial1, the shortest window is the best, "
    "because every window chooses the best size; if the skew alternates, the best window is "
    "neither the smallest nor the largest"
)
ALTERNATING, PHASES, PHASE = (1.1, 0.4), 4, 4
"""Exponents of the load whose skew alternates, the number of its phases, and the amount written per
phase, in flash capacities."""
TRIED = (1.0, 1.5, 2.0, 3.0, 4.0)
"""Windows under this load, in flash capacities."""


def windows(found: Fitted, fit: Fit, tracker: str) -> dict[float, float]:
    """Returns by how much the response time exceeds that of the best static cache, by window. Per
    cent."""
    return {
        one: found.over(fit, Dynamic(one, tracker))
        for one in RATIOS
        if Dynamic(one, tracker) in found.dynamic[fit]
    }


def sensitivity(found: Fitted) -> list[Claim]:
    """Returns the claims on figure 16, section 4.5.3."""
    swept = [fit for fit in found.fits if len(windows(found, fit, CLEAR)) > 1]
    inner = {
        fit: min(one[RATIOS[0]], one[RATIOS[-1]]) - min(one.values())
        for fit in swept
        for one in (windows(found, fit, CLEAR),)
    }
    return [
        Claim(
            "X14: on every load, the best window is neither the smallest nor the largest",
            min(inner.values()) > 0,
            f"excess of the better end over the best window, percentage points: {by_fit(inner)}",
            STEADY,
            ids=("X4-009",),
        ),
        *_kept(found, swept),
        *_windows_of_homes(found, [fit for fit in swept if fit.name == "Homes"]),
        *(
            Claim(
                f"X14: {name} depends on the window as Homes does: it is noticeably faster with "
                f"32 GB than with 16 GB ({NOTICEABLE:g} % or more), and then stable (within "
                f"{NOTICEABLE:g} %)",
                _is_settled(found, [fit for fit in swept if fit.name == name]),
                _changes(found, [fit for fit in swept if fit.name == name], CLEAR),
                quick=name != "MSNFS",
                ids=(one,),
            )
            for name, one in (("Exchange", "X4-044"), ("MSNFS", "X4-045"))
        ),
        *_windows_of_financial(found),
    ]


def alternating(setup: Setup, traces: Folder) -> dict[float, float]:
    """Returns by how much the response time exceeds that of the best static cache, by window, under
    writes to the objects of Homes whose skew alternates. Per cent."""
    on, scale = device(setup, traces), part(setup)
    length = PHASE * on.pages
    written = [
        islice(pages(Fit("Homes", exponent), scale), turn * length, (turn + 1) * length)
        for turn in range(PHASES // 2)
        for exponent in ALTERNATING
    ]
    loads = {"alternating": (on, traces.trace("homes, alternating", chain(*written)))}
    static = statics(setup, loads)
    shares = {load: victims(cells) for load, cells in static.items()}
    schemes = {load: [Dynamic(one, CLEAR) for one in TRIED] for load in loads}
    (cells,) = dynamics(setup, loads, shares, schemes).values()
    return {scheme.window: over(cell, static["alternating"]) for scheme, cell in cells.items()}


def inner(above: Mapping[float, float]) -> Claim:
    """Returns our claim on the load whose skew alternates."""
    best = min(above, key=lambda one: above[one])
    return Claim(
        f"X14: if the skew of the writes alternates after every {PHASE} flash capacities written, "
        "the best window is neither the smallest nor the largest",
        best not in (TRIED[0], TRIED[-1]),
        _by_window(above),
    )


def _kept(found: Fitted, swept: Sequence[Fit]) -> list[Claim]:
    """Returns the claims on the other reading of a cleared curve: the tracker keeps earlier
    writes."""
    others = [fit for fit in swept if fit.name != "Financial1"]
    ended = {
        fit: {found.ended(fit, Dynamic(one, KEEP)) for one in windows(found, fit, KEEP)}
        for fit in swept
    }
    return [
        Claim(
            f"X14: {READING[KEEP]}, Homes, Exchange and MSNFS are noticeably faster with a window "
            f"of twice the flash capacity than with one of once the capacity ({NOTICEABLE:g} % or "
            "more)",
            min(_gained(found, fit, KEEP) for fit in others) >= NOTICEABLE,
            _changes(found, others, KEEP),
            KEPT,
        ),
        Claim(
            f"X14: {READING[KEEP]}, every window chooses the best static size in the end",
            all(one == {found.best(fit)} for fit, one in ended.items()),
            "; ".join(
                f"{fit}: {', '.join(map(str, sorted(one)))} % chosen, {found.best(fit)} % best"
                for fit, one in ended.items()
            ),
        ),
    ]


def _is_settled(found: Fitted, fits: Sequence[Fit]) -> bool:
    return all(
        _gained(found, fit, CLEAR) >= NOTICEABLE and abs(_later(found, fit, CLEAR)) < NOTICEABLE
        for fit in fits
    )


def _changes(found: Fitted, fits: Sequence[Fit], tracker: str) -> str:
    return "; ".join(
        f"{fit}: {_gained(found, fit, tracker):.1f} % shorter with twice the window, then changes "
        "by up to "
        f"{_later(found, fit, tracker):+.1f} %"
        for fit in fits
    )


def _windows_of_homes(found: Fitted, fits: Sequence[Fit]) -> list[Claim]:
    """Returns the claims on the windows of Homes."""
    gained = {fit: _gained(found, fit, CLEAR) for fit in fits}
    later = {fit: _later(found, fit, CLEAR) for fit in fits}
    kept = [
        change for fit in fits for change in (_gained(found, fit, KEEP), _later(found, fit, KEEP))
    ]
    return [
        Claim(
            "X14: Homes has a noticeably shorter response time with a window of 8 GB than with "
            f"one of 4 GB ({NOTICEABLE:g} % or more)",
            min(gained.values()) >= NOTICEABLE,
            by_fit(gained),
            ids=("X4-042",),
        ),
        Claim(
            "X14: with windows above 8 GB, the response time of Homes is stable (within "
            f"{NOTICEABLE:g} %)",
            max(map(abs, later.values())) < NOTICEABLE,
            by_fit(later),
            LONGER,
            ids=("X4-043",),
        ),
        Claim(
            "The cause on Homes is the cleared window: if the pages of earlier windows are kept, "
            f"response times change by less than {NOTICEABLE:g} % between windows of 4 and 8 GB, "
            "and from 8 GB to larger ones",
            max(map(abs, kept)) < NOTICEABLE,
            _changes(found, fits, KEEP),
        ),
    ]


def _windows_of_financial(found: Fitted) -> list[Claim]:
    """Returns the claims on the windows of Financial1."""
    fit = MAIN["Financial1"]
    after = {tracker: _after(found, fit, tracker) for tracker in (CLEAR, KEEP)}
    ended = {tracker: found.ended(fit, Dynamic(1.0, tracker)) for tracker in (CLEAR, KEEP)}
    return [
        Claim(
            "X15: the response times of Financial1 with windows of 4 and 8 GB do not differ "
            f"noticeably (within {NOTICEABLE:g} %)",
            abs(_gained(found, fit, CLEAR)) < NOTICEABLE,
            f"{_gained(found, fit, CLEAR):.1f} % shorter with 8 GB",
            ids=("X4-046",),
        ),
        Claim(
            "X15: Financial1 is slower with every window above 8 GB than with 8 GB",
            min(after[CLEAR].values()) > 0,
            _by_window(after[CLEAR]),
            ids=("X4-047",),
        ),
        Claim(
            "X15: a window of 4 GB is enough for Financial1: the dynamic cache chooses the best "
            "static size",
            ended[CLEAR] == found.best(fit),
            f"{ended[CLEAR]} % chosen, {found.best(fit)} % best",
            ids=("X4-048",),
        ),
        Claim(
            f"X15: {READING[KEEP]}, too, a window of 4 GB chooses the best static size, and every "
            "window above 8 GB is slower than one of 8 GB",
            ended[KEEP] == found.best(fit) and min(after[KEEP].values()) > 0,
            f"{ended[KEEP]} % chosen; {_by_window(after[KEEP])}",
        ),
    ]


def _by_window(values: Mapping[float, float]) -> str:
    return "; ".join(
        f"window of {one:g} times the flash: {value:+.1f} %" for one, value in values.items()
    )


def _gained(found: Fitted, fit: Fit, tracker: str) -> float:
    """Returns the reduction of the response time from a window as large as the flash to one of
    twice the flash. Per cent."""
    one, two = (found.dynamic[fit][Dynamic(ratio, tracker)].mean_us for ratio in (1.0, 2.0))
    return 100 * (1 - two / one)


def _after(found: Fitted, fit: Fit, tracker: str) -> dict[float, float]:
    """Returns the change of the response time from a window of twice the flash to each larger one.
    Per cent."""
    two = found.dynamic[fit][Dynamic(2.0, tracker)].mean_us
    return {
        one: 100 * (found.dynamic[fit][Dynamic(one, tracker)].mean_us / two - 1)
        for one in windows(found, fit, tracker)
        if one > 2
    }


def _later(found: Fitted, fit: Fit, tracker: str) -> float:
    """Returns the change of the response time from a window of twice the flash to a larger one, for
    the larger window with the greatest change in magnitude. Per cent."""
    return max(_after(found, fit, tracker).values(), key=abs)
