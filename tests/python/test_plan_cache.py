"""Plans of flash caches, checked against reference models and published formulas."""

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import polars as pl
import pytest
from conftest import Command
from test_report import needs_browser, opened

import wordline as package
from wordline import WordlineError
from wordline._caching.plan_cache import (
    PlanAnswer,
    PlanDisk,
    PlanDiskOnly,
    PlanFlash,
    PlanMap,
    PlanReplay,
    PlanSize,
    PlanSummary,
)
from wordline._caching.plan_check import PlanAdvice, PlanCheck
from wordline._render import units

PAGE = 4096
STEPS = 16
Pages = list[tuple[int, bool]]


def drawn(requests: int, pages: int, power: int) -> Pages:
    """Returns reads and writes of single pages with a skewed popularity. A third of them are
    writes."""
    draw = random.Random(7)
    return [(int(draw.random() ** power * pages), draw.random() < 1 / 3) for _ in range(requests)]


def written(place: Path, requested: Pages) -> str:
    """Writes the requests as a trace, one request per millisecond."""
    lines = [
        f"{number * 1_000_000},{'write' if write else 'read'},{page * PAGE},{PAGE},0"
        for number, (page, write) in enumerate(requested)
    ]
    header = "time_ns,op,offset_bytes,size_bytes,volume"
    (place / "pages.csv").write_text("\n".join([header, *lines]) + "\n")
    return "pages.csv"


def victims(u: float) -> float:
    """Returns the root below 1 of u = (x - 1) / ln x, by Newton's method."""
    x = math.exp(-1 / u) / 2
    for _ in range(200):
        x -= (x - 1 - u * math.log(x)) / (1 - u / x)
    return x


def page_write(flash: PlanFlash, u: float) -> float:
    x, pages = victims(u), flash["pages_per_block"]
    collection = x * pages * flash["copy_us"] + flash["erase_us"]
    return collection / ((1 - x) * pages) + flash["program_us"]


def answers(size: PlanSize) -> dict[str, PlanAnswer]:
    return {answer["policy"]: answer for answer in size["answers"]}


def bearable(flash: PlanFlash, pages: int) -> float:
    """Returns the share of the flash that can be cached: all but the reserve and one block."""
    free = max(round(pages * flash["free_ratio"]), flash["pages_per_block"])
    return (pages - free - flash["pages_per_block"]) / pages


class Stack:
    """An LRU stack of unlimited size."""

    def __init__(self) -> None:
        self.pages: list[int] = []

    def touch(self, page: int) -> float:
        """Returns the stack distance of a page, and moves it to the top."""
        above = self.place(page)
        if above < math.inf:
            del self.pages[int(above)]
        self.pages.insert(0, page)
        return above

    def place(self, page: int) -> float:
        return self.pages.index(page) if page in self.pages else math.inf


def hit_ratio(places: list[float], segment: int) -> Callable[[float], float]:
    """Returns a function of the size: the share of the distances within it, interpolated linearly
    between the ends of segments."""

    def within(size: float) -> float:
        low = math.floor(size / segment)
        below, above = (sum(place < end * segment for place in places) for end in (low, low + 1))
        return (below + (above - below) * (size / segment - low)) / max(1, len(places))

    return within


def test_the_cost_of_one_list_follows_from_its_hits_and_write_backs(place: Path) -> None:
    trace = written(place, drawn(30_000, 12_000, 2))
    plan = package.plan_cache(trace, sizes=[6400])
    flash, size = plan.summary["flash"], plan.sizes[0]
    found = answers(size)["unified"]
    (run,) = package.cache(trace, "lru", [6080]).runs
    assert found["write_pages"] == run["size_pages"] == 0.95 * 6400
    assert found["read_hit_ratio"] == pytest.approx(run["read_hits"] / run["reads"])
    assert found["write_hit_ratio"] == pytest.approx(run["write_hits"] / run["writes"])
    write_us = page_write(flash, 0.95)
    busy = (
        run["read_hits"] * flash["read_us"]
        + (run["reads"] - run["read_hits"]) * (size["disk_read_us"] + write_us)
        + run["writes"] * write_us
        + run["write_backs"] * (flash["read_us"] + size["disk_write_us"])
    )
    assert found["page_us"] == pytest.approx(busy / run["requests"])
    programs = run["reads"] - run["read_hits"] + run["writes"]
    erases = programs / ((1 - victims(0.95)) * 64)
    assert found["erases"] == pytest.approx(erases)
    years = 29.999 / (365.25 * 24 * 3600) * 100 * 100_000 / erases
    assert found["lifetime_years"] == pytest.approx(years)


def test_the_best_list_is_the_cheapest_that_leaves_room_for_gc(place: Path) -> None:
    trace = written(place, drawn(20_000, 9_000, 2))
    (size,) = package.plan_cache(trace, sizes=[6400]).sizes
    found = answers(size)
    least = min(size["map"]["unified_us"])  # every second step
    assert found["unified-best"]["page_us"] <= least + 0.01
    assert found["unified-best"]["page_us"] <= found["unified"]["page_us"]


def divided(
    requested: Pages, summary: PlanSummary, size: PlanSize, shares: list[float]
) -> tuple[float, float, float]:
    """Returns the cost, cached share and read share of the cheapest division into two lists,
    computed with reference lists. The reads that the write list serves follow from its size."""
    flash, pages = summary["flash"], size["flash_pages"]
    disk_read, disk_write = size["disk_read_us"], size["disk_write_us"]
    segment, held, best = pages // STEPS, STEPS // 2, (math.inf, 0.0, 0.0)
    for _ in range(8):
        reads, writes = Stack(), Stack()
        read_places: list[float] = []
        write_places: list[float] = []
        hits = served = 0
        for page, write in requested:
            is_held = writes.place(page) < held * segment
            if write:
                hits += is_held
                if page in reads.pages:
                    reads.pages.remove(page)
            elif not is_held:
                read_places.append(reads.touch(page))
                continue
            else:
                served += 1
            write_places.append(writes.touch(page))
        of_reads, of_writes = hit_ratio(read_places, segment), hit_ratio(write_places, segment)
        share = len(read_places) / len(requested)
        h = served / max(1, hits + served)
        best = (math.inf, 0.0, 0.0)
        for u in shares:
            pw = page_write(flash, u)
            for step in range(STEPS + 1):
                r = step / STEPS
                hr, hw = of_reads(pages * u * r), of_writes(pages * u * (1 - r))
                read = hr * flash["read_us"] + (1 - hr) * (disk_read + pw)
                hit = (1 - h) * pw + h * flash["read_us"]
                miss = flash["read_us"] + disk_write + pw
                cost = read * share + (hw * hit + (1 - hw) * miss) * (1 - share)
                if cost < best[0] - 1e-9:
                    best = (cost, u, r)
        wanted = math.floor(best[1] * (1 - best[2]) * STEPS + 0.5)
        if wanted == held:
            break
        held = wanted
    return best


def test_two_lists_are_divided_as_in_a_reference_model(place: Path) -> None:
    requested = drawn(6_000, 5_000, 2)
    plan = package.plan_cache(written(place, requested), sizes=[4096], steps=STEPS)
    (size,) = plan.sizes
    found = answers(size)
    pages = size["flash_pages"]
    assert pages == 4096
    most = bearable(plan.summary["flash"], pages)
    shares = [step / STEPS for step in range(1, STEPS) if step / STEPS <= most]
    cost, u, r = divided(requested, plan.summary, size, shares)
    op = found["op-fcl"]
    assert op["page_us"] == pytest.approx(cost)
    assert (op["read_pages"], op["write_pages"]) == (
        pytest.approx(pages * u * r, abs=1),
        pytest.approx(pages * u * (1 - r), abs=1),
    )
    own = (pages - round(pages * 0.05)) / pages
    cost, u, r = divided(requested, plan.summary, size, [min(own, most)])
    rw = found["rw-fcl"]
    assert rw["page_us"] == pytest.approx(cost)
    assert rw["read_pages"] == pytest.approx(pages * u * r, abs=1)


def test_the_size_of_a_write_cache_minimises_the_published_cost(place: Path) -> None:
    requested = drawn(6_000, 5_000, 2)
    plan = package.plan_cache(written(place, requested), sizes=[6400])
    flash, size = plan.summary["flash"], plan.sizes[0]
    writes = Stack()
    write_places: list[float] = []
    read_places: list[float] = []
    for page, write in requested:
        if write:
            write_places.append(writes.touch(page))
        else:
            read_places.append(writes.place(page))
    free = max(round(6400 * flash["free_ratio"]), 64)
    trained = {
        percent: victims((100 - percent) / 100 * 6400 / (6400 - free))
        for percent in range(15, 86, 10)
    }

    def valid(percent: int) -> float:
        low = 15 + (percent - 15) // 10 * 10
        high = min(low + 10, 85)
        part = (percent - low) / 10
        return trained[low] + (trained[high] - trained[low]) * part

    def latency(percent: int) -> float:
        pages, x = (100 - percent) * 64, valid(percent)
        misses = sum(place >= pages for place in write_places) / len(write_places)
        moved = x * 64 * (flash["read_us"] + flash["program_us"]) + flash["erase_us"]
        own = flash["program_us"] + moved / ((1 - x) * 64)
        return own + misses * (flash["read_us"] + size["disk_write_us"])

    best = min(range(15, 86), key=latency)
    found = answers(plan.sizes[0])["locality-driven"]
    assert found["write_pages"] == (100 - best) * 64
    served = sum(place < found["write_pages"] for place in read_places)
    busy = len(write_places) * latency(best) + served * flash["read_us"]
    busy += (len(read_places) - served) * size["disk_read_us"]
    assert found["page_us"] == pytest.approx(busy / len(requested))


def test_operation_times_come_from_flash_and_disk() -> None:
    requested = "traces/postgresql-mixed.csv.gz"
    bundled = Path(__file__).parents[2] / requested
    summary = package.plan_cache(bundled, sizes="16MiB").summary
    flash, disk = summary["flash"], summary["disk"]
    # Array times, 4096 bytes at 40.96 MB/s, and a few cycles of 25 ns for commands.
    assert flash["read_us"] == pytest.approx(125, abs=1)
    assert flash["program_us"] == pytest.approx(300, abs=1)
    assert flash["copy_us"] == pytest.approx(225, abs=1)
    assert flash["erase_us"] == pytest.approx(1500, abs=1)
    assert (flash["pages_per_block"], flash["endurance_cycles"]) == (64, 100_000)
    assert disk["read_us"] == pytest.approx(4500 + 4096 / 72, abs=0.001)
    assert disk["write_us"] == pytest.approx(4900 + 4096 / 72, abs=0.001)
    assert disk["found_by"] == "keys"
    moved = {"ftl.gc.internal_data_move": False, "disk.model.average.read_positioning_ms": 7.7}
    other = package.plan_cache(bundled, sizes="16MiB", overrides=moved).summary
    assert other["flash"]["copy_us"] == pytest.approx(flash["read_us"] + flash["program_us"])
    assert other["disk"]["read_us"] == pytest.approx(7700 + 4096 / 72, abs=0.001)


def test_times_of_a_disk_with_an_arm_are_means_of_random_accesses(trace: str) -> None:
    disk = package.plan_cache(trace, disk="atlas-10k-iv", sizes="16MiB").summary["disk"]
    assert disk["found_by"] == "random-accesses"
    # Means of 7.73 and 8.25 ms, from the model of the measured drive.
    assert disk["read_us"] == pytest.approx(7730, rel=0.03)
    assert disk["write_us"] == pytest.approx(8250, rel=0.03)


def test_a_sample_approximates_the_whole_trace(place: Path) -> None:
    trace = written(place, drawn(60_000, 60_000, 2))
    every, some = (package.plan_cache(trace, sizes=["30%"], rate=rate) for rate in (1.0, 0.1))
    for policy, answer in answers(every.sizes[0]).items():
        near = answers(some.sizes[0])[policy]
        assert near["page_us"] == pytest.approx(answer["page_us"], rel=0.05), policy


@pytest.mark.parametrize("disk", ["disk-average", "nearline-7200", "atlas-10k-iv"])
def test_the_planned_latency_of_the_disk_matches_a_run(place: Path, disk: str) -> None:
    requested = drawn(3_000, 20_000, 1)
    trace = written(place, requested)
    alone = package.plan_cache(trace, disk=disk, sizes="16MiB", check=False).summary["disk_only"]
    latency = package.run(disk, trace).summary["latency"]
    assert alone["request_us"] == pytest.approx(latency["all"]["mean_us"], rel=1e-9)
    assert alone["read_us"] == pytest.approx(latency["read"]["mean_us"], rel=1e-9)
    assert alone["write_us"] == pytest.approx(latency["write"]["mean_us"], rel=1e-9)


def recorded(place: Path, requests: list[tuple[int, str, int, int]]) -> str:
    """Writes a trace from times in ms, operations, first pages and numbers of pages."""
    lines = [
        f"{ms * 1_000_000},{op},{page * PAGE},{count * PAGE},0" for ms, op, page, count in requests
    ]
    header = "time_ns,op,offset_bytes,size_bytes,volume"
    (place / "requests.csv").write_text("\n".join([header, *lines]) + "\n")
    return "requests.csv"


def test_sequential_misses_cost_less_per_page_than_random_misses(place: Path) -> None:
    # A page of a long read takes its transfer, 4096 bytes at 150 to 255 MB/s, and little more.
    in_a_row = [(50 * place, "read", 64 * place, 64) for place in range(500)]
    draw = random.Random(3)
    scattered = [(50 * place, "read", draw.randrange(1_460_000_000), 1) for place in range(500)]
    costs = [
        package.plan_cache(
            recorded(place, requests), disk="nearline-7200", sizes="16MiB", check=False
        ).sizes[0]["disk_read_us"]
        for requests in (in_a_row, scattered)
    ]
    assert costs[0] < 40
    # Half a revolution takes 4.2 ms, and the mean seek 7.4 ms.
    assert costs[1] == pytest.approx(11_600, rel=0.1)


def test_no_flash_is_recommended_if_the_disk_cache_absorbs_writes(
    place: Path,
) -> None:
    # One write per second: the disk completes it in its buffer and destages it before the next. A
    # full flash must wait until the evicted page is on the platters.
    draw = random.Random(5)
    requests = [(1_000 * place, "write", draw.randrange(10**8), 1) for place in range(6_000)]
    plan = package.plan_cache(
        recorded(place, requests),
        "d4",
        "nearline-7200",
        sizes=["4096p"],
        overrides={"nand.geometry.pages_per_block": 64, "nand.geometry.page_bytes": 4096},
    )
    alone = plan.summary["disk_only"]["request_us"]
    assert alone is not None
    assert alone < 100
    assert plan.advice["policy"] is None
    assert plan.advice["sentence"].startswith("Use no cache: nearline-7200 alone is faster")
    assert plan.check is not None
    assert plan.check["disk_us"] == pytest.approx(alone)
    assert not plan.check["runs"][0]["parts"]


def test_an_equally_fast_disk_is_not_called_faster(place: Path) -> None:
    # A page that is read once is read from the disk in both cases.
    plan = package.plan_cache(recorded(place, [(0, "read", 5, 1)]), sizes="16MiB")
    assert plan.check is not None
    assert plan.check["runs"][0]["simulated_us"] == plan.check["disk_us"]
    assert plan.advice["sentence"].startswith("Use no cache: disk-average alone is as fast, with")


def test_a_share_below_the_smallest_flash_is_raised_with_a_note(
    wordline: Command, trace: str
) -> None:
    plan = package.plan_cache(trace, sizes=["0.1%", "0.2%", "16MiB"], check=False)
    (size,) = plan.sizes
    assert (size["flash_pages"], size["asked"]) == (64 * 64, ["0.1%", "0.2%", "16MiB"])
    answer = wordline("plan-cache", trace, "--sizes", "0.1%", "--no-check")
    assert "requested: 0.1%" in answer.stdout


def test_too_little_over_provisioning_for_gc_is_reported(trace: str) -> None:
    overrides = {"ftl.over_provisioning_ratio": 0.03}
    plan = package.plan_cache(trace, sizes="16MiB", overrides=overrides, check=False)
    (note,) = plan.summary["notes"]
    assert "over-provisioning of opfcl-small (3.000 %)" in note
    assert answers(plan.sizes[0])["unified"]["over_provisioning_ratio"] > 0.03


def test_without_a_check_the_models_make_the_recommendation(trace: str) -> None:
    plan = package.plan_cache(trace, sizes="32MiB", check=False)
    assert plan.check is None
    assert (plan.advice["by"], plan.advice["policy"]) == ("models", plan.best["policy"])
    assert plan.advice["latency_us"] == plan.best["request_us"]


def test_the_check_simulates_the_recommended_flash(trace: str) -> None:
    plan = package.plan_cache(trace, "demo-store", "nearline-7200", sizes="64MiB", leading=2_000)
    assert plan.check is not None
    assert plan.check["fault"] is None
    assert plan.check["requests"] == 2_000
    run = plan.check["runs"][0]
    assert (run["policy"], run["flash_pages"]) == (plan.best["policy"], plan.best["flash_pages"])
    simulated = min(run["simulated_us"] for run in plan.check["runs"])
    assert plan.advice["latency_us"] == simulated
    assert plan.advice["by"] == "simulation"


@pytest.mark.parametrize(
    ("years", "words"),
    [
        (None, "–"),
        (0.001, "less than a day"),
        (1.0 / 365.25, "1.0 days"),
        (1.4 / 365.25, "1.4 days"),
        (41 / 365.25, "41 days"),
        (3.21, "3.2 years"),
        (1.5, "550 days"),
        (60.4, "60 years"),
        (4_000.0, "more than 100 years"),
    ],
)
def test_lifetimes_are_in_days_or_years(years: float | None, words: str) -> None:
    assert units.lifetime(years) == words


def test_without_time_stamps_there_is_no_lifetime(place: Path) -> None:
    keys = b"".join((key % 5_000).to_bytes(4, "little") for key in range(20_000))
    (place / "keys.bin").write_bytes(keys)
    plan = package.plan_cache("keys.bin", format="keys32le", sizes="16MiB")
    assert plan.summary["seconds"] is None
    assert all(answer["lifetime_years"] is None for answer in plan.sizes[0]["answers"])
    # A cyclic scan has no hits in a smaller cache, so the smallest cache is cheapest, and it has no
    # read list.
    op = answers(plan.sizes[0])["op-fcl"]
    assert (op["read_pages"], op["write_pages"]) == (0, round(4096 / 100))


def test_results_match_their_types(trace: str) -> None:
    plan = package.plan_cache(trace, sizes=["16MiB", "64MiB"])
    summary, (size, _) = plan.summary, plan.sizes
    for shown, kind in (
        (summary, PlanSummary),
        (summary["flash"], PlanFlash),
        (summary["disk"], PlanDisk),
        (summary["replay"], PlanReplay),
        (summary["disk_only"], PlanDiskOnly),
        (summary["check"], PlanCheck),
        (summary["advice"], PlanAdvice),
        (size, PlanSize),
        (size["answers"][0], PlanAnswer),
        (size["map"], PlanMap),
    ):
        assert shown is not None
        assert shown.keys() == get_type_hints(kind).keys()
    rows = plan.table.polars()
    assert rows.height == sum(len(size["answers"]) for size in plan.sizes)
    assert plan.best["request_us"] <= 1.05 * rows["request_us"].min()  # pyright: ignore
    drawn_map = size["map"]
    assert len(drawn_map["page_us"]) == len(drawn_map["read_ratios"])
    assert {len(row) for row in drawn_map["page_us"]} == {len(drawn_map["utilisations"])}


def test_the_command_prints_and_writes_results(wordline: Command, trace: str) -> None:
    answer = wordline("plan-cache", trace, "--sizes", "16MiB,32MiB", "--out", "here")
    assert answer.returncode == 0, answer.stderr
    for word in (
        "disk.csv",
        "opfcl-small",
        "disk-average",
        "op-fcl",
        "locality-driven",
        "16.0 MiB of flash",
        "Without flash",
    ):
        assert word in answer.stdout
    assert {path.name for path in Path("here").iterdir()} == {
        "summary.json",
        "plan.parquet",
        "checksums.json",
        "report.html",
    }
    told = json.loads(Path("here/summary.json").read_text())
    rows = sum(len(size["answers"]) for size in told["sizes"])
    assert pl.read_parquet("here/plan.parquet").height == rows
    before = Path("here/report.html").read_text()
    assert wordline("report", "here").returncode == 0
    assert Path("here/report.html").read_text() == before


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        (["--rate", "0"], "rate: 0.0 is not above 0"),
        (["--rate", "0.001", "--sizes", "16MiB"], "increase `rate`, lower `steps`"),
        (["--sizes", "7"], "size `7`: the unit is missing"),
        (["--sizes", "8MiB"], "size `8MiB`: a flash needs at least 64 blocks"),
        (["--leading", "0"], "leading: 0 is not between 1 and"),
        (["--steps", "3"], "steps: 3 is not between 4 and 400"),
        (["--flash", "atlas-10k"], "flash atlas-10k: this is neither an SSD nor a flash cache"),
        (["--flash", "nothing"], "nothing"),
        (["--disk", "d4"], "disk d4: this is neither a hard disk nor a flash cache"),
        (["--set", "disk.model=fast"], "disk.model"),
        (["--set", "nand.geometry.pages_per_block=0"], "nand.geometry.pages_per_block"),
    ],
)
def test_invalid_arguments_are_reported(
    wordline: Command, trace: str, args: list[str], fault: str
) -> None:
    answer = wordline("plan-cache", trace, *args)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert fault in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_value_that_is_not_a_number_is_a_type_error(trace: str) -> None:
    with pytest.raises(TypeError, match="rate must be a number"):
        package.plan_cache(trace, rate="half")  # pyright: ignore[reportArgumentType]
    with pytest.raises(WordlineError, match="no size is given"):
        package.plan_cache(trace, sizes=[])


@needs_browser
def test_the_charts_are_drawn(trace: str, tmp_path: Path) -> None:
    page = package.plan_cache(trace, sizes="16MiB").report("page.html")
    seen = opened(page, tmp_path / "profile")
    assert (seen.charts, seen.fault) == ("3/3", None)
