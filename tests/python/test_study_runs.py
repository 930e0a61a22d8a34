"""A study gives the same numbers wherever its points run, and after an interruption."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import wordline
import wordline_studies as studies
from wordline import cli
from wordline._sweep.engine import State
from wordline._sweep.work import Run
from wordline_studies.cases import READING, Case, latencies_us, run_all, summary_of, tabled
from wordline_studies.figure import Figure, Setup, Study
from wordline_studies.paq import series
from wordline_studies.results import run
from wordline_studies.runs import Runs


def one_by_one(setup: Setup) -> Figure:
    """Returns a figure of the study paq, whose claims test no statement of this study."""
    figure = series.figure(setup)
    return replace(figure, claims=[replace(claim, ids=()) for claim in figure.claims])


ONE = Study("one", "Latencies one by one", "The study paq", (one_by_one,))
POINTS = 6


@pytest.fixture(scope="module")
def straight() -> dict[str, Any]:
    """Results of the study on this machine, without interruption."""
    return told()


def told(runs: Runs | None = None) -> dict[str, Any]:
    with runs or Runs() as opened:
        return run(ONE, Setup(quick=True, runs=opened)).to_json()


def test_rows_of_a_case_are_those_of_its_run(trace: str, tiny: str) -> None:
    case = Case(tiny, "tiny", {"replay.mode.closed-loop.queue_depth": 4}, Path(trace), 300)
    straight = wordline.run(tiny, trace, overrides=case.overrides, max_requests=300, **READING)
    found = tabled(Setup(), {"one": case}, "requests")["one"]
    expected = straight.requests.polars().sort("index")["latency_ps"].to_list()
    assert latencies_us(found) == [ps / 1e6 for ps in expected]
    by_interval = tabled(Setup(), {"one": case}, "series")["one"]
    assert by_interval.table("series").equals(straight.series.polars())


def test_a_result_with_more_tables_serves_a_case_that_needs_fewer(trace: str, tiny: str) -> None:
    case = Case(tiny, "tiny", {"replay.mode.closed-loop.queue_depth": 4}, Path(trace), 300)
    runs, other = Runs(), Runs()
    plain = timeless(run_all([case], runs)[0])
    for table in ("series", "requests"):
        wide = run_all([case], runs, (table,))[0]
        assert wide.tables.keys() == {table}
        assert timeless(wide) == plain
    assert runs.kept == 3
    run_all([case], other, ("requests", "series"))
    for tables in ((), ("requests",), ("series",)):
        assert timeless(run_all([case], other, tables)[0]) == plain
    assert other.kept == 1


def timeless(run: Run) -> dict[str, Any]:
    """Returns the summary of a run without its speed."""
    return {key: value for key, value in summary_of(run).items() if key != "speed"}


def test_an_interrupted_study_continues(straight: dict[str, Any], tmp_path: Path) -> None:
    def stop(state: State) -> None:
        if state.done >= 2:
            raise KeyboardInterrupt

    journal = str(tmp_path / "points.jsonl")
    stopped = Runs(journal, heard=stop)
    with pytest.raises(KeyboardInterrupt):
        told(stopped)
    assert 2 <= stopped.kept < POINTS
    again = Runs(journal)
    assert again.kept == stopped.kept
    assert told(again) == straight
    assert again.kept == POINTS


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_study(straight: dict[str, Any], cluster: Any) -> None:
    on = cluster.scheduler_address.replace("tcp", "dask")
    assert told(Runs(on=on)) == straight


def test_ctrl_c_reports_the_number_of_points_kept(
    trace: str, tiny: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(tiny, "tiny", {}, Path(trace), 100)

    def figure(setup: Setup) -> Figure:
        tabled(setup, {"one": case}, "requests")
        raise KeyboardInterrupt

    monkeypatch.setattr(studies, "load", lambda _: Study("test", "A test", "Nobody", (figure,)))
    assert cli.main(["study", "test", "--out", "here", "--progress"]) == 130
    said = (
        f"error: interrupted; {Path('here').resolve()} keeps the results of 1 point; start the "
        "same command again to continue"
    )
    assert said in capsys.readouterr().err.splitlines()
    assert len(Path("here/points.jsonl").read_text().splitlines()) == 1
