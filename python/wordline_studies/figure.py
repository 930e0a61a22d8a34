"""Parts of a study: claims, figures, published numbers and the setup."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import wordline
from wordline._api.package import Package
from wordline._render.charts import Plot
from wordline.config import Device, Value
from wordline_studies.generated import Generated
from wordline_studies.published import Numbers as Numbers
from wordline_studies.published import Published as Published
from wordline_studies.runs import Runs

Verdict: TypeAlias = Literal["holds", "differs", "failed", "told"]
"""Outcome of a claim, as in `study.json`. `VERDICT_LABELS` has the texts that readers see."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
VERDICT_LABELS: dict[Verdict, str] = {
    "holds": "holds",
    "differs": "differs, for the documented reason",
    "failed": "unexpected",
    "told": "not tested",
}
"""Text of each verdict. A claim fails if it does not hold and has no documented reason, or if it
holds despite one."""
POINTS = ("%", "points")
"""Units for which a difference is given in percentage points."""


@dataclass(frozen=True)
class Row:
    """A quantity with its simulated and its published value. Either may be absent.

    A simulated value is None if nothing was measured; NaN becomes None. `missing` then names what
    was not available. `other_reading` marks a value under a reading of the document that the study
    does not follow; it is shown but does not decide the outcome of the published number.
    `wordline_studies.outcome` compares the two values.
    """

    what: str
    ours: float | None
    unit: str
    published: Published | None = None
    missing: str = ""
    other_reading: bool = False

    def __post_init__(self) -> None:
        if self.ours is not None and isnan(self.ours):
            object.__setattr__(self, "ours", None)

    @property
    def is_comparison(self) -> bool:
        """Whether the quantity is a change, gain or ratio, whose sign is a statement.

        A published number may be marked as one. Otherwise, only ratios in `times` and differences
        in points are; a value in per cent is then a level, such as a hit ratio.
        """
        if self.published is not None and self.published.comparison is not None:
            return self.published.comparison
        return self.unit in ("times", "points")

    @property
    def difference(self) -> float | None:
        """Simulated minus published value.

        In points if the unit is per cent or points, otherwise in per cent of the published value.
        For a published range, the difference is to the nearer end, and 0 inside the range. None if
        a value is absent, and for a difference in per cent of 0.
        """
        if self.published is None or self.ours is None:
            return None
        value = self.published.value
        low, high = value if isinstance(value, tuple) else (value, value)
        nearest = min(max(self.ours, low), high)
        if self.unit in POINTS:
            return self.ours - nearest
        return 100 * (self.ours - nearest) / nearest if nearest else None

    @property
    def difference_unit(self) -> str:
        """Unit of the difference."""
        return "points" if self.unit in POINTS else "%"


@dataclass(frozen=True)
class Claim:
    """A statement of the document about the figure, and whether it holds in the simulation.

    `detail` gives the simulated numbers. `holds` is None if nothing was measured; `report_only`
    then states why. `because` is a clause with the documented reason why the claim cannot hold in
    this model; the study then asserts that it does not hold. `report_only` is the reason why the
    claim is not tested. A claim with `quick=False` needs more requests than `--quick` simulates and
    is not tested there. `ids` names the published statements that the claim tests. The claim states
    as much as each of them, or more. A claim that we add has no `ids`.
    """

    text: str
    holds: bool | None
    detail: str
    because: str = ""
    report_only: str = ""
    quick: bool = True
    ids: tuple[str, ...] = ()

    @property
    def expected(self) -> bool:
        """Whether the study expects the claim to hold."""
        return not self.because

    @property
    def passed(self) -> bool:
        """Whether the outcome is the expected one, or the claim is not tested."""
        return bool(self.report_only) or self.holds == self.expected

    @property
    def verdict(self) -> Verdict:
        """Verdict of the claim."""
        if self.report_only:
            return "told"
        if not self.passed:
            return "failed"
        return "holds" if self.holds else "differs"

    @property
    def finding(self) -> str:
        """Finding of a claim that is not tested; empty if nothing was measured."""
        return {True: "holds", False: "does not hold", None: ""}[self.holds]


PREVIEW = "--quick simulates too few requests to test this claim"


def not_quick(claims: Sequence[Claim]) -> list[Claim]:
    """Returns the claims, marked as needing more requests than `--quick` simulates."""
    return [replace(claim, quick=False) for claim in claims]


@dataclass(frozen=True)
class Figure:
    """A figure or table of the document, reproduced.

    `measured` describes the simulation. Each entry of `explanation` is a paragraph on where and why
    the results differ. `data` holds the numbers of the plots. `timed` marks a figure that depends
    on the speed of the machine.
    """

    id: str
    title: str
    section: str
    measured: str
    rows: Sequence[Row] = ()
    plots: Sequence[Plot] = ()
    claims: Sequence[Claim] = ()
    explanation: Sequence[str] = ()
    data: dict[str, Any] = field(default_factory=dict[str, Any])
    timed: bool = False


def as_asserted(figure: Figure, quick: bool) -> Figure:
    """Returns the figure. If the study is `quick`, claims that need a long run are marked as not
    tested."""
    if not quick:
        return figure
    claims = [
        one if one.quick or one.report_only else replace(one, report_only=PREVIEW)
        for one in figure.claims
    ]
    return replace(figure, claims=claims)


def unmeasured(figure: Figure, missing: str) -> Figure:
    """Returns the figure as not simulated, because of what is `missing`: its rows have no simulated
    values, its claims no findings, and it has no plots."""
    return replace(
        figure,
        rows=[replace(row, ours=None, missing=row.missing or missing) for row in figure.rows],
        claims=[
            replace(one, holds=None, detail="", because="", report_only=one.report_only or missing)
            for one in figure.claims
        ],
        plots=(),
        data={},
    )


def largest_difference(rows: Sequence[Row]) -> float:
    """Returns the largest absolute difference between simulated and published values; infinite if a
    row has no difference."""
    found = [row.difference for row in rows]
    return max(inf if one is None else abs(one) for one in found)


@dataclass(frozen=True)
class Setup:
    """Options of a study: its extent and its traces.

    Collects the digests of the configurations used and the names of missing recorded traces. With
    `full`, a study that is scaled down by default is simulated at, or closer to, the published
    scale.
    """

    quick: bool = False
    traces: Sequence[Path] = ()
    configs: dict[str, str] = field(default_factory=dict[str, str])
    full: bool = False
    missing: dict[str, None] = field(default_factory=dict[str, None])
    runs: Runs = field(default_factory=Runs)
    generated: Generated = field(default_factory=Generated)

    def miss(self, trace: str) -> None:
        """Records that a recorded trace is missing."""
        self.missing[trace] = None

    def requests(self, count: int) -> int:
        """Returns the number of requests to simulate: `count`, or for a quick study an eighth of
        it, but at least 64."""
        return max(64, count // 8) if self.quick else count

    def package(self, device: Device, overrides: dict[str, Value], label: str) -> Package:
        """Builds a package and records its configuration under `label`."""
        package = wordline.package(device, overrides)
        self.note(label, package.config())
        return package

    def note(self, label: str, config: str) -> None:
        """Records the digest of a configuration under `label`."""
        self.configs[label] = hashlib.sha256(config.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Study:
    """The figures of a document.

    Each function of `figures` returns one figure, or several that share runs. A `shortened` study
    is scaled down unless `Setup.full` is set. `published` has the numbers and statements of the
    document.
    """

    name: str
    title: str
    source: str
    figures: Sequence[Callable[[Setup], Figure | Iterable[Figure]]]
    shortened: bool = False
    published: Numbers | None = None
