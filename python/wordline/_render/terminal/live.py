"""Terminal page of a live device."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from rich import box
from rich.console import Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from wordline._render.status import OPS, Served, served, served_since
from wordline._render.terminal.console import NARROWED_WIDTH, console
from wordline._render.units import (
    ABSENT,
    US_PER_S,
    bandwidth,
    duration,
    figures,
    many,
    number,
    share,
    size,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

COLUMNS = {"mean": "mean_us", "p99": "p99_us", "p99.9": "p99_9_us"}
LATE_US = 100


class LivePage:
    """A page on standard error that shows the status of a live device. The last status stays on the
    terminal."""

    def __init__(self) -> None:
        shown = console(stderr=True, least=NARROWED_WIDTH)
        self._live = Live(console=shown, auto_refresh=False, redirect_stdout=False)
        self._before: Mapping[str, Any] | None = None

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *fault: object) -> None:
        with suppress(OSError):  # The terminal may be gone.
            self._live.stop()

    def show(self, status: Mapping[str, Any]) -> None:
        """Refreshes the page."""
        with suppress(OSError):
            self._live.update(page(status, self._before), refresh=True)
        self._before = status


def print_status(status: Mapping[str, Any]) -> None:
    """Prints a single status."""
    console(least=NARROWED_WIDTH).print(page(status))


def page(status: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> RenderableType:
    """Describes a status: requests since the status `before` and in total, clients, flash."""
    lines = [_heading(status), _clients(status), ""]
    return Group(*map(_line, lines), _requests(status, before), *map(_line, ["", *_facts(status)]))


def _line(text: str) -> Text:
    return Text(text, no_wrap=True, overflow="ellipsis")


def _heading(status: Mapping[str, Any]) -> str:
    device, live = status["summary"]["device"], status["live"]
    clock = "simulated clock"
    if live["scale"] is not None:
        clock = "real clock"
        clock += f", {live['scale']:g} s per simulated second" if live["scale"] != 1 else ""
    simulated = duration(live["simulated_s"] * US_PER_S)
    return f"{device['name']} ({size(device['user_bytes'])}), {clock}: {simulated} simulated"


def _clients(status: Mapping[str, Any]) -> str:
    live = status["live"]
    parts = [many(live["connections"], "connection"), f"{whole(live['in_flight'])} in flight"]
    if live["power_cuts"]:
        parts.append(many(live["power_cuts"], "power cut"))
    if live["late_ratio"] is not None:
        late = share(live["late_ratio"])
        parts.append(
            f"replies late: median {live['lateness_median_us']} µs, {late} at least {LATE_US} µs"
        )
    return ", ".join(parts)


def _requests(status: Mapping[str, Any], before: Mapping[str, Any] | None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("Requests", style="bold", no_wrap=True, min_width=12)
    for heading, width in {"count": 10, "per s": 7, "bandwidth": 9}.items():
        table.add_column(heading, justify="right", no_wrap=True, min_width=width)
    for heading in COLUMNS:
        table.add_column(heading, justify="right", no_wrap=True, min_width=7)
    counts = status["summary"]["latency"]
    ops = [op for op in OPS if counts[op]["count"] or op in ("read", "write")]
    if before is not None:
        span = status["live"]["simulated_s"] - before["live"]["simulated_s"]
        _section(
            table,
            f"last {duration(span * US_PER_S)}",
            {op: served_since(status, before, op) for op in ops},
        )
    _section(table, "total", {op: served(status, op) for op in ops})
    return table


def _section(table: Table, title: str, rows: Mapping[str, Served]) -> None:
    table.add_row(Text(title, style="dim"))
    for place, (op, one) in enumerate(rows.items(), 1):
        table.add_row(
            f"  {op}",
            whole(one.count),
            ABSENT if one.iops is None else figures(one.iops),
            bandwidth(one.mb_per_s),
            *(duration(one.latency[key]) for key in COLUMNS.values()),
            end_section=place == len(rows),
        )


def _facts(status: Mapping[str, Any]) -> Iterable[str]:
    summary = status["summary"]
    flash, buffer, cache = summary["flash"], summary["buffer"], summary["cache"]
    if summary["device"]["blocks"]:
        amplification = number(flash["write_amplification"])
        yield (
            f"Flash: write amplification {amplification}, {many(flash['gc_runs'], 'GC run')}, "
            f"{many(flash['free_blocks'], 'free block')}"
        )
        mean, most = flash["erases_per_block_mean"], flash["erases_per_block_max"]
        yield (
            f"Wear: {many(flash['erases'], 'block')} erased; erases per block: "
            f"mean {number(mean)}, max {whole(most)}"
        )
    if buffer is not None:
        yield (
            f"DRAM buffer: hit ratio {share(buffer['hit_ratio'])}, reads "
            f"{share(buffer['read_hit_ratio'])}, writes {share(buffer['write_hit_ratio'])}"
        )
    if cache is not None:
        yield (
            f"Flash cache: hit ratio {share(cache['hit_ratio'])}, "
            f"writes {share(cache['write_hit_ratio'])}"
        )
