"""Errors of bad input: one line with fault, place and remedy; exit code 2, or 1 if a run had
started; no traceback; no partial files."""

import ctypes
import gzip
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from conftest import TINY, USER_BYTES, Command, msr

import wordline as package
from wordline import cli

START = 128166372000000000
GOOD = f"{START},host,0,Write,0,4096,1000\n"


@dataclass(frozen=True)
class Bad:
    """An invalid input: its name, the words that the message must contain, the arguments, and the
    files and actions that prepare it."""

    name: str
    says: tuple[str, ...]
    args: tuple[str, ...] = ("tiny.toml", "--trace", "disk.csv")
    files: dict[str, str | bytes] = field(default_factory=dict[str, str | bytes])
    prepare: Callable[[], object] = lambda: None


def device(name: str, change: tuple[str, str], *says: str) -> Bad:
    assert change[0] in TINY
    return Bad(name, says, files={"tiny.toml": TINY.replace(*change)})


def line(name: str, text: str, *says: str) -> Bad:
    """Returns the case of a trace whose tenth line is invalid."""
    return Bad(name, ("disk.csv:10", *says), files={"disk.csv": GOOD * 9 + text + "\n"})


def whole(name: str, content: str | bytes, *says: str) -> Bad:
    return Bad(name, ("disk.csv", *says), files={"disk.csv": content})


def option(name: str, *more: str, says: tuple[str, ...]) -> Bad:
    return Bad(name, says, args=("tiny.toml", "--trace", "disk.csv", *more))


CASES = [
    device("unknown key", ("channels", "chanels"), "tiny.toml:5", "chanels", "channels"),
    device("unknown table", ("[ssd]", "[sdd]"), "tiny.toml:4", "sdd"),
    device("wrong type", ("channels = 2", 'channels = "two"'), "tiny.toml:5", "channels"),
    device("negative count", ("channels = 2", "channels = -2"), "channels"),
    device("overflowing count", ("channels = 2", "channels = 99999999999"), "channels"),
    device("no channels", ("channels = 2", "channels = 0"), "ssd.channels"),
    device("no pages", ("pages_per_block = 16", "pages_per_block = 0"), "pages_per_block"),
    device(
        "page size not a multiple of 512", ("page_bytes = 4096", "page_bytes = 1000"), "page_bytes"
    ),
    device("no user capacity left", ("ratio = 0.25", "ratio = 1.5"), "over_provisioning_ratio"),
    device("unknown policy", ("ratio = 0.25", 'ratio = 0.25\nmapping = "psge"'), "mapping", "psge"),
    device(
        "plane smaller than its reserve",
        ("blocks_per_plane = 32", "blocks_per_plane = 1"),
        "blocks",
    ),
    device("newer schema", ("schema = 1", "schema = 99"), "schema"),
    device("invalid TOML", ("[ssd]", "[ssd"), "tiny.toml:4"),
    Bad("binary device", ("tiny.toml:2", "UTF-8"), files={"tiny.toml": bytes(range(256))}),
    Bad(
        "missing device",
        ("absent.toml: no such file; check the path; `wordline devices` lists the presets",),
        args=("absent.toml",),
    ),
    Bad(
        "device file named after a preset",
        ("demo.toml: no such file; did you mean 'demo' or 'demo-store'? `wordline devices`",),
        args=("demo.toml",),
    ),
    Bad("misspelt device", ("'d5'; did you mean 'd4'? `wordline devices`",), args=("d5",)),
    Bad(
        "device unlike any preset",
        ("'nothing'; check the name; `wordline devices` lists the presets",),
        args=("nothing",),
    ),
    Bad(
        "folder as device",
        ("is a folder",),
        args=("folder.toml",),
        prepare=lambda: Path("folder.toml").mkdir(),
    ),
    Bad("no load", ("tiny.toml", "[workload]"), args=("tiny.toml",)),
    option(
        "override of an unknown key", "--set", "ftl.gc.vctim=fifo", says=("ftl.gc.vctim", "victim")
    ),
    option("override without a value", "--set", "seed", says=("--set", "KEY=VALUE")),
    option("override of the wrong type", "--set", "ssd.channels=many", says=("ssd.channels",)),
    Bad("missing trace", ("absent.csv", "not exist"), args=("tiny.toml", "--trace", "absent.csv")),
    Bad(
        "folder as trace",
        ("folder", "is a "),
        args=("tiny.toml", "--trace", "folder"),
        prepare=lambda: Path("folder").mkdir(),
    ),
    whole("empty trace", "", "empty"),
    whole("binary data as trace", random.Random(1).randbytes(5000), "format"),
    whole("truncated gzip", gzip.compress(msr(3000).encode())[:-200], "ends early"),
    whole("gzip header only", gzip.compress(b"")[:6], ""),
    line("wrong column count", f"{START},host,0,Write,0,4096", "column"),
    line("not a number", f"{START},host,0,Write,zero,4096,1", "column 5"),
    line("negative offset", f"{START},host,0,Write,-4096,4096,1", "column 5"),
    line("overflowing offset", f"{START},host,0,Write,99999999999999999999999,4096,1", "column 5"),
    line("end of request beyond 64 bits", f"{START},host,0,Write,{2**64 - 512},4096,1", ""),
    line("unknown operation", f"{START},host,0,Wrote,0,4096,1", "column 4", "Wrote"),
    line("time stamps going backwards", f"{START - 1},host,0,Write,0,4096,1", "--time-order"),
    line("zero size", f"{START},host,0,Write,0,0,1", "the size is 0"),
    line("unaligned offset", f"{START},host,0,Write,100,4096,1", "--align"),
    line("unaligned size", f"{START},host,0,Write,0,100,1", "--align"),
    line("several volumes", f"{START},host,1,Write,0,4096,1", "--volumes"),
    line("beyond capacity", f"{START},host,0,Write,{USER_BYTES},4096,1", "--fit", str(USER_BYTES)),
    option("unknown format", "--format", "xml", says=("xml", "msr")),
    option("wrong format", "--format", "vscsi", says=("disk.csv",)),
    option("unknown volume", "--volumes", "many", says=("many", "stack")),
    option("missing volume", "--volumes", "7", says=("no read or write", "volume")),
    option("unknown choice", "--fit", "squeeze", says=("--fit", "squeeze", "wrap")),
    option("negative seed", "--seed", "-1", says=("--seed: -1 ",)),
    option("no requests", "--max-requests", "0", says=("--max-requests: 0 ",)),
    option("unknown option", "--sead", "1", says=("--sead", "--seed")),
    option("out is a file", "--out", "disk.csv", says=("disk.csv", "is a file")),
    option("out inside a file", "--out", "disk.csv/deep/er", says=("is a file",)),
    option("out is the working directory", "--out", ".", says=("inside",)),
    option("out with too long a name", "--out", "x" * 300, says=("too long", "shorter")),
    Bad("no device", ("DEVICE",), args=()),
    Bad("device after the traces", ("DEVICE",), args=("--trace", "disk.csv", "tiny.toml")),
]


@pytest.mark.parametrize("bad", CASES, ids=lambda bad: bad.name)
@pytest.mark.usefixtures("tiny", "trace")
def test_bad_input_is_an_error_with_place_and_remedy(wordline: Command, bad: Bad) -> None:
    for name, content in bad.files.items():
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    bad.prepare()
    before = {path.name for path in Path().iterdir()}
    answer = wordline("run", *bad.args)
    first, *rest = answer.stderr.splitlines()
    assert answer.returncode in (1, 2)
    assert first.startswith("error: ")
    assert "Traceback" not in answer.stderr
    assert "panicked" not in answer.stderr
    assert not rest or "^" in answer.stderr, (
        "only errors in TOML may have more than one line, with a caret below the place"
    )
    for part in bad.says:
        assert part in answer.stderr
    left = {path.name for path in Path().iterdir()} - before
    assert not left if answer.returncode == 2 else left <= {"out"}
    assert not list(Path().glob("**/.*"))


def test_an_error_in_the_middle_of_a_trace_keeps_the_results_so_far(
    wordline: Command, tiny: str, place: Path
) -> None:
    (place / "disk.csv").write_text(msr(70_000) + "rubbish\n" + msr(500))
    answer = wordline("run", tiny, "--trace", "disk.csv", "--out", "here")
    assert answer.returncode == 1
    assert "disk.csv:70001" in answer.stderr
    assert "--on-bad-line skip" in answer.stderr
    assert '"partial": true' in Path("here/summary.json").read_text()
    assert "Partial result" in answer.stdout
    assert "Partial result" in Path("here/report.html").read_text()


def test_bad_lines_can_be_skipped(wordline: Command, tiny: str, place: Path) -> None:
    (place / "disk.csv").write_text(msr(500) + "rubbish\n")
    answer = wordline("run", tiny, "--trace", "disk.csv", "--on-bad-line", "skip", "--json")
    assert answer.returncode == 0, answer.stderr
    assert '"lines_skipped": 1,' in answer.stdout


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["trace", "stat", "absent.csv"], "absent.csv"),
        (["trace", "stat"], "FILE"),
        (["trace", "convert", "disk.csv", "x"], "--to"),
        (["trace", "convert", "disk.csv", "--to", "msr"], "file to write"),
        (["trace", "convert", "disk.csv", "x", "--to", "xml"], "--to: 'xml' is not one of"),
        (["trace", "convert", "disk.csv", "no/such/folder/x", "--to", "msr"], "no/such/folder"),
        (["policies", "ftl.gc.vctim"], "ftl.gc.victim"),
        (["devices", "d5"], "d4"),
        (["config", "check", "absent.toml"], "absent.toml"),
        (["config", "show", "tiny.toml", "--set", "a.b=1"], "a"),
        (["bench", "rr8k"], "rr4k"),
        (["bench", "replay"], "--trace"),
        (["report", "absent"], "absent"),
        (["report", "."], "summary.json"),
        (["rnu"], "rnu"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.usefixtures("tiny", "trace")
def test_other_commands_report_bad_input_in_one_line(
    wordline: Command, args: list[str], says: str
) -> None:
    answer = wordline(*args)
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: ")
    assert answer.stderr.count("\n") == 1
    assert says in answer.stderr
    assert not Path("x").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("config check /dev/zero", "/dev/zero: is a device or a socket, not a file"),
        ("config check pipe.toml", "pipe.toml: is a named pipe, not a file"),
        ("run tiny.toml --fio /dev/zero", "/dev/zero: is a device or a socket, not a file"),
        ("sweep zero.toml", "point 0: zero.toml: is a device or a socket, not a file"),
        ("config import-mqsim /dev/zero", "/dev/zero: is a device or a socket, not a file"),
        ("calibrate --data /dev/zero", "/dev/zero: is a device or a socket, not a file"),
    ],
)
@pytest.mark.usefixtures("tiny")
def test_a_file_that_does_not_end_is_rejected(
    place: Path, capsys: pytest.CaptureFixture[str], words: str, says: str
) -> None:
    os.mkfifo(place / "pipe.toml")
    (place / "zero.toml").symlink_to("/dev/zero")
    assert cli.main(words.split()) == 2
    assert capsys.readouterr().err == f"error: {says}; name a file\n"


def test_a_pipe_from_process_substitution_is_accepted(place: Path) -> None:
    (place / "tiny.toml").write_text(TINY)
    check = f'"{sys.executable}" -m wordline config check <(cat tiny.toml)'
    answer = subprocess.run(["bash", "-c", check], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr


@pytest.mark.parametrize(
    "given",
    [
        {"seed": "7" * 10**6},
        {"seed": list(range(10**6))},
        {"seed": 10**4000},
        {"time_gaps": b"x" * 10**6},
        {"columns": list(range(10**6))},
        {"overrides": {"nand.timing.read_ns": list(range(10**5))}},
        {"overrides": {"ftl.gc.victim": "x" * 10**5}},
        {"overrides": {"x" * 10**5: 1}},
    ],
    ids=lambda given: next(iter(given)),
)
def test_messages_truncate_long_values(tiny: str, given: dict[str, Any]) -> None:
    with pytest.raises((TypeError, package.WordlineError)) as fault:
        package.run(tiny, "disk.csv", **given)
    assert len(str(fault.value)) < 4_000


def test_an_error_names_the_damaged_file_of_a_results_folder(
    wordline: Command, tiny: str, trace: str
) -> None:
    wordline("run", tiny, "--trace", trace, "--out", "here")
    Path("here/series.parquet").write_bytes(b"PAR1")
    answer = wordline("report", "here")
    assert answer.returncode == 2
    assert "series.parquet" in answer.stderr
    assert answer.stderr.count("\n") == 1
    Path("here/summary.json").write_text("{}")
    assert wordline("report", "here").returncode == 2


def _obey_permissions() -> None:
    """Removes root's right to write anywhere from the program that this process executes next."""
    drop_from_bounding_set, dac_override = 24, 1
    if os.geteuid() == 0 and ctypes.CDLL(None).prctl(drop_from_bounding_set, dac_override, 0, 0, 0):
        raise OSError("root keeps its right to write anywhere")


def test_a_read_only_output_folder_is_an_error(
    wordline: Command, tiny: str, trace: str, place: Path
) -> None:
    (place / "locked").mkdir(mode=0o500)
    answer = wordline(
        "run", tiny, "--trace", trace, "--out", "locked/here", preexec_fn=_obey_permissions
    )
    assert answer.returncode == 2
    assert "Permission denied" in answer.stderr
