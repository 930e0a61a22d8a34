"""Loads under the normal scheme, differentiated ECC and AGCR, on the device of the chapter."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil

from wordline.config import Value
from wordline_studies.figure import Figure, Numbers, Setup
from wordline_studies.regulation import fitted
from wordline_studies.regulation.recordings import Recording, beside, recordings
from wordline_studies.regulation.runs import (
    REGULATION,
    Device,
    Key,
    Told,
    mean_change,
    passes,
    reading,
    together,
    writing,
)

PUBLISHED = Numbers("wordline_studies.ecc")
PACKAGES, SPARE = 8, 0.15
MOST_BLOCKS = 4 * 512
"""Blocks per package of the preset."""
PAGES_PER_BLOCK, FEWEST_BLOCKS = 128, 27
"""Pages per block, and the fewest blocks per package with which 15 % over-provisioning leaves GC
enough free blocks."""
DEVICE = Device(
    "xia2017-ecc", page=8192, user_pages=PACKAGES * MOST_BLOCKS * PAGES_PER_BLOCK * (1 - SPARE)
)
NORMAL, OURS, AGCR = "normal", "differentiated", "AGCR"
ALL = (NORMAL, OURS, AGCR)
COLOURS = dict(zip(ALL, ("#8b929c", "#1f78b4", "#e0a30a"), strict=True))
DIFFERENTIATED = f"{REGULATION}.differentiated-ecc"
# AGCR reads its medium-cost writes with LDPC (table 7).
OF_AGCR: dict[str, Value] = {"nand.programming.table.medium.read_us": 110.0}
SCHEMES: dict[str, dict[str, Value]] = {
    NORMAL: {REGULATION: "fixed"},
    OURS: {REGULATION: "differentiated-ecc"},
    AGCR: {REGULATION: "r-w", **OF_AGCR},
}
REQUESTS = 30_000
SEEDS = (1, 2)
SHORT = ("financial1", "hm0", "hm1", "mds0", "src0", "web0")
OVERLAPPED = ("financial1", "hm0", "hm1")
"""Loads of which at least 28 % of the pages are both read and written."""
Loads = Mapping[str, Recording]
Passes = Mapping[Key, list[Told]]
FITTED = (
    "Table 8 gives the number of requests, share of reads, mean size and address space of each "
    "load, and figure 17 the overlap of four of them; 5 % is assumed for the others, which are "
    "below 10 %. For Financial1, table 8 repeats the size and the address space that table 3 "
    "gives for WebSearch1; the mean size of table 6, 7.2 KB, gives the written volume of that "
    "table, so it is used, as are the 3.6 GB of distinct data that the load writes according to "
    "table 6. All accessed pages are equally popular; the other loads access two pages of 8 KiB "
    "per three requests of a pass (assumed). Requests arrive in bursts that only read or only "
    "write, with the lengths and gaps of the reads of web_3, a trace of table 8, and of the "
    "writes of rsrch_1. In both, and in hm_0, 99 % of the requests have the direction of the "
    "previous one within a millisecond."
)
SIZED = (
    "The user capacity of the device is the address space of the load at the scale of its "
    "requests, up to that of 16 GiB of flash. All of it is written before the run, so GC starts "
    "once the over-provisioned blocks are written. The chapter sizes the packages by the address "
    "space, and counts erases. A device has at least 27 blocks per package."
)


def loads(setup: Setup, seed: int = 1) -> dict[str, Recording]:
    """Returns the loads. A quick study has fewer and shorter ones."""
    if setup.quick:
        return some_loads(seed=seed)
    return of_table(tuple(fitted.TABLE), REQUESTS, seed=seed)


def some_loads(arrivals: fitted.Arrivals = "bursts", seed: int = 1) -> dict[str, Recording]:
    """Returns six loads with half the default number of requests."""
    return of_table(SHORT, REQUESTS // 2, arrivals, seed)


def of_table(
    names: Sequence[str], count: int, arrivals: fitted.Arrivals = "bursts", seed: int = 1
) -> dict[str, Recording]:
    """Returns loads of table 8, of `count` requests."""
    return {
        seeded(name if arrivals == "bursts" else f"{name}, {arrivals}", seed): fitted.load(
            name, count, DEVICE.page, arrivals, seed
        )
        for name in names
    }


def seeded(name: str, seed: int) -> str:
    """Returns the name of a load, followed by its seed unless that is the first of `SEEDS`."""
    return name if seed == SEEDS[0] else f"{name}, seed {seed}"


def of_seeds(
    setup: Setup,
    found: Loads,
    schemes: Mapping[str, Mapping[str, Value]],
    sizes: Mapping[str, Mapping[str, Value]],
) -> dict[Key, list[Told]]:
    """Runs both passes of loads under each scheme, with every seed. The results of a load are those
    of its seeds together. Recorded traces, which have no `sizes` of the device, have no seeds."""
    runs = passes(setup, DEVICE, found, schemes, sized=sizes)
    for seed in SEEDS[1:] if sizes else ():
        more = loads(setup, seed)
        again = passes(setup, DEVICE, more, schemes, sized=sized(more))
        runs = {
            (name, scheme): [
                together(*both) for both in zip(of, again[seeded(name, seed), scheme], strict=True)
            ]
            for (name, scheme), of in runs.items()
        }
    return runs


def sized(found: Loads) -> dict[str, dict[str, Value]]:
    """Returns the settings of a device that has the address space of each load."""
    return {
        name: _of_size(fitted.space_pages(name.split(",")[0], one)) for name, one in found.items()
    }


def _of_size(pages: int) -> dict[str, Value]:
    blocks = ceil((pages + 1) / ((1 - SPARE) * PACKAGES * PAGES_PER_BLOCK))
    return {
        "nand.geometry.planes_per_die": 1,
        "nand.geometry.blocks_per_plane": min(max(blocks, FEWEST_BLOCKS), MOST_BLOCKS),
        "precondition.fill_ratio": 1.0,
    }


def of_loads(
    setup: Setup,
    made: Callable[[Setup, Loads, Mapping[str, Mapping[str, Value]]], Sequence[Figure]],
    found: Loads,
) -> list[Figure]:
    """Returns the figures for the loads, and those for the available recorded traces. The address
    spaces of recorded traces are not known, so their device has 16 GiB."""
    recorded = recordings(setup, DEVICE.page)
    figures = list(made(setup, found, sized(found)))
    return [*figures, *(beside(made(setup, recorded, {})) if recorded else ())]


def means(found: Loads, runs: Passes, scheme: str, base: str, turn: int = 1) -> dict[str, float]:
    """Returns the changes in the mean response times of all requests, reads and writes (`all`,
    `read`, `write`) relative to `base`, as the mean of the loads. Per cent."""
    names = {"all": list(found), "read": reading(found), "write": writing(found)}
    return {
        of: mean_change(runs, those, scheme, base, turn, f"{of}_us") for of, those in names.items()
    }


def changes(found: Loads, runs: Passes, of: str, scheme: str) -> dict[str, float]:
    """Returns the change in the mean response time relative to the normal scheme, in the second
    pass, by load. Per cent. `of` is `all`, `read` or `write`."""
    names = {"all": list(found), "read": reading(found), "write": writing(found)}[of]
    return {name: mean_change(runs, [name], scheme, NORMAL, 1, f"{of}_us") for name in names}


def listed(values: Mapping[str, float]) -> str:
    """Returns the changes by name, as a text."""
    return ", ".join(f"{name} {value:+.1f} %" for name, value in values.items())
