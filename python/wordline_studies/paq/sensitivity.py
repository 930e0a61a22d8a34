"""Figures 6.14 and 6.15: queue length and number of channels."""

from collections.abc import Callable, Sequence
from statistics import fmean

from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.measures import gain, iops
from wordline_studies.paq.charts import PUBLISHED, over_queues
from wordline_studies.paq.loads import TABLE, written
from wordline_studies.paq.performance import ABOUT, EQUAL, HARDLY
from wordline_studies.paq.runs import QUEUE, closed, host_queue_us
from wordline_studies.paq.schedulers import BOTH, PAQ, TITLES, VAQ, VARIANTS, short

QUEUES = (8, 16, 32, 64, 128, 256)
# Queue lengths of a quick study.
FEWER = (8, 32, 256)
CHANNELS = (4, 8, 16)
SHORTEST, LONGEST = QUEUES[0], QUEUES[-1]
REQUESTS, QUICK_REQUESTS = 5000, 800
# A load of only 500 single-page writes, which go to as many dies in order.
FEW = "msnfs3"
# Number of pages that can be packed with a random read on a device of 8 channels: those of the
# other plane of its die, at the same offset in a block.
MATES = 128 * 2 * 128
# Reasons why claims do not hold.
SHORT = (
    "eight requests, fewer than in any published queue, leave most packages idle; from the "
    f"published {QUEUE} to {LONGEST}, all loads but {FEW}, whose writes do not conflict, gain a "
    "few per cent at most"
)
DRAIN = (
    f"{FEW} has 500 single-page writes, which VAQ spreads over all dies; PAQ0 packs each with the "
    "write 128 positions later, which shares its die, and the few writes leave other dies idle; "
    "sql3, at 1.1 %, is near the limit of the claim, and no other load is"
)
MATE = (
    f"a random page read can be packed with one in {MATES:,} of the waiting reads (128 dies, "
    "the other plane, 128 offsets); VAQ is limited by order, not by the array time"
)
LITTLE = (
    "if as many requests wait as the queue holds, the wait is their number over IOPS (Little's "
    "law), and PAQ0 has at least VAQ's IOPS (within 1 %) at every point"
)
# A significant gain, fixed before the first run: at least 10 %.
SIGNIFICANT = 10
# Load, number of channels, scheduler, queue length.
Key = tuple[str, int, str, int]
# Mean over the loads, by number of channels, scheduler and queue length.
Means = dict[int, dict[str, dict[int, float]]]


def figures(setup: Setup) -> list[Figure]:
    """Returns the figures of throughput and waiting time over queue length and channels."""
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
    longer = {
        (channels, scheduler): gain(one[SHORTEST], one[LONGEST])
        for channels, by_name in means.items()
        for scheduler, one in by_name.items()
    }
    packing = {
        channels: gain(by_name[VAQ][LONGEST], by_name["paq0"][LONGEST])
        for channels, by_name in means.items()
    }
    below = {
        load: gain(iops(found[load, 8, VAQ, LONGEST]), iops(found[load, 8, "paq0", LONGEST]))
        for load in loads
    }
    others = {load: value for load, value in below.items() if load != FEW}
    from_32 = {
        channels: fmean(
            gain(iops(found[load, channels, VAQ, QUEUE]), iops(found[load, channels, VAQ, LONGEST]))
            for load in loads
            if load != FEW
        )
        for channels in CHANNELS
    }
    most = max(packing.values())
    steps = [
        gain(means[few][scheduler][queue], means[many][scheduler][queue])
        for few, many in ((4, 8), (8, 16))
        for scheduler in VARIANTS
        for queue in queues
    ]
    virtual = [longer[channels, VAQ] for channels in CHANNELS]
    physical = {
        scheduler: [longer[channels, scheduler] for channels in CHANNELS] for scheduler in PAQ
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
        rows=[
            Row(
                f"PAQ0 over VAQ, queue of {LONGEST}, maximum of the three",
                most,
                "%",
                PUBLISHED("6.14", "PAQ0 over VAQ"),
            ),
            *(
                Row(
                    f"{channels} channels, {short(scheduler)}: queue of {LONGEST} over {SHORTEST}",
                    value,
                    "%",
                )
                for (channels, scheduler), value in longer.items()
            ),
            *(
                Row(
                    f"{channels} channels, VAQ without {FEW}: queue of {LONGEST} over {QUEUE}",
                    value,
                    "%",
                )
                for channels, value in from_32.items()
            ),
            Row(
                f"PAQ0 over VAQ, queue of {LONGEST}, minimum of the loads but {FEW}",
                min(others.values()),
                "%",
            ),
            *(
                Row(
                    f"{channels} channels: PAQ2 over VAQ, queue of {queue}",
                    gain(by_name[VAQ][queue], by_name[BOTH][queue]),
                    "%",
                )
                for channels, by_name in means.items()
                for queue in queues
            ),
        ],
        plots=[
            Plot(
                f"{channels} channels",
                "Mean of the loads.",
                over_queues(by_name, queues, "IOPS / VAQ's"),
            )
            for channels, by_name in means.items()
        ],
        claims=[
            Claim(
                "Every scheduler has higher IOPS with more channels, for any queue length",
                min(steps) > 0,
                f"doubling the channels: {min(steps):+.1f} to {max(steps):+.1f} %",
            ),
            Claim(
                f"VAQ gains almost nothing from a longer queue (below {HARDLY} %)",
                max(virtual) < HARDLY,
                ", ".join(f"{value:+.1f} %" for value in virtual),
                because=SHORT,
            ),
            *(
                Claim(
                    f"{TITLES[scheduler]} gains significantly from a longer queue (at least "
                    f"{SIGNIFICANT} %)",
                    min(values) >= SIGNIFICANT,
                    ", ".join(f"{value:+.1f} %" for value in values),
                )
                for scheduler, values in physical.items()
            ),
            Claim(
                "With long queues, PAQ0 is not below VAQ on any load (8 channels)",
                min(below.values()) >= -EQUAL,
                f"minimum {min(below, key=lambda load: below[load])} {min(below.values()):+.1f} %",
                because=DRAIN,
            ),
            Claim(
                "Plane packing raises throughput to about 1.53 times that of VAQ",
                abs(most - 53) <= ABOUT,
                ", ".join(
                    f"{channels} channels {value:+.1f} %" for channels, value in packing.items()
                ),
                because=MATE,
            ),
        ],
        data={"iops_over_vaq": means, "vaq_from_32_percent": from_32, "paq0_percent": below},
    )


def _waiting(found: dict[Key, Summary], loads: Sequence[str], queues: Sequence[int]) -> Figure:
    means = _means(loads, queues, lambda key: host_queue_us(found[key]) / 1000)
    growth = {
        channels: {
            scheduler: gain(one[SHORTEST], one[LONGEST]) for scheduler, one in by_name.items()
        }
        for channels, by_name in means.items()
    }
    against = {
        scheduler: {
            (channels, queue): gain(by_name[VAQ][queue], by_name[scheduler][queue])
            for channels, by_name in means.items()
            for queue in queues
        }
        for scheduler in PAQ
    }
    worse = [place for place, value in against["paq0"].items() if value > EQUAL]
    return Figure(
        id="6.15",
        title="Figure 6.15: waiting for a slot",
        section="6.6.5",
        measured=(
            "Mean time for which requests wait for a slot of the queue, mean of the loads, in "
            "the runs of figure 6.14. The document does not give the number of waiting "
            "requests; here it equals the queue length."
        ),
        rows=[
            *(
                Row(
                    f"{channels} channels, {short(scheduler)}: queue of {LONGEST} over {SHORTEST}",
                    value,
                    "%",
                )
                for channels, by_name in growth.items()
                for scheduler, value in by_name.items()
            ),
            *(
                Row(f"{channels} channels: PAQ2 relative to VAQ, queue of {queue}", value, "%")
                for (channels, queue), value in against[BOTH].items()
            ),
        ],
        plots=[
            Plot(f"{channels} channels", "Mean of the loads.", over_queues(by_name, queues, "ms"))
            for channels, by_name in means.items()
        ],
        claims=[
            Claim(
                "Under PAQ0, the wait grows with the queue length",
                all(by_name["paq0"] > 0 for by_name in growth.values()),
                ", ".join(f"{by_name['paq0']:+.0f} %" for by_name in growth.values()),
            ),
            Claim(
                "At some points, the wait is longer under PAQ0 than under VAQ",
                bool(worse),
                ", ".join(
                    f"{channels} channels and a queue of {queue}" for channels, queue in worse
                )
                or "at none",
                because=LITTLE,
            ),
            Claim(
                "The wait is shorter under PAQ2 than under VAQ at all points",
                max(against[BOTH].values()) < 0,
                f"{min(against[BOTH].values()):+.1f} to {max(against[BOTH].values()):+.1f} %",
            ),
        ],
        explanation=[
            "The wait is the number of waiting requests over IOPS (Little's law). It doubles "
            "with the queue length unless IOPS rise, and two schedulers compare as in figure "
            "6.14. For PAQ0, the document publishes both a slightly growing wait and rising "
            "throughput. That requires more waiting requests with a longer queue, but not in "
            "proportion.",
        ],
        data={"wait_ms": means},
    )
