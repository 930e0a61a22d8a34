"""Formatting of numbers."""

import pytest

from wordline._render import units


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (None, "–"),
        (0, "0 µs"),
        (0.05, "0.0500 µs"),
        (9.8, "9.80 µs"),
        (62.34, "62.3 µs"),
        (999.4, "999 µs"),
        (1000, "1.00 ms"),
        (26_420, "26.4 ms"),
        (2.5e6, "2.50 s"),
        (1.2e9, "20.0 min"),
        (1.5e11, "41.7 h"),
        (5.94376e11, "6.88 days"),
    ],
)
def test_durations_have_three_digits_and_a_suitable_unit(us: float | None, text: str) -> None:
    assert units.duration(us) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0151, "0.0151"),
        (0.4, "0.400"),
        (9.996, "10.0"),
        (123.4, "123"),
        (20000.4, "20,000"),
        (-2.5, "-2.50"),
        (1e-9, "0.0000"),
    ],
)
def test_numbers_are_rounded_and_never_in_e_notation(value: float, text: str) -> None:
    assert units.figures(value) == text


def test_sizes_have_binary_units() -> None:
    assert units.size(4096) == "4.00 KiB"
    assert units.size(6.8 * 2**30) == "6.80 GiB"
    assert units.size(5 * 2**50) == "5,120 TiB"


def test_bandwidths_have_decimal_units() -> None:
    assert [units.bandwidth(value) for value in (None, 0, 5e-6, 0.0016, 524.3, 2100)] == [
        "–",
        "0 MB/s",
        "5.00 B/s",
        "1.60 kB/s",
        "524 MB/s",
        "2.10 GB/s",
    ]


def test_time_axes_have_a_unit_suited_to_their_length() -> None:
    assert [units.axis(seconds)[1] for seconds in (1e-5, 0.2, 30, 3000, 90_000, 600_000)] == [
        "µs",
        "ms",
        "s",
        "min",
        "h",
        "days",
    ]
