"""The file in which Optuna keeps the trials of a search: a line of JSON for each step."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from optuna.storages.journal import BaseJournalBackend

from wordline._internal import checksums, output_folder


class Lines(BaseJournalBackend):
    """Steps in a file that this process alone writes. A line that a power cut tore is cut off. If
    the file can no longer be written, the steps go on without it."""

    def __init__(self, path: str) -> None:
        self.unwritten = ""
        """Why no more is written, if so."""
        self.path = path
        self._steps: list[dict[str, Any]] = []
        content = Path(path).read_bytes() if Path(path).exists() else b""
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            self._steps.append(_step(line, number))
        if whole < len(content):
            os.truncate(path, whole)

    def read_logs(self, log_number_from: int) -> Iterable[dict[str, Any]]:
        """The steps from this one on."""
        return self._steps[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Keeps steps."""
        lines = [checksums.line_of(step) for step in logs]
        # What is read again is what the file says.
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
    """The step of a line. Raises ValueError if it is not what was written: those that follow build
    on it."""
    try:
        step = checksums.values_of(line)
    except ValueError:
        step = None
    if step is None:
        raise ValueError(f"line {number} is not what was written")
    return step
