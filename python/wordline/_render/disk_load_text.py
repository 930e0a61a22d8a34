"""What a flash cache spares the disks behind it, in words."""

from collections.abc import Mapping
from typing import Any

from wordline._render.units import share


def disk_spared(cache: Mapping[str, Any]) -> str:
    """How busy the disks were, and would be without the cache; empty if that is not known."""
    without = cache["disk_utilisation_without"]
    if without is None:
        return ""
    beyond = ", more than they can do" if without > 1 else ""
    return (
        f"at work {share(cache['disk_utilisation'])} of the time, and {share(without)} without the "
        f"cache{beyond}, if every request of the host took the mean time of the "
        f"{cache['disk_requests']:,} that the disk served"
    )
