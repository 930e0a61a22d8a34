"""Section 5.6: benefit and cost of TRIM."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil
from random import Random

from wordline._lab.experiments.trim_cost import LONGEST
from wordline._lab.trial import ERASED, FILLED, Measured, Phase, Trial, line
from wordline._render import units
from wordline._render.charts import bars
from wordline_studies.device_lab.runs import BLOCKS, DEPTH, Drive, carried_out, drive
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup
from wordline_studies.outcome import IN_POINTS, PER_CENT, is_reproduced

PUBLISHED = Numbers(__package__ or __name__)
PIECE = 65_536
WRITTEN = 0.3
"""Data written after the TRIMs, as a share of the user capacity: more than the over-provisioned
blocks hold, less than all free blocks after the TRIMs hold."""
TAIL = 2 / 3
"""Share of the writes after the TRIMs that precede the measurement. They use up the
over-provisioned blocks in every case."""
KINDS = {"pristine": "#12a07b", "SEQ-TRIM": "#7cc0ea", "RND-TRIM": "#d8731c", "none": "#c0392b"}
ERASING, INVALIDATING = "LZ", "AC"
SIZES = (4096, 2**20, 2**24, 2**27, 2**29, LONGEST)
ENDS: Mapping[str, Callable[[Sequence[float]], float]] = {"shortest": min, "longest": max}
TRIM_BLOCKS, QUICK_BLOCKS = 64, 32


def gains(setup: Setup) -> Figure:
    """Reproduces figures 5.11 and 5.12: writes after TRIM."""
    letters, blocks = ("Z", QUICK_BLOCKS) if setup.quick else ("CZ", TRIM_BLOCKS)
    made = [drive(letter, setup, more={"ftl.mapping": "page"}, blocks=blocks) for letter in letters]
    found = carried_out(setup, [(one, "TRIM", _of_gains(one)) for one in made])
    us = {
        one.letter: {kind: runs[kind].phases["writes"]["mean_us"] for kind in KINDS}
        for one, runs in zip(made, found, strict=True)
    }
    seq = {letter: abs(one["SEQ-TRIM"] / one["pristine"] - 1) for letter, one in us.items()}
    rnd = {letter: abs(one["RND-TRIM"] / one["none"] - 1) for letter, one in us.items()}
    ratio = {letter: one["RND-TRIM"] / one["SEQ-TRIM"] for letter, one in us.items()}
    return Figure(
        id="5.12",
        title="Figures 5.11 and 5.12: writes after TRIM",
        section="5.6.1",
        measured=(
            "Drives are filled in pieces of 64 KiB, sequentially or each once in random order, "
            "and trimmed in the same order, one TRIM per piece. Random 16 KiB writes follow, 0.3 "
            f"of the capacity in total; the last third of them is measured. Queue depth {DEPTH}, "
            f"{blocks} blocks per die, map in memory."
        ),
        rows=[
            Row(
                f"response time of writes after RND-TRIM over that after SEQ-TRIM, {letter}",
                value,
                "times",
                PUBLISHED(
                    "5.12", "response time of writes after RND-TRIM over that after SEQ-TRIM"
                ),
            )
            for letter, value in ratio.items()
        ],
        claims=[
            Claim(
                "T1: after SEQ-TRIM, the response time of writes equals that on a pristine drive "
                "within 5 %",
                max(seq.values()) < IN_POINTS / 100,
                _percent(seq),
                ids=("J5-084",),
            ),
            Claim(
                "T1: after RND-TRIM, the response time of writes equals that without TRIM within "
                "5 %",
                max(rnd.values()) < IN_POINTS / 100,
                _percent(rnd),
                ids=("J5-085",),
            ),
            Claim(
                "T1: the effect of TRIM depends on the order of the commands: writes take longer "
                f"after RND-TRIM than after SEQ-TRIM by more than {PER_CENT:g} %",
                all(value > 1 + PER_CENT / 100 for value in ratio.values()),
                _times(ratio),
                ids=("J5-090",),
            ),
        ],
        plots=[
            Plot(
                "Response time of random writes",
                "Mean response time of 16 KiB writes by the preceding TRIMs.",
                bars({f"SSD-{letter}": one for letter, one in us.items()}, KINDS, "µs"),
            )
        ],
        explanation=[
            "The modelled firmware frees the units of an erase block along one ascending run of "
            "TRIMs (`ftl.trim.frees`). The text reports the effect, but the mechanism is assumed. "
            "Firmware that tracks TRIMs in any order frees all trimmed blocks in both cases.",
        ],
        data={"mean_us": us},
    )


def _of_gains(one: Drive) -> Mapping[str, Trial]:
    size = one.bench.user_bytes // PIECE * PIECE
    many, writes = size // PIECE, round(size * WRITTEN) // 16_384
    found: dict[str, Trial] = {}
    for kind in KINDS:
        before = {"pristine": 0, "none": many}.get(kind, 2 * many)
        found[kind] = Trial(
            ERASED,
            trace=lambda kind=kind: _requests(kind, size, writes, one.bench.seed),
            phases=(Phase("writes", before + round(TAIL * writes), before + writes),),
        )
    return found


def _requests(kind: str, size: int, writes: int, seed: int) -> Iterable[str]:
    draw = Random(seed)  # noqa: S311 - a load
    places = list(range(0, size, PIECE))
    if kind != "SEQ-TRIM":
        draw.shuffle(places)
    if kind != "pristine":
        for place in places:
            yield line("write", place, PIECE)
    if kind.endswith("TRIM"):
        for place in places:
            yield line("trim", place, PIECE)
    draw = Random(f"{seed} writes")  # noqa: S311 - a load
    for _ in range(writes):
        yield line("write", draw.randrange(size // 16_384) * 16_384, 16_384)


def costs(setup: Setup) -> Figure:
    """Reproduces figures 5.13 and 5.14: duration of a TRIM."""
    made = {letter: drive(letter, setup) for letter in ERASING + INVALIDATING}
    wanted = [(one, "one TRIM", _of_costs()) for one in made.values()]
    found = dict(zip(made, carried_out(setup, wanted), strict=True))
    us = {
        letter: {size: runs[str(size)].phases["trim"]["mean_us"] for size in SIZES}
        for letter, runs in found.items()
    }
    write_us = {letter: found[letter]["write"].phases["write"]["mean_us"] for letter in made}
    erased = {letter: _closed_form(made[letter], found[letter], us[letter]) for letter in ERASING}
    pages = {
        letter: {size: _map_pages(found[letter][str(size)]) for size in SIZES}
        for letter in INVALIDATING
    }
    due = {
        letter: {size: map_pages(made[letter], size) for size in SIZES} for letter in INVALIDATING
    }
    freeing = {letter: _freeing(runs, us[letter]) for letter, runs in found.items()}
    read_us = {letter: found[letter]["read"].phases["read"]["max_us"] for letter in ERASING}
    return Figure(
        id="5.13",
        title="Figures 5.13 and 5.14: duration of a TRIM",
        section="5.6.2",
        measured=(
            "One TRIM from the start of a filled drive, of up to 64 ranges of 65,535 sectors, the "
            "maximum of one ATA command (2 GiB less 32 KiB). L and Z erase blocks (E-TRIM), A and "
            f"C only invalidate data (I-TRIM). {BLOCKS} blocks per die."
        ),
        rows=[
            Row(
                f"duration of a TRIM of 2 GiB, {letter}",
                us[letter][LONGEST] / 1000,
                "ms",
                PUBLISHED("5.13", f"duration of a TRIM of 2 GiB, {letter}"),
            )
            for letter in ERASING
        ]
        + [
            Row(
                f"duration of the {which} TRIM that frees data over that of a 4 KiB write, "
                f"{letter}",
                end(freeing[letter]) / write_us[letter],
                "times",
                PUBLISHED("5.14", "duration of an I-TRIM over that of a 4 KiB write"),
            )
            for letter in INVALIDATING
            for which, end in ENDS.items()
        ]
        + [
            Row(
                f"duration of the {which} TRIM that frees data, {letter}",
                end(freeing[letter]),
                "µs",
                PUBLISHED("5.14", "duration of an I-TRIM"),
            )
            for letter in INVALIDATING
            for which, end in ENDS.items()
        ],
        claims=[
            Claim(
                "T2: an E-TRIM takes as long as the erases on the die that has the most blocks to "
                "erase",
                all(erased[letter][0] for letter in ERASING),
                "; ".join(f"{letter} {erased[letter][1]}" for letter in ERASING),
            ),
            Claim(
                "T2: the duration of an E-TRIM is proportional to the amount of data (2 GiB and "
                f"512 MiB, within {PER_CENT:g} %)",
                all(
                    is_reproduced(us[letter][LONGEST], 4 * us[letter][2**29], "µs")
                    for letter in ERASING
                ),
                ", ".join(
                    f"{letter} {units.duration(us[letter][2**29])} and "
                    f"{units.duration(us[letter][LONGEST])}"
                    for letter in ERASING
                ),
                ids=("J5-094",),
            ),
            Claim(
                "T2: a read submitted at the same time as an E-TRIM completes no earlier than the "
                "E-TRIM",
                all(read_us[letter] >= us[letter][LONGEST] for letter in ERASING),
                ", ".join(
                    f"{letter} {units.duration(read_us[letter])} and "
                    f"{units.duration(us[letter][LONGEST])}"
                    for letter in ERASING
                ),
                ids=("J5-095",),
            ),
            Claim(
                "T3: an I-TRIM of 2 GiB is shorter than an E-TRIM",
                max(us[letter][LONGEST] for letter in INVALIDATING)
                < min(us[letter][LONGEST] for letter in ERASING),
                ", ".join(f"{letter} {units.duration(us[letter][LONGEST])}" for letter in made),
                ids=("J5-096",),
            ),
            Claim(
                "T3: an I-TRIM reads and programs each map page of its range once",
                pages == due,
                "; ".join(
                    f"{letter} {list(one.values())} map pages by size of the TRIM"
                    for letter, one in pages.items()
                ),
                ids=("J5-100",),
            ),
            Claim(
                "T3: TRIMs that free data take longer than 4 KiB writes, I-TRIMs more than 6 "
                "times as long",
                all(
                    min(freeing[letter]) > least * write_us[letter]
                    for letters, least in ((ERASING, 1), (INVALIDATING, 6))
                    for letter in letters
                ),
                ", ".join(
                    f"{letter} {units.figures(min(freeing[letter]) / write_us[letter])} to "
                    f"{units.figures(us[letter][LONGEST] / write_us[letter])}"
                    for letter in made
                ),
                ids=("J5-101",),
            ),
        ],
        explanation=[
            "The ratios of TRIM to write durations exceed the published ones, because a 4 KiB "
            "write completes in the buffer within 11 us here, but takes 65 us in the text.",
        ],
        data={"us": us, "write_us": write_us, "map_pages": pages},
    )


def _of_costs() -> Mapping[str, Trial]:
    found = {
        str(size): Trial(
            FILLED,
            depth=1,
            trace=lambda size=size: [line("trim", 0, size)],
            phases=(Phase("trim", 0, 1),),
        )
        for size in SIZES
    }
    writes = [line("write", place * 4096, 4096) for place in range(200)]
    # The read goes to the end of the drive, and arrives with the TRIM.
    both = [line("trim", 0, LONGEST), line("read", LONGEST, 4096)]
    return {
        **found,
        "read": Trial(
            FILLED, depth=2, trace=lambda: both, timed=True, phases=(Phase("read", 1, 2),)
        ),
        "write": Trial(FILLED, depth=1, trace=lambda: writes, phases=(Phase("write", 0, 200),)),
    }


def _freeing(found: Mapping[str, Measured], us: Mapping[int, float]) -> list[float]:
    """Returns the durations of the TRIMs that erase blocks or read map pages. Microseconds."""
    flash = {size: found[str(size)].summary["flash"] for size in SIZES}
    return [us[size] for size, one in flash.items() if one["erases"] or one["own_page_reads"]]


def unit_bytes(one: Drive) -> int:
    """Returns the bytes that a TRIM frees as one unit."""
    frees = one.bench.config["ftl"]["trim"]["frees"]
    return frees["ascending-run"]["unit_pages"] * one.bench.page_bytes


def map_pages(one: Drive, size: int) -> int:
    """Returns the number of translation pages that map the whole units (`unit_bytes`) in the range
    of a TRIM of `size` bytes from the start of the drive."""
    entry = one.bench.config["ftl"]["mapping"]["dftl"]["entry_bytes"]
    listed = one.bench.page_bytes // entry * one.bench.page_bytes
    return ceil(size // unit_bytes(one) * unit_bytes(one) / listed)


def _map_pages(found: Measured) -> tuple[int, int] | int:
    flash = found.summary["flash"]
    read, programmed = flash["own_page_reads"], flash["own_page_programs"]
    return read if read == programmed else (read, programmed)


def _closed_form(
    one: Drive, found: Mapping[str, Measured], us: Mapping[int, float]
) -> tuple[bool, str]:
    """Compares the duration of each TRIM with that of the erases on the die with the most blocks to
    erase. Returns whether they agree, and the durations as text.

    The tolerance is 1 % of the duration of these erases, plus 20 us for the command on the bus and
    the completion. In addition, no TRIM may erase more blocks than its range covers, rounded up.
    """
    erase_us = one.bench.config["nand"]["timing"]["erase_ns"] / 1000
    at_once, told, right = one.bench.dies, list[str](), True
    for size in SIZES:
        blocks = found[str(size)].summary["flash"]["erases"]
        due = ceil(blocks / at_once) * erase_us
        right &= abs(us[size] - due) <= 0.01 * due + 20
        right &= blocks <= ceil(size / (one.bench.flash_bytes // one.bench.blocks))
        told.append(f"{units.size(size)} {blocks} blocks, {units.duration(us[size])}")
    return right, ", ".join(told)


def _percent(values: Mapping[str, float]) -> str:
    return ", ".join(f"{letter} {100 * value:.2f} %" for letter, value in values.items())


def _times(values: Mapping[str, float]) -> str:
    return ", ".join(f"{letter} {units.figures(value)}" for letter, value in values.items())
