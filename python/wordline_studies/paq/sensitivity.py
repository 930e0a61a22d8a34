"""Figures 6.14 and 6.15: queue length and number of channels."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain, iops
from wordline_studies.outcome import IN_POINTS, PER_CENT
from wordline_studies.paq.charts import PUBLISHED, over_queues
from wordline_studies.paq.loads import TABLE, written
from wordline_studies.paq.runs import QUEUE, closed, host_queue_us
from wordline_studies.paq.schedulers import BOTH, PAQ, TITLES, VAQ, VARIANTS, short

# The text mentions queues longer than 32, the default, but gives no other length.
QUEUES = (QUEUE, 64, 128, 256)
# Queue lengths of a quick study.
FEWER = (QUEUE, 256)
CHANNELS = (4, 8, 16)
LONGEST = QUEUES[-1]
REQUESTS, QUICK_REQUESTS = 5000, 800
# A load of only 500 single-page writes, which go to the dies in order.
FEW = "msnfs3"
# The load with the fewest IOPS.
SLOW = "msnfs4"
# On a device of 8 channels, one in this many random page reads can be packed with a given one: it
# must be on the other plane of the same die (128 dies, 2 planes), and at the same one of 128
# offsets in a block.
MATES = 128 * 2 * 128
# Reasons why claims do not hold.
UNCONFLICTED = (
    f"the single-page writes of {FEW} conflict with nothing, so they gain from any longer queue "
    f"under VAQ; without {FEW}, the loads gain less than 5 % on average"
)
DRAIN = (
    f"{FEW} has 500 single-page writes, which VAQ spreads over all dies; PAQ0 packs each with the "
    "write 128 positions later, which shares its die, and the few writes leave other dies idle; "
    "reads gain less by packing than the searches of 1.77 µs cost"
)
MATE = (
    f"a random page read can be packed with one in {MATES:,} of the waiting reads (128 dies, the "
    "other plane, 128 offsets); VAQ is limited by the order of requests, not by the array time"
)
LITTLE = (
    "the wait is the number of waiting requests over IOPS (Little's law); the mean over the loads "
    f"is dominated by {SLOW}, which has the fewest IOPS, hardly loses any under PAQ0, and "
    "outweighs the loads on which PAQ0 serves fewer requests"
)
FULL_BUS = (
    f"four channels are in use for 86 % of the time under PAQ2 with a queue of {QUEUE}, and for "
    f"94 % with {LONGEST}; loads that use them less, such as fin1 and fin2, gain more"
)
# The PAQs, each with the reason why it does not gain significantly.
SELDOM = {"paq0": MATE, "paq1": FULL_BUS, "paq2": FULL_BUS}
# Load, number of channels, scheduler, queue length.
Key = tuple[str, int, str, int]
# Mean over the loads, by number of channels, scheduler and queue length.
Means = dict[int, dict[str, dict[int, float]]]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures for throughput and waiting time over queue length and channels."""
    loads = tuple(TABLE)
    queues = FEWER if setup.quick else QUEUES
    count = QUICK_REQUESTS if setup.quick else REQUESTS
    with written(loads, count) as paths:
        found = required(
            setup,
            {
                (load, channels, scheduler, queue): closed(
                    load,
                    paths[load],
                    scheduler,
                    outstanding=2 * queue,
                    more=_settings(channels, queue),
                )
                for load in loads
                for channels in CHANNELS
                for scheduler in VARIANTS
                for queue in queues
            },
        )
    return [_throughput(found, loads, queues), _waiting(found, loads, queues)]


def _settings(channels: int, queue: int) -> dict[str, Value]:
    return {"ssd.channels": channels, "host.queue_depth": queue}


def _means(loads: Sequence[str], queues: Sequence[int], value: Callable[[Key], float]) -> Means:
    return {
        channels: {
            scheduler: {
                queue: fmean(value((load, channels, scheduler, queue)) for load in loads)
                for queue in queues
            }
            for scheduler in VARIANTS
        }
        for channels in CHANNELS
    }


def _throughput(found: dict[Key, Summary], loads: Sequence[str], queues: Sequence[int]) -> Figure:
    means = _means(loads, queues, lambda key: iops(found[key]) / iops(found[key[0], 8, VAQ, QUEUE]))
    data: dict[str, Any] = {
        "iops_over_vaq": means,
        "vaq_without_percent": {
            channels: fmean(_longer(found, load, channels, VAQ) for load in loads if load != FEW)
            for channels in CHANNELS
        },
        "paq0_percent": {
            load: gain(iops(found[load, 8, VAQ, LONGEST]), iops(found[load, 8, "paq0", LONGEST]))
            for load in loads
        },
        "four_channels": {
            load: {
                "use_percent": [
                    100 * found[load, 4, BOTH, queue]["utilisation"]["channel_mean"]
                    for queue in (QUEUE, LONGEST)
                ],
                "gain_percent": _longer(found, load, 4, BOTH),
            }
            for load in loads
        },
    }
    return Figure(
        id="6.14",
        title="Figure 6.14: throughput over queue length and channels",
        section="6.6.5",
        measured=(
            f"IOPS relative to VAQ with 8 channels and a queue of 32, mean of the {len(loads)} "
            "loads. The host keeps twice as many requests outstanding as the queue holds, so "
            "the queue is always full and as many requests wait for a slot."
        ),
        rows=_throughput_rows(data),
        plots=[
            Plot(
                f"{channels} channels",
                "IOPS relative to VAQ with 8 channels and a queue of 32, mean of the loads.",
                over_queues(by_name, queues, "IOPS / VAQ's"),
            )
            for channels, by_name in means.items()
        ],
        claims=[
            *_growing(means, queues),
            *_from_queues(means),
            *_packed(means, data["paq0_percent"]),
        ],
        data=data,
    )


def _longer(found: dict[Key, Summary], load: str, channels: int, scheduler: str) -> float:
    """Returns the gain from the longest queue over the default. Per cent."""
    first, last = (iops(found[load, channels, scheduler, queue]) for queue in (QUEUE, LONGEST))
    return gain(first, last)


def _throughput_rows(data: Mapping[str, Any]) -> list[Row]:
    means: Means = data["iops_over_vaq"]
    packing = [gain(one[VAQ][LONGEST], one["paq0"][LONGEST]) for one in means.values()]
    use = [one["use_percent"] for one in data["four_channels"].values()]
    values = {
        **{
            f"{channels} channels, {short(scheduler)}: IOPS gain of a queue of {LONGEST} over "
            f"{QUEUE}": gain(one[QUEUE], one[LONGEST])
            for channels, by_name in means.items()
            for scheduler, one in by_name.items()
        },
        **{
            f"{channels} channels, VAQ, loads except {FEW}: IOPS gain of a queue of {LONGEST} "
            f"over {QUEUE}": value
            for channels, value in data["vaq_without_percent"].items()
        },
        **{
            f"4 channels, PAQ2: channel utilisation with a queue of {queue}": fmean(shares)
            for queue, shares in zip((QUEUE, LONGEST), zip(*use, strict=True), strict=True)
        },
        f"8 channels: IOPS gain of PAQ0 over VAQ, queue of {LONGEST}, minimum of the loads except "
        f"{FEW}": min(value for load, value in data["paq0_percent"].items() if load != FEW),
        **{
            f"{channels} channels: IOPS gain of PAQ2 over VAQ, queue of {queue}": gain(
                value, by_name[BOTH][queue]
            )
            for channels, by_name in means.items()
            for queue, value in by_name[VAQ].items()
        },
    }
    return [
        Row(
            f"IOPS gain of PAQ0 over VAQ, queue of {LONGEST}, maximum over 4, 8 and 16 channels",
            max(packing),
            "%",
            PUBLISHED("6.14", "IOPS gain of PAQ0 over VAQ"),
        ),
        *(Row(what, value, "%") for what, value in values.items()),
    ]


def _growing(means: Means, queues: Sequence[int]) -> list[Claim]:
    wider = [
        gain(means[few][scheduler][queue], means[many][scheduler][queue])
        for few, many in pairwise(CHANNELS)
        for scheduler in VARIANTS
        for queue in queues
    ]
    deeper = [
        gain(means[channels][scheduler][short_queue], means[channels][scheduler][long_queue])
        for channels in CHANNELS
        for scheduler in PAQ
        for short_queue, long_queue in pairwise(queues)
    ]
    better = [
        gain(means[channels][VAQ][queue], means[channels][BOTH][queue])
        for channels in CHANNELS
        for queue in queues
    ]
    return [
        Claim(
            "Every scheduler has higher IOPS with more channels, for any queue length",
            min(wider) > 0,
            f"doubling the channels: {min(wider):+.1f} to {max(wider):+.1f} %",
            ids=("J6-071",),
        ),
        Claim(
            "PAQ0, PAQ1 and PAQ2 have higher IOPS with each longer queue, for any "
            "number of channels",
            min(deeper) > 0,
            f"from one length to the next: {min(deeper):+.1f} to {max(deeper):+.1f} %",
            ids=("J6-071",),
        ),
        Claim(
            "PAQ2 has higher IOPS than VAQ for all queue lengths and numbers of channels",
            min(better) > 0,
            f"{min(better):+.1f} to {max(better):+.1f} %",
            ids=("J6-080",),
        ),
    ]


def _from_queues(means: Means) -> list[Claim]:
    by_scheduler = {
        scheduler: [
            gain(by_name[scheduler][QUEUE], by_name[scheduler][LONGEST])
            for by_name in means.values()
        ]
        for scheduler in VARIANTS
    }
    details = {
        scheduler: ", ".join(f"{value:+.1f} %" for value in values)
        for scheduler, values in by_scheduler.items()
    }
    return [
        Claim(
            f"A longer queue hardly raises the IOPS of VAQ (by at most {IN_POINTS:g} %)",
            max(by_scheduler[VAQ]) <= IN_POINTS,
            details[VAQ],
            because=UNCONFLICTED,
            ids=("J6-072",),
        ),
        *(
            Claim(
                f"A longer queue significantly raises the IOPS of {TITLES[scheduler]} (by more "
                f"than {PER_CENT:g} %)",
                min(by_scheduler[scheduler]) > PER_CENT,
                details[scheduler],
                because=because,
                ids=("J6-073",),
            )
            for scheduler, because in SELDOM.items()
        ),
    ]


def _packed(means: Means, below: Mapping[str, float]) -> list[Claim]:
    over = {
        channels: [gain(by_name[VAQ][queue], by_name["paq0"][queue]) for queue in (QUEUE, LONGEST)]
        for channels, by_name in means.items()
    }
    return [
        Claim(
            f"With a queue of {LONGEST} and 8 channels, the IOPS of PAQ0 are not below those of "
            "VAQ on any load",
            min(below.values()) >= 0,
            f"below on {sum(value < 0 for value in below.values())} of {len(below)} loads; minimum "
            f"{min(below, key=below.__getitem__)} {min(below.values()):+.1f} %",
            because=DRAIN,
            ids=("J6-045",),
        ),
        Claim(
            "PAQ0's IOPS gain over VAQ grows rapidly with the queue length (by more than "
            f"{PER_CENT:g} percentage points from {QUEUE} to {LONGEST})",
            min(last - first for first, last in over.values()) > PER_CENT,
            ", ".join(
                f"{channels} channels {first:+.1f} to {last:+.1f} %"
                for channels, (first, last) in over.items()
            ),
            because=MATE,
            ids=("J6-015",),
        ),
    ]


def _waiting(found: dict[Key, Summary], loads: Sequence[str], queues: Sequence[int]) -> Figure:
    means = _means(loads, queues, lambda key: host_queue_us(found[key]) / 1000)
    against = {
        scheduler: {
            (channels, queue): gain(by_name[VAQ][queue], by_name[scheduler][queue])
            for channels, by_name in means.items()
            for queue in queues
        }
        for scheduler in PAQ
    }
    return Figure(
        id="6.15",
        title="Figure 6.15: waiting for a slot",
        section="6.6.5",
        measured=(
            "Mean time for which requests wait for a queue slot, in the runs of figure 6.14; mean "
            "of the loads. The document does not give the number of waiting requests; here it "
            "equals the queue length."
        ),
        rows=[
            Row(
                f"{channels} channels: change of the wait for a queue slot, {short(scheduler)} "
                f"against VAQ, queue of {queue}",
                value,
                "%",
            )
            for scheduler, one in against.items()
            for (channels, queue), value in one.items()
        ],
        plots=[
            Plot(
                f"{channels} channels",
                "Mean wait for a queue slot, mean of the loads.",
                over_queues(by_name, queues, "ms"),
            )
            for channels, by_name in means.items()
        ],
        claims=_waits(against),
        explanation=[
            "The wait is the number of waiting requests over IOPS (Little's law). It doubles "
            "with the queue length unless IOPS rise, and on each load two schedulers compare as in "
            "figure 6.14. For PAQ0, the document publishes both a slightly growing wait and rising "
            "throughput. That requires more waiting requests with a longer queue, but not in "
            "proportion.",
        ],
        data={
            "wait_ms": means,
            f"{SLOW}_ms": _means([SLOW], queues, lambda key: host_queue_us(found[key]) / 1000),
        },
    )


def _waits(against: Mapping[str, Mapping[tuple[int, int], float]]) -> list[Claim]:
    worse = [place for place, value in against["paq0"].items() if value > 0]
    return [
        Claim(
            "For some queue lengths and numbers of channels, the wait for a queue slot is longer "
            "under PAQ0 than under VAQ",
            bool(worse),
            ", ".join(f"{channels} channels and a queue of {queue}" for channels, queue in worse)
            or "at none",
            because=LITTLE,
            ids=("J6-077",),
        ),
        Claim(
            "The wait for a queue slot is shorter under PAQ2 than under VAQ for all queue lengths "
            "and numbers of channels",
            max(against[BOTH].values()) < 0,
            f"{min(against[BOTH].values()):+.1f} to {max(against[BOTH].values()):+.1f} %",
            ids=("J6-079", "J6-080"),
        ),
    ]
