"""Rows of requests carry the position of the request in the input."""

import random
from pathlib import Path

import polars as pl
import pytest

import wordline as package

HEADER = "time_ns,op,offset_bytes,size_bytes,volume\n"
PAGE = 4096
REQUESTS = 1500
DISK = {"capacity_bytes": 16 << 20, "queue": "look"}
CACHE = {"mode": "write-back"}
# Stores that complete requests out of order.
STORES = {
    "SSD": {},
    "link": {"host.interface": "link"},
    "host side": {"host_side.cores": 2},
    "array": {"array": {"stripe_bytes": 2 * PAGE, "members": [{"count": 3}]}},
    "cache": {"cache": CACHE, "disk": DISK},
    "mixed": {"array": {"stripe_bytes": 2 * PAGE, "members": [{}, {"disk": DISK}]}},
}


@pytest.fixture
def trace(place: Path) -> pl.DataFrame:
    """Returns bursts of requests with flushes in between."""
    draw = random.Random(7)
    rows = [
        (
            place // 40 * 3_000_000,
            draw.choices(["read", "write", "flush"], [6, 5, 1])[0],
            draw.randrange(1024) * PAGE,
            draw.choice([PAGE, 3 * PAGE]),
        )
        for place in range(REQUESTS)
    ]
    lines = (
        f"{time},{op},{0 if op == 'flush' else offset},{0 if op == 'flush' else size},0\n"
        for time, op, offset, size in rows
    )
    (place / "trace.csv").write_text(HEADER + "".join(lines))
    return pl.DataFrame(
        rows, schema=["time_ns", "op", "offset", "bytes"], orient="row"
    ).with_row_index("number")


# A single disk has no flash to describe.
DISK_ALONE = """
schema = 1
[disk]
capacity_bytes = 16_777_216
queue = "look"
"""


def require_joined(rows: pl.DataFrame, trace: pl.DataFrame) -> None:
    """Checks that each row equals the input at its number, and that each number occurs once."""
    rows = rows.filter(pl.col("op") != "flush").with_columns(pl.col("number").cast(pl.UInt32))
    joined = rows.join(trace, on="number", suffix="_in_trace")
    assert joined.height == rows.height == rows["number"].n_unique()
    assert joined["op"].cast(pl.String).to_list() == joined["op_in_trace"].to_list()
    assert joined["offset"].to_list() == joined["offset_in_trace"].to_list()
    assert joined["bytes"].to_list() == joined["bytes_in_trace"].to_list()
    assert (joined["arrival_ps"] == joined["time_ns"] * 1000).all()


@pytest.mark.parametrize("store", STORES)
def test_rows_join_with_the_trace_whatever_the_order_of_completion(
    tiny: str, trace: pl.DataFrame, store: str
) -> None:
    require_out_of_order(tiny, trace, STORES[store])


def test_rows_of_a_disk_join_with_the_trace(place: Path, trace: pl.DataFrame) -> None:
    (place / "disk.toml").write_text(DISK_ALONE)
    require_out_of_order("disk.toml", trace, {})


def require_out_of_order(device: str, trace: pl.DataFrame, keys: dict[str, object]) -> None:
    result = package.run(device, "trace.csv", overrides=keys, requests=True)
    rows = result.requests.polars()
    data = trace.filter(pl.col("op") != "flush")
    assert rows.filter(pl.col("op") != "flush").height == data.height
    assert rows["index"].to_list() == list(range(rows.height))
    assert not rows["number"].is_sorted(), "this store completes all requests in order"
    require_joined(rows, trace)


def test_request_numbers_count_per_stream(tiny: str, trace: pl.DataFrame) -> None:
    streams = [{"name": "one"}, {"name": "other"}]
    result = package.run(
        tiny,
        streams={"one": "trace.csv", "other": "trace.csv"},
        overrides={"streams": streams},
        requests=True,
    )
    rows = result.requests.polars()
    for stream in range(2):
        require_joined(rows.filter(pl.col("stream") == stream), trace)


def test_power_cuts_do_not_change_request_numbers(tiny: str, trace: pl.DataFrame) -> None:
    result = package.run(tiny, "trace.csv", requests=True, power_cut_every=200)
    assert result.summary["power"]["requests_lost"] > 0
    require_joined(result.requests.polars(), trace)
