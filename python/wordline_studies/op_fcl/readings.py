"""Alternative readings of points that the document leaves open, and recorded traces."""

from dataclasses import replace

import wordline
from wordline._render.charts import lines
from wordline.config import Value
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Plot, Row, Setup
from wordline_studies.op_fcl.claims import above_percent, percent
from wordline_studies.op_fcl.loads import (
    TABLE,
    Load,
    Parts,
    named,
    with_exponents,
    written,
    written_over_a_disk,
)
from wordline_studies.op_fcl.runs import (
    BLOCK_PAGES,
    FIXED,
    FP,
    INITIAL_PERCENT,
    OP,
    RW,
    Cell,
    Curve,
    Store,
    best,
    case,
    curves,
    least_ms,
    percents,
    points,
    scaled,
    title,
)
from wordline_studies.traces import missing, recorded

EXPONENTS = {
    "financial": (0.5, 0.8, 1.0, 1.2),
    "home": (0.8, 1.1, 1.2),
    "exchange": (0.5, 0.8, 1.0),
    "msn": (0.5, 0.8, 1.0),
}
"""Exponents of the Zipf law of the writes that the study runs, by load."""
EVEN = 0.5
"""The smallest exponent of Financial."""
SHARES = (40, 50, 60, 70, 80)
PALETTE = ("#3b86c6", "#12a07b", "#d9701a", "#c0457e", "#8b929c", "#7a5bc0", "#b08d2f", "#4b5563")
UNMAPPED: dict[str, Value] = {"cache.block_summaries": False}
POSITIONED: dict[str, Value] = {"disk.base": "atlas-10k-iv"}
BY_THE_CLOCK: dict[str, Value] = {"replay.mode": "open-loop"}
HALVED: dict[str, Value] = {"cache.partition.op-fcl.read_ratio": 0.5}
"""Half of the cache for each list until the first period ends. The document gives no initial sizes
of the lists (section 6)."""
LONG = 20
"""The longest period of figure 15 is two to the power of this number. Requests at full scale."""
SEGMENTS, PERIODS = 16, 16
OF_FOOTPRINT = {"desktop-mayun2": 0.3, "cloudphysics-io": 0.3, "hplajw": 0.3, "msr-web_3": 0.2}
"""Recorded traces, and their flash as a share of the footprint."""
KNOWN = {name: (name,) for name in OF_FOOTPRINT}
REPORTED: Parts = {"financial": 32, "home": 128, "search": 32, "exchange": 256, "msn": 256}
"""Scale of loads for which results are not tested. It may be coarser than in the other figures."""
FLASH_GB = 4.0
SMALL_SET = f"{title('search')}, reads of {FLASH_GB:g} GB"
REQUESTS = 200_000
"""Largest number of requests of a recorded trace."""


def readings(setup: Setup) -> list[Figure]:
    """Returns the figures for the optimum over the exponent of the writes, and for destages one by
    one, a positioned disk, and no block summaries; none with `--quick`."""
    if setup.quick:
        return []
    loads = {
        f"{name}, {writes:g}": with_exponents(TABLE[name], TABLE[name].reads.exponent, writes)
        for name, exponents in EXPONENTS.items()
        for writes in exponents
    }
    paths = written(setup, loads, REPORTED)
    skewed = curves(setup, paths, loads, SHARES, scale=REPORTED)
    small = named(["financial", "search", "exchange"])
    paths = written(setup, small, REPORTED)
    grouped = curves(
        setup,
        paths,
        named(name for name in small if name != "search"),
        SHARES,
        {"cache.destage.group_pages": 1},
        REPORTED,
    )
    unmapped = curves(setup, paths, small, SHARES, UNMAPPED, REPORTED)
    paths = written_over_a_disk(setup, small, REPORTED)
    positioned = curves(setup, paths, small, SHARES, POSITIONED, REPORTED)
    fitting = {"search, reads": _as_large_as_flash(TABLE["search"])}
    scale = {"search": REPORTED["search"]}
    held = curves(setup, written(setup, fitting, scale), fitting, SHARES, scale=scale)
    by_reading: dict[str, Curve] = {
        **{f"{title(name)}, pages destaged one by one": curve for name, curve in grouped.items()},
        **{f"{title(name)}, positioned disk": curve for name, curve in positioned.items()},
        **{
            f"{title(name)}, no block summaries (data in their pages)": curve
            for name, curve in unmapped.items()
        },
        SMALL_SET: held["search, reads"],
    }
    return [_exponents(skewed), _choices(by_reading, _halved(setup))]


def _halved(setup: Setup) -> list[Row]:
    """Returns by how much OP-FCL takes longer if half of the cache is for each list at the
    start."""
    paths = written(setup, named(TABLE), REPORTED)
    cases: dict[tuple[str, str], Case] = {}
    for name, load in named(TABLE).items():
        store = Store.of(load, REPORTED)
        long = replace(store, period=(1 << LONG) // load.part(REPORTED))
        for period, one in (("2^16", store), (f"2^{LONG}", long)):
            for start, more in (("shared", {}), ("halved", HALVED)):
                cases[f"{title(name)}, periods of {period}", start] = replace(
                    case(name, paths[name], one, OP, INITIAL_PERCENT, more),
                    label=f"{name}, {OP}, period of {period}, {start} start",
                )
    found = {key: Cell.of(summary).mean_ms for key, summary in required(setup, cases).items()}
    return [
        Row(
            f"{name}, OP-FCL that starts with half of the cache for each list: excess of the "
            "response time over that with a cache shared at the start",
            percent(found[name, "shared"], value),
            "%",
        )
        for (name, start), value in found.items()
        if start == "halved"
    ]


def _as_large_as_flash(load: Load) -> Load:
    """Returns a load whose reads access as much data as the flash holds."""
    reads = replace(load.reads, set_gb=FLASH_GB)
    return replace(load, total_gb=FLASH_GB, reads=reads)


def _fewer(curve: Curve) -> list[Claim]:
    erases = {
        scheme: {share: cell.erases for share, cell in curve[scheme].items()} for scheme in FIXED
    }
    return [
        Claim(
            f"Reason: if the reads of Search Engine access {FLASH_GB:g} GB, as much as the flash "
            "holds, erases fall up to a cached share of 80 %",
            all(
                list(one.values()) == sorted(one.values(), reverse=True) for one in erases.values()
            ),
            "; ".join(
                f"{scheme} " + ", ".join(f"{share}: {value:.2f}" for share, value in one.items())
                for scheme, one in erases.items()
            ),
        )
    ]


def _exponents(skewed: dict[str, Curve]) -> Figure:
    optima: dict[str, dict[float, float]] = {}
    for name, curve in skewed.items():
        load, exponent = name.split(", ")
        for scheme in FIXED:
            optima.setdefault(f"{title(load)}, {scheme}", {})[float(exponent)] = float(
                best(curve[scheme])
            )
    colours = dict(zip(optima, PALETTE, strict=False))
    return Figure(
        id="exponents",
        title="Optimum over the exponent of the writes",
        section="table 1",
        measured=(
            f"Runs as in figure 6, at smaller scales ({scaled(REPORTED)}) and with other "
            "exponents of the writes. Reads keep their exponents. The document gives neither "
            "exponent."
        ),
        rows=[
            row
            for name, curve in skewed.items()
            for row in (
                *(
                    Row(
                        f"{_label(name)}, {scheme}: best cached share",
                        float(best(curve[scheme])),
                        "%",
                    )
                    for scheme in FIXED
                ),
                Row(
                    f"{_label(name)}: excess of the response time of OP-FCL over that of RW-FCL "
                    "at its best share",
                    above_percent(curve),
                    "%",
                ),
                Row(
                    f"{_label(name)}: excess of the response time of RW-FCL over that of FP-FCL, "
                    "each at its best share",
                    _separated_percent(curve),
                    "%",
                ),
            )
        ],
        plots=[
            Plot(
                "Best cached share",
                "By the exponent of the Zipf law of the writes.",
                lines(optima, colours, "exponent", "% of the flash"),
            )
        ],
        claims=[
            Claim(
                f"Reason: with an exponent of {EVEN:g}, RW-FCL takes less time than FP-FCL on "
                "Financial, each at its best share",
                _separated_percent(skewed[f"financial, {EVEN:g}"]) < 0,
                ", ".join(
                    f"{exponent:g}: {_separated_percent(skewed[f'financial, {exponent:g}']):+.1f}"
                    for exponent in EXPONENTS["financial"]
                )
                + " %",
            )
        ],
    )


def _separated_percent(curve: Curve) -> float:
    """Returns by how much RW-FCL's shortest response time exceeds that of FP-FCL. Per cent."""
    return 100 * (least_ms(curve[RW]) / least_ms(curve[FP]) - 1)


def _label(name: str) -> str:
    load, exponent = name.split(", ")
    return f"{title(load)}, exponent {exponent}"


def _choices(by_reading: dict[str, Curve], started: list[Row]) -> Figure:
    return Figure(
        id="readings",
        title="Other readings",
        section="5, 6.1",
        measured=(
            f"Runs as in figure 6, at smaller scales ({scaled(REPORTED)}), with one change each. "
            "Requests to the positioned disk are spread over the whole disk."
        ),
        rows=[
            row
            for name, curve in by_reading.items()
            for row in (
                *(
                    Row(f"{name}, {scheme}: best cached share", float(best(curve[scheme])), "%")
                    for scheme in FIXED
                ),
                *(
                    Row(f"{name}, {scheme}: shortest response time", least_ms(curve[scheme]), "ms")
                    for scheme in (*FIXED, OP)
                ),
                *(
                    Row(
                        f"{name}, {scheme}: cached share with the fewest erases",
                        float(min(curve[scheme], key=lambda share: curve[scheme][share].erases)),
                        "%",
                    )
                    for scheme in FIXED
                ),
                Row(
                    f"{name}: excess of the response time of OP-FCL over that of RW-FCL at its "
                    "best share",
                    above_percent(curve),
                    "%",
                ),
                Row(
                    f"{name}: excess of the work per request of OP-FCL over the least work of "
                    "RW-FCL",
                    _work_percent(curve),
                    "%",
                ),
            )
        ]
        + started,
        explanation=[
            "The document gives no initial sizes of the lists, only an empty cache and the "
            "over-provisioning (section 6). In the other figures, the lists share the cache until "
            "the first period ends.",
            "A page destaged on its own costs 5 ms, as in the model. In groups, the adjacent "
            "pages of a request are destaged together. One by one, destages for a change of size "
            "cost as much as other destages, but no request waits for them. With three disks, "
            "RW-FCL and OP-FCL then take much less time than FP-FCL, but not less work.",
            (
                "OP-FCL's constants are those of the average disk. They are too small for the "
                "positioned one."
            ),
        ],
        claims=_fewer(by_reading[SMALL_SET]),
    )


def _work_percent(curve: Curve) -> float:
    least = min(cell.work_ms for cell in curve[RW].values())
    return 100 * (min(cell.work_ms for cell in curve[OP].values()) / least - 1)


def recordings(setup: Setup) -> Figure:
    """Returns the figure for recorded loads, one request at a time. OP-FCL also runs by time
    stamp."""
    paths = {
        name: path for name, path in recorded(setup, KNOWN).items() if not name.startswith("post")
    }
    many = setup.requests(REQUESTS)
    cases: dict[tuple[str, str, int], Case] = {}
    for name, path in paths.items():
        seen = wordline.cache(path, "lru", ["1p"], align="expand", max_requests=many).summary[
            "input"
        ]
        share = next(
            share for known, share in OF_FOOTPRINT.items() if name.startswith(f"{known} (")
        )
        blocks = max(128, round(seen["distinct_pages"] * share / BLOCK_PAGES))
        store = Store("opfcl-small", blocks, max(1, seen["requests"] // PERIODS), SEGMENTS, False)
        for scheme, cached in points(percents(setup)):
            cases[name, scheme, cached] = replace(
                case(name, path, store, scheme, cached), requests=many
            )
        cases[name, f"{OP} by time stamp", 95] = replace(
            case(name, path, store, OP, 95, BY_THE_CLOCK), requests=many
        )
    found: dict[str, Curve] = {}
    for (name, scheme, cached), summary in required(setup, cases).items():
        found.setdefault(name, {}).setdefault(scheme, {})[cached] = Cell.of(summary)
    return Figure(
        id="recordings",
        title="Recorded traces",
        section="6.1",
        measured=(
            f"At most {many:,} requests of each recorded trace, in {PERIODS} periods, on flash of "
            "0.2 to 0.3 of the footprint. No claim is tested on these traces."
        ),
        rows=[
            row
            for name, curve in found.items()
            for row in (
                *(
                    Row(f"{name}, {scheme}: best cached share", float(best(curve[scheme])), "%")
                    for scheme in FIXED
                ),
                *(
                    Row(f"{name}, {scheme}: shortest response time", least_ms(curve[scheme]), "ms")
                    for scheme in curve
                ),
                Row(
                    f"{name}: excess of the response time of OP-FCL over that of RW-FCL at its "
                    "best share",
                    above_percent(curve),
                    "%",
                ),
                Row(
                    f"{name}: erases of FP-FCL at a cached share of 90 % over those of OP-FCL",
                    curve[FP][90].erases / max(1e-9, curve[OP][95].erases),
                    "times",
                ),
            )
        ],
        explanation=missing(KNOWN, paths),
    )
