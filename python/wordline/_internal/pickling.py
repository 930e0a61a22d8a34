"""Results as plain data, for pickling, copying and transfer to other processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from wordline import _wordline
from wordline._internal import own_version
from wordline._wordline import WordlineError

if TYPE_CHECKING:
    from collections.abc import Callable

    class Tables(Protocol):
        """Source of result tables by name."""

        def table(self, name: str) -> _wordline.Table:
            """Returns a table."""
            ...

        def write_table(self, name: str, path: str) -> None:
            """Writes a table as Parquet."""
            ...

    class Outcome(Tables, Protocol):
        """Outcome of a run, either in the memory of the simulator or unpickled."""

        @property
        def partial(self) -> bool:
            """Whether the run ended before its input."""
            ...

        @property
        def error(self) -> str | None:
            """Error that ended the run; None if there was none."""
            ...

        @property
        def interrupted(self) -> bool:
            """Whether the user interrupted the run."""
            ...

        @property
        def tables(self) -> list[str]:
            """Names of the tables."""
            ...

        @property
        def requests(self) -> int:
            """Number of simulated requests, over all streams."""
            ...

        def summary_text(self) -> str:
            """Returns the content of summary.json."""
            ...

        def config_toml(self) -> str:
            """Returns the complete configuration as TOML."""
            ...


class Pickled:
    """Outcome of a run as plain data: texts, and tables as Arrow IPC streams."""

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
        """Returns the content of summary.json."""
        return self._summary

    def config_toml(self) -> str:
        """Returns the complete configuration as TOML."""
        return self._config

    def table(self, name: str) -> _wordline.Table:
        """Returns a table by name. Raises KeyError."""
        if name not in self._tables:
            raise KeyError(f"this run has no table {name}")
        return _wordline.Table.from_ipc(self._tables[name])

    def write_table(self, name: str, path: str) -> None:
        """Writes a table as Parquet."""
        self.table(name).write_parquet(path)


def state(outcome: Outcome) -> dict[str, Any]:
    """Returns the arguments of `Pickled`."""
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
    """A single table, with the interface of `Tables`."""

    def __init__(self, table: _wordline.Table) -> None:
        self._only = table

    def table(self, name: str) -> _wordline.Table:  # noqa: ARG002
        """Returns the table."""
        return self._only

    def write_table(self, name: str, path: str) -> None:  # noqa: ARG002
        """Writes the table as Parquet."""
        self._only.write_parquet(path)

    def __reduce__(self) -> tuple[Callable[..., OneTable], tuple[str, bytes]]:
        return one_table, (own_version.installed(), self._only.to_ipc())


def one_table(version: str, stream: bytes) -> OneTable:
    """Returns an unpickled table. Raises WordlineError if another version pickled it."""
    require_version(version)
    return OneTable(_wordline.Table.from_ipc(stream))


def require_version(version: str) -> None:
    """Raises WordlineError if another version pickled the object."""
    if version != own_version.installed():
        raise WordlineError(
            f"the object was pickled by Wordline {version}, and this is {own_version.installed()}; "
            "unpickle it with that version and save it with `write`, whose files other programs "
            "read, or repeat the run"
        )
