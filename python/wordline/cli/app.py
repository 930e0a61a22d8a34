"""The `wordline` command as a click application. Libraries for drawing and tables are imported
where they are used, to keep `wordline --help` fast."""

import sys
import warnings
from collections.abc import Generator, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, cast

import click

from wordline._api import options
from wordline._internal import own_version
from wordline._internal.checksums import UncheckedResults
from wordline.cli.command import Group, command, device_argument, group
from wordline.cli.exit import MISUSED, fault, interrupted
from wordline.cli.many_traces import ManyTraces
from wordline.cli.run import simulate

TASKS = {
    "Simulate a device": {
        "run": "wordline.cli.app:run",
        "prepare": "wordline.cli.states:prepare",
        "resume": "wordline.cli.states:resume",
        "serve": "wordline.cli.live:serve",
        "control": "wordline.cli.live:control_command",
    },
    "Many runs": {
        "sweep": "wordline.cli.sweeps:sweep_command",
        "search": "wordline.cli.sweeps:search_command",
        "compare": "wordline.cli.sweeps:compare_command",
        "lab": "wordline.cli.labs:lab",
    },
    "Traces and caches": {
        "trace": "wordline.cli.traces:trace",
        "cache": "wordline.cli.caches:cache",
        "mrc": "wordline.cli.caches:mrc",
        "plan-cache": "wordline.cli.caches:plan_cache",
    },
    "Devices and policies": {
        "devices": "wordline.cli.devices:devices",
        "policies": "wordline.cli.devices:policies",
        "config": "wordline.cli.devices:config",
        "calibrate": "wordline.cli.calibrations:calibrate",
    },
    "Results": {
        "report": "wordline.cli.results:report",
        "sweep-report": "wordline.cli.sweeps:sweep_report",
        "fio-logs": "wordline.cli.results:fio_logs",
    },
    "The simulator itself": {
        "study": "wordline_studies.command:study",
        "bench": "wordline.cli.benchmarks:bench",
        "growth": "wordline.cli.benchmarks:growth",
    },
}
"""Commands by task, in the order of the help: module and function of each, which is imported when
the command is called. The studies are a package that this one must not import statically."""
SHORT = 50
"""Maximum length of the one-line help of a command in characters, for a terminal of 80 columns."""
MARGIN = 16


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


class Imported(Mapping[str, click.Command]):
    """Commands by name. A command is imported when it is looked up."""

    def __init__(self) -> None:
        self._places = {name: place for places in TASKS.values() for name, place in places.items()}

    def __getitem__(self, name: str) -> click.Command:
        module, _, function = self._places[name].partition(":")
        return getattr(import_module(module), function)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Commands(Group):
    """The top-level command group: lists the commands by task, and accepts `sweep report`."""

    def __init__(self, *args: Any, **words: Any) -> None:
        super().__init__(*args, **words)
        self.commands = cast("MutableMapping[str, click.Command]", Imported())

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands, one section per entry of `TASKS`."""
        for task, names in TASKS.items():
            commands = ((name, self.get_command(ctx, name)) for name in names)
            lines = [(name, one.get_short_help_str(SHORT)) for name, one in commands if one]
            with formatter.section(task):
                formatter.write_dl(lines, col_max=MARGIN)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Returns the command that the arguments name, and the remaining arguments."""
        words = ["sweep-report", *args[2:]] if args[:2] == ["sweep", "report"] else args
        return super().resolve_command(ctx, words)


@group(cls=Commands)
@click.version_option(own_version.installed(), "-V", "--version", message="wordline %(version)s")
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
