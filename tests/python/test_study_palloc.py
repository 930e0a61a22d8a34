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
from wordline.study import Setup
from wordline.study.cases import Case, run_all
from wordline.study.outcome import run
from wordline.study.palloc import blocking, sequential
from wordline.study.palloc.orders import FAMILIES, ORDERS
from wordline.study.palloc.runs import DEVICE

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
    assert ids == numbers | {"table-3.1", "placement", "sequential", "blocking"}


def test_every_load_meets_all_strategies(told: dict) -> None:
    figures = {figure["id"]: figure for figure in told["figures"]}
    iops = figures["3.4"]["data"]["iops"]
    assert len(iops) >= 9
    assert all(sorted(of) == sorted(ORDERS) for of in iops.values())


def test_generated_loads_are_those_of_the_table(told: dict) -> None:
    """Means exactly; the share of writes within five standard errors of the shortened run."""
    rows = {row["what"]: row for row in told["figures"][0]["rows"] if row["published"] is not None}
    assert len(rows) == 27
    for what, row in rows.items():
        if what.endswith("writes"):
            share = row["published"] / 100
            error = 100 * (share * (1 - share) / 12_500) ** 0.5
            assert abs(row["ours"] - row["published"]) < 5 * error, what
        else:
            assert row["ours"] == row["published"], what


def test_requests_of_a_page_do_not_know_the_strategy(told: dict) -> None:
    """A page anywhere is on each plane with the same probability."""
    figures = {figure["id"]: figure for figure in told["figures"]}
    fin = figures["3.4"]["data"]["iops"]["fin2"]
    assert max(fin.values()) < 1.03 * min(fin.values())


def test_there_are_24_strategies_in_four_families() -> None:
    assert len(set(ORDERS)) == 24
    assert [len(orders) for orders in FAMILIES.values()] == [6] * 4
    assert sorted(sum(FAMILIES.values(), ())) == sorted(ORDERS)


def test_the_numbers_are_the_same_again(told: dict) -> None:
    written = {figure["id"]: figure for figure in told["figures"]}
    setup = Setup(quick=True)
    made = studies.Study("again", "", "", (sequential.figure, blocking.figure))
    again = run(made, setup).to_json()
    for figure in again["figures"]:
        assert json.dumps(figure) == json.dumps(written[figure["id"]])
    assert again["configs"].items() <= told["configs"].items()


def test_answers_stand_in_the_order_of_the_cases_and_faults_are_told() -> None:
    cases = [Case("", SMALL | {"workload.request_bytes": 2048 * pages}) for pages in (1, 2, 3, 4)]
    wrong = Case("", SMALL | {"workload.read_ratio": 2.0})
    *runs, fault = run_all(DEVICE, [*cases, wrong])
    bytes_moved = [
        one.summary["input"]["read_bytes"] + one.summary["input"]["written_bytes"]
        for one in runs
        if one.summary
    ]
    assert bytes_moved == [100 * 2048 * pages for pages in (1, 2, 3, 4)]
    assert fault.summary is None
    assert "workload.read_ratio" in fault.fault


def test_a_queue_that_blocks_serves_one_request_at_a_time_if_all_need_all() -> None:
    """CWDP spreads 8 pages over 8 channels: a read and a transfer on each, one by one."""
    load = blocking.Load(0, 16, 16, 100)
    expected = 1e6 / (blocking.READ_US + blocking.TRANSFER_US)
    assert blocking.rate(load, "CWDP", "channel", 1000) == pytest.approx(expected)


def test_interruption_ends_the_study_and_leaves_nothing(tmp_path: Path) -> None:
    started = subprocess.Popen(
        [sys.executable, "-m", "wordline", "study", "palloc", "--out", "out"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    time.sleep(4)
    os.killpg(started.pid, signal.SIGINT)
    _, errors = started.communicate(timeout=60)
    assert started.returncode == 130
    assert "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []
