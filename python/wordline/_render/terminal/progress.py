"""Progress bars on standard error."""

from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.text import Text

from wordline._render.terminal.console import console
from wordline._render.units import US_PER_S, duration, figures

if TYPE_CHECKING:
    from wordline._api.progress import Progress as State
    from wordline._caching.cache import CacheProgress


class _Eta(ProgressColumn):
    """Remaining time, from the share of the input consumed."""

    def render(self, task: Task) -> Text:
        if task.fields["fraction"] is None or task.time_remaining is None:
            return Text("ETA –", style="dim")
        return Text(f"ETA {clock(task.time_remaining)}", style="dim")


class ProgressBar:
    """A progress line on standard error with these columns; removed when the work ends."""

    def __init__(self, *columns: ProgressColumn, **fields: Any) -> None:
        self._progress = Progress(*columns, console=console(stderr=True), transient=True)
        self._task = self._progress.add_task("starting", total=None, **fields)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *fault: object) -> None:
        with suppress(OSError):  # The terminal may be gone while the work continues.
            self._progress.stop()

    @contextmanager
    def aside(self) -> Generator[None]:
        """Hides the line while something else is printed."""
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()

    def _fill(self, fraction: float | None, phase: str, **fields: Any) -> None:
        self._progress.update(
            self._task,
            description=phase,
            total=None if fraction is None else 1.0,
            completed=fraction or 0.0,
            fraction=fraction,
            **fields,
        )


class Bar(ProgressBar):
    """Progress of a run: phase, simulated time, requests per second, ETA."""

    def __init__(self) -> None:
        super().__init__(
            SpinnerColumn(),
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[simulated]:>9} simulated"),
            TextColumn("{task.fields[rate]:>6} requests/s"),
            _Eta(),
            simulated="0 s",
            rate="0",
            fraction=None,
        )
        self._phase = ""
        self._before = 0

    def show(self, state: "State") -> None:
        """Draws the progress of a run."""
        if state["phase"] != self._phase:
            self._phase = state["phase"]
            self._before = state["requests"]
            self._progress.reset(self._task, total=None)
        elapsed = self._progress.tasks[self._task].elapsed or 0.0
        rate = (state["requests"] - self._before) / elapsed if elapsed > 0 else 0.0
        simulated = duration(state["simulated_s"] * US_PER_S)
        self._fill(state["fraction"], self._phase, simulated=simulated, rate=_short(rate))


class TraceBar(ProgressBar):
    """Progress of the analysis of a trace."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description:<24}"), BarColumn(bar_width=None))
        super().__init__(SpinnerColumn(), *columns, _Eta(), fraction=None)

    def show(self, state: "CacheProgress") -> None:
        """Draws the progress of the analysis."""
        self._fill(state["fraction"], state["phase"])


def _short(rate: float) -> str:
    for limit, scale, unit in ((1e3, 1.0, ""), (1e6, 1e3, "k")):
        if rate < limit:
            return f"{figures(rate / scale)}{unit}"
    return f"{figures(rate / 1e6)}M"


def clock(seconds: float) -> str:
    """Formats seconds as H:MM:SS or M:SS."""
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"
