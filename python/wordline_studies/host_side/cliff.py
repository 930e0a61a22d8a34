"""Section 4.4.3: GC in a run that writes more than the drive holds."""

from statistics import median

from wordline._render.charts import sweep
from wordline._sweep.work import Run
from wordline.config import Value
from wordline_studies.cases import tabled
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.host_side.runs import (
    DRIVES,
    QUEUE,
    WHOLE_BLOCKS,
    by_themselves,
    case,
    host_side,
)

SIZE = 4096
BLOCKS = 16
"""Blocks per plane, some of which GC needs free."""
PAGES_PER_BLOCK = 1024
"""Pages of 4 KiB in a block of each of the two planes."""
DIES = 64
TURNS = {False: 2.0, True: 1.5}
"""Written data in flash capacities: in a whole study (False) and in a quick one (True)."""
PARTS = 16
NO_BRIDGE = "bssd, no bridge"
COLOURS = {"fssd": "#1f78b4", "bssd": "#d8731c", NO_BRIDGE: "#777777"}
HALF = 0.5


def cliff(setup: Setup) -> Figure:
    """Reproduces figures 4.7(a) and 4.8(a): throughput over the run."""
    alone = by_themselves(setup)
    turns = TURNS[setup.quick]
    sides = {drive: host_side(drive, alone[drive], queued=True) for drive in DRIVES}
    free: Value = {"bridge": {"protocol_ns": 0, "queue_depth": QUEUE}}
    sides[NO_BRIDGE] = sides["bssd"] | {"architecture": free}
    if setup.quick:
        sides = {NO_BRIDGE: sides[NO_BRIDGE]}
    cases = {
        name: case(
            Setup(),
            name[:4],
            side,
            queued=True,
            requests=int(turns * DIES * BLOCKS * PAGES_PER_BLOCK),
            size=SIZE,
            blocks=BLOCKS,
        )
        for name, side in sides.items()
    }
    runs = tabled(setup, cases, "series")
    course = {name: _course(run) for name, run in runs.items()}
    left = {name: rates[-1] / median(rates[: PARTS // 2]) for name, rates in course.items()}
    return Figure(
        id="4.8",
        title="Figures 4.7(a) and 4.8(a): GC",
        section="4.4.3",
        measured=(
            f"Random writes of {SIZE} bytes with a queue to an erased drive, {turns:g} times the "
            f"flash capacity. Drives are {WHOLE_BLOCKS // BLOCKS} times smaller, with all their "
            "dies. With `--quick`, only BSSD without its bridge is simulated."
        ),
        rows=[
            row
            for name, run in runs.items()
            for row in (
                Row(
                    f"IOPS at the end over IOPS of the first half, {_words(name)}",
                    left[name],
                    "times",
                ),
                Row(f"die utilisation, {_words(name)}", 100 * _busy(run), "%"),
            )
        ],
        plots=[
            Plot(
                "Throughput over the run",
                "By share of the requests.",
                sweep(
                    [(place + 0.5) / PARTS for place in range(PARTS)],
                    course,
                    COLOURS,
                    "share of the run",
                    "IOPS",
                ),
            )
        ],
        claims=[
            Claim(
                "H5: BSSD has a write cliff at half of the run, and FSSD does not",
                holds=left.get("bssd", HALF) < HALF <= left.get("fssd", 0),
                detail=", ".join(f"{_words(name)} ends at {one:.0%}" for name, one in left.items()),
                report_only=(
                    "neither the length of the run nor FSSD's over-provisioning is published; "
                    "BSSD is bound by its bridge, whose time is fitted to the ratios of figure "
                    "4.8, and FSSD by its lock, which GC takes as well"
                ),
            ),
            Claim(
                "H5, reason: without the time of its bridge, BSSD has a write cliff (throughput "
                "falls to less than half)",
                left[NO_BRIDGE] < HALF,
                f"ends at {left[NO_BRIDGE]:.0%}",
            ),
        ],
        explanation=["The study device-lab has the write cliffs of drives without a host side."],
        data={"iops": course},
    )


def _words(name: str) -> str:
    return name[:4].upper() + name[4:]


def _course(run: Run) -> list[float]:
    """Returns the IOPS in each of `PARTS` parts of the run's requests."""
    table = run.table("series")
    done, ends = table["writes"].cum_sum().to_list(), table["end_s"].to_list()
    starts = table["start_s"].to_list()
    rates: list[float] = []
    before, since = 0.0, float(starts[0])
    for part in range(1, PARTS + 1):
        place = next(place for place, count in enumerate(done) if count >= part / PARTS * done[-1])
        if done[place] > before:
            rates.append((done[place] - before) / (ends[place] - since))
            before, since = done[place], ends[place]
    return rates


def _busy(run: Run) -> float:
    assert run.summary is not None
    return run.summary["utilisation"]["die_mean"]
