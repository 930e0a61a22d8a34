"""The DRAM buffer: buffered and durable (FUA) random writes, before and after the write cliff."""

from collections.abc import Mapping
from typing import Any

from wordline._lab.finding import Experiment, Finding, Found, Table, absent
from wordline._lab.test_device import TestDevice
from wordline._lab.trial import FILLED, SETTLED, Phase, Trial
from wordline._render import units
from wordline._render.charts import Plot, bars

STATES = {"before the cliff": FILLED, "after the cliff": SETTLED}
ON = {"buffer": "#12a07b", "durable": "#d8731c"}
BYTES = 4096


def trials(bench: TestDevice) -> Mapping[str, Trial]:
    """Returns the trials: more writes than the buffer holds pages. Before the cliff, they are fewer
    if this number would start GC."""
    if not bench.buffer_bytes:
        return {}
    wanted = max(bench.count(20_000, 6_000), 2 * bench.buffer_bytes // bench.page_bytes)
    requests = {
        "before the cliff": max(1000, min(bench.spare_pages // 2, wanted)),
        "after the cliff": bench.slack + max(wanted, bench.count(2, 1) * bench.cycle),
    }
    return {
        f"{state}, {on}": Trial(
            of,
            {
                "requests": requests[state],
                "read_ratio": 0.0,
                "request_bytes": BYTES,
                "align_bytes": BYTES,
                "fua_ratio": float(on == "durable"),
            },
            phases=(Phase("writes", bench.slack if of is SETTLED else 0, requests[state]),),
        )
        for state, of in STATES.items()
        for on in ON
    }


def finding(bench: TestDevice, found: Found) -> Finding:
    """Compares the maximum and mean response times of buffered and durable writes."""
    if not found:
        return absent("This device has no DRAM buffer (buffer.capacity_kib = 0).")
    rows: dict[str, dict[str, Any]] = {}
    for state in STATES:
        of = {on: found[f"{state}, {on}"].phases["writes"] for on in ON}
        rows[state] = {f"{on}_{kind}": of[on][kind] for on in ON for kind in ("mean_us", "max_us")}
        rows[state]["worst_ratio"] = of["buffer"]["max_us"] / of["durable"]["max_us"]
        rows[state]["mean_ratio"] = of["buffer"]["mean_us"] / of["durable"]["mean_us"]
    verdict = (
        "With the buffer, "
        + "; ".join(
            f"{state} the worst write takes {_times(row['worst_ratio'])} and the average write "
            f"{_times(row['mean_ratio'])}"
            for state, row in rows.items()
        )
        + " the time of the same write with FUA."
    )
    drawn = {state: {on: row[f"{on}_max_us"] for on in ON} for state, row in rows.items()}
    return Finding(
        verdict,
        {"states": rows, "buffer_bytes": bench.buffer_bytes},
        Table(
            ("random writes", "buffer: mean", "buffer: worst", "FUA: mean", "FUA: worst"),
            [
                (
                    state,
                    *(
                        units.duration(row[key])
                        for key in (
                            "buffer_mean_us",
                            "buffer_max_us",
                            "durable_mean_us",
                            "durable_max_us",
                        )
                    ),
                )
                for state, row in rows.items()
            ],
        ),
        [
            Plot(
                "Longest response time",
                "Random writes of 4 KiB.",
                bars(drawn, ON, "µs", log=True),
            )
        ],
    )


def _times(ratio: float) -> str:
    return f"{units.figures(ratio)} times" if ratio >= 1 else f"{units.share(ratio)} of"


EXPERIMENT = Experiment(
    "cache",
    "The DRAM buffer",
    "Random writes of 4 KiB, with the buffer and with FUA on each write; on a filled "
    "device before the first GC run, and on a steady-state device.",
    "PTS for enterprise devices disables the volatile cache in all tests.",
    trials,
    finding,
)
