"""A queue whose head blocks: what the document's admission does to the strategies, counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from wordline.study.figure import Figure, Plot, Row, Setup
from wordline.study.measures import gain
from wordline.study.palloc.charts import PUBLISHED, spread
from wordline.study.palloc.loads import TABLE, Load
from wordline.study.palloc.orders import (
    CHANNEL,
    FAMILIES,
    FLASH,
    ORDERS,
    averaged,
    normalised,
    of,
)

REQUESTS = 2000
EXTENT = {"C": 8, "W": 8, "D": 2, "P": 2}
PLANES = 256
# Logical pages of the count: any large multiple of the planes.
PAGES = PLANES * 4096
# Of the preset: array times, the mean over the pages of a block; bytes with spare at 50 MHz.
READ_US, PROGRAM_US, TRANSFER_US = 50.0, 1194.5, 42.24
RULES = ("channel", "package")
Values = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Place:
    """The plane of a page, and what it is in; each number is of the whole device."""

    channel: int
    package: int
    die: int
    plane: int

    def resource(self, rule: str) -> int:
        """What a request with a page here needs for itself."""
        return self.channel if rule == "channel" else self.package


def places(order: str) -> list[Place]:
    """Where the first page of each plane's turn goes, as `ftl.allocate.static` does it."""
    found: list[Place] = []
    for turn in range(PLANES):
        rest, at = turn, dict.fromkeys(EXTENT, 0)
        for letter in order:
            at[letter] = rest % EXTENT[letter]
            rest //= EXTENT[letter]
        package = at["C"] * EXTENT["W"] + at["W"]
        die = package * EXTENT["D"] + at["D"]
        found.append(Place(at["C"], package, die, die * EXTENT["P"] + at["P"]))
    return found


def requests(load: Load, count: int) -> list[tuple[int, int, float]]:
    """First page, pages and array time of requests that have the means of a load."""
    random = Random(1)  # noqa: S311
    pages = {
        True: round(load.write_pages),
        False: round(load.read_pages),
    }
    made: list[tuple[int, int, float]] = []
    end = 0
    for _ in range(count):
        writes = 100 * random.random() < load.write_percent
        anywhere = 100 * random.random() < load.random_percent
        start = int(random.random() * PAGES) if anywhere else end
        end = start + pages[writes]
        made.append((start, pages[writes], PROGRAM_US if writes else READ_US))
    return made


def duration_us(where: Sequence[Place], array_us: float) -> float:
    """How long a request takes by itself: on each channel one transfer after another, beside that
    the arrays, the planes of a die together; the longest channel counts."""
    longest = 0.0
    for channel in {place.channel for place in where}:
        here = [place.plane for place in where if place.channel == channel]
        turns = max(here.count(plane) for plane in set(here))
        longest = max(longest, turns * array_us + len(here) * TRANSFER_US)
    return longest


def rate(load: Load, order: str, rule: str, count: int) -> float:
    """Requests a second if they begin in order, each when all that it needs is free."""
    layout = places(order)
    free: dict[int, float] = {}
    begun = last = 0.0
    for start, pages, array_us in requests(load, count):
        where = [layout[(start + page) % PLANES] for page in range(pages)]
        needed = {place.resource(rule) for place in where}
        begun = max(begun, *(free.get(resource, 0.0) for resource in needed))
        end = begun + duration_us(where, array_us)
        free.update(dict.fromkeys(needed, end))
        last = max(last, end)
    return 1e6 * count / last


def figure(setup: Setup) -> Figure:
    """The count, for requests that need their channels or their packages for themselves."""
    count = setup.requests(REQUESTS)
    found: dict[str, Values] = {
        rule: {
            name: normalised({order: rate(load, order, rule, count) for order in ORDERS})
            for name, load in TABLE.items()
        }
        for rule in RULES
    }
    rows: list[Row] = []
    for rule, values in found.items():
        means = averaged(values.values())
        rows.append(
            Row(f"{rule}: die- and plane-first over channel-first, mean of the nine",
                gain(of(means, CHANNEL), of(means, FLASH)), "%",
                PUBLISHED("3.4", "flash-level first over channel-first"))
        )  # fmt: skip
        rows += [
            Row(f"{rule}: {family} over CWDP, mean of the nine", gain(1, of(means, orders)), "%")
            for family, orders in FAMILIES.items()
        ]
        rows += [
            Row(f"{rule}: {load}, channel-first against die- and plane-first",
                gain(of(values[load], FLASH), of(values[load], CHANNEL)), "%",
                PUBLISHED("3.4", f"{load}, channel-first against flash-level first"))
            for load in ("msnfs", "fin2")
        ]  # fmt: skip
    return Figure(
        id="blocking",
        title="A queue whose head blocks",
        section="3.5.3",
        measured="A count, not a simulation: requests of the nine loads begin in order, each when "
        "all channels (or packages) that it needs are free, and hold them until they are done. On "
        "each channel transfers of 42.24 µs follow one another beside array times of 50 and "
        "1,194.5 µs. It tests the reason that is given above for what differs in figure 3.4.",
        rows=rows,
        plots=[
            Plot(
                f"Each {rule} for one request",
                "Requests a second over those of CWDP.",
                spread(values, "rate / CWDP"),
            )
            for rule, values in found.items()
        ],
        explanation=[
            "If a request needs its channels for itself, CWDP lets no two requests of eight pages "
            "work at once, and die-, plane- and way-first strategies serve more of those that "
            "write, as published; fewer of those with large reads, which are moved over few "
            "channels then. If it needs its packages, they serve more only of what writes, and a "
            "little less on average. Such a queue explains the sign of what is published and, for "
            "msnfs, its size, but not all of it; requests of one page hardly differ.",
        ],
        data={"rate_over_cwdp": found},
    )
