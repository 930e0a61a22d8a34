"""Display of metrics: names, units and better direction."""

from fnmatch import fnmatchcase

import pytest

import wordline
from wordline._render import metric
from wordline._render.metric import key_name, value_text

OPS = ("all", "read", "write")
PATHS = {one["name"].replace("{op}", op) for one in wordline.metrics() for op in OPS}


@pytest.mark.parametrize("pattern", [*metric.LOWER, *metric.HIGHER, *metric.NEUTRAL, *metric.NAMES])
def test_every_pattern_and_name_belongs_to_an_existing_metric(pattern: str) -> None:
    assert any(fnmatchcase(path, pattern) for path in PATHS)


@pytest.mark.parametrize(
    ("path", "better"),
    [
        ("latency.read.p99_us", "lower"),
        ("latency.read.count", None),
        ("throughput.iops", "higher"),
        ("flash.write_amplification", "lower"),
        ("cache.hit_ratio", "higher"),
        ("cache.misses", "lower"),
        ("fairness.slowdown_ratio", "higher"),
        ("device.user_bytes", None),
        ("time.simulated_s", None),
    ],
)
def test_a_metric_knows_whether_lower_or_higher_is_better(path: str, better: str | None) -> None:
    one = metric.metric(path)
    assert one.better == better
    words = {"lower": ("better", "worse"), "higher": ("worse", "better"), None: ("", "")}
    assert (one.verdict(-1.0), one.verdict(1.0)) == words[better]
    assert one.verdict(0.0) == ""


@pytest.mark.parametrize(
    ("path", "name", "value", "text"),
    [
        ("latency.read.p99_us", "read latency, p99", 12264.0, "12.3 ms"),
        ("latency.all.p99_99_us", "latency, p99.99", 3.2e6, "3.20 s"),
        ("throughput.write_mb_per_s", "write bandwidth", 1500.0, "1.50 GB/s"),
        ("cache.hit_ratio", "cache hit ratio", 0.257, "25.7 %"),
        ("device.user_bytes", "device: user", 2.0**31, "2.00 GiB"),
        ("flash.gc_time_s", "flash: GC time", 0.5, "500 ms"),
        ("energy.read_mj", "energy: read", 12.0, "12.0 mJ"),
        ("flash.write_amplification", "write amplification", 2.5, "2.50"),
    ],
)
def test_metrics_have_a_display_name_and_a_unit(
    path: str, name: str, value: float, text: str
) -> None:
    assert metric.metric(path).name == name
    assert metric.metric(path).text(value) == text
    assert metric.metric(path).text(None) == "–"


@pytest.mark.parametrize(
    ("mean", "half_width", "text"),
    [
        (12264, 526, "12.26 ± 0.53 ms"),
        (997, 37, "997 ± 37 µs"),
        (45060, 14284, "45 ± 14 ms"),
        (100, 0, "100 ± 0 µs"),
    ],
)
def test_an_interval_has_two_digits_and_its_mean_equal_decimals(
    mean: float, half_width: float, text: str
) -> None:
    assert metric.metric("latency.read.p99_us").text(mean, half_width) == text


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("ftl.gc.victim", "GC victim"),
        ("ftl.over_provisioning_ratio", "over-provisioning ratio"),
        ("nand.timing.read_ns", "timing read (ns)"),
        ("host.queue_depth", "host queue depth"),
        ("buffer.capacity_kib", "buffer capacity (KiB)"),
        ("seed", "seed"),
    ],
)
def test_a_key_has_a_display_name_with_its_unit(key: str, name: str) -> None:
    assert key_name(key) == name


def test_values_of_keys_have_few_digits() -> None:
    assert value_text([0.1 + 0.2, True, 65536, None, "fifo"]) == "0.3, true, 65,536, –, fifo"
