"""Jung 2013, chapter 2 (NANDFlashSim): a single NAND package."""

from wordline_studies.figure import Numbers, Study
from wordline_studies.nand import (
    contention,
    cycles,
    devices,
    latency,
    migration,
    parallel,
    recorded,
    speed,
)

STUDY = Study(
    name="nand",
    title="A single NAND package",
    source="M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania "
    "State University, 2013, chapter 2",
    figures=(
        devices.table,
        latency.figures,
        cycles.writes,
        cycles.reads,
        migration.figures,
        cycles.breakdown,
        parallel.figures,
        recorded.figure,
        contention.figure,
        parallel.page_size,
        parallel.scheduling,
        speed.figure,
    ),
    published=Numbers("wordline_studies.nand"),
)
