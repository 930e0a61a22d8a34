"""Terminal output of policies."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from wordline._render.terminal.console import console

if TYPE_CHECKING:
    from wordline._api.catalogue import Policy


def print_policies(policies: Sequence["Policy"]) -> None:
    """Prints the policies, one table per family below the question that it decides."""
    shown = console()
    for family in dict.fromkeys(policy["family"] for policy in policies):
        members = [policy for policy in policies if policy["family"] == family]
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False)
        table.add_column(style="bold", no_wrap=True)
        table.add_column(overflow="fold")
        for policy in members:
            table.add_row(Text(policy["name"]), Text(" ".join(policy["description"].split())))
            if policy["paper"]:
                table.add_row("", Text(policy["paper"], style="dim"))
        shown.print(Text(family, style="bold") + Text(f"  {members[0]['question']}"))
        shown.print(table)
