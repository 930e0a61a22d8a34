"""Mixed loads: averages of a fresh device, worst cases of a used one, and a hard disk."""

from collections.abc import Mapping
from typing import Any

from wordline._lab.finding import Experiment, Finding, Found, Table
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import FILLED, SETTLED, Phase, Trial
from wordline._render import units
from wordline._render.charts import Plot, bars

DISK = "nearline-7200"
FILE_SERVER = [
    {"bytes": size, "weight": weight}
    for size, weight in (
        (512, 10),
        (1024, 5),
        (2048, 5),
        (4096, 60),
        (8192, 2),
        (16384, 4),
        (32768, 4),
        (65536, 10),
    )
]
"""Request sizes of Intel's file server access pattern for Iometer."""
MIXES: Mapping[str, dict[str, Any]] = {
    "streaming": {"read_ratio": 0.01, "request_bytes": 65536, "pattern": "sequential"},
    "workstation": {
        "read_ratio": 0.80,
        "request_bytes": 8192,
        "pattern": {"mixed": {"random_ratio": 0.8}},
    },
    "database": {"read_ratio": 0.67, "request_bytes": 8192, "pattern": "uniform"},
    "file server": {"read_ratio": 0.80, "request_bytes": FILE_SERVER, "pattern": "uniform"},
}
ON = {"fresh": "#12a07b", "used": "#d8731c", "disk": "#8b929c"}


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: each mix on a filled device, on a steady-state device, and on the
    disk."""
    found: dict[str, Trial] = {}
    for name, mix in MIXES.items():
        count = bench.count(20_000, 5_000)
        found[f"{name}, fresh"] = Trial(FILLED, mix | {"requests": count})
        share = 1 - mix["read_ratio"]
        before = round(bench.slack / share)
        many = before + max(count, round(bench.count(2, 1) * bench.cycle / share))
        found[f"{name}, used"] = Trial(
            SETTLED, mix | {"requests": many}, phases=(Phase("used", before, many),)
        )
        load = mix | {"requests": bench.count(2_000, 500)}
        found[f"{name}, disk"] = Trial({}, load, device=DISK)
    return found


def finding(_bench: TestDevice, found: Found) -> Finding:
    """Compares mean response times and worst cases with those of the disk."""
    rows: dict[str, dict[str, float]] = {}
    for name in MIXES:
        of = {on: found[f"{name}, {on}"].summary["latency"]["all"] for on in ON}
        of["used"] = found[f"{name}, used"].phases["used"]
        rows[name] = {f"{on}_{kind}": of[on][kind] for on in ON for kind in ("mean_us", "max_us")}
        rows[name] |= {
            "times_shorter": of["disk"]["mean_us"] / of["fresh"]["mean_us"],
            "worst_times_disk": of["used"]["max_us"] / of["disk"]["max_us"],
        }
    shorter = [row["times_shorter"] for row in rows.values()]
    worst = max(rows, key=lambda name: rows[name]["used_max_us"])
    verdict = (
        f"The device is {min(shorter):.3g} to {max(shorter):.3g} times as fast as a disk of 7,200 "
        "rpm on average. The worst case of the used device is "
        f"{units.duration(rows[worst]['used_max_us'])} "
        f"({worst}), {rows[worst]['worst_times_disk']:.3g} times that of the disk."
    )
    drawn = {name: {on: row[f"{on}_mean_us"] for on in ON} for name, row in rows.items()}
    return Finding(
        verdict,
        {"mixes": rows},
        Table(
            ("mix", "fresh: mean", "used: mean", "used: worst", "disk: mean", "disk: worst"),
            [
                (
                    name,
                    *(
                        units.duration(row[key])
                        for key in (
                            "fresh_mean_us",
                            "used_mean_us",
                            "used_max_us",
                            "disk_mean_us",
                            "disk_max_us",
                        )
                    ),
                )
                for name, row in rows.items()
            ],
        ),
        [
            Plot(
                "Mean response time",
                "Fresh device, used device, and disk.",
                bars(drawn, ON, "µs", log=True),
            )
        ],
        [f"The disk is the preset `{DISK}`, under the same load and queue depth."],
    )


EXPERIMENT = Experiment(
    "mixes",
    "Mixed loads",
    "Streaming (99 % sequential writes of 64 KiB), workstation (20 % writes of 8 KiB, 80 % at "
    "random), database (33 % writes of 8 KiB at random), file server (20 % writes, 0.5 to 64 KiB "
    "at random): averages of a filled device, worst cases of a steady-state one. The write shares "
    "are those of Jung 2013, section 5.5.1; request sizes and orders, which it does not state, are "
    "those of Intel's access patterns of Iometer.",
    "No counterpart in PTS, whose IOPS test has mixes of one size.",
    trials,
    finding,
)
