"""Output on narrow terminals and on ASCII terminals, path arguments, and forks."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import TINY

import wordline

LISTS = [
    ["devices"],
    ["devices", "d4"],
    ["policies"],
    ["trace", "formats"],
    ["study"],
    ["config", "show", "d4"],
    ["config", "check", "d4"],
    ["--help"],
    ["run", "--help"],
]


def said(args: list[str], **variables: str) -> str:
    names = {name: value for name, value in os.environ.items() if name != "PYTHONUTF8"}
    done = subprocess.run(
        [sys.executable, "-m", "wordline", *args],
        capture_output=True,
        env=names | {"NO_COLOR": "1"} | variables,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(variables.get("PYTHONIOENCODING", "utf-8"))


@pytest.fixture(scope="module")
def works(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Returns commands that print tables of results."""
    folder = tmp_path_factory.mktemp("works")
    tiny = str(folder / "tiny.toml")
    Path(tiny).write_text(TINY)
    trace = spc(folder)
    load = ["--set", "workload.requests=50"]
    out = ["--out", str(folder / "out")]
    return [
        ["run", tiny, *load, *out],
        ["run", tiny, *load, *out, "--progress"],
        ["trace", "stat", str(trace)],
        ["cache", str(trace), "lru,fifo", "10%"],
        ["cache", str(trace), "lru", "10%", "--progress"],
        ["mrc", str(trace)],
        *LISTS,
    ]


@pytest.fixture(scope="module")
def wide(works: list[list[str]]) -> list[set[str]]:
    """Returns the words of each output on a wide terminal."""
    return [set(said(command, COLUMNS="300").split()) for command in works]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Writes a trace of reads and writes in the SPC format."""
    return spc(tmp_path)


def spc(folder: Path) -> Path:
    file = folder / "disk.spc"
    lines = (f"0,{page * 8 % 4096},4096,{'rw'[page % 2]},{page / 1000:.6f}" for page in range(200))
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("columns", ["0", "1", "40"])
def test_a_narrow_terminal_keeps_numbers_and_truncates_no_text(
    works: list[list[str]], wide: list[set[str]], columns: str
) -> None:
    for command, words in zip(works, wide, strict=True):
        narrow = said(command, COLUMNS=columns)
        assert narrow.strip(), command
        assert "…" not in narrow, (command, narrow)
        if command[-1] != "--help":
            # Only folded words and durations differ.
            numbers = {word for word in words if word.isdecimal()}
            assert numbers & set(narrow.split()) or not numbers, command


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_terminal_without_unicode_gets_text_without_escapes(
    works: list[list[str]], encoding: str
) -> None:
    for command in works:
        text = said(command, PYTHONIOENCODING=encoding, LANG="C", COLUMNS="120")
        assert text.strip(), command
        assert "\\u" not in text, (command, text)
        assert "?" * 2 not in text


def test_an_error_on_an_ascii_terminal_is_ascii(tmp_path: Path) -> None:
    name = tmp_path / "µ×.toml"
    name.write_text("[ssd]\nchannels = 'µ'\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "wordline", "config", "check", str(name)],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.decode("ascii").startswith("error: ")


Call = Callable[[Any], object]
PATHS: list[tuple[str, Call]] = [
    ("trace", lambda path: wordline.run("demo", path)),
    ("trace", lambda path: wordline.run("demo", streams={"a": path})),
    ("device", wordline.run),
    ("device", wordline.config.check),
    ("device", wordline.config.show),
    ("an output path", lambda path: wordline.run("demo", out=path)),
    ("timeline", lambda path: wordline.run("demo", timeline=path)),
    ("trace", wordline.trace_stat),
    ("trace", lambda path: wordline.trace_convert(path, "x.spc", to="spc")),
    ("out", lambda path: wordline.trace_convert("x.csv", path, to="spc")),
    ("trace", lambda path: wordline.cache(path, "lru", "10%")),
    ("trace", wordline.mrc),
    ("trace", wordline.plan_cache),
]


@pytest.mark.parametrize(("name", "call"), PATHS)
@pytest.mark.parametrize("kind", ["number", "file", "binary", "memory", "bytes"])
def test_a_value_that_is_not_a_path_is_a_type_error(
    name: str, call: Call, kind: str, tmp_path: Path
) -> None:
    file = tmp_path / "disk.csv"
    file.write_text("a\n")
    with file.open() as text, file.open("rb") as binary:
        wrong = {
            "number": 5,
            "file": text,
            "binary": binary,
            "memory": io.StringIO("a\n"),
            "bytes": b"disk.csv",
        }[kind]
        with pytest.raises(TypeError) as error:
            call(wrong)
    message = str(error.value)
    assert message.startswith(f"{name} must be ")
    if kind in ("file", "binary"):
        assert repr(str(file)) in message
    if kind == "bytes":
        assert "os.fsdecode" in message


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning", "ignore:.*fork.*:RuntimeWarning")
def test_a_forked_child_writes_its_report(tmp_path: Path) -> None:
    """Polars has started its threads before the fork. They do not exist in the child."""
    code = (
        "import os, sys, signal, wordline\n"
        "result = wordline.run('demo', overrides={'workload.requests': 100})\n"
        f"result.report({str(tmp_path / 'parent.html')!r})\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    signal.alarm(60)\n"
        f"    result.report({str(tmp_path / 'child.html')!r})\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != -signal.SIGALRM, "the child hangs"
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "child.html").stat().st_size > 100_000


def test_a_request_across_the_end_of_the_device_is_noted_as_two(tiny: str, place: Path) -> None:
    """A request of 8 KiB starts 4 KiB before the end of the device, which has 6 MiB."""
    end = wordline.run(tiny, overrides={"workload.requests": 1}).summary["device"]["user_bytes"]
    rows = f"time_ns,op,offset_bytes,size_bytes,volume\n0,write,{end - 4096},8192,0\n"
    (place / "end.csv").write_text(rows)
    told = wordline.run(tiny, "end.csv", fit="wrap").summary
    assert told["input"]["requests"] == 2
    assert "1 requests beyond the device's end were wrapped around." in told["notes"]
    assert any(
        note.startswith("1 wrapped requests crossed the device's end") for note in told["notes"]
    )


def test_a_curve_without_sampled_pages_is_rejected(trace: Path) -> None:
    with pytest.raises(wordline.WordlineError, match=r"rate = 1e-9: no page .*; give a larger"):
        wordline.mrc(trace, "shards", rate=1e-9)


def test_an_empty_device_is_rejected() -> None:
    for act in (wordline.config.check, wordline.config.show, wordline.run):
        with pytest.raises(wordline.WordlineError, match="no device keys; name a preset"):
            act({})
