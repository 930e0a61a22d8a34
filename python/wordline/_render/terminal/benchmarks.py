"""What the terminal shows of benchmarks."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from wordline._render.terminal.console import NARROWED_WIDTH, console, narrowed
from wordline._render.units import ABSENT, size, whole

if TYPE_CHECKING:
    from wordline._dev.bench import Measure


def print_bench(measures: Sequence["Measure"]) -> None:
    """What a benchmark measured, on standard output: units per CPU second."""
    columns = ("ours", "limit", "previous", "model", "memory")
    table = narrowed(columns, ("memory", "model", "previous"), partial(_bench, measures))
    console(least=NARROWED_WIDTH).print(table)


def _bench(measures: Sequence["Measure"], columns: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("per CPU second", min_width=12, overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, cells in _bench_rows(measures):
        table.add_row(Text(name), *(cells.get(column, "") for column in columns))
    return table


def _bench_rows(measures: Sequence["Measure"]) -> Iterable[tuple[str, dict[str, str]]]:
    from wordline._dev.bench import PRECONDITION, titles

    for one, title in zip(measures, titles(measures), strict=True):
        for place, rate in enumerate(one["rates"]):
            own = rate["unit"] != PRECONDITION
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
