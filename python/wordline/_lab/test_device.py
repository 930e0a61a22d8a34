"""The device under test: the user's device without its own load and preconditioning, small enough
to be overwritten several times."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wordline import _wordline, config
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline.config import Overrides

PAGES, QUICK_PAGES = 1 << 24, 1 << 22
"""Number of flash pages above which a device is scaled down."""
LEAST_BLOCKS, QUICK_LEAST_BLOCKS = 128, 64
"""Minimum number of blocks per plane. With fewer blocks, reserved blocks are a larger share of the
plane and raise write amplification."""
OWN = ("workload", "streams", "replay", "series", "observe", "precondition", "base")
"""Tables of a device file that define its use; the lab replaces them."""
STORES = {
    "array": "an array",
    "cache": "flash in front of another store",
    "disk": "a hard disk",
    "ram": "a RAM disk",
}


@dataclass(frozen=True)
class TestDevice:
    """A device as the lab simulates it, with all dies of the user's device. `scale` is the ratio of
    blocks per die of the user's device to those of this one."""

    name: str
    text: str
    config: Mapping[str, Any]
    user_bytes: int
    scale: float
    depth: int
    seed: int
    quick: bool

    @property
    def page_bytes(self) -> int:
        """Page size in bytes, which is the mapping unit."""
        return self.config["nand"]["geometry"]["page_bytes"]

    @property
    def dies(self) -> int:
        """Number of flash dies."""
        return math.prod(
            (
                *(self.config["ssd"][one] for one in ("channels", "ways")),
                self.config["nand"]["geometry"]["dies_per_package"],
            )
        )

    @property
    def planes(self) -> int:
        """Number of planes of all dies."""
        return self.dies * self.config["nand"]["geometry"]["planes_per_die"]

    @property
    def blocks(self) -> int:
        """Number of erase blocks."""
        return self.planes * self.config["nand"]["geometry"]["blocks_per_plane"]

    @property
    def cycle(self) -> int:
        """Number of page programs that fill one block on every plane. If pages are allocated to the
        planes in turn, all planes start GC at the same time, once per this many writes.
        Measurements of a used device last at least as long."""
        return self.planes * self.config["nand"]["geometry"]["pages_per_block"]

    @property
    def slack(self) -> int:
        """Number of writes that a steady-state device absorbs before its first GC run, if GC is
        deferred while requests are served. Until then its rate is not that of continuous use."""
        if self.policy("ftl", "gc", "schedule") in ("on-demand", "incremental"):
            return 0
        blocks = self.config["nand"]["geometry"]["blocks_per_plane"]
        return (1 + int(blocks * self.config["ftl"]["gc"]["start_free_ratio"])) * self.cycle

    @property
    def spare_pages(self) -> int:
        """Flash pages beyond the user capacity."""
        return (self.flash_bytes - self.user_bytes) // self.page_bytes

    @property
    def flash_bytes(self) -> int:
        """Flash capacity in bytes."""
        geometry = self.config["nand"]["geometry"]
        return self.blocks * geometry["pages_per_block"] * geometry["page_bytes"]

    @property
    def buffer_bytes(self) -> int:
        """Size of the DRAM buffer in bytes; 0 without one."""
        return 1024 * self.config.get("buffer", {}).get("capacity_kib", 0)

    def policy(self, *path: str) -> str:
        """Returns the name of the policy at a key; empty if this version has no such key."""
        found: Any = self.config
        for key in path:
            if not isinstance(found, Mapping) or key not in found:
                return ""
            found = found[key]  # pyright: ignore[reportUnknownVariableType]
        return next(iter(found)) if isinstance(found, Mapping) else str(found)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def count(self, full: int, quick: int) -> int:
        """Returns `quick` in a preview, else `full`."""
        return quick if self.quick else full

    @property
    def told_scale(self) -> str:
        """Sentence that states how the device was scaled."""
        if self.scale == 1:
            return "The device is simulated whole."
        return (
            f"The device is simulated with 1/{self.scale:.3g} of the blocks on every die, with all "
            "dies and the same over-provisioning. Rates and latencies apply to the whole "
            "device; bytes and time before the cliff are "
            f"{self.scale:.3g} times those of the simulated one."
        )


def on_bench(
    device: config.Device, overrides: Overrides | None, *, depth: int, seed: int, quick: bool
) -> TestDevice:
    """Prepares a device for the lab. Raises WordlineError if it is invalid or not a single SSD."""
    config.check(device, overrides)
    resolved: dict[str, Any] = tomllib.loads(config.show(device, overrides))
    _, place = config.read(device)
    for table, told in STORES.items():
        if table in resolved:
            raise WordlineError(
                f"{place}: is {told}, but `wordline lab` takes a single SSD; copy its flash to "
                "a separate file"
            )
    whole = {key: value for key, value in resolved.items() if key not in OWN}
    scaled = _scaled(whole, quick=quick)
    text, name = config.read(scaled)
    blocks = whole["nand"]["geometry"]["blocks_per_plane"]
    return TestDevice(
        resolved.get("name") or place,
        text,
        scaled,
        _wordline.config_capacity(text, name, []),
        blocks / scaled["nand"]["geometry"]["blocks_per_plane"],
        depth,
        seed,
        quick,
    )


def _scaled(whole: dict[str, Any], *, quick: bool) -> dict[str, Any]:
    """Scales a device down to the page limit of the lab, but not below the number of blocks per
    plane that the lab, the mapping and GC need. A smaller device is returned unchanged."""
    geometry = whole["nand"]["geometry"]
    planes = geometry["planes_per_die"]
    dies = whole["ssd"]["channels"] * whole["ssd"]["ways"] * geometry["dies_per_package"]
    room = (QUICK_PAGES if quick else PAGES) // (dies * planes * geometry["pages_per_block"])
    blocks = max(room, QUICK_LEAST_BLOCKS if quick else LEAST_BLOCKS)
    all_blocks = geometry["blocks_per_plane"]
    while blocks < all_blocks:
        nand = whole["nand"] | {"geometry": geometry | {"blocks_per_plane": blocks}}
        made = whole | {"nand": nand, "ftl": _map_cache(whole["ftl"], blocks / all_blocks)}
        with suppress(WordlineError):
            config.check(made)
            return made
        blocks += -(-blocks // 8)
    return whole


def _map_cache(ftl: dict[str, Any], share: float) -> dict[str, Any]:
    """Scales the cached map (`ftl.mapping.dftl.cache_bytes`), if its size is set, by `share`, so
    that the cached share of the entries stays the same."""
    mapping: Any = ftl["mapping"]
    dftl: dict[str, Any] = {} if isinstance(mapping, str) else mapping.get("dftl", {})
    if dftl.get("cache_bytes") is None:
        return ftl
    cached = int(dftl["cache_bytes"] * share)
    return ftl | {"mapping": {"dftl": dftl | {"cache_bytes": cached}}}
