"""Study `paq`: claims, fitted loads, and laws that hold for every scheduler."""

import json
from itertools import pairwise
from random import Random
from statistics import fmean

import pytest

import wordline
import wordline_studies as studies
from wordline.summary import Summary
from wordline_studies import generated
from wordline_studies.cases import required
from wordline_studies.figure import Setup
from wordline_studies.generated import Request
from wordline_studies.measures import gain, iops
from wordline_studies.paq import performance
from wordline_studies.paq.claims import WRITING
from wordline_studies.paq.loads import PAGE, PAGES, TABLE, WEBS, Sizes, requests, written
from wordline_studies.paq.performance import BUS_MB_PER_S, idle_change
from wordline_studies.paq.runs import DEVICE, QUEUE, bus_s, closed, host_queue_us, read_us
from wordline_studies.paq.schedulers import ALL, VAQ, VARIANTS
from wordline_studies.paq.sensitivity import CHANNELS, FEWER, LONGEST, MATES, REQUESTS
from wordline_studies.results import run

MANY = 20_000


@pytest.fixture(scope="module")
def setup() -> Setup:
    """Options of the quick study, with its runs."""
    return Setup(quick=True)


@pytest.fixture(scope="module")
def told(setup: Setup, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """Results of the quick study."""
    place = tmp_path_factory.mktemp("study") / "paq"
    run(studies.load("paq"), setup).write(place)
    return json.loads((place / "study.json").read_text())


@pytest.fixture(scope="module")
def data(setup: Setup, told: dict) -> dict:
    """Data of the plots, by figure, also of the figures that the quick study omits."""
    found = {figure["id"]: figure["data"] for figure in told["figures"]}
    with written(list(TABLE), setup.requests(performance.REQUESTS)) as paths:
        fitted, _ = performance.under_all(setup, paths)
        more = performance.variants(setup, paths, fitted)
    return found | {figure.id: figure.data for figure in more}


def test_no_claim_has_an_unexpected_outcome(told: dict) -> None:
    claims = [claim for figure in told["figures"] for claim in figure["claims"]]
    assert [claim["text"] for claim in claims if not claim["passed"]] == []


def test_all_figures_are_present(told: dict) -> None:
    ids = {figure["id"] for figure in told["figures"]}
    numbers = {f"6.{number}" for number in range(6, 16)}
    assert ids == numbers | {
        "reading",
        "table-6.1",
        "packing",
        "all",
        "search",
        "conflicts",
    }


def test_every_load_runs_under_all_schedulers(data: dict) -> None:
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
def test_generated_loads_match_the_table(name: str) -> None:
    """Compares shares and mean sizes, within five standard errors."""
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
    """Checks a share of `count` draws within five standard errors."""
    assert abs(ours - share) <= 5 * (share * (1 - share) / count) ** 0.5 + 1 / count


def test_a_full_queue_obeys_littles_law(data: dict) -> None:
    """Outstanding requests equal throughput times latency, except at the ends of the run."""
    latency, iops = data["6.10"]["latency_us"], data["6.9"]["iops"]
    for load in TABLE:
        for scheduler in ALL:
            under_way = iops[load][scheduler] * latency[load][scheduler] / 1e6
            assert 0.85 * QUEUE < under_way <= QUEUE * 1.001, (load, scheduler)


def test_single_page_requests_take_the_times_of_the_thesis() -> None:
    """A read takes 180 us with its transfers (6.6.3). A write takes 860.36 us, less the 3.2 us by
    which the read in the footnote of 7.6 is longer."""
    for writes, us in ((False, 180.0), (True, 860.36 - 3.2)):
        told = played([Request(0, writes, 5, 1)], VAQ, 1)
        assert told["latency"]["all"]["mean_us"] == pytest.approx(us)


def played(load: list[Request], scheduler: str, queue: int) -> Summary:
    """Runs a load with twice as many outstanding requests as the queue holds."""
    with generated.written({"load": load}, PAGE) as paths:
        more = {"host.queue_depth": queue}
        case = closed("load", paths["load"], scheduler, outstanding=2 * queue, more=more)
        return wordline.run(DEVICE, case.trace, overrides=case.overrides, requests=False).summary


def test_a_faster_bus_gives_web_the_published_gain_and_msnfs4_too_much(data: dict) -> None:
    """Checks the explanation of the gains of the web loads and of msnfs4, and its arithmetic."""
    rules = data["rules"]
    as_read = rules["more_mb_per_s"]["the reading"]
    fast = rules["more_mb_per_s"]["a bus of 20 ns per byte"]
    assert 100 * 260 / BUS_MB_PER_S > 80
    assert all(as_read[web] < 85 and fast[web] > 90 for web in WEBS)
    gained = {rule: one["msnfs4"] for rule, one in rules["gain_percent"].items()}
    assert abs(gained["the reading"] - 41) < 2
    assert gained["a bus of 20 ns per byte"] > 41 + 5


def test_idle_time_falls_with_the_duration_of_the_same_work(data: dict) -> None:
    assert idle_change(62.7, 0) == pytest.approx(-38.5, abs=0.05)
    assert idle_change(62.7, 0.36) == pytest.approx(-60, abs=0.5)
    idle, iops = data["6.11"]["unserved_s"], data["6.9"]["iops"]
    for load in (*WEBS, "sql3", "usr2"):
        gained = 100 * (iops[load]["paq2"] / iops[load]["vaq"] - 1)
        changed = 100 * (idle[load]["paq2"] / idle[load]["vaq"] - 1)
        busy = [idle_change(gained, share) for share in (0.03, 0.15)]
        assert min(busy) - 1 < changed < max(busy) + 1, load
    served = [load for load in WRITING if iops[load]["paq2"] < 1.15 * iops[load]["vaq"]]
    assert served == ["msnfs3"]


def test_vaq_gains_little_from_longer_queues_if_requests_conflict(data: dict) -> None:
    """Without msnfs3, the gain is below 5 % on average. With it, the gain is above 5 % on 16
    channels."""
    assert max(data["6.14"]["vaq_without_percent"].values()) < 5
    means = data["6.14"]["iops_over_vaq"]["16"]["vaq"]
    assert means["256"] > 1.05 * means["32"]


def test_loads_that_leave_four_channels_unused_gain_more_from_longer_queues(data: dict) -> None:
    found = data["6.14"]["four_channels"]
    assert fmean(one["use_percent"][1] for one in found.values()) > 90
    gained = {
        idle: [
            one["gain_percent"]
            for one in found.values()
            if (one["use_percent"][0] < 75 if idle else one["use_percent"][0] > 85)
        ]
        for idle in (True, False)
    }
    assert min(gained[True]) > 15 > max(gained[False])


def test_paq0_is_below_vaq_on_most_loads_only_because_of_its_searches(data: dict) -> None:
    iops, lost = data["6.9"]["iops"], data["search"]["lost_percent"]["paq0"]
    over = {load: one["paq0"] / one["vaq"] for load, one in iops.items()}
    free = {load: value / (1 - lost[load] / 100) for load, value in over.items()}
    below, without = (sum(value < 1 for value in one.values()) for one in (over, free))
    assert without < len(TABLE) / 2 < below


def test_writes_overtake_the_reads_of_mixed_loads_under_paq2() -> None:
    """If writes do not wait under VAQ either, PAQ2's reads take less than half of VAQ's time."""
    with written(["sql2"], 2_500) as paths:
        settings = {"vaq": {}, "passing": {"ssd.scheduler.vaq.holds_writes": False}, "paq2": {}}
        found = required(
            Setup(),
            {
                name: closed("sql2", paths["sql2"], name if name == "paq2" else VAQ, more=more)
                for name, more in settings.items()
            },
        )
    reads = {name: read_us(summary) for name, summary in found.items()}
    assert reads["vaq"] < reads["paq2"] < reads["passing"] / 2


def test_transactions_wait_for_the_bus_of_their_channel_under_paq2() -> None:
    """With a channel for each package, reads of web1 hardly wait for a bus."""
    with written(["web1"], 2_500) as paths:
        alone = {"ssd.channels": 64, "ssd.ways": 1}
        cases = {
            name: closed("web1", paths["web1"], scheduler, more=more)
            for name, scheduler, more in (
                ("vaq", VAQ, {}),
                ("shared", "paq2", {}),
                ("alone", "paq2", alone),
            )
        }
        waits = {name: bus_s(summary) for name, summary in required(Setup(), cases).items()}
    assert waits["alone"] < 0.1 * waits["vaq"] < waits["vaq"] < waits["shared"]


def test_paq1_combines_the_writes_of_msnfs4_as_paq2_does(data: dict) -> None:
    pairs = data["packing"]["multi_plane_commands"]["msnfs4"]
    assert pairs["paq1"] == pytest.approx(pairs["paq2"], rel=0.01)


def test_long_reads_gain_less_under_paq2(data: dict) -> None:
    latency = data["6.10"]["latency_us"]
    loads = ("fin2", "web1", "usr3", "usr2", "sql3")
    sizes = [TABLE[load].sizes.read for load in loads]
    relative = [latency[load]["paq2"] / latency[load]["vaq"] for load in loads]
    assert sizes == sorted(sizes)
    assert relative == sorted(relative)


def test_paq0_has_far_fewer_iops_than_vaq_only_on_a_short_load() -> None:
    """Runs loads with as many requests as the whole study."""
    with written(tuple(TABLE), REQUESTS) as paths:
        found = required(
            Setup(),
            {
                (load, one): closed(
                    load,
                    paths[load],
                    one,
                    outstanding=2 * LONGEST,
                    more={"host.queue_depth": LONGEST},
                )
                for load in TABLE
                for one in (VAQ, "paq0")
            },
        )
    below = {load: gain(iops(found[load, VAQ]), iops(found[load, "paq0"])) for load in TABLE}
    assert below["msnfs3"] < -5
    assert -1.5 < below["sql3"] < -1
    assert all(value > -1 for load, value in below.items() if load not in ("msnfs3", "sql3"))
    for count, loses in ((TABLE["msnfs3"].writes, True), (4_000, False)):
        load = [Request(0, True, first, 1) for first in range(count)]
        vaq, paq0 = (played(load, one, 256)["throughput"]["iops"] for one in (VAQ, "paq0"))
        assert (paq0 < 0.99 * vaq) == loses, count


def test_vaq_needs_the_request_sets_of_figure_6_6(told: dict) -> None:
    """The sets follow one another, and each takes the array time of a read. The bus, which takes 1
    µs per page, adds a few per cent."""
    (figure,) = (one for one in told["figures"] if one["id"] == "6.6")
    assert figure["rows"][0]["ours"] == pytest.approx(6, rel=0.03)


def test_figure_6_7_has_the_commands_of_the_text(told: dict) -> None:
    (figure,) = (one for one in told["figures"] if one["id"] == "6.7")
    assert [row["ours"] for row in figure["rows"]] == [6, 4, 1, 0]


def test_a_random_page_is_seldom_packed() -> None:
    """Of 256 waiting pages, one in 32,768 can be packed: 0.78 % of the commands are pairs, fewer
    because the head of the queue blocks. Tolerance of five standard errors above that."""
    random, count = Random(3), 8_000
    load = [Request(0, False, int(random.random() * PAGES), 1) for _ in range(count)]
    told = played(load, "paq0", 256)["commands"]
    pairs, most = told["planes_shared"], count * 256 / MATES
    assert most / 2 < pairs < most + 5 * most**0.5


def test_the_wait_for_a_queue_slot_obeys_littles_law(data: dict) -> None:
    """Little's law: the waits of two schedulers compare as their IOPS. msnfs4 contributes most of
    the mean wait."""
    random = Random(4)
    load = [Request(0, False, int(random.random() * (PAGES - 4)), 4) for _ in range(4_000)]
    for scheduler in VARIANTS:
        told = played(load, scheduler, 32)
        waiting = host_queue_us(told) * told["throughput"]["iops"] / 1e6
        assert waiting == pytest.approx(32, rel=0.02), scheduler
    slow, means = data["6.15"]["msnfs4_ms"], data["6.15"]["wait_ms"]
    for channels, by_name in slow.items():
        for queue, paq0 in by_name["paq0"].items():
            assert paq0 < 1.005 * by_name["vaq"][queue], (channels, queue)
            assert by_name["vaq"][queue] / len(TABLE) > 0.5 * means[channels]["vaq"][queue]


def test_the_sizes_of_table_7_1_agree_with_those_of_table_3_1() -> None:
    """Disk 0 is msnfs1 if its printed write volume is multiplied by ten."""
    load = TABLE["msnfs1"]
    for digit in (0, 9):
        written = 10 * 3_051_918 + digit
        sizes = Sizes.volumes(written, 32_490_240 - written, load.writes, load.reads)
        assert sizes.write == pytest.approx(load.sizes.write, rel=0.05)
        assert sizes.read == pytest.approx(load.sizes.read, rel=0.05)


def test_a_scheduler_changes_the_order_but_not_the_work() -> None:
    """Reads only: every scheduler reads the same bytes and pages."""
    done = set()
    with written(["web1"], 500) as paths:
        for scheduler in ALL:
            case = closed("web1", paths["web1"], scheduler)
            summary = wordline.run(DEVICE, case.trace, overrides=case.overrides).summary
            told = summary["input"]
            done.add((told["read_bytes"], told["written_bytes"], summary["flash"]["page_reads"]))
    assert len(done) == 1


def test_written_traces_are_removed() -> None:
    with written(["fin1"], 10) as paths:
        path = paths["fin1"]
        assert len(path.read_text().splitlines()) == 11
    assert not path.parent.exists()
