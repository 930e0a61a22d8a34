"""Sweeps: each point of a plan runs once, whatever interrupts the sweep or runs its points."""

import gc
import importlib
import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from multiprocessing import util
from pathlib import Path
from typing import Any

import polars
import pytest
from conftest import TINY, Command, environment, files_of, of_this_process
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import wordline
from wordline._api.trace_input import BUNDLED
from wordline._internal import interruption
from wordline._internal.claim import claimed
from wordline._sweep import plan as plans
from wordline._sweep.condition import Condition
from wordline._sweep.local import PointKilled, Processes
from wordline._sweep.write import as_toml

LOAD = """
[workload]
requests = 500
read_ratio = 0.5
arrival.poisson.iops = 2000
"""
FORTY = ("--seeds", "40", "--set", "workload.requests=100000")
VARY = {"ftl.gc.victim": ["greedy", "fifo"], "ftl.over_provisioning_ratio": "0.2:0.3:0.05"}


@pytest.fixture
def device(tiny: str, place: Path) -> str:
    with (place / tiny).open("a") as file:
        file.write(LOAD)
    return tiny


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> polars.DataFrame:
    """Returns the points of an uninterrupted sweep of that device over forty seeds."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "tiny.toml").write_text(TINY + LOAD)
    subprocess.run(
        [sys.executable, "-m", "wordline", "sweep", "tiny.toml", *FORTY, "--out", "whole"],
        cwd=folder,
        env=environment(),
        capture_output=True,
        check=True,
    )
    return polars.read_parquet(folder / "whole/points.parquet")


def killed_during_its_result() -> bytes:
    """Returns a result that takes long to send. Kills its process as soon as the result is being
    sent."""
    sender = threading.get_ident()

    def kill() -> None:
        while True:
            frame = sys._current_frames()[sender]
            while frame := frame.f_back:
                if frame.f_code.co_name == "send_bytes":
                    os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.001)

    threading.Thread(target=kill, daemon=True).start()
    return bytes(64 << 20)


class TestPreparedDevices:
    def test_only_recently_used_prepared_devices_are_kept(self, tmp_path: Path) -> None:
        from wordline._sweep.prepared_devices import Kept

        made: list[str] = []

        def prepare(path: str) -> bool:
            made.append(path)
            Path(path).write_text("")
            return "bad" not in path

        kept, there = Kept(), str(tmp_path)
        with kept.file("a", there, prepare) as first:
            for name in ("b", "c", "b", "d"):
                with kept.file(name, there, prepare) as path:
                    assert path
            assert first == made[0]
            assert Path(made[0]).exists()
        names = [Path(path).name[0] for path in made]
        assert names == ["a", "b", "c", "b", "d"]
        with kept.file("d", there, prepare), kept.file("bad", there, prepare) as none:
            assert none is None
        assert not Path(made[0]).exists()
        assert len(made) == 6


class TestScratch:
    def test_the_next_sweep_removes_the_files_of_a_killed_sweep(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from wordline._sweep.scratch import Scratch

        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        made = "import time; from wordline._sweep.scratch import Scratch; "
        kept = f"{made} one = Scratch(); print(one.path, flush=True); time.sleep(600)"
        process = subprocess.Popen(
            [sys.executable, "-c", kept],
            env=os.environ | {"TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout
        left = Path(process.stdout.readline().strip())
        (left / "aged.wls").write_text("")
        Scratch().remove()
        assert (left / "aged.wls").exists(), "its process is alive"
        process.kill()
        process.communicate()
        own = Scratch()
        assert [one.name for one in tmp_path.iterdir()] == [Path(own.path).name]
        own.remove()
        assert not list(tmp_path.iterdir())


def points(**keys: Any) -> list[plans.Point]:
    return plans.points(plans.of_table({"device": "d4"} | keys))


class TestPlans:
    def test_varied_keys_form_all_combinations(self) -> None:
        found = points(vary={"a": [1, 2], "b": "1:3:1"}, seeds=2, trace=["x", "y"])
        expected = itertools.product(["x", "y"], [1, 2], [1, 2, 3], [1, 2])
        assert [
            (one.trace[0], one.overrides["a"], one.overrides["b"], one.seed) for one in found
        ] == list(expected)
        assert [one.index for one in found] == list(range(len(found)))

    def test_a_key_with_one_value_does_not_vary(self) -> None:
        (one,) = points(vary={"a": [1]}, set={"b": 2})
        assert one.varied == {}
        assert one.overrides == {"a": 1, "b": 2}

    def test_zipped_keys_vary_together(self) -> None:
        found = points(zip=[{"a": [1, 2], "b": ["x", "y"]}], vary={"c": [0, 1]})
        assert [tuple(one.varied.values()) for one in found] == [
            (0, 1, "x"),
            (0, 2, "y"),
            (1, 1, "x"),
            (1, 2, "y"),
        ]

    def test_each_point_listed_in_a_plan_is_a_point_of_the_sweep(self) -> None:
        found = points(points=[{"a": 1, "fit": "wrap"}, {"a": 5, "fit": "error"}])
        assert [(one.overrides["a"], one.options["fit"]) for one in found] == [
            (1, "wrap"),
            (5, "error"),
        ]

    @given(
        low=st.decimals(-100, 100, places=3),
        step=st.decimals("0.001", 10, places=3),
        count=st.integers(0, 200),
    )
    def test_ranges_have_both_ends_and_equal_steps(
        self, low: Decimal, step: Decimal, count: int
    ) -> None:
        high = low + count * step
        found = plans.span("k", f"{low}:{high}:{step}")
        assert [float(value) for value in found] == [
            float(low + place * step) for place in range(count + 1)
        ]

    @given(a=st.integers(-5, 5), b=st.integers(-5, 5), word=st.sampled_from(["x", "y"]))
    def test_conditions_agree_with_python(self, a: int, b: int, word: str) -> None:
        keys = ["ftl.a", "ftl.closed-loop.b", "name"]
        values = {"ftl.a": a, "ftl.closed-loop.b": b, "name": word}
        for text, holds in (
            ("ftl.a < ftl.closed-loop.b", a < b),
            ("ftl.a + 2 * ftl.closed-loop.b >= 3 or name == 'x'", a + 2 * b >= 3 or word == "x"),
            ("not (name in ['y', 'z']) and -ftl.a != 4", word not in ["y", "z"] and -a != 4),
            ("-5 <= ftl.a <= ftl.closed-loop.b", -5 <= a <= b),
            ("name == 'ftl.a'", False),
        ):
            assert Condition(text, keys).holds(values) is holds, text

    @pytest.mark.parametrize(
        ("keys", "said"),
        [
            ({"when": "c == 1", "vary": {"a": [1, 2]}}, "c does not vary"),
            ({"when": "__import__('os')", "vary": {"a": [1]}}, "__import__ does not vary"),
            ({"when": "a ==", "vary": {"a": [1]}}, "is not a condition"),
            ({"when": "a > 5", "vary": {"a": [1, 2]}}, "has no point"),
            ({"when": "a < 'x'", "vary": {"a": [1, 2]}}, "cannot be evaluated"),
            ({"zip": [{"a": [1], "b": [1, 2]}]}, "equal lengths"),
            ({"vary": {"a": "1:0:1"}}, "give a HIGH of at least LOW"),
            ({"vary": {"a": "x"}}, "LOW:HIGH:STEP"),
            ({"vary": {"a": []}}, "list of values"),
            ({"vary": {"a": [1]}, "set": {"a": 2}}, "a is given twice"),
            ({"vary": {"a": [1]}, "zip": [{"a": [1]}]}, "a is given twice"),
            ({"seeds": 0}, "seeds = 0"),
            ({"seeds": [1, 1]}, "names a seed twice"),
            ({"varry": {}}, "unknown key `varry`"),
            ({"options": {"out": "x"}}, "is not an option of a run"),
            ({"vary": {str(n): [1, 2] for n in range(30)}}, "vary fewer keys"),
        ],
    )
    def test_an_invalid_plan_is_rejected(self, keys: dict[str, Any], said: str) -> None:
        with pytest.raises(wordline.WordlineError, match=said):
            points(**keys)

    def test_a_plan_survives_a_round_trip_through_its_file(self, place: Path) -> None:
        table = {
            "device": "d4",
            "trace": ["a.csv", "b.csv"],
            "seeds": [3, 4],
            "set": {"x": True},
            "vary": {"ftl.gc.victim": ["fifo"], "n": "1:3:0.5"},
            "zip": [{"p": [1], "q": ["w"]}],
            "when": ["n > 1"],
            "options": {"fit": "wrap"},
        }
        plan = plans.of_table(table)
        (place / "plan.toml").write_text(as_toml(plan))
        assert plans.read(place / "plan.toml") == plan

    def test_trace_paths_are_relative_to_the_plan_wherever_it_names_them(
        self, tmp_path: Path
    ) -> None:
        for name in ("a.csv", "b.csv"):
            (tmp_path / name).write_text("")
        paths = [f"{tmp_path}/a.csv", f"{tmp_path}/b.csv"]
        for keys, found in (
            ({"vary": {"trace": ["a.csv", "b.csv"]}}, {"vary": {"trace": paths}}),
            (
                {"zip": [{"trace": ["a.csv", "b.csv"], "workload.requests": [1, 2]}]},
                {"zip": [{"trace": paths, "workload.requests": [1, 2]}]},
            ),
            (
                {"points": [{"trace": "b.csv"}, {"trace": "elsewhere.csv"}]},
                {"points": [{"trace": paths[1]}, {"trace": "elsewhere.csv"}]},
            ),
        ):
            plan = plans.of_table({"device": "d4"} | keys)
            (tmp_path / "plan.toml").write_text(as_toml(plan))
            assert plans.read(tmp_path / "plan.toml") == replace(plan, **found)

    def test_every_key_of_a_plan_file_is_explained(self) -> None:
        assert set(plans.KEYS) == set(plans.Plan.__dataclass_fields__)


def table(device: str, **more: Any) -> polars.DataFrame:
    return wordline.sweep(device, vary=VARY, seeds=2, **more).table()


class TestRuns:
    def test_each_row_equals_a_run_of_its_point(self, device: str) -> None:
        found = table(device)
        assert found.height == 12
        for row in found.to_dicts():
            keys = {key: row[key] for key in VARY}
            summary = wordline.run(device, overrides=keys, seed=row["seed"]).summary
            assert row["digest"] == summary["digest"]
            assert row["latency.write.p99_us"] == summary["latency"]["write"]["p99_us"]
            assert row["flash.erases"] == summary["flash"]["erases"]
        assert found["status"].unique().to_list() == ["done"]
        assert not [name for name in found.columns if name.startswith("speed")]

    def test_the_table_does_not_depend_on_the_workers(self, device: str) -> None:
        one = table(device, jobs=1)
        assert_frame_equal(table(device, jobs=2), one)
        with ThreadPoolExecutor(2) as threads:
            assert_frame_equal(table(device, on=threads), one)

    def test_equal_points_run_once_and_have_a_row_each(self, device: str, place: Path) -> None:
        done = wordline.sweep(
            device, points=[{"host.queue_depth": 8}, {"host.queue_depth": 8}], out="here"
        )
        assert len(done) == 2
        assert done.table()["key"].n_unique() == 1
        assert len((place / "here/points.jsonl").read_text().splitlines()) == 1

    def test_prepared_devices_do_not_change_results(self, device: str) -> None:
        aged = {"precondition.fill_ratio": 1.0, "precondition.overwrite_ratio": 1.0}
        shared = wordline.sweep(
            device, overrides=aged, vary={"host.queue_depth": [1, 2, 3, 4]}, seeds=2
        )
        for row in shared.table().to_dicts():
            own = wordline.run(
                device,
                overrides=aged | {"host.queue_depth": row["host.queue_depth"]},
                seed=row["seed"],
            )
            assert row["digest"] == own.summary["digest"]

    @pytest.mark.parametrize(
        ("aged", "shared"),
        [
            ({"precondition.fill_ratio": 1.0}, False),
            ({"precondition.overwrite_ratio": 0.001}, False),
            ({"precondition.overwrite_ratio": 0.5}, True),
            ({"precondition.settle": True}, True),
            ({"precondition.fill_ratio": 0.0, "precondition.overwrite_ratio": 0.0}, False),
        ],
    )
    def test_a_cheap_preparation_is_not_shared(
        self, device: str, aged: dict[str, Any], shared: bool
    ) -> None:
        from wordline._sweep.tasks import tasks

        plan = {"device": device, "set": aged, "vary": {"host.queue_depth": [1, 2]}}
        found = tasks(plans.points(plans.of_table(plan)))
        assert [task.preparation is not None for task in found] == [shared, shared]

    def test_an_invalid_point_is_rejected_before_any_run(self, device: str, place: Path) -> None:
        with pytest.raises(wordline.WordlineError, match=r"point 2 .*blocks_per_plane"):
            wordline.sweep(device, vary={"nand.geometry.blocks_per_plane": [32, 16, 0]}, out="here")
        assert not (place / "here").exists()

    def test_a_failed_point_reports_its_error_and_the_others_continue(self, device: str) -> None:
        Path("good.csv").write_text("time_ns,op,offset_bytes,size_bytes,volume\n0,read,0,512,0\n")
        bad = "time_ns,op,offset_bytes,size_bytes,volume\n0,read,0,512,0\n1,what,0,512,0\n"
        Path("bad.csv").write_text(bad)
        Path(device).write_text(Path(device).read_text().replace(LOAD, ""))
        found = wordline.sweep(device, ["bad.csv", "good.csv"], seeds=2)
        assert found.failed == 2
        rows = found.table()
        assert rows["status"].to_list() == ["failed", "failed", "done", "done"]
        assert "bad.csv:3" in rows["error"][0]

    def test_confidence_intervals_are_computed_over_seeds(self, device: str) -> None:
        done = wordline.sweep(device, vary=VARY, seeds=4)
        rows = done.intervals()
        assert rows.height == 6
        assert rows["points"].to_list() == [4] * 6
        of_first = done.table().head(4)["latency.all.mean_us"]
        assert rows["latency.all.mean_us"][0] == pytest.approx(of_first.mean())
        # Student's t with three degrees of freedom, from a published table.
        width = 3.18245 * of_first.std() / 2  # pyright: ignore[reportOperatorIssue]
        assert rows["latency.all.mean_us ±"][0] == pytest.approx(width, rel=1e-5)

    @pytest.mark.parametrize("reader", ["duckdb", "pandas"])
    def test_other_libraries_read_the_table(self, device: str, reader: str) -> None:
        library = importlib.import_module(reader)
        table = wordline.sweep(device, vary=VARY, out="here").table()
        path = "here/points.parquet"
        if reader == "duckdb":
            found = library.connect().execute(f"select * from '{path}'").fetchall()
            names = [column[0] for column in library.sql(f"describe '{path}'").fetchall()]
        else:
            frame = library.read_parquet(path)
            found, names = list(frame.itertuples(index=False, name=None)), list(frame.columns)
        assert names == table.columns
        column = names.index("latency.all.mean_us")
        assert [row[column] for row in found] == table["latency.all.mean_us"].to_list()
        keys = [names.index(key) for key in ("digest", *VARY)]
        expected = table.select("digest", *VARY).rows()
        assert [tuple(row[key] for key in keys) for row in found] == expected

    def test_a_sweep_can_be_pickled_and_has_a_repr(self, device: str) -> None:
        done = wordline.sweep(device, seeds=2, out="here")
        again = pickle.loads(pickle.dumps(done))
        assert_frame_equal(again.table(), done.table())
        assert_frame_equal(wordline.Sweep.of("here").table(), done.table())
        assert "2 points" in repr(done)
        assert "<table" in done._repr_html_()


class TestStops:
    def test_the_same_sweep_continues_from_its_journal(self, device: str, place: Path) -> None:
        whole = table(device, out="whole")
        table(device, out="here")
        lines = (place / "here/points.jsonl").read_text().splitlines(keepends=True)
        (place / "here/points.jsonl").write_text("".join(lines[:5]) + lines[5][:40])
        heard: list[int] = []
        found = table(device, out="here", progress=lambda state: heard.append(state.done))
        assert_frame_equal(found, whole)
        assert min(heard) >= 5
        lines = (place / "here/points.jsonl").read_text().splitlines()
        assert len({json.loads(line)["key"] for line in lines}) == len(lines) == 12

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_completed_points_are_kept(
        self, device: str, place: Path, wordline: Command, whole: polars.DataFrame, number: int
    ) -> None:
        args = ("sweep", device, *FORTY)
        process = subprocess.Popen(
            [sys.executable, "-m", "wordline", *args, "--out", "here"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        journal = place / "here/points.jsonl"
        end = time.monotonic() + 30
        while not journal.exists() or journal.read_text().count("\n") < 4:
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        assert "Traceback" not in errors
        if number != signal.SIGKILL:
            assert process.returncode == 128 + number
            assert "repeat the command to continue" in errors
            ended = polars.read_parquet("here/points.parquet").height
            assert 4 <= ended < 40
        assert not _children_of(process.pid)
        done = wordline(*args, "--out", "here")
        assert done.returncode == 0, done.stderr
        assert_frame_equal(polars.read_parquet("here/points.parquet"), whole)

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
    def test_a_stop_before_the_first_point_ends_leaves_the_folder_as_it_was(
        self, device: str, place: Path, wordline: Command, number: int
    ) -> None:
        endless = ("sweep", device, "--set", "workload.requests=4000000000", "--out", "here")
        process = subprocess.Popen(
            [sys.executable, "-m", "wordline", *endless, "--seeds", "3"],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        end = time.monotonic() + 30
        while not _children_of(process.pid):
            assert time.monotonic() < end
            time.sleep(0.02)
        process.send_signal(number)
        _, errors = process.communicate(timeout=60)
        if number != signal.SIGKILL:
            assert process.returncode == 128 + number
            assert errors.strip().splitlines()[-1] == "error: interrupted; nothing was written"
            assert not (place / "here").exists()
        done = wordline(
            "sweep",
            device,
            "--set",
            "workload.requests=4000000000",
            "--out",
            "here",
            "--seeds",
            "3",
            "--max-requests",
            "50",
        )
        if number == signal.SIGKILL:
            assert "another plan" in done.stderr
            done = wordline("sweep", device, "--seeds", "3", "--out", "there")
        assert done.returncode == 0, done.stderr

    def test_a_stop_while_a_process_starts_waits_until_it_has_started(
        self, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        start = util.spawnv_passfds

        def start_and_stop(*args: Any) -> int:
            process = start(*args)
            signal.raise_signal(signal.SIGTERM)
            return process

        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        before = {number: signal.getsignal(number) for number in numbers}
        monkeypatch.setattr(interruption, "_heard", signal.SIGINT)  # restored at the end
        interruption.listen()
        try:
            processes = Processes(1)  # starts the resource tracker
            monkeypatch.setattr(util, "spawnv_passfds", start_and_stop)
            with pytest.raises(KeyboardInterrupt):
                processes.submit(os.getpid)
            processes.shutdown(cancel_futures=True)
            while _children_of(os.getpid()):
                time.sleep(0.02)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        assert capfd.readouterr().err == ""

    def test_a_process_that_is_killed_during_its_result_loses_only_that_result(self) -> None:
        processes = Processes(1)
        lost = processes.submit(killed_during_its_result)
        assert isinstance(lost.exception(60), PointKilled)
        assert processes.submit(os.getppid).result(60) == os.getpid()
        processes.shutdown()

    def test_a_sweep_whose_points_all_fail_can_run_again(
        self, device: str, wordline: Command
    ) -> None:
        small = ("--set", "workload.requests=50", "--seeds", "2", "--out", "here")
        args = ("sweep", device, "--vary", "ftl.gc.victim=greedy,fifo", *small)
        # A load and a trace: no point can run, all for the same reason.
        Path("disk.csv").write_text("time_ns,op,offset_bytes,size_bytes,volume\n0,read,0,512,0\n")
        for _ in range(2):
            done = wordline(*args, "--trace", "disk.csv")
            assert done.returncode == 1
            assert "4 of 4 points failed" in done.stderr
            assert done.stderr.count("both a trace and a [workload] table are given") == 1
        assert polars.read_parquet("here/points.parquet")["status"].to_list() == ["failed"] * 4
        assert wordline("sweep", "report", "here").returncode == 0

    def test_points_that_do_not_fit_fail_before_the_first_runs(
        self, device: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Path(device).write_text(Path(device).read_text().replace(LOAD, ""))
        lines = ["time_ns,op,offset_bytes,size_bytes,volume"]
        # The fault is beyond the requests that a run reads before it starts.
        lines += [f"{n},read,0,512,0" for n in range(70_000)] + [f"70000,read,{1 << 40},512,0"]
        Path("disk.csv").write_text("\n".join(lines) + "\n")
        ran: list[str] = []
        module = importlib.import_module("wordline._sweep")
        with monkeypatch.context() as patched:
            patched.setattr(module, "run", lambda _who, todo, *_: ran.extend(todo))
            found = wordline.sweep(device, "disk.csv", vary=VARY, seeds=10).table()
        assert ran == []
        assert found["status"].to_list() == ["failed"] * 60
        # One prepared device per size.
        reasons = found["error"].unique().to_list()
        assert len(reasons) == 3
        assert all("disk.csv:70002" in reason for reason in reasons)
        with pytest.raises(wordline.WordlineError) as alone:
            wordline.run(device, "disk.csv")
        assert str(alone.value) in reasons

    def test_a_plan_that_lacks_points_of_the_former_plan_is_rejected(self, device: str) -> None:
        one = wordline.sweep(device, vary=VARY, seeds=2, out="here").table()
        with pytest.raises(
            wordline.WordlineError,
            match=r"here: holds the sweep of another plan "
            r"\(different vary\), with 12 points that this plan lacks; name another",
        ):
            wordline.sweep(device, vary={"host.queue_depth": [1, 2]}, seeds=2, out="here")
        assert_frame_equal(wordline.Sweep.of("here").table(), one)
        # A plan with more points continues the same sweep.
        seen: list[int] = []
        more = wordline.sweep(
            device, vary=VARY, seeds=3, out="here", progress=lambda state: seen.append(state.done)
        )
        assert min(seen) >= 12
        assert len(more) == 18

    def test_two_sweeps_do_not_share_a_folder(self, device: str, place: Path) -> None:
        with (
            claimed(str(place / "here")),
            pytest.raises(wordline.WordlineError, match="is writing there"),
        ):
            table(device, out="here")
        assert not (place / "here").exists()

    def test_a_point_with_a_changed_line_in_the_journal_runs_again(
        self, device: str, place: Path
    ) -> None:
        whole = table(device, out="here")
        journal = place / "here/points.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        at = lines[3].index(b'"latency.all.mean_us":') + len(b'"latency.all.mean_us":')
        lines[3] = lines[3][:at] + b"9" + lines[3][at:]
        journal.write_bytes(b"".join(lines))
        said = r"points\.jsonl: line 4 has changed since it was written; the points run again"
        with pytest.warns(match=said):
            found = table(device, out="here")
        assert_frame_equal(found, whole)
        assert_frame_equal(wordline.Sweep.of("here").table(), whole)
        after = journal.read_bytes().splitlines(keepends=True)
        assert len(after) == 12
        assert lines[3] not in after

    @given(place_in=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
    def test_a_changed_bit_anywhere_in_a_line_is_detected(self, place_in: float, bit: int) -> None:
        from wordline._internal import checksums

        values = {"key": "k", "figures": {"a.b": 3671.25, "c": None}, "digest": "00ff"}
        line = bytearray(checksums.line_of(values))
        assert checksums.values_of(bytes(line)) == values
        line[int(place_in * (len(line) - 1))] ^= 1 << bit
        try:
            found = checksums.values_of(bytes(line))
        except ValueError:
            found = None
        assert found in (None, values)

    def test_the_point_of_a_killed_process_runs_again(self, device: str) -> None:
        killed: list[int] = []

        def kill(_state: object) -> None:
            if not killed and (children := _children_of(os.getpid())):
                os.kill(children[-1], signal.SIGKILL)
                killed.append(children[-1])

        loaded = {"workload.requests": 20000}
        found = wordline.sweep(device, overrides=loaded, seeds=20, progress=kill)
        assert killed
        assert found.failed == 0
        assert_frame_equal(
            found.table(), wordline.sweep(device, overrides=loaded, seeds=20).table()
        )


class TestMemory:
    @pytest.mark.parametrize(("room", "most"), [(0, 1), (250, 2), (1000, 4)])
    def test_memory_limits_the_number_of_concurrent_points(
        self, monkeypatch: pytest.MonkeyPatch, room: float, most: int
    ) -> None:
        from wordline._sweep import engine, workers
        from wordline._sweep.tasks import Task
        from wordline._sweep.work import Done, Job
        from wordline.config import Source

        monkeypatch.setattr(workers, "free_memory", lambda: room)
        lock, running, seen = threading.Lock(), [0], list[int]()

        def work(_job: Job) -> Done:
            with lock:
                running[0] += 1
                seen.append(running[0])
            time.sleep(0.02)
            with lock:
                running[0] -= 1
            return Done({}, "")

        (point,) = points()
        job = Job(Source("", "d4"), (), 1, {}, {})
        tasks = [Task(str(n), job, [point], 100, None) for n in range(12)]
        ended: list[str] = []
        with ThreadPoolExecutor(4) as threads, workers.workers_of(threads, 4, 4) as who:
            engine.Engine(
                who,
                engine.Work(work, lambda fault: Done({}, "", fault)),
                lambda task, _done: ended.append(task.key),
                lambda _state: None,
            ).run_all(tasks, 0)
        assert sorted(ended, key=int) == [str(n) for n in range(12)]
        assert max(seen) <= most


def _children_of(pid: int) -> list[int]:
    """Returns the child processes that run points."""
    found: list[int] = []
    for one in Path("/proc").glob("[0-9]*"):
        try:
            stat = (one / "stat").read_text().rsplit(")", 1)[1].split()
            command = (one / "cmdline").read_text()
        except OSError:
            continue
        if int(stat[1]) == pid and "spawn_main" in command and stat[0] != "Z":
            found.append(int(one.name))
    return sorted(found)


class TestCommand:
    def test_arguments_and_file_give_the_same_plan(self, device: str, wordline: Command) -> None:
        done = wordline(
            "sweep",
            device,
            "--vary",
            "ftl.gc.victim=greedy,fifo",
            "--vary",
            "ftl.over_provisioning_ratio=0.2:0.3:0.05",
            "--seeds",
            "2",
            "--when",
            "ftl.gc.victim != 'fifo' or seed == 1",
            "--out",
            "here",
        )
        assert done.returncode == 0, done.stderr
        assert "9 points done" in done.stdout
        again = wordline("sweep", "here/sweep.toml", "--out", "again")
        assert again.returncode == 0, again.stderr
        assert_frame_equal(
            polars.read_parquet("again/points.parquet"), polars.read_parquet("here/points.parquet")
        )

    @pytest.mark.parametrize(
        ("args", "said"),
        [
            (("--vary", "ftl.gc.victm=fifo"), "unknown key `victm`"),
            (("--vary", "ftl.gc.victim"), "is not KEY=VALUE"),
            (("--seeds", "many"), "--seeds many"),
            (("--on", "ray://x"), "dask://HOST:PORT"),
            (("--trace", "absent.csv"), "absent.csv"),
            (("--zip", "a=1,2 b=1"), "equal lengths"),
        ],
    )
    def test_invalid_arguments_are_reported(
        self, device: str, wordline: Command, place: Path, args: tuple[str, ...], said: str
    ) -> None:
        done = wordline("sweep", device, *args, "--out", "here")
        assert done.returncode == 2, done.stderr
        assert said in done.stderr
        assert "Traceback" not in done.stderr
        assert not (place / "here/points.parquet").exists()

    @pytest.mark.parametrize(
        ("args", "names"),
        [
            (("--trace", "a.csv"), "--trace"),
            (("--seeds", "1"), "--seeds"),
            (("--set", "ssd.ways=2", "--fit", "wrap"), "--set, --fit"),
        ],
    )
    def test_a_plan_excludes_other_options_and_names_them(
        self, wordline: Command, place: Path, args: tuple[str, ...], names: str
    ) -> None:
        (place / "plan.toml").write_text('device = "d4"\n')
        done = wordline("sweep", "plan.toml", *args)
        assert done.returncode == 2
        keys = set(done.stderr.split("; set ")[1].split(" in it")[0].split(", "))
        assert keys == set(names.split(", "))

    @pytest.mark.parametrize(
        ("lines", "said"),
        [
            ("[options]\nfit = 3", "fit must be a string, not 3"),
            ("[vary]\nformat = [3]", "format must be a string, not 3"),
            ("[options]\nvolumes = [1]", "volumes must be one, stack, shared or a number"),
            ('[set]\n"host.queue_depth" = 2026-01-31', "host.queue_depth: datetime.date"),
        ],
    )
    def test_a_wrong_type_in_a_plan_is_a_user_error(
        self, device: str, wordline: Command, place: Path, lines: str, said: str
    ) -> None:
        (place / "plan.toml").write_text(f'device = "{device}"\n{lines}\n')
        done = wordline("sweep", "plan.toml", "--out", "here")
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith("error: point 0")
        assert said in done.stderr
        assert not (place / "here").exists()

    @pytest.mark.parametrize("option", ["verify", "slowdown"])
    def test_a_non_boolean_option_of_a_point_is_an_error(
        self, device: str, wordline: Command, place: Path, option: str
    ) -> None:
        (place / "plan.toml").write_text(f'device = "{device}"\n[options]\n{option} = "no"\n')
        done = wordline("sweep", "plan.toml", "--out", "here")
        assert done.returncode == 1
        assert f"point failed: {option} must be True or False, not 'no'" in done.stderr

    def test_the_folder_of_another_command_is_kept(self, device: str, wordline: Command) -> None:
        wordline("run", device, "--out", "here")
        done = wordline("sweep", device, "--out", "here")
        assert done.returncode == 2
        assert "holds results of `wordline run`" in done.stderr

    def test_a_full_disk_is_reported_and_loses_only_the_unwritten_file(
        self, device: str, wordline: Command, place: Path
    ) -> None:
        done = wordline(
            "sweep", device, "--seeds", "40", "--out", "here", preexec_fn=files_of(60_000)
        )
        assert done.returncode == 2
        assert "cannot be written" in done.stderr
        assert "Traceback" not in done.stderr
        lines = (place / "here/points.jsonl").read_bytes()
        assert 1 < lines.count(b"\n") < 40
        # With free space again, kept points do not run again, and the torn line is rewritten.
        again = wordline("sweep", device, "--seeds", "40", "--out", "here")
        assert again.returncode == 0, again.stderr
        wordline("sweep", device, "--seeds", "40", "--out", "whole")
        assert_frame_equal(
            polars.read_parquet("here/points.parquet"), polars.read_parquet("whole/points.parquet")
        )

    def test_an_impossible_folder_is_rejected_before_any_run(
        self, device: str, wordline: Command, place: Path
    ) -> None:
        (place / "file").write_text("")
        done = wordline("sweep", device, "--out", "file/here")
        assert done.returncode == 2
        assert "is a file" in done.stderr

    def test_a_trace_from_standard_input_is_rejected(self, device: str, wordline: Command) -> None:
        done = wordline("sweep", device, "--trace", "-", "--seeds", "2", "--out", "here")
        assert done.returncode == 2
        assert "-: cannot be read more than once; name a regular file" in done.stderr

    def test_a_failed_point_sets_the_exit_code(self, device: str, wordline: Command) -> None:
        Path("bad.csv").write_text("time_ns,op,offset_bytes,size_bytes,volume\n0,what,0,512,0\n")
        Path(device).write_text(Path(device).read_text().replace(LOAD, ""))
        done = wordline("sweep", device, "--trace", "bad.csv", "--out", "here")
        assert done.returncode == 1
        assert "1 of 1 point failed" in done.stderr
        assert "bad.csv:2" in done.stderr


@pytest.mark.filterwarnings("ignore")
class TestCluster:
    def test_a_cluster_gives_the_same_table_after_a_worker_dies(
        self, device: str, cluster: Any
    ) -> None:
        killed: list[int] = []

        def kill(state: Any) -> None:
            if not killed and state.done >= 2:
                pid = next(iter(cluster.workers.values())).process.pid
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

        loaded = {"workload.requests": 20000}
        args = {"overrides": loaded, "vary": VARY, "seeds": 3}
        found = wordline.sweep(
            device, on=cluster.scheduler_address.replace("tcp", "dask"), progress=kill, **args
        )
        assert killed
        assert_frame_equal(found.table(), wordline.sweep(device, **args).table())

    def test_traces_are_sent_to_workers_without_access(
        self, device: str, cluster: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from wordline._sweep import cluster as clusters

        Path(device).write_text(Path(device).read_text().replace(LOAD, ""))
        traces = [recorded("a/disk.csv", 200), recorded("b/disk.csv", 50), BUNDLED]
        args: dict[str, Any] = {"fit": "wrap", "max_requests": 300}
        args["overrides"] = {"nand.geometry.blocks_per_plane": 128}
        here = wordline.sweep(device, traces, **args).table()
        monkeypatch.setattr(clusters, "content", of_this_process)
        with cluster.get_client() as client:
            there = wordline.sweep(device, traces, on=client, **args).table()
        assert_frame_equal(there, here)
        assert there["digest"].drop_nulls().n_unique() == 3

    def test_processes_cluster_and_resumption_give_the_same_table(
        self, device: str, cluster: Any
    ) -> None:
        args: dict[str, Any] = {
            "overrides": {"precondition.overwrite_ratio": 1.0},
            "vary": {"host.queue_depth": [1, 2, 4], "ftl.gc.victim": ["greedy", "fifo"]},
            "seeds": 2,
        }

        def stop(state: Any) -> None:
            if state.done >= 4:
                raise KeyboardInterrupt

        expected = wordline.sweep(device, jobs=1, **args).table()
        assert expected["digest"].n_unique() == 12
        assert_frame_equal(wordline.sweep(device, jobs=2, **args).table(), expected)
        with cluster.get_client() as client:
            assert_frame_equal(wordline.sweep(device, on=client, **args).table(), expected)
            kept = client.run(_kept_devices)
        assert all(1 <= len(names) <= 3 for names in kept.values())
        with pytest.raises(wordline.SweepInterrupted) as early:
            wordline.sweep(device, out="here", progress=stop, **args)
        assert 4 <= len(early.value.sweep) < 12
        assert_frame_equal(wordline.sweep(device, out="here", **args).table(), expected)

    def test_errors_name_the_original_path_of_a_sent_trace(
        self, device: str, cluster: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from wordline._sweep import cluster as clusters

        Path(device).write_text(Path(device).read_text().replace(LOAD, ""))
        path = recorded("bad.csv", 20)
        with Path(path).open("a") as file:
            file.write("what\n")
        monkeypatch.setattr(clusters, "content", of_this_process)
        with cluster.get_client() as client:
            here = wordline.sweep(device, path, on=client).table()
            # A trace is checked before it is sent; here the check is disabled.
            monkeypatch.setattr(sys.modules["wordline._sweep.tasks"], "input_fault", lambda *_: "")
            there = wordline.sweep(device, path, on=client).table()
        assert here["error"][0].startswith(f"{path}:22")
        assert there["error"][0].startswith(f"{Path(path).resolve()}:22")

    def test_workers_need_no_access_to_device_files(
        self, device: str, cluster: Any, tmp_path: Path
    ) -> None:
        expected = wordline.sweep(device, vary=VARY).table()
        with cluster.get_client() as client:
            client.run(os.chdir, str(tmp_path))
            assert_frame_equal(wordline.sweep(device, vary=VARY, on=client).table(), expected)

    def test_worker_memory_limits_the_number_of_concurrent_points(
        self, device: str, cluster: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from wordline._sweep import cluster as clusters
        from wordline._sweep import workers

        monkeypatch.setattr(workers, "available", lambda: 0)
        with cluster.get_client() as client:
            limits = [one["memory_limit"] for one in client.scheduler_info()["workers"].values()]
            with workers.workers_of(client, None, 9) as who:
                assert who.memory_bytes == sum(limits) * workers.MEMORY_SHARE
                assert who.largest_bytes == max(limits)
            monkeypatch.setattr(clusters, "rooms", lambda _client: [1000.0, 2000.0])
            with pytest.raises(wordline.WordlineError, match=r"point 0: takes .*--memory-limit"):
                wordline.sweep(device, on=client)

    def test_workers_without_a_limit_share_the_memory_of_their_host(self) -> None:
        from wordline._sweep.cluster import _shared_by_host

        workers = [("a", None, 100.0), ("a", None, 100.0), ("b", 30, 500.0), ("b", None, 500.0)]
        assert _shared_by_host(workers) == [50, 50, 30, 500]

    def test_a_cluster_without_workers_is_reported(
        self, device: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        distributed = pytest.importorskip("distributed")
        from wordline._sweep import cluster as clusters

        monkeypatch.setattr(clusters, "WAIT_S", 1)
        with (
            distributed.LocalCluster(n_workers=0, dashboard_address=None) as none,
            pytest.raises(
                wordline.WordlineError, match=r"has no worker after 1 s; start workers with"
            ),
        ):
            wordline.sweep(device, on=none.scheduler_address.replace("tcp", "dask"))

    def test_a_missing_scheduler_is_reported(self, device: str, wordline: Command) -> None:
        done = wordline("sweep", device, "--on", "dask://localhost:9", "--out", "here")
        assert done.returncode == 2
        assert "no scheduler answers" in done.stderr


def _kept_devices(dask_worker: Any) -> list[str]:
    """Returns the files of prepared devices at a worker."""
    return [one.name for one in Path(dask_worker.local_directory).glob("*.wls")]


def recorded(name: str, requests: int) -> str:
    """Writes a trace to a file."""
    lines = [f"{n * 100_000},write,{n * 4096},4096,0" for n in range(requests)]
    head = "time_ns,op,offset_bytes,size_bytes,volume"
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([head, *lines]) + "\n")
    return name


def test_a_sweep_of_many_points_is_announced_before_they_are_checked(
    tiny: str, trace: str, place: Path
) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "wordline", "sweep", tiny, "--trace", trace, "--seeds", "500000"],
        cwd=place,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with started:
        assert started.stderr is not None
        said = started.stderr.readline()
        still_checking = started.poll() is None and not (place / "out").exists()
        started.kill()
    assert said == "500,000 points; all are checked before the first one runs\n"
    assert still_checking


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Keeps Python's collector out of a test that measures CPU seconds.

    A full collection visits every object that the tests before it left behind.
    """
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_the_time_to_list_points_is_linear_in_their_number(tiny: str) -> None:
    def cpu_s(seeds: int) -> float:
        begun = time.process_time()
        assert len(plans.points(plans.Plan(tiny, seeds=seeds))) == seeds
        return time.process_time() - begun

    few, many = (min(cpu_s(seeds) for _ in range(3)) for seeds in (1_000, 20_000))
    assert many < 100 * few


def test_too_many_points_are_rejected_at_once(wordline: Command, tiny: str) -> None:
    for args, said in (
        (
            ("--seeds", "1000001"),
            "seeds = 1000001: not a number of seeds; give a number from 1 to 1,000,000",
        ),
        (
            ("--seeds", "500001", "--vary", "host.queue_depth=1,2"),
            "the plan has 1,000,002 combinations, and at most 1,000,000 are supported; vary",
        ),
    ):
        done = wordline("sweep", tiny, *args)
        assert done.returncode == 2
        assert said in done.stderr
