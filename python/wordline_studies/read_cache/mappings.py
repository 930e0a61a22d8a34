"""Section 1.1: page, hybrid and block mapping on a small SSD."""

from itertools import accumulate
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import wordline
from wordline.config import Value
from wordline.summary import Summary
from wordline_studies.figure import Claim, Figure, Row, Setup

DEVICE = "xia2017-ecc"
BLOCKS, BLOCK_PAGES, WRITES = 128, 64, 20_000
USER_PAGES = BLOCKS * BLOCK_PAGES // 2


def figure(_setup: Setup) -> Figure:
    """Returns the figure of one write load under each mapping."""
    with TemporaryDirectory(prefix="wordline-study-") as folder:
        trace = Path(folder) / "writes.csv"
        _write(trace)
        found = {mapping: _run(trace, mapping) for mapping in ("page", "log-block", "block")}
    means = {name: summary["latency"]["write"]["mean_us"] or 0.0 for name, summary in found.items()}
    return Figure(
        id="1.1",
        title="Page, hybrid and block mapping",
        section="1.1",
        measured=f"{WRITES:,} single-page writes, one at a time, chosen by Zipf's law with an "
        f"exponent of 0.9 among the {USER_PAGES:,} pages of a full SSD with {BLOCKS} blocks of "
        f"{BLOCK_PAGES} pages, half of which are over-provisioned. The SSD is run with page "
        "mapping, with log blocks (hybrid mapping), and with block mapping.",
        rows=[
            *(
                Row(f"{name} mapping: mean response time of writes", one, "µs")
                for name, one in means.items()
            ),
            *(
                Row(
                    f"{name} mapping: pages programmed per page written",
                    summary["flash"]["page_write_amplification"],
                    "",
                )
                for name, summary in found.items()
            ),
        ],
        claims=[
            Claim(
                "Writes have the shortest mean response time with page mapping, and the longest "
                "with block mapping",
                means["page"] < means["log-block"] < means["block"],
                "; ".join(f"{name}: {value:,.0f} µs" for name, value in means.items()),
                ids=("X1-003",),
            ),
        ],
        explanation=[
            "The map has an entry per page with page mapping and an entry per block with block "
            "mapping; hybrid mapping adds an entry per page of the log blocks to the latter. The "
            "order of the sizes of the maps follows without a simulation.",
        ],
    )


def _write(path: Path) -> None:
    random = Random("mappings")  # noqa: S311
    weights = list(accumulate((rank + 1) ** -0.9 for rank in range(USER_PAGES)))
    pages = list(range(USER_PAGES))
    random.shuffle(pages)
    written = random.choices(pages, cum_weights=weights, k=WRITES)
    rows = (f"0,write,{page * 4096},4096,0\n" for page in written)
    path.write_text("time_ns,op,offset_bytes,size_bytes,volume\n" + "".join(rows))


def _run(trace: Path, mapping: str) -> Summary:
    settings: dict[str, Value] = {
        "ssd.channels": 1,
        "ssd.ways": 1,
        "nand.geometry.dies_per_package": 1,
        "nand.geometry.planes_per_die": 1,
        "nand.geometry.blocks_per_plane": BLOCKS,
        "nand.geometry.pages_per_block": BLOCK_PAGES,
        "nand.geometry.page_bytes": 4096,
        "ftl.over_provisioning_ratio": 0.5,
        "ftl.mapping": mapping,
        "replay.mode.closed-loop.queue_depth": 1,
    }
    return wordline.run(DEVICE, trace, overrides=settings, requests=False).summary
