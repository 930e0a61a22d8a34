"""Outcomes of published numbers: each simulated value against the published one."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isclose
from typing import Literal, TypeAlias, get_args

from wordline._render.units import many
from wordline_studies.figure import POINTS, Figure, Row
from wordline_studies.published import Published, Range

Outcome: TypeAlias = Literal[
    "reproduced", "direction", "contradicted", "fitted", "not_assertable", "not_run"
]
"""Outcome of a published number, as in `study.json`. `OUTCOME_LABELS` has the texts that readers
see."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)
OUTCOME_LABELS: dict[Outcome, str] = {
    "reproduced": "reproduced",
    "direction": "direction only",
    "contradicted": "contradicted",
    "fitted": "fitted",
    "not_assertable": "not assertable",
    "not_run": "not run",
}
"""Text of each outcome."""
OUTCOME_MARKS: dict[Outcome, str] = {
    "reproduced": "✓",
    "direction": "≈",
    "contradicted": "✗",
    "fitted": "·",
    "not_assertable": "·",
    "not_run": "·",
}
"""Mark before the text of an outcome, so that outcomes do not differ in colour alone."""
PER_CENT, IN_POINTS = 15.0, 5.0
"""Largest difference of a reproduced value: in per cent of the published value, and in percentage
points if the unit is per cent or points."""

OUTCOME_MEANINGS: dict[Outcome, str] = {
    "reproduced": f"within {PER_CENT:g} %, or within {IN_POINTS:g} percentage points if the unit "
    "is per cent",
    "direction": "the value differs, but sign and order hold",
    "contradicted": "neither the value nor the direction holds",
    "fitted": "a load or constant was fitted to the number",
    "not_assertable": "no simulation can confirm or refute it",
    "not_run": "nothing was simulated",
}
"""Meaning of each outcome, in a few words."""
WORST_FIRST: tuple[Outcome, ...] = (
    "contradicted",
    "direction",
    "reproduced",
    "fitted",
    "not_assertable",
    "not_run",
)


def outcomes(rows: Sequence[Row]) -> list[Outcome | None]:
    """Returns the outcome of each row of a figure; None for rows without a published value."""
    return [_outcome(row, [other for other in rows if other is not row]) for row in rows]


def by_number(figures: Iterable[Figure]) -> dict[str, Outcome]:
    """Returns the outcomes of the published numbers that rows show, by entry.

    A number that several rows show, such as a range that holds for each of several loads, has the
    worst outcome of its rows. Rows of another reading decide only if there are no others.
    """
    shown: dict[str, list[tuple[bool, Outcome]]] = {}
    for figure in figures:
        for row, outcome in zip(figure.rows, outcomes(figure.rows), strict=True):
            if row.published and outcome:
                entry = row.published.entry or f"without an entry {len(shown)}"
                shown.setdefault(entry, []).append((row.other_reading, outcome))
    return {entry: _worst(rows) for entry, rows in shown.items()}


def numbers(figures: Iterable[Figure]) -> dict[Outcome, int]:
    """Returns the number of published numbers that rows show, by outcome."""
    found = Counter(by_number(figures).values())
    return {outcome: found[outcome] for outcome in OUTCOMES}


def _worst(rows: Sequence[tuple[bool, Outcome]]) -> Outcome:
    """Returns the worst outcome of rows that show the same number, each with whether it is of
    another reading."""
    own = [outcome for other_reading, outcome in rows if not other_reading]
    found = own or [outcome for _, outcome in rows]
    return next(outcome for outcome in WORST_FIRST if outcome in found)


def sentence(numbers: Mapping[Outcome, int], own: int) -> str:
    """Returns the sentences that count the published numbers by outcome, and the `own` rows without
    a published value."""
    counted = ", ".join(f"{numbers[one]} {OUTCOME_LABELS[one]}" for one in OUTCOMES)
    return (
        f"{many(sum(numbers.values()), 'published number')}: {counted}. "
        f"{many(own, 'further row')} {'has' if own == 1 else 'have'} no published value."
    )


def ranked(rows: Sequence[Row]) -> list[tuple[Row, Outcome | None]]:
    """Returns the rows with their outcomes, those with a published value first."""
    pairs = zip(rows, outcomes(rows), strict=True)
    return sorted(pairs, key=lambda pair: pair[1] is None)


def reason(row: Row, outcome: Outcome | None) -> str:
    """Returns the reason why a row is fitted, not assertable or not run; empty for other outcomes,
    and if no reason is stated."""
    if row.published is None or outcome is None:
        return ""
    return {
        "fitted": row.published.fitted,
        "not_assertable": row.published.not_assertable,
        "not_run": row.missing,
    }.get(outcome, "")


def _outcome(row: Row, others: Sequence[Row]) -> Outcome | None:
    published = row.published
    if published is None:
        return None
    if published.not_assertable:
        return "not_assertable"
    if row.ours is None:
        return "not_run"
    if published.fitted:
        return "fitted"
    if is_reproduced(row.ours, published.value, row.unit):
        return "reproduced"
    return "direction" if _has_direction(row, row.ours, published, others) else "contradicted"


def is_reproduced(ours: float, published: float | Range, unit: str) -> bool:
    """Returns `True` if a value is within the tolerance of a published value, or of the nearer end
    of a range. A published 0 has no tolerance, unless the unit is per cent or points."""
    nearest = nearer_end(ours, published)
    return _is_within(abs(ours - nearest), _tolerance(nearest, unit))


def nearer_end(ours: float, published: float | Range) -> float:
    """Returns the published value that is nearest to a value: inside a range, the value itself."""
    low, high = _ends(published)
    return min(max(ours, low), high)


def _has_direction(row: Row, ours: float, published: Published, others: Sequence[Row]) -> bool:
    """Returns `True` if the sign of a comparison and its order among the other rows hold.

    A level has no sign; it needs at least one other row that the published values order.
    """
    agreed = _orders(row, ours, published, others)
    if not row.is_comparison:
        return bool(agreed) and all(agreed)
    neutral = 1.0 if row.unit == "times" else 0.0
    nearest = nearer_end(ours, published.value)
    return _sign(ours - neutral) == _sign(nearest - neutral) != 0 and all(agreed)


def _orders(row: Row, ours: float, published: Published, others: Sequence[Row]) -> list[bool]:
    """Returns, for each other row of the same unit that the published values order, whether the
    simulated values have the same order."""
    found: list[bool] = []
    for other in others:
        if other.unit != row.unit or other.published is None or other.ours is None:
            continue
        if order := _order(published.value, other.published.value, row.unit):
            found.append(_sign(ours - other.ours) == order)
    return found


def _order(first: float | Range, second: float | Range, unit: str) -> int:
    """Returns 1 if the first published value is greater than the second by more than the
    tolerance, -1 if it is less, and 0 if they are not that far apart.

    Ranges are apart by the gap between them. The tolerance in per cent is of the smaller end, so
    that the order does not depend on which of the two is first.
    """
    (low, high), (other_low, other_high) = _ends(first), _ends(second)
    if low > other_high:
        ends, order = (low, other_high), 1
    elif high < other_low:
        ends, order = (high, other_low), -1
    else:
        return 0
    gap = abs(ends[0] - ends[1])
    return 0 if _is_within(gap, _tolerance(min(ends, key=abs), unit)) else order


def _tolerance(value: float, unit: str) -> float:
    return IN_POINTS if unit in POINTS else PER_CENT / 100 * abs(value)


def _is_within(difference: float, tolerance: float) -> bool:
    """Compares with a margin for the rounding of the operands."""
    return difference <= tolerance or isclose(difference, tolerance, rel_tol=1e-9)


def _ends(value: float | Range) -> Range:
    return value if isinstance(value, tuple) else (value, value)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
