"""Parallel workers and a deep queue: the effect of more outstanding requests."""

from collections.abc import Mapping
from typing import Any

from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import FILLED, Trial
from wordline._render import units
from wordline._render.charts import Plot, lines

BYTES = 512
WORKERS, QUEUE = (1, 2, 4, 8), 128
OPS = ("read", "write")
COLOURS = {"read": "#3b86c6", "write": "#d8731c"}


HOSTLESS = (
    "The host takes neither time nor memory: the translation layer is in the device, which has no "
    "[host_side]."
)


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: requests of 512 B with one request per worker, and with a queue depth of
    128."""
    return {
        f"{op} {depth}": Trial(
            FILLED,
            {
                "requests": bench.count(10_000, 3_000),
                "read_ratio": float(op == "read"),
                "request_bytes": BYTES,
                "align_bytes": BYTES,
            },
            depth=depth,
        )
        for op in OPS
        for depth in (*WORKERS, QUEUE)
    }


def finding(bench: TestDevice, found: Found) -> Finding:
    """Compares rates and latencies, and checks them by Little's law."""
    rows: list[dict[str, Any]] = []
    for op in OPS:
        for depth in (*WORKERS, QUEUE):
            summary = found[f"{op} {depth}"].summary
            iops, mean = summary["throughput"]["iops"], summary["latency"][op]["mean_us"]
            rows.append(
                {
                    "op": op,
                    "outstanding": depth,
                    "iops": iops,
                    "mean_us": mean,
                    "little": iops * mean / 1e6,
                }
            )
    of = {(row["op"], row["outstanding"]): row for row in rows}
    parts = [
        f"{op}s: eight workers complete {units.whole(of[op, 8]['iops'])} requests per second, "
        f"{of[op, 8]['iops'] / of[op, 1]['iops']:.3g} times as many as one worker; a queue of "
        f"{QUEUE} completes {of[op, QUEUE]['iops'] / of[op, 1]['iops']:.3g} times as many as one "
        f"worker, with {of[op, QUEUE]['mean_us'] / of[op, 1]['mean_us']:.3g} times the response "
        "time"
        for op in OPS
    ]
    drawn = {op: {str(depth): of[op, depth]["iops"] for depth in (*WORKERS, QUEUE)} for op in OPS}
    return Finding(
        "; ".join(parts).capitalize() + ".",
        {"loads": rows},
        Table(
            ("load", "requests per second", "mean response time", "outstanding by Little's law"),
            [
                (
                    f"{row['op']}s, {row['outstanding']}",
                    units.whole(row["iops"]),
                    units.duration(row["mean_us"]),
                    units.number(row["little"]),
                )
                for row in rows
            ],
        ),
        [
            Plot(
                "Requests per second",
                "By outstanding requests.",
                lines(drawn, COLOURS, "outstanding", "IOPS", category=True),
            )
        ],
        [] if "host_side" in bench.config else [HOSTLESS],
    )


EXPERIMENT = Experiment(
    "workers",
    "Workers and queues",
    "Random requests of 512 B on a filled device: 1, 2, 4 and 8 workers with one outstanding "
    "request each (legacy), and a queue of 128.",
    "PTS varies threads and outstanding requests in its demand intensity test.",
    trials,
    finding,
)
