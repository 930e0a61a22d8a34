"""Sequential and random reads and writes by size."""

from collections.abc import Mapping

from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import ERASED, FILLED, Trial
from wordline._render import units
from wordline._render.charts import Plot, lines

SIZES, QUICK_SIZES = tuple(512 << place for place in range(8)), (512, 4096, 65536)
KINDS = {
    "SR": "sequential reads",
    "RR": "random reads",
    "SW": "sequential writes",
    "RW": "random writes",
}
COLOURS = {
    "sequential reads": "#7cc0ea",
    "random reads": "#1f78b4",
    "sequential writes": "#f2b279",
    "random writes": "#d8731c",
}
TOLD = 4096
MOST_WRITES = 40_000


def sizes(bench: TestDevice) -> tuple[int, ...]:
    """Returns the request sizes in bytes, from 1 to 128 sectors."""
    return QUICK_SIZES if bench.quick else SIZES


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: reads of a filled device and writes to an erased one, one kind at a
    time."""
    reads = bench.count(8000, 2000)
    return {
        f"{kind} {size}": Trial(
            FILLED if kind.endswith("R") else ERASED,
            {
                "requests": reads if kind.endswith("R") else writes(bench, reads, size),
                "read_ratio": float(kind.endswith("R")),
                "request_bytes": size,
                "align_bytes": size,
                "pattern": "sequential" if kind.startswith("S") else "uniform",
            },
        )
        for kind in KINDS
        for size in sizes(bench)
    }


def writes(bench: TestDevice, least: int, size: int) -> int:
    """Returns the number of writes that fill the buffer four times, within limits."""
    return max(least, min(MOST_WRITES, 4 * bench.buffer_bytes // size))


def ratios(values: Mapping[str, Mapping[int, float]], to: str) -> dict[str, float]:
    """Returns the ratio of each other kind to the kind `to`, averaged over the sizes."""
    return {
        kind: sum(one[size] / values[to][size] for size in one) / len(one)
        for kind, one in values.items()
        if kind != to
    }


def finding(bench: TestDevice, found: Found) -> Finding:
    """Compares rates and mean response times by kind and size."""
    rates: dict[str, dict[int, float]] = {kind: {} for kind in KINDS}
    means: dict[str, dict[int, float]] = {kind: {} for kind in KINDS}
    for kind in KINDS:
        op = "read" if kind.endswith("R") else "write"
        for size in sizes(bench):
            summary = found[f"{kind} {size}"].summary
            rates[kind][size] = summary["throughput"][f"{op}_mb_per_s"]
            means[kind][size] = summary["latency"][op]["mean_us"]
    at = {kind: rates[kind][TOLD] for kind in KINDS}
    best, worst = max(at, key=at.__getitem__), min(at, key=at.__getitem__)
    each = ", ".join(f"{KINDS[kind]} {units.bandwidth(at[kind])}" for kind in KINDS)
    verdict = (
        f"At 4 KiB and a queue depth of {bench.depth}: {each}. "
        f"{KINDS[worst].capitalize()} are slowest, at {units.share(at[worst] / at[best])} of the "
        f"rate of {KINDS[best]}."
    )
    drawn = {
        KINDS[kind]: {units.size(size): value for size, value in one.items()}
        for kind, one in rates.items()
    }
    return Finding(
        verdict,
        {
            "mb_per_s": rates,
            "mean_us": means,
            "mean_ratio_of_rate_to_RR": ratios(rates, "RR"),
            "mean_ratio_of_latency_to_RR": ratios(means, "RR"),
        },
        Table(
            ("size", *(f"{KINDS[kind]}" for kind in KINDS)),
            [
                (
                    units.size(size),
                    *(
                        f"{units.bandwidth(rates[kind][size])}, {units.duration(means[kind][size])}"
                        for kind in KINDS
                    ),
                )
                for size in sizes(bench)
            ],
        ),
        [
            Plot(
                "Rate by size",
                "Reads of a filled device, writes to an erased one.",
                lines(drawn, COLOURS, "request", "MB/s", category=True),
            )
        ],
        _notes(bench),
    )


def _notes(bench: TestDevice) -> list[str]:
    if not bench.buffer_bytes:
        return []
    held = units.size(bench.buffer_bytes)
    return [
        f"The DRAM buffer of {held} absorbs writes: {MOST_WRITES:,} writes of less than "
        f"{units.size(4 * bench.buffer_bytes / MOST_WRITES)} do not fill it four times, so their "
        "rate is only partly that of the flash."
    ]


EXPERIMENT = Experiment(
    "patterns",
    "Four patterns",
    "Sequential and random reads and writes of 1 to 128 sectors, one kind at a time; reads of a "
    "device filled in sequence, writes to an erased one.",
    "PTS measures IOPS and throughput in steady state instead, where writes include garbage "
    "collection: see the write cliff.",
    trials,
    finding,
)
