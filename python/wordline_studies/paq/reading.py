"""The interpretation of the thesis that the figures follow, the other possible one, and each rule
by itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from wordline.config import Value
from wordline_studies.cases import by_load
from wordline_studies.figure import Figure, Row, Setup
from wordline_studies.measures import gain, iops
from wordline_studies.paq.loads import TABLE
from wordline_studies.paq.runs import closed, mb_per_s
from wordline_studies.paq.schedulers import BOTH, VAQ, A, Reading, Runs

TOLD = (
    "Sweep: the function that checks a package and waits for it is inside loops over channels "
    "and packages (Algorithm 2, line 4). PAQ1 and PAQ2 visit packages in turn, those of a "
    "channel one after the other. A package without waiting pages is skipped; one that cannot "
    "accept its pages stops the sweep.",
    "Choice at a package: the page with the lowest-level conflict, over all requests in the queue "
    "(6.4.3). Algorithm 2 asks for pages of the current request first, and then for any other. "
    "The first clump of the worked example would then have page 21 instead of page 1, which the "
    "document names.",
    "Part: a read takes 180 us including the bus (6.6.3). For pages of 4 KB, read, write and "
    "erase take 183.2 us, 860.36 us and 2 ms (a footnote of 7.6), and the bus transfers about "
    "40 MB/s (3.1). The rate of the bus was chosen after trying 20, 25 and 30 ns per byte.",
    "Writes: the FTL stripes them over the channels (6.3). Pages are allocated in order of "
    "arrival, over the channels first, then over the packages. Allocation to the least busy "
    "packages and dies is equivalent if all take equally long; for PAQ2, under which writes do "
    "not wait, a separate rule shows its effect. Under PAQ1 and PAQ2, writes do not wait: "
    "requests other than reads are acknowledged first and bypass the queue (6.4.5). Under VAQ "
    "and PAQ0, which only packs planes (6.5.2), they wait in the queue, and PAQ0 packs waiting "
    "writes of any requests as it packs reads.",
    "VAQ, reading A (used in the figures): a request starts when no other request uses a "
    "package that it needs, and all later requests wait. Requests 1 and 2 of the worked "
    "example share a package but no die, and VAQ needs six request sets for the example, with "
    "only two requests interleaved (6.4.3); with conflicts at dies, there would be four. Pages "
    "are striped over the device by address (section 3.2).",
    "VAQ, reading B: a page waits for its die, and all later pages wait. Two pages of request "
    "2 need the same die and stall the FTL (6.4.3). The example would need three sets. "
    "Physical positions do not follow addresses: other schedulers profit from an alignment of "
    "the two (6.7), and in figure 6.5 two pages of a request are on one die. The two readings "
    "were identified after seeing results; the figures use A because it gives the six request "
    "sets of the worked example.",
)
# Settings that replace each rule of the reading on its own. The flash part of chapter 3 has pages
# of 2 KiB, so a page of the load is two pages of that part.
CHAPTER_3: dict[str, Value] = {
    "nand.cell.mlc-alpha.lambda": 2,
    "nand.geometry.page_bytes": 2048,
    "nand.timing.read_ns": 50_000,
    "nand.timing.program_ns": [250_000, 2_200_000],
    "nand.timing.erase_ns": 2_500_000,
}
FAST_BUS: dict[str, Value] = {"nand.timing.bus_mt_per_s": 50.0}
# Section 6.2.1: the hardware abstraction layer polls the ready/busy pins.
PINS: dict[str, Value] = {"nand.timing.ready_busy_pin": True}
RULES: dict[str, dict[str, dict[str, Value]]] = {
    "no sweep in turn": {BOTH: {"ssd.scheduler.paq2.in_turn": False}},
    "a request stalls at dies": {VAQ: {"ssd.scheduler.vaq.conflict": "die"}},
    "a request stalls at channels": {VAQ: {"ssd.scheduler.vaq.conflict": "channel"}},
    "VAQ's writes do not wait": {VAQ: {"ssd.scheduler.vaq.holds_writes": False}},
    "PAQ2's writes go to the least busy die": {
        BOTH: {"ftl.allocate": {"least-busy": {"order": "CWDP"}}}
    },
    "chapter 3's part": dict.fromkeys((VAQ, BOTH), CHAPTER_3),
    "a bus of 20 ns per byte": dict.fromkeys((VAQ, BOTH), FAST_BUS),
    "ready/busy pins": dict.fromkeys((VAQ, BOTH), PINS),
    "a search that takes no time": {BOTH: {"ssd.scheduler.paq2.search_ns": 0}},
}


def rules(setup: Setup, paths: Mapping[str, Path], base: Mapping[str, Runs]) -> Figure:
    """Returns the figure for IOPS with one rule of the reading changed at a time."""
    runs = by_load(
        setup,
        {
            (load, f"{rule}: {scheduler}"): closed(load, paths[load], scheduler, more=more)
            for load in TABLE
            for rule, changes in RULES.items()
            for scheduler, more in changes.items()
        },
    )[0]
    pairs = {"the reading": {load: (one[VAQ], one[BOTH]) for load, one in base.items()}}
    for rule in RULES:
        pairs[rule] = {
            load: (
                runs[load].get(f"{rule}: {VAQ}", base[load][VAQ]),
                runs[load].get(f"{rule}: {BOTH}", base[load][BOTH]),
            )
            for load in TABLE
        }
    gains = {
        rule: {load: gain(iops(first), iops(last)) for load, (first, last) in one.items()}
        for rule, one in pairs.items()
    }
    more = {
        rule: {load: mb_per_s(last) - mb_per_s(first) for load, (first, last) in one.items()}
        for rule, one in pairs.items()
    }
    rows: list[Row] = []
    for rule, one in gains.items():
        rows += [
            Row(
                f"{rule}: IOPS gain of PAQ2 over VAQ, mean",
                fmean(one.values()),
                "%",
            ),
            Row(f"{rule}: IOPS gain of PAQ2 over VAQ, maximum", max(one.values()), "%"),
            Row(f"{rule}: IOPS gain of PAQ2 over VAQ, msnfs4", one["msnfs4"], "%"),
            Row(f"{rule}: bandwidth gain of PAQ2 over VAQ, web1", more[rule]["web1"], "MB/s"),
        ]
    return Figure(
        id="rules",
        title="Each rule by itself",
        section="6.3 to 6.6",
        measured=(
            "IOPS of PAQ2 relative to VAQ in the runs of figure 6.8, with one rule of the "
            "reading changed at a time."
        ),
        rows=rows,
        explanation=[
            "The mean gains depend on the sweep in turn, the flash part, VAQ's conflicts and the "
            "placement of pages (see Orders of placement). The gain of msnfs4 depends on the wait "
            "of writes in VAQ's queue. A faster bus gives the web loads their published 100 MB/s, "
            "but msnfs4 more than published.",
        ],
        data={"gain_percent": gains, "more_mb_per_s": more},
    )


def figure(others: Mapping[Reading, Sequence[Figure]]) -> Figure:
    """Returns the figure that describes the reading, with the verdicts of the claims under the
    other reading."""
    claims = [
        (reading, one.id, claim)
        for reading, figures in others.items()
        for one in figures
        for claim in one.claims
    ]
    rows = [
        Row(
            f"reading {reading.name}: number of claims of figures 6.8 to 6.12 that hold",
            float(sum(claim.holds is True for other, _, claim in claims if other == reading)),
            f"of {sum(other == reading for other, _, _ in claims)}",
        )
        for reading in others
    ]
    rows += [
        Row(
            f"reading {reading.name}, figure {one.id}: {row.what}",
            row.ours,
            row.unit,
            row.published,
            other_reading=True,
        )
        for reading, figures in others.items()
        for one in figures
        for row in one.rows
        if row.published and reading != A
    ]
    return Figure(
        id="reading",
        title="Interpretation of the thesis",
        section="6.3 to 6.6",
        measured=(
            "The interpretation of the text that the figures follow (reading A). Figures 6.8 to "
            "6.12 are repeated under reading B with the same loads, but not with `--quick`."
        ),
        rows=rows,
        explanation=[
            *TOLD,
            *(
                f"Reading {reading.name}, figure {name}: {claim.text}: "
                f"{'holds' if claim.holds else 'does not hold'} ({claim.detail})."
                for reading, name, claim in claims
                if reading != A
            ),
        ],
        data={
            "claims": [
                {
                    "reading": reading.name,
                    "figure": name,
                    "text": claim.text,
                    "holds": claim.holds,
                    "detail": claim.detail,
                }
                for reading, name, claim in claims
            ]
        },
    )
