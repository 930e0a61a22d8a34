"""Overview of all studies and the verdicts of their claims."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordline._internal import output_folder, own_version
from wordline._render import html
from wordline_studies.figure import VERDICT_LABELS, VERDICTS, Verdict
from wordline_studies.results import Results


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
    def documents(self) -> dict[str, list[Results]]:
        """The studies grouped by document."""
        found: dict[str, list[Results]] = {}
        for one in self.studies:
            found.setdefault(one.study.source, []).append(one)
        return found

    def to_json(self) -> dict[str, Any]:
        """Returns the verdict counts, and each claim with its verdict."""
        return {
            "version": own_version.installed(),
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
            version=own_version.installed(),
            code=html.code,
        )


def _study(results: Results) -> dict[str, Any]:
    return {
        "study": results.study.name,
        "source": results.study.source,
        "quick": results.setup.quick,
        "full": results.setup.full,
        "counts": results.counts,
        "traces_missing": list(results.setup.missing),
        "claims": [
            {"figure": figure.id, "text": claim.text, "verdict": claim.verdict}
            for figure in results.figures
            for claim in figure.claims
        ],
    }
