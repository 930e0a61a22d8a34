"""Worst cases, excess, wear and GC times, checked against the rows of requests."""

import itertools
import statistics
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from conftest import TINY, msr

import wordline
from wordline._render.report.views import views

OPS = {"all": ("read", "write"), "read": ("read",), "write": ("write",)}
PS = 10**12


@pytest.fixture
def result(tiny: str, place: Path) -> wordline.Result:
    """Runs twenty seconds with a request every 2 ms, and with GC."""
    (place / "disk.csv").write_text(msr(10_000, reads=0.3))
    overrides = {
        "replay.mode.open-loop.time_scale": 10,
        "observe.worst_case_interval_s": 1.25,
        "observe.marginal_response_ms": 0.75,
    }
    return wordline.run(tiny, "disk.csv", overrides=overrides)


def completions(result: wordline.Result, op: str) -> list[tuple[int, int]]:
    """Returns completion times and latencies of requests in picoseconds."""
    rows = result.requests.polars().filter(pl.col("op").cast(pl.String).is_in(OPS[op]))
    rows = rows.select(pl.col("arrival_ps") + pl.col("latency_ps"), pl.col("latency_ps"))
    return [(end, latency) for end, latency in rows.rows()]


@pytest.mark.parametrize("op", OPS)
def test_the_worst_case_is_the_longest_response_of_each_interval(
    result: wordline.Result, op: str
) -> None:
    told: Any = result.summary["worst_case"]
    assert told["interval_s"] == 1.25
    width = PS * 5 // 4
    longest: dict[int, int] = {}
    for end, latency in completions(result, op):
        longest[end // width] = max(longest.get(end // width, 0), latency)
    expected = [longest[place] / 1e6 if place in longest else None for place in range(16)]
    assert told[op]["intervals_us"][:16] == pytest.approx(expected)
    assert told[op]["mean_us"] == pytest.approx(statistics.mean(longest.values()) / 1e6)
    assert told[op]["max_us"] == pytest.approx(max(longest.values()) / 1e6)


@pytest.mark.parametrize("op", OPS)
def test_excess_is_the_time_beyond_the_marginal_response(result: wordline.Result, op: str) -> None:
    told: Any = result.summary["excess"]
    assert told["marginal_response_us"] == 750
    latencies = [latency for _, latency in completions(result, op)]
    excess = [latency - 750 * 10**6 for latency in latencies if latency > 750 * 10**6]
    assert told[op]["requests"] == len(excess) > 0
    assert told[op]["share"] == pytest.approx(len(excess) / len(latencies))
    assert told[op]["sum_s"] == pytest.approx(sum(excess) / PS)
    assert told[op]["mean_us"] == pytest.approx(statistics.mean(excess) / 1e6)
    assert told[op]["max_us"] == pytest.approx(max(excess) / 1e6)
    for step in told[op]["above"]:
        above = sum(one > step["excess_us"] * 10**6 for one in excess)
        assert step["requests"] == above, step
    assert [step["excess_us"] for step in told[op]["above"]][:5] == [0, 1, 2, 5, 10]


def test_a_run_without_slow_requests_has_no_excess(tiny: str, trace: str) -> None:
    quiet = wordline.run(tiny, trace, overrides={"observe.marginal_response_ms": 1e6}).summary
    told = quiet["excess"]["all"]
    assert (told["requests"], told["share"], told["sum_s"]) == (0, 0, 0)
    assert (told["mean_us"], told["max_us"]) == (None, None)
    assert told["above"] == [{"excess_us": 0, "requests": 0}]


def test_the_default_interval_divides_the_run_into_32_to_64_parts(
    result: wordline.Result, tiny: str
) -> None:
    overrides = {"replay.mode.open-loop.time_scale": 10}
    told = wordline.run(tiny, "disk.csv", overrides=overrides, requests=False).summary["worst_case"]
    assert 32 <= len(told["all"]["intervals_us"]) <= 64
    assert told["all"]["max_us"] == result.summary["worst_case"]["all"]["max_us"]


def test_a_worst_case_interval_that_is_too_short_is_widened(tiny: str, trace: str) -> None:
    overrides = {"observe.worst_case_interval_s": 1e-6}
    told = wordline.run(tiny, trace, overrides=overrides, requests=False).summary["worst_case"]
    assert len(told["all"]["intervals_us"]) <= 1024
    assert (told["interval_s"] * 1e6).is_integer()


def test_the_device_is_busy_while_it_holds_requests(result: wordline.Result) -> None:
    """Without a link, the busy time is the union of the intervals from arrival to completion."""
    rows = result.requests.polars().sort("arrival_ps")
    assert rows["host_queue_ps"].sum() == 0, "or a request arrives before it is in the device"
    busy = until = 0
    for arrival, latency in rows.select("arrival_ps", "latency_ps").rows():
        end = arrival + latency
        busy += max(0, end - max(arrival, until))
        until = max(until, end)
    assert result.summary["time"]["busy_s"] == pytest.approx(busy / PS, rel=1e-12)
    series = result.series.polars()
    assert series["busy_ms"].sum() == pytest.approx(busy / 1e9, rel=1e-9)
    width = (series["end_s"] - series["start_s"]) * 1e3
    assert (series["busy_ms"] <= width * (1 + 1e-9)).all()


def test_gc_time_equals_the_die_time_of_its_operations(result: wordline.Result) -> None:
    flash = result.summary["flash"]
    assert flash["gc_runs"] > 0
    series, dies = result.series.polars(), result.dies.polars()
    collecting_us = flash["gc_die_time_s"] * 1e6
    assert sum(series["gc_die_ms"].to_list()) * 1e3 == pytest.approx(collecting_us)
    moved = flash["gc_pages_moved"]
    reads, programs = flash["page_reads"], flash["page_programs"]
    column = {name: float(sum(dies[name].to_list())) for name in dies.columns}
    read_us, program_us = column["read_us"] / reads, column["program_us"] / programs
    arrays = moved * (read_us + program_us) + column["erase_us"]
    host = (reads - moved) * read_us + (programs - moved) * program_us
    # Dies are also occupied for the bus, and two planes may work concurrently.
    assert arrays / 2 <= collecting_us <= column["occupied_us"] - host / 2


def test_wear_counts_every_block(result: wordline.Result) -> None:
    wear, blocks = result.wear.polars(), result.blocks.polars()
    erases = blocks["erases"].cast(pl.Int64).to_list()
    assert wear["blocks"].sum() == result.summary["device"]["blocks"] == len(erases)
    for low, high, count in wear.rows():
        assert low == high
        assert count == erases.count(low)
    flash = result.summary["flash"]
    assert flash["erases_per_block_std"] == pytest.approx(statistics.pstdev(erases))
    assert flash["erases_per_block_spread"] == max(erases) - min(erases) > 0


def test_streams_have_their_own_excess(place: Path) -> None:
    load = "workload.requests = 400\nworkload.read_ratio = 0.5\n"
    streams = "".join(f'[[streams]]\nname = "{name}"\n{load}' for name in ("one", "two"))
    (place / "two.toml").write_text(TINY + "[observe]\nmarginal_response_ms = 0.2\n" + streams)
    summary = wordline.run("two.toml", requests=False).summary
    each = [stream["excess"]["all"]["requests"] for stream in summary["streams"]]
    assert sum(each) == summary["excess"]["all"]["requests"] > 0


def series(busy: list[float], collecting: list[float]) -> pl.DataFrame:
    """Returns a series of intervals of 10 ms on two dies, with a write if the device is active."""
    count = len(busy)
    none = pl.Series([None] * count, dtype=pl.Float64)
    latency = pl.Series([200.0 if one else None for one in busy], dtype=pl.Float64)
    return pl.DataFrame(
        {
            "start_s": [place / 100 for place in range(count)],
            "end_s": [(place + 1) / 100 for place in range(count)],
            "reads": [0] * count,
            "writes": [int(one > 0) for one in busy],
            "read_mean_us": none,
            "read_max_us": none,
            "write_mean_us": latency,
            "write_max_us": latency,
            "busy_ms": busy,
            "gc_die_ms": collecting,
            "die_utilisation": [[0.0, 0.0]] * count,
        }
    )


def bars(figure: Any) -> dict[str, list[list[float | None]]]:
    drawn: dict[str, list[list[float | None]]] = {}
    for trace in figure["data"]:
        if trace["type"] == "bar":
            drawn.setdefault(trace["name"], []).append(trace["y"])
    return drawn


def test_gc_with_and_without_concurrent_requests_is_distinguished() -> None:
    on_demand = series([10, 10, 0, 0], [20, 10, 2, 0])
    ahead = series([10, 10, 0, 0], [0, 0, 10, 20])
    figure = views({"on demand": on_demand, "ahead": ahead})
    assert figure
    assert bars(figure) == {
        "GC during requests": [[100, 50, None, None], [None] * 4],
        "GC without requests": [[None, None, 10, None], [None, None, 50, 100]],
    }
    names = [trace["name"] for trace in figure["data"] if trace.get("showlegend", True)]
    assert len(names) == len(set(names)), "each name is in the legend once"
    assert [note["text"] for note in figure["layout"]["annotations"]] == ["on demand", "ahead"]
    used = {(trace["xaxis"], trace["yaxis"]) for trace in figure["data"]}
    for x, y in used:
        assert f"xaxis{x[1:]}" in figure["layout"]
        assert f"yaxis{y[1:]}" in figure["layout"]
    tops = [figure["layout"][f"yaxis{suffix}"] for suffix in ("", "4")]
    bottoms = [figure["layout"][f"yaxis{suffix}"] for suffix in ("3", "6")]
    for one, other in (*itertools.combinations(tops, 2), *itertools.combinations(bottoms, 2)):
        assert one["range"] == other["range"], "runs side by side have one scale"


def test_a_run_without_requests_has_no_views() -> None:
    assert views({}) is None
    assert views({"idle": series([0, 0], [0, 0])}) is None
