"""Check of a plan against short simulations, and the recommendation."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from wordline import config
from wordline._caching.cache_on_flash import in_blocks
from wordline._render import units
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from wordline._caching.plan_cache import PlanAnswer, PlanSize, PlanSummary

TOLERANCE = 0.25
"""Plan and simulation disagree if they differ by more than this share of the simulated latency."""
LEAST_US = 50.0
"""Minimum difference in µs that counts as disagreement."""
NEAR = 1.05
"""Maximum ratio of the latency of the recommended flash to the minimum latency. The smallest flash
within it is recommended."""
MOST_RUNS = 5
"""Maximum number of divisions to simulate if the first one disagrees with its plan."""
STANDARD_INPUT = "-"


class PlanRun(TypedDict):
    """A simulated division, with the mean latency of the leading requests as planned and as
    simulated. `parts` is whether the two differ by more than the tolerance. `settings` are the
    configuration keys of the flash for this division; `flash_pages` is its simulated size."""

    policy: str
    flash_pages: int
    planned_us: float
    simulated_us: float
    parts: bool
    read_hit_ratio: float | None
    settings: dict[str, Any]


class PlanCheck(TypedDict):
    """Simulations of the leading requests. `fault` is the reason if there are none; `runs` is then
    empty. `disk_us` is the mean latency of the disk alone, and `disk_planned_us` its planned
    value."""

    requests: int
    tolerance_ratio: float
    disk_planned_us: float | None
    disk_us: float | None
    runs: list[PlanRun]
    fault: str | None


class PlanAdvice(TypedDict):
    """The recommendation as a `sentence`, with its `reason` and the `basis` of the lifetime.
    `policy` and `flash_pages` are None if the disk alone is recommended. `latency_us`, that of the
    best cache, and `disk_us` are simulated if `by` is "simulation", else computed by the models."""

    sentence: str
    reason: str
    by: str
    policy: str | None
    flash_pages: int | None
    latency_us: float | None
    disk_us: float | None
    lifetime: str | None
    basis: str | None
    settings: dict[str, Any]


Named = tuple[str, str, list[tuple[str, str]]]
"""Name, text and overrides of a device."""


class Tiers:
    """The flash and the disk of a plan as stores that can be simulated."""

    def __init__(self, flash: Named, disk: Named) -> None:
        self._flash = _resolved(flash)
        self._disk = _resolved(disk)["disk"]
        self.block_pages: int = self._flash["nand"]["geometry"]["pages_per_block"]
        if "positioned" not in self._disk["model"]:
            # A disk model without positions gets a capacity that holds any trace.
            self._disk["capacity_bytes"] = 1 << 50
        for table in ("disk", "workload", "streams", "precondition", "replay", "host_side"):
            self._flash.pop(table, None)

    def alone(self) -> dict[str, Any]:
        """Returns the disk without flash."""
        return {"schema": 1, "name": "disk", "disk": self._disk}

    def settings(self, answer: PlanAnswer) -> dict[str, Any]:
        """Returns the flash keys of a division."""
        reads, writes = answer["read_pages"], answer["write_pages"]
        partition: Any = "unified"
        if reads is not None and answer["policy"] != "locality-driven":
            partition = {"split": {"read_ratio": reads / max(1, reads + writes)}}
        mode = "write-only" if answer["policy"] == "locality-driven" else "write-back"
        return {
            **in_blocks(self._flash, answer["flash_pages"] / self.block_pages),
            "ftl.over_provisioning_ratio": answer["over_provisioning_ratio"],
            "cache.mode": mode,
            "cache.replacement": "lru",
            "cache.partition": partition,
            "cache.admission": "always",
            "cache.reply": "data",
            "host.interface": "direct",
            "buffer.capacity_kib": 0,
        }

    def store(self) -> dict[str, Any]:
        """Returns the flash in front of the disk, without the keys of a division."""
        return {**self._flash, "disk": self._disk}


def _resolved(device: Named) -> dict[str, Any]:
    name, text, overrides = device
    return tomllib.loads(config.show(config.Source(text, name), overrides))


def check(
    summary: PlanSummary,
    tiers: Callable[[], Tiers],
    trace: Sequence[str],
    playing: Mapping[str, Any],
    tell: Callable[[dict[str, object]], None] | None,
) -> PlanCheck:
    """Simulates the disk alone and the recommended division. If its simulation fails or disagrees
    with the plan, also simulates the best division of each other policy."""
    replay = summary["replay"]
    found: PlanCheck = {
        "requests": replay["requests"] if replay else 0,
        "tolerance_ratio": TOLERANCE,
        "disk_planned_us": summary["disk_only"]["request_us"] if replay else None,
        "disk_us": None,
        "runs": [],
        "fault": None,
    }
    if not replay:
        found["fault"] = "the trace has keys instead of disk addresses"
        return found
    if STANDARD_INPUT in trace:
        found["fault"] = "a trace on standard input can be read only once"
        return found
    playing = {**playing, "max_requests": replay["requests"], "fit": "wrap"}
    if playing["volumes"] == "shared" and replay["volumes"] > 1:
        playing["volumes"] = "stack"
    play = _Player(trace, playing, replay["timed"])
    try:
        store = tiers()
        _told(tell, 0)
        found["disk_us"] = play(store.alone(), {})["latency"]["all"]["mean_us"]
    except WordlineError as fault:
        found["fault"] = str(fault).splitlines()[0]
        return found
    for place, answer in enumerate(_candidates(summary)[:MOST_RUNS], 1):
        _told(tell, place)
        try:
            found["runs"].append(_run(store, answer, play))
        except WordlineError as fault:
            found["fault"] = f"{answer['policy']}: {str(fault).splitlines()[0]}"
            continue
        if place == 1 and not found["runs"][0]["parts"]:
            break
    return found


class _Player:
    """Simulates a store under the leading requests of a trace."""

    def __init__(self, trace: Sequence[str], playing: Mapping[str, Any], timed: bool) -> None:
        self._trace, self._playing = list(trace), playing
        self._replay = {} if timed else {"replay.mode": {"closed-loop": {"queue_depth": 1}}}

    def __call__(self, device: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
        from wordline._api.simulation import run

        overrides = {**settings, **self._replay}
        result = run(device, self._trace, overrides=overrides, requests=False, **self._playing)
        return dict(result.summary)


def _told(tell: Callable[[dict[str, object]], None] | None, place: int) -> None:
    if tell:
        tell({"phase": "check", "requests": 0, "fraction": place / (MOST_RUNS + 1)})


def _run(store: Tiers, answer: PlanAnswer, play: _Player) -> PlanRun:
    settings = store.settings(answer)
    summary = play(store.store(), settings)
    planned, simulated = answer["request_us"], summary["latency"]["all"]["mean_us"]
    return {
        "policy": answer["policy"],
        "flash_pages": blocks_of(settings) * store.block_pages,
        "planned_us": planned,
        "simulated_us": simulated,
        "parts": parts(planned, simulated),
        "read_hit_ratio": summary["cache"]["hit_ratio"],
        "settings": settings,
    }


def parts(planned: float, simulated: float) -> bool:
    """Returns True if a plan differs from its simulation by more than the tolerance."""
    return abs(planned - simulated) > max(LEAST_US, TOLERANCE * simulated)


def blocks_of(settings: Mapping[str, Any]) -> int:
    """Returns the number of blocks of a flash with these settings."""
    return math.prod(value for key, value in settings.items() if key in BLOCKS)


BLOCKS = (
    "ssd.channels",
    "ssd.ways",
    "nand.geometry.dies_per_package",
    "nand.geometry.planes_per_die",
    "nand.geometry.blocks_per_plane",
)


def recommended(summary: PlanSummary) -> tuple[PlanSize, PlanAnswer]:
    """Returns the recommendation of the models as a size and a division: the smallest flash whose
    latency is near the minimum."""
    every = [(size, answer) for size in summary["sizes"] for answer in size["answers"]]
    least = min(answer["request_us"] for _, answer in every)
    near = [one for one in every if one[1]["request_us"] <= NEAR * least]
    return min(near, key=lambda one: (one[1]["flash_pages"], one[1]["request_us"]))


def _candidates(summary: PlanSummary) -> list[PlanAnswer]:
    """Returns the divisions to simulate: the recommended one, then the best of each other
    policy."""
    _, first = recommended(summary)
    every = [answer for size in summary["sizes"] for answer in size["answers"]]
    others: dict[str, PlanAnswer] = {}
    for answer in sorted(every, key=lambda answer: answer["request_us"]):
        if answer["policy"] != first["policy"]:
            others.setdefault(answer["policy"], answer)
    return [first, *others.values()]


def advice(summary: PlanSummary, check: PlanCheck | None) -> PlanAdvice:
    """Returns the recommendation, based on the simulations if there are any, else on the models."""
    if check and check["runs"] and check["disk_us"] is not None:
        run = min(check["runs"], key=lambda run: run["simulated_us"])
        size, answer = _answer(summary, run)
        latency, disk, by = run["simulated_us"], check["disk_us"], "simulation"
        settings = run["settings"]
    else:
        size, answer = recommended(summary)
        latency, disk, by = answer["request_us"], summary["disk_only"]["request_us"], "models"
        settings = {}
    lifetime = units.lifetime(answer["lifetime_years"])
    faster = disk is None or latency < disk
    return {
        "sentence": _flash(summary, size, answer, latency, disk)
        if faster
        else _no_flash(summary, size, answer, latency, disk),
        "reason": _reason(check),
        "by": by,
        "policy": answer["policy"] if faster else None,
        "flash_pages": answer["flash_pages"] if faster else None,
        "latency_us": latency,
        "disk_us": disk,
        "lifetime": lifetime,
        "basis": basis(summary, answer),
        "settings": settings if faster else {},
    }


def _answer(summary: PlanSummary, run: PlanRun) -> tuple[PlanSize, PlanAnswer]:
    """Returns the size and the division of a run."""
    every = [(size, answer) for size in summary["sizes"] for answer in size["answers"]]
    own = [one for one in every if one[1]["policy"] == run["policy"]]
    planned = [one for one in own if one[1]["request_us"] == run["planned_us"]]
    return min(planned, key=lambda one: abs(one[1]["flash_pages"] - run["flash_pages"]))


def _flash(
    summary: PlanSummary,
    size: PlanSize,
    answer: PlanAnswer,
    latency: float,
    disk: float | None,
) -> str:
    page = summary["flash"]["page_bytes"]
    against = f" instead of {units.duration(disk)} with the disk alone" if disk else ""
    hits = [
        f"{units.share(ratio)} of the {what} hit"
        for what, ratio in (
            ("reads", answer["read_hit_ratio"]),
            ("writes", answer["write_hit_ratio"]),
        )
        if ratio is not None
    ]
    lasts = answer["lifetime_years"]
    ends = [f"a request takes {units.duration(latency)} on average{against}", *hits]
    if lasts is not None:
        ends.append(f"the flash lasts {units.lifetime(lasts)}")
    text = ", ".join(ends[:-1]) + " and " + ends[-1] if len(ends) > 1 else ends[0]
    return (
        f"Put {units.size(size['flash_bytes'])} of flash in front of {summary['disk']['name']}, "
        f"{division(answer, page)}: {text}."
    )


def division(answer: PlanAnswer, page_bytes: int) -> str:
    """Describes the division of the flash in words."""
    reads, writes = answer["read_pages"], answer["write_pages"]
    spare = f"{units.share(answer['over_provisioning_ratio'])} over-provisioning"
    if reads is None:
        return f"one list of {units.size(writes * page_bytes)} and {spare}"
    for_writes = f"{units.size(writes * page_bytes)} for writes"
    if reads == 0:
        return f"{for_writes} and {spare}"
    return f"{units.size(reads * page_bytes)} for reads, {for_writes} and {spare}"


def _no_flash(
    summary: PlanSummary, size: PlanSize, answer: PlanAnswer, latency: float, disk: float | None
) -> str:
    page = summary["flash"]["page_bytes"]
    faster = "as fast" if latency == disk else "faster"
    return (
        f"Use no cache: {summary['disk']['name']} alone is {faster}, with {units.duration(disk)} "
        f"per request on average; with {units.size(size['flash_bytes'])} of flash "
        f"({division(answer, page)}) a request takes {units.duration(latency)}."
    )


def _reason(check: PlanCheck | None) -> str:
    """Describes the basis of the recommendation in a sentence."""
    if check is None:
        return "Based on the models alone: no simulation was requested."
    if not check["runs"]:
        return f"Based on the models alone; nothing was simulated: {check['fault']}."
    count = units.many(check["requests"], "request")
    tolerance = units.share(check["tolerance_ratio"])
    run, planned, disk = check["runs"][0], check["disk_planned_us"], check["disk_us"]
    parted = [
        f"for {store} the models give {units.duration(said)}, the simulation {units.duration(was)}"
        for store, said, was in (
            ("the disk alone", planned, disk),
            (
                f"{run['policy']} with {units.many(run['flash_pages'], 'page')}",
                run["planned_us"],
                run["simulated_us"],
            ),
        )
        if said is not None and was is not None and parts(said, was)
    ]
    broken = f" One division could not be simulated: {check['fault']}." if check["fault"] else ""
    if not parted:
        return (
            f"A simulation of the first {count} agrees with the models within {tolerance} of the "
            f"mean latency, or {LEAST_US:g} µs.{broken}"
        )
    several = units.many(len(check["runs"]), "division")
    return (
        f"Models and simulation differ by more than {tolerance} over the first {count}: "
        f"{'; '.join(parted)}. The advice follows the simulation of {several}.{broken}"
    )


def basis(summary: PlanSummary, answer: PlanAnswer) -> str | None:
    """Describes the assumptions behind the lifetime of a division; None without a lifetime."""
    written = answer["written_bytes_per_day"]
    if answer["lifetime_years"] is None or written is None:
        return None
    cycles = summary["flash"]["endurance_cycles"]
    return (
        f"{units.whole(cycles)} P/E cycles per block, {units.size(written)} per day programmed by "
        f"the host and fills, write amplification {units.figures(answer['write_amplification'])}"
    )
