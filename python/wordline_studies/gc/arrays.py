"""The arrays of chapter 7: their members by intensity of the load, and metrics over members and
days."""

from collections.abc import Iterable, Mapping, Sequence
from math import nan

from wordline.summary import Summary
from wordline_studies.gc.loads import DAYS, SIX_SSDS, THREE_SSDS
from wordline_studies.gc.runs import late
from wordline_studies.gc.schemes import SIX, THREE

# Summaries by scheme and member.
Runs = dict[str, dict[str, Summary]]
LOW, HIGH = "low intensity", "high intensity"
GROUPS = {
    SIX: {LOW: ("SSD0", "SSD1", "SSD2", "SSD3"), HIGH: ("SSD4", "SSD5")},
    THREE: {LOW: ("SSD0",), HIGH: ("SSD1", "SSD2")},
}
MEMBERS = {SIX: SIX_SSDS, THREE: THREE_SSDS}
ARRAYS = {SIX: "6SSDs-RAID", THREE: "3SSDs-RAID"}
# Disk 3, whose requests have 149 pages.
LARGE = "SSD3"


def days(curve: Sequence[float | None]) -> list[float]:
    """Returns the longest response time of each day, from those of the intervals. A day is a fifth
    of the intervals. Milliseconds; NaN without requests."""
    each = -(-len(curve) // DAYS)
    return [
        max((one for one in curve[at : at + each] if one is not None), default=nan)
        for at in range(0, len(curve), each)
    ]


def late_of(runs: Mapping[str, Summary], names: Iterable[str]) -> int:
    """Returns the number of requests beyond the bound, over a group of members."""
    return sum(late(runs[name]) for name in names)
