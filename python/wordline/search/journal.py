"""The file in which Optuna keeps the trials of a search: a line of JSON for each step."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from optuna.storages.journal import BaseJournalBackend

from wordline import output_folder


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
        self._steps += [json.loads(line) for line in content[:whole].splitlines()]
        if whole < len(content):
            os.truncate(path, whole)

    def read_logs(self, log_number_from: int) -> Iterable[dict[str, Any]]:
        """The steps from this one on."""
        return self._steps[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Keeps steps."""
        lines = [json.dumps(step, separators=(",", ":")) for step in logs]
        # What is read again is what the file says.
        self._steps += [json.loads(line) for line in lines]
        if self.unwritten:
            return
        try:
            with open(self.path, "ab") as file:  # noqa: PTH123
                file.write("".join(f"{line}\n" for line in lines).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as fault:
            self.unwritten = output_folder.explain(self.path, fault)
