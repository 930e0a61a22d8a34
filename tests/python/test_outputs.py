"""Outputs of commands: all are declared, and each command replaces only its own results."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from conftest import Command

import wordline_studies as studies
from wordline import WordlineError, _wordline, cli
from wordline._internal import output_folder
from wordline_studies.figure import Figure, Study

# Options that make a command write all of its files.
SAMPLED = ["--set", "observe.chip_load_interval_ms=10", "--requests", "--max-requests", "20"]


@pytest.fixture
def calls(
    tiny: str, trace: str, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Callable[[str], int]]:
    """Returns, for each command, a function that runs it into a folder and returns the exit
    code."""
    figure = Figure(id="1", title="Figure 1", section="1", measured="Nothing.")
    made = Study("test", "A test", "Nobody", (lambda _: figure,))
    monkeypatch.setattr(studies, "load", lambda _: made)

    def called(*args: str) -> Callable[[str], int]:
        return lambda out: int(cli.main([*args, "--out", out]) or 0)

    return {
        "run": called("run", tiny, "--trace", trace, *SAMPLED),
        "cache": called("cache", trace),
        "calibrate": called("calibrate", "--data", _rates()),
        "mrc": called("mrc", trace),
        "plan-cache": called("plan-cache", trace, "--sizes", "16MiB"),
        "sweep": called("sweep", tiny, "--trace", trace),
        "search": called(
            "search",
            tiny,
            "--trace",
            trace,
            "--minimise",
            "latency.read.mean_us",
            "--vary",
            "host.queue_depth=1,2",
            "--sampler",
            "grid",
        ),
        "lab": called("lab", tiny, "--quick", "--only", "workers"),
        "study": lambda out: cli.main(["study", "test", "--out", out]),
        "growth": lambda out: _without_measuring(out, "growth"),
        "study all": lambda out: _without_measuring(out, "study all"),
    }


def _rates() -> str:
    """Writes a file of error rates."""
    rows = [f"{cycles},{1e-6 + 1e-9 * cycles}" for cycles in (1, 300, 1000, 2000, 3000)]
    Path("rber.csv").write_text("cycles,rber\n" + "\n".join(rows) + "\n")
    return "rber.csv"


def _without_measuring(out: str, command: str) -> int:
    """Writes the files of a command without its measurements, which take minutes."""
    writers = {
        name: lambda part: output_folder.write_text(part, "")
        for name in output_folder.FILES[command]
    }
    try:
        output_folder.write(out, writers, command)
    except WordlineError:
        return 2
    return 0


def test_every_command_replaces_its_own_results_and_no_others(
    calls: dict[str, Callable[[str], int]],
) -> None:
    assert set(calls) == set(output_folder.FILES)
    for command, call in calls.items():
        assert call(command) == 0, command
        assert call(command) == 0, f"{command}, again"
    for command, other in itertools.permutations(calls, 2):
        before = sorted(Path(other).iterdir())
        assert calls[command](other) == 2, f"{command} over {other}"
        assert sorted(Path(other).iterdir()) == before


def test_every_table_of_a_run_is_declared() -> None:
    declared = {name for name in output_folder.FILES["run"] if name.endswith(".parquet")}
    assert declared == {f"{table}.parquet" for table in _wordline.tables()}


@pytest.mark.parametrize("command", list(output_folder.FILES))
def test_a_result_with_any_optional_files_is_replaced(command: str, place: Path) -> None:
    always = output_folder.ALWAYS[command]
    perhaps = sorted(set(output_folder.FILES[command]) - always)
    for number, chosen in enumerate([(), *((one,) for one in perhaps), perhaps]):
        out = str(place / f"{command}-{number}")
        writers = {
            name: lambda part: output_folder.write_text(part, "") for name in (*always, *chosen)
        }
        for _ in range(2):
            output_folder.write(out, writers, command)


@pytest.mark.parametrize("command", list(output_folder.FILES))
def test_help_names_every_file(wordline: Command, command: str) -> None:
    page = wordline(*command.split(), "--help").stdout
    assert not [name for name in output_folder.FILES[command] if name not in page]


def test_an_error_names_the_command_that_wrote_a_folder(
    calls: dict[str, Callable[[str], int]],
) -> None:
    assert calls["cache"]("there") == 0
    with pytest.raises(WordlineError, match=r"results of `wordline cache`, which `wordline run`"):
        output_folder.check("there", "run")


def test_an_undeclared_file_is_an_error() -> None:
    writers = dict.fromkeys(("summary.json", "cache.parquet", "notes.txt"), str)
    with pytest.raises(ValueError, match=r"^wordline cache does not write notes\.txt$"):
        output_folder.write("here", writers, "cache")


def test_a_missing_file_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"^wordline cache always writes cache\.parquet; "):
        output_folder.write("here", {"summary.json": str}, "cache")


def test_trims_have_separate_response_times(wordline: Command, place: Path) -> None:
    load = {"requests": 8, "trim_ratio": 1.0, "trim_bytes": 1 << 24, "align_bytes": 1 << 24}
    options = ["--set", "ftl.trim.answer=erase", "--out", str(place / "out"), "--requests"]
    for key, value in load.items():
        options += ["--set", f"workload.{key}={value}"]
    answer = wordline("run", "demo", *options)
    assert answer.returncode == 0, answer.stderr
    shown = next(line for line in answer.stdout.splitlines() if "Latency" in line)
    assert shown.split() == ["Latency", "trim"], "the run has TRIMs only"
    summary = json.loads((place / "out/summary.json").read_text())
    rows = pl.read_parquet(place / "out/requests.parquet")
    assert rows["op"].cast(pl.String).unique().to_list() == ["trim"]
    found = summary["latency"]["trim"]
    assert found["count"] == len(rows) == 8
    times = [ps / 1e6 for ps in rows["latency_ps"].to_list()]
    assert found["mean_us"] == pytest.approx(sum(times) / 8)
    assert found["max_us"] == pytest.approx(max(times))
    # A TRIM of this range erases at least one full block, which takes time.
    assert found["max_us"] >= 1500
    assert summary["latency"]["all"]["count"] == 0
