"""What an experiment is made of, and what it finds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wordline._lab.test_device import TestDevice
from wordline._lab.trial import Measured, Trial
from wordline._render.charts import Plot

Found = Mapping[str, Measured]
"""What came of the trials of an experiment, by their names."""


@dataclass(frozen=True)
class Table:
    """Numbers as text: the names of the columns, and a row a name of its own first."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Finding:
    """A verdict in a sentence, and what it is based on. `figures` name their units."""

    verdict: str
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])
    table: Table | None = None
    plots: Sequence[Plot] = ()
    notes: Sequence[str] = ()
    status: Literal["measured", "absent", "failed"] = "measured"
    """`absent`: the device has no such mechanism; `failed`: a trial could not be run."""


@dataclass(frozen=True)
class Experiment:
    """An experiment: what it asks, how it goes, where it follows a standard; the trials that it
    needs, none if the device has not what it is about; and what is found, which is told the
    trials."""

    name: str
    title: str
    procedure: str
    standard: str
    trials: Callable[[TestDevice], Mapping[str, Trial]]
    finding: Callable[[TestDevice, Found], Finding]


def absent(why: str) -> Finding:
    """That a device has not what an experiment is about."""
    return Finding(why, status="absent")
