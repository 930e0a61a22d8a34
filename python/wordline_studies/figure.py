"""What a study is made of."""

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast, get_args

import wordline
from wordline._api.package import Package
from wordline._render.charts import Plot
from wordline.config import Device, Value
from wordline_studies.generated import Generated
from wordline_studies.runs import Runs

Verdict: TypeAlias = Literal["holds", "differs", "failed", "told"]
"""Of a claim: it holds; differs, with its reason; is not as asserted; is not asserted."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Range: TypeAlias = tuple[float, float]
POINTS = ("%", "points")
"""Units whose differences are points."""


@dataclass(frozen=True)
class Published:
    """A number that a document gives: a value or a range, its unit, and where it stands."""

    value: float | Range
    unit: str
    section: str


@dataclass(frozen=True)
class Row:
    """A number of ours beside the published one; either may be absent."""

    what: str
    ours: float | None
    unit: str
    published: Published | None = None

    @property
    def difference(self) -> float | None:
        """Ours less the published one: points if both are per cent or points, else per cent of
        the published one. Of a range, to its nearer end, and 0 within it."""
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
        """Of the difference."""
        return "points" if self.unit in POINTS else "%"


@dataclass(frozen=True)
class Claim:
    """What the document says about the figure, and whether it is so here.

    `because` says why it cannot be so in this model; such a claim is asserted not to hold.
    `only_told` says why neither is asserted. One that is not `quick` takes more requests than
    `--quick` has, and is only told there.
    """

    text: str
    holds: bool
    detail: str
    because: str = ""
    only_told: str = ""
    quick: bool = True

    @property
    def expected(self) -> bool:
        """Whether it is asserted to hold."""
        return not self.because

    @property
    def passed(self) -> bool:
        """Whether it is as asserted."""
        return bool(self.only_told) or self.holds == self.expected

    @property
    def verdict(self) -> Verdict:
        """What became of it."""
        if self.only_told:
            return "told"
        if not self.passed:
            return "failed"
        return "holds" if self.holds else "differs"


PREVIEW = "--quick takes too few requests to assert it"


def not_quick(claims: Sequence[Claim]) -> list[Claim]:
    """Claims that take more requests than a quick study has."""
    return [replace(claim, quick=False) for claim in claims]


@dataclass(frozen=True)
class Figure:
    """A figure or table of the document, made again.

    `measured` says what was run, `explanation` where and why ours differs, paragraph by paragraph.
    `data` holds the numbers behind the plots. A figure that depends on the machine is `timed`.
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
    """A figure of a study that may have to be quick."""
    if not quick:
        return figure
    claims = [
        one if one.quick or one.only_told else replace(one, only_told=PREVIEW)
        for one in figure.claims
    ]
    return replace(figure, claims=claims)


@dataclass(frozen=True)
class Setup:
    """What a study is run with: how much of it, on which traces. Keeps the configurations used,
    and the names of the recorded traces that figures could have used and were not there.

    `full` asks for as many requests as the document has, of studies that take fewer.
    """

    quick: bool = False
    traces: Sequence[Path] = ()
    configs: dict[str, str] = field(default_factory=dict[str, str])
    full: bool = False
    missing: dict[str, None] = field(default_factory=dict[str, None])
    runs: Runs = field(default_factory=Runs)
    generated: Generated = field(default_factory=Generated)

    def miss(self, trace: str) -> None:
        """Notes a recorded trace that is not there."""
        self.missing[trace] = None

    def requests(self, count: int) -> int:
        """So many, or fewer if it has to be quick."""
        return max(64, count // 8) if self.quick else count

    def package(self, device: Device, overrides: dict[str, Value], label: str) -> Package:
        """A package, noted under the label."""
        package = wordline.package(device, overrides)
        self.note(label, package.config())
        return package

    def note(self, label: str, config: str) -> None:
        """Keeps the digest of a configuration."""
        self.configs[label] = hashlib.sha256(config.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Study:
    """Figures of a document. Each of `figures` makes one, or several that share their runs.

    A `shortened` study takes fewer requests than the document unless all are wanted.
    """

    name: str
    title: str
    source: str
    figures: Sequence[Callable[[Setup], Figure | Iterable[Figure]]]
    shortened: bool = False


class Numbers:
    """The published numbers of a study: `published.toml` beside its module.

        [["2.19"]]
        what = "writes"
        value = 541.1
        unit = "%"
        section = "2.8.5"

    A value is a number, or a list of the two ends of a range.
    """

    def __init__(self, package: str) -> None:
        self._package = package

    @cached_property
    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        text = files(self._package).joinpath("published.toml").read_text(encoding="utf-8")
        return tomllib.loads(text)

    def __call__(self, figure: str, what: str) -> Published:
        """A number by its figure and name."""
        entry = next(entry for entry in self._tables[figure] if entry["what"] == what)
        value = cast("float | list[float]", entry["value"])
        ends = (value[0], value[1]) if isinstance(value, list) else float(value)
        return Published(ends, entry["unit"], entry["section"])
