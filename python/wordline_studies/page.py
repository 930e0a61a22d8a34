"""HTML page of a study: one file that needs only a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wordline._internal import own_version
from wordline._internal.rounding import rounded
from wordline._render import html, units
from wordline_studies.figure import POINTS, Row
from wordline_studies.outcome import OUTCOME_LABELS, OUTCOME_MARKS, OUTCOME_MEANINGS, ranked, reason
from wordline_studies.statements import STATEMENT_LABELS, STATEMENT_MARKS, STATEMENT_MEANINGS

if TYPE_CHECKING:
    from wordline_studies.published import Range, Statement
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
        statements=results.statements,
        orders=results.orders,
        statement_labels=STATEMENT_LABELS,
        statement_marks=STATEMENT_MARKS,
        statement_meanings=STATEMENT_MEANINGS,
        stated=stated,
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
    number = row.published
    return _value(number.value, number.unit) if number else units.ABSENT


def stated(statement: Statement) -> str:
    """Formats the value of a statement; empty if it has none."""
    return "" if statement.value is None else _value(statement.value, statement.unit)


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


def _value(value: float | Range, unit: str) -> str:
    ends = value if isinstance(value, tuple) else (value,)
    return f"{' to '.join(f'{end:,.10g}' for end in ends)} {unit}".rstrip()


def _plain(value: float) -> str:
    """Formats a value with three significant digits. Whole numbers keep all digits."""
    return f"{value:,.0f}" if value == round(value) else units.figures(value)
