"""Progress bars on standard error."""

from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.text import Text

from wordline.units import (
    duration,
    figures,
)

if TYPE_CHECKING:
    from wordline.cache import CacheProgress
    from wordline.progress import Progress as State
from wordline.terminal.console import console
from wordline.units import US_PER_S


class _Eta(ProgressColumn):
    """Time to go, from the share of the input consumed."""

    def render(self, task: Task) -> Text:
        if task.fields["fraction"] is None or task.time_remaining is None:
            return Text("ETA –", style="dim")
        return Text(f"ETA {_clock(task.time_remaining)}", style="dim")


class Bar:
    """A progress bar on standard error: phase, simulated time, requests a second, ETA."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[simulated]:>9} simulated"),
            TextColumn("{task.fields[rate]:>6} requests/s"),
            _Eta(),
            console=console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task(
            "starting", total=None, simulated="0 s", rate="0", fraction=None
        )
        self._phase = ""
        self._before = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(OSError):  # the terminal may be gone; the run is not
            self._progress.stop()

    def show(self, state: "State") -> None:
        """Draws the state of a run."""
        if state["phase"] != self._phase:
            self._phase = state["phase"]
            self._before = state["requests"]
            self._progress.reset(self._task, total=None)
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        rate = (state["requests"] - self._before) / elapsed if elapsed > 0 else 0.0
        fraction = state["fraction"]
        self._progress.update(
            self._task,
            description=self._phase,
            total=None if fraction is None else 1.0,
            completed=fraction or 0.0,
            fraction=fraction,
            simulated=duration(state["simulated_s"] * US_PER_S),
            rate=_short(rate),
        )


class TraceBar:
    """A progress bar on standard error for work on a trace: what is done, and how far it is."""

    def __init__(self) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description:<24}"),
            BarColumn(bar_width=None),
            _Eta(),
            console=console(stderr=True),
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=None, fraction=None)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *fault: object) -> None:
        self._progress.stop()

    def show(self, state: "CacheProgress") -> None:
        """Draws the state of the work."""
        fraction = state["fraction"]
        self._progress.update(
            self._task,
            description=state["phase"],
            total=None if fraction is None else 1.0,
            completed=fraction or 0.0,
            fraction=fraction,
        )


def _short(rate: float) -> str:
    for limit, scale, unit in ((1e3, 1.0, ""), (1e6, 1e3, "k")):
        if rate < limit:
            return f"{figures(rate / scale)}{unit}"
    return f"{figures(rate / 1e6)}M"


def _clock(seconds: float) -> str:
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
