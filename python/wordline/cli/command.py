"""Building blocks of commands: options, as declared in `options`, and help."""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

import click
from click.shell_completion import CompletionItem

from wordline._api import options, spelling
from wordline._api.options import Options
from wordline._internal import output_folder
from wordline.cli import streams

Function: TypeAlias = Callable[..., object]
HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class Command(click.Command):
    """A command whose usage errors refer to its own help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments and adds the command to usage errors."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as misuse:
            misuse.ctx = misuse.ctx or ctx
            raise


class Group(click.Group):
    """A group of commands. Without arguments it prints its help."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments, or prints the help if there are none."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


def command(
    *tables: Options,
    name: str | None = None,
    of: click.Group | None = None,
    writes: str = "",
    prints: bool = False,
    cls: type[Command] = Command,
) -> Callable[[Function], click.Command]:
    """Turns a function into a command, in group `of` if given. The command takes the options of the
    tables. `{files}` in its help becomes the list of files that the command `writes`. `prints`
    marks a command whose output is its purpose, so that --quiet keeps the output."""

    def make(function: Function) -> click.Command:
        if writes:
            function.__doc__ = (function.__doc__ or "").replace(
                "{files}", output_folder.listed(writes)
            )
        function = _asked(function, options.flags(*tables), prints=prints)
        for flag, declared in reversed([one for table in tables for one in table.items()]):
            function = _option(flag, declared)(function)
        made = click.command(name, cls=cls, context_settings=HELP)(function)
        if of:
            of.add_command(made)
        return made

    return make


def group(*, cls: type[Group] = Group) -> Callable[[Function], click.Group]:
    """Turns a function into a group of commands. The docstring of the function is the help."""

    def make(function: Function) -> click.Group:
        return click.group(cls=cls, context_settings=HELP)(function)

    return make


def _asked(function: Function, flags: Mapping[str, str], *, prints: bool) -> Function:
    """Wraps the function for the command line: errors name options, and --quiet takes effect."""

    @functools.wraps(function)
    def asked(**given: Any) -> object:
        quiet = given.pop("quiet", False)
        keep = prints or given.get("as_json", False)
        with spelling.of_command(flags), streams.hushed(quiet, keep=keep):
            return function(**given)

    return asked


def device_argument(**words: Any) -> Callable[[Function], Function]:
    """Declares the argument DEVICE. Shells complete it to presets, or to files if no preset
    matches."""
    return click.argument("device", shell_complete=_devices, **words)


def _devices(
    _context: click.Context, _argument: click.Parameter, begun: str
) -> list[CompletionItem]:
    from wordline._api.catalogue import presets

    names = [one["name"] for one in presets() if one["name"].startswith(begun)]
    return [CompletionItem(name) for name in names] or [CompletionItem(begun, type="file")]


def _option(flag: str, declared: Mapping[str, Any]) -> Callable[[Function], Function]:
    own = ("name", "parse", "short", "type")
    words = {key: value for key, value in declared.items() if key not in own}
    if "type" in declared:
        words["type"] = _type(declared["type"])
    if "parse" in declared:
        words["callback"] = _callback(declared["parse"])
    flags = [flag, declared["short"]] if "short" in declared else [flag]
    return click.option(*flags, options.name(flag, declared), **words)


def _type(kind: Any) -> Any:
    if isinstance(kind, tuple):
        return click.Choice(cast("tuple[str, ...]", kind))
    return click.Path(path_type=Path) if kind == "path" else kind


def _callback(parse: Callable[[Sequence[str]], object]) -> Callable[..., object]:
    def called(_context: click.Context, _option: click.Parameter, given: Sequence[str]) -> object:
        try:
            return parse(given)
        except ValueError as fault:
            raise click.BadParameter(str(fault)) from None

    return called
