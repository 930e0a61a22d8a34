"""The parts of a response time, as the simulator declares them."""

import json
from collections.abc import Mapping
from typing import Any, TypedDict, cast

from wordline import _wordline


class Part(TypedDict):
    """A part: its name, its figure in a breakdown, and its colour in charts. What is not shown
    `always` is shown where requests spent time in it."""

    name: str
    figure: str
    colour: str
    always: bool


PARTS = cast("list[Part]", json.loads(_wordline.parts()))
"""In the order in which a request goes through them."""


def shown(summary: Mapping[str, Any]) -> list[Part]:
    """The parts worth showing of a run."""
    total, has_flash = summary["breakdown"]["all"], summary["device"]["dies"] > 0
    always = [part for part in PARTS if part["always"] and has_flash]
    return [part for part in PARTS if part in always or total[part["figure"]]]


def of_data(summary: Mapping[str, Any]) -> list[str]:
    """The operations with data that a run served, whose response times have parts: reads, writes,
    all of them if there are both or none."""
    seen = [op for op in ("read", "write") if summary["latency"][op]["count"]]
    return seen if len(seen) == 1 else [*seen, "all"]


def ops(summary: Mapping[str, Any]) -> list[str]:
    """The operations that a run served, those with data first."""
    others = [op for op in ("trim", "flush") if summary["latency"][op]["count"]]
    return [*of_data(summary), *others] if summary["latency"]["all"]["count"] else others or ["all"]
