"""The 24 strategies and their families."""

from collections.abc import Iterable, Mapping
from itertools import permutations

# A name lists channel, way, die and plane in the order in which they are filled.
ORDERS = tuple("".join(letters) for letters in permutations("CWDP"))
FAMILIES = {
    family: tuple(order for order in ORDERS if order[0] == family[0].upper())
    for family in ("channel-first", "way-first", "die-first", "plane-first")
}
CHANNEL, WAY, DIE, PLANE = FAMILIES.values()
# Strategies that fill flash-level resources (dies, planes) first, and those that fill system-level
# resources (channels, ways) first.
FLASH, SYSTEM = DIE + PLANE, CHANNEL + WAY
BASE = "CWDP"


def mean(values: Iterable[float]) -> float:
    """Returns the arithmetic mean."""
    listed = list(values)
    return sum(listed) / len(listed)


def of(values: Mapping[str, float], orders: Iterable[str]) -> float:
    """Returns the mean over the given strategies."""
    return mean(values[order] for order in orders)


def normalised(values: Mapping[str, float]) -> dict[str, float]:
    """Returns the values relative to CWDP."""
    return {order: value / values[BASE] for order, value in values.items()}


def averaged(tables: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Returns the mean over several loads, by strategy."""
    listed = list(tables)
    return {order: mean(table[order] for table in listed) for order in ORDERS}


def best(values: Mapping[str, float], orders: Iterable[str]) -> str:
    """Returns the strategy with the largest value among `orders`."""
    return max(orders, key=lambda order: values[order])


def each(values: Mapping[str, float], orders: Iterable[str], unit: str = "") -> str:
    """Formats the strategies with their values."""
    return ", ".join(f"{order} {values[order]:.3g}{unit}" for order in orders)
