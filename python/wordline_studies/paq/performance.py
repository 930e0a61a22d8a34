"""Figures 6.8 to 6.12: schedulers with a full queue. Also schedulers that are not in the document,
the cost of the search, and open-loop arrivals."""

from collections.abc import Container, Mapping, Sequence
from math import isnan
from pathlib import Path
from statistics import fmean

from wordline.summary import Summary
from wordline_studies.cases import by_load
from wordline_studies.figure import Claim, Figure, Plot, Published, Row, Setup
from wordline_studies.measures import gain, iops, latency_us, or_nan, over, over_loads
from wordline_studies.outcome import IN_POINTS, PER_CENT
from wordline_studies.paq import claims, layouts, reading
from wordline_studies.paq.charts import PUBLISHED, bars
from wordline_studies.paq.loads import FITTED, KNOWN, PAGE, TABLE, WEBS, written
from wordline_studies.paq.runs import (
    QUEUE,
    bus_s,
    closed,
    idle_s,
    mb_per_s,
    multi_plane,
    pages_per_command,
    read_us,
    request_pages,
    timed,
    unserved_s,
    waits_us,
    write_us,
)
from wordline_studies.paq.schedulers import (
    ALL,
    BOTH,
    PAQ,
    VAQ,
    VARIANTS,
    A,
    B,
    Runs,
    Values,
    gains,
    mean_gain,
    normalised,
    short,
)
from wordline_studies.traces import recorded

REQUESTS = 20_000
RUN = (
    f"Queue depth {QUEUE}, the size of the queue: when a request completes, the next is submitted."
)
# Arrival rate, as a share of VAQ's throughput with a full queue.
RATE = 0.5
INPUT = "the load is generated with the means of this table"
# The document's largest gain of PAQ2 over VAQ. Per cent.
MOST = 62.7
# Planes of a die.
PLANES = 2
# Bandwidth of all channels at 25 ns per byte. MB/s.
BUS_MB_PER_S = 8 * 40
BUS = (
    f"With a gain of at most {MOST} %, 100 MB/s more means at least 160 MB/s under VAQ and 260 "
    f"MB/s under PAQ2, which is {100 * 260 / BUS_MB_PER_S:.0f} % of the bus at 25 ns per byte. "
    "Reads of 3.75 pages leave half of VAQ's bus idle. At 20 ns per byte, the web loads gain "
    "about 100 MB/s, but msnfs4 gains more than published (see Each rule by itself)."
)


def idle_change(gain_percent: float, busy: float) -> float:
    """Returns the change of idle time if the same work completes sooner. Per cent.

    `busy` is the share of time in which dies work under VAQ.
    """
    return 100 * ((1 / (1 + gain_percent / 100) - busy) / (1 - busy) - 1)


Table = dict[str, Values]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for throughput, latency and die activity. `--quick` omits those of
    `variants`."""
    others = recorded(setup, KNOWN)
    with written(list(TABLE), setup.requests(REQUESTS)) as paths:
        runs, skipped = under_all(setup, paths | others, others)
        fitted = {load: runs[load] for load in TABLE}
        free = _free(setup, paths)
        made = _under(fitted)
        readings = {A: made} if setup.quick else {A: made, B: _under(_other(setup, paths))}
        more = [] if setup.quick else variants(setup, paths, fitted)
    bandwidth = _bandwidth(fitted, runs, skipped)
    return [
        reading.figure(readings),
        _loads(fitted),
        bandwidth,
        *made[1:],
        _packing(fitted),
        _all(fitted),
        _search(fitted, free),
        *more,
    ]


def under_all(
    setup: Setup, traces: Mapping[str, Path], recorded: Container[str] = ()
) -> tuple[dict[str, Runs], list[str]]:
    """Runs loads under every scheduler, like `wordline_studies.cases.by_load`."""
    count = setup.requests(REQUESTS)
    return by_load(
        setup,
        {
            (load, scheduler): closed(load, trace, scheduler, requests=_most(setup, load, count))
            for load, trace in traces.items()
            for scheduler in ALL
        },
        recorded,
    )


def variants(setup: Setup, paths: Mapping[str, Path], fitted: Mapping[str, Runs]) -> list[Figure]:
    """Returns the figures for single rules of the reading, orders of placement and arrivals in an
    open loop. They have neither claims nor published numbers. `fitted` are the runs of figure 6.8,
    by load."""
    rates = {load: round(RATE * iops(one[VAQ])) for load, one in fitted.items()}
    return [
        reading.rules(setup, paths, fitted),
        layouts.figure(setup, paths, fitted),
        _as_they_come(_arriving(setup, paths, rates)),
    ]


def _most(setup: Setup, load: str, count: int) -> int | None:
    """Returns the largest number of requests of a load; None for the trace of sql4, which is short
    enough to be replayed in full, except with `--quick`."""
    return None if load.startswith("sql4 (") and not setup.quick else count


def _under(fitted: dict[str, Runs]) -> list[Figure]:
    """Reproduces figures 6.8 to 6.12 from runs under a reading."""
    return [
        _bandwidth(fitted, fitted, ()),
        _iops(fitted),
        _latency(fitted),
        _idle(fitted),
        _contention(fitted),
    ]


def _other(setup: Setup, paths: Mapping[str, Path]) -> dict[str, Runs]:
    """Returns the runs under reading B."""
    return by_load(
        setup,
        {
            (load, scheduler): closed(load, trace, scheduler, reading=B)
            for load, trace in paths.items()
            for scheduler in VARIANTS
        },
    )[0]


def _free(setup: Setup, paths: Mapping[str, Path]) -> dict[str, Runs]:
    """Returns the runs in which the search of a scheduler takes no time."""
    return by_load(
        setup,
        {
            (load, scheduler): closed(
                load, trace, scheduler, more={f"ssd.scheduler.{scheduler}.search_ns": 0}
            )
            for load, trace in paths.items()
            for scheduler in PAQ
        },
    )[0]


def _arriving(
    setup: Setup, paths: Mapping[str, Path], rates: Mapping[str, float]
) -> dict[str, Runs]:
    return by_load(
        setup,
        {
            (load, scheduler): timed(load, trace, scheduler, rates[load])
            for load, trace in paths.items()
            for scheduler in ALL
        },
    )[0]


def _loads(fitted: dict[str, Runs]) -> Figure:
    rows: list[Row] = []
    for name, load in TABLE.items():
        told = fitted[name][VAQ]["input"]
        sizes = {
            "write": (told["written_bytes"], told["writes"], load.writes, load.sizes.write),
            "read": (told["read_bytes"], told["reads"], load.reads, load.sizes.read),
        }
        rows.append(
            Row(
                f"{name}: share of reads",
                100 * told["reads"] / told["requests"],
                "%",
                Published(round(load.read_percent, 2), "%", "table 6.1", fitted=INPUT),
            )
        )
        rows += [
            Row(
                f"{name}: mean size of a {kind}",
                moved / PAGE / served if served else None,
                "pages",
                Published(round(pages, 2), "pages", load.sizes.source, fitted=INPUT),
            )
            for kind, (moved, served, count, pages) in sizes.items()
            if count
        ]
    collected = sum(run["flash"]["gc_runs"] for runs in fitted.values() for run in runs.values())
    rows.append(Row("number of GC runs, all loads and schedulers", float(collected), ""))
    return Figure(
        id="table-6.1",
        title="Table 6.1: loads",
        section="6.5.3",
        measured=f"The requests that the device received. {FITTED}",
        rows=rows,
        explanation=[
            "The traces behind the table are not available. The loads have no property that the "
            "table does not give: popularity of addresses, distribution of sizes, arrival times, "
            "alternation of reads and writes.",
            "Sizes of table 3.1 are in units of 2 KiB, as its data volumes divided by the "
            "requests of table 6.1 show. fin1, fin2, web1, usr1, msnfs1 and sql1 to sql4 are "
            "in both tables (sql0 to sql3 in table 3.1). The disks of table 7.1 have the "
            "requests of msnfs1 to msnfs6, and their volumes over these requests are the sizes "
            "of msnfs2 to msnfs6. msnfs1 has the sizes of table 3.1; the printed write volume of "
            "disk 0 is a tenth of the volume that they give. usr2 has the "
            "sizes of table 2.2. web2 and web3 have the sizes of web1, usr3 those of usr1. prn "
            "has those of usr (assumed, both are volumes of file servers).",
            "sql4 is the volume web_3 of the traces of MSR Cambridge: 21,330 writes and 10,050 "
            "reads, as in the table. Given with `--traces`, it is replayed in full and shown next "
            "to figure 6.8.",
            "As printed, msnfs5 has the random shares of fin1, and msnfs3 is 500 sequential "
            "writes without a read.",
            "Blocks per plane and the flash part are not published (see the preset; 128 blocks "
            "here). The device is full at the start and has enough spare blocks for these runs.",
        ],
    )


def _rows(metric: str, values: Table) -> list[Row]:
    """Returns rows with the change of a metric from VAQ to PAQ2 per load, and from VAQ to each
    variant as the mean of the loads. Per cent."""
    return [
        *(
            Row(f"{load}: change of {metric}, PAQ2 against VAQ", value, "%")
            for load, value in gains(values, BOTH).items()
        ),
        *(
            Row(
                f"change of {metric}, {short(scheduler)} against VAQ, mean of the loads",
                mean_gain(values, scheduler),
                "%",
            )
            for scheduler in PAQ
        ),
    ]


def _bandwidth(fitted: dict[str, Runs], runs: dict[str, Runs], skipped: Sequence[str]) -> Figure:
    values = over_loads(fitted, mb_per_s)
    beside = {load: one for load, one in over_loads(runs, mb_per_s).items() if load not in TABLE}
    gained = gains(values, BOTH)
    more = {load: one[BOTH] - one[VAQ] for load, one in values.items()}
    great = [load for load, value in more.items() if value > 100]
    mean = mean_gain(values, BOTH)
    return Figure(
        id="6.8",
        title="Figure 6.8: bandwidth",
        section="6.6.1",
        measured=f"Bytes read and written per second. {RUN}",
        rows=[
            Row(
                "bandwidth gain of PAQ2 over VAQ, mean",
                mean,
                "%",
                PUBLISHED("6.8", "bandwidth gain of PAQ2 over VAQ, mean"),
            ),
            Row(
                "bandwidth gain of PAQ2 over VAQ, maximum",
                max(gained.values()),
                "%",
                PUBLISHED("6.8", "bandwidth gain of PAQ2 over VAQ, maximum"),
            ),
            Row(
                "number of loads that gain more than 100 MB/s",
                float(len(great)),
                "",
                PUBLISHED("6.8", "number of loads that gain more than 100 MB/s"),
            ),
            Row(
                "minimum bandwidth gain of web1 to web3",
                min(more[web] for web in WEBS),
                "MB/s",
                PUBLISHED("6.8", "minimum bandwidth gain of web1 to web3"),
            ),
            Row(
                "bandwidth gain of PAQ2 over VAQ, msnfs4",
                gained["msnfs4"],
                "%",
                PUBLISHED("6.8", "bandwidth gain of PAQ2 over VAQ, msnfs4"),
            ),
            *_rows("bandwidth", values),
            *(
                Row(f"{load}, recorded trace: bandwidth gain of PAQ2 over VAQ", value, "%")
                for load, value in gains(beside, BOTH).items()
            ),
        ],
        plots=[
            Plot("Bandwidth", "Generated loads.", bars(values, VARIANTS, "MB/s")),
            *(
                [
                    Plot(
                        "Recorded traces",
                        "Requests of recorded traces with a full queue.",
                        bars(beside, VARIANTS, "MB/s"),
                    )
                ]
                if beside
                else []
            ),
        ],
        claims=claims.of_bandwidth(values),
        explanation=[
            'Claims are taken literally. "Never" allows no exception. "Hardly", "little" and '
            f'"similar" mean within {IN_POINTS:g} % or percentage points, and "much" means more '
            f"than {PER_CENT:g} %. These are the tolerances of published numbers.",
            BUS,
            *skipped,
        ],
        data={"mb_per_s": values | beside},
    )


def _vaq(fitted: dict[str, Runs]) -> dict[str, Summary]:
    return {load: runs[VAQ] for load, runs in fitted.items()}


def _iops(fitted: dict[str, Runs]) -> Figure:
    values = over_loads(fitted, iops)
    gained = gains(values, BOTH)
    mean = mean_gain(values, BOTH)
    return Figure(
        id="6.9",
        title="Figure 6.9: IOPS",
        section="6.6.1",
        measured="Requests completed per second in the runs of figure 6.8.",
        rows=[
            Row(
                "IOPS gain of PAQ2 over VAQ, mean",
                mean,
                "%",
                PUBLISHED("6.9", "IOPS gain of PAQ2 over VAQ, mean"),
            ),
            Row(
                "IOPS gain of PAQ2 over VAQ, maximum",
                max(gained.values()),
                "%",
                PUBLISHED("6.9", "IOPS gain of PAQ2 over VAQ, maximum"),
            ),
            Row(
                "IOPS gain of PAQ2 over VAQ, msnfs4",
                gained["msnfs4"],
                "%",
                PUBLISHED("6.9", "IOPS gain of PAQ2 over VAQ, msnfs4"),
            ),
            *_rows("IOPS", values),
        ],
        plots=[
            Plot("Requests per second", "Generated loads.", bars(values, VARIANTS, "IOPS")),
        ],
        claims=claims.of_iops(
            values, over(_vaq(fitted), request_pages), over_loads(fitted, mb_per_s)
        ),
        data={"iops": values},
    )


def _latency(fitted: dict[str, Runs]) -> Figure:
    values = over_loads(fitted, latency_us)
    changed = gains(values, BOTH)
    mean = mean_gain(values, BOTH)
    reads, writes = (
        {load: one for load, one in over_loads(fitted, measure).items() if not isnan(one[VAQ])}
        for measure in (read_us, write_us)
    )
    return Figure(
        id="6.10",
        title="Figure 6.10: latency",
        section="6.6.2",
        measured="Mean time from admission to the queue to completion, in the runs of figure 6.8.",
        rows=[
            Row(
                "change of latency, PAQ2 against VAQ, mean",
                mean,
                "%",
                PUBLISHED("6.10", "change of latency, PAQ2 against VAQ, mean"),
            ),
            Row(
                "change of latency, PAQ2 against VAQ, largest reduction",
                min(changed.values()),
                "%",
                PUBLISHED("6.10", "change of latency, PAQ2 against VAQ, largest reduction"),
            ),
            *_rows("latency", values),
            *(
                Row(f"{load}: change of the latency of {words}, PAQ2 against VAQ", value, "%")
                for words, one in (("reads", reads), ("writes", writes))
                for load, value in gains(one, BOTH).items()
            ),
        ],
        plots=[Plot("Latency", "Generated loads.", bars(values, VARIANTS, "µs"))],
        claims=claims.of_latency(values, reads, writes),
        explanation=[
            "With a full queue, the mean latency is 32 requests divided by the requests completed "
            "per second (Little's law), so it adds nothing to figure 6.9. The document's numbers "
            "agree with that: 32.7 % more IOPS give 24.6 % less latency; 25.1 % is published. "
            "Open-loop latency is shown below.",
        ],
        data={"latency_us": values},
    )


def _idle(fitted: dict[str, Runs]) -> Figure:
    seconds = over_loads(fitted, idle_s)
    values = {load: normalised(one) for load, one in seconds.items()}
    changed = gains(values, BOTH)
    unserved = over_loads(fitted, unserved_s)
    return Figure(
        id="6.11",
        title="Figure 6.11: idle time of the dies",
        section="6.6.2",
        measured=(
            "Time in which the dies hold no transaction, relative to VAQ, in the runs of figure "
            "6.8."
        ),
        rows=[
            Row(
                "change of idle time, PAQ2 against VAQ, mean",
                mean_gain(values, BOTH),
                "%",
                PUBLISHED("6.11", "change of idle time, PAQ2 against VAQ, mean"),
            ),
            Row(
                "change of idle time, PAQ2 against VAQ, largest reduction of the loads that "
                "mostly read",
                min(changed[load] for load in claims.READING),
                "%",
                PUBLISHED("6.11", "change of idle time, PAQ2 against VAQ, largest reduction"),
            ),
            Row(
                "change of idle time including waits for the bus, PAQ2 against VAQ, mean",
                mean_gain(unserved, BOTH),
                "%",
            ),
            *_rows("idle time", values),
        ],
        plots=[Plot("Idle time", "Relative to VAQ.", bars(values, VARIANTS, "time / VAQ"))],
        claims=claims.of_idle(changed),
        explanation=[
            "The document defines idle time as the time in which a die serves no transaction. "
            "Under PAQ2, more transactions wait for the bus at their dies, so the time without one "
            "falls by more than the duration of the run. A row shows idle time that includes these "
            f"waits. It falls with the duration alone: at the published maximum of {MOST} %, by "
            f"{-idle_change(MOST, 0):.1f} % if the dies are hardly ever busy. It falls by 60 % if "
            "they are busy for 36 % of the time under VAQ, and no load with reads keeps them that "
            "busy.",
        ],
        data={"idle_s": seconds, "unserved_s": unserved},
    )


def _contention(fitted: dict[str, Runs]) -> Figure:
    seconds = over_loads(fitted, bus_s)
    values = {load: normalised(one) for load, one in seconds.items() if one[VAQ]}
    waits = {
        load: normalised(one) for load, one in over_loads(fitted, waits_us).items() if one[VAQ]
    }
    idle = gains(over_loads(fitted, idle_s), BOTH)
    return Figure(
        id="6.12",
        title="Figure 6.12: contention",
        section="6.6.2",
        measured=(
            "Time for which transactions at the dies wait for the bus, relative to VAQ, in the "
            "runs of figure 6.8. Loads without waiting under VAQ are omitted."
        ),
        rows=[
            *_rows("contention", values),
            Row(
                "change of the wait of requests in the queue and for their die, PAQ2 against VAQ, "
                "mean",
                fmean(gains(waits, BOTH).values()),
                "%",
            ),
        ],
        plots=[Plot("Contention", "Relative to VAQ.", bars(values, VARIANTS, "time / VAQ"))],
        claims=claims.of_contention(gains(values, BOTH), idle),
        explanation=[
            "The document defines contention as the time for which a transaction waits for the bus "
            "within its package. A row shows the waits before a transaction reaches its die, which "
            "are shorter under PAQ2.",
        ],
        data={"contention_s": seconds},
    )


def _packing(fitted: dict[str, Runs]) -> Figure:
    pairs, pages = (over_loads(fitted, measure) for measure in (multi_plane, pages_per_command))
    more = [load for load, one in pairs.items() if min(one["paq0"], one[BOTH]) > one[VAQ]]
    most = max(pages, key=lambda load: pages[load][VAQ])
    return Figure(
        id="packing",
        title="Multi-plane commands",
        section="6.4.4",
        measured="Flash commands on both planes of a die, in the runs of figure 6.8.",
        rows=[
            Row(f"{short(one)}: pages per flash command, mean of the loads", value, "")
            for one in VARIANTS
            for value in [fmean(by[one] for by in pages.values())]
        ],
        claims=[
            Claim(
                "In most loads, PAQ0 and PAQ2 form more multi-plane commands than VAQ",
                len(more) > len(pairs) / 2,
                f"{len(more)} of {len(pairs)} loads",
                ids=("J6-014",),
            ),
            Claim(
                "VAQ does not reach two pages per flash command on any load",
                pages[most][VAQ] < PLANES,
                f"maximum {most} {pages[most][VAQ]:.2f}",
                ids=("J6-014",),
            ),
        ],
        data={"multi_plane_commands": pairs, "pages_per_command": pages},
    )


def _all(fitted: dict[str, Runs]) -> Figure:
    values = {load: normalised(one) for load, one in over_loads(fitted, iops).items()}
    waits = over_loads(fitted, _p99_us)
    means = {scheduler: mean_gain(values, scheduler) for scheduler in ALL if scheduler != VAQ}
    return Figure(
        id="all",
        title="All schedulers",
        section="6.6",
        measured=(
            "IOPS relative to VAQ in the runs of figure 6.8, with schedulers that are not in "
            "the document: each page enters the queue of its die at once (immediate), the same "
            "with reads first (read-first), and Sprinkler, which orders by resource and "
            "over-commits packages."
        ),
        rows=[
            *(
                Row(f"IOPS gain of {short(one)} over VAQ, mean", value, "%")
                for one, value in means.items()
            ),
            *(
                Row(
                    f"change of the 99th percentile of latency, {short(one)} against VAQ, mean",
                    mean_gain(waits, one),
                    "%",
                )
                for one in ALL
                if one != VAQ
            ),
        ],
        plots=[
            Plot("Requests per second", "Relative to VAQ.", bars(values, ALL, "IOPS / VAQ")),
            Plot("Latency", "99th percentile.", bars(waits, ALL, "µs")),
        ],
        claims=[
            Claim(
                "Sprinkler has at least the IOPS of PAQ2 on average",
                means["sprinkler"] >= means[BOTH],
                f"{means['sprinkler']:+.1f} and {means[BOTH]:+.1f} %",
            ),
            Claim(
                "VAQ does not reach the peak of the flash: another scheduler has more than "
                f"{PER_CENT:g} % more IOPS on average",
                max(means.values()) > PER_CENT,
                ", ".join(f"{short(one)} {value:+.1f} %" for one, value in means.items()),
                ids=("J6-081",),
            ),
        ],
        data={"iops_over_vaq": values, "p99_us": waits},
    )


def _p99_us(summary: Summary) -> float:
    return or_nan(summary["latency"]["all"]["p99_us"])


def _search(fitted: dict[str, Runs], free: dict[str, Runs]) -> Figure:
    with_cost, without = over_loads(fitted, iops), over_loads(free, iops)
    lost = {
        scheduler: {
            load: -gain(without[load][scheduler], with_cost[load][scheduler]) for load in without
        }
        for scheduler in PAQ
    }
    mean = fmean(lost[BOTH].values())
    return Figure(
        id="search",
        title="Cost of the search",
        section="6.6.3",
        measured=(
            "IOPS lost to searches of 1.77 µs, relative to searches that take no time, in the "
            "runs of figure 6.8."
        ),
        rows=[
            Row(
                "loss of IOPS by the search, PAQ2, mean",
                mean,
                "%",
                PUBLISHED("search", "overhead of the search"),
            ),
            *(
                Row(
                    f"loss of IOPS by the search, {short(scheduler)}, {words}",
                    of(values.values()),
                    "%",
                )
                for scheduler, values in lost.items()
                for words, of in (("mean", fmean), ("maximum", max))
            ),
        ],
        explanation=[
            "The document's 1 % is 1.77 µs over the 180 µs of a read. Whether a search delays "
            "others depends on the number of searches in parallel.",
        ],
        data={"lost_percent": lost},
    )


def _as_they_come(arriving: dict[str, Runs]) -> Figure:
    values = {load: normalised(one) for load, one in over_loads(arriving, latency_us).items()}
    means = {scheduler: mean_gain(values, scheduler) for scheduler in ALL if scheduler != VAQ}
    return Figure(
        id="arriving",
        title="Open-loop latency",
        section="6.6.2",
        measured=(
            "Mean time from arrival to completion, relative to VAQ. Requests arrive "
            f"independently of completions, at {100 * RATE:.0f} % of VAQ's throughput with a "
            "full queue, with the same arrivals for all schedulers."
        ),
        rows=[
            *(
                Row(f"change of latency, {short(one)} against VAQ, mean", value, "%")
                for one, value in means.items()
            ),
            *(
                Row(f"{load}: change of latency, PAQ2 against VAQ", value, "%")
                for load, value in gains(values, BOTH).items()
            ),
        ],
        plots=[Plot("Latency", "Relative to VAQ.", bars(values, ALL, "time / VAQ"))],
        explanation=[
            "Searches are serial and take 1.77 µs per command. A read of web1 has 7.5 pages and "
            "waits 13 µs for its searches, which is all of its waiting at half the load. With a "
            "full queue, most of that time is hidden.",
        ],
        data={"latency_over_vaq": values},
    )
