"""Choices of sections 4.2 and 5: write-back, groups of destages, and the map in each block."""

from wordline.config import Value
from wordline_studies.cases import required
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.op_fcl.claims import WRITTEN, percent
from wordline_studies.op_fcl.loads import TABLE, named, written
from wordline_studies.op_fcl.runs import (
    FP,
    GROUP_PAGES,
    INITIAL_PERCENT,
    OP,
    PUBLISHED,
    QUICK_PART,
    Cell,
    Store,
    case,
    scaled,
    title,
)
from wordline_studies.outcome import IN_POINTS, PER_CENT

SHARE = 60
THROUGH: dict[str, Value] = {"cache.mode": "write-through"}
SINGLE: dict[str, Value] = {"cache.destage.group_pages": 1}
MERGED = (
    "pages of a request are next to each other, and a group writes neighbours in one access to the "
    "disk; on Home and Search Engine, whose written requests have one page or are few, the claim "
    "holds (below)"
)
SINGLES = ("home", "search")
"""Loads whose written requests have one page, or are few."""


def figure(setup: Setup) -> Figure:
    """Returns the figure for write-through, for pages destaged one by one, and for the map."""
    loads = named(TABLE)
    paths = written(setup, loads, QUICK_PART)
    stores = {name: Store.of(load, QUICK_PART) for name, load in loads.items()}
    cases = {
        (name, what): case(name, paths[name], stores[name], scheme, share, more)
        for name in loads
        for what, scheme, share, more in (
            ("back", FP, SHARE, {}),
            ("through", FP, SHARE, THROUGH),
            ("grouped", OP, INITIAL_PERCENT, {}),
            ("single", OP, INITIAL_PERCENT, SINGLE),
        )
    }
    found = {key: Cell.of(summary) for key, summary in required(setup, cases).items()}

    def above(base: str, what: str) -> dict[str, float]:
        return {
            name: percent(found[name, base].mean_ms, found[name, what].mean_ms) for name in loads
        }

    through, single = above("back", "through"), above("grouped", "single")
    return Figure(
        id="5",
        title="Write-back, groups and map",
        section="4.2, 5",
        measured=(
            f"FP-FCL at {SHARE} % with write-through instead of write-back, and OP-FCL with pages "
            f"destaged one by one instead of in groups of {GROUP_PAGES}, at smaller scales "
            f"({scaled(QUICK_PART)}). The map is the last page of each block."
        ),
        rows=[
            Row(
                "Financial, OP-FCL: share of programmed bytes that hold the map",
                found["financial", "grouped"].map_percent,
                "%",
                PUBLISHED("5", "share of programmed bytes that hold the map"),
            ),
            *(
                Row(
                    f"{title(name)}: excess of the response time with write-through over that "
                    "with write-back",
                    value,
                    "%",
                )
                for name, value in through.items()
            ),
            *(
                Row(
                    f"{title(name)}: excess of the response time with single destages over that "
                    "with groups",
                    value,
                    "%",
                )
                for name, value in single.items()
            ),
        ],
        claims=_claims(through, single),
    )


def _claims(through: dict[str, float], single: dict[str, float]) -> list[Claim]:
    def told(values: dict[str, float]) -> str:
        return ", ".join(f"{title(name)} {value:+.1f}" for name, value in values.items()) + " %"

    return [
        Claim(
            f"Write-through takes far longer than write-back (by more than {PER_CENT:g} %) on "
            "every load that writes, which is every load except Search Engine",
            min(through[name] for name in WRITTEN) > PER_CENT,
            told(through),
            ids=("O-017",),
        ),
        Claim(
            "Groups of destages hardly change the response time of OP-FCL (by at most "
            f"{IN_POINTS:g} %) on any load",
            max(map(abs, single.values())) <= IN_POINTS,
            told(single),
            MERGED,
            ids=("O-027",),
        ),
        Claim(
            "Reason: groups hardly change the response time on Home and Search Engine (by at most "
            f"{IN_POINTS:g} %)",
            max(abs(single[name]) for name in SINGLES) <= IN_POINTS,
            told({name: single[name] for name in SINGLES}),
        ),
    ]
