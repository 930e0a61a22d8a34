"""A NAND package by itself: no translation layer, no host.

p = wordline.package("jung2013-mlc1", {"nand.geometry.dies_per_package": 2})
p.stream("program", requests=1000)["bandwidth_mb_per_s"]

Only the `[nand]` tables of the device matter. Times are in picoseconds, energies in nanojoule.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, cast, get_args

from wordline import _wordline
from wordline._internal.arguments import choice, flag, whole
from wordline.config import Device, Overrides, read, settings

Operation = Literal["read", "program", "erase"]
MigrateMode = Literal[
    "legacy", "cache", "move", "multi-plane", "multi-plane-cache", "multi-plane-move"
]
REQUESTS, QUEUE_DEPTH, CACHE_ROWS = 10_000_000, 1_000_000, 4096
"""Most of each that a stream takes."""
BLOCKS = 2**32 - 1


class Latency(TypedDict):
    """Mean and longest."""

    mean_ps: int
    max_ps: int


class Energy(TypedDict):
    """By what it was spent on; `standby` is of dies without a transaction."""

    read: float
    program: float
    erase: float
    bus: float
    standby: float
    total: float


class Mode(TypedDict):
    """What was done in one operation mode."""

    mode: str
    transactions: int
    stage_ps: dict[str, int]
    energy_nj: Energy


class Die(TypedDict):
    """What a die did."""

    die: int
    transactions: int
    stage_ps: dict[str, int]
    array_busy_ps: int
    bus_busy_ps: int
    bus_wait_ps: int
    energy_nj: Energy


class Strip(TypedDict):
    """A stretch of time that a die spent in a stage; `command` is the code of a command cycle."""

    transaction: int
    die: int
    stage: str
    command: int | None
    from_ps: int
    until_ps: int


class Speed(TypedDict):
    """How fast the simulator was: not part of the result, and zero for a migration."""

    cpu_s: float
    transactions_per_cpu_s: float


class _Report(TypedDict):
    device: str
    dies: int
    planes_per_die: int
    page_bytes: int
    requests: int
    bytes: int
    transactions: int
    pages: int
    elapsed_ps: int
    bandwidth_mb_per_s: float
    requests_per_s: float
    latency: Latency
    stage_ps: dict[str, int]
    bus_busy_ps: int
    bus_wait_ps: int
    execution_ps: int
    contention_ratio: float
    energy_nj: Energy
    modes: list[Mode]
    per_die: list[Die]
    speed: Speed


class Report(_Report, total=False):
    """What an experiment tells.

    `transactions` are the commands that the package carried out, `execution_ps` their time from
    start to end, `contention_ratio` the share of it spent in line for the bus. `stage_ps` has the
    time of all dies in CLE, ALE, TIR, TOR, TIN, TON, BER and status. `strips` is there if asked
    for.
    """

    strips: list[Strip]


@dataclass(frozen=True)
class Package:
    """A package of a device; every experiment starts with an erased one."""

    text: str
    name: str
    overrides: tuple[tuple[str, str], ...]
    seed: int

    def stream(
        self,
        operation: Operation,
        *,
        requests: int,
        request_bytes: int | None = None,
        queue_depth: int | None = None,
        cache_rows: int = 1,
        interleaved: bool = True,
        strips: bool = False,
    ) -> Report:
        """Requests of one kind, sequential over the package, in a closed loop.

            p.stream("read", requests=500, cache_rows=32)

        operation      "read" (pages that were programmed before), "program", or "erase"
        requests       how many, at most 10 million
        request_bytes  bytes of each, in whole pages; None for a page. An erase takes a block
        queue_depth    requests under way at once; None for twice as many as one command of every
                       die takes, at most a million
        cache_rows     waiting rows that one command takes, at most 4096; 1 is no cache mode
        interleaved    whether the dies work at the same time
        strips         keep every stage of every command

        `nand.scheduler` says how pages are spread: "die-first" gives a command one plane,
        "plane-first" all planes of a die for which pages wait.
        Raises WordlineError if the package has no room for it, or an argument is out of range.
        """
        load: dict[str, Any] = {
            "load": "stream",
            "operation": choice("operation", operation, get_args(Operation)),
            "requests": whole("requests", requests, 1, REQUESTS),
            "cache_rows": whole("cache_rows", cache_rows, 1, CACHE_ROWS),
            "interleaved": flag("interleaved", interleaved),
        }
        geometry = self._geometry()
        size = geometry["page_bytes"] if request_bytes is None else request_bytes
        depth = 2 * cache_rows * geometry["dies_per_package"] * geometry["planes_per_die"]
        depth = min(depth, QUEUE_DEPTH) if queue_depth is None else queue_depth
        load["request_bytes"] = whole("request_bytes", size, 1)
        load["queue_depth"] = whole("queue_depth", depth, 1, QUEUE_DEPTH)
        return self._run(load, strips)

    def migrate(
        self,
        blocks: int,
        mode: MigrateMode = "legacy",
        *,
        interleaved: bool = False,
        strips: bool = False,
    ) -> Report:
        """Moves full blocks: erases as many others, copies all pages in `mode`, erases the sources.

            p.migrate(8, "multi-plane-cache")["elapsed_ps"]

        Blocks are spread over planes first, then dies, and stay in their planes. The data of a
        block are read whole and then written whole, but for the moves, which do not leave the die
        and need a part that can do them (`nand.internal_data_move`).
        Raises WordlineError if the package has no room for it or cannot do it.
        """
        load = {
            "load": "migrate",
            "blocks": whole("blocks", blocks, 1, BLOCKS),
            "mode": choice("mode", mode, get_args(MigrateMode)),
            "interleaved": flag("interleaved", interleaved),
        }
        return self._run(load, strips)

    def config(self) -> str:
        """The device as TOML with every default filled in."""
        return _wordline.config_resolved(self.text, self.name, self.overrides)

    def _geometry(self) -> dict[str, int]:
        import tomllib

        return tomllib.loads(self.config())["nand"]["geometry"]

    def _run(self, load: dict[str, Any], strips: bool) -> Report:
        keep = flag("strips", strips)
        told = _wordline.package_run(
            self.text, self.name, self.overrides, json.dumps(load), self.seed, keep
        )
        return cast("Report", json.loads(told))


def package(device: Device, overrides: Overrides | None = None, *, seed: int = 1) -> Package:
    """A package of a device by itself.

    device      path of a TOML file, name of a preset, or a mapping of the same shape
    overrides   values of configuration keys, by key path
    seed        of random deviations of array times, if the part has any, 0 to 2**64 - 1

    Raises WordlineError if the `[nand]` tables of the device are not sound.
    """
    text, name = read(device)
    chosen = settings(overrides)
    _wordline.package_check(text, name, chosen)
    return Package(text, name, tuple(chosen), whole("seed", seed, 0))
