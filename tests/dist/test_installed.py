"""Checks an installed wheel from an empty folder, without the checkout. `make dist` runs this file
with the Python into which the wheel is installed."""

import gzip
import json
import os
import random
import re
import shlex
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

import wordline
import wordline_studies

ROOT = Path(__file__).parents[2]
# Other tests run the examples of these pages: test_mqsim.py has files of MQSim, test_sweep.py a
# cluster, test_docs_numbers.py Optuna, and test_calibrate.py SciPy.
OWN_TESTS = {"mqsim", "cluster", "search", "calibrate"}
PAGES = [
    ROOT / "README.md",
    ROOT / "docs/tutorial.md",
    ROOT / "docs/tutorial-sweeps.md",
    *(page for page in sorted((ROOT / "docs/how-to").glob("*.md")) if page.stem not in OWN_TESTS),
]
BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```", re.DOTALL | re.MULTILINE)
TRACE = re.compile(r"[\w-]+\.csv(?:\.gz|\.zst)?")
# These commands take minutes. A test below runs `study nand`.
LONG = {"study", "bench", "growth"}
# Examples with these imports are left out: the packages are not dependencies of Wordline.
OTHERS = ("from perfetto", "import plotly")
# Commands with these arguments are left out: they need files of a particular format, which other
# tests have.
OWN_FILES = {"--columns", "<(unzip"}
BUNDLED = "postgresql-mixed.csv.gz"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def called(*command: str) -> str:
    """Runs a command and returns its standard output. Neither a compiler nor the checkout is on its
    paths."""
    known = os.environ | {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "NO_COLOR": "1"}
    known.pop("PYTHONPATH", None)
    done = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
    return done.stdout


def test_the_installed_package_is_not_the_checkout() -> None:
    for package in (wordline, wordline_studies):
        assert ROOT not in Path(str(package.__file__)).resolve().parents


def test_the_wheel_contains_the_licences() -> None:
    files = {path.name for path in distribution("wordline").files or ()}
    assert {"LICENSE-APACHE", "LICENSE-MIT"} <= files


def test_the_bundled_trace_is_found_by_its_name(place: Path) -> None:
    called("wordline", "run", "d4", "--trace", BUNDLED, "--max-requests", "100")
    summary = json.loads((place / "out/d4-postgresql-mixed/summary.json").read_text())
    assert 0 < summary["input"]["requests"] <= 100  # Flushes are not counted.
    assert [Path(one["path"]).name for one in summary["input"]["files"]] == [BUNDLED]
    assert json.loads(called("wordline", "trace", "stat", BUNDLED, "--json"))


def test_every_preset_is_installed_and_valid(place: Path) -> None:
    presets = {path.stem for path in (ROOT / "presets").glob("*.toml")}
    assert {one["name"] for one in wordline.presets()} == presets
    for name in presets:
        called("wordline", "config", "check", name)


def test_a_study_tests_all_its_claims_and_lists_missing_traces(place: Path) -> None:
    told = called("wordline", "study", "nand", "--quick")
    assert re.search("Claims: [0-9]+ of 56 hold", told)
    study = json.loads((place / "out/study-nand/study.json").read_text())
    assert study["traces_missing"] == ["msnfs", "fin", "web", "usr", "prn"]
    assert "5 recorded traces are missing" in told


def blocks(page: Path) -> list[tuple[str, str]]:
    """Returns the language and the text of each code block, without its indentation."""
    return [
        (language, re.sub(f"^{indent}", "", text, flags=re.MULTILINE))
        for indent, language, text in BLOCK.findall(page.read_text())
    ]


def commands(text: str) -> list[list[str]]:
    """Returns the calls of `wordline` in a block as words, including a redirection with `>`."""
    lines = [line.removeprefix("$ ") for line in text.replace("\\\n", " ").splitlines()]
    words = [shlex.split(line, comments=True) for line in lines if line.startswith("wordline ")]
    short = [one for one in words if one[1] not in LONG or len(one) == 2]
    return [one for one in short if not OWN_FILES & set(one)]


def trace(name: str) -> None:
    """Writes a short trace under the name that an example uses for a trace of the reader."""
    draw = random.Random(name)
    lines = ["time_ns,op,offset_bytes,size_bytes,volume"]
    for index in range(2000):
        page = draw.randrange(2000)
        lines.append(f"{index * 500_000},{draw.choice(['read', 'write'])},{page * 4096},4096,0")
    text = "\n".join(lines).encode() + b"\n"
    if name.endswith(".zst"):
        Path("short.csv").write_bytes(text)
        called("wordline", "trace", "convert", "short.csv", name, "--to", "wordline")
    else:
        Path(name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)


def device(name: str, tomls: list[str]) -> None:
    """Writes the device file that an example uses: the TOML block before the example, or a
    preset."""
    Path(name).write_text(tomls[-1] if tomls else called("wordline", "devices", "demo"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_documented_examples_run_unchanged(page: Path, place: Path) -> None:
    tomls: list[str] = []
    code = ""
    for language, text in blocks(page):
        if language == "toml":
            tomls += [text] if "schema = " in text or "device = " in text else []
            continue
        if language == "ini":
            Path("job.fio").write_text(text)
        if language not in ("", "sh", "console", "python"):
            continue
        calls = commands(text) if language != "python" else []
        for name in TRACE.findall(text):
            if not Path(name).exists() and name != BUNDLED:
                trace(name)
        for name in re.findall(r"[\w-]+\.toml", text):
            if not Path(name).exists() and f"> {name}" not in text:
                device(name, tomls)
        for call in calls:
            told = called(*(call[: call.index(">")] if ">" in call else call))
            if ">" in call:
                Path(call[-1]).write_text(told)
        if language == "python" and not any(other in text for other in OTHERS):
            code += text
            called(sys.executable, "-c", code)
