"""Sections 4.4.1 and 4.4.2: memory and CPU of the host."""

from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Numbers, Row, Setup
from wordline_studies.host_side.runs import (
    DRIVES,
    REQUESTS,
    SCALE,
    WORKERS,
    by_themselves,
    case,
    host_side,
    side_of,
)
from wordline_studies.measures import or_nan

PUBLISHED = Numbers(__package__ or __name__)
SECTORS = 430e9 / 512
FLAT_ENTRY = 8
MAPPINGS = ("flat-table", "b-tree")


def memory(setup: Setup) -> Figure:
    """Reproduces figures 4.3 and 4.4(a)."""
    alone = by_themselves(setup)
    cases = {
        (mapping, part): case(
            setup,
            "fssd",
            host_side("fssd", alone["fssd"], mapping),
            requests=REQUESTS * part // 4,
        )
        for mapping in MAPPINGS
        for part in (1, 2, 4)
    }
    cases["bssd", 4] = case(setup, "bssd", host_side("bssd", alone["bssd"]))
    found = {key: side_of(one) for key, one in required(setup, cases).items()}
    byte = {key: one["map_bytes"] for key, one in found.items()}
    tree = found["b-tree", 4]
    per_entry = tree["map_bytes"] / tree["map_entries"]
    grows = all(byte[m, 1] <= byte[m, 2] <= byte[m, 4] for m in MAPPINGS)
    return Figure(
        id="4.4",
        title="Figures 4.3 and 4.4(a): memory of the host",
        section="4.4.1",
        measured=(
            "Size of the map in host memory after random writes of 512 bytes on erased drives, by "
            f"the number of drives. Drives are {SCALE} times smaller; bytes per entry do not "
            "depend on the size."
        ),
        rows=[
            Row(
                "growth of memory, FSSD",
                SECTORS * FLAT_ENTRY / 1e9,
                "GB",
                PUBLISHED("4.4", "growth of memory, FSSD"),
            ),
            Row(
                "growth of memory, BSSD",
                float(byte["bssd", 4]) / 1e9,
                "GB",
                PUBLISHED("4.4", "growth of memory, BSSD"),
            ),
            Row("bytes per extent of the tree", per_entry, "B"),
        ],
        claims=[
            Claim(
                "H4: memory grows with the mapped data on FSSD, but not on BSSD",
                grows and byte["bssd", 4] == 0,
                ", ".join(f"{m} {byte[m, 1]:,} to {byte[m, 4]:,} bytes" for m in MAPPINGS),
            ),
            Claim(
                "H4: a tree under random writes takes 16 bytes per extent, divided by the fill of "
                "its nodes, which is between a half and one",
                16 <= per_entry <= 33,
                f"{per_entry:.1f} bytes per extent",
            ),
            Claim(
                "H4: 2 GB at the start, 10 GB at the end",
                holds=False,
                detail=(
                    f"a flat table of all {SECTORS / 1e6:.0f} million sectors has "
                    f"{SECTORS * FLAT_ENTRY / 1e9:.1f} GB"
                ),
                report_only=(
                    "the driver's other memory and the length of sector runs are not "
                    "published; bytes per mapped sector would be fitted, the form is the "
                    "model's"
                ),
            ),
        ],
        explanation=[
            "The row of FSSD is computed as bytes per entry times all sectors of the drive; no "
            "run fills the drive."
        ],
        data={"map_bytes": {f"{what} {part}/4": value for (what, part), value in byte.items()}},
    )


def processors(setup: Setup) -> Figure:
    """Reproduces figures 4.4(b) and 4.5."""
    alone = by_themselves(setup)
    cases = {
        (drive, many): case(setup, drive, host_side(drive, alone[drive]), many)
        for drive in DRIVES
        for many in WORKERS
    }
    found = {key: side_of(one) for key, one in required(setup, cases).items()}
    used = {key: 100 * or_nan(one["cpu_utilisation"]) for key, one in found.items()}
    order = all(used["fssd", many] > used["bssd", many] for many in WORKERS)
    return Figure(
        id="4.5",
        title="Figures 4.4(b) and 4.5: CPU of the host",
        section="4.4.2",
        measured="Share of four cores, under random writes of 512 bytes in legacy mode.",
        rows=[
            Row(f"CPU, {d.upper()}, {many} workers", value, "%")
            for (d, many), value in used.items()
        ],
        claims=[
            Claim(
                "H4: FSSD takes more CPU time than BSSD",
                order,
                ", ".join(
                    f"{many}: {used['fssd', many]:.1f} against {used['bssd', many]:.1f} %"
                    for many in WORKERS
                ),
                report_only="the CPU times of both have fitted shares, so their order is an input",
            ),
            Claim(
                "H4: CPU use is 60 % in legacy mode, and 20 %",
                holds=False,
                detail=f"{used['fssd', 1]:.1f} % and {used['bssd', 1]:.1f} % with one worker",
                report_only=(
                    "one thread is 25 % of four cores; 60 % at one request per 45 us is 108 us of "
                    "CPU time per request, which is more than the request takes, so other threads "
                    "must run, which the text does not mention"
                ),
            ),
        ],
        data={"cpu_percent": {f"{d} {many}": value for (d, many), value in used.items()}},
    )
