"""What the terminal shows of a study."""

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Self

from rich import box
from rich.table import Table
from rich.text import Text

from wordline._render.terminal.console import console
from wordline._render.terminal.progress import clock
from wordline._render.terminal.sweep import Line
from wordline._render.units import many
from wordline._sweep.engine import State
from wordline_studies.figure import VERDICTS, Claim, Figure, Study, Verdict
from wordline_studies.overview import Overview
from wordline_studies.page import difference, ours, published
from wordline_studies.results import Results

EVERY_S = 30.0


class Progress:
    """Says on standard error how far the runs of a figure are, a line from time to time; `now` is a
    clock of seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next = now() + EVERY_S

    def heard(self, state: State) -> None:
        """Runs have ended."""
        if self._now() < self._next:
            return
        self._next = self._now() + EVERY_S
        failed = f", {state.failed} failed" if state.failed else ""
        left = "" if state.left_s is None else f", {clock(state.left_s)} left"
        done = state.done + state.failed
        print(f"{done} of {many(state.total, 'run')}{failed}{left}", file=sys.stderr, flush=True)


class Shown:
    """A study under way: its figures as they are made; and how far the runs of a figure are, on
    standard error: in a `line` that is drawn again, or in `lines` one below the other."""

    def __init__(self, *, line: bool, lines: bool) -> None:
        self._line = Line() if line else None
        self._lines = Progress() if lines else None

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
        if self._lines:
            self._lines.heard(state)

    def study(self, study: Study) -> None:
        """Prints which study begins, of several."""
        with self._line.aside() if self._line else nullcontext():
            console().rule(Text(f"{study.name}: {study.title}"), align="left")

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
    shown.print(f"\n{_counted(results.counts)}")
    if missing := results.missing:
        shown.print(missing, soft_wrap=True)
    for path in files:
        shown.print(Text(f"Wrote {path}"), soft_wrap=True)


def print_overview(overview: Overview, files: list[Path]) -> None:
    """What became of the claims of all studies, and where the pages are."""
    shown = console()
    table = Table("study", *VERDICTS, box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for study in overview.studies:
        table.add_row(study.study.name, *(str(study.counts[verdict]) for verdict in VERDICTS))
    shown.print(table)
    shown.print(_counted(overview.counts))
    for name, fault in overview.faults.items():
        shown.print(Text(f"{name} did not come to its end: {fault}"), soft_wrap=True)
    for path in files:
        shown.print(Text(f"Wrote {path}"), soft_wrap=True)


def _counted(counts: Mapping[Verdict, int]) -> str:
    held, differs, failed, told = (counts[verdict] for verdict in VERDICTS)
    claims = many(held + differs + failed, "claim")
    return (
        f"{held} of {claims} {'holds' if held == 1 else 'hold'}, "
        f"{differs} {'differs' if differs == 1 else 'differ'} as documented, "
        f"{failed} {'is' if failed == 1 else 'are'} not as asserted"
    ) + (f"; {told} only told." if told else ".")


def _claim(claim: Claim) -> Text:
    if claim.only_told:
        found = "holds" if claim.holds else "does not hold"
        return Text(f"  told     {claim.text}: {found} ({claim.detail}; {claim.only_told})")
    if not claim.passed:
        return Text(f"  FAILED   {claim.text} ({claim.detail})", style="red")
    if claim.holds:
        return Text(f"  holds    {claim.text}", style="green")
    return Text(f"  differs  {claim.text} (as documented: {claim.because})", style="yellow")
