"""Latency components, as the simulator declares them."""

import json
from collections.abc import Mapping
from typing import Any, TypedDict, cast

from wordline import _wordline


class Part(TypedDict):
    """A latency component: name, key in a breakdown, and colour in charts. Unless `always` is set,
    it is shown only if requests spent time in it."""

    name: str
    figure: str
    colour: str
    always: bool


PARTS = cast("list[Part]", json.loads(_wordline.parts()))
"""Latency components in the order in which a request passes through them."""


def shown(summary: Mapping[str, Any]) -> list[Part]:
    """Returns the components to show for a run."""
    total, has_flash = summary["breakdown"]["all"], summary["device"]["dies"] > 0
    always = [part for part in PARTS if part["always"] and has_flash]
    return [part for part in PARTS if part in always or total[part["figure"]]]


def of_data(summary: Mapping[str, Any]) -> list[str]:
    """Returns the operations of a run that have latency components: reads and writes, and "all" if
    the run had both or neither."""
    seen = [op for op in ("read", "write") if summary["latency"][op]["count"]]
    return seen if len(seen) == 1 else [*seen, "all"]


def ops(summary: Mapping[str, Any]) -> list[str]:
    """Returns the operations of a run, those with data first."""
    others = [op for op in ("trim", "flush") if summary["latency"][op]["count"]]
    return [*of_data(summary), *others] if summary["latency"]["all"]["count"] else others or ["all"]
