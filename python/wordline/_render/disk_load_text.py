"""What a flash cache spares the disks behind it, in words."""

from collections.abc import Mapping
from typing import Any

from wordline._render.units import many, share


def disk_spared(cache: Mapping[str, Any]) -> str:
    """How busy the disks were, and would be without the cache; empty if that is not known."""
    without = cache["disk_utilisation_without"]
    if without is None:
        return ""
    beyond = ", an overload" if without > 1 else ""
    return (
        f"{share(cache['disk_utilisation'])} (estimated without the cache: {share(without)}{beyond}"
        f"; from the mean time of the {many(cache['disk_requests'], 'request')} that it served)"
    )
