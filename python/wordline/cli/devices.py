"""`wordline devices`, `policies` and `config`."""

import json

import click

import wordline
from wordline import WordlineError
from wordline._api.options import QUIET, SET, Options, value
from wordline.cli.command import command, device_argument, group
from wordline.cli.streams import note

MQSIM: Options = {
    "--workload": value("FILE", "MQSim workload file; its flows become [[streams]]."),
    "--scenario": value("N", "Number of the IO_Scenario in the workload file, from 1.", 1),
    **QUIET,
}
KINDS = {
    "SSD": "SSDs",
    "array": "Arrays of SSDs",
    "package": "Packages",
    "disk": "Hard disks",
    "flash cache": "Flash in front of disks",
}
"""Kinds of presets, with the headings of their lists."""


@command()
@click.argument("family", required=False)
def policies(family: str | None) -> None:
    """List the policies and their papers.

    FAMILY limits the list to one family.

    \b
    Examples:
      wordline policies
      wordline policies ftl.gc.victim
    """
    from wordline._render.terminal.policies import print_policies

    print_policies(wordline.policies(family))


@command()
@click.argument("name", required=False)
def devices(name: str | None) -> None:
    """List the device presets, or print one.

    With NAME, print that preset as TOML, as the start of a device file.

    \b
    Examples:
      wordline devices
      wordline devices d4 > mine.toml
    """
    known = wordline.presets()
    if name is None:
        from wordline._render.terminal.console import print_rows

        for kind, heading in KINDS.items():
            of_kind = [one for one in known if one["kind"] == kind]
            print_rows([heading, ""], ([one["name"], _line(one)] for one in of_kind))
        return
    text = next((one["text"] for one in known if one["name"] == name), None)
    if text is None:
        hint = wordline.config.preset_hint(name)
        raise WordlineError(f"no preset is called '{name}'; {hint}")
    click.echo(text, nl=not text.endswith("\n"))


def _line(preset: wordline.Preset) -> str:
    """Returns the first sentence of a description, without the full stop."""
    return preset["description"].split(". ")[0].removesuffix(".")


@group()
def config() -> None:
    """Check, explain and complete device files.

    \b
    Examples:
      wordline config check mine.toml
      wordline config show d4 --set ftl.gc.victim=fifo
      wordline config schema > wordline.schema.json
    """


@command(SET, QUIET, of=config)
@device_argument()
def check(device: str, overrides: list[tuple[str, str]]) -> None:
    """Check a device without running it.

    Errors name the line and the remedy.

    Also prints how much memory a run takes in addition to the program: at its start, with the
    device filled to precondition.fill_ratio, and at most. A device that cannot fit is an error.

    \b
    Example:
      wordline config check mine.toml
    """
    source = wordline.config.Source(*wordline.config.read(device))  # A pipe can be read only once.
    wordline.config.check(source, overrides)
    memory = wordline.config.memory(source, overrides)
    from wordline._render.units import size

    if memory["refusal"]:
        raise WordlineError(f"{device}: {memory['refusal']}")
    click.echo(f"{device}: is valid")
    click.echo(
        f"A run takes {size(memory['prepared_bytes'])} of memory at its start, "
        f"{size(memory['most_bytes'])} once the whole device has been written, "
        f"and {size(memory['reserved_bytes'])} of address space"
    )
    if memory["note"]:
        click.echo(f"Note: {memory['note']}")


@command(of=config)
def schema() -> None:
    """Print the JSON schema of device files.

    Editors use it to complete and check TOML.

    \b
    Example:
      wordline config schema > wordline.schema.json
    """
    click.echo(json.dumps(wordline.config.schema(), indent=2))


@command(SET, of=config)
@device_argument()
def show(device: str, overrides: list[tuple[str, str]]) -> None:
    """Print a device with all defaults filled in.

    \b
    Examples:
      wordline config show d4
      wordline config show mine.toml --set ftl.gc.victim=fifo
    """
    text = wordline.config.show(device, overrides)
    click.echo(text, nl=not text.endswith("\n"))


@command(MQSIM, of=config, name="import-mqsim", prints=True)
@click.argument("file", metavar="SSDCONFIG.XML")
def import_mqsim(file: str, workload: str | None, scenario: int) -> None:
    """Print an MQSim configuration as TOML.

    Settings that are not modelled are listed on standard error and in comments.

    \b
    Examples:
      wordline config import-mqsim ssdconfig.xml > mine.toml
      wordline config import-mqsim ssdconfig.xml --workload workload.xml
          --scenario 2 > mine.toml
    """
    from wordline._importers.mqsim import imported

    made = imported(file, workload, scenario)
    for text in made.notes:
        note(f"note: {text}")
    click.echo(made.toml, nl=False)
