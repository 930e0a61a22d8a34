"""Facts that are stated in several places of the repository agree."""

import json
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from conftest import ALONE, LONGEST

ROOT = Path(__file__).parents[2]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_same_everywhere() -> None:
    (cited,) = re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited == PYPROJECT["version"] == CARGO["version"]


def test_the_licence_is_the_same_everywhere() -> None:
    (listed,) = re.findall(r"^license:\n((?:  - .+\n)+)", (ROOT / "CITATION.cff").read_text(), re.M)
    assert " OR ".join(re.findall("- (.+)", listed)) == PYPROJECT["license"] == CARGO["license"]


def test_the_container_has_the_minimum_rust_version() -> None:
    folder = ROOT / ".devcontainer"
    named = json.loads((folder / "devcontainer.json").read_text())["build"]["dockerfile"]
    (rust,) = re.findall(r"^FROM rust:([\d.]+)-", (folder / named).read_text(), re.MULTILINE)
    assert rust == CARGO["rust-version"]


def features(*selection: str) -> set[str]:
    """Returns the crates that a build compiles, with version and features."""
    command = [os.environ.get("CARGO", "cargo"), "tree", "--locked", "--prefix", "none"]
    listed = subprocess.run(
        [*command, "--format", "{p} {f}", *selection],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return {line.removesuffix(" (*)") for line in listed.stdout.splitlines()}


def test_the_workspace_builds_all_crates_of_the_wheel_with_the_same_features() -> None:
    wheel = features("--package", "wordline-py", "--edges", "normal,build")
    benches = features("--workspace", "--edges", "normal,build,dev")
    assert len(wheel) > 50
    assert wheel - benches == set()


@pytest.mark.parametrize("named", [*ALONE, *LONGEST])
def test_every_test_named_in_conftest_exists(named: str) -> None:
    file, _, function = named.partition("::")
    text = (Path(__file__).parent / file).read_text()
    assert f"def {function}(" in text if function else "def test_" in text
