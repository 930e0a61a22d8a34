"""Terminal output of benchmarks."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from rich import box
from rich.table import Table
from rich.text import Text

from wordline._render.terminal.console import NARROWED_WIDTH, console, narrowed
from wordline._render.units import ABSENT, size, whole

if TYPE_CHECKING:
    from wordline._dev.bench import Measure

Row: TypeAlias = tuple[str, dict[str, str]]
"""A title, and the cells by column."""


def print_bench(measures: Sequence["Measure"], titles: Sequence[str], preconditioning: str) -> None:
    """Prints the results of a benchmark in units per CPU second. `titles` has a title per measure.
    `preconditioning` is the unit of the rate of preconditioning."""
    columns = ("ours", "limit", "previous", "model", "memory")
    rows = list(_bench_rows(measures, titles, preconditioning))
    table = narrowed(columns, ("memory", "model", "previous"), partial(_bench, rows))
    console(least=NARROWED_WIDTH).print(table)


def _bench(rows: Sequence[Row], columns: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("per CPU second", min_width=12, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, cells in rows:
        table.add_row(Text(name), *(cells.get(column, "") for column in columns))
    return table


def _bench_rows(
    measures: Sequence["Measure"], titles: Sequence[str], preconditioning: str
) -> Iterable[Row]:
    for one, title in zip(measures, titles, strict=True):
        for place, rate in enumerate(one["rates"]):
            own = rate["unit"] != preconditioning
            cells = {
                "ours": whole(rate["per_cpu_s"]),
                "limit": whole(rate["limit_per_cpu_s"]),
                "previous": whole(rate["previous_per_cpu_s"]),
            }
            if own:
                cells["model"] = whole(rate["model_per_cpu_s"])
            if place == 0:
                cells["memory"] = size(one["peak_memory_bytes"])
            yield f"{title}: {rate['unit']}" if own else "precondition", cells
    known = [one["previous_peak_memory_bytes"] for one in measures]
    previous = [memory for memory in known if memory is not None]
    yield (
        "peak memory",
        {
            "ours": size(max(one["peak_memory_bytes"] for one in measures)),
            "limit": ABSENT,
            "previous": size(max(previous) if len(previous) == len(known) else None),
        },
    )
