"""The study of page allocation: claims as asserted, numbers the same again, a clean Ctrl-C."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import environment

import wordline.study as studies
from wordline import WordlineError
from wordline.study import Setup
from wordline.study.cases import Case, by_load, run_all
from wordline.study.palloc import sequential
from wordline.study.palloc.loads import TABLE, Variant
from wordline.study.palloc.orders import FAMILIES, ORDERS
from wordline.study.palloc.runs import DEVICE
from wordline.study.results import run

CLOSED = "workload.arrival.closed-loop.queue_depth"
SMALL = {"workload.requests": 100, "nand.geometry.blocks_per_plane": 64}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The study in short, as written."""
    place = tmp_path_factory.mktemp("study") / "palloc"
    run(studies.load("palloc"), Setup(quick=True)).write(place)
    return json.loads((place / "study.json").read_text())


def test_every_claim_is_as_asserted(told: dict) -> None:
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    assert all(claim["because"] for claim in claims if not claim["holds"])


def test_every_figure_of_the_specification_is_there(told: dict) -> None:
    ids = {figure["id"] for figure in told["figures"]}
    numbers = {f"3.{number}" for number in range(4, 12)}
    assert ids == numbers | {"table-3.1", "placement", "sequential", "immediate", "conflicts"}


def test_every_load_meets_all_strategies(told: dict) -> None:
    figures = {figure["id"]: figure for figure in told["figures"]}
    runs = [figures["3.4"]["data"]["iops"], figures["immediate"]["data"]["iops"]]
    runs += figures["conflicts"]["data"]["iops"].values()
    assert all(len(iops) >= 9 for iops in runs)
    assert all(sorted(of) == sorted(ORDERS) for iops in runs for of in iops.values())


def test_generated_loads_are_those_of_the_table(told: dict) -> None:
    """Within five standard errors of the shortened run: the number of writes is binomial, a size is
    one of the two whole numbers of pages next to the mean."""
    rows = {row["what"]: row for row in told["figures"][0]["rows"] if row["published"] is not None}
    assert len(rows) == 27
    for name, load in TABLE.items():
        written = load.write_percent / 100
        counts = {"write": 12_500 * written, "read": 12_500 * (1 - written)}
        pages = {"write": load.write_pages, "read": load.read_pages}
        spread = {kind: (mean % 1 * (1 - mean % 1)) ** 0.5 for kind, mean in pages.items()}
        relative = 1 / counts["write"] + 1 / counts["read"]
        for kind, mean in pages.items():
            error = spread[kind] / counts[kind] ** 0.5
            assert abs(rows[f"{name}: mean {kind}"]["ours"] - mean) <= 5 * error + 1e-9, name
            relative += (spread[kind] / mean) ** 2 / counts[kind]
        share = rows[f"{name}: data written"]["published"] / 100
        error = 100 * share * (1 - share) * relative**0.5
        assert abs(rows[f"{name}: data written"]["ours"] - 100 * share) < 5 * error, name


def test_requests_of_a_page_do_not_know_the_strategy(told: dict) -> None:
    """A page anywhere is on each plane with the same probability; without a queue that blocks it
    does not matter what was before it."""
    figures = {figure["id"]: figure for figure in told["figures"]}
    fin = figures["immediate"]["data"]["iops"]["fin2"]
    assert max(fin.values()) < 1.03 * min(fin.values())


def test_there_are_24_strategies_in_four_families() -> None:
    assert len(set(ORDERS)) == 24
    assert [len(orders) for orders in FAMILIES.values()] == [6] * 4
    assert sorted(sum(FAMILIES.values(), ())) == sorted(ORDERS)


def test_the_numbers_are_the_same_again(told: dict) -> None:
    written = {figure["id"]: figure for figure in told["figures"]}
    setup = Setup(quick=True)
    made = studies.Study("again", "", "", (sequential.figure,))
    again = run(made, setup).to_json()
    for figure in again["figures"]:
        assert json.dumps(figure) == json.dumps(written[figure["id"]])
    assert again["configs"].items() <= told["configs"].items()


def test_answers_stand_in_the_order_of_the_cases_and_faults_are_told() -> None:
    cases = [
        Case(DEVICE, "", SMALL | {"workload.request_bytes": 2048 * pages}) for pages in (1, 2, 3, 4)
    ]
    wrong = Case(DEVICE, "", SMALL | {"workload.read_ratio": 2.0})
    *runs, fault = run_all([*cases, wrong])
    bytes_moved = [
        one.summary["input"]["read_bytes"] + one.summary["input"]["written_bytes"]
        for one in runs
        if one.summary
    ]
    assert bytes_moved == [100 * 2048 * pages for pages in (1, 2, 3, 4)]
    assert fault.summary is None
    assert "workload.read_ratio" in fault.fault


@pytest.mark.parametrize("queue", ["die", "package", "channel"])
def test_a_queue_that_blocks_serves_one_request_at_a_time_if_all_need_all(queue: str) -> None:
    """A read of a page of every package: on each channel eight transfers of 2,112 bytes at 50 MB/s
    after a read of 50 us, then the next request. Commands and addresses take a few cycles more."""
    load = {
        "workload.requests": 500,
        "workload.read_ratio": 1.0,
        "workload.request_bytes": 128 * 2048,
        "workload.align_bytes": 128 * 2048,
    }
    overrides = Variant(queue=queue).overrides(Setup(quick=True), "CWDP") | load
    (run,) = run_all([Case(DEVICE, "", overrides | {CLOSED: 32})])
    assert run.summary
    expected = 1e6 / (50 + 16 * 2112 / 50)
    assert run.summary["throughput"]["iops"] == pytest.approx(expected, rel=0.02)


def test_plane_first_writes_are_served_one_at_a_time() -> None:
    """Writes of two pages on the planes of a die, filled unevenly: many at a time are served no
    faster than one; without a queue that blocks they are."""
    load = {
        "workload.requests": 2000,
        "workload.read_ratio": 0.0,
        "workload.request_bytes": 2 * 2048,
        "workload.align_bytes": 2048,
    }
    iops = {}
    for queue, depth in (("package", 1), ("package", 32), ("immediate", 32)):
        overrides = Variant(queue=queue).overrides(Setup(quick=True), "PCWD") | load
        (run,) = run_all([Case(DEVICE, "", overrides | {CLOSED: depth})])
        assert run.summary
        iops[queue, depth] = run.summary["throughput"]["iops"]
    assert iops["package", 32] < 2 * iops["package", 1] < iops["immediate", 32] / 4


def test_interruption_ends_the_study_and_leaves_what_it_goes_on_from(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "wordline", "study", "palloc", "--out", "out"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    journal = tmp_path / "out/points.jsonl"
    while not journal.exists() or journal.read_bytes().count(b"\n") < 4:
        assert started.poll() is None
        time.sleep(0.02)
    os.killpg(started.pid, signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "Traceback" not in errors
    assert "points, and the same command goes on from there" in errors
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["points.jsonl"]
    runs = left[0].read_text().splitlines()
    assert len({json.loads(line)["key"] for line in runs}) == len(runs) > 3


def test_only_a_recorded_load_may_be_left_out() -> None:
    good = SMALL | {"workload.request_bytes": 2048}
    cases = {
        ("fitted", "CWDP"): Case(DEVICE, "fitted", good),
        ("recorded", "CWDP"): Case(DEVICE, "recorded", good | {"workload.read_ratio": 2.0}),
    }
    setup = Setup()
    runs, (sentence,) = by_load(setup, cases, {"recorded"})
    assert list(runs) == list(setup.configs) == ["fitted"]
    assert sentence.startswith("recorded was left out: ")
    assert "workload.read_ratio" in sentence
    with pytest.raises(WordlineError, match=r"workload\.read_ratio"):
        by_load(setup, cases)
