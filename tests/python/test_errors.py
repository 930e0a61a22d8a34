"""Do runs err as scipy's binomial distribution says?"""

import math

import pytest

import wordline
from wordline.summary import Summary

np = pytest.importorskip("numpy")
stats = pytest.importorskip("scipy.stats")

DATA_BITS, CORRECTABLE = 8192, 40
# 14 bits of parity for each error: 2^14 is the next power of two above the codeword.
BITS = DATA_BITS + 14 * CORRECTABLE
PAGE_BYTES = 4096
WORDS = PAGE_BYTES * 8 // DATA_BITS
READS = 20_000


def read(rate: float) -> Summary:
    """Reads of a device whose bits all err at this rate."""
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
def test_pages_fail_and_err_as_the_binomial_distribution_says(rate: float) -> None:
    errors = read(rate)["read_errors"]
    assert errors is not None
    assert errors["page_reads"] == READS
    # A page fails if one of its codewords has more errors than are corrected.
    fails = -math.expm1(WORDS * math.log1p(-stats.binom.sf(CORRECTABLE, BITS, rate)))
    deviation = math.sqrt(READS * fails * (1 - fails))
    assert READS * fails > 20
    assert abs(errors["uncorrectable"] - READS * fails) < 5 * deviation
    # Mean and deviation of the greatest of as many draws as a page has codewords.
    counts = np.arange(BITS + 1)
    below = stats.binom.cdf(counts, BITS, rate) ** WORDS
    mass = np.diff(below, prepend=0.0)
    mean = float((counts * mass).sum())
    spread = math.sqrt(float(((counts - mean) ** 2 * mass).sum()))
    found = errors["worst_codeword_mean"]
    assert found is not None
    assert abs(found - mean) < 5 * spread / math.sqrt(READS)
