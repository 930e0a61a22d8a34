"""Table 2.1: the devices."""

import tomllib
from typing import Any

import wordline
from wordline_studies.figure import Claim, Figure, Row, Setup
from wordline_studies.nand.modes import PUBLISHED

NAMES = {"SLC": "jung2013-slc", "MLC1": "jung2013-mlc1", "MLC2": "jung2013-mlc2"}


def table(setup: Setup) -> Figure:
    """Returns the figure that compares the presets with the table."""
    made = {name: _nand(setup, preset) for name, preset in NAMES.items()}
    rows = [row for name, nand in made.items() for row in _rows(name, nand)]
    programs = {name: _us(nand["timing"]["program_ns"]) for name, nand in made.items()}
    rows += [
        Row(
            f"{name}: longest over shortest program time of a page",
            max(programs[name]) / min(programs[name]),
            "times",
            PUBLISHED("2.1", "longest over shortest program time of a page"),
        )
        for name in ("MLC1", "MLC2")
    ]
    return Figure(
        id="table-2.1",
        title="Table 2.1: devices",
        section="2.8",
        measured=(
            "The presets of the other figures, compared with table 2.1. For a published range, "
            "both ends are compared."
        ),
        rows=rows,
        claims=[
            Claim(
                "The presets have the values of table 2.1, including both ends of each range",
                all(_is_equal(row) for row in rows if row.unit != "times")
                and all(_ends(name, programs[name]) for name in ("MLC1", "MLC2")),
                f"{sum(row.unit != 'times' for row in rows)} values are compared",
            )
        ],
        explanation=[
            "Values that the table leaves open are assumed and listed in the presets: two "
            "planes per die; an asynchronous 8-bit bus with cycles of 25 ns, on which the "
            "2,048 bytes of a page take 51.2 µs; no spare area, as the table gives none; no busy "
            "time between planes, as in the stages of section 2.7.1; the grouping of fast and slow "
            "pages; currents. The bus is the most important parameter for reads. With this "
            "bus, reads of one die spend 51 % of their time on the bus, the published share "
            "(figure 2.16)."
        ],
    )


def _nand(setup: Setup, preset: str) -> dict[str, Any]:
    config = wordline.config.show(preset)
    setup.note(preset, config)
    return tomllib.loads(config)["nand"]


def _is_equal(row: Row) -> bool:
    """Returns `True` if the value is the published one, or an end of a published range."""
    value = row.published.value if row.published else None
    return row.ours in (value if isinstance(value, tuple) else (value,))


def _ends(name: str, programs: list[float]) -> bool:
    return tuple(programs) == PUBLISHED("2.1", f"{name}: program time of a page").value


def _rows(name: str, nand: dict[str, Any]) -> list[Row]:
    geometry, timing = nand["geometry"], nand["timing"]
    blocks = geometry["blocks_per_plane"] * geometry["planes_per_die"]
    values: list[tuple[str, float, str]] = [
        ("page size", geometry["page_bytes"], "B"),
        ("pages per block", geometry["pages_per_block"], ""),
        ("blocks per die", blocks, ""),
        *(("program time of a page", us, "µs") for us in _us(timing["program_ns"])),
        *(("read time of a page", us, "µs") for us in _us(timing["read_ns"])),
        ("erase time of a block", timing["erase_ns"] / 1e3, "µs"),
    ]
    return [
        Row(f"{name}: {what}", float(value), unit, PUBLISHED("2.1", f"{name}: {what}"))
        for what, value, unit in values
    ]


def _us(times: Any) -> list[float]:
    return [time / 1e3 for time in (times if isinstance(times, list) else [times])]  # pyright: ignore[reportUnknownVariableType]
