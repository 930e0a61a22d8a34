"""The SMART log page follows NVMe, and series sum to the summary."""

from typing import Any

import pytest

import wordline
from wordline._render.report import time_series

KIB = 1024


def device(**workload: Any) -> dict[str, Any]:
    """Returns a small device with spare blocks."""
    return {
        "base": "d4",
        "ftl": {"spare_blocks": 4, "over_provisioning_ratio": 0.4},
        "nand": {
            "geometry": {"page_bytes": 4096, "blocks_per_plane": 40},
            "endurance_cycles": 3000,
            "reliability": {
                "cycles": 1500,
                "failures": {"table": {"cycles": [0.0], "erase": [0.0], "program": [0.0]}},
            },
        },
        "workload": workload,
    }


def test_data_units_are_thousands_of_512_bytes_rounded_up() -> None:
    # 250 reads of 4 KiB are 1,024,000 bytes: 2,000 sectors, hence two units; one more starts the
    # third.
    for requests, units in ((250, 2), (251, 3), (1, 1)):
        reads = device(requests=requests, read_ratio=1.0, request_bytes=4 * KIB)
        (smart,) = wordline.run(reads).smart
        assert (smart["host_read_commands"], smart["data_units_read"]) == (requests, units)
        assert (smart["host_write_commands"], smart["data_units_written"]) == (0, 0)
        # Cycles before the run: half of the endurance, without an erase in the run.
        assert smart["percentage_used"] == 50
        assert (smart["available_spare"], smart["available_spare_threshold"]) == (100, 10)
        assert (smart["critical_warning"], smart["media_errors"]) == (0, 0)


def test_a_worn_out_device_sets_critical_warnings() -> None:
    writes = device(requests=20_000, read_ratio=0.0, request_bytes=4 * KIB)
    writes["nand"]["reliability"]["failures"]["table"]["program"] = [0.01]
    result = wordline.run(writes, requests=False)
    (smart,), bad = result.smart, result.summary["bad_blocks"]
    assert bad is not None
    assert bad["read_only_s"] is not None
    left, all_spare = bad["spare"], bad["spare"] + int(result.series.polars()["spares_taken"].sum())
    assert smart["available_spare"] == 100 * left // all_spare
    low = 1 if 100 * left // all_spare < 10 else 0
    assert smart["critical_warning"] == 8 + low


def test_each_member_of_an_array_has_a_smart_log() -> None:
    array = {
        "array": {"members": [{"name": "left", "base": "d4"}, {"name": "right", "base": "d4"}]},
        "workload": {"requests": 400, "read_ratio": 0.5, "request_bytes": 4 * KIB},
    }
    pages = wordline.run(array, requests=False).smart
    assert [page["name"] for page in pages] == ["left", "right"]
    commands = [page["host_read_commands"] + page["host_write_commands"] for page in pages]
    assert sum(commands) == 400


def test_health_series_sum_to_the_summary() -> None:
    load = device(requests=20_000, read_ratio=0.7, request_bytes=4 * KIB)
    load["nand"]["reliability"] |= {
        "errors": {"table": {"cycles": [0.0], "rates": [6e-3]}},
        "read_limit": 4,
    }
    load["nand"]["reliability"]["failures"]["table"]["program"] = [1e-4]
    load["ssd"] = {"ecc": "ldpc"}
    result = wordline.run(load, requests=False)
    summary, series = result.summary, result.series.polars()
    errors, bad = summary["read_errors"], summary["bad_blocks"]
    assert errors is not None
    assert bad is not None
    moved = [row["runs"] for row in summary["collections"] if row["kind"] == "refresh"]
    assert errors["retries"] > 0
    assert sum(moved) > 0
    assert series["read_retries"].sum() == errors["retries"]
    assert series["refreshes"].sum() == sum(moved)
    assert series["blocks_retired"].sum() == bad["grown"]
    drawn = time_series.health(series, bad["spare"])
    assert drawn is not None
    lines = {line["name"]: line["y"] for line in drawn["data"]}
    assert lines["spare blocks left"][-1] == bad["spare"]
    if bad["read_only_s"] is None:
        assert bad["grown"] == series["spares_taken"].sum()


@pytest.mark.parametrize("spare", [None, 3])
def test_a_run_without_health_events_has_no_health_chart(spare: int | None) -> None:
    load = device(requests=100, read_ratio=1.0, request_bytes=4 * KIB)
    assert time_series.health(wordline.run(load, requests=False).series.polars(), spare) is None
