"""Sections 4.4.1 and 4.4.2: memory and CPU of the host."""

from itertools import pairwise

from wordline._render.units import many
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Numbers, Row, Setup
from wordline_studies.host_side.runs import (
    DRIVES,
    REQUESTS,
    SCALE,
    SECTOR,
    WORKERS,
    by_themselves,
    case,
    host_side,
    side_of,
)
from wordline_studies.measures import gain, or_nan
from wordline_studies.outcome import IN_POINTS, PER_CENT

PUBLISHED = Numbers(__package__ or __name__)
SECTORS = 430e9 / 512
FLAT_ENTRY = 8
MAPPINGS = ("flat-table", "b-tree")
SIZES = (512, 4096, 16_384, 65_536, 262_144)
FINE = SIZES[:3]
"""Sizes for which the document gives the CPU use of FSSD: up to 16 KB."""
WRITTEN = 8 * 1024 * 1024
"""Bytes written by each run that measures the map by size and pattern of the requests."""
PATTERNS = {"uniform": "random", "sequential": "sequential"}
"""Words for the patterns of the requests."""
STEPS = (6000, 12_000, 24_000, 48_000)
"""Writes after which the growing map is measured."""
RANGE = 0.0005
"""Share of the drive to which the writes of the growing map are confined, so that the run can map
most of it."""
FLAT = "fssd, flat table"
CORE = 25.0
"""Share of four cores that one thread can use. Per cent."""
Bytes = dict[tuple[str, ...], int]


def workers(count: int) -> str:
    """Returns the name of the runs with `count` workers in legacy mode."""
    return many(count, "worker")


def memory(setup: Setup) -> Figure:
    """Reproduces figures 4.3 and 4.4(a)."""
    alone = by_themselves(setup)
    cases = {
        ("fssd", mapping): case(
            setup, "fssd", host_side("fssd", alone["fssd"], mapping), requests=REQUESTS
        )
        for mapping in MAPPINGS
    }
    cases["bssd", ""] = case(setup, "bssd", host_side("bssd", alone["bssd"]))
    found = {key: side_of(one) for key, one in required(setup, cases).items()}
    byte = {key: one["map_bytes"] for key, one in found.items()}
    tree = found["fssd", "b-tree"]
    kinds, growth = _kinds(setup, alone), _growth(setup, alone)
    return Figure(
        id="4.4",
        title="Figures 4.3 and 4.4(a): memory of the host",
        section="4.4.1",
        measured=(
            "Size of the map in host memory after writes on erased drives: by size and pattern of "
            f"requests that write {WRITTEN // 1024**2} MiB in total, and by the number of random "
            f"writes of {SECTOR} bytes. Drives are {SCALE} times smaller than published; bytes per "
            "entry do not depend on the size of the drive."
        ),
        rows=[
            Row(
                "host memory of FSSD at the end of a run, with a flat table of all sectors",
                SECTORS * FLAT_ENTRY / 1e9,
                "GB",
                PUBLISHED("4.4", "host memory of FSSD at the end of a run"),
            ),
            Row("host memory per extent of the tree", tree["map_bytes"] / tree["map_entries"], "B"),
            *(
                Row(
                    f"size of the map of {drive.upper()} after {PATTERNS[pattern]} writes of "
                    f"{size} B",
                    kinds[key],
                    "B",
                )
                for key in kinds
                for drive, pattern, size in [key]
            ),
        ],
        claims=[_more(byte), *_by_kind(kinds), *_over_time(growth)],
        explanation=[
            "The host memory of FSSD at the end of a run is computed as bytes per entry times all "
            "sectors of the drive; no run fills the drive. The driver's other memory is not "
            "modelled.",
        ],
        data={
            "map_bytes": {" ".join(key).strip(): value for key, value in byte.items()},
            "by_kind": {" ".join(key): value for key, value in kinds.items()},
            "growth": [list(one) for one in growth],
        },
    )


def _kinds(setup: Setup, alone: dict[str, float]) -> Bytes:
    """Returns the size of the map by drive, pattern and request size."""
    cases = {
        (drive, pattern, str(size)): case(
            Setup(),
            drive,
            host_side(drive, alone[drive], "b-tree"),
            requests=WRITTEN // size,
            size=size,
            pattern=pattern,
        )
        for drive in DRIVES
        for pattern in PATTERNS
        for size in FINE
    }
    return {key: side_of(one)["map_bytes"] for key, one in required(setup, cases).items()}


def _growth(setup: Setup, alone: dict[str, float]) -> list[tuple[int, int, int]]:
    """Returns the number of writes, and the entries and bytes of the tree after them, for each
    number of writes in `STEPS`."""
    side = host_side("fssd", alone["fssd"], "b-tree")
    cases = {
        writes: case(Setup(), "fssd", side, requests=writes, working_set=RANGE) for writes in STEPS
    }
    found = {writes: side_of(one) for writes, one in required(setup, cases).items()}
    return [(writes, one["map_entries"], one["map_bytes"]) for writes, one in found.items()]


def _more(byte: dict[tuple[str, str], int]) -> Claim:
    return Claim(
        "FSSD takes more memory of the host than BSSD, with either map",
        all(byte["fssd", mapping] > byte["bssd", ""] for mapping in MAPPINGS),
        ", ".join(f"{mapping} {byte['fssd', mapping]:,} bytes" for mapping in MAPPINGS)
        + f", BSSD {byte['bssd', '']:,}",
        ids=("J4-009",),
    )


def _by_kind(kinds: Bytes) -> list[Claim]:
    def of(drive: str, pattern: str) -> list[int]:
        return [kinds[drive, pattern, str(size)] for size in FINE]

    sizes = [gain(b, a) for a, b in pairwise(of("fssd", "uniform"))]
    patterns = [
        gain(b, a) for a, b in zip(of("fssd", "uniform"), of("fssd", "sequential"), strict=True)
    ]
    bssd = {kinds[key] for key in kinds if key[0] == "bssd"}
    return [
        Claim(
            f"The map memory of FSSD differs by more than {PER_CENT:g} % between request sizes, "
            "and between random and sequential writes",
            min(*sizes, *patterns) > PER_CENT,
            f"random, {', '.join(map(str, FINE))} B: "
            + ", ".join(f"{one:,}" for one in of("fssd", "uniform"))
            + " bytes; sequential "
            + ", ".join(f"{one:,}" for one in of("fssd", "sequential"))
            + " bytes",
            ids=("J4-027",),
        ),
        Claim(
            "The map memory of BSSD does not depend on the size and the pattern of the requests",
            len(bssd) == 1,
            ", ".join(f"{one:,} bytes" for one in sorted(bssd)),
            ids=("J4-028",),
        ),
    ]


def _over_time(growth: list[tuple[int, int, int]]) -> list[Claim]:
    slopes = [
        (later[2] - earlier[2]) / (later[0] - earlier[0]) for earlier, later in pairwise(growth)
    ]
    told = ", ".join(
        f"{writes:,} writes {entries:,} entries in {size:,} bytes"
        for writes, entries, size in growth
    )
    return [
        Claim(
            "The map of FSSD grows over the run, but by less and less per request",
            min(slopes) > 0 and all(b < a for a, b in pairwise(slopes)),
            ", ".join(f"{one:.1f}" for one in slopes) + " bytes per request",
            ids=("J4-031",),
        ),
        Claim(
            "A tree grows by the nodes of new entries as more requests are served",
            all(b[1] > a[1] and b[2] > a[2] for a, b in pairwise(growth)),
            told,
            ids=("J4-035",),
        ),
    ]


def processors(setup: Setup) -> Figure:
    """Reproduces figures 4.4(b) and 4.5."""
    alone = by_themselves(setup)
    cases = {
        (drive, workers(count)): case(setup, drive, host_side(drive, alone[drive]), count)
        for drive in DRIVES
        for count in WORKERS
    }
    cases |= {
        (drive, "queued"): case(
            setup, drive, host_side(drive, alone[drive], queued=True), queued=True
        )
        for drive in DRIVES
    }
    cases |= {
        (drive, f"{size} B"): case(
            setup,
            drive,
            host_side(drive, alone[drive], "b-tree"),
            size=size,
            requests=REQUESTS // 4,
        )
        for drive in DRIVES
        for size in SIZES
    }
    cases |= {
        (FLAT, f"{size} B"): case(
            setup, "fssd", host_side("fssd", alone["fssd"]), size=size, requests=REQUESTS // 4
        )
        for size in SIZES[-2:]
    }
    found = {key: side_of(one) for key, one in required(setup, cases).items()}
    used = {key: 100 * or_nan(one["cpu_utilisation"]) for key, one in found.items()}
    memory = [found["bssd", workers(count)]["map_bytes"] for count in WORKERS]
    return Figure(
        id="4.5",
        title="Figures 4.4(b) and 4.5: CPU of the host",
        section="4.4.2",
        measured=(
            "Share of the time of four cores used under random writes of 512 bytes in legacy "
            "mode, unless the row states otherwise. FSSD has a flat table of its sectors; in the "
            "rows by request size, it has a tree of extents, as section 4.4.1 supposes, unless "
            "the row names the flat table."
        ),
        rows=_cpu_rows(used),
        claims=_cpu_claims(used, memory),
        explanation=[
            "Only threads that serve requests are simulated. The operating system, which uses "
            "nearly all of the CPU time with BSSD, is not. One thread uses at most 25 % of four "
            "cores. The published 60 % at one request per 45 µs are 108 µs of CPU time per "
            "request, more than the request takes. Other threads must therefore run, which the "
            "text does not mention.",
            "With a flat table, which has an entry per sector, requests of 256 KiB take more CPU "
            "than those of 64 KiB.",
        ],
        data={"cpu_percent": {" ".join(key): value for key, value in used.items()}},
    )


def _cpu_rows(used: dict[tuple[str, str], float]) -> list[Row]:
    one, eight = workers(WORKERS[0]), workers(WORKERS[-1])
    rows = [
        Row(
            "CPU use of FSSD, legacy mode, one worker",
            used["fssd", one],
            "%",
            PUBLISHED("4.5", "CPU use of FSSD, legacy mode"),
        ),
        *(
            Row(
                f"CPU use of FSSD, requests of {size} B",
                used["fssd", f"{size} B"],
                "%",
                PUBLISHED("4.5", "CPU use of FSSD, requests of up to 16 KB")
                if size in FINE
                else None,
            )
            for size in SIZES
        ),
        Row(
            "CPU use of FSSD, queue depth 128 relative to legacy mode",
            used["fssd", "queued"] / used["fssd", one],
            "times",
            PUBLISHED("4.5", "CPU use of FSSD, queue depth 128 relative to legacy mode"),
        ),
        Row(
            "CPU use of FSSD, eight workers relative to one",
            used["fssd", eight] / used["fssd", one],
            "times",
            PUBLISHED("4.5", "CPU use of FSSD, eight workers relative to one"),
        ),
    ]
    shown = {("fssd", one), *(("fssd", f"{size} B") for size in SIZES)}
    rows += [
        Row(
            f"CPU use of {_words(drive)}, {'queue depth 128' if run == 'queued' else run}",
            value,
            "%",
        )
        for (drive, run), value in used.items()
        if (drive, run) not in shown
    ]
    return rows


def _words(drive: str) -> str:
    return drive[:4].upper() + drive[4:]


def _cpu_claims(used: dict[tuple[str, str], float], memory: list[int]) -> list[Claim]:
    runs = [run for drive, run in used if drive == "fssd"]
    by_size = [used["fssd", f"{size} B"] for size in SIZES]
    bssd = [used["bssd", workers(count)] for count in WORKERS]
    alone = used["fssd", workers(WORKERS[0])]
    return [
        Claim(
            "FSSD takes more CPU time than BSSD, for every number of workers, mode and request "
            "size",
            all(used["fssd", run] > used["bssd", run] for run in runs),
            ", ".join(
                f"{run} {used['fssd', run]:.1f} and {used['bssd', run]:.2f} %" for run in runs
            ),
            ids=("J4-009",),
        ),
        Claim(
            f"FSSD uses 60 % of four cores in legacy mode, within {IN_POINTS:g} percentage points",
            abs(alone - 60) <= IN_POINTS,
            f"{alone:.1f} %",
            because="one request at a time keeps one thread busy, which uses at most 25 % of four "
            "cores",
        ),
        Claim(
            "Reason: one worker uses at most one of four cores (25 %), and eight workers use more",
            max(alone, used["fssd", "queued"]) <= CORE < used["fssd", workers(WORKERS[-1])],
            f"{alone:.1f} % in legacy mode, {used['fssd', 'queued']:.1f} % with a queue, "
            f"{used['fssd', f'{WORKERS[-1]} workers']:.1f} % with {WORKERS[-1]} workers",
        ),
        Claim(
            "The smaller the requests, the more CPU time FSSD takes",
            all(b < a for a, b in pairwise(by_size)),
            ", ".join(f"{size} B {one:.1f} %" for size, one in zip(SIZES, by_size, strict=True)),
            ids=("J4-039",),
        ),
        Claim(
            "CPU time and memory of BSSD do not change with the number of workers, within "
            f"{PER_CENT:g} %",
            gain(min(bssd), max(bssd)) <= PER_CENT and len(set(memory)) == 1,
            f"{min(bssd):.3f} to {max(bssd):.3f} %, {memory[0]:,} bytes",
            ids=("J4-015",),
        ),
    ]
