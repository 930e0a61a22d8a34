"""Arguments of a run, and its progress bar."""

from __future__ import annotations

from wordline._internal import arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from typing import Any, Protocol, TypeAlias, TypeVar

    T = TypeVar("T")
    State = TypeVar("State")
    Heard = TypeVar("Heard", contravariant=True)

    class Shown(Protocol[Heard]):
        """A progress bar."""

        def show(self, state: Heard, /) -> None:
            """Draws the current progress."""

    Job: TypeAlias = tuple[str, str, list[tuple[str, str]], list[str], dict[str, Any]]
    """Arguments of a run: configuration text and name, overrides, traces, options."""


def observed(
    progress: bool | Callable[[State], None],
    run: Callable[[Callable[[State], None] | None], T],
    bar: Callable[[], AbstractContextManager[Shown[State]]] | None = None,
) -> T:
    """Calls `run` with a progress callback: None if `progress` is False, `progress` itself if it is
    a function. If it is True, the callback draws a bar, by default that of a run."""
    if progress is False or progress is None:
        return run(None)
    if progress is True:
        from wordline._render.terminal.progress import Bar

        made: Any = bar() if bar else Bar()
        with made as shown:
            return run(shown.show)
    if not callable(progress):
        raise TypeError(
            f"progress must be True, False or a function, not {arguments.shown(progress)}"
        )
    return run(progress)
