"""The device on the bench: what the user described, without load and history of its own, and small
enough to be written over several times."""

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
"""Pages of flash from which on a device is scaled down."""
LEAST_BLOCKS, QUICK_LEAST_BLOCKS = 128, 64
"""Blocks that a plane keeps: reserved blocks are a larger share of fewer, and raise write
amplification."""
OWN = ("workload", "streams", "replay", "series", "observe", "precondition", "base")
"""Tables of a device that say what is done to it; the lab does that."""
STORES = {"array": "an array", "cache": "flash in front of another store", "disk": "a hard disk"}


@dataclass(frozen=True)
class TestDevice:
    """A device as the lab runs it. `scale` is how many times larger the user's is: it has as many
    dies, and more blocks on each."""

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
        """Of a page, which is the unit of the map."""
        return self.config["nand"]["geometry"]["page_bytes"]

    @property
    def dies(self) -> int:
        """Dies of flash."""
        return math.prod(
            (
                *(self.config["ssd"][one] for one in ("channels", "ways")),
                self.config["nand"]["geometry"]["dies_per_package"],
            )
        )

    @property
    def planes(self) -> int:
        """Planes of all dies."""
        return self.dies * self.config["nand"]["geometry"]["planes_per_die"]

    @property
    def blocks(self) -> int:
        """Erase blocks."""
        return self.planes * self.config["nand"]["geometry"]["blocks_per_plane"]

    @property
    def cycle(self) -> int:
        """Programs that fill a block on every plane. Where pages go to the planes in turn, all
        collect at the same time, once in so many writes; measurements of a used device are no
        shorter."""
        return self.planes * self.config["nand"]["geometry"]["pages_per_block"]

    @property
    def slack(self) -> int:
        """Writes that a settled device takes before the first collection, where these are put off
        while requests are being served: until then it is not what it is when in use."""
        if self.policy("ftl", "gc", "schedule") in ("on-demand", "incremental"):
            return 0
        blocks = self.config["nand"]["geometry"]["blocks_per_plane"]
        return (1 + int(blocks * self.config["ftl"]["gc"]["start_free_ratio"])) * self.cycle

    @property
    def spare_pages(self) -> int:
        """Pages of flash beyond those of the user."""
        return (self.flash_bytes - self.user_bytes) // self.page_bytes

    @property
    def flash_bytes(self) -> int:
        """All of the flash."""
        geometry = self.config["nand"]["geometry"]
        return self.blocks * geometry["pages_per_block"] * geometry["page_bytes"]

    @property
    def buffer_bytes(self) -> int:
        """Of the DRAM buffer; 0 for none."""
        return 1024 * self.config.get("buffer", {}).get("capacity_kib", 0)

    def policy(self, *path: str) -> str:
        """The name of the policy that is chosen at a key; empty if this version has no such key."""
        found: Any = self.config
        for key in path:
            if not isinstance(found, Mapping) or key not in found:
                return ""
            found = found[key]  # pyright: ignore[reportUnknownVariableType]
        return next(iter(found)) if isinstance(found, Mapping) else str(found)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]

    def count(self, full: int, quick: int) -> int:
        """One number, or the other if it has to be quick."""
        return quick if self.quick else full

    @property
    def told_scale(self) -> str:
        """How the device was scaled, as a sentence."""
        if self.scale == 1:
            return "The device is simulated whole."
        return (
            f"The device is simulated with 1/{self.scale:.3g} of its blocks on every die, all its "
            "dies and the same over-provisioning. Rates and latencies are those of the whole "
            "device; what is written before the cliff, and the time it takes, are "
            f"{self.scale:.3g} times those of the simulated one."
        )


def on_bench(
    device: config.Device, overrides: Overrides | None, *, depth: int, seed: int, quick: bool
) -> TestDevice:
    """Puts a device on the bench. Raises WordlineError if it is no single SSD, or is not sound."""
    config.check(device, overrides)
    resolved: dict[str, Any] = tomllib.loads(config.show(device, overrides))
    _, place = config.read(device)
    for table, told in STORES.items():
        if table in resolved:
            raise WordlineError(
                f"{place}: is {told}; `wordline lab` takes a single SSD: put its flash into a file "
                "of its own"
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
    """The device with as few blocks on each plane as are wanted, or as its mapping and its
    collections need; the whole of it if it is no larger."""
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
    """A translation layer whose cache of a map in flash, if its size is given, has this share of
    it: as many of the entries stay in memory."""
    mapping: Any = ftl["mapping"]
    dftl: dict[str, Any] = {} if isinstance(mapping, str) else mapping.get("dftl", {})
    if dftl.get("cache_bytes") is None:
        return ftl
    cached = int(dftl["cache_bytes"] * share)
    return ftl | {"mapping": {"dftl": dftl | {"cache_bytes": cached}}}
