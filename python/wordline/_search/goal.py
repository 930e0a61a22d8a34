"""What a search is for: objectives and bounds on the figures of a run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wordline._api import spelling
from wordline._wordline import WordlineError

_BOUND = re.compile(r"\s*([\w.-]+)\s*(<=|>=|<|>)\s*([-+0-9.eE]+)\s*")


@dataclass(frozen=True)
class Objective:
    """A figure, or a key that varies, to be made as small or as large as possible."""

    name: str
    maximise: bool

    def __str__(self) -> str:
        """As messages have it."""
        return f"{'maximise' if self.maximise else 'minimise'} {self.name}"


@dataclass(frozen=True)
class Bound:
    """A figure, or a key that varies, and what it may be at most, or at least."""

    name: str
    above: bool
    limit: float

    def excess(self, value: float) -> float:
        """How far a value is on the wrong side: 0 or less if it is not."""
        return self.limit - value if self.above else value - self.limit

    def __str__(self) -> str:
        """As it was given."""
        return f"{self.name} {'>' if self.above else '<'} {self.limit:g}"


def objectives(minimise: Sequence[str], maximise: Sequence[str]) -> list[Objective]:
    """The objectives of a search. Raises WordlineError unless there are one or two."""
    found = [Objective(name, False) for name in minimise]
    found += [Objective(name, True) for name in maximise]
    if len(found) not in (1, 2):
        raise WordlineError(
            spelling.message(
                f"{len(found)} objectives: give one or two, such as --minimise latency.write.p99_us"
            )
        )
    if len({one.name for one in found}) < len(found):
        raise WordlineError(f"{found[0].name} is given twice; leave one out")
    return found


def bound(text: str) -> Bound:
    """A bound such as "flash.write_amplification < 2". Raises WordlineError."""
    found = _BOUND.fullmatch(text)
    try:
        if found is None:
            raise ValueError
        return Bound(found[1], found[2].startswith(">"), float(found[3]))
    except ValueError:
        raise WordlineError(
            spelling.message(
                f"--subject-to {text!r}: give a figure and a limit, such as "
                "'flash.write_amplification < 2'"
            )
        ) from None


class NoValueError(WordlineError):
    """A run has no value for a figure."""

    def __init__(self, name: str, where: str = "this run") -> None:
        super().__init__(f"{name}: has no value in {where}; choose a figure that each run has")
        self.name = name


def value_of(name: str, figures: Mapping[str, object], params: Mapping[str, object]) -> float:
    """The value of a figure in a run, or of a key that varies. Raises NoValueError."""
    found = params.get(name, figures.get(name))
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise NoValueError(name)
    return float(found)
