"""Table 2.1: the devices."""

import tomllib
from typing import Any

import wordline
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.nand.modes import PUBLISHED

NAMES = {"SLC": "jung2013-slc", "MLC1": "jung2013-mlc1", "MLC2": "jung2013-mlc2"}


def table(setup: Setup) -> Figure:
    """Returns the figure that compares the presets with the table."""
    rows = [row for name, preset in NAMES.items() for row in _rows(setup, name, preset)]
    same = all(row.difference in (0, None) for row in rows)
    return Figure(
        id="table-2.1",
        title="Table 2.1: devices",
        section="2.8",
        measured=(
            "The presets of the other figures, compared with the table. For a range, both ends "
            "are compared."
        ),
        rows=rows,
        claims=[Claim("The presets have the values of the table", same, "all rows are equal")],
        explanation=[
            "Values that the table leaves open are assumed and listed in the presets: two "
            "planes per die; an asynchronous 8-bit bus with cycles of 25 ns, on which the "
            "2,048 bytes of a page take 51.2 µs (the table gives no spare area, and the stages "
            "of section 2.7.1 have no busy time between planes); the grouping of fast and slow "
            "pages; currents. The bus is the most important parameter for reads. With this "
            "bus, reads of one die spend 51 % of their time on the bus, the published share "
            "(figure 2.16)."
        ],
    )


def _rows(setup: Setup, name: str, preset: str) -> list[Row]:
    config = wordline.config.show(preset)
    setup.note(preset, config)
    nand = tomllib.loads(config)["nand"]
    geometry, timing = nand["geometry"], nand["timing"]
    blocks = geometry["blocks_per_plane"] * geometry["planes_per_die"]
    values: list[tuple[str, float, str]] = [
        ("page", geometry["page_bytes"], "B"),
        ("pages per block", geometry["pages_per_block"], ""),
        ("blocks", blocks, ""),
        *(("write", us, "µs") for us in _us(timing["program_ns"])),
        *(("read", us, "µs") for us in _us(timing["read_ns"])),
        ("erase", timing["erase_ns"] / 1e3, "µs"),
    ]
    return [
        Row(f"{name} {what}", float(value), unit, PUBLISHED("2.1", f"{name} {what}"))
        for what, value, unit in values
    ]


def _us(times: Any) -> list[float]:
    return [time / 1e3 for time in (times if isinstance(times, list) else [times])]  # pyright: ignore[reportUnknownVariableType]
