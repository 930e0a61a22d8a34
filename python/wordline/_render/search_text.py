"""Display of the objectives, bounds and varied keys of a search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from wordline._render.metric import key_name, metric, value_text

if TYPE_CHECKING:
    from wordline._search.goal import Bound, Objective
    from wordline._search.plan import Plan


def name_of(plan: Plan, name: str) -> str:
    """Returns the display name of a metric or varied key."""
    return key_name(name) if name in plan.vary else metric(name).name


def text_of(plan: Plan, name: str, value: float | None) -> str:
    """Formats a value of a metric or varied key with its unit."""
    return value_text(value) if name in plan.vary else metric(name).text(value)


def axis_of(plan: Plan, name: str, values: Iterable[float]) -> tuple[float, str]:
    """Returns the scale of a chart axis in units of the metric, and the axis title."""
    return (1.0, key_name(name)) if name in plan.vary else metric(name).axis(values)


def goal_of(plan: Plan, one: Objective) -> str:
    """Describes an objective."""
    return f"{'maximise' if one.maximise else 'minimise'} {name_of(plan, one.name)}"


def limit_of(plan: Plan, one: Bound) -> str:
    """Formats the limit of a bound, such as "< 20.0 ms"."""
    return f"{'>' if one.above else '<'} {text_of(plan, one.name, one.limit)}"


def limits_of(plan: Plan, name: str) -> str:
    """Formats all limits of a metric or key; empty without one."""
    return ", ".join(limit_of(plan, one) for one in plan.bounds if one.name == name)
