"""Beyond the document: hits counted in a sample of the pages, and destages over several
packages."""

from collections.abc import Mapping
from pathlib import Path

from wordline._render.units import many
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.cases import Case, required
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.measures import or_nan
from wordline_studies.op_fcl.loads import TABLE, named, written
from wordline_studies.op_fcl.runs import (
    BLOCK_PAGES,
    BLOCKS,
    GROUP_PAGES,
    INITIAL_PERCENT,
    OP,
    Cell,
    Store,
    case,
    part,
    title,
)

SAMPLES = (4096, 16_384, 65_536, 262_144)
"""Largest number of sampled pages of a stack at the document's flash size; scaled like the
flash."""
FEW, MORE = SAMPLES[-2:]
ALL = 1 << 20
"""A larger number of pages than any load has."""
ROUGH = "msn"
"""The load for which a sample is least accurate."""
NOISE = (
    "borders follow the noise of the sample, and a list that gives up pages because of it misses "
    "them later; with four times as many sampled pages, the claim holds, and a sample of all "
    "pages equals ghost lists (below)"
)
ENTRY_BYTES, STACKS = 20, 2
"""Bytes of an entry of a ghost list (two lists take 1 % of 4 GB), and the number of lists."""
SAMPLED_BYTES = 48
"""Bytes of a sampled page: its hash and number, stored twice each, and its position on the
stack."""
LARGE = ("exchange", "msn")
PACKAGES = 4


def beyond(setup: Setup) -> list[Figure]:
    """Returns the figure for both extensions; none with `--quick`."""
    if setup.quick:
        return []
    paths = written(setup, named(TABLE), part(setup))
    counted, claims = _counted(setup, paths)
    apart = _apart(setup, paths)
    figure = Figure(
        id="beyond",
        title="Beyond the document",
        section="7",
        measured=(
            "OP-FCL as in figures 6 and 10, with one of two changes: hits are counted in a sample "
            "(SHARDS of a fixed size, kept from period to period, as in locality-driven "
            "allocation), or the large flash is in several packages. Numbers of sampled pages are "
            "those at the published flash size; a smaller flash has proportionally fewer."
        ),
        rows=[*counted, *apart],
        claims=claims,
        explanation=[
            "A period is too short for the small samples of the allocator's window: with 2,048 "
            "sampled pages of 4 GB, 2^16 requests access only a few hundred of them. The memory "
            "of a sample does not grow with the flash. Its counts by distance take up to 460 KiB "
            "per stack in addition, at 4 GB.",
            "With one package, the pages of a group are read one after the other before they "
            "are destaged. Programs and GC for a request are serial too.",
        ],
    )
    return [figure]


def _counted(setup: Setup, paths: Mapping[str, Path]) -> tuple[list[Row], list[Claim]]:
    cases: dict[tuple[str, int], Case] = {}
    for name in TABLE:
        store = Store.of(TABLE[name], part(setup))
        cases[name, 0] = case(name, paths[name], store, OP, INITIAL_PERCENT)
        for pages in (*SAMPLES, ALL) if name == ROUGH else SAMPLES:
            own = pages if pages == ALL else pages // TABLE[name].part(part(setup))
            sampled: dict[str, Value] = {
                "cache.partition.op-fcl.hits": "shards",
                "cache.partition.op-fcl.sample_pages": own,
            }
            cases[name, pages] = case(name, paths[name], store, OP, INITIAL_PERCENT, sampled)
    found = {key: Cell.of(summary) for key, summary in required(setup, cases).items()}
    flash = BLOCKS * BLOCK_PAGES

    def above(name: str, pages: int) -> float:
        return 100 * (found[name, pages].mean_ms / found[name, 0].mean_ms - 1)

    more = {(name, pages): above(name, pages) for name in TABLE for pages in SAMPLES}
    rows = [
        Row(
            f"memory of ghost lists of {flash:,} pages", STACKS * ENTRY_BYTES * flash / 1024, "KiB"
        ),
        *(
            Row(f"memory of {pages:,} sampled pages", STACKS * SAMPLED_BYTES * pages / 1024, "KiB")
            for pages in SAMPLES
        ),
        *(
            Row(
                f"{title(name)}, {pages:,} sampled pages: excess of the response time over that "
                "with ghost lists",
                value,
                "%",
            )
            for (name, pages), value in more.items()
        ),
    ]
    most = {pages: max(more[name, pages] for name in TABLE) for pages in SAMPLES}
    told = ", ".join(f"{pages:,} sampled pages {value:+.1f} %" for pages, value in most.items())
    return rows, [
        Claim(
            f"With {FEW:,} sampled pages, the response time equals that with ghost lists "
            "(within 5 % on all five loads)",
            most[FEW] <= 5,
            told,
            because=NOISE,
        ),
        Claim(
            f"Reason: with {MORE:,} sampled pages, the response time equals that with ghost "
            "lists (within 5 % on all five loads)",
            most[MORE] <= 5,
            told,
        ),
        Claim(
            f"Reason: with a sample of all pages, the response time of {title(ROUGH)} equals that "
            "with ghost lists",
            found[ROUGH, ALL] == found[ROUGH, 0],
            f"{above(ROUGH, ALL):+.3f} %",
        ),
    ]


def _apart(setup: Setup, paths: Mapping[str, Path]) -> list[Row]:
    cases: dict[tuple[str, int, int], Case] = {}
    for name in LARGE:
        store = Store.of(TABLE[name], part(setup))
        for packages in (1, PACKAGES):
            for group in (1, GROUP_PAGES):
                shape: dict[str, Value] = {
                    "ssd.channels": packages,
                    "nand.geometry.blocks_per_plane": store.blocks * PACKAGES // packages,
                    "cache.destage.group_pages": group,
                }
                cases[name, packages, group] = case(
                    name, paths[name], store, OP, INITIAL_PERCENT, shape
                )
    found = required(setup, cases)
    return [
        Row(
            f"{title(name)}, {many(packages, 'package')}, groups of {many(group, 'page')}: {what}",
            value,
            unit,
        )
        for (name, packages, group), summary in found.items()
        for what, value, unit in _destages(summary)
    ]


def _destages(summary: Summary) -> list[tuple[str, float, str]]:
    cache = summary["cache"]
    assert cache is not None
    return [
        ("response time", or_nan(summary["latency"]["all"]["mean_us"]) / 1000, "ms"),
        (
            "mean time of a destage for which a request waits",
            or_nan(cache["destage_mean_us"]) / 1000,
            "ms",
        ),
    ]
