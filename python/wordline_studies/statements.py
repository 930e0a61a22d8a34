"""Outcomes of published statements that no row shows: orders and trends, which claims test, and
numbers that are not simulated."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from wordline._render.units import many
from wordline_studies.figure import Claim, Figure
from wordline_studies.published import Statement

StatementOutcome: TypeAlias = Literal[
    "holds", "contradicted", "fitted", "not_assertable", "not_run"
]
"""Outcome of a statement, as in `study.json`. `STATEMENT_LABELS` has the texts that readers see."""
STATEMENT_OUTCOMES: tuple[StatementOutcome, ...] = get_args(StatementOutcome)
STATEMENT_LABELS: dict[StatementOutcome, str] = {
    "holds": "holds",
    "contradicted": "contradicted",
    "fitted": "fitted",
    "not_assertable": "not assertable",
    "not_run": "not run",
}
"""Text of each outcome."""
STATEMENT_MARKS: dict[StatementOutcome, str] = {
    "holds": "✓",
    "contradicted": "✗",
    "fitted": "·",
    "not_assertable": "·",
    "not_run": "·",
}
"""Mark before the text of an outcome, so that outcomes do not differ in colour alone."""
STATEMENT_MEANINGS: dict[StatementOutcome, str] = {
    "holds": "every tested claim on it holds",
    "contradicted": "a tested claim on it does not hold",
    "fitted": "a load or constant was fitted to it",
    "not_assertable": "no simulation can confirm or refute it",
    "not_run": "no claim on it is tested",
}
"""Meaning of each outcome, in a few words."""


@dataclass(frozen=True)
class Judged:
    """A statement with its outcome, the reason for it if no claim decides, and the claims on it
    with their figures."""

    statement: Statement
    outcome: StatementOutcome
    reason: str
    claims: Sequence[tuple[Figure, Claim]]


def judged(statements: Iterable[Statement], figures: Iterable[Figure]) -> list[Judged]:
    """Returns the statements with their outcomes.

    Raises ValueError if a claim names an id that no statement has, or if a statement has neither a
    claim nor a reason in `not_assertable` or `not_run`.
    """
    claims: dict[str, list[tuple[Figure, Claim]]] = {}
    for figure in figures:
        for claim in figure.claims:
            for one in claim.ids:
                claims.setdefault(one, []).append((figure, claim))
    statements = tuple(statements)
    if unknown := sorted(claims.keys() - {one for each in statements for one in each.ids}):
        raise ValueError(f"claims name ids that no statement has: {', '.join(unknown)}")
    return [
        _judged(each, [on for one in each.ids for on in claims.get(one, ())]) for each in statements
    ]


def statement_counts(found: Iterable[Judged], *, numbers: bool) -> dict[StatementOutcome, int]:
    """Returns the number of statements by outcome: of the numbers if `numbers` is true, otherwise
    of the orders and trends."""
    counts = Counter(one.outcome for one in found if one.statement.is_number is numbers)
    return {outcome: counts[outcome] for outcome in STATEMENT_OUTCOMES}


def statement_sentence(counts: Mapping[StatementOutcome, int]) -> str:
    """Returns the sentence that counts the orders and trends by outcome."""
    total = many(sum(counts.values()), "published order or trend", "published orders and trends")
    labels = STATEMENT_LABELS if counts["holds"] == 1 else STATEMENT_LABELS | {"holds": "hold"}
    counted = ", ".join(f"{counts[one]} {labels[one]}" for one in STATEMENT_OUTCOMES)
    return f"{total}: {counted}."


def _judged(statement: Statement, claims: Sequence[tuple[Figure, Claim]]) -> Judged:
    if statement.not_assertable:
        return Judged(statement, "not_assertable", statement.not_assertable, claims)
    if statement.not_run:
        return Judged(statement, "not_run", statement.not_run, claims)
    if not claims:
        raise ValueError(f"no claim tests {', '.join(statement.ids)}, and no reason is stated")
    tested = [claim for _, claim in claims if not claim.report_only]
    if not tested:
        return Judged(statement, "not_run", claims[0][1].report_only, claims)
    if statement.fitted:
        return Judged(statement, "fitted", statement.fitted, claims)
    holds = all(claim.holds for claim in tested)
    return Judged(statement, "holds" if holds else "contradicted", "", claims)
