"""Formatting of numbers, the same in the terminal and in reports."""

import math

ABSENT = "–"
US_PER_S = 1e6
DAYS_A_YEAR = 365.25

LATENCIES = (
    ("mean", "mean_us"),
    ("std", "std_us"),
    ("min", "min_us"),
    ("p50", "p50_us"),
    ("p90", "p90_us"),
    ("p95", "p95_us"),
    ("p99", "p99_us"),
    ("p99.9", "p99_9_us"),
    ("p99.99", "p99_99_us"),
    ("max", "max_us"),
)

DURATIONS = (
    (1e3, 1.0, "µs"),
    (1e6, 1e3, "ms"),
    (6e8, 1e6, "s"),
    (7.2e9, 6e7, "min"),
    (1.728e11, 3.6e9, "h"),
)


def figures(value: float, digits: int = 3) -> str:
    """Formats a number with `digits` significant digits and separated thousands, never in
    e-notation."""
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0 or not math.isfinite(rounded):
        return f"{rounded:g}"
    before_point = math.floor(math.log10(abs(rounded))) + 1
    return f"{value:,.{min(4, max(0, digits - before_point))}f}"


def duration(us: float | None) -> str:
    """Formats a time given in microseconds, in a unit that keeps it short."""
    if us is None:
        return ABSENT
    scale, unit = duration_unit(us)
    return f"{figures(us / scale)} {unit}"


def duration_unit(us: float) -> tuple[float, str]:
    """Returns the unit for a time given in microseconds, as its length in microseconds and its
    symbol."""
    for limit, scale, unit in DURATIONS:
        if abs(us) < limit:
            return scale, unit
    return 8.64e10, "days"


def lifetime(years: float | None) -> str:
    """Formats a lifetime in days or years with two significant digits."""
    if years is None:
        return ABSENT
    if years > 100:
        return "more than 100 years"
    days = years * DAYS_A_YEAR
    if days < 1:
        return "less than a day"
    if years < 2:
        return f"{figures(float(f'{days:.2g}'), 2)} days"
    return f"{figures(years, 2)} years"


def size(count: float | None) -> str:
    """Formats a number of bytes in binary units."""
    if count is None:
        return ABSENT
    scale, unit = size_unit(count)
    return f"{figures(count / scale)} {unit}"


def size_unit(count: float) -> tuple[float, str]:
    """Returns the binary unit for a number of bytes, as its size in bytes and its symbol."""
    for power, unit in enumerate(("B", "KiB", "MiB", "GiB")):
        if abs(count) < 1024 ** (power + 1):
            return 1024.0**power, unit
    return 1024.0**4, "TiB"


def bandwidth(mb_per_s: float | None) -> str:
    """Formats a bandwidth given in MB/s, in the decimal unit that keeps it short."""
    if mb_per_s is None:
        return ABSENT
    scale, unit = bandwidth_unit(mb_per_s)
    return f"{figures(mb_per_s / scale)} {unit}"


def bandwidth_unit(mb_per_s: float) -> tuple[float, str]:
    """Returns the unit for a bandwidth, as its size in MB/s and its symbol."""
    for scale, unit in ((1e3, "GB/s"), (1.0, "MB/s"), (1e-3, "kB/s")):
        if mb_per_s >= scale:
            return scale, unit
    return (1e-6, "B/s") if mb_per_s > 0 else (1.0, "MB/s")


def whole(count: float | None) -> str:
    """Formats a count with separated thousands."""
    return ABSENT if count is None else f"{count:,.0f}"


def many(count: float, noun: str, plural: str = "") -> str:
    """Formats a count with its noun in the singular or the plural. Without `plural`, the plural is
    the noun with an s."""
    return f"{whole(count)} {noun if count == 1 else plural or noun + 's'}"


def share(ratio: float | None) -> str:
    """Formats a ratio in per cent."""
    return ABSENT if ratio is None else f"{figures(ratio * 100)} %"


def number(value: float | None, unit: str = "", digits: int = 3) -> str:
    """Formats a number with its unit."""
    if value is None:
        return ABSENT
    return f"{figures(value, digits)} {unit}".rstrip()


def axis(longest_s: float) -> tuple[float, str]:
    """Returns the unit for a time axis of this length, as its length in seconds and its symbol."""
    for limit, seconds, unit in (
        (1e-3, 1e-6, "µs"),
        (1, 1e-3, "ms"),
        (600, 1, "s"),
        (7200, 60, "min"),
    ):
        if longest_s < limit:
            return seconds, unit
    return (3600, "h") if longest_s < 2 * 86400 else (86400, "days")
