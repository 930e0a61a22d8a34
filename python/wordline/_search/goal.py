"""Goals of a search: objectives and bounds on the metrics of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wordline._api import spelling
from wordline._wordline import WordlineError

_BOUND = re.compile(r"\s*([\w.-]+)\s*(<=|>=|<|>)\s*([-+0-9.eE]+)\s*")


@dataclass(frozen=True)
class Objective:
    """A metric or varied key to minimise or maximise."""

    name: str
    maximise: bool

    def __str__(self) -> str:
        """Formats the objective for messages."""
        return f"{'maximise' if self.maximise else 'minimise'} {self.name}"


@dataclass(frozen=True)
class Bound:
    """An upper or lower bound on a metric or varied key. A value equal to the limit meets it."""

    name: str
    above: bool
    limit: float

    def excess(self, value: float) -> float:
        """Returns how far a value violates the bound; 0 or less if it does not."""
        return self.limit - value if self.above else value - self.limit

    def __str__(self) -> str:
        """Formats the bound with `<` for `<=`, `>` for `>=`, and a limit of six digits."""
        return f"{self.name} {'>' if self.above else '<'} {self.limit:g}"


def objectives(minimise: Sequence[str], maximise: Sequence[str]) -> list[Objective]:
    """Returns the objectives of a search. Raises WordlineError unless there are one or two
    with different names."""
    found = [Objective(name, False) for name in minimise]
    found += [Objective(name, True) for name in maximise]
    if len(found) not in (1, 2):
        raise WordlineError(
            spelling.message(
                f"{len(found)} objectives are given; give one or two, such as --minimise "
                "latency.write.p99_us"
            )
        )
    if len({one.name for one in found}) < len(found):
        raise WordlineError(f"{found[0].name} is given twice; leave one out")
    return found


def bound(text: str) -> Bound:
    """Parses a bound such as "flash.write_amplification < 2". Raises WordlineError."""
    found = _BOUND.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        return Bound(found[1], found[2].startswith(">"), float(found[3]))
    except ValueError:
        raise WordlineError(
            spelling.message(
                f"--subject-to {text!r}: not a bound; give a metric and a limit, such as "
                "'flash.write_amplification < 2'"
            )
        ) from None


class NoValueError(WordlineError):
    """Error of a run without a value for a metric."""

    def __init__(self, name: str, where: str = "this run") -> None:
        super().__init__(f"{name}: has no value in {where}; choose a metric that every run has")
        self.name = name


def value_of(name: str, figures: Mapping[str, object], params: Mapping[str, object]) -> float:
    """Returns the value of a metric of a run, or of a varied key. Raises NoValueError."""
    found = params.get(name, figures.get(name))
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise NoValueError(name)
    return float(found)
