"""The reading that the figures follow, the other that the text allows, and each rule by itself."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from wordline.config import Value
from wordline_studies.cases import by_load
from wordline_studies.figure import Figure, Row, Setup
from wordline_studies.measures import gain, iops
from wordline_studies.paq.charts import PUBLISHED
from wordline_studies.paq.loads import TABLE
from wordline_studies.paq.runs import closed, mb_per_s
from wordline_studies.paq.schedulers import BOTH, VAQ, A, Reading, Runs

TOLD = (
    "The sweep: `prev_tag := check_and_wait(ch_id, flash_id)` (Algorithm 2, line 4) stands inside "
    "loops over channels and packages. PAQ1 and PAQ2 visit packages in turn, those of a channel "
    "after each other; one with nothing waiting is passed over, one that cannot take what waits "
    "for it holds up the sweep.",
    "The part: `a read operation takes 180 us (including NAND flash I/O bus activities)` (6.6.3), "
    "`Based on a 4 KB page size, read, write and block erase latencies are 183.2 us, 860.36 us, "
    "and 2 ms` (a footnote of 7.6), `still limited by about 40MB/sec` (3.1). The rate of the bus "
    "was settled after 20, 25 and 30 ns a byte had been tried.",
    "Writes: `the FTL of the SSD will work to split up and stripe that sequential request or "
    "simply will send the random requests down separate channels` (6.3): pages are placed as they "
    "come, in turn over the channels first, then packages. That they `are destined for packages "
    "and dies that are the least busy` follows from it where all take equally long; under PAQ2, "
    "where writes do not wait, it is shown as a rule by itself. Under PAQ1 and PAQ2 they do not "
    "wait: `For requests that are not a read, the PHY sends acknowledgment first and bypasses the "
    "request to the underlying FTL` (6.4.5). Under VAQ and PAQ0, which is `only using our "
    "plane-packing optimization` (6.5.2), they wait in line, and PAQ0 packs waiting ones of any "
    "requests as it does reads.",
    "VAQ, reading A, which the figures follow: a request begins when no package that it needs is "
    "used by another, and all behind it wait. Requests 1 and 2 of the worked example share a "
    "package and no die, and `VAQ scheduling (see Figure 6.6(b)) requires six request sets with "
    "only two requests interleaved` (6.4.3): at dies they would be four. "
    "Pages are striped over the device by their address (section 3.2).",
    "VAQ, reading B: a page waits for its die, and all behind it wait: two pages of request 2 "
    "`both attempt to access die 1 in package 1 on channel 1, which stall the FTL` (6.4.3). The "
    "sets would be three. Addresses do not say where pages lie: others profit from `artificial "
    "alignment of LBAs and physical addresses` (6.7), and in figure 6.5 two pages of a request lie "
    "on one die. That there are two readings was seen after seeing results; A stands first for the "
    "sets of the worked example.",
)
# Each rule of the reading by itself: what the schedulers get instead. Chapter 3's part has pages of
# 2 KiB, so that a page of the load is two of its.
CHAPTER_3: dict[str, Value] = {
    "nand.cell.mlc-alpha.lambda": 2,
    "nand.geometry.page_bytes": 2048,
    "nand.timing.read_ns": 50_000,
    "nand.timing.program_ns": [250_000, 2_200_000],
    "nand.timing.erase_ns": 2_500_000,
}
FAST_BUS: dict[str, Value] = {"nand.timing.bus_mt_per_s": 50.0}
# Section 6.2.1: the hardware abstraction layer polls "using the ready/busy pins".
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
    "a bus of 20 ns a byte": dict.fromkeys((VAQ, BOTH), FAST_BUS),
    "pins tell that dies are ready": dict.fromkeys((VAQ, BOTH), PINS),
    "a search that takes no time": {BOTH: {"ssd.scheduler.paq2.search_ns": 0}},
}


def rules(setup: Setup, paths: Mapping[str, Path], base: Mapping[str, Runs]) -> Figure:
    """Requests a second with one rule left out at a time."""
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
                f"{rule}: PAQ2 over VAQ, mean",
                fmean(one.values()),
                "%",
                PUBLISHED("6.9", "gain, mean"),
            ),
            Row(f"{rule}: most", max(one.values()), "%", PUBLISHED("6.9", "gain, most")),
            Row(f"{rule}: msnfs4", one["msnfs4"], "%", PUBLISHED("6.9", "msnfs4")),
            Row(f"{rule}: web1", more[rule]["web1"], "MB/s"),
        ]
    return Figure(
        id="rules",
        title="Each rule by itself",
        section="6.3 to 6.6",
        measured="Requests a second of PAQ2 over those of VAQ in the runs of figure 6.8, with one "
        "rule of the reading changed at a time.",
        rows=rows,
        explanation=[
            "The sweep in turn, the part and what VAQ stalls at decide the means; that writes wait "
            "in VAQ's queue decides what msnfs4 gains. A faster bus gives the web loads the 100 "
            "MB/s that are published of them, and msnfs4 more than is.",
        ],
        data={"gain_percent": gains, "more_mb_per_s": more},
    )


def figure(others: Mapping[Reading, Sequence[Figure]]) -> Figure:
    """What is read, and how the claims come out under the other reading."""
    claims = [
        (reading, one.id, claim)
        for reading, figures in others.items()
        for one in figures
        for claim in one.claims
    ]
    rows = [
        Row(
            f"reading {reading.name}: claims of figures 6.8 to 6.12 that hold",
            float(sum(claim.holds for other, _, claim in claims if other == reading)),
            f"of {sum(other == reading for other, _, _ in claims)}",
        )
        for reading in others
    ]
    rows += [
        Row(f"reading {reading.name}, {one.id}: {row.what}", row.ours, row.unit, row.published)
        for reading, figures in others.items()
        for one in figures
        for row in one.rows
        if row.published
    ]
    return Figure(
        id="reading",
        title="The reading",
        section="6.3 to 6.6",
        measured="What the text is taken to say. Under reading B figures 6.8 to 6.12 are made "
        "again, with the same loads; not with `--quick`.",
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
