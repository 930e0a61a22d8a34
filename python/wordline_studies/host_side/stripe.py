"""Section 4.5: five drives behind one stripe."""

from wordline._sweep.work import Run
from wordline.config import Value
from wordline_studies.cases import Case, tabled
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.measures import gain
from wordline_studies.outcome import PER_CENT

DRIVES = 5
PAGE = 4096
REQUESTS = 10_000
"""Number of full stripes that each run writes. A stripe over one drive is one page."""
SMALLER: dict[str, Value] = {
    "ssd.channels": 2,
    "ssd.ways": 1,
    "nand.geometry.blocks_per_plane": 16,
    "nand.reliability.errors": "none",
    "buffer.capacity_kib": 0,
    "buffer.flush": "one-by-one",
    "precondition.fill_ratio": 1.0,
    "precondition.overwrite_ratio": 1.0,
}
"""BSSD with 8 dies of 16 blocks, which are full and overwritten, and without a buffer."""


def stripe(setup: Setup) -> Figure:
    """Returns the figure for writes that wait for GC on one drive, and on any of five drives in a
    stripe."""
    cases = {
        (drives, alone): _case(drives, alone) for drives in (1, DRIVES) for alone in (False, True)
    }
    waiting = {key: _waiting(run) for key, run in tabled(setup, cases, "requests").items()}
    one, five = waiting[1, True], waiting[DRIVES, True]
    return Figure(
        id="4.5-raid",
        title="Section 4.5: five drives in a stripe",
        section="4.5",
        measured=(
            f"Share of writes that wait for GC: writes of a page on one BSSD, and of a page on "
            f"each of {DRIVES} BSSDs, with and without other random writes that go to one drive "
            "each, at the same rate per drive. Drives have 8 dies with 16 blocks, are overwritten "
            "once, and have no buffer and no bridge."
        ),
        rows=[
            Row(
                "share of writes that wait for GC, "
                f"{'one drive' if drives == 1 else f'{drives} drives'}, "
                f"{'with' if alone else 'without'} other writes to single drives",
                value,
                "%",
            )
            for (drives, alone), value in waiting.items()
        ],
        claims=[
            Claim(
                f"A stripe over {DRIVES} drives waits for GC more often than a write to one drive, "
                f"by more than {PER_CENT:g} %",
                gain(one, five) > PER_CENT,
                f"{five:.2f} and {one:.2f} %",
                ids=("J4-067",),
            ),
            Claim(
                "Reason: drives that receive only full stripes run GC at the same time, and "
                "stripes over them wait less often",
                waiting[DRIVES, False] < five,
                f"{waiting[DRIVES, False]:.2f} and {five:.2f} %",
            ),
        ],
        explanation=[
            "The drives of an array run GC at different times only if they are written "
            "differently. Full stripes alone fill the blocks of all drives at the same time.",
        ],
        data={
            "waiting_percent": {f"{drives} {alone}": v for (drives, alone), v in waiting.items()}
        },
    )


def _case(drives: int, alone: bool) -> Case:
    """Returns the case of writes of full stripes over `drives` drives. If `alone`, a second stream
    writes single pages, so each of its writes goes to one drive."""
    streams: list[Value] = [_stream("stripes", REQUESTS, drives * PAGE, 1)]
    if alone:
        streams.append(_stream("single", drives * REQUESTS, PAGE, drives))
    overrides: dict[str, Value] = {**SMALLER, "streams": streams}
    if drives > 1:
        overrides["array"] = {
            "layout": "striped",
            "stripe_bytes": PAGE,
            "members": [{"name": "bssd", "count": drives}],
        }
    return Case("jung2013-bssd", f"{drives} BSSD in a stripe, {len(streams)} streams", overrides)


def _stream(name: str, requests: int, size: int, depth: int) -> dict[str, Value]:
    workload: Value = {
        "requests": requests,
        "read_ratio": 0.0,
        "request_bytes": size,
        "align_bytes": size,
        "pattern": "uniform",
        "arrival": {"closed-loop": {"queue_depth": depth}},
    }
    return {"name": name, "workload": workload}


def _waiting(run: Run) -> float:
    """Returns the share of full stripes that wait for GC. Per cent."""
    table = run.table("requests")
    pairs = zip(table["stream"].to_list(), table["gc_ps"].to_list(), strict=True)
    waits = [ps > 0 for stream, ps in pairs if stream == 0]
    return 100 * sum(waits) / len(waits)
