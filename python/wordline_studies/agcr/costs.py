"""Table 1: costs of reads and writes. Sections 3.1 and 3.2: their dependence on the program step
and on the threshold voltage. Section 4.3: storage."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TypeAlias

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.agcr.runs import DEVICE, PUBLISHED
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Published, Row, Setup
from wordline_studies.measures import or_nan
from wordline_studies.regulation.costs import Cost, costs, one_at_a_time
from wordline_studies.regulation.runs import REGULATION
from wordline_studies.regulation.storage import state_of

# A low-cost write makes later reads high-cost (section 2.2).
READ_OF = {"low": "high", "medium": "medium", "high": "low", "reduced": "reduced"}
STEP_SIZE = "nand.programming.step-size"
STEPS = (1.0, 1.1, 1.2, 4 / 3)
VOLTAGES = (1.0, 0.9, 0.82)

Told: TypeAlias = tuple[Cost, Mapping[str, Value], Published]


def _published(op: str, mode: str) -> str:
    """Returns the label of a published cost."""
    if mode != "reduced":
        return f"time of a {mode}-cost {op}"
    return "time of a reduced-wear write" if op == "write" else "time of a read after reduced wear"


def figure(setup: Setup) -> Figure:
    """Returns the figure for single-page requests, one at a time, in each mode."""
    writes: dict[str, Told] = {
        f"write, {mode}": ((mode, "write"), {}, PUBLISHED("1", _published("write", mode)))
        for mode in READ_OF
    }
    reads: dict[str, Told] = {
        f"read after a write in {mode} mode": (
            (mode, "read"),
            {},
            PUBLISHED("1", _published("read", read)),
        )
        for mode, read in READ_OF.items()
    }
    return costs(
        setup,
        DEVICE,
        writes | reads,
        id="1",
        title="Table 1: costs",
        section="5.1",
        explanation=[
            "A read costs 10 µs per reference voltage and 20 µs per transferred bit of a cell; 3, "
            "9 and 21 voltages take 70, 170 and 310 µs by equation 2. The sensing part occupies "
            "the die, the transfer part the die and the channel (section 3.1). Program steps of "
            "3/4, 1 and 4/3 take 800, 600 and 450 µs.",
            "The erase time is not given; 1.5 ms is assumed.",
        ],
    )


def _variants() -> dict[str, dict[str, Value]]:
    """Returns the settings of each program step and of each threshold voltage, by name. Steps come
    first."""
    of: dict[str, dict[str, Value]] = {}
    for step in STEPS:
        of[f"step {step:.2f}"] = {
            f"{STEP_SIZE}.low_step": step,
            f"{REGULATION}.fixed.mode": "low",
        }
    for volts in VOLTAGES:
        of[f"voltage {volts:.2f}"] = {
            f"{STEP_SIZE}.reduced_voltage": volts,
            f"{REGULATION}.fixed.mode": "reduced",
        }
    return of


def _named(what: str) -> str:
    """Returns the label of a program step or of a threshold voltage (see `_variants`)."""
    kind, value = what.split()
    return f"program step {value}" if kind == "step" else f"relative threshold voltage {value}"


def models(setup: Setup) -> Figure:
    """Returns the figure for costs by program step and by threshold voltage."""
    of = _variants()
    found = required(
        setup,
        {
            (what, op): Case(
                DEVICE.name,
                f"{what}, {op}",
                one_at_a_time(DEVICE) | own | {"workload.read_ratio": float(op == "read")},
            )
            for what, own in of.items()
            for op in ("read", "write")
        },
    )
    us = {
        (what, op): or_nan(found[what, op]["latency"][op]["mean_us"])
        for what in of
        for op in ("read", "write")
    }
    wear = {what: or_nan(per_program(found[what, "write"])) for what in of}
    steps, volts = list(of)[: len(STEPS)], list(of)[len(STEPS) :]
    return _models(us, wear, steps, volts)


def per_program(summary: Summary) -> float | None:
    """Returns the mean wear of a program, in units of a medium-mode program. None if no page was
    programmed, or if the device does not regulate program modes."""
    regulation = summary["regulation"]
    return regulation["wear_per_program"] if regulation else None


def _models(
    us: Mapping[tuple[str, str], float],
    wear: Mapping[str, float],
    steps: list[str],
    volts: list[str],
) -> Figure:
    def rises(values: list[float]) -> bool:
        return all(a <= b for a, b in pairwise(values)) and values[0] < values[-1]

    def listed(values: list[float], unit: str) -> str:
        return ", ".join(f"{value:.3g}" for value in values) + f" {unit}"

    write = [us[what, "write"] for what in steps]
    read = [us[what, "read"] for what in steps]
    lower = [wear[what] for what in volts]
    finer = [us[what, "read"] for what in volts]
    return Figure(
        id="2",
        title="Figures 2 and 4: program step and threshold voltage",
        section="3.1, 3.2",
        measured=(
            "Pages written and read one at a time under the document's cost models "
            "(`nand.programming.step-size`). Errors determine the reference voltages of a read, "
            "and thus its time."
        ),
        rows=[
            *(
                Row(f"{_named(what)}: response time of a {op}", value, "µs")
                for (what, op), value in us.items()
            ),
            *(
                Row(f"{_named(what)}: wear per program relative to medium mode", wear[what], "")
                for what in volts
            ),
        ],
        claims=[
            Claim(
                "A larger program step makes writes faster and causes more errors, so reads need "
                "more reference voltages",
                rises(write[::-1]) and rises(read),
                f"writes {listed(write, 'µs')}; reads {listed(read, 'µs')}",
                ids=("A-003",),
            ),
            Claim(
                "More errors make reads slower",
                rises(read) and rises(finer),
                f"reads {listed(read, 'µs')} and {listed(finer, 'µs')}",
                ids=("A-004",),
            ),
            Claim(
                "A lower threshold voltage reduces wear and causes more errors",
                rises(lower[::-1]) and rises(finer),
                f"wear {listed(lower, '')}; reads {listed(finer, 'µs')}",
                ids=("A-006",),
            ),
        ],
        explanation=[
            "The noise of cells and the errors that each number of reference voltages corrects "
            "are not published; the defaults of the preset are assumed. With them, the threshold "
            "voltage can fall to 0.82 of its normal value, not to the published 0.8.",
        ],
        data={"us": {f"{what}, {op}": value for (what, op), value in us.items()}},
    )


def storage(setup: Setup) -> Figure:
    """Returns the figure for the storage that the histories and tags of pages need."""
    bits = state_of(setup, DEVICE, "r-w-l", 64 << 30)
    return Figure(
        id="11",
        title="Section 4.3: storage",
        section="4.3",
        measured="Storage for the access histories and tags of 64 GiB of flash.",
        rows=[
            Row(
                "storage of histories and tags for 64 GB, pages of 4 KB, one bit of history per "
                "page",
                bits / 2**20,
                "Mb",
                PUBLISHED("11", "storage of histories and tags for 64 GB"),
            )
        ],
        explanation=[
            "A page needs one bit of history and one tag (section 4.3), two bits for each of 16 Mi "
            "pages. The published value has only one of the two."
        ],
    )
