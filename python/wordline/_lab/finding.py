"""Types of an experiment and of its result."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from wordline._lab.test_device import TestDevice
from wordline._lab.trial import Measured, Trial
from wordline._render.charts import Plot

Found = Mapping[str, Measured]
"""Results of the trials of an experiment by trial name."""


@dataclass(frozen=True)
class Table:
    """Numbers as text: column names, and rows that start with their name."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Finding:
    """Result of an experiment: a verdict in one or more sentences, with its numbers, table and
    plots. Keys of `figures` include units."""

    verdict: str
    figures: Mapping[str, Any] = field(default_factory=dict[str, Any])
    table: Table | None = None
    plots: Sequence[Plot] = ()
    notes: Sequence[str] = ()
    status: Literal["measured", "absent", "failed"] = "measured"
    """"absent": the device lacks the mechanism. "failed": a trial failed to run."""


@dataclass(frozen=True)
class Experiment:
    """An experiment: title, procedure and counterpart in a standard. `trials` returns the trials
    that it needs, none if the device lacks the mechanism. `finding` evaluates the results of the
    trials."""

    name: str
    title: str
    procedure: str
    standard: str
    trials: Callable[[TestDevice], Mapping[str, Trial]]
    finding: Callable[[TestDevice, Found], Finding]


def absent(why: str) -> Finding:
    """Returns the result for a device that lacks the mechanism, with the reason."""
    return Finding(why, status="absent")
