"""Overview of all studies: the outcomes of published numbers and the verdicts of claims."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordline._internal import output_folder, own_version
from wordline._internal.rounding import rounded
from wordline._render import html
from wordline_studies.figure import VERDICT_LABELS, VERDICTS, Figure, Row, Verdict
from wordline_studies.outcome import (
    OUTCOME_LABELS,
    OUTCOME_MEANINGS,
    OUTCOMES,
    Outcome,
    outcomes,
    sentence,
)
from wordline_studies.page import ours, published
from wordline_studies.results import Results
from wordline_studies.statements import (
    STATEMENT_LABELS,
    STATEMENT_MEANINGS,
    STATEMENT_OUTCOMES,
    StatementOutcome,
    statement_sentence,
)


@dataclass(frozen=True)
class Overview:
    """Completed studies, and the errors of the studies that could not be run, by name."""

    studies: Sequence[Results]
    faults: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def counts(self) -> dict[Verdict, int]:
        """Number of claims by verdict, over all studies."""
        return {verdict: sum(one.counts[verdict] for one in self.studies) for verdict in VERDICTS}

    @property
    def numbers(self) -> dict[Outcome, int]:
        """Number of published numbers by outcome, over all studies."""
        return {outcome: sum(one.numbers[outcome] for one in self.studies) for outcome in OUTCOMES}

    @property
    def orders(self) -> dict[StatementOutcome, int]:
        """Number of published orders and trends by outcome, over all studies."""
        return {
            outcome: sum(one.orders[outcome] for one in self.studies)
            for outcome in STATEMENT_OUTCOMES
        }

    @property
    def own(self) -> int:
        """Number of rows without a published value, over all studies."""
        return sum(one.own for one in self.studies)

    @property
    def documents(self) -> dict[str, list[Results]]:
        """The studies grouped by document, of which a study may reproduce a chapter."""
        found: dict[str, list[Results]] = {}
        for one in self.studies:
            document, _, _ = one.study.source.partition(", chapter")
            found.setdefault(document, []).append(one)
        return found

    def to_json(self) -> dict[str, Any]:
        """Returns the counts of outcomes and verdicts, each row with a published value and its
        outcome, and each claim with its verdict."""
        return {
            "version": own_version.installed(),
            "numbers": self.numbers,
            "rows_without_published": self.own,
            "orders": self.orders,
            "counts": self.counts,
            "studies": [_study(one) for one in self.studies],
            "faults": dict(self.faults),
        }

    def write(self, path: Path, links: Mapping[str, str]) -> list[Path]:
        """Writes index.html and studies.json into a folder, atomically.

        `links` gives the page of each study relative to that folder. Raises WordlineError.
        """
        told = json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
        page = self._page(links)
        files = output_folder.write(
            path,
            {
                "index.html": lambda part: output_folder.write_text(part, page),
                "studies.json": lambda part: output_folder.write_text(part, told),
            },
            "study all",
        )
        return [Path(file) for file in files]

    def _page(self, links: Mapping[str, str]) -> str:
        return html.render(
            "wordline_studies",
            "overview.html.jinja",
            {},
            overview=self,
            links=links,
            labels=VERDICT_LABELS,
            outcome_labels=OUTCOME_LABELS,
            outcome_meanings=OUTCOME_MEANINGS,
            sentence=sentence,
            statement_labels=STATEMENT_LABELS,
            statement_meanings=STATEMENT_MEANINGS,
            statement_sentence=statement_sentence,
            compared=compared,
            published=published,
            ours=ours,
            version=own_version.installed(),
            code=html.code,
        )


def compared(results: Results) -> list[tuple[Figure, Row, Outcome]]:
    """Returns the rows with a published value, with their figures and outcomes."""
    return [
        (figure, row, outcome)
        for figure in results.figures
        for row, outcome in zip(figure.rows, outcomes(figure.rows), strict=True)
        if outcome
    ]


def _study(results: Results) -> dict[str, Any]:
    return {
        "study": results.study.name,
        "source": results.study.source,
        "quick": results.setup.quick,
        "full": results.setup.full,
        "numbers": results.numbers,
        "rows_without_published": results.own,
        "orders": results.orders,
        "counts": results.counts,
        "traces_missing": list(results.setup.missing),
        "rows": [
            rounded(
                {
                    "figure": figure.id,
                    "what": row.what,
                    "published": row.published.value if row.published else None,
                    "ours": row.ours,
                    "unit": row.unit,
                    "outcome": outcome,
                }
            )
            for figure, row, outcome in compared(results)
        ],
        "claims": [
            {"figure": figure.id, "text": claim.text, "verdict": claim.verdict}
            for figure in results.figures
            for claim in figure.claims
        ],
    }
