"""Bursts of generated loads, against the recordings from which they were measured."""

import gzip
from bisect import bisect_left, bisect_right
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from wordline_studies.bursts import READS, WRITES, Arrivals, Bursts

TRACES = Path(__file__).parents[3] / "shared" / "traces"
RECORDED = {
    "reads of web_3": (READS, TRACES / "msr-web_3.csv.gz", "Read"),
    "writes of rsrch_1": (WRITES, TRACES / "msr-rsrch_1.csv.gz", "Write"),
}
CLOSE = 10_000
"""A millisecond, in the time stamps of the recordings: 100 ns."""


def measured(path: Path, direction: str) -> tuple[list[int], list[float]]:
    """Returns the sorted lengths of the bursts of a direction, and the sorted gaps of their
    requests in microseconds."""
    with gzip.open(path, "rt") as lines:
        fields = [line.split(",") for line in lines if line[0].isdigit()]
    requests = sorted((int(one[0]), one[3]) for one in fields)
    lengths, gaps = [int(requests[0][1] == direction)], list[float]()
    for (before, last), (at, own) in pairwise(requests):
        if own == last == direction and at - before < CLOSE:
            lengths[-1] += 1
            gaps.append((at - before) / 10)
        elif own == direction:
            lengths.append(1)
    return sorted(one for one in lengths if one), sorted(gaps)


@pytest.mark.parametrize("name", RECORDED)
def test_bursts_match_their_recording(name: str) -> None:
    bursts, path, direction = RECORDED[name]
    if not path.exists():
        pytest.skip(f"put {path.name} in ../shared/traces")
    lengths, gaps = measured(path, direction)
    for share, value in bursts.lengths:
        low = bisect_left(lengths, value) / len(lengths)
        assert low - 0.01 <= share <= bisect_right(lengths, value) / len(lengths) + 0.01
    # Time stamps have a resolution of 100 ns.
    for share, value in bursts.gaps_us:
        low = bisect_left(gaps, value - 0.2) / len(gaps)
        assert low - 0.01 <= share <= bisect_right(gaps, value + 0.2) / len(gaps) + 0.01
    assert bursts.mean == pytest.approx(sum(lengths) / len(lengths), rel=0.1)


def test_reads_come_in_shorter_bursts_than_writes() -> None:
    assert READS.mean < WRITES.mean / 3


@pytest.mark.parametrize("bursts", [READS, WRITES])
def test_mean_is_that_of_drawn_lengths(bursts: Bursts) -> None:
    random = Random(1)
    lengths = [bursts.length(random) for _ in range(40_000)]
    assert sum(lengths) / len(lengths) == pytest.approx(bursts.mean, rel=0.05)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.88, 1.0])
def test_requests_write_with_the_share_of_their_load(share: float) -> None:
    random, requests = Random(1), {False: 0, True: 0}
    arrivals, many = Arrivals(share), 20_000
    for _ in range(many):
        writes, bursts = arrivals.next(random)
        requests[writes] += bursts.length(random)
    total = sum(requests.values())
    assert requests[True] / total == pytest.approx(share, abs=0.02)
    assert total / many == pytest.approx(arrivals.mean_length, rel=0.04)
