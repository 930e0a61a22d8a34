"""What is stated twice in the repository is stated alike."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def features(*selection: str) -> set[str]:
    """Each crate that a build compiles, with its version and features."""
    command = [os.environ.get("CARGO", "cargo"), "tree", "--locked", "--prefix", "none"]
    listed = subprocess.run(
        [*command, "--format", "{p} {f}", *selection],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return {line.removesuffix(" (*)") for line in listed.stdout.splitlines()}


def test_the_benches_compile_nothing_that_the_wheel_has() -> None:
    wheel = features("--package", "wordline-py", "--edges", "normal,build")
    benches = features("--workspace", "--edges", "normal,build,dev")
    assert len(wheel) > 50
    assert wheel - benches == set()
