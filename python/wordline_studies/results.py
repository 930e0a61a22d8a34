"""Runs a study and writes its HTML page and JSON file."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wordline._internal import output_folder, own_version
from wordline._internal.rounding import rounded
from wordline._render import units
from wordline_studies.figure import VERDICTS, Claim, Figure, Row, Setup, Study, Verdict, as_asserted
from wordline_studies.outcome import OUTCOMES, Outcome, numbers, outcomes, reason
from wordline_studies.statements import Judged, StatementOutcome, judged, statement_counts


@dataclass(frozen=True)
class Results:
    """A completed study."""

    study: Study
    setup: Setup
    figures: Sequence[Figure]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Number of claims by verdict."""
        found = Counter(claim.verdict for figure in self.figures for claim in figure.claims)
        return {verdict: found[verdict] for verdict in VERDICTS}

    @property
    def numbers(self) -> dict[Outcome, int]:
        """Number of published numbers by outcome: of those that rows show, and of those that no
        row shows."""
        rows = numbers(self.figures)
        others = statement_counts(self.statements, numbers=True)
        return {
            one: rows[one] + sum(count for other, count in others.items() if other == one)
            for one in OUTCOMES
        }

    @cached_property
    def statements(self) -> list[Judged]:
        """The published statements that no row shows, with their outcomes. Raises ValueError as
        `judged` does."""
        published = self.study.published
        return judged(published.statements if published else (), self.figures)

    @property
    def orders(self) -> dict[StatementOutcome, int]:
        """Number of published orders and trends, by outcome."""
        return statement_counts(self.statements, numbers=False)

    @property
    def own(self) -> int:
        """Number of rows without a published value."""
        return sum(row.published is None for figure in self.figures for row in figure.rows)

    @property
    def failed(self) -> list[tuple[Figure, Claim]]:
        """Claims with an unexpected outcome."""
        return [
            (figure, claim)
            for figure in self.figures
            for claim in figure.claims
            if not claim.passed
        ]

    @property
    def missing(self) -> str:
        """Sentence that names the missing recorded traces; empty if none is missing."""
        names = list(self.setup.missing)
        if not names:
            return ""
        told = units.many(len(names), "recorded trace")
        are, them = ("is", "it") if len(names) == 1 else ("are", "them")
        return (
            f"{told} {are} missing, and the figures omit {them}: {', '.join(names)}. To use your "
            "own traces, name their folder with `--traces DIR`."
        )

    def to_json(self) -> dict[str, Any]:
        """Returns the contents of study.json. Only numbers under `speed` depend on the machine."""
        return {
            "study": self.study.name,
            "title": self.study.title,
            "source": self.study.source,
            "version": own_version.installed(),
            "quick": self.setup.quick,
            "full": self.setup.full,
            "numbers": self.numbers,
            "rows_without_published": self.own,
            "orders": self.orders,
            "claims_failed": len(self.failed),
            "traces_missing": list(self.setup.missing),
            "figures": [_figure(figure) for figure in self.figures if not figure.timed],
            "statements": [_statement(one) for one in self.statements],
            "configs": dict(sorted(self.setup.configs.items())),
            "speed": [_figure(figure) for figure in self.figures if figure.timed],
        }

    def write(self, path: Path) -> list[Path]:
        """Writes index.html and study.json into a folder, atomically.

        Raises WordlineError.
        """
        from wordline_studies.page import render

        told = json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
        page = render(self)
        files = output_folder.write(
            path,
            {
                "index.html": lambda part: output_folder.write_text(part, page),
                "study.json": lambda part: output_folder.write_text(part, told),
            },
            "study",
        )
        return [Path(file) for file in files]


def run(study: Study, setup: Setup, told: Callable[[Figure], object] | None = None) -> Results:
    """Computes all figures; calls `told` with each when it is complete. Raises WordlineError."""
    figures: list[Figure] = []
    try:
        for make in study.figures:
            made = make(setup)
            for one in [made] if isinstance(made, Figure) else made:
                figure = as_asserted(one, setup.quick)
                figures.append(figure)
                if told:
                    told(figure)
    finally:
        setup.generated.clear()
    return Results(study, setup, figures)


def _figure(figure: Figure) -> dict[str, Any]:
    return {
        "id": figure.id,
        "title": figure.title,
        "section": figure.section,
        "measured": figure.measured,
        "rows": [
            _row(row, outcome)
            for row, outcome in zip(figure.rows, outcomes(figure.rows), strict=True)
        ],
        "claims": [_claim(claim) for claim in figure.claims],
        "explanation": list(figure.explanation),
        "data": rounded(figure.data),
    }


def _row(row: Row, outcome: Outcome | None) -> dict[str, Any]:
    published = row.published
    return rounded(
        {
            "what": row.what,
            "published": published.value if published else None,
            "ours": row.ours,
            "unit": row.unit,
            "difference": row.difference,
            "difference_unit": row.difference_unit,
            "section": published.section if published else None,
            "outcome": outcome,
            "outcome_reason": reason(row, outcome) or None,
            "other_reading": row.other_reading if published else None,
            "comparison": row.is_comparison if published else None,
            "ids": published.ids if published else (),
        }
    )


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "holds": claim.holds,
        "expected": claim.expected,
        "passed": claim.passed,
        "verdict": claim.verdict,
        "detail": claim.detail,
        "because": claim.because or None,
        "only_told": claim.report_only or None,
        "ids": claim.ids,
    }


def _statement(one: Judged) -> dict[str, Any]:
    return {
        "ids": one.statement.ids,
        "what": one.statement.what,
        "section": one.statement.section,
        "published": one.statement.value,
        "unit": one.statement.unit,
        "outcome": one.outcome,
        "outcome_reason": one.reason or None,
        "figures": list(dict.fromkeys(figure.id for figure, _ in one.claims)),
    }
