"""A NAND package alone, without a flash translation layer or host.

    p = wordline.package("jung2013-mlc1", {"nand.geometry.dies_per_package": 2})
    p.stream("program", requests=1000)["bandwidth_mb_per_s"]

Only the `[nand]` tables of the device are used. Times are in picoseconds, energies in nanojoules.
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
"""Upper limits of the arguments of a stream."""
BLOCKS = 2**32 - 1


class Latency(TypedDict):
    """Mean and maximum latency."""

    mean_ps: int
    max_ps: int


class Energy(TypedDict):
    """Energy by purpose. `standby` is the energy of dies without a transaction."""

    read: float
    program: float
    erase: float
    bus: float
    standby: float
    total: float


class Mode(TypedDict):
    """Totals of one operation mode."""

    mode: str
    transactions: int
    stage_ps: dict[str, int]
    energy_nj: Energy


class Die(TypedDict):
    """Totals of one die."""

    die: int
    transactions: int
    stage_ps: dict[str, int]
    array_busy_ps: int
    bus_busy_ps: int
    bus_wait_ps: int
    energy_nj: Energy


class Strip(TypedDict):
    """Time that a die spent in one stage. `command` is the code of a command cycle."""

    transaction: int
    die: int
    stage: str
    command: int | None
    from_ps: int
    until_ps: int


class Speed(TypedDict):
    """Speed of the simulator. Not part of the result; zero for a migration."""

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
    """Result of an experiment.

    `transactions` counts the commands that the package executed. `execution_ps` is the sum of their
    times from start to end; `contention_ratio` is the share of it that they waited for the bus.
    `stage_ps` is the time of all dies in CLE, ALE, TIR, TOR, TIN, TON, BER and status. `strips` is
    present only on request.
    """

    strips: list[Strip]


@dataclass(frozen=True)
class Package:
    """A NAND package of a device. Every experiment starts with an erased package."""

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
        """Runs sequential requests of one kind over the package in a closed loop.

            p.stream("read", requests=500, cache_rows=32)

        operation      "read" (pages programmed beforehand), "program" or "erase"
        requests       number of requests, at most 10 million
        request_bytes  size of a request, in whole pages; None for one page. An erase takes a block
        queue_depth    outstanding requests, at most a million; None for twice `cache_rows` per
                       plane
        cache_rows     maximum number of waiting rows that one command takes, up to 4096; 1 disables
                       cache mode
        interleaved    whether dies work concurrently
        strips         keep every stage of every command in the report

        `nand.scheduler` distributes the pages: with "die-first" a command uses one plane, with
        "plane-first" all planes of a die for which pages wait.

        Raises WordlineError if the package is too small, or an argument is out of range.
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
        """Moves full blocks: erases the same number of destination blocks, copies all pages in
        `mode`, then erases the source blocks.

            p.migrate(8, "multi-plane-cache")["elapsed_ps"]

        Blocks are distributed over planes first, then over dies, and stay in their planes. All data
        of a block is read before it is written. The move modes are an exception: their data stays
        in the die, and the part must support them (`nand.internal_data_move`).

        Raises WordlineError if the package is too small or does not support the mode.
        """
        load = {
            "load": "migrate",
            "blocks": whole("blocks", blocks, 1, BLOCKS),
            "mode": choice("mode", mode, get_args(MigrateMode)),
            "interleaved": flag("interleaved", interleaved),
        }
        return self._run(load, strips)

    def config(self) -> str:
        """Returns the device as TOML with every default filled in."""
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
    """Returns the NAND package of a device, without the rest of the device.

    device      path of a TOML file, name of a preset, or a mapping with the same structure
    overrides   values of configuration keys, by key path
    seed        seed of the random deviations of array times, if the part has any, 0 to 2**64 - 1

    Raises WordlineError if the `[nand]` tables of the device are invalid.
    """
    text, name = read(device)
    chosen = settings(overrides)
    _wordline.package_check(text, name, chosen)
    return Package(text, name, tuple(chosen), whole("seed", seed, 0))
