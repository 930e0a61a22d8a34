"""Section 4.4.3: one to eight workers, and a queue."""

from itertools import pairwise

from wordline._render.charts import bars
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup
from wordline_studies.host_side.runs import (
    BRIDGED,
    FREE,
    LOCKED,
    SCALE,
    WORKERS,
    by_themselves,
    case,
    host_side,
    mean_us,
)
from wordline_studies.measures import gain
from wordline_studies.outcome import IN_POINTS

PUBLISHED = Numbers(__package__ or __name__)
DRIVES = {"fssd": "#1f78b4", "bssd": "#d8731c"}
FIT = (
    f"Fitted shares of a request's time: on FSSD, those of a thread without the lock ({FREE:.0%}) "
    f"and under it ({LOCKED:.0%}); on BSSD, that of the bridge ({BRIDGED:.1%})."
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
        "response time, eight workers relative to one": {d: us[d, 8] / us[d, 1] for d in DRIVES},
        "response time, eight workers relative to four": {d: us[d, 8] / us[d, 4] for d in DRIVES},
    }
    rows = [
        Row(
            f"{what}, {drive.upper()}", value, "times", PUBLISHED("4.7", f"{what}, {drive.upper()}")
        )
        for what, of in ours.items()
        for drive, value in of.items()
    ]
    four = "IOPS, four workers relative to one, FSSD"
    rows.append(Row(four, iops["fssd", 4] / iops["fssd", 1], "times", PUBLISHED("4.7", four)))
    return Figure(
        id="4.7",
        title="Figures 4.7 and 4.8: one to eight workers",
        section="4.4.3",
        measured=(
            "Random writes of 512 bytes on erased drives, one outstanding request per worker, on "
            f"four cores. Drives are {SCALE} times smaller than published, with all their dies."
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
        claims=_claims(us, iops),
        explanation=[
            "Each worker is a stream with its own thread. According to the text, the use of "
            "memory and CPU cancels the advantage of many workers. In this model, more workers "
            "gain little because workers and FTL share a lock.",
            "In legacy mode, the bridge holds one request until the drive has completed it, so "
            "eight workers wait for each other.",
            FIT,
        ],
        data={
            "mean_us": {f"{d} {many}": us[d, many] for d, many in us},
            "iops": {f"{d} {many}": iops[d, many] for d, many in iops},
        },
    )


def _claims(us: dict[tuple[str, int], float], iops: dict[tuple[str, int], float]) -> list[Claim]:
    steps = {d: [gain(us[d, a], us[d, b]) for a, b in pairwise(WORKERS)] for d in DRIVES}
    gains = {d: [gain(iops[d, a], iops[d, b]) for a, b in pairwise(WORKERS)] for d in DRIVES}
    fssd = gains["fssd"]
    flat = max(gain(iops["bssd", 1], iops["bssd", many]) for many in WORKERS)
    rises = " ".join(f"{one:+.1f} %" for one in fssd)
    return [
        Claim(
            "Every doubling of the number of workers lengthens the response times of both drives",
            all(one > 0 for of in steps.values() for one in of),
            ", ".join(
                f"{d.upper()} {' '.join(f'{one:+.0f} %' for one in of)}" for d, of in steps.items()
            ),
            ids=("J4-014",),
        ),
        Claim(
            f"More workers raise the IOPS of BSSD by at most {IN_POINTS:g} %",
            flat <= IN_POINTS,
            f"at most {flat:+.2f} %",
            ids=("J4-054",),
        ),
        Claim(
            "Every doubling of the number of workers raises the IOPS of FSSD",
            min(fssd) > 0,
            rises,
            ids=("J4-055",),
        ),
        Claim(
            "Every doubling of the number of workers raises the IOPS of FSSD by less than the "
            "doubling before it",
            all(later < earlier for earlier, later in pairwise(fssd)),
            rises,
            ids=("J4-057",),
        ),
    ]


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
    rows = [
        Row(
            f"response time, queue depth 128 relative to legacy mode, {d.upper()}",
            ratio[d],
            "times",
            PUBLISHED(
                "4.9", f"response time, queue depth 128 relative to legacy mode, {d.upper()}"
            ),
        )
        for d in DRIVES
    ]
    return Figure(
        id="4.9",
        title="Figure 4.9: a queue of 128",
        section="4.4.3",
        measured="One worker with one outstanding request (legacy mode) and with 128.",
        rows=rows,
        explanation=[
            "A queue of 128 only adds waiting time once the thread or the bridge is saturated. The "
            "latency is then multiplied by 128 and divided by the gain in throughput. This gain is "
            "the time of a request divided by its time in the thread or the bridge."
        ],
        data={
            "mean_us": {f"{d} {modes[q]}": us[d, q] for d, q in us},
            "iops": {f"{d} {modes[q]}": iops[d, q] for d, q in iops},
        },
    )
