"""Figures 2.15 and 2.17: block migration."""

from typing import get_args

from wordline._api.package import MigrateMode, Report
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.nand.cycles import DATA, STAGES, stacked
from wordline_studies.nand.modes import PUBLISHED, SLC, lines, part

NAMES: dict[MigrateMode, str] = dict(
    zip(
        get_args(MigrateMode),
        ("legacy", "cache", "internal", "2x", "2x cache", "2x internal"),
        strict=True,
    )
)
SLOW = ("legacy", "cache", "2x")
FAST = ("2x cache", "internal", "2x internal")
BLOCKS = (2, 4, 8, 16, 32)
Reports = dict[str, list[Report]]


def figures(setup: Setup) -> list[Figure]:
    """Returns figures 2.15 and 2.17, from the same runs."""
    package = part(setup)
    found: Reports = {
        name: [package.migrate(blocks // 2, mode) for blocks in BLOCKS]
        for mode, name in NAMES.items()
    }
    return [_performance(setup, found), _stages(found)]


def _ms(reports: list[Report]) -> list[float]:
    return [report["elapsed_ps"] / 1e9 for report in reports]


def _performance(setup: Setup, found: Reports) -> Figure:
    latency = {name: _ms(reports) for name, reports in found.items()}
    energy = {
        name: [report["energy_nj"]["total"] / 1e6 for report in reports]
        for name, reports in found.items()
    }
    last = {name: values[-1] for name, values in latency.items()}
    rows = [
        Row(f"{slow} over {fast}", last[slow] / last[fast], "times", PUBLISHED("2.15", "speed-up"))
        for slow in SLOW
        for fast in FAST
    ]
    spent = {name: values[-1] for name, values in energy.items()}
    rows += [Row(f"energy, {name}", spent[name], "mJ") for name in spent]
    return Figure(
        id="2.15",
        title="Figure 2.15: block migration",
        section="2.8.3",
        measured=(
            "Destination blocks are erased, all pages of the source blocks are copied to them, "
            "and the source blocks are erased, on one die of MLC1 in each of six operation modes. "
            f"The number of blocks counts sources and destinations: {BLOCKS[0]} blocks are one of "
            f"each. The table is for {BLOCKS[-1]} blocks."
        ),
        rows=rows,
        plots=[
            Plot(
                "Latency",
                "Time until the last erase is complete.",
                lines(BLOCKS, latency, "blocks", "ms", log=True),
            ),
            Plot(
                "Energy", "Array, bus and standby.", lines(BLOCKS, energy, "blocks", "mJ", log=True)
            ),
        ],
        claims=_claims(setup, latency, energy),
        explanation=[
            "A page takes a read (50 µs), a program (1,194.5 µs on average) and, except for "
            "internal moves, 102.4 µs of data on the bus. Every mode performs the programs, "
            "one or two at a time. Two planes therefore gain a factor of nearly two. The bus "
            "time, which is all that cache mode and internal moves can hide or save, is at "
            "most 8 %.",
            "In the document, internal data move is about twice as fast as legacy and 2x. For "
            "that factor, data transfer would have to take as long as the array: 1,244.5 µs "
            "for a page out and in, a bus of 3.3 MB/s. The text gives about equal times for "
            "data out and array read (figure 2.14). If every program took the shortest time, "
            "250 µs, the factor would be 402 / 300 = 1.34.",
            "The text contradicts itself here. 2x doubles the throughput of legacy (section "
            "2.8.2). A mode twice as fast as legacy is therefore as fast as 2x, not twice as "
            "fast.",
            "Two blocks are read as one source and one destination, so there is no second "
            "block for another plane. With two sources, the modes differ by more than a factor "
            "of two, as with more blocks.",
        ],
        data={"blocks": list(BLOCKS), "latency_ms": latency, "energy_mj": energy},
    )


def _claims(
    setup: Setup, latency: dict[str, list[float]], energy: dict[str, list[float]]
) -> list[Claim]:
    last = {name: values[-1] for name, values in latency.items()}
    spent = [values[-1] for values in energy.values()]
    spread = 100 * (max(spent) / min(spent) - 1)
    planes = [last[slow] / last[fast] for slow in ("legacy", "cache") for fast in FAST[::2]]
    moved = last["legacy"] / last["internal"]
    two = last["2x"] / min(last["2x cache"], last["2x internal"])
    few = {name: values[0] for name, values in latency.items()}
    sources = BLOCKS[-1] // 2
    slc = [part(setup, SLC).migrate(sources, mode)["energy_nj"]["total"] for mode in NAMES]
    return [
        Claim(
            "2x cache and 2x internal are about twice as fast as legacy and cache",
            min(planes) >= 1.8 and max(planes) <= 2.4,
            f"{min(planes):.2f} to {max(planes):.2f} times",
        ),
        Claim(
            "2x internal is the fastest mode",
            last["2x internal"] == min(last.values()),
            ", ".join(f"{name} {ms:,.0f} ms" for name, ms in last.items()),
        ),
        Claim(
            "Internal data moves are faster than copies of the same pages over the bus",
            last["internal"] < last["legacy"] and last["2x internal"] < last["2x"],
            f"{last['legacy'] / last['internal']:.2f} and "
            f"{last['2x'] / last['2x internal']:.2f} times",
        ),
        Claim(
            "Internal data move is about twice as fast as legacy",
            moved >= 1.8,
            f"{moved:.2f} times",
            because=(
                "the program, 1,194.5 of 1,348 µs per page, remains; without the bus, at most "
                "8 % are saved"
            ),
        ),
        Claim(
            "2x cache and 2x internal are about twice as fast as 2x",
            two >= 1.8,
            f"{two:.2f} times",
            because="2x already programs two pages at once, and only the bus time is left to hide",
        ),
        Claim(
            "Two blocks: the modes hardly differ",
            max(few.values()) / min(few.values()) < 1.2,
            f"slowest over fastest {max(few.values()) / min(few.values()):.2f}",
        ),
        Claim(
            "Energy is nearly equal in all modes",
            spread < 10,
            f"within {spread:.1f} %: a page is programmed once in every mode, and internal "
            "moves save its bus energy; on SLC, with a fifth of the program time, within "
            f"{100 * (max(slc) / min(slc) - 1):.0f} %",
        ),
    ]


def _stages(found: Reports) -> Figure:
    shares = {
        stage: [reports[-1]["stage_ps"][stage] / 1e9 for reports in found.values()]
        for stage in STAGES
    }
    data = {
        name: sum(reports[-1]["stage_ps"][one] for one in DATA) for name, reports in found.items()
    }
    without = [name for name in data if "internal" in name]
    return Figure(
        id="2.17",
        title="Figure 2.17: stages of a migration",
        section="2.8.3",
        measured=(
            f"Time by stage for the migration of {BLOCKS[-1]} blocks of figure 2.15. "
            "Overlapping stages are counted in each."
        ),
        rows=[Row(f"{name}: data on the bus", ps / 1e9, "ms") for name, ps in data.items()],
        plots=[
            Plot(
                "Time by stage",
                "Sum over the migration.",
                stacked(list(found), shares, "ms"),
            )
        ],
        claims=[
            Claim(
                "Internal data moves have neither data in nor data out; all other modes have both",
                all((ps == 0) == (name in without) for name, ps in data.items()),
                ", ".join(f"{name} {ps / 1e9:.0f} ms" for name, ps in data.items()),
            ),
            Claim(
                "Two planes at once halve the array program time",
                abs(shares["TIN"][3] / shares["TIN"][0] - 0.5) < 0.01,
                f"{shares['TIN'][0]:,.0f} and {shares['TIN'][3]:,.0f} ms",
            ),
        ],
        explanation=[
            "Internal moves save exactly the stages TOR and TIR. Whether that matters depends "
            "on their duration relative to TIN (figure 2.15).",
        ],
        data={"stage_ms": shares, "modes": list(found)},
    )
