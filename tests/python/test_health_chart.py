"""The health chart draws events per interval, and does not exist without events."""

import polars as pl
import pytest

from wordline._render.report import time_series

COUNTS = ("read_retries", "refreshes", "blocks_retired", "spares_taken")


def series(**counts: list[int]) -> pl.DataFrame:
    """Returns a series of three intervals of half a second, in which the device always held
    requests."""
    whole = {column: [0, 0, 0] for column in COUNTS} | counts
    return pl.DataFrame(
        {
            "start_s": [0.0, 0.5, 1.0],
            "end_s": [0.5, 1.0, 1.5],
            "busy_ms": [500.0] * 3,
            "reads": [1] * 3,
            "writes": [0] * 3,
        }
        | whole
    )


def test_counts_are_drawn_per_second_and_spare_blocks_as_levels() -> None:
    # The last of three blocks that went bad found no spare block.
    drawn = time_series.health(
        series(read_retries=[0, 4, 1], blocks_retired=[0, 2, 1], spares_taken=[0, 2, 0]), 5
    )
    assert drawn is not None
    lines = {line["name"]: line["y"] for line in drawn["data"]}
    assert lines == {
        "read retries": [0, 8, 2],
        "grown bad blocks": [0, 4, 2],
        "spare blocks left": [7, 5, 5],
    }


def test_a_device_without_spare_blocks_has_no_line_for_them() -> None:
    drawn = time_series.health(series(refreshes=[1, 0, 0]), None)
    assert drawn is not None
    assert [line["name"] for line in drawn["data"]] == ["read reclaims and refreshes"]


@pytest.mark.parametrize("spare", [None, 3])
def test_a_run_without_events_has_no_health_chart(spare: int | None) -> None:
    assert time_series.health(series(), spare) is None
