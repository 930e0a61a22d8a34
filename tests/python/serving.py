"""Servers and programs for the tests of live devices."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from conftest import environment

LIMIT = 60

GIB = 1 << 30


def ram(capacity: int) -> str:
    """Writes the device file of a RAM disk of any size, and returns its path."""
    Path("ram.toml").write_text(f'schema = 1\nname = "ram"\n\n[ram]\ncapacity_bytes = {capacity}\n')
    return "ram.toml"


@contextmanager
def server(*args: str, more: dict[str, str] | None = None) -> Iterator[subprocess.Popen[str]]:
    """Runs `wordline serve` until the end of the block. Yields its process once it is ready."""
    with announced(*args, more=more) as (process, _):
        yield process


@contextmanager
def announced(
    *args: str, more: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Acts as `server`, and also yields the line that the command prints when it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-m", "wordline", "serve", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment() | (more or {}),
    )
    assert process.stderr
    try:
        line = process.stderr.readline()
        assert "is ready at nbd+unix:///?socket=" in line, line + process.stderr.read()
        yield process, line
    finally:
        process.kill()
        process.communicate(timeout=LIMIT)


def program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def called(*args: str) -> str:
    done = subprocess.run(
        args, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment()
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
