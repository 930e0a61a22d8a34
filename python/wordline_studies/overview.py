"""All studies in one: what became of the claims of each."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wordline._internal import output_folder, own_version
from wordline._render import html
from wordline_studies.figure import VERDICTS, Verdict
from wordline_studies.results import Results


@dataclass(frozen=True)
class Overview:
    """Studies that have been run, and by name why others did not come to their end."""

    studies: Sequence[Results]
    faults: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many claims of all studies came out how."""
        return {verdict: sum(one.counts[verdict] for one in self.studies) for verdict in VERDICTS}

    @property
    def documents(self) -> dict[str, list[Results]]:
        """The studies by the document whose figures they are."""
        found: dict[str, list[Results]] = {}
        for one in self.studies:
            found.setdefault(one.study.source, []).append(one)
        return found

    def to_json(self) -> dict[str, Any]:
        """The counts, and every claim with its verdict."""
        return {
            "version": own_version.installed(),
            "counts": self.counts,
            "studies": [_study(one) for one in self.studies],
            "faults": dict(self.faults),
        }

    def write(self, path: Path, links: Mapping[str, str]) -> list[Path]:
        """Writes index.html and studies.json into a folder that appears whole or not at all.
        `links` says by study where its page is, as seen from there. Raises WordlineError."""
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
            verdicts=VERDICTS,
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
