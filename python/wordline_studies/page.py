"""HTML page of a study: one file that needs only a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordline._internal import own_version
from wordline._internal.rounding import rounded
from wordline._render import html, units
from wordline_studies.figure import POINTS, Published, Row
from wordline_studies.outcome import OUTCOME_LABELS, OUTCOME_MARKS, OUTCOME_MEANINGS, ranked, reason

if TYPE_CHECKING:
    from wordline_studies.results import Results

# Differences above this, in per cent, are shown as a ratio.
MANY = 1000


def render(results: Results) -> str:
    """Renders the page as HTML."""
    drawn = {
        f"{figure.id}-{place}": rounded(plot.figure)
        for figure in results.figures
        for place, plot in enumerate(figure.plots)
    }
    claims = [claim for figure in results.figures for claim in figure.claims]
    return html.render(
        "wordline_studies",
        "study.html.jinja",
        drawn,
        study=results.study,
        figures=results.figures,
        configs=sorted(results.setup.configs.items()),
        quick=results.setup.quick,
        claims=claims,
        counts=results.counts,
        numbers=results.numbers,
        own=results.own,
        outcome_labels=OUTCOME_LABELS,
        outcome_marks=OUTCOME_MARKS,
        outcome_meanings=OUTCOME_MEANINGS,
        ranked=ranked,
        reason=reason,
        failed=results.failed,
        missing=results.missing,
        version=own_version.installed(),
        published=published,
        ours=ours,
        difference=difference,
        code=html.code,
    )


def published(row: Row) -> str:
    """Formats the published value of a row."""
    return _published(row.published) if row.published else units.ABSENT


def ours(row: Row) -> str:
    """Formats the simulated value of a row."""
    return units.ABSENT if row.ours is None else f"{_plain(row.ours)} {row.unit}".rstrip()


def difference(row: Row) -> str:
    """Formats the difference of a row."""
    if row.difference is None:
        return units.ABSENT
    if row.difference == 0:
        return "within" if isinstance(row.published and row.published.value, tuple) else "equal"
    if row.unit not in POINTS and row.difference > MANY:
        return f"{1 + row.difference / 100:,.0f} times"
    return f"{row.difference:+.1f} {row.difference_unit}"


def _published(number: Published) -> str:
    value = number.value
    ends = value if isinstance(value, tuple) else (value,)
    return f"{' to '.join(f'{end:,.10g}' for end in ends)} {number.unit}".rstrip()


def _plain(value: float) -> str:
    """Formats a value with three significant digits. Whole numbers keep all digits."""
    return f"{value:,.0f}" if value == round(value) else units.figures(value)
