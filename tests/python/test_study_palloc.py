"""Study `palloc`: claims, reproducibility, interruption."""

import json
import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from statistics import fmean
from typing import cast

import pytest
from conftest import environment

import wordline_studies as studies
from wordline import WordlineError
from wordline._internal.rounding import rounded
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, by_load, run_all, summary_of
from wordline_studies.figure import Setup
from wordline_studies.measures import iops, latency_us
from wordline_studies.palloc import latency, loads, queues, sequential, throughput
from wordline_studies.palloc.loads import (
    ADDRESS,
    BY_ADDRESS,
    IMMEDIATE,
    QUICK,
    TABLE,
    Variant,
    beside,
    closed,
)
from wordline_studies.palloc.orders import FAMILIES, ORDERS
from wordline_studies.palloc.queues import RULES
from wordline_studies.palloc.runs import DEVICE, by_order
from wordline_studies.results import run

CLOSED = "workload.arrival.closed-loop.queue_depth"
SMALL = {"workload.requests": 100, "nand.geometry.blocks_per_plane": 64}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Results of the quick study."""
    place = tmp_path_factory.mktemp("study") / "palloc"
    run(studies.load("palloc"), Setup(quick=True)).write(place)
    return json.loads((place / "study.json").read_text())


def figure(told: dict, name: str) -> dict:
    (one,) = (figure for figure in told["figures"] if figure["id"] == name)
    return one


def test_no_claim_has_an_unexpected_outcome(told: dict) -> None:
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []


def test_requests_and_blocks_of_a_run_are_scaled_by_one_factor() -> None:
    """The full study has 20,000 requests on the preset's 512 blocks per plane."""
    blocks = "nand.geometry.blocks_per_plane"
    here, full = (
        closed(Setup(full=full), "sql1", ORDERS[0], {}).overrides for full in (False, True)
    )
    assert full["workload.requests"] == 20_000
    assert blocks not in full
    share = Fraction(cast("int", here["workload.requests"]), 20_000)
    assert share == Fraction(cast("int", here[blocks]), 512) < 1


def test_all_figures_are_present(told: dict) -> None:
    ids = {figure["id"] for figure in told["figures"]}
    numbers = {f"3.{number}" for number in range(4, 12)}
    others = {"reading", "table-3.1", "placement", "sequential"}
    assert ids == numbers | others | {"package", "sizes"}


def test_every_load_runs_under_all_strategies(told: dict) -> None:
    runs = figure(told, "3.4")["data"]["iops"]
    assert set(TABLE) <= set(runs)
    assert all(sorted(of) == sorted(ORDERS) for of in runs.values())


def test_the_figure_of_the_immediate_scheduler_has_its_loads_and_every_strategy() -> None:
    setup = Setup(quick=True)
    some = by_order(setup, beside(setup), lambda load, order: closed(setup, load, order, {}))[0]
    runs = throughput.immediate(setup, some).data["iops"]
    assert set(runs) == set(beside(setup))
    assert all(sorted(of) == sorted(ORDERS) for of in runs.values())


def test_generated_loads_match_the_tables(told: dict) -> None:
    """Tolerance of five standard errors of the quick run.

    The number of writes is binomial, and a size is one of the two whole numbers of pages around the
    mean. Means are data over requests.
    """
    rows = {row["what"]: row for row in figure(told, "table-3.1")["rows"]}
    for name, load in TABLE.items():
        written = load.write_percent / 100
        count = {"write": QUICK * written, "read": QUICK * (1 - written)}
        for kind, mean in zip(("write", "read"), load.generated, strict=True):
            error = (mean % 1 * (1 - mean % 1)) ** 0.5 / max(1, count[kind]) ** 0.5
            ours = rows[f"{name}: mean size of a {kind}"]["ours"]
            assert ours is None or abs(ours - mean) <= 5 * error + 1e-9, (name, kind)
        error = 100 * (written * (1 - written) / QUICK) ** 0.5
        row = rows[f"{name}: share of writes in the requests"]
        assert row["published"] == pytest.approx(load.write_percent)
        assert abs(row["ours"] - row["published"]) <= 5 * error


def test_the_tables_of_the_document_agree() -> None:
    """Data over the requests of table 6.1 give 2.0 to 2.2 KB per unit of table 3.1, except where
    the table rounds small sizes down: fin1, fin2, and web's 0.1 % of data."""
    for name, load in TABLE.items():
        written = load.megabytes * load.data_written_percent / 100
        sizes = {"write": (written / load.writes, load.write_pages)}
        sizes["read"] = ((load.megabytes - written) / load.reads, load.read_pages)
        for kind, (megabytes, units) in sizes.items():
            rounded = units < 2 or (name, kind) == ("web", "write")
            assert rounded or 2.0 < 1000 * megabytes / units < 2.2, (name, kind)
    assert TABLE["fin2"].generated == (1.42, 1.11)


@pytest.mark.parametrize("order", ["WCDP", "DPWC", "PWCD"])
def test_single_page_requests_do_not_depend_on_the_strategy(order: str) -> None:
    """A random page is on each plane with the same probability. Without a blocking queue, earlier
    requests have no influence."""
    load = {"workload.requests": 20_000, "workload.read_ratio": 0.8}
    load |= {"workload.request_bytes": 2048, "workload.align_bytes": 2048, CLOSED: 32}
    one, other = (
        Case(DEVICE, "", Variant(queue=IMMEDIATE, layout=BY_ADDRESS).overrides(each) | load)
        for each in ("CWDP", order)
    )
    first, last = (iops(summary_of(run)) for run in run_all([one, other]))
    assert last == pytest.approx(first, rel=0.03)


def test_there_are_24_strategies_in_four_families() -> None:
    assert len(set(ORDERS)) == 24
    assert [len(orders) for orders in FAMILIES.values()] == [6] * 4
    assert sorted(sum(FAMILIES.values(), ())) == sorted(ORDERS)


def test_the_study_is_reproducible(told: dict) -> None:
    setup = Setup(quick=True)
    again = sequential.figure(setup)
    assert rounded(again.data) == figure(told, "sequential")["data"]
    assert setup.configs.items() <= told["configs"].items()


def test_results_are_in_case_order_and_include_errors() -> None:
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


def measured(variant: Variant, order: str, load: dict[str, Value], depth: int = 32) -> Summary:
    made = variant.overrides(order) | {CLOSED: depth, **load, **variant.more}
    (run,) = run_all([Case(DEVICE, "", made)])
    assert run.summary, run.fault
    return run.summary


def pages(count: int, writes: bool, requests: int = 500) -> dict[str, Value]:
    """Returns the settings of requests of `count` pages, aligned to their size."""
    return {
        "workload.requests": requests,
        "workload.read_ratio": 0.0 if writes else 1.0,
        "workload.request_bytes": count * 2048,
        "workload.align_bytes": count * 2048,
    }


def test_requests_that_need_all_channels_are_served_one_at_a_time() -> None:
    """A read of one page of every die.

    On each channel, sixteen transfers of 2,048 bytes at 25 ns follow a read of 50 us, then the next
    request starts. Commands and addresses take a few cycles more.
    """
    found = iops(measured(ADDRESS, "CWDP", pages(128, writes=False)))
    assert found == pytest.approx(1e6 / (50 + 16 * 51.2), rel=0.02)


def test_two_planes_filled_unevenly_are_programmed_by_one_command() -> None:
    """Writes one at a time; nine of ten have two pages.

    Writes of one page move the planes of a die apart. A program takes 250 or 2,200 us, depending on
    the page. Two pages take one command with two transfers, or two serial programs.
    """
    sizes = [{"bytes": 2048, "weight": 0.1}, {"bytes": 4096, "weight": 0.9}]
    load = pages(2, writes=True, requests=40_000) | {"workload.write_bytes": sizes}
    for on_issue, pair in ((True, 1225 + 2 * 51.2), (False, 2 * (1225 + 51.2))):
        found = latency_us(measured(Variant(on_issue=on_issue), "PCWD", load, depth=1))
        assert found == pytest.approx(0.1 * 1276.2 + 0.9 * pair, rel=0.06), on_issue


def test_filling_planes_before_dies_is_faster_with_multi_plane_commands() -> None:
    """Reason why CPWD is ahead of CWDP, and WPCD of WDCP: sql1 with and without multi-plane
    commands."""
    for first, last in (("CPWD", "CWDP"), ("WPCD", "WDCP")):
        gains = []
        for composition in ("greedy", "off"):
            variant = Variant(more={"ssd.composition": composition})
            made = [closed(Setup(quick=True), "sql1", one, {}, variant) for one in (first, last)]
            one, other = (iops(summary_of(run)) for run in run_all(made))
            gains.append(one / other)
        assert gains[0] > 1.05 > 0.9 > gains[1], first


def test_every_queue_rule_changes_the_throughput() -> None:
    """Runs msnfs under each rule."""
    cases = [closed(Setup(quick=True), "msnfs", "PWCD", {}, one, 500) for one in RULES.values()]
    served = [round(iops(summary_of(run))) for run in run_all(cases)]
    assert len(set(served)) == len(RULES), dict(zip(RULES, served, strict=True))


def test_the_figure_of_queue_rules_has_every_load_and_strategy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert queues.rules(Setup(quick=True)) == []
    monkeypatch.setattr(queues, "REQUESTS", 64)
    monkeypatch.setattr(queues, "RULES", dict(list(RULES.items())[:2]))
    monkeypatch.setattr(loads, "BLOCKS", loads.QUICK_BLOCKS)
    (made,) = queues.rules(Setup())
    assert list(made.data["iops"]) == list(RULES)[:2]
    for runs in made.data["iops"].values():
        assert set(runs) == set(beside(Setup()))
        assert all(sorted(of) == sorted(ORDERS) for of in runs.values())


def relative(told: dict, name: str, key: str) -> dict[str, dict[str, float]]:
    """Returns the values of a figure relative to CWDP, by load and strategy."""
    by_load = figure(told, name)["data"][key]
    return {
        load: {order: value / by_load[load]["CWDP"] for order, value in by_load[load].items()}
        for load in TABLE
    }


def test_long_reads_lose_time_by_transfers_over_one_channel(told: dict) -> None:
    """Without web and sql2, PWCD, PDCW and PDWC have CWDP's response time within 15 %, and PDCW a
    shorter one. PDWC waits less if requests have one or two pages."""
    times = relative(told, "3.5", "latency_us")
    rest = [load for load in TABLE if load not in ("web", "sql2")]
    means = {order: fmean(times[load][order] for load in rest) for order in ORDERS}
    assert means["PDCW"] < 1
    assert all(abs(means[order] - 1) < 0.15 for order in ("PWCD", "PDCW", "PDWC"))
    assert min(times[load][order] for load in ("web", "sql2") for order in ("PDWC", "PWCD")) > 3
    waits = figure(told, "3.7")["data"]["wait_us"]
    less = [load for load in TABLE if waits[load]["PDWC"] < waits[load]["CWDP"]]
    assert less == ["fin1", "fin2"]


def test_pdwc_waits_longer_and_msnfs_is_slower_on_a_busy_device() -> None:
    busy = latency.busy(Setup(quick=True))
    for waits in busy.data["wait_us"].values():
        assert waits["PDCW"] < waits["CWDP"] < waits["PDWC"]
    (msnfs,) = (
        row.ours for row in busy.rows if row.what.startswith("at 50 % of CWDP's throughput: msnfs")
    )
    assert msnfs is not None
    assert msnfs > 0


def test_at_light_load_the_best_of_a_family_fills_channels_next(told: dict) -> None:
    times = relative(told, "3.5", "latency_us")
    means = {order: fmean(times[load][order] for load in TABLE) for order in ORDERS}
    firsts = {min(orders, key=means.__getitem__) for orders in FAMILIES.values()}
    assert all("C" in order[:2] for order in firsts)


def test_only_sharing_planes_saves_commands(told: dict) -> None:
    commands = relative(told, "3.6", "commands")
    means = {order: fmean(one[order] for one in commands.values()) for order in ORDERS}
    assert max(means["DPWC"], means["DPCW"]) < 0.75
    assert min(means["DCWP"], means["DWCP"]) > 0.98


def test_reads_of_web_placed_by_address_cannot_gain_from_one_channel() -> None:
    """Reason why web and sql2 gain only with first-read placement: a read of eight pages takes one
    transfer on each of eight channels, or eight transfers on one channel."""
    for order, transfers in (("CWDP", 1), ("PDWC", 8)):
        found = latency_us(measured(ADDRESS, order, pages(8, writes=False), depth=1))
        assert found == pytest.approx(50 + transfers * 51.2, rel=0.02), order


def test_latency_of_a_full_queue_follows_from_iops_by_littles_law() -> None:
    """Little's law: the response time is 32 over IOPS. With 34.4 % fewer IOPS, msnfs would be 52 %
    slower under channel-first strategies; 23 % faster is published."""
    later = 100 * (1 / (1 - 0.344) - 1)
    assert later == pytest.approx(52.4, abs=0.1)
    summary = measured(ADDRESS, "CWDP", pages(4, writes=True, requests=4_000))
    assert latency_us(summary) == pytest.approx(32e6 / iops(summary), rel=0.03)


def test_an_interrupted_study_keeps_its_points(tmp_path: Path) -> None:
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
    assert "points; start the same command again to continue" in errors
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["points.jsonl"]
    runs = left[0].read_text().splitlines()
    assert len({json.loads(line)["key"] for line in runs}) == len(runs) > 3


def test_only_a_recorded_load_may_be_omitted() -> None:
    good = SMALL | {"workload.request_bytes": 2048}
    cases = {
        ("fitted", "CWDP"): Case(DEVICE, "fitted", good),
        ("recorded", "CWDP"): Case(DEVICE, "recorded", good | {"workload.read_ratio": 2.0}),
    }
    setup = Setup()
    runs, (sentence,) = by_load(setup, cases, {"recorded"})
    assert list(runs) == list(setup.configs) == ["fitted"]
    assert sentence.startswith("recorded is omitted: ")
    assert "workload.read_ratio" in sentence
    with pytest.raises(WordlineError, match=r"workload\.read_ratio"):
        by_load(setup, cases)
