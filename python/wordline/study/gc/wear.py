"""Figure 7.15: what collections are made for, and erases by the free block threshold."""

from collections.abc import Mapping

from wordline.config import Value
from wordline.study.cases import required
from wordline.study.charts import bars, lines
from wordline.study.figure import Claim, Figure, Plot, Row, Setup
from wordline.study.gc.charts import PUBLISHED
from wordline.study.gc.loads import (
    AT_ONCE,
    OF_64_GB,
    PAGE,
    TABLE,
    Kind,
    count,
    duration_s,
    of_disk,
    requests,
)
from wordline.study.gc.responses import RETURNS
from wordline.study.gc.runs import ADVANCED, DELAYED, DEMAND, PLANES, Load, case, collected, erases
from wordline.study.gc.schemes import BLOCKS, BOTH, H_BOTH, SCHEMES, H, L
from wordline.study.measures import gain
from wordline.study.traces import Request, written
from wordline.summary import Summary

DISKS = (0, 1, 4, 5)
# A load of which full update blocks are to be had: 80 % writes of 128 KiB to 2 % of the disk.
LOCAL, LOCAL_REQUESTS, LOCAL_S = "2 % of a disk", 24_000, 17_000.0
LOCAL_SHARE, LOCAL_PAGES = 0.02, 32
THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.43, 0.5, 0.6, 0.71, 0.8, 0.9, 1.0)
FEWER = (0.1, 0.43, 1.0)
# Where a disk is said to know of commands for as long as the longest pause that is not long.
FAR: dict[str, Value] = {"ftl.gc.schedule.agc-dgc.agc": {"look_ahead_ms": 1000.0}}
PARTS = {"AGC": "#7cc0ea", "DGC": "#1f78b4", "on demand": "#d8731c"}
BLOCKS_OF_A_DISK = 64 * BLOCKS
# As many: by less than so many per cent.
EQUAL = 1
DELAY = (
    "a block that replaces a full one is erased with the few pages that it has got by the next "
    "pause: three erases where L-FTL makes two"
)
SHORT_RUN = (
    "and so short a run begins with free blocks few everywhere, so that nearly all that is put off "
    "is put off for want of them"
)
FEW_PAGES = (
    "what is collected are logical blocks whose writes found too few free blocks, which were put "
    "off for it; compaction is of full update blocks, and the erases published leave "
    "none: 21 a block with the 30 GiB of disk 5 are a merge for every {pages:.1f} pages written, "
    "where an update block has 128"
)


def figures(setup: Setup) -> list[Figure]:
    """Breakdown and thresholds."""
    made = {f"SSD{disk}": of_disk(setup, disk) for disk in DISKS} | {LOCAL: _local()}
    with written(made) as paths:
        loads = {
            name: Load(name, path, LOCAL_S)
            if name == LOCAL
            else Load(name, path, duration_s(setup), worn=setup.quick)
            for name, path in paths.items()
        }
        found = required(
            setup,
            {
                (name, scheme): case(load, scheme)
                for name, load in loads.items()
                for scheme in (L, BOTH, *((H, H_BOTH) if name in ("SSD5", LOCAL) else ()))
            },
        )
        far = required(setup, {name: case(loads[name], BOTH, FAR) for name in ("SSD5", LOCAL)})
        thresholds = FEWER if setup.quick else THRESHOLDS
        swept = required(
            setup,
            {
                (name, one): case(
                    loads[name],
                    BOTH,
                    {"ftl.gc.schedule.agc-dgc.agc": {"compact_below_ratio": one}},
                )
                for name in ("SSD5", LOCAL)
                for one in (thresholds if name == LOCAL else FEWER)
            },
        )
    return [_breakdown(setup, found, far), _thresholds(setup, found, swept)]


def _local() -> "list[Request]":
    kind = Kind(0.8, LOCAL_PAGES, (1 - 0.346) * AT_ONCE, 0.346, 2.0)
    share = (round(LOCAL_SHARE * OF_64_GB),)
    return list(requests(lambda _: kind, LOCAL_REQUESTS, 11, sizes=share))


def _shares(summary: Summary) -> dict[str, float]:
    """What collections were made for. Per cent."""
    everything = collected(summary)
    parts = dict(zip(PARTS, (ADVANCED, DELAYED, DEMAND), strict=True))
    return {
        part: 100 * collected(summary, triggers) / everything if everything else 0.0
        for part, triggers in parts.items()
    }


def _pages_a_merge() -> float:
    """Pages written for each merge of two blocks, by the published erases of a disk."""
    merges = 21 * BLOCKS_OF_A_DISK / 2
    return TABLE[5].written_kib * 1024 / PAGE / merges


def _breakdown(
    setup: Setup, found: Mapping[tuple[str, str], Summary], far: Mapping[str, Summary]
) -> Figure:
    names = [f"SSD{disk}" for disk in DISKS]
    shares = {name: _shares(found[name, BOTH]) for name in [*names, LOCAL]}
    on_h = shares[f"{LOCAL}, H-FTL"] = _shares(found[LOCAL, H_BOTH])
    shares |= {f"{name}, tags 1 s ahead": _shares(one) for name, one in far.items()}
    table = {name: shares[name] for name in names}
    least = min(one["AGC"] for one in table.values())
    most = max(one["DGC"] for one in table.values())
    change = {
        name: gain(erases(found[name, L]), erases(found[name, BOTH])) for name in [*names, LOCAL]
    }
    more = sum(erases(found[name, BOTH]) - erases(found[name, L]) for name in names)
    mean = 100 * more / sum(erases(found[name, L]) for name in names)
    hybrid = {
        name: gain(erases(found[name, H]), erases(found[name, H_BOTH])) for name in ("SSD5", LOCAL)
    }
    because = FEW_PAGES.format(pages=_pages_a_merge())
    local = found[LOCAL, BOTH]
    compactions, ahead = (collected(local, (one,)) for one in ("compaction", "look-ahead"))
    return Figure(
        id="7.15a",
        title="Figure 7.15(a): what collections are made for",
        section="7.6.5",
        measured="Collections under AGC+DGC on L-FTL by what started them: AGC (look-ahead and "
        "proactive compaction), DGC (retroactive compaction of what was put off), or a write that "
        "could not go on. Disks 2 and 3 are left out, which have few requests. "
        f"{LOCAL}: {LOCAL_REQUESTS:,} requests of 128 KiB, 80 % writes, all to so little that "
        "update blocks fill. Tags 1 s ahead: commands are known for as long before they come as "
        "the longest pause that is not a long one.",
        rows=[
            *(
                Row(f"{name}: {part}", value, "%",
                    {"AGC": PUBLISHED("7.15a", "share of AGC, at least"),
                     "DGC": PUBLISHED("7.15a", "share of DGC, at most")}.get(part))
                for name, one in shares.items() for part, value in one.items()
            ),
            *(
                Row(f"{name}: erases of AGC+DGC against L-FTL", value, "%",
                    PUBLISHED("7.15a", "erases against L-FTL"))
                for name, value in change.items()
            ),
            *(
                Row(f"{LOCAL}, {SCHEMES[scheme].title}: erases a collection",
                    erases(found[LOCAL, scheme]) / max(1, collected(found[LOCAL, scheme])), "")
                for scheme in (L, BOTH)
            ),
            *(
                Row(f"{name}: erases of AGC+DGC on H-FTL against H-FTL", value, "%")
                for name, value in hybrid.items()
            ),
        ],
        plots=[Plot("Collections", "By what started them.",
                    bars(shares, PARTS, "% of collections", stacked=True))],
        claims=[
            Claim("AGC makes at least 80 % of the collections", least >= 80,
                  f"from {least:.1f} % on", because=because),
            Claim("DGC makes at most 20 %", most <= 20, f"up to {most:.1f} %", because=because),
            Claim("Compaction is the majority of AGC's", compactions > ahead,
                  f"{LOCAL}: {compactions:,} and {ahead:,} by look-ahead"),
            Claim("AGC makes at least 80 % and DGC at most 20 % on H-FTL where update blocks fill",
                  on_h["AGC"] >= 80 and on_h["DGC"] <= 20,
                  f"{on_h['AGC']:.1f} and {on_h['DGC']:.1f} %"),
            Claim("AGC finds more to do where update blocks fill",
                  shares[LOCAL]["AGC"] > max(one["AGC"] for one in table.values()),
                  f"{shares[LOCAL]['AGC']:.1f} %"),
            Claim("AGC+DGC does not erase more than L-FTL (but for a collection a plane)",
                  more <= 2 * PLANES * len(names), f"{mean:+.2f} %",
                  because=f"{RETURNS}; {SHORT_RUN}" if setup.quick else ""),
            Claim("not even where update blocks fill", change[LOCAL] < EQUAL,
                  f"{change[LOCAL]:+.1f} %", because=DELAY),
            Claim("but 16.6 % less, within 10 points", abs(mean + 16.6) <= 10, f"{mean:+.2f} %",
                  because=RETURNS),
        ],
        explanation=[
            f"The published numbers bound each other: 21 erases a block of 64 GiB with table 7.1's "
            f"30 GiB written to disk 5 are a merge for every {_pages_a_merge():.1f} pages. With "
            "collections of full update blocks alone it would be fewer than one erase a block.",
        ],
        data={"shares_percent": shares, "erases_change_percent": change | {"mean": mean},
              "erases_change_h_percent": hybrid},
    )  # fmt: skip


def _thresholds(
    setup: Setup,
    found: Mapping[tuple[str, str], Summary],
    swept: Mapping[tuple[str, float], Summary],
) -> Figure:
    base = {name: erases(found[name, L]) for name in ("SSD5", LOCAL)}
    over = {
        name: {100 * one: 100 * erases(swept[where, one]) / base[where]
               for where, one in swept if where == name}
        for name in base
    }  # fmt: skip
    local = over[LOCAL]
    best = min(local, key=lambda one: local[one])
    above = {one: value for one, value in local.items() if one > 71}
    below = {one: value for one, value in local.items() if one < 43}
    full = TABLE[5].requests / count(setup, 5)
    whole = {
        scheme: erases(found["SSD5", scheme]) * full / BLOCKS_OF_A_DISK for scheme in (L, BOTH)
    }
    because = (
        "only full update blocks are compacted, and those are merged sooner or later in any case; "
        "the sooner, the fewer have to be replaced while the host waits, each of which is one more "
        "block to erase"
    )
    ends = [100.0 * one for one in (min(THRESHOLDS), max(THRESHOLDS))]
    return Figure(
        id="7.15b",
        title="Figure 7.15(b): erases by the free block threshold",
        section="7.6.5",
        measured="Erases of AGC+DGC over those of L-FTL, with `compact_below_ratio` from 0.1 to "
        f"1.0, under the load of SSD5 and under {LOCAL}.",
        rows=[
            Row("SSD5, L-FTL: erases a block, if all requests of the row erase as these",
                whole[L], "", PUBLISHED("7.15b", "erases a block, L-FTL")),
            Row("SSD5, AGC+DGC: the same", whole[BOTH], ""),
            Row(f"{LOCAL}: threshold with the fewest erases", best, "%",
                PUBLISHED("7.15b", "best threshold, below")),
            *(
                Row(f"{name}: below {threshold:.0f} %", value, "% of L-FTL's")
                for name, one in over.items() for threshold, value in one.items()
            ),
        ],
        plots=[Plot("Erases", "Per cent of those of L-FTL (line at 100).",
                    lines(over | {"L-FTL": dict.fromkeys(ends, 100.0)},
                          {"SSD5": "#12a07a", LOCAL: "#1f78b4", "L-FTL": SCHEMES[L].colour},
                          "free block threshold (%)", "% of L-FTL's erases"))],
        claims=[
            Claim("The best threshold is below 43 %", best < 43, f"{best:.0f} %", because=because),
            Claim("Above 71 % AGC+DGC erases more than L-FTL, and below 43 % it does not",
                  all(value > 100 for value in above.values())
                  and all(value <= 100 for value in below.values()),
                  f"up to {max(above.values()):.1f} and {max(below.values()):.1f} %",
                  because=because),
            Claim("On SSD5 the threshold changes nothing (by less than 1 %)",
                  max(over["SSD5"].values()) - min(over["SSD5"].values()) < 1,
                  ", ".join(f"{value:.1f} %" for value in over["SSD5"].values())),
        ],
        explanation=[
            "The erases a block of SSD5 are those of its requests simulated, times those of the "
            "row. Nothing was fitted to the 21: sizes and shares are table 7.1's, and the places "
            "of the writes are as spread as in the recorded requests of that disk.",
        ],
        data={"erases_percent": over, "erases_a_block": whole},
    )  # fmt: skip
