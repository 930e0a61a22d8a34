"""Status of a live device in the text format of Prometheus, version 0.0.4."""

from __future__ import annotations

import json
from functools import cache
from typing import NamedTuple

from wordline import _wordline
from wordline._render.status import OPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Labels = tuple[tuple[str, str], ...]


class Sample(NamedTuple):
    """A number of the status: its labels, its path in the status, and the factor that converts it
    to base units."""

    path: str
    labels: Labels = ()
    factor: float = 1.0


class Family(NamedTuple):
    """A metric: its type, and its samples. Its help is the description of the first sample in
    `wordline.metrics()`, or `help` for metrics that the summary does not have."""

    kind: str
    samples: tuple[Sample, ...]
    help: str = ""


def _of(kind: str, path: str, help: str = "") -> Family:
    return Family(kind, (Sample(path),), help)


def _by(kind: str, label: str, help: str = "", **paths: str) -> Family:
    samples = (Sample(path, ((label, value),)) for value, path in paths.items())
    return Family(kind, tuple(samples), help)


QUANTILES = {"0.5": "p50_us", "0.99": "p99_us", "0.999": "p99_9_us"}
LATENCY = "wordline_request_latency_seconds"
LATENCY_HELP = "Response times in simulated time, from arrival to completion."
BOUNDS_US = tuple(2.0**power for power in range(25))
"""Upper ends of the buckets: 1 µs to 16.8 s. Each is an end of a bucket of the status."""
FAMILIES: dict[str, Family] = {
    "wordline_simulated_seconds_total": _of(
        "counter", "live.simulated_s", "Simulated time since the start."
    ),
    "wordline_requests_total": _by(
        "counter", "op", **{op: f"summary.latency.{op}.count" for op in OPS}
    ),
    "wordline_request_bytes_total": _by(
        "counter",
        "op",
        "Bytes of completed requests.",
        read="summary.input.read_bytes",
        write="summary.input.written_bytes",
    ),
    "wordline_request_latency_quantile_seconds": Family(
        "gauge",
        tuple(
            Sample(f"summary.latency.{op}.{key}", (("op", op), ("quantile", share)), 1e-6)
            for op in OPS
            for share, key in QUANTILES.items()
        ),
        "Quantiles of the response times of all requests so far.",
    ),
    "wordline_requests_in_flight": _of("gauge", "live.in_flight", "Requests without a reply."),
    "wordline_connections": _of("gauge", "live.connections", "Open connections."),
    "wordline_connections_accepted_total": _of(
        "counter", "live.connections_accepted", "Connections since the start."
    ),
    "wordline_replies_total": _of(
        "counter", "live.replies", "Replies sent with the real clock, on time or late."
    ),
    "wordline_late_replies_total": _of(
        "counter", "live.late_replies", "Replies sent at least 100 microseconds late."
    ),
    "wordline_power_cuts_total": _of("counter", "live.power_cuts", "Requested power cuts."),
    "wordline_write_amplification_ratio": _of("gauge", "summary.flash.write_amplification"),
    "wordline_flash_pages_read_total": _of("counter", "summary.flash.page_reads"),
    "wordline_flash_pages_programmed_total": _of("counter", "summary.flash.page_programs"),
    "wordline_flash_programmed_bytes_total": _of("counter", "summary.flash.programmed_bytes"),
    "wordline_flash_blocks_erased_total": _of("counter", "summary.flash.erases"),
    "wordline_flash_gc_runs_total": _of("counter", "summary.flash.gc_runs"),
    "wordline_flash_gc_pages_moved_total": _of("counter", "summary.flash.gc_pages_moved"),
    "wordline_flash_free_blocks": _of("gauge", "summary.flash.free_blocks", "Erased blocks."),
    "wordline_flash_block_erases_max": _of("gauge", "summary.flash.erases_per_block_max"),
    "wordline_flash_block_erases_mean": _of("gauge", "summary.flash.erases_per_block_mean"),
    "wordline_buffer_hits_total": _by(
        "counter",
        "op",
        "Hits in the DRAM buffer. Pages.",
        read="summary.buffer.read_hits",
        write="summary.buffer.write_hits",
    ),
    "wordline_buffer_misses_total": _by(
        "counter",
        "op",
        "Misses in the DRAM buffer. Pages.",
        read="summary.buffer.read_misses",
        write="summary.buffer.write_misses",
    ),
    "wordline_cache_read_pages_total": _by(
        "counter",
        "result",
        "Pages that reads requested from the flash cache, by the result of the look-up.",
        resident_hit="summary.cache.resident_hits",
        suspected_hit="summary.cache.suspected_hits",
        joined="summary.cache.joined",
        miss="summary.cache.misses",
        bypassed="summary.cache.bypassed",
    ),
    "wordline_cache_hit_ratio": _of("gauge", "summary.cache.hit_ratio"),
}
"""All metrics but the histogram, by name. Numbers that the device does not have are left out."""


def exposition(status: Mapping[str, Any]) -> str:
    """Returns the metrics of a status."""
    lines: list[str] = []
    for name, family in FAMILIES.items():
        found = ((one, _value(status, one.path)) for one in family.samples)
        samples = [(one.labels, value * one.factor) for one, value in found if value is not None]
        if samples:
            lines += _head(name, family.kind, family.help or _description(family.samples[0].path))
            lines += (_line(name, labels, value) for labels, value in samples)
    lines += _head(LATENCY, "histogram", LATENCY_HELP)
    for op in OPS:
        lines += _histogram(status, op)
    return "\n".join(lines) + "\n"


def _histogram(status: Mapping[str, Any], op: str) -> Iterator[str]:
    buckets, latency = status["histograms"][op], status["summary"]["latency"][op]
    labels = (("op", op),)
    for bound in BOUNDS_US:
        count = sum(count for end, count in buckets if end <= bound)
        yield _line(f"{LATENCY}_bucket", (*labels, ("le", repr(bound / 1e6))), count)
    count = latency["count"]
    yield _line(f"{LATENCY}_bucket", (*labels, ("le", "+Inf")), count)
    yield _line(f"{LATENCY}_sum", labels, count * (latency["mean_us"] or 0.0) / 1e6)
    yield _line(f"{LATENCY}_count", labels, count)


def _value(status: Mapping[str, Any], path: str) -> float | None:
    if path.startswith("summary.flash.") and not status["summary"]["device"]["blocks"]:
        return None
    value: Any = status
    for key in path.split("."):
        if value is None:
            return None
        value = value[key]
    return value


def _head(name: str, kind: str, help: str) -> Iterable[str]:
    escaped = help.replace("\\", r"\\").replace("\n", r"\n")
    return (f"# HELP {name} {escaped}", f"# TYPE {name} {kind}")


def _line(name: str, labels: Labels, value: float) -> str:
    named = ",".join(f'{key}="{text}"' for key, text in labels)
    return f"{name}{{{named}}} {value!r}" if named else f"{name} {value!r}"


def _description(path: str) -> str:
    return _descriptions()[path.removeprefix("summary.")]


@cache
def _descriptions() -> dict[str, str]:
    ops = ("all", "read", "write")
    return {
        one["name"].replace("{op}", op): one["description"]
        for one in json.loads(_wordline.metrics())
        for op in ops
    }
