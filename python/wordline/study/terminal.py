"""What the terminal shows of a study."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Self

from rich import box
from rich.table import Table
from rich.text import Text

from wordline.study.figure import Claim, Figure
from wordline.study.page import difference, ours, published
from wordline.study.results import Results
from wordline.sweep.engine import State
from wordline.terminal.console import console
from wordline.terminal.sweep import Line


class Shown:
    """A study under way: its figures as they are made, and a line on standard error, if wanted,
    with how far the runs of a figure are."""

    def __init__(self, *, line: bool) -> None:
        self._line = Line() if line else None

    def __enter__(self) -> Self:
        if self._line:
            self._line.__enter__()
        return self

    def __exit__(self, *fault: object) -> None:
        if self._line:
            self._line.__exit__(*fault)

    def runs(self, state: State) -> None:
        """Draws how far the runs of a figure are."""
        if self._line:
            self._line.show(state)

    def figure(self, figure: Figure) -> None:
        """Prints a figure, above the line."""
        with self._line.aside() if self._line else nullcontext():
            print_figure(figure)


def print_studies(studies: Mapping[str, str]) -> None:
    """The studies there are."""
    table = Table("study", "what it is", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, text in studies.items():
        table.add_row(name, text)
    console().print(table)


def print_figure(figure: Figure) -> None:
    """A figure: numbers beside the published ones, claims."""
    shown = console()
    shown.print(Text(f"\n{figure.title}", style="bold"), Text(f"  section {figure.section}"))
    if figure.rows:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("quantity", overflow="fold")
        for name in ("published", "ours", "difference"):
            table.add_column(name, justify="right", no_wrap=True)
        for row in figure.rows:
            table.add_row(row.what, published(row), ours(row), difference(row))
        shown.print(table)
    for claim in figure.claims:
        shown.print(_claim(claim), soft_wrap=True)


def print_end(results: Results, files: list[Path]) -> None:
    """Where the page is, and how the claims fared."""
    shown = console()
    claims = [claim for figure in results.figures for claim in figure.claims]
    held = sum(claim.holds for claim in claims)
    shown.print(
        f"\n{held} of {len(claims)} claims hold, "
        f"{sum(not claim.holds and claim.passed for claim in claims)} differ as documented, "
        f"{len(results.failed)} are not as asserted."
    )
    if missing := results.missing:
        shown.print(missing, soft_wrap=True)
    for path in files:
        shown.print(Text(f"Wrote {path}"), soft_wrap=True)


def _claim(claim: Claim) -> Text:
    if not claim.passed:
        return Text(f"  FAILED   {claim.text} ({claim.detail})", style="red")
    if claim.holds:
        return Text(f"  holds    {claim.text}", style="green")
    return Text(f"  differs  {claim.text} (as documented: {claim.because})", style="yellow")
