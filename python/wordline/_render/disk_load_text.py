"""Describes the disk load that a flash cache saves."""

from collections.abc import Mapping
from typing import Any

from wordline._render.units import many, share


def disk_spared(cache: Mapping[str, Any]) -> str:
    """Describes the utilisation of the disks with and without the cache; empty if it is unknown."""
    without = cache["disk_utilisation_without"]
    if without is None:
        return ""
    beyond = ", an overload" if without > 1 else ""
    return (
        f"{share(cache['disk_utilisation'])} (estimated without the cache: {share(without)}{beyond}"
        f" from the mean time of its {many(cache['disk_requests'], 'request')})"
    )
