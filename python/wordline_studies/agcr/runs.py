"""The schemes on the document's device, and the loads."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from wordline.config import Value
from wordline_studies.figure import Figure, Numbers, Setup
from wordline_studies.regulation import fitted
from wordline_studies.regulation.recordings import Recording, beside, recordings
from wordline_studies.regulation.runs import REGULATION, Device, Key, Told

PUBLISHED = Numbers("wordline_studies.agcr")
DEVICE = Device("agcr", page=4096, user_pages=8 * 4 * 4 * 512 * 64 * 0.85)
TRADITIONAL, LI, RW, RL, RWL = "Traditional", "Li et al.", "R+W", "R+L", "R+W+L"
PROPOSED = (RW, RL, RWL)
ALL = (TRADITIONAL, LI, *PROPOSED)
NAMES = {TRADITIONAL: "fixed", LI: "li", RW: "r-w", RL: "r-l", RWL: "r-w-l"}
COLOURS: dict[str, str] = dict(
    zip(ALL, ("#8b929c", "#e0a30a", "#1f78b4", "#12a07a", "#c2457f"), strict=True)
)
SCHEMES: dict[str, dict[str, Value]] = {name: {REGULATION: own} for name, own in NAMES.items()}
EXTREMES: dict[str, dict[str, Value]] = {
    "HCW/LCR": {f"{REGULATION}.fixed.mode": "high"},
    "LCW/HCR": {f"{REGULATION}.fixed.mode": "low"},
    "reduced wear": {f"{REGULATION}.fixed.mode": "reduced"},
}
REQUESTS = 12_000
LOADS = tuple(
    name
    for name, row in fitted.TABLE.items()
    if row.duration_s == fitted.WEEK_S and row.requests >= 200_000 and 5 <= row.read_percent <= 95
)
"""Loads of table 8 that last a week (MSR Cambridge), with at least 200,000 requests, of which at
least 5 % read and at least 5 % write. The document names three of its ten traces of this
collection, among them rsrch2."""
SHORT = ("hm0", "proj0", "rsrch2", "web0")
Loads = Mapping[str, Recording]
Passes = Mapping[Key, list[Told]]
FITTED = (
    "The document's traces are available for two of the loads only. The loads are generated with "
    "the numbers of requests, shares of reads and mean sizes that table 8 of Q. Xia's thesis "
    "gives for traces of the same collection, and the overlaps of its figure 17. All pages are "
    "equally popular. Requests arrive in bursts that only read or only write, with the lengths "
    "and gaps of the writes of rsrch_1 and the reads of web_3, the two complete traces."
)


def loads(setup: Setup, arrivals: fitted.Arrivals = "bursts") -> dict[str, Recording]:
    """Returns the loads. A quick study has fewer and shorter ones."""
    names, count = (SHORT, REQUESTS // 3) if setup.quick else (LOADS, REQUESTS)
    return {
        name if arrivals == "bursts" else f"{name}, {arrivals}": fitted.load(
            name, count, DEVICE.page, arrivals
        )
        for name in names
    }


def of_loads(setup: Setup, made: Callable[[Setup, Loads], Sequence[Figure]]) -> list[Figure]:
    """Returns the figures for the loads, and those for the available recorded traces."""
    found = recordings(setup, DEVICE.page)
    return [*made(setup, loads(setup)), *(beside(made(setup, found)) if found else ())]


def mean_share(
    runs: Passes, names: Sequence[str], scheme: str, modes: Mapping[str, str], turn: int = 1
) -> float:
    """Returns the share of the host's page reads and writes that have the program mode given in
    `modes` for their operation, as the mean of the loads `names`. Other operations are not counted.
    Per cent."""
    found: list[float] = []
    for name in names:
        told = runs[name, scheme][turn]
        every = sum(sum(told.by_mode[op].values()) for op in modes)
        found.append(
            100 * sum(told.by_mode[op][mode] for op, mode in modes.items()) / max(1, every)
        )
    return fmean(found)
