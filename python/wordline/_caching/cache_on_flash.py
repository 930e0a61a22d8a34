"""Policies of `wordline cache` on flash in front of a disk, to measure what their hits cost the
flash."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from wordline import _wordline, config
from wordline._render.units import many
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline.config import Value

DISK = "disk-5ms"
LEAST_BLOCKS = 64
"""Minimum number of blocks per plane. With fewer blocks, GC thresholds and over-provisioning, which
are whole blocks, are too coarse."""
REPLACEMENT = "cache.replacement"
CEILINGS = ("belady", "unbounded")
"""Policies that give an upper bound of the hit ratio. They cannot run on a device."""


class FlashSide(TypedDict):
    """Result of a policy at a size on flash in front of a disk. Pages are flash pages;
    `capacity_pages` is the size in whole blocks. `erases` counts all blocks of the device.
    `lifetime_years` is None if no block was erased. `disk_utilisation` is None for a disk model
    without a queue."""

    capacity_pages: int
    hit_ratio: float | None
    revived: int
    page_programs: int
    write_amplification: float | None
    erases: int
    mean_us: float | None
    lifetime_years: float | None
    disk_utilisation: float | None


class OnFlash:
    """A flash device of any size in front of a disk."""

    def __init__(
        self, flash: str | os.PathLike[str], disk: str, overrides: Mapping[str, Value]
    ) -> None:
        import tomllib

        self.device, self.disk = os.fspath(flash), disk
        alone = tomllib.loads(config.show(self.device, {}))
        if "disk" in alone and "cache" not in alone:
            raise WordlineError(
                f"flash = {self.device}: this is a hard disk; name a flash device, such as d4, "
                "and the disk behind it with the option `disk`"
            )
        own = {
            REPLACEMENT: "lru",
            "cache.mode": "write-around",
            "cache.partition": "unified",
            "disk.base": disk,
            # The cache is in the controller and accesses the flash without host interface or
            # buffer.
            "host.interface": "direct",
            "buffer.capacity_kib": 0,
        }
        self.overrides: dict[str, Value] = own | dict(overrides)
        resolved = tomllib.loads(config.show(self.device, self.overrides))
        if "positioned" not in resolved["disk"]["model"]:
            # A disk model without positions gets a capacity that holds any trace.
            self.overrides = {"disk.capacity_bytes": 1 << 50} | self.overrides
        # A device that is invalid at any size is an error; a size that does not fit is a note.
        config.check(self.device, self.overrides)
        self._resolved = resolved
        nand = resolved["nand"]["geometry"]
        self.page_bytes: int = nand["page_bytes"]
        self._block_pages: int = nand["pages_per_block"]
        self._spare: float = resolved["ftl"]["over_provisioning_ratio"]

    def sized(self, pages: int) -> dict[str, Value]:
        """Returns the keys of a device whose cache holds at least `pages` pages, in whole
        blocks."""
        return in_blocks(self._resolved, pages / (1 - self._spare) / self._block_pages, math.ceil)

    def is_narrowed(self, pages: int) -> bool:
        """Returns True if the device of that size has fewer channels, ways, dies or planes."""
        wired = wiring(self._resolved)
        return any(self.sized(pages)[key] != count for key, count in wired.items())


def wiring(resolved: Mapping[str, Any]) -> dict[str, int]:
    """Returns the numbers of ways, dies, channels and planes by key. Their product is the number of
    planes of the device."""
    nand, ssd = resolved["nand"]["geometry"], resolved["ssd"]
    return {
        "ssd.ways": ssd["ways"],
        "nand.geometry.dies_per_package": nand["dies_per_package"],
        "ssd.channels": ssd["channels"],
        "nand.geometry.planes_per_die": nand["planes_per_die"],
    }


def in_blocks(
    resolved: Mapping[str, Any], blocks: float, rounded: Callable[[float], int] = round
) -> dict[str, Value]:
    """Returns the keys of a device of about `blocks` blocks. A small device has fewer ways, dies,
    channels and planes, so that each plane keeps LEAST_BLOCKS blocks."""
    wired = wiring(resolved)
    for key in wired:
        while blocks / math.prod(wired.values()) < LEAST_BLOCKS and wired[key] % 2 == 0:
            wired[key] //= 2
    of_plane = rounded(blocks / math.prod(wired.values()))
    keys: dict[str, Value] = {"nand.geometry.blocks_per_plane": of_plane, **wired}
    if start := resolved["ftl"]["gc"]["start_free_pages"]:
        share = of_plane / resolved["nand"]["geometry"]["blocks_per_plane"]
        keys["ftl.gc.start_free_pages"] = max(1, round(start * share))
    return keys


def is_replacement(key: str) -> bool:
    """Returns True if a key sets the replacement policy of the cache, or a parameter of the
    policy."""
    return key == REPLACEMENT or key.startswith(f"{REPLACEMENT}.")


def play(
    on: OnFlash,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    runs: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    tell: Callable[[dict[str, object]], None] | None,
) -> tuple[list[FlashSide | None], list[str]]:
    """Returns the result on flash of each of `runs` (`policy` and `size_pages`), or None if it
    cannot run there, and notes with the reasons. Raises WordlineError."""
    notes: list[str] = []
    points: list[dict[str, Any]] = []
    places: list[int] = []
    fits = {
        pages: _fits(on, pages, notes) for pages in dict.fromkeys(run["size_pages"] for run in runs)
    }
    for place, run in enumerate(runs):
        name, pages = run["policy"], run["size_pages"]
        if name.split(":")[0] in CEILINGS or not fits[pages]:
            continue
        policy = json.loads(_wordline.cache_policy(name)) if ":" in name else name
        points.append({REPLACEMENT: policy} | on.sized(pages))
        places.append(place)
    sides: list[FlashSide | None] = [None] * len(runs)
    # The points of a sweep have the same keys, so each policy with parameters is a sweep of its
    # own.
    for named in dict.fromkeys(_named(point) for point in points):
        own = [number for number, point in enumerate(points) if _named(point) == named]
        rows = _rows(on, trace, [points[number] for number in own], options, tell)
        for place, row in zip((places[number] for number in own), rows, strict=True):
            if row["status"] == "failed":
                raise WordlineError(f"{runs[place]['policy']} on {on.device}: {row['error']}")
            sides[place] = side = _side(row)
            asked = runs[place]["size_pages"]
            if side["capacity_pages"] != asked:
                held = f"{many(side['capacity_pages'], 'page')}, in whole blocks of {on.device}"
                notes.append(f"{many(asked, 'page')} requested; the cache on flash holds {held}")
    return sides, list(dict.fromkeys(notes))


def _fits(on: OnFlash, pages: int, notes: list[str]) -> bool:
    """Returns True if a device of that size exists. Adds a note if it does not, or if it has fewer
    planes."""
    try:
        config.check(on.device, on.overrides | on.sized(pages))
    except WordlineError as fault:
        notes.append(f"No flash device of {many(pages, 'page')}: {str(fault).splitlines()[0]}")
        return False
    if on.is_narrowed(pages):
        notes.append(
            f"{on.device} with {many(pages, 'page')} has fewer channels, ways, dies or planes, so "
            f"that each plane has {LEAST_BLOCKS} blocks or more"
        )
    return True


def _named(point: Mapping[str, Any]) -> str:
    """Returns the name of the policy of a point if it has parameters; otherwise an empty string."""
    policy = point[REPLACEMENT]
    return "" if isinstance(policy, str) else next(iter(policy))


def _rows(
    on: OnFlash,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    points: list[dict[str, Any]],
    options: Mapping[str, Any],
    tell: Callable[[dict[str, object]], None] | None,
) -> list[dict[str, Any]]:
    from wordline._sweep import sweep
    from wordline._sweep.engine import State

    def told(state: State) -> None:
        if tell:
            done = state.done / max(1, state.total)
            tell({"phase": "on flash", "requests": 0, "fraction": done})

    files = [trace] if isinstance(trace, str | os.PathLike) else list(trace)
    if len(files) != 1:
        raise WordlineError(
            "runs on flash support only a single trace; name one trace, or join the traces"
        )
    file = os.fspath(files[0])
    frame = sweep(
        on.device,
        file,
        points=points,
        overrides={key: own for key, own in on.overrides.items() if key != REPLACEMENT},
        progress=told if tell else False,
        **options,
    ).table()
    return frame.sort("point").to_dicts()


def _side(row: Mapping[str, Any]) -> FlashSide:
    return {
        "capacity_pages": row["cache.capacity_pages"],
        "hit_ratio": row["cache.hit_ratio"],
        "revived": row["cache.suspected_hits"],
        "page_programs": row["flash.page_programs"],
        "write_amplification": row["flash.write_amplification"],
        "erases": row["flash.erases"],
        "mean_us": row["latency.all.mean_us"],
        "lifetime_years": row["cache.lifetime_years"],
        "disk_utilisation": row["cache.disk_utilisation"],
    }
