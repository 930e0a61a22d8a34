"""Arithmetic and table of `wordline bench`, with synthetic measurements."""

import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Command

from wordline import WordlineError, _wordline, cli
from wordline._dev import bench
from wordline._dev.bench import Machine, Measure, Run
from wordline._render.terminal.benchmarks import print_bench

RATE = '[{"work": "rr4k", "peak_memory_bytes": 1, "rates": [{"unit": "r", "per_cpu_s": %s}]}]'
MACHINE = Machine(event_ns=10.0, access_ns=50.0)


def run(cpu_s: float = 3.0, precondition_cpu_s: float = 1.0, **flash: int) -> Run:
    """Returns a run of 1000 requests of one page, with 3000 events."""
    counts = {
        "host_page_writes": 0,
        "page_reads": 0,
        "page_programs": 0,
        "erases": 0,
        "gc_pages_moved": 0,
        "own_page_reads": 0,
    } | flash
    summary: dict[str, Any] = {
        "digest": "d",
        "device": {"dies": 32, "user_bytes": 4096 * 1000, "page_bytes": 4096},
        "input": {"requests": 1000, "writes": counts["host_page_writes"]},
        "flash": counts,
        "precondition": {
            "pages_filled": 5000,
            "pages_overwritten": 2000,
            "pages_moved": 3000,
            "erases": 100,
        },
        "speed": {
            "cpu_s": cpu_s - 0.5,
            "precondition_cpu_s": precondition_cpu_s,
            "events": 3000,
            "requests_per_cpu_s": 400.0,
            "wall_s": 4.0,
        },
    }
    return Run(summary, cpu_s, 1 << 20)


def measure(name: str, one: Run | None = None) -> Measure:
    return bench.measure(bench.WORKS[name], one or run(), MACHINE)


def test_rates_include_the_cpu_time_of_the_whole_process() -> None:
    (rate,) = measure("rr4k", run(page_reads=1000))["rates"]
    assert (rate["unit"], rate["count"], rate["cpu_s"]) == ("requests", 1000, 3.0)
    assert rate["per_cpu_s"] == pytest.approx(1000 / 3.0, abs=0.1)
    assert rate["model_per_cpu_s"] == pytest.approx(1000 / 2.5, abs=0.1)
    # Three events and two random accesses per request.
    assert rate["limit_per_cpu_s"] == pytest.approx(1e9 / (3 * 10 + 2 * 50), rel=1e-6)


def test_preconditioning_of_steady_state_writes_is_counted_separately() -> None:
    writes, operations, prepared = measure(
        "rw4k",
        run(
            host_page_writes=1000, page_reads=500, page_programs=1500, erases=20, gc_pages_moved=500
        ),
    )["rates"]
    assert writes["count"] == 1000
    assert writes["cpu_s"] == operations["cpu_s"] == 2.0
    assert writes["per_cpu_s"] == 500
    assert operations["count"] == 2020
    assert operations["per_cpu_s"] == 1010
    least_s = (3000 * 10 + (1000 * 4 + 500 * 2 + 20) * 50) * 1e-9
    assert writes["limit_per_cpu_s"] == pytest.approx(1000 / least_s, rel=1e-6)
    assert operations["limit_per_cpu_s"] == pytest.approx(2020 / least_s, rel=1e-6)
    assert (prepared["unit"], prepared["count"]) == (bench.PRECONDITION, 10_000)
    assert (prepared["cpu_s"], prepared["per_cpu_s"]) == (1.0, 10_000)
    least_s = (2000 * 4 + 3000 * 2 + 100) * 50e-9
    assert prepared["limit_per_cpu_s"] == pytest.approx(10_000 / least_s, rel=1e-6)


def test_sequential_writes_do_not_wait_for_memory() -> None:
    (rate,) = measure("sw128k", run(host_page_writes=32_000, page_programs=32_000))["rates"]
    assert (rate["unit"], rate["count"], rate["cpu_s"]) == ("pages", 32_000, 3.0)
    assert rate["limit_per_cpu_s"] == pytest.approx(32_000 / (3000 * 10e-9), rel=1e-6)


def test_a_summary_without_the_time_of_preconditioning_is_an_error() -> None:
    one = run()
    del one.summary["speed"]["precondition_cpu_s"]
    with pytest.raises(KeyError):
        measure("rw4k", one)


def test_a_record_provides_the_previous_results_and_keeps_other_workloads(tmp_path: Path) -> None:
    record = tmp_path / "out" / "bench.json"
    assert bench.read_record(record) == []
    first = [measure("rr4k", run(cpu_s=2.0)), measure("sw128k")]
    bench.write_record(record, first, [])
    assert bench.read_record(record) == first
    second = [measure("rr4k", run(cpu_s=1.0)), measure("rw4k")]
    bench.compare(second, bench.read_record(record))
    assert second[0]["rates"][0]["previous_per_cpu_s"] == first[0]["rates"][0]["per_cpu_s"]
    assert second[0]["previous_peak_memory_bytes"] == 1 << 20
    assert second[1]["rates"][0]["previous_per_cpu_s"] is None
    bench.write_record(record, second, first)
    works = [one["work"] for one in bench.read_record(record)]
    assert works == ["sw128k", "rr4k", "rw4k"]
    assert [path.name for path in record.parent.iterdir()] == ["bench.json"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "3",
        '{"a": 1}',
        "[1]",
        '[{"work": "rr4k"}]',
        "\xff",
        RATE % "NaN",
        RATE % "Infinity",
    ],
)
def test_a_damaged_record_is_an_error_and_stays_unchanged(wordline: Command, text: str) -> None:
    Path("record.json").write_text(text, encoding="latin-1")
    answer = wordline("bench", "rr4k", "--record", "record.json")
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: record.json: is not a record of `wordline bench`")
    assert Path("record.json").read_text(encoding="latin-1") == text


@pytest.mark.parametrize("record", ["/proc/here/record.json", "file/record.json"])
def test_an_unwritable_record_is_reported_before_any_measurement(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], record: str
) -> None:
    (place / "file").touch()
    monkeypatch.setattr(bench, "measured", lambda *_: pytest.fail("measured"))
    assert cli.main(["bench", "rr4k", "--record", record]) == 2
    assert record in capsys.readouterr().err


def test_a_record_that_is_a_folder_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(WordlineError, match="cannot be read"):
        bench.read_record(tmp_path)


def test_the_table_has_a_row_for_each_rate(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    former = [measure("rr4k", run(cpu_s=4.0, page_reads=1000))]
    measures = [
        measure("rr4k", run(cpu_s=2.0, page_reads=1000)),
        measure("rw4k", run(host_page_writes=1000, page_programs=1000)),
        measure("sw128k", run(host_page_writes=3200)),
    ]
    bench.compare(measures, former)
    print_bench(measures, bench.titles(measures), bench.PRECONDITION)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [re.split(r"  +", line.strip()) for line in lines if line[:2].strip().isalpha()]
    assert rows == [
        ["per CPU second", "ours", "limit", "previous", "model", "memory"],
        ["rr4k: requests", "500", "7,692,308", "250", "667", "1.00 MiB"],
        ["rw4k: host writes", "500", "4,347,826", "–", "667", "1.00 MiB"],
        ["rw4k: flash operations", "500", "4,347,826", "–", "667"],
        ["precondition", "10,000", "14,184,397", "–"],
        ["sw128k: pages", "1,067", "106,666,667", "–", "1,280", "1.00 MiB"],
        ["peak memory", "1.00 MiB", "–", "–"],
    ]


@pytest.mark.parametrize(
    ("traces", "names"),
    [
        (["postgresql-mixed.csv.gz"], ["replay"]),
        (["postgresql-mixed.csv.gz", "b.csv"], ["replay 1", "replay 2"]),
    ],
)
def test_each_replay_has_one_row_in_the_table(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    traces: list[str],
    names: list[str],
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    works = bench.chosen(["replay"], traces)
    fast = run(cpu_s=0.001, page_reads=1000)
    fast.summary["speed"]["cpu_s"] = 0.000_9
    measures = [bench.measure(work, fast, MACHINE) for work in works]
    bench.compare(measures, measures)
    print_bench(measures, bench.titles(measures), bench.PRECONDITION)
    lines = capsys.readouterr().out.splitlines()
    rows = [re.split(r"  +", line.strip()) for line in lines if "requests" in line]
    assert [row[0] for row in rows] == [f"{name}: requests" for name in names]
    assert [len(row) for row in rows] == [6] * len(names)


@pytest.mark.parametrize(
    ("columns", "left"),
    [(60, ["ours", "limit", "previous", "model"]), (40, ["ours", "limit"])],
)
def test_a_narrow_terminal_leaves_columns_out(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    columns: int,
    left: list[str],
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    measures = [measure("sw128k", run(host_page_writes=3200))]
    print_bench(measures, bench.titles(measures), bench.PRECONDITION)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert re.findall("ours|limit|previous|model|memory", " ".join(lines[:3])) == left
    assert any(line.strip().startswith("sw128k: pages") for line in lines)


def test_a_workload_named_twice_is_measured_once(tmp_path: Path) -> None:
    trace = tmp_path / "a.csv"
    works = bench.chosen(["rr4k", "replay", "rr4k", "replay"], [str(trace)])
    assert [work.name for work in works] == ["rr4k", "replay a.csv"]
    assert str(trace) in works[1].arguments


def test_a_trace_is_passed_by_its_absolute_path(place: Path) -> None:
    (work,) = bench.chosen([], ["a.csv"])[len(bench.WORKS) :]
    assert str(place / "a.csv") in work.arguments


def test_machine_measurements_are_positive_and_reject_empty_input() -> None:
    assert _wordline.bench_queue(32, bench.DURATIONS_PS) > 0
    assert _wordline.bench_access(1000) > 0
    for waiting, durations in ((0, [1]), (1, [])):
        with pytest.raises(WordlineError):
            _wordline.bench_queue(waiting, durations)
    with pytest.raises(WordlineError):
        _wordline.bench_access(0)
