"""Read errors follow the binomial distribution, as SciPy computes it."""

import math

import pytest

import wordline
from wordline.summary import Summary

np = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")

DATA_BITS, CORRECTABLE = 8192, 40
# 14 parity bits per correctable error: 2^14 is the next power of two above the codeword.
BITS = DATA_BITS + 14 * CORRECTABLE
PAGE_BYTES = 4096
WORDS = PAGE_BYTES * 8 // DATA_BITS
READS = 20_000


def read(rate: float) -> Summary:
    """Reads a device whose bits all have this error rate. Returns the summary."""
    device = {
        "base": "d4",
        "ssd": {"ecc": {"bch": {"data_bits": DATA_BITS, "correctable": CORRECTABLE}}},
        "nand": {
            "geometry": {"page_bytes": PAGE_BYTES, "blocks_per_plane": 32},
            "reliability": {"errors": {"table": {"cycles": [0.0], "rates": [rate]}}},
        },
        "workload": {"requests": READS, "read_ratio": 1.0, "request_bytes": PAGE_BYTES},
    }
    return wordline.run(device, requests=False).summary


@pytest.mark.parametrize("rate", [3.0e-3, 3.4e-3, 4.0e-3])
def test_page_errors_follow_the_binomial_distribution(rate: float) -> None:
    errors = read(rate)["read_errors"]
    assert errors is not None
    assert errors["page_reads"] == READS
    # A page is uncorrectable if one of its codewords has more errors than the code corrects.
    fails = -math.expm1(WORDS * math.log1p(-stats.binom.sf(CORRECTABLE, BITS, rate)))
    deviation = math.sqrt(READS * fails * (1 - fails))
    assert READS * fails > 20
    assert abs(errors["uncorrectable"] - READS * fails) < 5 * deviation
    # Mean and standard deviation of the maximum over the codewords of a page.
    counts = np.arange(BITS + 1)
    below = stats.binom.cdf(counts, BITS, rate) ** WORDS
    mass = np.diff(below, prepend=0.0)
    mean = float((counts * mass).sum())
    spread = math.sqrt(float(((counts - mean) ** 2 * mass).sum()))
    found = errors["worst_codeword_mean"]
    assert found is not None
    assert abs(found - mean) < 5 * spread / math.sqrt(READS)


LDPC_BITS = 9216
FIRST_LEVEL = math.floor(4.88e-3 * LDPC_BITS)
"""Errors per codeword that the default LDPC code corrects with a hard decision."""


@pytest.mark.parametrize("pages", [1, 4])
def test_read_retries_follow_the_binomial_distribution(pages: int) -> None:
    rate = 3.4e-3
    device = {
        "base": "d4",
        "ssd": {"ecc": "ldpc"},
        "nand": {
            "geometry": {"page_bytes": PAGE_BYTES, "blocks_per_plane": 32},
            "reliability": {"errors": {"table": {"cycles": [0.0], "rates": [rate]}}},
        },
        "workload": {
            "requests": READS,
            "read_ratio": 1.0,
            "request_bytes": pages * PAGE_BYTES,
            "align_bytes": pages * PAGE_BYTES,
        },
    }
    summary = wordline.run(device, requests=False).summary
    errors = summary["read_errors"]
    assert errors is not None
    met = errors["reads_met"]
    # A read needs a retry if a codeword of its pages has more errors.
    alone = math.log1p(-stats.binom.sf(FIRST_LEVEL, LDPC_BITS, rate))
    expected = READS * -math.expm1(pages * WORDS * alone)
    assert expected > 50
    deviation = math.sqrt(expected * (1 - expected / READS))
    assert abs(met["retry"]["count"] - expected) < 5 * deviation
    assert met["nothing"]["count"] + met["retry"]["count"] == READS
    assert met["reclaim"]["count"] == met["bad_block"]["count"] == 0
    assert errors["page_reads_retried"] >= met["retry"]["count"]
    # Both groups together are the reads of the run.
    sums = [one["count"] * one["mean_us"] for one in (met["nothing"], met["retry"])]
    assert sum(sums) == pytest.approx(READS * summary["latency"]["read"]["mean_us"])
    assert met["retry"]["min_us"] > met["nothing"]["min_us"]


def test_members_of_an_array_report_delayed_reads() -> None:
    errs = {"base": "d4", "nand": {"reliability": {"read_limit": 8}}}
    array = {
        "array": {
            "members": [{"name": "left", **errs}, {"name": "right", "base": "d4"}],
            "stripe_bytes": 65536,
        },
        "workload": {
            "requests": 4000,
            "read_ratio": 1.0,
            "request_bytes": 4096,
            "working_set_ratio": 0.02,
        },
    }
    errors = wordline.run(array, requests=False).summary["read_errors"]
    assert errors is not None
    met = errors["reads_met"]
    # Counts only reads of the member whose reads can be delayed, about half of all reads.
    assert 1500 < met["nothing"]["count"] + met["reclaim"]["count"] < 2500
    assert met["reclaim"]["count"] > 0
