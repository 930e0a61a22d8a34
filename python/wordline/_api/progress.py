"""Type of the argument of progress callbacks."""

from typing import TypedDict


class Progress(TypedDict):
    """Progress of a run, reported about ten times per second.

    `fraction` is the share of the input consumed, or None if it is unknown. `phase` is
    "precondition", "run", or "alone" while a stream runs without the others.
    """

    simulated_s: float
    requests: int
    requests_total: int | None
    fraction: float | None
    phase: str
