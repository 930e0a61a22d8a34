"""Section 4.4.3: GC in a run that writes more than the drive holds."""

from dataclasses import replace
from statistics import median

from wordline._render.charts import sweep
from wordline._sweep.work import Run
from wordline.config import Value
from wordline_studies.cases import Case, tabled
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
BLOCKS = {False: 16, True: 12}
"""Blocks per plane of the scaled drives, in a whole study (False) and in a quick one (True). GC
keeps some of them free."""
PAGES_PER_BLOCK = 1024
"""Pages of 4 KiB per block. A block of the preset stands for one block of each of the two planes of
a die."""
DIES = 64
TURNS = {False: 2.0, True: 1.5}
"""Written data in flash capacities: in a whole study (False) and in a quick one (True)."""
PARTS = 16
NO_BRIDGE, BUFFERED = "bssd, no bridge", "fssd, buffer of 1 GiB"
COLOURS = {"fssd": "#1f78b4", "bssd": "#d8731c", NO_BRIDGE: "#777777", BUFFERED: "#12a07a"}
HALF = 0.5
BUFFER: dict[str, Value] = {
    "buffer.capacity_kib": 1_048_576,
    "buffer.flush.batches.batch_kib": 524_288,
}
"""Buffer of `jung2013-bssd`."""


def cliff(setup: Setup) -> Figure:
    """Reproduces figures 4.7(a) and 4.8(a): throughput over the run."""
    turns, blocks = TURNS[setup.quick], BLOCKS[setup.quick]
    runs = tabled(setup, _cases(setup), "series")
    course = {name: _course(run) for name, run in runs.items()}
    left = {name: rates[-1] / median(rates[: PARTS // 2]) for name, rates in course.items()}
    return Figure(
        id="4.8",
        title="Figures 4.7(a) and 4.8(a): throughput under GC",
        section="4.4.3",
        measured=(
            f"Random writes of {SIZE} bytes at queue depth {QUEUE} to an erased drive, "
            f"{turns:g} times the flash capacity in total. Drives are {WHOLE_BLOCKS / blocks:.3g} "
            "times smaller than published, with all their dies and buffers. With `--quick`, only "
            "BSSD without the time of its bridge is simulated."
        ),
        rows=[
            row
            for name, run in runs.items()
            for row in (
                Row(
                    f"IOPS at the end of the run over those of its first half, {_words(name)}",
                    left[name],
                    "times",
                ),
                Row(f"die utilisation, {_words(name)}", 100 * _busy(run), "%"),
            )
        ],
        plots=[
            Plot(
                "Throughput over the run",
                "IOPS by the share of the requests that are complete.",
                sweep(
                    [(place + 0.5) / PARTS for place in range(PARTS)],
                    course,
                    COLOURS,
                    "share of the run",
                    "IOPS",
                ),
            )
        ],
        claims=_claims(left),
        explanation=[
            "The text gives an ample buffer on the host as one reason for the steady throughput of "
            "FSSD. `jung2013-fssd` has 32 KiB per die. With 1 GiB, the buffer that the study "
            "assumes for data in BSSD, FSSD keeps its throughput.",
            "Neither the length of the run nor the over-provisioning of FSSD is published. Times "
            "of bridge and lock are fitted to the ratios of figures 4.7 to 4.9. The study "
            "device-lab has the write cliffs of drives without a host side.",
        ],
        data={"iops": course},
    )


def _cases(setup: Setup) -> dict[str, Case]:
    turns, blocks = TURNS[setup.quick], BLOCKS[setup.quick]
    cases = {
        name: case(
            Setup(),
            name[:4],
            side,
            queued=True,
            requests=int(turns * DIES * blocks * PAGES_PER_BLOCK),
            size=SIZE,
            blocks=blocks,
        )
        for name, side in _sides(setup).items()
    }
    if BUFFERED in cases:
        bare = cases[BUFFERED]
        cases[BUFFERED] = replace(bare, overrides={**bare.overrides, **BUFFER})
    return cases


def _sides(setup: Setup) -> dict[str, dict[str, Value]]:
    """Returns the host sides by run: those of the drives, and those that test the reasons for
    differences. A quick study has only BSSD without the time of its bridge."""
    alone = by_themselves(setup)
    free: Value = {"bridge": {"protocol_ns": 0, "queue_depth": QUEUE}}
    sides: dict[str, dict[str, Value]] = {
        NO_BRIDGE: host_side("bssd", alone["bssd"], queued=True) | {"architecture": free}
    }
    if not setup.quick:
        for drive in DRIVES:
            sides[drive] = host_side(drive, alone[drive], queued=True)
        sides[BUFFERED] = sides["fssd"]
    return sides


def _claims(left: dict[str, float]) -> list[Claim]:
    def keeps(name: str) -> str:
        return f"{_words(name)} keeps {100 * left[name]:.0f} % of its IOPS" if name in left else ""

    both = left.keys() >= set(DRIVES)
    return [
        Claim(
            "Under heavy writes, BSSD has a write cliff (throughput falls to less than half), and "
            "FSSD does not",
            left["bssd"] < HALF <= left["fssd"] if both else None,
            ", ".join(map(keeps, DRIVES)) if both else "",
            because=(
                "the bridge of BSSD takes longer than its flash even with GC, and the write buffer "
                "that FSSD has on the host is not modelled"
            ),
            quick=False,
            ids=("J4-008",),
        ),
        Claim(
            "Reason: without the time of its bridge, BSSD has a write cliff, which its buffer does "
            "not hide",
            left[NO_BRIDGE] < HALF,
            keeps(NO_BRIDGE),
            ids=("J4-064",),
        ),
        Claim(
            "Reason: with a buffer as large as that of BSSD, FSSD has no write cliff",
            left[BUFFERED] >= HALF if BUFFERED in left else None,
            keeps(BUFFERED),
            quick=False,
        ),
    ]


def _words(name: str) -> str:
    return name[:4].upper() + name[4:]


def _course(run: Run) -> list[float]:
    """Returns the IOPS in `PARTS` equal parts of the run's requests. A part that ends in the same
    interval of the series as the part before it is omitted."""
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
