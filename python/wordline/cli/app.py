"""The `wordline` command as a click application. Libraries for drawing and tables are imported
where they are used, to keep `wordline --help` fast."""

import sys
import warnings
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from wordline._api import options
from wordline._internal.checksums import UncheckedResults
from wordline.cli.benchmarks import bench, growth
from wordline.cli.caches import cache, mrc, plan_cache
from wordline.cli.calibrations import calibrate
from wordline.cli.command import Group, command, device_argument, group
from wordline.cli.devices import config, devices, policies
from wordline.cli.exit import MISUSED, fault, interrupted
from wordline.cli.labs import lab
from wordline.cli.many_traces import ManyTraces
from wordline.cli.results import fio_logs, report
from wordline.cli.run import simulate
from wordline.cli.states import prepare, resume
from wordline.cli.sweeps import compare_command, search_command, sweep_command, sweep_report
from wordline.cli.traces import trace


def called(args: Sequence[str] | None) -> object:
    """Runs the command that the arguments name. Returns its exit code, or None if it has none."""
    try:
        with _notes():
            return cli.main(args, prog_name="wordline", standalone_mode=False)
    except click.Abort:
        return interrupted()
    except click.ClickException as misuse:
        return fault(_usage(misuse), MISUSED)


@contextmanager
def _notes() -> Generator[None]:
    """Prints warnings about unchecked results on standard error, one line each."""
    with warnings.catch_warnings():
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *args: Any) -> None:
            if issubclass(category, UncheckedResults):
                print(f"note: {message}", file=sys.stderr)
            else:
                others(message, category, *args)

        warnings.showwarning = show
        warnings.simplefilter("always", UncheckedResults)
        yield


def _usage(misuse: click.ClickException) -> str:
    message = misuse.format_message().rstrip(".")
    context = misuse.ctx if isinstance(misuse, click.UsageError) else None
    help_page = f"{context.command_path} --help" if context else "wordline --help"
    return f"{message[:1].lower()}{message[1:]}; see `{help_page}`".replace("\n", " ")


class Commands(Group):
    """The top-level command group: lists the commands by task, and accepts `sweep report`."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands, one section per entry of `TASKS`."""
        for task, names in TASKS.items():
            listed = (self.get_command(ctx, name) for name in names)
            commands = [one for one in listed if one]
            lines = [(str(one.name), one.get_short_help_str(SHORT)) for one in commands]
            with formatter.section(task):
                formatter.write_dl(lines, col_max=MARGIN)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Returns the command that the arguments name, and the remaining arguments."""
        words = ["sweep-report", *args[2:]] if args[:2] == ["sweep", "report"] else args
        return super().resolve_command(ctx, words)


@group(cls=Commands)
@click.version_option(
    None, "-V", "--version", package_name="wordline", message="%(package)s %(version)s"
)
def cli() -> None:
    """Simulate SSDs, hard disks and flash caches under a recorded or generated load.

    \b
    First steps, with a trace that comes with Wordline:
      wordline devices                                   list the bundled devices
      wordline run demo --trace postgresql-mixed.csv.gz  simulate one of them
      wordline devices d4 > mine.toml                    copy one, to edit it
      wordline config check mine.toml                    check the copy
      wordline cache postgresql-mixed.csv.gz lru,arc 1%  simulate caches only

    Every command has its own --help, with examples. Ctrl-C, SIGTERM and SIGHUP stop any command
    cleanly, with exit codes 130, 143 and 129.
    """


@command(options.RUN, writes="run", cls=ManyTraces)
@device_argument(required=False)
def run(
    device: str | None,
    **options: Any,
) -> int:
    """Simulate a device under a trace or load.

    DEVICE is a TOML file or the name of a preset.

    \b
    Examples:
      wordline run d4 --trace disk.csv.gz
      wordline run mine.toml --trace monday.csv tuesday.csv --seed 7
          --out results/week
      wordline run d4 --trace disk.csv.gz --fit wrap
          --set ftl.over_provisioning_ratio=0.28
      wordline run mine.toml                 the load is in the device file
      wordline run d4 --stream db=disk.csv.gz --stream log=log.csv --slowdown
      wordline run d4 --fio job.fio
      wordline run d4 --from aged.wls --trace disk.csv.gz
      wordline run d4 --trace disk.csv.gz --timeline disk.pftrace
          --timeline-until 20ms

    The folder contains {files}. It is written as a whole or not at all; report.html follows.

    Ctrl-C, SIGTERM or an error in the trace stops the run. The results so far are kept and marked
    partial. Exit code: 0 done, 1 stopped early, 2 invalid command or input, 130 Ctrl-C, 143
    SIGTERM.
    """
    return simulate(device, **options)


TASKS = {
    "Simulate a device": ("run", "prepare", "resume"),
    "Many runs": ("sweep", "search", "compare", "lab"),
    "Traces and caches": ("trace", "cache", "mrc", "plan-cache"),
    "Devices and policies": ("devices", "policies", "config", "calibrate"),
    "Results": ("report", "sweep-report", "fio-logs"),
    "The simulator itself": ("study", "bench", "growth"),
}
"""Commands by task, in the order of the help."""
COMMANDS = (
    bench,
    cache,
    calibrate,
    compare_command,
    config,
    devices,
    fio_logs,
    growth,
    lab,
    mrc,
    plan_cache,
    policies,
    prepare,
    report,
    resume,
    run,
    search_command,
    sweep_command,
    sweep_report,
    trace,
)
SHORT = 50
"""Maximum length of the one-line help of a command in characters, for a terminal of 80 columns."""
MARGIN = 16
OF_OTHER_PACKAGES = {"study": "wordline_studies.command:study"}
"""Commands in packages that this package must not import statically: module and function, by
command name."""


def _looked_up(place: str) -> click.Command:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


for one in (*COMMANDS, *map(_looked_up, OF_OTHER_PACKAGES.values())):
    cli.add_command(one)
