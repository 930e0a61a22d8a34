"""Results as plain data, to be pickled, copied and sent to other processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from wordline import _wordline
from wordline._internal import own_version
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from collections.abc import Callable

    class Tables(Protocol):
        """Tables by name."""

        def table(self, name: str) -> _wordline.Table:
            """A table."""
            ...

        def write_table(self, name: str, path: str) -> None:
            """Writes a table as Parquet."""
            ...

    class Outcome(Tables, Protocol):
        """What a run leaves, wherever it is held."""

        @property
        def partial(self) -> bool:
            """Whether the run ended before its input."""
            ...

        @property
        def error(self) -> str | None:
            """Why, if so."""
            ...

        @property
        def interrupted(self) -> bool:
            """Whether the user ended it."""
            ...

        @property
        def tables(self) -> list[str]:
            """Names of the tables."""
            ...

        @property
        def requests(self) -> int:
            """Requests that were simulated, of all streams."""
            ...

        def summary_text(self) -> str:
            """The content of summary.json."""
            ...

        def config_toml(self) -> str:
            """The complete configuration."""
            ...


class Pickled:
    """An outcome as plain data: texts, and tables as Arrow IPC streams."""

    def __init__(
        self,
        *,
        partial: bool,
        error: str | None,
        interrupted: bool,
        requests: int,
        summary: str,
        config: str,
        tables: dict[str, bytes],
    ) -> None:
        self.partial = partial
        self.error = error
        self.interrupted = interrupted
        self.requests = requests
        self._summary = summary
        self._config = config
        self._tables = tables

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return list(self._tables)

    def summary_text(self) -> str:
        """The content of summary.json."""
        return self._summary

    def config_toml(self) -> str:
        """The complete configuration."""
        return self._config

    def table(self, name: str) -> _wordline.Table:
        """A table by name. Raises KeyError."""
        if name not in self._tables:
            raise KeyError(f"this run has no table {name}")
        return _wordline.Table.from_ipc(self._tables[name])

    def write_table(self, name: str, path: str) -> None:
        """Writes a table as Parquet."""
        self.table(name).write_parquet(path)


def state(outcome: Outcome) -> dict[str, Any]:
    """What `Pickled` is made of."""
    return {
        "partial": outcome.partial,
        "error": outcome.error,
        "interrupted": outcome.interrupted,
        "requests": outcome.requests,
        "summary": outcome.summary_text(),
        "config": outcome.config_toml(),
        "tables": {name: outcome.table(name).to_ipc() for name in outcome.tables},
    }


class OneTable:
    """A table where several by name are expected."""

    def __init__(self, table: _wordline.Table) -> None:
        self._only = table

    def table(self, name: str) -> _wordline.Table:  # noqa: ARG002
        """The table."""
        return self._only

    def write_table(self, name: str, path: str) -> None:  # noqa: ARG002
        """Writes the table as Parquet."""
        self._only.write_parquet(path)

    def __reduce__(self) -> tuple[Callable[..., OneTable], tuple[str, bytes]]:
        return one_table, (own_version.installed(), self._only.to_ipc())


def one_table(version: str, stream: bytes) -> OneTable:
    """A table that was pickled. Raises WordlineError if another version did."""
    require_version(version)
    return OneTable(_wordline.Table.from_ipc(stream))


def require_version(version: str) -> None:
    """Refuses what another version pickled."""
    if version != own_version.installed():
        raise WordlineError(
            f"this was pickled by Wordline {version}, and this is {own_version.installed()}; "
            "unpickle it there and store it with `write`, whose files other programs read, or run "
            "it again"
        )
