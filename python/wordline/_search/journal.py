"""File in which Optuna keeps the trials of a search, with one line of JSON per step."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from optuna.storages.journal import BaseJournalBackend

from wordline._internal import checksums, output_folder


class Lines(BaseJournalBackend):
    """Journal of steps in a file that only this process writes. An incomplete last line, as after a
    power cut, is removed. After a write error, steps are kept in memory only."""

    def __init__(self, path: str) -> None:
        self.unwritten = ""
        """Error that stopped the writing of steps; empty without one."""
        self.path = path
        self._steps: list[dict[str, Any]] = []
        content = Path(path).read_bytes() if Path(path).exists() else b""
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            self._steps.append(_step(line, number))
        if whole < len(content):
            os.truncate(path, whole)

    def read_logs(self, log_number_from: int) -> Iterable[dict[str, Any]]:
        """Returns the steps whose number is at least `log_number_from`."""
        return self._steps[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Appends steps to the journal."""
        lines = [checksums.line_of(step) for step in logs]
        # Steps in memory must equal those that are read from the file.
        self._steps += [_step(line) for line in lines]
        if self.unwritten:
            return
        try:
            with open(self.path, "ab") as file:  # noqa: PTH123
                file.write(b"".join(lines))
                file.flush()
                os.fsync(file.fileno())
        except OSError as fault:
            self.unwritten = output_folder.explain(self.path, fault)


def _step(line: bytes, number: int = 0) -> dict[str, Any]:
    """Returns the step of a line. Raises ValueError if the line has changed, because later steps
    build on it."""
    try:
        step = checksums.values_of(line)
    except ValueError:
        step = None
    if step is None:
        raise ValueError(f"line {number} has changed since it was written")
    return step
