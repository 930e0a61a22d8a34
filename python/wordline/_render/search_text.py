"""What a search varies, aims at and bounds, as people read it: metrics, and keys that vary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from wordline._render.metric import key_name, metric, value_text

if TYPE_CHECKING:
    from wordline._search.goal import Bound, Objective
    from wordline._search.plan import Plan


def name_of(plan: Plan, name: str) -> str:
    """The name of a metric, or of a key that varies."""
    return key_name(name) if name in plan.vary else metric(name).name


def text_of(plan: Plan, name: str, value: float | None) -> str:
    """A value of it, with its unit."""
    return value_text(value) if name in plan.vary else metric(name).text(value)


def axis_of(plan: Plan, name: str, values: Iterable[float]) -> tuple[float, str]:
    """How many of its units one of a chart's has, and the title of its axis."""
    return (1.0, key_name(name)) if name in plan.vary else metric(name).axis(values)


def goal_of(plan: Plan, one: Objective) -> str:
    """An objective in words."""
    return f"{'maximise' if one.maximise else 'minimise'} {name_of(plan, one.name)}"


def limit_of(plan: Plan, one: Bound) -> str:
    """The limit of a bound, such as "< 20.0 ms"."""
    return f"{'>' if one.above else '<'} {text_of(plan, one.name, one.limit)}"


def limits_of(plan: Plan, name: str) -> str:
    """All limits of a metric or key; empty without one."""
    return ", ".join(limit_of(plan, one) for one in plan.bounds if one.name == name)
