"""Simulations of replacement policies over a trace, from Python and the command line."""

import json
import signal
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import polars as pl
import pytest
import zipf
from conftest import Command, environment, msr
from test_report import needs_browser, opened

import wordline as package
from wordline._caching.cache import CacheInput, CacheRun, CacheSummary

BUNDLED = Path(__file__).parents[2] / "traces" / "postgresql-mixed.csv.gz"
# Hits in the first 10,000,000 requests, as public simulators report them.
PUBLISHED = {
    "lru": (5_632_348, 7_538_588, 8_889_420),
    "fifo": (5_281_005, 7_231_162, 8_711_632),
    "arc:p=real": (6_417_156, 7_927_995, 8_943_724),
    "arc:p=integer": (6_417_156, 7_927_876, 8_942_080),
}
SIZES = (7_632, 76_327, 381_637)


def done(answer: subprocess.CompletedProcess[str]) -> str:
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def hits_by_hand(keys: list[int], capacity: int, *, recency: bool) -> int:
    """Returns the hits of LRU or FIFO, computed with an ordered dictionary."""
    cache: OrderedDict[int, None] = OrderedDict()
    hits = 0
    for key in keys:
        if key in cache:
            hits += 1
            if recency:
                cache.move_to_end(key)
            continue
        if len(cache) == capacity:
            cache.popitem(last=False)
        cache[key] = None
    return hits


@pytest.mark.slow
def test_hits_match_published_counts(place: Path) -> None:
    trace = zipf.keys32le(place / "zipf.bin", 10_000_000)
    result = package.cache(trace, list(PUBLISHED), list(SIZES))
    found = {
        name: tuple(run["hits"] for run in result.runs if run["policy"] == name)
        for name in PUBLISHED
    }
    assert found == PUBLISHED
    assert result.summary["input"]["distinct_pages"] == 763_274


WRITERS = [zipf.keys32le, zipf.keys64le, zipf.oracle_general]


@pytest.mark.parametrize("write", WRITERS)
def test_hits_of_a_prefix_match_a_reference_model(
    place: Path, write: Callable[[Path, int], Path]
) -> None:
    keys = zipf.keys(100_000).tolist()
    trace = write(place / "zipf.bin", 100_000)
    result = package.cache(trace, "lru,fifo", ["100p", "1%", "10%"])
    assert result.summary["input"]["distinct_pages"] == len(set(keys))
    for run in result.runs:
        recency = run["policy"] == "lru"
        assert run["hits"] == hits_by_hand(keys, run["size_pages"], recency=recency)


def test_key_trace_formats_are_detected(place: Path) -> None:
    for write, name in zip(WRITERS, ["keys32le", "keys64le", "oracle-general"], strict=True):
        trace = write(place / "zipf.bin", 10_000)
        result = package.cache(trace, "lru", 10)
        assert [file["format"] for file in result.summary["input"]["files"]] == [name]


def test_reads_and_writes_are_counted_separately(trace: str) -> None:
    (run,) = package.cache(trace, "lru", "10%").runs
    assert run["reads"] + run["writes"] == run["requests"]
    assert run["hits"] == run["read_hits"] + run["write_hits"]
    assert run["read_miss_ratio"] == (run["reads"] - run["read_hits"]) / run["reads"]
    assert run["write_miss_ratio"] == (run["writes"] - run["write_hits"]) / run["writes"]
    assert 0 < run["write_backs"] <= min(run["writes"], run["evictions"])
    assert run["evictions"] == run["misses"] - run["size_pages"]


def test_trims_remove_pages() -> None:
    result = package.cache(BUNDLED, "unbounded", 1)
    told = result.summary["input"]
    assert told["trims"] > 0
    assert told["pages_trimmed"] > 0
    # A page misses on its first access, and may miss once more after each trim.
    (run,) = result.runs
    assert told["distinct_pages"] < run["misses"] <= told["distinct_pages"] + told["pages_trimmed"]


def test_no_policy_exceeds_the_upper_bounds() -> None:
    result = package.cache(BUNDLED, "all", ["1%", "30%"])
    for size in {run["size_pages"] for run in result.runs}:
        hits = {run["policy"]: run["hits"] for run in result.runs if run["size_pages"] == size}
        assert len(hits) >= 11
        assert max(hits.values()) == hits["unbounded"]
        assert max(count for name, count in hits.items() if name != "unbounded") == hits["belady"]


def test_sizes_are_pages_bytes_or_shares() -> None:
    sizes = [100, "100p", 0.01, "1%", "1MiB", "1MB"]
    result = package.cache(BUNDLED, "lru", sizes)
    footprint = result.summary["input"]["distinct_pages"]
    assert [run["size_pages"] for run in result.runs] == sorted({100, footprint // 100, 256, 244})
    large = package.cache(BUNDLED, "lru", "1MiB", page_bytes=16384)
    assert [run["size_pages"] for run in large.runs] == [64]


def test_results_match_their_types() -> None:
    summary = package.cache(BUNDLED, "lru", "1%").summary
    assert summary.keys() == get_type_hints(CacheSummary).keys()
    assert summary["input"].keys() == get_type_hints(CacheInput).keys()
    assert summary["runs"][0].keys() == get_type_hints(CacheRun).keys() - {"flash"}


def test_the_table_has_a_row_for_each_run() -> None:
    result = package.cache(BUNDLED, ["lru", "arc:p=integer"], ["1%", "10%"])
    table = result.table.polars()
    assert table.to_dicts() == result.runs
    assert "4 runs" in repr(result)


def test_the_results_folder_has_summary_table_and_report(wordline: Command, trace: str) -> None:
    output = done(wordline("cache", trace, "lru,fifo", "5%,50%", "--out", "here", "--json"))
    assert {path.name for path in Path("here").iterdir()} == {
        "summary.json",
        "cache.parquet",
        "checksums.json",
        "report.html",
    }
    assert json.loads(output) == json.loads(Path("here/summary.json").read_text())
    assert pl.read_parquet("here/cache.parquet").height == 4
    before = Path("here/report.html").read_text()
    done(wordline("report", "here"))
    assert Path("here/report.html").read_text() == before
    done(wordline("cache", trace, "lru", "5%", "--out", "here"))
    assert pl.read_parquet("here/cache.parquet").height == 1


def test_the_terminal_shows_the_requested_runs(wordline: Command, trace: str) -> None:
    output = done(wordline("cache", trace, "lru,belady", "5%,50%"))
    for word in ("disk.csv", "2,000 requests", "distinct", "of reads", "written back", "belady"):
        assert word in output
    assert "lru" in done(wordline("cache", trace))


@pytest.mark.parametrize(
    ("policies", "sizes"),
    [("lru", ["1000000000p", "1p"]), ("lru,two-q:in_ratio=0.3:out_ratio=0.6", ["1%"])],
)
def test_a_narrow_terminal_truncates_no_number(
    place: Path, trace: str, policies: str, sizes: list[str]
) -> None:
    told = done(
        subprocess.run(
            [sys.executable, "-m", "wordline", "cache", trace, policies, ",".join(sizes)],
            cwd=place,
            env=environment() | {"COLUMNS": "80"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    )
    assert all(len(line) <= 80 for line in told.splitlines())
    for run in package.cache(trace, policies, sizes).runs:
        assert f"{run['write_backs']:,} " in told
        assert f"{run['hits']:,} " in told


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        (["lruu"], "unknown policy; did you mean lru?"),
        (["lcr"], "the policy needs the state of the flash, which a trace does not contain"),
        (["1%"], "this is a size; put a policy before the size"),
        (["arc:q=1"], "unknown parameter `q`; use a parameter of arc: p"),
        (["lru", "4096"], "size `4096`: the unit is missing; give pages (4096p)"),
        (["lru", "1%", "--page-bytes", "1"], "--page-bytes: 1 is not between 512 and"),
        (["lru", "1%", "--out", "."], "cannot be replaced"),
        (["lru", "1%", "--format", "csv"], "format: 'csv' is not one of"),
    ],
)
def test_errors_are_one_line_with_a_remedy(
    wordline: Command, trace: str, args: list[str], fault: str
) -> None:
    answer = wordline("cache", trace, *args)
    assert answer.returncode == 2
    assert answer.stdout == ""
    assert answer.stderr.count("\n") == 1
    assert fault in answer.stderr


def test_errors_in_a_trace_name_file_and_line(wordline: Command, place: Path) -> None:
    answer = wordline("cache", "absent.csv")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("error: absent.csv: the file cannot be opened")
    (place / "disk.csv").write_text(msr(100) + "rubbish\n")
    answer = wordline("cache", "disk.csv", "lru", "10p")
    assert answer.stderr.startswith("error: disk.csv:101: ")
    output = done(wordline("cache", "disk.csv", "lru", "10p", "--on-bad-line", "skip"))
    assert "1 bad lines were skipped; the first of them: disk.csv:101" in output.replace("\n", " ")


@pytest.mark.parametrize("words", [["cache", "t.csv", "lru", "2p"], ["mrc", "t.csv"]])
def test_traces_need_no_valid_times_unless_they_are_sorted(
    wordline: Command, place: Path, words: list[str]
) -> None:
    rows = [f"{time},read,{4096 * n},4096,0\n" for n, time in enumerate(["", "-5", "9" * 30, "1"])]
    (place / "t.csv").write_text("time_ns,op,offset_bytes,size_bytes,volume\n" + "".join(rows))
    told = json.loads(done(wordline(*words, "--json")))
    assert (told["input"]["requests"], told["input"]["lines_skipped"]) == (4, 0)
    answer = wordline(*words, "--time-order", "sort")
    assert answer.stderr.startswith("error: t.csv:2: column 1: the time is empty")


def test_wrong_types_are_type_errors() -> None:
    for wrong in (5, ["lru", 5]):
        with pytest.raises(TypeError):
            package.cache(BUNDLED, wrong)  # pyright: ignore[reportArgumentType]
    for wrong in (True, [None]):
        with pytest.raises(TypeError, match="a size must be a string or a number"):
            package.cache(BUNDLED, "lru", wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(package.WordlineError, match="no policy is named"):
        package.cache(BUNDLED, "")
    with pytest.raises(package.WordlineError, match="no size is given"):
        package.cache(BUNDLED, "lru", [])
    with pytest.raises(package.WordlineError, match="the size does not begin with a number"):
        package.cache(BUNDLED, "lru", -3)


def test_requests_can_be_limited(trace: str) -> None:
    result = package.cache(trace, "lru", "10p", max_requests=10)
    assert result.summary["input"]["requests"] == 10


def test_progress_is_reported_and_its_exceptions_end_the_call(trace: str) -> None:
    heard: list[package.CacheProgress] = []
    package.cache(trace, "lru,fifo", "10p", progress=heard.append)
    assert [state["phase"] for state in heard if state["phase"] != "read"] == [
        "lru, 10 pages",
        "fifo, 10 pages",
    ]

    def stop(_: package.CacheProgress) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        package.cache(trace, "lru", "10p", progress=stop)


@pytest.mark.parametrize(
    "command",
    [
        ["cache", "zipf.bin", "all", "1%,2%,3%,10%,20%,30%,50%"],
        ["mrc", "zipf.bin", "--accuracy", "--rate", "1"],
    ],
)
def test_ctrl_c_writes_nothing(place: Path, command: list[str]) -> None:
    zipf.keys32le(place / "zipf.bin", 5_000_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "wordline", *command, "--out", "here"],
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert output.strip() == ""
    assert errors.strip() == "error: interrupted; nothing was written"
    assert not Path("here").exists()


@needs_browser
@pytest.mark.parametrize(
    ("reads", "drawn"), [(0.5, "4/4"), (1.0, "1/1"), (0.0, "2/2")], ids=["mixed", "reads", "writes"]
)
def test_every_chart_is_drawn(place: Path, tmp_path: Path, reads: float, drawn: str) -> None:
    (place / "disk.csv").write_text(msr(2000, reads=reads))
    page = package.cache("disk.csv", "all", ["1p", "10%", "50%"]).report("page.html")
    seen = opened(page, tmp_path / "profile")
    assert (seen.charts, seen.fault) == (drawn, None)
