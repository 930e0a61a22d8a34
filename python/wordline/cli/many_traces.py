"""Commands that accept several traces after one --trace."""

from collections.abc import Iterator, Sequence

import click

from wordline.cli import argv
from wordline.cli.command import Command


class ManyTraces(Command):
    """A command whose --trace takes every value up to the next option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments. If DEVICE is missing, the error shows where to put it."""
        rest = super().parse_args(ctx, list(_each_with_its_option("--trace", args)))
        if ctx.resilient_parsing:  # Shell completion.
            return rest
        if not ctx.params["device"] and not ctx.params.get("prepared"):
            raise click.UsageError(
                f"missing DEVICE; name it first, as in `{ctx.command_path} d4 --trace disk.csv`",
                ctx,
            )
        return rest


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
