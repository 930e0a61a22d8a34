"""The `wordline` command as click reads it. Libraries that draw or read tables are imported where
they are used, so that `wordline --help` answers at once."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from wordline import interruption
from wordline.cli import argv, options
from wordline.cli.benchmarks import bench, growth
from wordline.cli.caches import cache, mrc
from wordline.cli.command import Command, command, group
from wordline.cli.devices import config, devices, policies
from wordline.cli.exit import MISUSED, NOTHING_WRITTEN, fault
from wordline.cli.results import fio_logs, report
from wordline.cli.run import simulate
from wordline.cli.studies import study
from wordline.cli.traces import trace


def called(args: Sequence[str] | None) -> object:
    """Runs any command; returns its exit code, if it has one."""
    try:
        return cli.main(args, prog_name="wordline", standalone_mode=False)
    except click.Abort:
        return fault(NOTHING_WRITTEN, interruption.exit_code())
    except click.ClickException as misuse:
        return fault(_usage(misuse), MISUSED)


def _usage(misuse: click.ClickException) -> str:
    message = misuse.format_message().rstrip(".")
    context = misuse.ctx if isinstance(misuse, click.UsageError) else None
    help_page = f"{context.command_path} --help" if context else "wordline --help"
    return f"{message[:1].lower()}{message[1:]}; see `{help_page}`".replace("\n", " ")


@group
@click.version_option(package_name="wordline", message="%(package)s %(version)s")
def cli() -> None:
    """Simulate an SSD under a recorded or generated load.

    \b
    Start here:
      wordline devices                         the bundled devices
      wordline run d4 --trace disk.csv.gz      simulate one of them under a trace
      wordline run d4 --trace disk.csv.gz --set ftl.gc.victim=fifo
      wordline devices d4 > mine.toml          write a device of your own
      wordline config check mine.toml          and check it
      wordline cache disk.csv.gz lru,arc 1%    caches without a device: hits per policy

    Every command has its own --help, with examples. Ctrl-C, SIGTERM and SIGHUP end any of them
    in order, with exit code 130, 143 and 129.
    """


class ManyTraces(Command):
    """A command whose --trace takes every value up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses them; where DEVICE is missing, the fault says where it goes."""
        try:
            return super().parse_args(ctx, list(_each_with_its_option("--trace", args)))
        except click.MissingParameter as missing:
            raise click.UsageError(
                "missing DEVICE; name it first, as in `wordline run d4 --trace disk.csv`", ctx
            ) from missing


def _each_with_its_option(option: str, args: Sequence[str]) -> Iterator[str]:
    taking = False
    for index, arg in enumerate(args):
        if arg == option:
            taking = True
            if index + 1 == len(args) or argv.is_option(args[index + 1]):
                yield arg
        elif argv.is_option(arg):
            taking = False
            yield arg
        elif taking:
            yield from (option, arg)
        else:
            yield arg


@command(options.RUN, writes="run", cls=ManyTraces)
@click.argument("device")
def run(
    device: str,
    **options: Any,
) -> int:
    """Simulate DEVICE, a TOML file or the name of a preset, and write the results.

    \b
    Examples:
      wordline run d4 --trace disk.csv.gz
      wordline run mine.toml --trace monday.csv tuesday.csv --seed 7 --out results/week
      wordline run d4 --trace disk.csv.gz --fit wrap --set ftl.over_provisioning_ratio=0.28
      wordline run mine.toml                 the load of its [workload] table or [[streams]]
      wordline run d4 --stream db=disk.csv.gz --stream log=log.csv --slowdown
      wordline run d4 --fio job.fio
      wordline run d4 --trace disk.csv.gz --timeline disk.pftrace --timeline-until 20ms

    The folder receives {files}. It appears complete or not at all.

    Ctrl-C, SIGTERM, or an error in the middle of a trace, ends the run; the results so far are
    kept, marked partial. Exit code: 0 done, 1 ended early, 2 bad command or input, 130 Ctrl-C, 143
    SIGTERM.
    """
    return simulate(device, **options)


for one in (
    bench, cache, config, devices, fio_logs, growth, mrc, policies, report, run, study, trace,
):  # fmt: skip
    cli.add_command(one)
