"""Results of the lab, and their files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordline._internal import output_folder, own_version
from wordline._internal.rounding import rounded

if TYPE_CHECKING:
    from wordline._lab.finding import Experiment, Finding
    from wordline._lab.test_device import TestDevice


class Lab:
    """Results of the experiments by name."""

    def __init__(
        self, bench: TestDevice, experiments: Sequence[Experiment], findings: Mapping[str, Finding]
    ) -> None:
        self.bench = bench
        self.experiments = experiments
        self.findings = findings

    def __getitem__(self, name: str) -> Finding:
        return self.findings[name]

    @property
    def failed(self) -> list[str]:
        """Names of the experiments that failed to run."""
        return [name for name, one in self.findings.items() if one.status == "failed"]

    def to_json(self) -> dict[str, Any]:
        """Returns all numbers, with floats rounded to nine significant digits."""
        return {
            "device": self.bench.name,
            "version": own_version.installed(),
            "quick": self.bench.quick,
            "queue_depth": self.bench.depth,
            "seed": self.bench.seed,
            "scale": self.bench.scale,
            "simulated_user_bytes": self.bench.user_bytes,
            "experiments": [_told(one, self.findings[one.name]) for one in self.experiments],
        }

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the report, one self-contained HTML page, and returns its path. Raises
        WordlineError."""
        page = self._page()
        return Path(
            output_folder.write_file(path, lambda part: output_folder.write_text(part, page))
        )

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes report.html, lab.json and device.toml into a folder. Raises WordlineError."""
        content = json.dumps(self.to_json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        texts = {"lab.json": content, "device.toml": self.bench.text, "report.html": self._page()}
        return [
            Path(
                output_folder.write_file(
                    Path(folder, name), lambda part, text=text: output_folder.write_text(part, text)
                )
            )
            for name, text in texts.items()
        ]

    def _page(self) -> str:
        from wordline._lab.page import render

        return render(self.bench, self.experiments, self.findings, self.failed)

    def __repr__(self) -> str:
        return f"<wordline.Lab of {self.bench.name}: {', '.join(self.findings)}>"


def _told(one: Experiment, finding: Finding) -> dict[str, Any]:
    table = finding.table
    return {
        "name": one.name,
        "title": one.title,
        "status": finding.status,
        "verdict": finding.verdict,
        "procedure": one.procedure,
        "standard": one.standard,
        "figures": rounded(finding.figures),
        "table": None if table is None else [list(table.columns), *map(list, table.rows)],
        "notes": list(finding.notes),
    }
