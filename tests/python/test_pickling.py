"""Results can be pickled, copied, sent between processes and shown in a notebook."""

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from conftest import msr

import wordline
from wordline import CacheResult, MrcResult, PlanResult, Result, RunError, WordlineError
from wordline._internal import own_version

TABLES = ("requests", "series", "latency", "dies", "blocks", "wear")
pytestmark = pytest.mark.usefixtures("place")
COPIES = [lambda kept: pickle.loads(pickle.dumps(kept)), copy.deepcopy]


def simulated(seed: int) -> Result:
    return wordline.run("demo", overrides={"workload.requests": 300}, seed=seed)


def cut_short(trace: str) -> Result:
    return wordline.run("demo", trace, fit="wrap")


@pytest.mark.parametrize("copied", COPIES, ids=["pickle", "deepcopy"])
def test_a_copied_result_equals_the_original(copied: object) -> None:
    result = simulated(1)
    back = copied(result)
    assert (back.summary, back.config, back.partial) == (result.summary, result.config, False)
    for name in TABLES:
        own, other = (pa.table(getattr(one, name)) for one in (result, back))
        assert own.equals(other, check_metadata=True), name
    assert back.report("a.html").read_text() == result.report("b.html").read_text()
    written = {path.name for path in back.write("again")}
    assert written == {path.name for path in result.write("first")}
    for name in written:
        assert Path("again", name).read_bytes() == Path("first", name).read_bytes(), name
    assert pa.table(copied(result.series)).equals(pa.table(result.series), check_metadata=True)


@pytest.mark.parametrize("copied", COPIES, ids=["pickle", "deepcopy"])
@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (wordline.cache, CacheResult),
        (wordline.mrc, MrcResult),
        (wordline.plan_cache, PlanResult),
    ],
)
def test_a_copied_trace_analysis_equals_the_original(
    trace: str, work: object, kind: type, copied: object
) -> None:
    result = work(trace)
    back = copied(result)
    assert isinstance(back, kind)
    assert back.summary == result.summary
    assert back.table.polars().equals(result.table.polars())
    assert back.report("a.html").read_text() == result.report("b.html").read_text()


def test_results_and_errors_are_returned_from_other_processes() -> None:
    Path("bad.csv").write_text(msr(70_000) + "rubbish\n")
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        there = pool.submit(simulated, 5).result()
        failed = pool.submit(cut_short, "bad.csv").exception()
    assert there.summary["digest"] == simulated(5).summary["digest"]
    assert isinstance(failed, RunError)
    assert "bad.csv:70001" in str(failed)
    assert failed.result.partial
    assert failed.result.summary["input"]["requests"] > 0


def test_a_pickle_of_another_version_is_rejected(
    trace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = simulated(1)
    kept = [result, result.series, wordline.cache(trace)]
    with monkeypatch.context() as other:
        other.setattr(own_version, "installed", lambda: "0.0.7")
        stored = [pickle.dumps(one) for one in kept]
    for one in stored:
        with pytest.raises(WordlineError, match=r"pickled by Wordline 0\.0\.7"):
            pickle.loads(one)


def test_notebook_tables_escape_names() -> None:
    name = "<img src=x onerror=alert(1)>.csv"
    Path(name).write_text(msr(300))
    for result in (wordline.cache(name), wordline.mrc(name), wordline.plan_cache(name)):
        shown = result._repr_html_()
        assert "&lt;img src=x" in shown
        assert "<img" not in shown
        assert "<table" in shown
    device = {"name": "<b>mine</b>", "workload": {"requests": 50}}
    shown = wordline.run("demo", overrides={"name": device["name"], "workload.requests": 50})
    html = shown._repr_html_()
    assert "&lt;b&gt;mine" in html
    assert "<b>" not in html
    assert shown.summary["digest"] in html
