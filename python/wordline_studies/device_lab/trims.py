"""Section 5.6: benefit and cost of TRIM."""

from collections.abc import Iterable, Mapping
from math import ceil
from random import Random

from wordline._lab.experiments.trim_cost import LONGEST
from wordline._lab.trial import ERASED, FILLED, Measured, Phase, Trial, line
from wordline._render import units
from wordline._render.charts import bars
from wordline_studies.device_lab.runs import BLOCKS, DEPTH, Drive, carried_out, drive
from wordline_studies.figure import Claim, Figure, Numbers, Plot, Row, Setup

PUBLISHED = Numbers(__package__ or __name__)
PIECE = 65_536
WRITTEN = 0.3
"""Data written after the TRIMs, as a share of the capacity: more than the spare blocks, less than
all free blocks after TRIM."""
TAIL = 2 / 3
"""Share of these writes that precede the measurement. They use up the spare blocks in every
case."""
KINDS = {"pristine": "#12a07b", "SEQ-TRIM": "#7cc0ea", "RND-TRIM": "#d8731c", "none": "#c0392b"}
ERASING, INVALIDATING = "LZ", "AC"
SIZES = (4096, 2**20, 2**24, 2**27, 2**29, LONGEST)
TRIM_BLOCKS = 64


def gains(setup: Setup) -> Figure:
    """Reproduces figures 5.11 and 5.12: writes after TRIM."""
    letters = "Z" if setup.quick else "CZ"
    made = [
        drive(letter, setup, more={"ftl.mapping": "page"}, blocks=TRIM_BLOCKS) for letter in letters
    ]
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
            "and trimmed in the same order, one TRIM per piece. Random 16 KiB writes of 0.3 of "
            f"the capacity follow; their last third is measured. Queue depth {DEPTH}, "
            f"{TRIM_BLOCKS} blocks per die, map in memory."
        ),
        rows=[
            Row(
                f"latency after RND-TRIM over SEQ-TRIM, {letter}",
                value,
                "times",
                PUBLISHED("5.12", "random over ascending TRIM"),
            )
            for letter, value in ratio.items()
        ],
        claims=[
            Claim(
                "T1: after SEQ-TRIM, the response time equals that of a pristine drive within 5 %",
                max(seq.values()) < 0.05,
                _percent(seq),
            ),
            Claim(
                "T1: RND-TRIM changes the response time by less than 2 %",
                max(rnd.values()) < 0.02,
                _percent(rnd),
            ),
            Claim(
                "T1: writes after RND-TRIM take at least twice as long as after SEQ-TRIM",
                all(value >= 2 for value in ratio.values()),
                _times(ratio),
            ),
            Claim(
                "T1: writes after RND-TRIM take three times as long as after SEQ-TRIM",
                holds=False,
                detail=_times(ratio),
                report_only="the published ratio depends on the unpublished amount of data: the "
                "more data are written, the more writes wait for GC; here the writes after the "
                "last spare block are measured",
            ),
        ],
        plots=[
            Plot(
                "Random writes",
                "Mean response time by the preceding TRIMs.",
                bars({f"SSD-{letter}": one for letter, one in us.items()}, KINDS, "µs"),
            )
        ],
        explanation=[
            "This firmware frees an erase block's units along one ascending run of TRIMs "
            "(`ftl.trim.frees`). The text reports the effect; the mechanism is our assumption. "
            "Firmware that tracks TRIMs in any order frees everything in both cases.",
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
    longest = {letter: us[letter][LONGEST] / write_us[letter] for letter in INVALIDATING}
    return Figure(
        id="5.13",
        title="Figures 5.13 and 5.14: duration of a TRIM",
        section="5.6.2",
        measured=(
            "One TRIM from the start of a filled drive, up to the 64 ranges of 65,535 sectors "
            f"of one ATA command (2 GiB less 32 KiB). {BLOCKS} blocks per die."
        ),
        rows=[
            Row(
                f"2 GiB, {letter}",
                us[letter][LONGEST] / 1000,
                "ms",
                PUBLISHED("5.13", f"2 GiB, {letter}"),
            )
            for letter in ERASING
        ]
        + [
            Row(
                f"TRIM of 2 GiB, in units of a 4 KiB write, {letter}",
                longest[letter],
                "times",
                PUBLISHED("5.14", "the longest, in writes of 4 KiB"),
            )
            for letter in INVALIDATING
        ],
        claims=[
            Claim(
                "T2: an E-TRIM takes as long as the erases on the die with the most blocks to "
                "erase",
                all(erased[letter][0] for letter in ERASING),
                "; ".join(f"{letter} {erased[letter][1]}" for letter in ERASING),
            ),
            Claim(
                "T2: the longest TRIM takes 754 and 550 ms",
                holds=False,
                detail=", ".join(
                    f"{letter} {units.duration(us[letter][LONGEST])}" for letter in ERASING
                ),
                report_only="the number of parallel erases is not published; 1 MiB blocks and 2.5 "
                "ms per erase would need 6.8 and 9.3 parallel erases; here each die erases "
                "one block at a time",
            ),
            Claim(
                "T3: an I-TRIM reads and writes each map page that it touches once",
                pages == due,
                "; ".join(f"{letter} {list(one.values())}" for letter, one in pages.items()),
            ),
            Claim(
                "T3: an I-TRIM that touches the map takes at least 6 times as long as a 4 KiB "
                "write",
                all(us[letter][2**24] > 6 * write_us[letter] for letter in INVALIDATING),
                ", ".join(
                    f"{letter} {units.figures(us[letter][2**24] / write_us[letter])} to "
                    f"{units.figures(longest[letter])}"
                    for letter in INVALIDATING
                ),
            ),
        ],
        explanation=[
            "TRIM times in units of a write exceed the published ones. Here, a 4 KiB write "
            "completes in the buffer within 11 us; in the text it takes 65 us.",
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
    return {
        **found,
        "write": Trial(FILLED, depth=1, trace=lambda: writes, phases=(Phase("write", 0, 200),)),
    }


def unit_bytes(one: Drive) -> int:
    """Returns the bytes that a TRIM frees as one unit."""
    frees = one.bench.config["ftl"]["trim"]["frees"]
    return frees["ascending-run"]["unit_pages"] * one.bench.page_bytes


def map_pages(one: Drive, size: int) -> int:
    """Returns the number of translation pages that map the range of a TRIM of `size` bytes from the
    start of the drive."""
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
    """Compares TRIM times with the time of the erases on the die with the most blocks to erase.
    Returns whether they agree, and the times as text.

    The tolerance is 1 % of an erase per block, plus 20 us for the command on the bus and the
    completion.
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
