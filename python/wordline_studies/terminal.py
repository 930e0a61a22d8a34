"""Terminal output of `wordline study`."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
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
from wordline_studies.figure import VERDICT_LABELS, VERDICTS, Claim, Figure, Study, Verdict
from wordline_studies.outcome import (
    OUTCOME_LABELS,
    OUTCOME_MARKS,
    Outcome,
    ranked,
    reason,
    sentence,
)
from wordline_studies.overview import Overview
from wordline_studies.page import difference, ours, published
from wordline_studies.results import Results
from wordline_studies.statements import STATEMENT_LABELS, statement_sentence

EVERY_S = 30.0
OVERVIEW_WIDTH = 76
"""Minimum width in columns of the tables of all studies. With fewer, words would be split."""
STYLES: dict[Outcome, str] = {"reproduced": "green", "direction": "yellow", "contradicted": "red"}


class Progress:
    """Logs the progress of a figure's runs to standard error, at most once every `EVERY_S` seconds.
    `now` returns seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next = now() + EVERY_S

    def heard(self, state: State) -> None:
        """Prints a line if one is due. Called when runs have ended."""
        if self._now() < self._next:
            return
        self._next = self._now() + EVERY_S
        failed = f", {state.failed} failed" if state.failed else ""
        left = "" if state.left_s is None else f", {clock(state.left_s)} left"
        done = state.done + state.failed
        print(f"{done} of {many(state.total, 'run')}{failed}{left}", file=sys.stderr, flush=True)


class Shown:
    """Terminal output of a running study: its figures, and the progress of their runs.

    Progress goes to standard error, as one redrawn `line` or as separate `lines`.
    """

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
        """Shows the progress of a figure's runs."""
        if self._line:
            self._line.show(state)
        if self._lines:
            self._lines.heard(state)

    def study(self, study: Study) -> None:
        """Prints a heading with the name of the study that starts."""
        with self._line.aside() if self._line else nullcontext():
            console().rule(Text(f"{study.name}: {study.title}"), align="left")

    def figure(self, figure: Figure) -> None:
        """Prints a figure above the progress line."""
        with self._line.aside() if self._line else nullcontext():
            print_figure(figure)


def print_studies(studies: Mapping[str, str]) -> None:
    """Prints the list of studies."""
    table = Table("study", "contents", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, text in studies.items():
        table.add_row(name, text)
    console().print(table)


def print_figure(figure: Figure) -> None:
    """Prints a figure: simulated and published values with their outcomes, and claims."""
    shown = console()
    shown.print(Text(f"\n{figure.title}", style="bold"), Text(f"  section {figure.section}"))
    if figure.rows:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column("quantity", overflow="fold")
        for name in ("published", "simulated"):
            table.add_column(name, justify="right")
        table.add_column("difference", justify="right", no_wrap=True)
        table.add_column("outcome", no_wrap=True)
        for row, outcome in ranked(figure.rows):
            why = reason(row, outcome)
            what = f"{row.what} ({OUTCOME_LABELS[outcome]}: {why})" if outcome and why else row.what
            table.add_row(Text(what), published(row), ours(row), difference(row), _outcome(outcome))
        shown.print(table)
    for claim in figure.claims:
        shown.print(_claim(claim), soft_wrap=True)


def print_end(results: Results, files: list[Path]) -> None:
    """Prints the counts of outcomes and verdicts, the missing traces and the paths of the files."""
    shown = console()
    shown.print(f"\n{sentence(results.numbers, results.own)}", soft_wrap=True)
    if results.statements:
        shown.print(statement_sentence(results.orders), soft_wrap=True)
    shown.print(_counted(results.counts), soft_wrap=True)
    if missing := results.missing:
        shown.print(missing, soft_wrap=True)
    for path in files:
        shown.print(Text(f"Wrote {path}"), soft_wrap=True)


def print_overview(overview: Overview, files: list[Path]) -> None:
    """Prints the counts of outcomes and of verdicts of all studies, the errors of the studies that
    could not be run, and the paths of the files."""
    shown = console(least=OVERVIEW_WIDTH)
    shown.print(
        _counts(
            tuple(OUTCOME_LABELS.values()),
            {one.study.name: [*one.numbers.values()] for one in overview.studies},
        )
    )
    shown.print(sentence(overview.numbers, overview.own), soft_wrap=True)
    shown.print(
        _counts(
            tuple(STATEMENT_LABELS.values()),
            {one.study.name: [*one.orders.values()] for one in overview.studies},
        )
    )
    shown.print(statement_sentence(overview.orders), soft_wrap=True)
    shown.print(
        _counts(
            tuple(VERDICT_LABELS.values()),
            {one.study.name: [*one.counts.values()] for one in overview.studies},
        )
    )
    shown.print(_counted(overview.counts), soft_wrap=True)
    for name, fault in overview.faults.items():
        shown.print(Text(f"{name} could not be run: {fault}"), soft_wrap=True)
    for path in files:
        shown.print(Text(f"Wrote {path}"), soft_wrap=True)


def _counts(columns: Sequence[str], rows: Mapping[str, Sequence[int]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=0)
    table.add_column("study", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    for name, counts in rows.items():
        table.add_row(name, *map(str, counts))
    return table


def _counted(counts: Mapping[Verdict, int]) -> str:
    """Returns the sentence that counts the claims."""
    held, differs, failed, told = (counts[verdict] for verdict in VERDICTS)
    return (
        f"Claims: {held} of {held + differs + failed} {'holds' if held == 1 else 'hold'}, "
        f"{differs} {'differs' if differs == 1 else 'differ'} for documented reasons, "
        f"{failed or 'none'} unexpectedly"
    ) + (f"; {told} more {'is' if told == 1 else 'are'} not tested." if told else ".")


def _outcome(outcome: Outcome | None) -> Text:
    if outcome is None:
        return Text("")
    return Text(f"{OUTCOME_MARKS[outcome]} {OUTCOME_LABELS[outcome]}", STYLES.get(outcome, ""))


def _claim(claim: Claim) -> Text:
    if claim.report_only:
        found = f": {claim.finding}" if claim.finding else ""
        why = "; ".join(filter(None, (claim.detail, claim.report_only)))
        return Text(f"  not tested  {claim.text}{found} ({why})")
    if not claim.passed:
        return Text(f"  FAILED      {claim.text} ({claim.detail})", style="red")
    if claim.holds:
        return Text(f"  holds       {claim.text}", style="green")
    return Text(f"  differs     {claim.text} (documented reason: {claim.because})", style="yellow")
