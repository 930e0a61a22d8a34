"""Growth: each point simulates the device that its sweep describes, and the verdict follows from
the costs."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from browser import needs_browser, require_fits
from conftest import Command

import wordline.config
from wordline import cli
from wordline._dev import growth
from wordline._dev.growth import cost as growth_cost
from wordline._dev.growth import count as counting
from wordline._dev.growth import page as growth_page
from wordline._dev.growth.cost import Cost, Line, Measured
from wordline._dev.growth.count import Count
from wordline._dev.growth.sweeps import (
    CAPACITIES,
    DEVICE,
    FOOTPRINT_PAGES,
    Point,
    Series,
    Settings,
    Sweep,
    sweeps,
)
from wordline._dev.growth.terminal import print_growth

SMALL: Settings = {"nand.geometry.blocks_per_plane": 16, "ftl.over_provisioning_ratio": 0.3}


def resolved(point: Point) -> dict[str, dict[str, object]]:
    import tomllib

    return tomllib.loads(wordline.config.show(DEVICE, point.settings))


def points(name: str) -> list[Point]:
    (sweep,) = growth.chosen([name], quick=False, full=True)
    return [point for series in sweep.series for point in series.points]


@pytest.mark.parametrize("name", [sweep.name for sweep in sweeps()])
def test_every_point_is_a_valid_device(name: str) -> None:
    for point in points(name):
        wordline.config.check(DEVICE, point.settings)


def size(point: Point) -> tuple[int, int]:
    """Returns the numbers of dies and blocks of a point."""
    config = resolved(point)
    ssd, geometry = config["ssd"], config["nand"]["geometry"]
    dies = ssd["channels"] * ssd["ways"] * geometry["dies_per_package"]
    return dies, dies * geometry["planes_per_die"] * geometry["blocks_per_plane"]


def test_the_die_sweep_keeps_the_capacity() -> None:
    found = [size(point) for point in points("dies")]
    assert [dies for dies, _ in found] == [point.at for point in points("dies")]
    assert len({blocks for _, blocks in found}) == 1
    assert {dies for dies, _ in found} >= {8, 4096}


def test_the_capacity_sweep_keeps_the_used_pages() -> None:
    for point in points("capacity"):
        config = resolved(point)
        geometry = config["nand"]["geometry"]
        pages = size(point)[1] * geometry["pages_per_block"]
        assert pages * geometry["page_bytes"] == point.at
        user = pages * (1 - config["ftl"]["over_provisioning_ratio"])
        used = user * config["precondition"]["fill_ratio"]
        assert used == pytest.approx(FOOTPRINT_PAGES, abs=1)
        assert config["workload"]["working_set_ratio"] == config["precondition"]["fill_ratio"]
    assert (CAPACITIES[0], CAPACITIES[-1]) == (2**30, 2**44)


def test_the_longest_run_requires_the_option_full() -> None:
    assert max(point.at for series in sweeps()[0].series for point in series.points) == 10**7
    assert max(point.at for point in points("requests")) == 10**8


def cost(
    at: int,
    ns: float,
    events: float = 3.0,
    misses: float | None = None,
    instructions: float = 1000.0,
) -> Cost:
    """Returns the cost of a point. `instructions` are per event."""
    counted = None if misses is None else Count(instructions * events, misses)
    return Cost(
        at=at,
        requests=1000,
        ns_per_request=ns,
        events_per_request=events,
        start_s=0.0,
        precondition_s=0.0,
        resident_bytes=2**20,
        peak_bytes=2**25,
        latency_ns=20.0,
        digest="",
        counted=counted,
    )


@pytest.mark.parametrize(
    ("costs", "verdict"),
    [
        ([cost(1, 100), cost(2, 149)], "flat"),
        ([cost(1, 100), cost(2, 151)], "grows, misses not counted"),
        # Ten more misses of 20 ns explain 200 of the 300 ns by which the costs differ.
        ([cost(1, 300, misses=1), cost(2, 600, misses=11)], "flat apart from cache misses"),
        ([cost(1, 300, misses=1), cost(2, 700, misses=11)], "grows"),
        # The number of instructions also grows.
        ([cost(1, 300, misses=1), cost(2, 600, misses=11, instructions=1600)], "grows"),
        # The cost per request is equal, but a request has half as many events.
        ([cost(1, 300, events=6), cost(2, 300, events=3)], "grows, misses not counted"),
        (
            [cost(1, 300, 6, misses=0, instructions=700), cost(2, 300, 3, misses=5)],
            "flat apart from cache misses",
        ),
    ],
)
def test_the_verdict_depends_on_costs_misses_and_instructions(
    costs: Sequence[Cost], verdict: str
) -> None:
    assert Line("reads", costs).verdict == verdict
    assert Line("reads", list(reversed(costs))).verdict == verdict


def test_misses_explain_at_most_their_own_cost() -> None:
    line = Line("reads", [cost(1, 300, misses=1), cost(2, 600, misses=100)])
    assert line.explained_ns(line.costs[1]) == 99 * 20
    assert line.ratio_left == 1.0


def test_a_run_that_takes_no_longer_than_its_start_has_the_smallest_cost() -> None:
    short = growth_cost.Run(0.010, 0.0, 6000, 2**20, 2**25, "")
    start = growth_cost.Run(0.011, 0.0, 3, 2**20, 2**25, "")
    (point,) = Series("reads", [Point(8, {"workload.requests": 2000})]).points
    found = growth_cost._cost(point, [short], [start])  # pyright: ignore[reportPrivateUsage]
    assert found.ns_per_request == growth_cost.LEAST_NS
    line = Line("reads", [found, cost(32, 400)])
    assert line.verdict != "flat"
    (sweep,) = growth.chosen(["dies"])
    assert "400" in growth_page.render([Measured(sweep, [line])])


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the sweeps by one with two points, which takes little time."""
    keys = {"workload.requests": 2000, "workload.read_ratio": 1.0}
    both = [Point(ways, SMALL | keys | {"ssd.ways": ways}) for ways in (1, 2)]
    sweep = Sweep("ways", "Ways", "ways", "nothing", [Series("reads", both)])
    monkeypatch.setattr(growth, "all_sweeps", lambda **_: [sweep])


@pytest.mark.usefixtures("small")
def test_growth_writes_a_page_and_all_numbers(place: Path) -> None:
    assert cli.main(["growth", "ways", "--repeat", "1", "--no-count"]) in (0, 1)
    folder = place / "out" / "growth"
    assert {path.name for path in folder.iterdir()} == {"index.html", "growth.json", "growth.csv"}
    (sweep,) = json.loads((folder / "growth.json").read_text())["sweeps"]
    (series,) = sweep["series"]
    assert [point["at"] for point in series["points"]] == [1, 2]
    assert all(point["events_per_request"] == 3 for point in series["points"])
    assert all(point["peak_bytes"] > 2**20 for point in series["points"])
    with (folder / "growth.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["digest"] for row in rows] == [point["digest"] for point in series["points"]]
    page = (folder / "index.html").read_text()
    assert '<div class="chart" data-chart="ways"' in page
    assert not any(word in page.split("<script", 1)[0] for word in ("http://", "https://"))


@needs_browser
def test_the_page_fits_on_a_phone(tmp_path: Path) -> None:
    """Draws all sweeps, with costs that differ and with counted misses."""
    found = [
        Measured(
            sweep,
            [
                Line(series.name, [cost(point.at, 200 + 10 * n, misses=n) for n, point in places])
                for series in sweep.series
                for places in [list(enumerate(series.points))]
            ],
        )
        for sweep in sweeps(full=True)
    ]
    page = tmp_path / "index.html"
    page.write_text(growth_page.render(found))
    seen = require_fits(page, tmp_path)
    ends = [max(cost.at for line in one.lines for cost in line.costs) for one in found]
    assert seen.lasts == [growth_page.tick(*one) for one in zip(found, ends, strict=True)]


@pytest.mark.usefixtures("small")
def test_a_failed_run_reports_its_error(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = Point(1, {"workload.requests": 10, "ssd.ways": 0})
    sweep = Sweep("ways", "Ways", "ways", "nothing", [Series("reads", [wrong])])
    monkeypatch.setattr(growth, "all_sweeps", lambda **_: [sweep])
    assert cli.main(["growth", "--no-count"]) == 2
    assert "ssd.ways" in capsys.readouterr().err
    assert not (place / "out").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [(["size"], "requests, dies, capacity, depth, backlog"), (["--quick", "--full"], "--quick")],
)
def test_unknown_sweeps_and_exclusive_options_are_rejected(
    wordline: Command, args: list[str], says: str
) -> None:
    answer = wordline("growth", *args)
    assert answer.returncode == 2
    assert says in answer.stderr
    assert "Traceback" not in answer.stderr


def test_each_series_of_the_quick_sweep_of_requests_has_at_least_two_points() -> None:
    (sweep,) = growth.chosen(["requests", "requests"], quick=True)
    assert all(len(series.points) > 1 for series in sweep.series)


@pytest.mark.parametrize("columns", [60, 80])
def test_the_table_fits_into_a_narrow_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    (sweep,) = growth.chosen(["dies"])
    lines = [Line(one.name, [cost(8, 400), cost(4096, 1181)]) for one in sweep.series]
    print_growth([Measured(sweep, lines)], [])
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed)) <= columns
    assert "verdict" in " ".join(printed[:3])
    assert not any("…" in line for line in printed)
    assert any(line.strip().startswith("dies ") for line in printed)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("==7== a\nKeyError: b\n==7== LL miss rate", "KeyError: b"),
        ("==7== a", "==7== a"),
        ("", "failed"),
    ],
)
def test_a_failure_under_valgrind_reports_the_error_of_the_program(said: str, reason: str) -> None:
    assert counting._reason(said) == reason  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(("requests", "misses"), [(10_000, 1.9), (8_000_000, 1.0)])
def test_misses_of_the_first_requests_count_only_in_short_runs(
    requests: int, misses: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first thousand requests of the run miss ten times each, all others once."""

    def total(point: Point) -> tuple[int, int]:
        cold = min(point.requests, 1000)
        return 5_000 + 7 * point.requests, 300 + 10 * cold + (point.requests - cold)

    monkeypatch.setattr(counting, "_total", total)
    point = Point(requests, {"workload.requests": requests})
    assert counting.count(point).misses == pytest.approx(misses, rel=1e-3)
    assert counting.count(point).instructions == pytest.approx(7)
