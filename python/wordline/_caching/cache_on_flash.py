"""Policies of `wordline cache` on flash in front of a disk: what their hits cost the flash."""

from __future__ import annotations

import json
import math
import os
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from wordline import _wordline, config
from wordline._render.units import many
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline.config import Value

DISK = "disk-5ms"
LEAST_BLOCKS = 64
"""Of a plane; with fewer, whole blocks are too coarse for thresholds and over-provisioning."""
REPLACEMENT = "cache.replacement"
CEILINGS = ("belady", "unbounded")
"""Policies that bound what is possible, and run on no device."""


class FlashSide(TypedDict):
    """What a policy of a size did on flash in front of a disk. Pages are pages of the flash;
    `capacity_pages` is its size in whole blocks. `erases` is of the whole device, `lifetime_years`
    None without an erase, `disk_utilisation` where requests do not wait for each other."""

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
    """A flash device in front of a disk, in any size."""

    def __init__(
        self, flash: str | os.PathLike[str], disk: str, overrides: Mapping[str, Value]
    ) -> None:
        self.device, self.disk = os.fspath(flash), disk
        alone = tomllib.loads(config.show(self.device, {}))
        if "disk" in alone and "cache" not in alone:
            raise WordlineError(
                f"flash = {self.device}: this is a hard disk; name a device of flash, such as d4, "
                "and the disk behind it with disk"
            )
        own = {
            REPLACEMENT: "lru",
            "cache.mode": "write-around",
            "cache.partition": "unified",
            "disk.base": disk,
            # The cache is in the controller: it reaches the flash without interface or buffer.
            "host.interface": "direct",
            "buffer.capacity_kib": 0,
        }
        self.overrides: dict[str, Value] = own | dict(overrides)
        resolved = tomllib.loads(config.show(self.device, self.overrides))
        if "positioned" not in resolved["disk"]["model"]:
            # A disk without positions is as large as any trace.
            self.overrides = {"disk.capacity_bytes": 1 << 50} | self.overrides
        # What is wrong in any size is refused; a size that does not fit is a note.
        config.check(self.device, self.overrides)
        self._resolved = resolved
        nand = resolved["nand"]["geometry"]
        self.page_bytes: int = nand["page_bytes"]
        self._block_pages: int = nand["pages_per_block"]
        self._spare: float = resolved["ftl"]["over_provisioning_ratio"]

    def sized(self, pages: int) -> dict[str, Value]:
        """The keys of a device whose cache holds `pages` pages or, in whole blocks, a few more."""
        return in_blocks(self._resolved, pages / (1 - self._spare) / self._block_pages, math.ceil)

    def is_narrowed(self, pages: int) -> bool:
        """Whether a device of that size has fewer channels, ways, dies or planes."""
        wired = wiring(self._resolved)
        return any(self.sized(pages)[key] != count for key, count in wired.items())


def wiring(resolved: Mapping[str, Any]) -> dict[str, int]:
    """How many planes a device has, as the keys whose product that is."""
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
    """The keys of a device of `blocks` blocks. A small one has fewer ways, dies, channels and
    planes, so that a plane keeps LEAST_BLOCKS."""
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
    """Whether a key says the policy of the cache, or a parameter of it."""
    return key == REPLACEMENT or key.startswith(f"{REPLACEMENT}.")


def play(
    on: OnFlash,
    trace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    runs: Sequence[Mapping[str, Any]],
    options: Mapping[str, Any],
    tell: Callable[[dict[str, object]], None] | None,
) -> tuple[list[FlashSide | None], list[str]]:
    """The flash side of each of `runs` (`policy` and `size_pages`), None where there is none; and
    notes that say why. Raises WordlineError."""
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
    # The points of a sweep have the same keys: those of policies with parameters have their own.
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
                notes.append(
                    f"{many(asked, 'page')} asked for, while the cache on flash holds {held}"
                )
    return sides, list(dict.fromkeys(notes))


def _fits(on: OnFlash, pages: int, notes: list[str]) -> bool:
    """Whether there is a device of that size; a note where there is none, or a narrower one."""
    try:
        config.check(on.device, on.overrides | on.sized(pages))
    except WordlineError as fault:
        notes.append(f"No flash device of {many(pages, 'page')}: {str(fault).splitlines()[0]}")
        return False
    if on.is_narrowed(pages):
        notes.append(
            f"{on.device} in {many(pages, 'page')} has fewer channels, ways, dies or planes, so "
            f"that each plane has {LEAST_BLOCKS} blocks or more"
        )
    return True


def _named(point: Mapping[str, Any]) -> str:
    """The policy of a point if it has parameters; else nothing."""
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
        raise WordlineError("one trace at a time is played on flash; name one, or join them")
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
