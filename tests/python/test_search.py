"""Searches find the known optimum within bounds, and continue after an interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars
import pytest
from browser import needs_browser, require_fits
from conftest import Command, environment, files_of, msr, of_this_process
from polars.testing import assert_frame_equal

import wordline
from wordline._api.figures import figures
from wordline._render.html import charts_of
from wordline._render.metric import metric
from wordline._search.goal import bound
from wordline._search.plan import require_figure

pytest.importorskip("optuna")

LOAD = """
[workload]
requests = 300
read_ratio = 0.5
arrival.poisson.iops = 1000
"""
# Reads are slowest with the slowest cells, regardless of the other keys.
VARY = {"nand.timing.read_ns": "20000:100000:20000", "host.queue_depth": [4, 32]}


@pytest.fixture
def device(tiny: str, place: Path) -> str:
    with (place / tiny).open("a") as file:
        file.write(LOAD)
    return tiny


def search(device: str, **more: Any) -> wordline.Search:
    given: dict[str, Any] = {"vary": VARY, "minimise": "latency.read.mean_us", "trials": 10}
    return wordline.search(device, **(given | more))


def test_a_grid_tries_every_combination_once_and_finds_the_best(device: str) -> None:
    found = search(device, sampler="grid", trials=50)
    table = found.table()
    assert table.height == 10
    assert table.select(list(VARY)).n_unique() == 10
    (best,) = found.best()
    assert best["nand.timing.read_ns"] == 20000
    for row in table.to_dicts():
        keys = {key: row[key] for key in VARY}
        summary = wordline.run(device, overrides=keys, requests=False).summary
        assert row["minimise latency.read.mean_us"] == summary["latency"]["read"]["mean_us"]
        assert row["digest"] == summary["digest"]


def test_bounds_exclude_trials_that_violate_them(device: str) -> None:
    found = search(
        device,
        sampler="grid",
        trials=50,
        maximise="nand.timing.read_ns",
        minimise=(),
        subject_to="latency.read.mean_us < 150",
    )
    (best,) = found.best()
    table = found.table()
    slow = [
        wordline.run(device, overrides={"nand.timing.read_ns": ns}, requests=False).summary
        for ns in (20000, 40000, 60000, 80000, 100000)
    ]
    within = [one["latency"]["read"]["mean_us"] < 150 for one in slow]
    assert True in within
    assert False in within
    assert best["nand.timing.read_ns"] == 20000 * sum(within)
    assert table.filter(~polars.col("feasible")).height > 0
    nothing = search(device, sampler="grid", subject_to="latency.read.mean_us < 0")
    assert nothing.best() == []
    with pytest.raises(wordline.WordlineError, match="no trial meets the bounds"):
        nothing.device()


BOUNDED = (
    "--minimise",
    "nand.timing.read_ns",
    "--subject-to",
    "latency.read.mean_us < 150",
    "--vary",
    "nand.timing.read_ns=20000:100000:20000",
    "--sampler",
    "grid",
)


def test_the_bounded_metric_is_in_table_terminal_and_page(device: str, wordline: Command) -> None:
    done = wordline("search", device, *BOUNDED, "--out", "here")
    assert done.returncode == 0, done.stderr
    table = polars.read_parquet("here/trials.parquet")
    column = table["latency.read.mean_us"]
    for row in table.to_dicts():
        key = f"nand.timing.read_ns={row['nand.timing.read_ns']}"
        answer = wordline("run", device, "--set", key, "--json", "--out", "run")
        mean = json.loads(answer.stdout)["latency"]["read"]["mean_us"]
        assert row["latency.read.mean_us"] == pytest.approx(mean)
        assert row["feasible"] is (mean < 150)
    (best,) = table.filter(table["best"])["latency.read.mean_us"]
    line = next(line for line in done.stdout.splitlines() if "latency.read.mean_us" in line)
    assert metric("latency.read.mean_us").text(best) in line
    assert "bound < 150 µs" in line
    page = Path("here/report.html").read_text()
    shown = charts_of(page)["bound-0"]
    assert [shape["y0"] for shape in shown["layout"]["shapes"]] == [150]
    drawn = [y for group in shown["data"] if group["name"] != "best" for y in group["y"]]
    assert sorted(drawn) == pytest.approx(sorted(column), rel=1e-5)
    assert "subject to read latency, mean &lt; 150 µs" in page
    assert f"<td>{metric('latency.read.mean_us').text(best)}</td>" in page


def test_two_objectives_have_a_pareto_front(device: str) -> None:
    found = search(
        device, sampler="grid", trials=50, minimise=["latency.read.mean_us", "time.busy_s"]
    )
    rows = found.table().to_dicts()
    names = ["minimise latency.read.mean_us", "minimise time.busy_s"]
    pairs = [tuple(row[name] for name in names) for row in rows]
    expected = {
        row["trial"]
        for row, own in zip(rows, pairs, strict=True)
        if not any(other != own and other[0] <= own[0] and other[1] <= own[1] for other in pairs)
    }
    assert {row["trial"] for row in rows if row["best"]} == expected


def test_a_search_with_one_job_and_a_seed_is_repeatable(device: str) -> None:
    one, other = (search(device, jobs=1, trials=14, seed=3).table() for _ in range(2))
    assert_frame_equal(one, other)


@pytest.mark.parametrize(
    ("sampler", "more"),
    [
        ("tpe", {}),
        ("random", {}),
        ("nsga2", {}),
        ("grid", {}),
        ("random", {"pruner": "median", "rungs": [50, 100]}),
    ],
)
def test_a_search_extended_twice_equals_a_search_with_all_trials(
    device: str, place: Path, sampler: str, more: dict[str, Any]
) -> None:
    given: dict[str, Any] = more | {"jobs": 1, "sampler": sampler}
    whole = search(device, out=place / "whole", **given).table()
    assert whole.height == 10
    for trials in (3, 4, 10):
        parts = search(device, trials=trials, out=place / "parts", **given).table()
        expected = whole.head(trials)
        assert_frame_equal(parts.drop("best"), expected.drop("best"), check_dtypes=False)
    assert_frame_equal(parts, whole)


def test_a_search_continues_after_a_kill_and_a_torn_journal(device: str, place: Path) -> None:
    args = (
        "search",
        device,
        "--minimise",
        "latency.read.mean_us",
        "--vary",
        "nand.timing.read_ns=20000:100000",
        "--set",
        "workload.requests=20000",
        "--trials",
        "12",
        "--jobs",
        "1",
    )
    command = [sys.executable, "-m", "wordline", *args]
    process = subprocess.Popen(
        [*command, "--out", "here"], env=environment(), stdout=subprocess.PIPE
    )
    wait_for(place / "here/trials.journal", 3)
    process.kill()
    process.communicate(timeout=60)
    with (place / "here/trials.journal").open("ab") as journal:
        journal.write(b'{"op_code":8,"worker_id":"')
    for out in ("here", "whole"):
        done = subprocess.run(
            [*command, "--out", out], env=environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    gone_on, whole = (polars.read_parquet(f"{out}/trials.parquet") for out in ("here", "whole"))
    assert_frame_equal(gone_on, whole)


def wait_for(journal: Path, trials: int) -> None:
    """Waits until this many trials are complete."""
    end = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b'"values":[') < trials:
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_search_does_not_continue_with_another_device(device: str, place: Path) -> None:
    search(device, trials=2, out=place / "here")
    with (place / device).open("a") as file:
        file.write("[host]\nqueue_depth = 3\n")
    with pytest.raises(wordline.WordlineError, match=r"another search \(different configuration\)"):
        search(device, trials=4, out=place / "here")


def test_a_pruner_stops_trials_early(device: str) -> None:
    found = search(
        device,
        jobs=1,
        trials=30,
        pruner="median",
        rungs=[50, 100],
        vary={"nand.timing.read_ns": "20000:500000"},
        sampler="random",
    )
    states = found.table()["state"].to_list()
    assert states.count("pruned") > 3
    (best,) = found.best()
    assert best["nand.timing.read_ns"] < 150_000  # pyright: ignore[reportOperatorIssue]


def test_a_search_continues_from_its_journal(device: str, place: Path, wordline: Command) -> None:
    args = (
        "search",
        device,
        "--minimise",
        "latency.read.mean_us",
        "--vary",
        "nand.timing.read_ns=20000:100000",
        "--set",
        "workload.requests=60000",
        "--trials",
        "40",
        "--out",
        "here",
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "wordline", *args],
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_for(place / "here/trials.journal", 3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    early = polars.read_parquet("here/trials.parquet")
    kept = early.filter(early["state"] == "complete")
    assert kept.height >= 3
    done = wordline(*args)
    assert done.returncode == 0, done.stderr
    late = polars.read_parquet("here/trials.parquet")
    assert late.height == 40
    assert set(kept["digest"]) <= set(late["digest"].drop_nulls())
    other = wordline(*args[:5], "nand.timing.read_ns=20000:90000", "--out", "here")
    assert other.returncode == 2
    assert "holds another search" in other.stderr


def test_the_result_is_a_device_file(device: str, wordline: Command) -> None:
    done = wordline(
        "search",
        device,
        "--minimise",
        "latency.read.mean_us",
        "--vary",
        "nand.timing.read_ns=20000,90000",
        "--sampler",
        "grid",
        "--out",
        "here",
    )
    assert done.returncode == 0, done.stderr
    again = wordline("run", "here/best.toml", "--json", "--out", "run")
    table = polars.read_parquet("here/trials.parquet")
    assert json.loads(again.stdout)["digest"] == table.filter(table["best"])["digest"][0]
    assert set(os.listdir("here")) == {  # noqa: PTH208
        "best.toml",
        "report.html",
        "trials.journal",
        "trials.parquet",
    }


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "0 objectives"),
        (("--minimise", "latency.p99"), "--vary KEY=LOW:HIGH"),
        (("--minimise", "a", "--vary", "host.queue_depth=9:1"), "LOW:HIGH"),
        (("--minimise", "a", "--subject-to", "b = 3", "--vary", "x=1,2"), "--subject-to 'b = 3'"),
        (
            ("--minimise", "latency.p99_us", "--vary", "host.queue_depth=1,2"),
            "latency.p99_us: is neither a metric of the summary nor a varied key; did you mean",
        ),
        (
            ("--minimise", "version", "--vary", "host.queue_depth=1,2"),
            "version: is not a number; choose a numeric metric",
        ),
        (
            (
                "--minimise",
                "time.busy_s",
                "--subject-to",
                "device.name < 3",
                "--vary",
                "host.queue_depth=1,2",
            ),
            "device.name: is not a number",
        ),
        (
            ("--maximise", "speed.cpu_s", "--vary", "host.queue_depth=1,2"),
            "speed.cpu_s: does not depend on the device",
        ),
        (
            ("--minimise", "latency.trim.mean_us", "--vary", "host.queue_depth=1,2"),
            "latency.trim.mean_us: has no value in the first run; choose a metric that every run",
        ),
        (
            ("--minimise", "buffer.hit_ratio", "--vary", "host.queue_depth=1:64"),
            "buffer.hit_ratio: has no value in 8 runs; choose a metric that every run has",
        ),
        (
            ("--minimise", "a", "--vary", "host.queue_depth=1,2", "--pruner", "median"),
            "--rungs 5000,20000",
        ),
        (
            ("--minimise", "a", "--vary", "host.queue_depth=1:2.5", "--sampler", "grid"),
            "needs a list of values, or a range with a step",
        ),
        (("--minimise", "a", "--vary", "ssd.chanels=1,2"), "ssd.chanels"),
        (("--minimise", "a", "--vary", "ssd.channels=0,-1"), "ssd.channels"),
        (("--minimise", "a", "--vary", "seed=1,2"), "seed: cannot be varied in a search"),
        (("--minimise", "a", "--vary", "host.queue_depth=1,2", "--trials", "0"), "trials: 0"),
        (("--minimise", "a", "--vary", "host.queue_depth=1,2", "--seed", "-1"), "seed: -1"),
        (("--minimise", "time.busy_s", "--vary", "host.queue_depth=1,2", "--jobs", "0"), "jobs: 0"),
        (
            (
                "--minimise",
                "a",
                "--vary",
                "host.queue_depth=1,2",
                "--pruner",
                "median",
                "--rungs",
                "0",
            ),
            "rungs: 0",
        ),
    ],
)
def test_invalid_arguments_are_reported(
    device: str, wordline: Command, args: tuple[str, ...], said: str
) -> None:
    done = wordline("search", device, *args, "--out", "here")
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("here").exists()


def test_every_numeric_metric_can_be_a_search_objective(device: str) -> None:
    found = figures(wordline.run(device, requests=False).summary)
    numbers = [name for name, value in found.items() if type(value) in (int, float)]
    assert len(numbers) > 150
    for name in numbers:
        require_figure(name)
    for name in ("device.name", "input.kind"):
        with pytest.raises(wordline.WordlineError, match="is not a number"):
            require_figure(name)


def test_a_metric_without_a_value_fails_only_its_trial(device: str, wordline: Command) -> None:
    done = wordline(
        "search",
        device,
        "--minimise",
        "latency.read.mean_us",
        "--vary",
        "workload.read_ratio=0.0,0.5",
        "--sampler",
        "grid",
        "--out",
        "here",
    )
    assert done.returncode == 0, done.stderr
    assert "1 of 2 trials failed: latency.read.mean_us: has no value in this run" in done.stdout
    table = polars.read_parquet("here/trials.parquet")
    assert table["state"].to_list() == ["fail", "complete"]


def test_a_failed_trial_reports_its_error(device: str) -> None:
    found = search(
        device, vary={"nand.geometry.blocks_per_plane": [32, 2]}, sampler="grid", trials=5
    )
    rows = found.table().sort("state").to_dicts()
    assert [row["state"] for row in rows] == ["complete", "fail"]
    assert "blocks_per_plane" in rows[1]["error"]


def test_without_optuna_the_error_names_the_package_to_install(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(wordline.WordlineError, match=r"pip install 'wordline\[search\]'"):
        search(device)


def test_any_executor_can_run_trials(device: str) -> None:
    with ThreadPoolExecutor(2) as executor:
        found = search(device, sampler="grid", on=executor, jobs=2).table()
    assert_frame_equal(found, search(device, sampler="grid", jobs=1).table())


def test_a_search_can_be_interrupted_before_its_first_trial_is_complete(
    device: str, place: Path
) -> None:
    def interrupt(_state: object) -> None:
        raise KeyboardInterrupt

    slow = {"workload.requests": 8_000_000}
    with pytest.raises(wordline.SearchInterrupted) as early:
        search(device, overrides=slow, out=place / "here", progress=interrupt)
    assert early.value.search.table().height == 0
    assert polars.read_parquet(place / "here/trials.parquet").height == 0
    assert (place / "here/report.html").is_file()


def test_bounds_are_parsed() -> None:
    assert bound("a.b < 2").excess(3) == 1
    assert bound("a.b >= 2e3").excess(1500) == 500
    assert str(bound(" a.b<=2 ")) == "a.b < 2"


def test_a_full_disk_is_reported_and_loses_only_the_unwritten_file(
    device: str, wordline: Command
) -> None:
    args = (
        "search",
        device,
        "--minimise",
        "latency.read.mean_us",
        "--vary",
        "nand.timing.read_ns=20000:100000",
        "--trials",
        "24",
        "--jobs",
        "1",
    )
    full = wordline(*args, "--out", "here", preexec_fn=files_of(10_000))
    assert full.returncode == 2
    assert "trials.journal: cannot be written: File too large" in full.stderr
    assert "Traceback" not in full.stderr
    kept = polars.read_parquet("here/trials.parquet")
    for out in ("here", "whole"):
        done = wordline(*args, "--out", out)
        assert done.returncode == 0, done.stderr
    gone_on, whole = (polars.read_parquet(f"{out}/trials.parquet") for out in ("here", "whole"))
    assert_frame_equal(gone_on, whole)
    assert_frame_equal(kept, whole)


def test_trials_with_equal_preparations_share_one_prepared_device(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wordline._sweep import work

    prepared: list[str] = []
    prepare = work.prepare

    def counted(job: work.Job, path: str) -> str:
        prepared.append(path)
        return prepare(job, path)

    monkeypatch.setattr(work, "prepare", counted)
    aged = {"precondition.overwrite_ratio": 1.0}
    with ThreadPoolExecutor(1) as executor:
        found = search(device, overrides=aged, sampler="grid", trials=6, on=executor, jobs=1)
    assert len(prepared) == 1
    for row in found.table().to_dicts():
        keys = aged | {key: row[key] for key in VARY}
        assert row["digest"] == wordline.run(device, overrides=keys).summary["digest"]


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_needs_neither_the_device_nor_the_trace(
    tiny: str, cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wordline._sweep import cluster as clusters

    Path("disk.csv").write_text(msr(300))
    aged = {"precondition.overwrite_ratio": 1.0}
    args: dict[str, Any] = {"trace": "disk.csv", "overrides": aged, "sampler": "grid", "trials": 6}
    expected = search(tiny, **args).table()
    assert expected["state"].unique().to_list() == ["complete"]
    monkeypatch.setattr(clusters, "content", of_this_process)
    with cluster.get_client() as client:
        client.run(os.chdir, str(tmp_path))
        assert_frame_equal(search(tiny, on=client, **args).table(), expected)


def test_memory_limits_the_number_of_concurrent_trials(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    from wordline._sweep import engine, workers
    from wordline._sweep.work import Done, Job, run

    running, most, lock = [0], [0], threading.Lock()

    def counted(job: Job) -> Done:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        time.sleep(0.05)
        done = run(job)
        with lock:
            running[0] -= 1
        return done

    monkeypatch.setattr(workers, "free_memory", lambda: 0)
    loop = sys.modules["wordline._search.loop"]
    monkeypatch.setattr(loop, "FIGURES", engine.Work(counted, engine.FIGURES.failed))
    with ThreadPoolExecutor(4) as executor:
        search(device, sampler="grid", trials=6, on=executor, jobs=4)
    assert most[0] == 1


@needs_browser
def test_the_page_fits_a_screen(device: str, place: Path, tmp_path: Path) -> None:
    search(device, trials=8, out=place / "here")
    require_fits(place / "here/report.html", tmp_path)
