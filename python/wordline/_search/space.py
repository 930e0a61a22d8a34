"""Search space: the values of each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import product
from typing import TYPE_CHECKING, Any

from wordline._api import spelling
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution


def space(vary: Mapping[str, Sequence[Any] | str]) -> dict[str, BaseDistribution]:
    """Returns the values of each key from a list, or a range "LOW:HIGH", "LOW:HIGH:STEP" or
    "LOW:HIGH:log". Raises WordlineError."""
    if not vary:
        raise WordlineError(
            spelling.message("no key varies; give keys and their values with --vary KEY=LOW:HIGH")
        )
    return {key: _of(key, values) for key, values in vary.items()}


def grid(found: Mapping[str, BaseDistribution]) -> list[dict[str, Any]]:
    """Returns every combination of the values. Raises WordlineError for a range of floating-point
    numbers without a step."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    lists: list[list[Any]] = []
    for key, one in found.items():
        if isinstance(one, CategoricalDistribution):
            lists.append(list(one.choices))
        elif isinstance(one, IntDistribution):
            lists.append(list(range(one.low, one.high + 1, one.step)))
        elif isinstance(one, FloatDistribution) and one.step is not None:
            low, step = Decimal(str(one.low)), Decimal(str(one.step))
            count = int((Decimal(str(one.high)) - low) / step) + 1
            lists.append([float(low + place * step) for place in range(count)])
        else:
            raise WordlineError(
                spelling.message(
                    f"{key}: --sampler grid needs a list of values, or a range with a step"
                )
            )
    return [dict(zip(found, values, strict=True)) for values in product(*lists)]


def ends(one: BaseDistribution) -> list[Any]:
    """Returns the two ends of a range, or all values of a list."""
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(one, IntDistribution | FloatDistribution):
        return [one.low, one.high]
    return list(one.choices) if isinstance(one, CategoricalDistribution) else []


def _of(key: str, values: Sequence[Any] | str) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution

    if isinstance(values, str):
        return _span(key, values)
    if not values:
        raise WordlineError(f"{key}: the list is empty; give at least one value")
    return CategoricalDistribution(list(values))


def _span(key: str, text: str) -> BaseDistribution:
    from optuna.distributions import FloatDistribution, IntDistribution

    fault = WordlineError(
        f"{key} = {text!r}: not a valid range; give LOW:HIGH, LOW:HIGH:STEP or LOW:HIGH:log, or a "
        "list of values"
    )
    parts = text.split(":")
    if len(parts) not in (2, 3):
        raise fault
    log = parts[2:] == ["log"]
    try:
        low, high = Decimal(parts[0]), Decimal(parts[1])
        step = Decimal(parts[2]) if len(parts) == 3 and not log else None
    except InvalidOperation:
        raise fault from None
    if high < low or (step is not None and step <= 0) or (log and low <= 0):
        raise fault
    if all("." not in part and "e" not in part.lower() for part in parts[:2] if part) and (
        step is None or step == step.to_integral_value()
    ):
        return IntDistribution(int(low), int(high), log=log, step=int(step or 1))
    return FloatDistribution(
        float(low), float(high), log=log, step=None if step is None else float(step)
    )
