"""The study of queueing: claims as asserted, loads of the table, laws that no scheduler escapes."""

import json
from itertools import pairwise
from statistics import fmean

import pytest

import wordline
import wordline.study as studies
from wordline.study import Setup
from wordline.study.paq.loads import PAGES, TABLE, requests, written
from wordline.study.paq.runs import DEVICE, QUEUE, closed
from wordline.study.paq.schedulers import ALL, VARIANTS
from wordline.study.paq.sensitivity import CHANNELS, FEWER
from wordline.study.results import run

MANY = 20_000


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The study in short, as written."""
    place = tmp_path_factory.mktemp("study") / "paq"
    run(studies.load("paq"), Setup(quick=True)).write(place)
    return json.loads((place / "study.json").read_text())


@pytest.fixture(scope="module")
def data(told: dict) -> dict:
    """By figure: the numbers behind its plots."""
    return {figure["id"]: figure["data"] for figure in told["figures"]}


def test_every_claim_is_as_asserted(told: dict) -> None:
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []
    assert all(claim["because"] for claim in claims if not claim["holds"])


def test_every_figure_of_the_specification_is_there(told: dict) -> None:
    ids = {figure["id"] for figure in told["figures"]}
    numbers = {f"6.{number}" for number in range(8, 16)}
    assert ids == numbers | {"table-6.1", "all", "search", "stalls", "arriving"}


def test_every_load_meets_all_schedulers(data: dict) -> None:
    for by_load in (data["all"]["iops_over_vaq"], data["arriving"]["latency_over_vaq"]):
        assert list(by_load) == list(TABLE)
        assert all(sorted(one) == sorted(ALL) for one in by_load.values())
    for means in (data["6.14"]["iops_over_vaq"], data["6.15"]["wait_ms"]):
        assert list(means) == [str(channels) for channels in CHANNELS]
        for by_scheduler in means.values():
            assert sorted(by_scheduler) == sorted(VARIANTS)
            for by_queue in by_scheduler.values():
                assert list(by_queue) == [str(queue) for queue in FEWER]


@pytest.mark.parametrize("name", TABLE)
def test_generated_loads_are_those_of_the_table(name: str) -> None:
    """Shares and mean sizes, within five standard errors of so many requests."""
    load = TABLE[name]
    made = list(requests(load, MANY))
    reads = [one for one in made if not one.writes]
    writes = [one for one in made if one.writes]
    near(len(reads) / MANY, load.read_percent / 100, MANY)
    for those, random_percent, pages in (
        (reads, load.random_reads_percent, load.sizes.read),
        (writes, load.random_writes_percent, load.sizes.write),
    ):
        assert all(0 <= one.first <= PAGES - one.pages for one in those)
        assert {one.pages for one in those} <= {int(pages), int(pages) + 1}
        if len(those) < 100:
            continue
        follows = sum(two.first == one.first + one.pages for one, two in pairwise(those))
        near(1 - follows / (len(those) - 1), random_percent / 100, len(those))
        near(fmean(one.pages for one in those) - int(pages), pages % 1, len(those))


def near(ours: float, share: float, count: int) -> None:
    """A share of so many draws."""
    assert abs(ours - share) <= 5 * (share * (1 - share) / count) ** 0.5 + 1 / count


def test_a_full_queue_obeys_littles_law(data: dict) -> None:
    """Requests under way are throughput times latency, but for the ends of the run."""
    latency, iops = data["6.10"]["latency_us"], data["6.9"]["iops"]
    for load in TABLE:
        for scheduler in ALL:
            under_way = iops[load][scheduler] * latency[load][scheduler] / 1e6
            assert 0.85 * QUEUE < under_way <= QUEUE * 1.001, (load, scheduler)


def test_a_scheduler_changes_the_order_and_not_the_work() -> None:
    """Reads alone: the same bytes, the same pages, whoever schedules."""
    done = set()
    with written(["web1"], 500) as paths:
        for scheduler in ALL:
            case = closed("web1", paths["web1"], scheduler)
            summary = wordline.run(DEVICE, case.trace, overrides=case.overrides).summary
            told = summary["input"]
            done.add((told["read_bytes"], told["written_bytes"], summary["flash"]["page_reads"]))
    assert len(done) == 1


def test_written_traces_are_gone_afterwards() -> None:
    with written(["fin1"], 10) as paths:
        path = paths["fin1"]
        assert len(path.read_text().splitlines()) == 11
    assert not path.parent.exists()
