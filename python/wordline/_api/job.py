"""What is asked of the simulator, and who follows how far it is."""

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
        """A bar."""

        def show(self, state: Heard, /) -> None:
            """Draws how far the work is."""

    Job: TypeAlias = tuple[str, str, list[tuple[str, str]], list[str], dict[str, Any]]
    """What is asked for: text and name of a configuration, overrides, traces, options."""


def observed(
    progress: bool | Callable[[State], None],
    run: Callable[[Callable[[State], None] | None], T],
    bar: Callable[[], AbstractContextManager[Shown[State]]] | None = None,
) -> T:
    """Calls a function with what hears its progress: a bar, that of a run by default, if `progress`
    is True."""
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
