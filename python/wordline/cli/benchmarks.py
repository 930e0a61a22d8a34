"""`wordline bench` and `wordline growth`."""

import json
from pathlib import Path
from typing import Any

import click

from wordline._api.options import JSON, QUIET, Options, flag, value
from wordline._internal import output_folder
from wordline.cli.command import command


def _repeat(default: int, text: str) -> Options:
    return {
        "--repeat": {
            "type": click.IntRange(1, 99),
            "default": default,
            "show_default": True,
            "help": text,
        }
    }


BENCH: Options = {
    "--trace": value(
        "FILE", "Trace for `replay`; repeatable. Each trace is measured separately.", multiple=True
    ),
    **_repeat(1, "Number of runs of each workload; the one with the median CPU time is shown."),
    "--record": value(
        "FILE",
        "Record the results in FILE, and show the previous ones next to them. [default: none]",
        of="path",
    ),
    **QUIET,
    **JSON,
}
GROWTH: Options = {
    **_repeat(3, "Number of runs of each point; the one with the least CPU time counts."),
    "--quick": flag("Preview with fewer requests, not a result."),
    "--full": flag("Measure up to 100,000,000 requests; such points take minutes each."),
    "--count/--no-count": {
        "default": None,
        "help": "Count the cache misses of points above their limit, with valgrind. [default: if "
        "it is installed and --quick is not given]",
    },
    "--out": value(
        "DIR",
        "Folder for the results; previous results there are replaced.",
        Path("out/growth"),
        of="path",
    ),
    **QUIET,
}


@command(BENCH)
@click.argument("works", nargs=-1, metavar="[rr4k|rw4k|sw128k|wb4k|replay]...")
def bench(
    works: tuple[str, ...], trace: tuple[str, ...], repeat: int, record: Path | None, as_json: bool
) -> None:
    """Measure the speed of the simulator.

    Each workload runs on device d4.

    \b
      rr4k     1,000,000 random 4 KiB reads of a sequentially filled device
      rw4k     1,000,000 random 4 KiB writes in steady state
      sw128k   80,000 sequential 128 KiB writes
      wb4k     1,000,000 Zipf-distributed 4 KiB requests, half of them writes,
               to a write-back cache of 1 GiB in front of a disk of 4 GiB
      replay   each --trace in turn, including parsing

    The queue depth is 32. A replay ignores the time stamps of its trace.

    Without arguments, all workloads run, each in its own process. CPU seconds are user and system
    time of the whole process; memory is its peak. "model" excludes the start of Python and the
    writing of results, but includes the filling of the device. The preconditioning of rw4k has its
    own line.

    "limit" is measured on this machine: the rate of a simulator that only orders the same events
    and looks up the same pages.

    \b
    Examples:
      wordline bench rr4k
      wordline bench --repeat 3 --json > bench.json
      wordline bench replay --trace disk.csv.gz
      wordline bench --record out/bench.json
    """
    from wordline._dev import bench as benchmark

    chosen = benchmark.chosen(works, trace)
    former = benchmark.read_record(record) if record else []
    if record:
        output_folder.check_file(record)
    results = [benchmark.measured(work, repeat) for work in chosen]
    benchmark.compare(results, former)
    if as_json:
        click.echo(json.dumps(results, indent=2))
    else:
        from wordline._render.terminal.benchmarks import print_bench

        print_bench(results, benchmark.titles(results), benchmark.PRECONDITION)
    if record:
        benchmark.write_record(record, results, former)


@command(GROWTH, writes="growth")
@click.argument("sweeps", nargs=-1, metavar="[requests|dies|capacity|depth|backlog]...")
def growth(out: Path, **options: Any) -> int:
    """Measure how cost per request scales.

    \b
      requests  10,000 to 10,000,000 requests
      dies      8 to 4,096 dies, in a device of equal capacity
      capacity  1 GiB to 16 TiB, with the same number of pages used
      depth     queue depth 1 to 65,536
      backlog   4,096 to 262,144 waiting requests, with and without [host_side]

    Without arguments, all sweeps run. The folder contains {files}. Exit code: 0 every series is
    flat, or flat apart from cache misses; 1 a series is not.

    \b
    Examples:
      wordline growth
      wordline growth dies --repeat 5 --out out/dies
    """
    from wordline._dev.growth import command

    return command(Path(output_folder.check(out, "growth")), **options)
