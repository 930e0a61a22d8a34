"""The shape of what is heard of a run under way."""

from typing import TypedDict


class Progress(TypedDict):
    """How far a run is; heard about ten times a second.

    `fraction` is the share of the input consumed, where it is known. `phase` is "precondition",
    "run", or "alone" while a stream is run without the others.
    """

    simulated_s: float
    requests: int
    requests_total: int | None
    fraction: float | None
    phase: str
