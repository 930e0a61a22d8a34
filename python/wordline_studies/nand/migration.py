"""Figures 2.15 and 2.17: block migration."""

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from wordline._api.package import MigrateMode, Report
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain
from wordline_studies.nand.cycles import ARRAY, DATA, STAGES, stacked
from wordline_studies.nand.modes import PUBLISHED, SLC, lines, part
from wordline_studies.outcome import PER_CENT, is_reproduced

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
Latency = dict[str, list[float]]
"""Time of a migration by mode, for each of `BLOCKS`. Milliseconds."""
EXPLANATION = [
    "The text does not state the number of dies. It states that the modes differ more with more "
    "blocks, which holds for each pair only if blocks are on several dies, and that the host "
    "manages a copy but not an internal move (section 2.3.2). With two dies, the fast modes are "
    "faster than all slow modes.",
    "A page takes a read (50 µs), a program (1,194.5 µs on average) and, except for "
    "internal moves, 102.4 µs of data on the bus. Every mode performs the programs, "
    "one or two at a time on each die. Two planes therefore gain a factor of nearly two, and so "
    "do two dies. 2x internal uses both and is four times as fast as legacy and cache. The bus "
    "time, which is all that cache mode can hide, is at most 8 %.",
    "The text contradicts itself here. 2x doubles the throughput of legacy (section "
    "2.8.2). A mode twice as fast as legacy is therefore as fast as 2x, not twice as "
    "fast.",
    "On one die, internal data move is hardly faster than legacy. For a factor of two, data "
    "transfer would have to take as long as the array: 1,244.5 µs for a page out and in, which "
    "means a bus of 3.3 MB/s. The text gives about equal times for data out and array read "
    "(figure 2.14). If every program took the shortest time, 250 µs, the factor would be 402 / "
    "300 = 1.34.",
    "Two blocks are interpreted as one source and one destination, so there is no second block "
    "for another plane or die. With two sources, the modes differ by more than a factor of two, "
    "as with more blocks.",
]


def figures(setup: Setup) -> list[Figure]:
    """Returns figures 2.15 and 2.17, from the same runs."""
    found, one = (_reports(setup, dies) for dies in (2, 1))
    return [_performance(setup, found, _latency(one)), _stages(found)]


def _reports(setup: Setup, dies: int) -> Reports:
    """Returns the migrations by mode, for each of `BLOCKS`. The host copies one block after the
    other; internal moves proceed on all dies."""
    package = part(setup, dies=dies)
    return {
        name: [
            package.migrate(blocks // 2, mode, interleaved=dies > 1 and "move" in mode)
            for blocks in BLOCKS
        ]
        for mode, name in NAMES.items()
    }


def _latency(found: Reports) -> Latency:
    return {name: [one["elapsed_ps"] / 1e9 for one in of] for name, of in found.items()}


def _performance(setup: Setup, found: Reports, one: Latency) -> Figure:
    latency = _latency(found)
    energy = {
        name: [report["energy_nj"]["total"] / 1e6 for report in reports]
        for name, reports in found.items()
    }
    rows = [
        Row(
            f"migration time, {pair}{', one die' if of is one else ''}",
            ratios[-1],
            "times",
            PUBLISHED("2.15", "migration time of a slow mode over that of a fast mode"),
            other_reading=of is one,
        )
        for of in (latency, one)
        for pair, ratios in _ratios(of).items()
    ]
    rows += [
        Row(f"energy of the migration, {name}", values[-1], "mJ") for name, values in energy.items()
    ]
    return Figure(
        id="2.15",
        title="Figure 2.15: block migration",
        section="2.8.3",
        measured=(
            "Destination blocks are erased, all pages of the source blocks are copied to them, "
            "and the source blocks are erased, on two dies of MLC1 in each of six operation modes. "
            "The host copies one block after the other, while internal moves, in which it has no "
            "part, proceed on both dies. "
            f"The number of blocks counts sources and destinations: {BLOCKS[0]} blocks are one of "
            f"each. The table is for {BLOCKS[-1]} blocks. In a second interpretation, the package "
            "has one die."
        ),
        rows=rows,
        plots=[
            Plot(
                "Latency",
                "Time until the last erase is complete. Internal moves use both dies at once.",
                lines(BLOCKS, latency, "blocks", "ms", log=True),
            ),
            Plot(
                "Latency, one die",
                "Time until the last erase is complete, on one die.",
                lines(BLOCKS, one, "blocks", "ms", log=True),
            ),
            Plot(
                "Energy",
                "Energy of the array, the bus and standby.",
                lines(BLOCKS, energy, "blocks", "mJ", log=True),
            ),
        ],
        claims=[*_claims(setup, latency, energy), *_on_one_die(one)],
        explanation=EXPLANATION,
        data={
            "blocks": list(BLOCKS),
            "latency_ms": latency,
            "latency_ms_one_die": one,
            "energy_mj": energy,
        },
    )


def _claims(setup: Setup, latency: Latency, energy: dict[str, list[float]]) -> list[Claim]:
    last = {name: values[-1] for name, values in latency.items()}
    few = {name: values[0] for name, values in latency.items()}
    apart = gain(min(few.values()), max(few.values()))
    return [
        *_speed_ups(last),
        Claim(
            "2x internal is the fastest mode",
            last["2x internal"] < min(ms for name, ms in last.items() if name != "2x internal"),
            ", ".join(f"{name} {ms:,.0f} ms" for name, ms in last.items()),
            ids=("J2-069",),
        ),
        Claim(
            "Internal data moves take less time than copies of the same pages over the bus",
            last["internal"] < last["legacy"] and last["2x internal"] < last["2x"],
            f"{last['legacy'] / last['internal']:.2f} and "
            f"{last['2x'] / last['2x internal']:.2f} times",
            ids=("J2-020",),
        ),
        Claim(
            f"Two blocks: the modes differ by at most {PER_CENT:g} %",
            apart <= PER_CENT,
            f"slowest over fastest {apart:+.1f} %",
            ids=("J2-066",),
        ),
        _growing(latency),
        _energy(setup, [values[-1] for values in energy.values()]),
    ]


def _speed_ups(last: dict[str, float]) -> list[Claim]:
    single = {f"{slow} over internal": last[slow] / last["internal"] for slow in SLOW[:2]}
    planes = {f"{slow} over 2x cache": last[slow] / last["2x cache"] for slow in SLOW[:2]}
    both = {f"{slow} over 2x internal": last[slow] / last["2x internal"] for slow in SLOW[:2]}
    return [
        Claim(
            f"Internal data move and 2x cache are twice as fast as legacy and cache, within "
            f"{PER_CENT:g} %",
            all(is_reproduced(one, 2, "times") for one in (single | planes).values()),
            _listed(single | planes),
        ),
        Claim(
            f"2x internal is twice as fast as legacy and cache, within {PER_CENT:g} %",
            all(is_reproduced(one, 2, "times") for one in both.values()),
            _listed(both),
            because="2x internal programs on two planes of two dies at once, legacy and cache on "
            "one plane",
        ),
        Claim(
            f"2x cache is twice as fast as 2x, within {PER_CENT:g} %",
            is_reproduced(last["2x"] / last["2x cache"], 2, "times"),
            f"{last['2x'] / last['2x cache']:.2f} times",
            because="2x already programs two pages at once, and only the bus time is left to hide",
        ),
    ]


def _listed(ratios: Mapping[str, float]) -> str:
    return ", ".join(f"{pair} {ratio:.2f} times" for pair, ratio in ratios.items())


def _ratios(latency: Latency) -> dict[str, list[float]]:
    """Returns the time of each slow mode over that of each fast one, for each of `BLOCKS`."""
    return {
        f"{slow} over {fast}": [a / b for a, b in zip(latency[slow], latency[fast], strict=True)]
        for slow in SLOW
        for fast in FAST
    }


def _on_one_die(latency: Latency) -> list[Claim]:
    moved = _ratios(latency)["legacy over internal"][-1]
    return [
        replace(
            _growing(latency),
            text="One die: more blocks widen the gap between each slow and each fast mode",
            because=(
                "more blocks occupy the second plane, which only widens the gap between one-plane "
                "and two-plane modes; hidden or saved bus time is the same share of every block"
            ),
            ids=(),
        ),
        Claim(
            f"One die: internal data move is twice as fast as legacy, within {PER_CENT:g} %",
            is_reproduced(moved, 2, "times"),
            f"{moved:.2f} times",
            because=(
                "the program, 1,194.5 of 1,348 µs per page, remains; without bus transfers, a "
                "copy takes at most 8 % less time"
            ),
        ),
    ]


def _growing(latency: Latency) -> Claim:
    ratios = {pair: (of[0], of[-1]) for pair, of in _ratios(latency).items()}
    return Claim(
        "More blocks widen the gap between each slow mode (legacy, cache, 2x) and each fast mode "
        "(2x cache, internal, 2x internal)",
        all(more > less for less, more in ratios.values()),
        f"{BLOCKS[0]} and {BLOCKS[-1]} blocks: "
        + ", ".join(f"{pair} {less:.2f} and {more:.2f}" for pair, (less, more) in ratios.items()),
        ids=("J2-068",),
    )


def _energy(setup: Setup, spent: list[float]) -> Claim:
    spread = gain(min(spent), max(spent))
    sources = BLOCKS[-1] // 2
    slc = [
        part(setup, SLC, dies=2).migrate(sources, mode, interleaved="move" in mode)["energy_nj"]
        for mode in NAMES
    ]
    of_slc = [one["total"] for one in slc]
    return Claim(
        f"The energy of a migration is equal in all modes, within {PER_CENT:g} %",
        spread <= PER_CENT,
        f"within {spread:.1f} %: a page is programmed once in every mode, and internal moves save "
        "its bus energy; on SLC, with a fifth of the program time, within "
        f"{gain(min(of_slc), max(of_slc)):.0f} %",
        ids=("J2-070",),
    )


def _stages(found: Reports) -> Figure:
    shares = {
        stage: [reports[-1]["stage_ps"][stage] / 1e9 for reports in found.values()]
        for stage in STAGES
    }
    data = {
        name: sum(reports[-1]["stage_ps"][one] for one in DATA) for name, reports in found.items()
    }
    bus = {
        name: sum(shares[stage][place] for stage in STAGES if stage not in ARRAY)
        for place, name in enumerate(found)
    }
    return Figure(
        id="2.17",
        title="Figure 2.17: stages of a migration",
        section="2.8.3",
        measured=(
            f"Time by stage for the migration of {BLOCKS[-1]} blocks of figure 2.15. "
            "Time in which stages overlap counts towards each of them."
        ),
        rows=[
            Row(f"{name}: time of data transfers on the bus", ps / 1e9, "ms")
            for name, ps in data.items()
        ],
        plots=[
            Plot(
                "Time by stage",
                "Total time of each stage over the migration.",
                stacked(list(found), shares, "ms"),
            )
        ],
        claims=[
            Claim(
                "Internal data moves, which have neither data in nor data out, save most of the "
                "bus time",
                data["internal"] == data["2x internal"] == 0
                and 2 * bus["internal"] < bus["legacy"]
                and 2 * bus["2x internal"] < bus["2x"],
                ", ".join(f"{name} {ms:,.1f} ms" for name, ms in bus.items()),
                ids=("J2-020",),
            ),
            Claim(
                "Programming two planes at once halves the total time of array programs",
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
