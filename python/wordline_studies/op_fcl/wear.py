"""Claims of the document about figure 14: erases and lifetime."""

from collections.abc import Mapping
from math import nan

from wordline_studies.figure import Claim
from wordline_studies.op_fcl.claims import WRITTEN, Curves, percent, rises
from wordline_studies.op_fcl.runs import FIXED, FP, INITIAL_PERCENT, OP, Curve, title
from wordline_studies.outcome import PER_CENT

SHARES = (80, 90, 95)
FILLED = (
    "the working set is 95 % of the flash and is complete only at the end, so caches of 90 and 95 "
    "% of the flash are seldom full; in a second replay, RW-FCL erases more than twice as much at "
    "95 % as at 70 % (figure Reasons)"
)


def longer(curve: Curve, share: int) -> float:
    """Returns the erases of FP-FCL at a cached share, divided by those of OP-FCL."""
    return curve[FP][share].erases / curve[OP][INITIAL_PERCENT].erases


def _at(curve: Curve, scheme: str) -> dict[int, float]:
    return {share: cell.erases for share, cell in curve[scheme].items()}


def _listed(at: Mapping[int, float], digits: int = 1) -> str:
    return ", ".join(f"{share}: {one:.{digits}f}" for share, one in at.items())


def erases(charged: Curves) -> list[Claim]:
    """Returns the claims on figure 14."""
    return [
        _low(charged),
        *(_slightly(charged, scheme) for scheme in FIXED),
        *(_sharply(name, charged[name], scheme) for name in WRITTEN for scheme in FIXED),
        *_rare(charged),
        *_dip(charged["search"]),
        *_spared(charged),
    ]


def _low(charged: Curves) -> Claim:
    more = [
        f"{title(name)} {scheme}"
        for name in WRITTEN
        for scheme in FIXED
        for at in (_at(charged[name], scheme),)
        if next(iter(at.values())) >= min(one for share, one in at.items() if share >= 70)
    ]
    return Claim(
        "Erases at the smallest cached share are fewer than at 70 % or more, on every load but "
        "Search Engine",
        not more,
        f"exceptions: {', '.join(more)}" if more else "no exceptions",
        ids=("O-085",),
    )


def _slightly(charged: Curves, scheme: str) -> Claim:
    shares = {
        name: 100 * (at[70] - next(iter(at.values()))) / ((at[95] - at[70]) or nan)
        for name in WRITTEN
        for at in (_at(charged[name], scheme),)
    }
    return Claim(
        f"{scheme}: up to a cached share of 70 %, erases rise only slightly (by at most "
        f"{PER_CENT:g} % of the rise from there to 95 %), on every load except Search Engine",
        max(shares.values()) <= PER_CENT,
        ", ".join(f"{title(name)} {value:.0f} %" for name, value in shares.items()),
        STEADY_RISE,
        quick=False,
        ids=("O-086",),
    )


STEADY_RISE = (
    "the largest caches of Financial are seldom full in one replay (figure Reasons), so that "
    "erases rise less beyond 70 %; on the other loads, the claim holds"
)


def _sharply(name: str, curve: Curve, scheme: str) -> Claim:
    at = _at(curve, scheme)
    slopes = [(at[80] - at[70]) / 10, (at[90] - at[80]) / 10, (at[95] - at[90]) / 5]
    return Claim(
        f"{title(name)}, {scheme}: erases rise sharply above a cached share of 70 % (at least "
        "double by 95 %, with increasing slope)",
        at[95] >= 2 * at[70] and rises(slopes),
        _listed(at),
        FILLED if name == "financial" else "",
        quick=False,
        ids=("O-087",),
    )


def _rare(charged: Curves) -> list[Claim]:
    search = charged["search"]
    ratios = {
        (name, scheme): max(
            search[scheme][share].erases / charged[name][scheme][share].erases
            for share in search[scheme]
        )
        for name in WRITTEN
        for scheme in FIXED
    }
    most = max(ratios.values())
    return [
        Claim(
            "Search Engine has noticeably fewer erases than any other load, at every share and "
            f"with both schemes (by more than {PER_CENT:g} %)",
            100 * (1 - most) > PER_CENT,
            f"at least {100 * (1 - most):.0f} % fewer",
            ids=("O-089",),
        )
    ]


def _dip(curve: Curve) -> list[Claim]:
    found: list[Claim] = []
    for scheme in FIXED:
        at = _at(curve, scheme)
        upto = [value for share, value in at.items() if share <= 80]
        drop = percent(upto[0], at[80])
        found += [
            Claim(
                f"Search Engine, {scheme}: erases fall noticeably towards a cached share of 80 % "
                f"(continuously, and by more than {PER_CENT:g} %)",
                rises([-value for value in upto]) and drop < -PER_CENT,
                _listed(at, 2),
                DIP,
                ids=("O-091", "O-106"),
            ),
            Claim(
                f"Search Engine, {scheme}: erases rise sharply beyond a cached share of 80 % (at "
                "least twice as many at 95 %)",
                at[95] >= 2 * at[80],
                _listed(at, 2),
                ids=("O-092",),
            ),
        ]
    return found


DIP = (
    "the reads access 5.4 GB (table 1), 1.35 times the flash, so the misses, which are page "
    "writes, fall too slowly to outweigh GC beyond 70 %; with 4 GB, as much as the flash holds, "
    "erases fall up to a share of 80 % (figure Other readings)"
)


def _spared(charged: Curves) -> list[Claim]:
    fewest = {
        name: min(
            charged[name][scheme][80].erases / charged[name][OP][INITIAL_PERCENT].erases
            for scheme in FIXED
        )
        for name in WRITTEN
    }
    full = {name: longer(curve, INITIAL_PERCENT) for name, curve in charged.items()}
    return [
        Claim(
            "OP-FCL has fewer erases than FP-FCL and RW-FCL at a cached share of 80 %, on every "
            "load except Search Engine",
            min(fewest.values()) > 1,
            ", ".join(f"{title(name)} {value:.2f}" for name, value in fewest.items()) + " times",
            ids=("O-088",),
        ),
        Claim(
            f"OP-FCL has fewer erases than FP-FCL at a cached share of {INITIAL_PERCENT} % (by "
            f"more than {PER_CENT:g} %), on every load",
            min(full.values()) > 1 / (1 - PER_CENT / 100),
            ", ".join(f"{title(name)} {value:.2f}" for name, value in full.items()) + " times",
            ids=("O-004",),
        ),
    ]
