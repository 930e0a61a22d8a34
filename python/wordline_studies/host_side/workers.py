"""Section 4.4.3: one to eight workers, and a queue."""

from wordline._render.charts import bars
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup, largest_difference
from wordline_studies.host_side.runs import (
    BRIDGED,
    FREE,
    LOCKED,
    QUEUE,
    SCALE,
    WORKERS,
    by_themselves,
    case,
    host_side,
    mean_us,
)

PUBLISHED = Numbers(__package__ or __name__)
DRIVES = {"fssd": "#1f78b4", "bssd": "#d8731c"}
FITTED = 0.15
FIT = (
    f"fitted: shares of a request's time that a thread takes without the lock ({FREE:.0%}) and "
    f"under it ({LOCKED:.0%}) on FSSD, and the bridge's on BSSD ({BRIDGED:.1%})"
)


def latency(setup: Setup) -> Figure:
    """Reproduces figures 4.7 and 4.8: one to eight workers."""
    alone = by_themselves(setup)
    cases = {
        (drive, many): case(setup, drive, host_side(drive, alone[drive]), many)
        for drive in DRIVES
        for many in WORKERS
    }
    found = required(setup, cases)
    us = {key: mean_us(one) for key, one in found.items()}
    iops = {key: one["throughput"]["iops"] for key, one in found.items()}
    ours = {
        "latency of eight workers": {d: us[d, 8] / us[d, 1] for d in DRIVES},
        "latency of eight workers over four": {d: us[d, 8] / us[d, 4] for d in DRIVES},
    }
    rows = [
        Row(
            f"{what}, {drive.upper()}", value, "times", PUBLISHED("4.7", f"{what}, {drive.upper()}")
        )
        for what, of in ours.items()
        for drive, value in of.items()
    ]
    gain = iops["fssd", 4] / iops["fssd", 1]
    rows.append(
        Row(
            "IOPS of four workers, FSSD",
            gain,
            "times",
            PUBLISHED("4.7", "IOPS of four workers, FSSD"),
        )
    )
    bound = 1 / LOCKED
    flat = max(abs(iops["bssd", many] / iops["bssd", 1] - 1) for many in WORKERS)
    little = max(abs(us[key] * iops[key] / 1e6 / key[1] - 1) for key in us)
    off = largest_difference(rows) / 100
    return Figure(
        id="4.7",
        title="Figures 4.7 and 4.8: one to eight workers",
        section="4.4.3",
        measured=(
            "Random writes of 512 bytes on erased drives, one outstanding request per worker. "
            f"Four cores. Drives are {SCALE} times smaller than published, with all their dies."
        ),
        rows=rows,
        plots=[
            Plot(
                "Mean response time",
                "Legacy mode, by number of workers.",
                bars(
                    {str(many): {d: us[d, many] for d in DRIVES} for many in WORKERS}, DRIVES, "µs"
                ),
            )
        ],
        claims=[
            Claim(
                "Little's law: throughput times response time equals the number of workers, "
                "within 1 %",
                little < 0.01,
                f"at most {100 * little:.2f} % off",
            ),
            Claim(
                "H2: FSSD's throughput rises with workers until the lock saturates, within 3 % "
                "of its bound",
                abs(gain / bound - 1) < 0.03,
                f"{gain:.2f} times, bound {bound:.2f}",
            ),
            Claim(
                "H2: BSSD's IOPS do not rise with workers, within 2 %",
                flat < 0.02,
                f"at most {100 * flat:.2f} % off",
            ),
            Claim(
                "H2: the ratios equal the published ones within 15 %",
                off < FITTED,
                f"at most {100 * off:.1f} % off; {FIT}",
            ),
            Claim(
                "H1: FSSD is better than BSSD: latencies 29 and 39 % shorter, throughput 21 and "
                "81 % higher",
                holds=False,
                detail="host times are fitted to ratios",
                report_only=(
                    "the four means exclude each other: with latencies 29 % shorter on average, "
                    "throughput is at least 41 % higher, not 21 %; the order follows from the "
                    "data sheets, 45 and 65 us for 512 bytes, whose parts are not published"
                ),
            ),
        ],
        explanation=[
            "Each worker is a stream with its own thread. According to the text, the use of "
            "memory and CPU cancels the advantage of many workers. In this model, they gain "
            "little because workers and FTL share a lock.",
            "In legacy mode, the bridge holds one request until the drive has completed it, so "
            "eight workers wait for each other.",
        ],
        data={
            "mean_us": {f"{d} {many}": us[d, many] for d, many in us},
            "iops": {f"{d} {many}": iops[d, many] for d, many in iops},
        },
    )


def queues(setup: Setup) -> Figure:
    """Reproduces figure 4.9: one outstanding request and a queue of 128."""
    modes = {True: "queued", False: "legacy"}
    alone = by_themselves(setup)
    cases = {
        (d, q): case(setup, d, host_side(d, alone[d], queued=q), queued=q)
        for d in DRIVES
        for q in modes
    }
    found = required(setup, cases)
    us = {key: mean_us(one) for key, one in found.items()}
    iops = {key: one["throughput"]["iops"] for key, one in found.items()}
    ratio = {d: us[d, True] / us[d, False] for d in DRIVES}
    gain = {d: iops[d, True] / iops[d, False] for d in DRIVES}
    little = max(abs(ratio[d] * gain[d] / QUEUE - 1) for d in DRIVES)
    bound = {"fssd": 1 / (FREE + LOCKED), "bssd": 1 / BRIDGED}
    rows = [
        Row(
            f"queued over legacy latency, {d.upper()}",
            ratio[d],
            "times",
            PUBLISHED("4.9", f"queued over legacy latency, {d.upper()}"),
        )
        for d in DRIVES
    ]
    off = largest_difference(rows) / 100
    return Figure(
        id="4.9",
        title="Figure 4.9: a queue of 128",
        section="4.4.3",
        measured="One worker, with one outstanding request and with 128.",
        rows=rows,
        claims=[
            Claim(
                "H3: the latency ratio is 128 over the gain in throughput (Little's law), within "
                "3 %",
                little < 0.03,
                f"at most {100 * little:.2f} % off, from the ends of the run",
            ),
            Claim(
                "H3: a queue gains the time outside the thread or the bridge, within 3 %",
                max(abs(gain[d] / bound[d] - 1) for d in DRIVES) < 0.03,
                ", ".join(f"{d.upper()} {gain[d]:.3f} times" for d in DRIVES),
            ),
            Claim(
                "H3: the ratios equal the published ones within 5 %",
                off < 0.05,
                f"at most {100 * off:.1f} % off; {FIT}",
            ),
        ],
        explanation=[
            "A queue of 128 only adds waiting time if one thread or one bridge is saturated."
        ],
        data={"mean_us": {f"{d} {modes[q]}": us[d, q] for d, q in us}},
    )
