"""`wordline devices`, `policies` and `config`."""

import json

import click

import wordline
from wordline import WordlineError
from wordline.cli.command import command, group
from wordline.cli.options import SET, Options, value

MQSIM: Options = {
    "--workload": value("FILE", "Workload file of MQSim; its flows become [[streams]]."),
    "--scenario": value("N", "IO_Scenario of the workload file to use.", 1),
}


@command()
@click.argument("family", required=False)
def policies(family: str | None) -> None:
    """List the policies, or those of one FAMILY, with the papers behind them.

    \b
    Examples:
      wordline policies
      wordline policies ftl.gc.victim
    """
    from wordline.terminal.policies import print_policies

    print_policies(wordline.policies(family))


@command()
@click.argument("name", required=False)
def devices(name: str | None) -> None:
    """List the bundled devices, or print one as TOML to start your own from.

    \b
    Examples:
      wordline devices
      wordline devices d4 > mine.toml
    """
    known = wordline.presets()
    if name is None:
        from wordline.terminal.console import print_rows

        print_rows(["device", "what it is"], ([one["name"], one["description"]] for one in known))
        return
    text = next((one["text"] for one in known if one["name"] == name), None)
    if text is None:
        names = ", ".join(one["name"] for one in known)
        raise WordlineError(f"no device is called '{name}'; the devices are {names}")
    click.echo(text, nl=not text.endswith("\n"))


@group()
def config() -> None:
    """Check, explain and complete device files.

    \b
    Examples:
      wordline config check mine.toml
      wordline config show d4 --set ftl.gc.victim=fifo
      wordline config schema > wordline.schema.json
    """


@command(SET, of=config)
@click.argument("device")
def check(device: str, overrides: list[tuple[str, str]]) -> None:
    """Check DEVICE without running it; errors show their line and how to fix them.

    Also says what memory a run takes beside that of the program: when it begins, with the device
    filled as precondition.fill_ratio has it, and at most. What cannot fit is a fault.

    \b
    Example:
      wordline config check mine.toml
    """
    wordline.config.check(device, overrides)
    memory = wordline.config.memory(device, overrides)
    from wordline.units import size

    if memory["refusal"]:
        raise WordlineError(f"{device}: {memory['refusal']}")
    click.echo(f"{device}: no fault found")
    click.echo(
        f"A run takes {size(memory['prepared_bytes'])} of memory when it begins, "
        f"{size(memory['most_bytes'])} when all of the device has been written to, "
        f"and {size(memory['reserved_bytes'])} of address space"
    )
    if memory["note"]:
        click.echo(f"Note: {memory['note']}")


@command(of=config)
def schema() -> None:
    """Print the JSON schema of a device file, for editors that complete and check TOML.

    \b
    Example:
      wordline config schema > wordline.schema.json
    """
    click.echo(json.dumps(wordline.config.schema(), indent=2))


@command(SET, of=config)
@click.argument("device")
def show(device: str, overrides: list[tuple[str, str]]) -> None:
    """Print DEVICE as TOML with every default filled in.

    \b
    Examples:
      wordline config show d4
      wordline config show mine.toml --set ftl.gc.victim=fifo
    """
    text = wordline.config.show(device, overrides)
    click.echo(text, nl=not text.endswith("\n"))


@command(MQSIM, of=config, name="import-mqsim")
@click.argument("file", metavar="SSDCONFIG.XML")
def import_mqsim(file: str, workload: str | None, scenario: int) -> None:
    """Print the device of an MQSim configuration as TOML. What is not modelled is told on
    standard error and in comments.

    \b
    Examples:
      wordline config import-mqsim ssdconfig.xml > mine.toml
      wordline config import-mqsim ssdconfig.xml --workload workload.xml --scenario 2 > mine.toml
    """
    from wordline.mqsim import imported

    made = imported(file, workload, scenario)
    for note in made.notes:
        click.echo(f"note: {note}", err=True)
    click.echo(made.toml, nl=False)
