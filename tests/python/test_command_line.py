"""The command line: help, presets, output files and exit codes."""

import json
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import polars as pl
import pytest
from conftest import Command, environment, msr

import wordline as package
from wordline import cli
from wordline.cli import app

RESULTS = {
    "summary.json",
    "config.resolved.toml",
    "series.parquet",
    "dies.parquet",
    "latency.parquet",
    "blocks.parquet",
    "wear.parquet",
    "checksums.json",
    "report.html",
}


def done(answer: subprocess.CompletedProcess[str]) -> str:
    assert answer.returncode == 0, answer.stderr
    assert "Traceback" not in answer.stderr
    return answer.stdout


@pytest.mark.parametrize(
    "command",
    [
        "",
        "run",
        "trace",
        "trace stat",
        "trace convert",
        "trace formats",
        "policies",
        "devices",
        "cache",
        "calibrate",
        "mrc",
        "plan-cache",
        "config",
        "config check",
        "config schema",
        "config show",
        "bench",
        "growth",
        "lab",
        "report",
    ],
)
def test_help_of_commands_has_examples(wordline: Command, command: str) -> None:
    page = done(wordline(*command.split(), "--help"))
    assert page.startswith(f"Usage: {' '.join(['wordline', *command.split()])}")
    assert "wordline " in page.split("Options:")[0].replace("Usage: wordline", "")


def commands(group: click.Group, path: str = "") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, f"{path}{name} ")
        else:
            yield f"{path}{name}", command


@pytest.mark.parametrize(
    ("name", "option"),
    [
        (name, option.opts[-1])
        for name, command in commands(app.cli)
        for option in [one for one in command.params if isinstance(one, click.Option)]
        if not option.is_flag and option.opts[-1].startswith("--")
    ],
)
def test_an_option_without_its_value_refers_to_the_help(
    place: Path, capsys: pytest.CaptureFixture[str], name: str, option: str
) -> None:
    assert cli.main([*name.split(), option]) == 2
    said = capsys.readouterr().err
    assert f"'{option}' requires an argument; see `wordline {name} --help`" in said
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version_option_prints_the_installed_version(wordline: Command, option: str) -> None:
    assert done(wordline(option)) == f"wordline {package.__version__}\n"


@pytest.mark.parametrize("name", ["", "trace", "config"])
def test_a_group_without_a_command_prints_its_help(wordline: Command, name: str) -> None:
    words = name.split()
    assert done(wordline(*words)) == done(wordline(*words, "--help"))


def test_lines_of_help_fit_into_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in ([], ["trace"], ["config"]):
        monkeypatch.setenv("COLUMNS", "80")
        assert cli.main([*words, "--help"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= 80
        assert not [line for line in lines if line.endswith("...") and "ARGS" not in line]
    for name, one in commands(app.cli):
        assert not one.get_short_help_str(app.SHORT).endswith("..."), name
        assert cli.main([*name.split(), "--help"]) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80, name


def test_the_help_lists_every_command_under_its_task(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["--help"]) == 0
    page = capsys.readouterr().out
    listed = [name for names in app.TASKS.values() for name in names]
    assert sorted(listed) == sorted(app.cli.commands)
    for task, names in app.TASKS.items():
        (section,) = [part for part in page.split("\n\n") if part.startswith(f"{task}:")]
        assert [line.split()[0] for line in section.splitlines()[1:]] == list(names)


@pytest.mark.parametrize("columns", ["80", "120"])
def test_devices_are_listed_by_kind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert cli.main(["devices"]) == 0
    page = capsys.readouterr().out
    parts = [part.strip() for part in re.split(r"\n *\n", page) if part.strip()]
    kinds = [part.split("\n")[0].strip() for part in parts]
    assert kinds == ["SSDs", "Arrays of SSDs", "Packages", "Hard disks", "Flash in front of disks"]
    where = {
        line.split()[0]: kind
        for kind, part in zip(kinds, parts, strict=True)
        for line in part.splitlines()[2:]
        if line[1:2] != " "
    }
    assert set(where) == {one["name"] for one in package.presets()}
    for name, kind in {
        "d4": "SSDs",
        "jung2013-gc-3ssd": "Arrays of SSDs",
        "jung2013-slc": "Packages",
        "nearline-7200": "Hard disks",
        "demo-store": "Flash in front of disks",
    }.items():
        assert where[name] == kind
    words = " ".join(page.split())
    for one in package.presets():
        first = one["description"].split(". ")[0].removesuffix(".")
        assert " ".join(first.split()) in words, one["name"]


def test_a_preset_name_takes_precedence_over_a_file(wordline: Command, place: Path) -> None:
    (place / "demo").mkdir()
    (place / "d4").write_text("no TOML")
    for name in ("demo", "d4"):
        assert f"{name}: is valid" in done(wordline("config", "check", name))
    assert "is a folder" in wordline("config", "check", "./demo").stderr
    assert "./d4:1" in wordline("config", "check", "./d4").stderr


def test_a_file_without_a_preset_name_needs_no_extension(
    wordline: Command, place: Path, tiny: str
) -> None:
    (place / tiny).rename(place / "mine")
    assert "mine: is valid" in done(wordline("config", "check", "mine"))


@pytest.mark.parametrize("read_by", [[], ["--"]], ids=["argv", "click"])
def test_a_quiet_run_prints_errors_only(
    wordline: Command, tiny: str, trace: str, read_by: list[str]
) -> None:
    run = ("run", tiny, "--trace", trace, "--quiet", "--no-report", "--out", "here")
    answer = wordline(*run, *read_by)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")
    assert Path("here/summary.json").exists()
    assert json.loads(done(wordline(*run, "--json", *read_by)))["input"]["requests"] == 2000
    wrong = wordline("run", tiny, "--trace", "absent.csv", "--quiet", *read_by)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("error: ")


@pytest.mark.parametrize(
    "words",
    [
        "trace convert disk.csv mine.spc --to spc",
        "trace convert disk.csv - --to msr",
        "cache disk.csv lru 1%",
        "mrc disk.csv",
        "prepare tiny.toml -o a.wls",
        "config check tiny.toml",
    ],
)
@pytest.mark.usefixtures("tiny", "trace")
def test_quiet_commands_print_nothing(wordline: Command, words: str) -> None:
    loud = wordline(*words.split())
    assert done(loud) + loud.stderr
    answer = wordline(*words.split(), "-q")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert answer.stdout == (loud.stdout if " - " in words else "")


@pytest.mark.parametrize(
    ("shell", "says"),
    [
        ("bash", "complete -o nosort -F"),
        ("zsh", "#compdef wordline"),
        ("fish", "complete --no-files --command wordline"),
    ],
)
def test_a_shell_completes_commands_and_options(wordline: Command, shell: str, says: str) -> None:
    def asked(how: str, words: str, word: str, place: int) -> str:
        more = {
            "_WORDLINE_COMPLETE": f"{shell}_{how}",
            "COMP_WORDS": words,
            "COMP_CWORD": str(place) if shell != "fish" else word,
        }
        return done(wordline(env=environment() | more))

    assert says in asked("source", "", "", 0)
    assert "sweep-report" in asked("complete", "wordline swe", "swe", 1)
    assert "--max-requests" in asked("complete", "wordline run d4 --max", "--max", 3)
    assert "nearline-7200" in asked("complete", "wordline run nea", "nea", 2)


def test_the_middle_of_a_long_message_is_left_out(wordline: Command, tiny: str) -> None:
    failed = wordline("run", tiny, "--out", "a/" * 3_000)
    assert failed.returncode == 2
    assert len(failed.stderr) < 2_050
    assert " ... " in failed.stderr
    assert failed.stderr.endswith("cannot be written: File name too long; choose a shorter name\n")


def test_help_is_fast() -> None:
    command = [sys.executable, "-m", "wordline", "--help"]
    took: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run(command, capture_output=True, check=True)
        took.append(time.perf_counter() - start)
    # Help takes 150 ms on an idle machine. The margin allows for other tests that run.
    assert statistics.median(took) < 0.6


def test_run_writes_the_documented_files(wordline: Command, tiny: str, trace: str) -> None:
    output = done(wordline("run", tiny, "--trace", trace))
    folder = Path("out/tiny-disk")
    assert {path.name for path in folder.iterdir()} == RESULTS
    assert str(folder / "report.html") in output
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["input"]["requests"] == 2000
    assert summary["partial"] is False
    assert not list(Path().glob("**/.*"))


def test_the_summary_has_the_main_metrics(wordline: Command, tiny: str, trace: str) -> None:
    output = done(wordline("run", tiny, "--trace", trace))
    for word in (
        "tiny",
        "disk.csv",
        "2,000 requests",
        "p99",
        "IOPS",
        "write amplification",
        "seed",
    ):
        assert word.lower() in output.lower(), word


def test_request_rows_are_written_on_demand(wordline: Command, tiny: str, trace: str) -> None:
    done(wordline("run", tiny, "--trace", trace, "--requests", "--no-report", "--out", "here"))
    assert {path.name for path in Path("here").iterdir()} == RESULTS - {"report.html"} | {
        "requests.parquet"
    }
    rows = pl.read_parquet("here/requests.parquet")
    parts = [
        "host_queue_ps",
        "link_wait_ps",
        "link_ps",
        "queue_ps",
        "die_wait_ps",
        "bus_wait_ps",
        "bus_ps",
        "cell_ps",
        "gc_ps",
    ]
    assert rows.height == 2000
    assert (rows["latency_ps"] == rows.select(pl.sum_horizontal(parts)).to_series()).all()


def test_json_output_equals_the_summary_file(wordline: Command, tiny: str, trace: str) -> None:
    output = done(wordline("run", tiny, "--trace", trace, "--json", "--out", "here"))
    assert json.loads(output) == json.loads(Path("here/summary.json").read_text())


def test_same_inputs_give_the_same_digest_in_two_processes(
    wordline: Command, tiny: str, trace: str
) -> None:
    first, second, other = (
        json.loads(done(wordline("run", tiny, "--trace", trace, "--json", "--no-report", *more)))
        for more in ([], [], ["--max-requests", "1999"])
    )
    assert first["digest"] == second["digest"] != other["digest"]


def test_the_resolved_configuration_reproduces_the_run(
    wordline: Command, tiny: str, trace: str
) -> None:
    done(wordline("run", tiny, "--trace", trace, "--set", "ftl.gc.victim=fifo", "--out", "a"))
    done(wordline("run", "a/config.resolved.toml", "--trace", trace, "--out", "b"))
    first, second = (json.loads(Path(name, "summary.json").read_text()) for name in "ab")
    assert first["digest"] == second["digest"]
    assert first["latency"] == second["latency"]


def test_each_run_without_out_gets_a_new_folder(wordline: Command, tiny: str, trace: str) -> None:
    for _ in range(3):
        done(wordline("run", tiny, "--trace", trace, "--no-report", "--max-requests", "10"))
    assert {path.name for path in Path("out").iterdir()} == {
        "tiny-disk",
        "tiny-disk-2",
        "tiny-disk-3",
    }


def test_a_run_replaces_a_former_result_but_no_other_files(
    wordline: Command, tiny: str, trace: str
) -> None:
    run = ("run", tiny, "--trace", trace, "--no-report", "--max-requests")
    done(wordline(*run, "10", "--out", "here"))
    done(wordline(*run, "20", "--out", "here"))
    assert json.loads(Path("here/summary.json").read_text())["input"]["requests"] == 20
    Path("here/thesis.tex").write_text("years of work")
    refused = wordline(*run, "30", "--out", "here")
    assert refused.returncode == 2
    assert "thesis.tex" in refused.stderr
    assert Path("here/thesis.tex").read_text() == "years of work"
    assert json.loads(Path("here/summary.json").read_text())["input"]["requests"] == 20


def test_several_traces_are_replayed_in_order(wordline: Command, tiny: str, place: Path) -> None:
    for name in "abc":
        (place / f"{name}.csv").write_text(msr(10))
    args = ["--trace", "b.csv", "c.csv", "--seed", "3", "--trace", "a.csv"]
    summary = json.loads(done(wordline("run", tiny, *args, "--json", "--no-report")))
    assert [Path(file["path"]).name for file in summary["input"]["files"]] == [
        "b.csv",
        "c.csv",
        "a.csv",
    ]
    assert summary["seed"] == 3


def test_generated_load_needs_no_trace(wordline: Command, tiny: str, place: Path) -> None:
    with (place / tiny).open("a") as file:
        file.write("\n[workload]\nrequests = 300\nread_ratio = 0.5\n")
    summary = json.loads(done(wordline("run", tiny, "--json", "--no-report")))
    assert summary["input"]["kind"] == "generated"
    assert summary["input"]["requests"] == 300
    assert Path("out/tiny-generated/summary.json").exists()


def test_verify_finds_no_error_during_gc(wordline: Command, tiny: str, place: Path) -> None:
    (place / "writes.csv").write_text(msr(20_000, reads=0.2))
    summary = json.loads(
        done(wordline("run", tiny, "--trace", "writes.csv", "--verify", "--json", "--no-report"))
    )
    assert summary["flash"]["gc_runs"] > 0
    assert summary["flash"]["write_amplification"] > 1


def test_progress_is_shown_only_on_request_or_on_a_terminal(
    wordline: Command, tiny: str, trace: str
) -> None:
    assert wordline("run", tiny, "--trace", trace, "--no-report").stderr == ""
    assert wordline("run", tiny, "--trace", trace, "--no-report", "--progress").stderr != ""


def test_the_report_can_be_rebuilt_from_the_folder(
    wordline: Command, tiny: str, trace: str
) -> None:
    done(wordline("run", tiny, "--trace", trace, "--out", "here"))
    page = Path("here/report.html").read_bytes()
    Path("here/report.html").unlink()
    done(wordline("report", "here"))
    assert Path("here/report.html").read_bytes() == page
    done(wordline("report", "here", "--out", "elsewhere.html"))
    assert Path("elsewhere.html").read_bytes() == page


def test_trace_stat_counts_requests(wordline: Command, trace: str) -> None:
    answer = json.loads(done(wordline("trace", "stat", trace, "--json")))
    lines = Path(trace).read_text().splitlines()
    assert answer["requests"] == len(lines)
    assert answer["reads"] == sum(",Read," in line for line in lines)
    assert "2,000" in done(wordline("trace", "stat", trace))


def test_trace_stat_measures_idle_periods(wordline: Command, place: Path) -> None:
    lines = ["time_ns,op,offset_bytes,size_bytes,volume"]
    # One page read in 100 us, two pages programmed in 400 us: idle for 50 us, busy, idle for 3 s.
    lines += ["0,read,0,4096,0", "150000,write,0,4097,0", "550000,flush,0,0,0"]
    lines += ["3000550000,read,0,512,0"]
    (place / "mine.csv").write_text("\n".join(lines) + "\n")
    device = ("--page-read-us", "100", "--page-program-us", "200")
    stat = ("trace", "stat", "mine.csv")
    idle = json.loads(done(wordline(*stat, "--json", *device)))["idle"]
    assert idle["back_to_back"]["intervals"] == 1
    assert (idle["short"]["intervals"], idle["short"]["total_s"]) == (1, 50e-6)
    assert (idle["long"]["intervals"], idle["long"]["total_s"]) == (1, 3)
    assert idle["longest_s"] == 3
    patient = json.loads(done(wordline(*stat, "--json", *device, "--idle-threshold-s", "4")))
    assert (patient["idle"]["short"]["intervals"], patient["idle"]["long"]["p50_ms"]) == (2, None)
    plain = json.loads(done(wordline(*stat, "--json")))["idle"]
    assert plain["back_to_back"]["intervals"] == 0
    assert plain["short"]["total_s"] == 550e-6
    assert "idle periods" in done(wordline(*stat))
    fault = wordline(*stat, "--page-read-us", "-1")
    assert fault.returncode != 0
    assert fault.stderr.startswith("error: --page-read-us: -1 is not between 0 and ")


def test_a_conversion_reports_dropped_trims(wordline: Command, place: Path) -> None:
    head = "time_ns,op,offset_bytes,size_bytes,volume\n"
    (place / "mine.csv").write_text(head + "0,write,0,4096,0\n5,trim,0,4096,0\n9,flush,0,0,0\n")
    kept = done(wordline("trace", "convert", "mine.csv", "mine.iolog", "--to", "fio-iolog"))
    assert "3 requests" in kept
    assert "left out" not in kept
    dropped = done(wordline("trace", "convert", "mine.csv", "mine.spc", "--to", "spc"))
    assert "1 TRIMs were left out:" in dropped
    assert "1 flushes were left out:" in dropped


def test_a_converted_trace_gives_the_same_results(wordline: Command, tiny: str, trace: str) -> None:
    refused = wordline("trace", "convert", trace, "disk.vscsi", "--to", "vscsi").stderr
    known = refused.strip().split("choose one of the formats ")[1].split(", ")
    assert {"wordline", "msr", "spc"} <= set(known)
    for name in known:
        done(wordline("trace", "convert", trace, f"disk.{name}", "--to", name))
        run = ("--json", "--no-report", "--format")
        ours = json.loads(done(wordline("run", tiny, "--trace", f"disk.{name}", *run, name)))
        theirs = json.loads(done(wordline("run", tiny, "--trace", trace, *run, "msr")))
        assert ours["input"]["requests"] == theirs["input"]["requests"]
        assert ours["input"]["read_bytes"] == theirs["input"]["read_bytes"]
        assert ours["latency"] == theirs["latency"]


def test_a_bundled_device_can_be_copied_and_edited(wordline: Command, place: Path) -> None:
    assert "d4" in done(wordline("devices"))
    (place / "mine.toml").write_text(done(wordline("devices", "d4")))
    assert "is valid" in done(wordline("config", "check", "mine.toml"))
    shown = done(wordline("config", "show", "d4", "--set", "ftl.gc.victim=fifo"))
    assert "fifo" in shown
    (place / "shown.toml").write_text(shown)
    assert done(wordline("config", "show", "shown.toml")) == shown


def test_the_schema_is_valid_json_schema(wordline: Command) -> None:
    schema = json.loads(done(wordline("config", "schema")))
    assert {"nand", "ssd", "ftl", "workload"} <= set(schema["properties"])


def test_policies_list_their_papers(wordline: Command) -> None:
    everything = done(wordline("policies"))
    one = done(wordline("policies", "ftl.gc.victim"))
    assert "greedy" in one
    assert "d-choices" in one
    assert one in everything


def test_bench_measures_the_whole_process(wordline: Command) -> None:
    (measure,) = json.loads(done(wordline("bench", "sw128k", "--json")))
    assert measure["work"] == "sw128k"
    assert measure["requests"] == 80_000
    assert measure["cpu_s"] > 0
    assert measure["peak_memory_bytes"] > 2**20
    assert measure["requests_per_cpu_s"] == pytest.approx(80_000 / measure["cpu_s"], rel=0.01)


@pytest.mark.parametrize("read_by", [[], ["--"]], ids=["argv", "click"])
def test_closed_standard_streams_cause_no_error_and_mix_no_output(
    place: Path, tiny: str, read_by: list[str]
) -> None:
    """`2>&-` must not move errors to standard output, and `>&-` is not an error."""

    def run(closed: str, *args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                "sh",
                "-c",
                f'exec "$@" {closed}',
                "sh",
                sys.executable,
                "-m",
                "wordline",
                "run",
                *args,
                *read_by,
            ],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )

    known = (tiny, "--set", "workload.requests=10", "--no-report")
    assert json.loads(run("2>&-", *known, "--json").stdout)["input"]["requests"] == 10
    for closed in (">&-", ">&- 2>&-", "<&- >&- 2>&-"):
        ended = run(closed, *known)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    unknown = run("2>&-", "no such device")
    assert (unknown.returncode, unknown.stdout) == (2, "")


@pytest.mark.parametrize("name", [b"d4\xff", b"d4\xff.toml"])
def test_a_device_name_that_is_not_unicode_is_an_error(wordline: Command, name: bytes) -> None:
    answer = wordline("run", os.fsdecode(name))
    assert answer.returncode == 2
    assert (
        answer.stderr
        == f"error: device: {os.fsdecode(name)!r} is not valid Unicode; replace the invalid "
        "characters\n"
    )
