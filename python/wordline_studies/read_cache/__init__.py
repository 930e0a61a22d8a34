"""Xia 2017: flash-aware read caches and zero-migration GC."""

from wordline_studies.figure import Numbers, Study
from wordline_studies.read_cache import figures, mappings, readings, tables

STUDY = Study(
    name="read-cache",
    title="Flash as a read cache: suspected queues and zero-migration GC",
    source="Q. Xia, Towards Design and Analysis for High-Performance and Reliable SSDs, PhD "
    "thesis, Virginia Commonwealth University, 2017, chapters 1 to 3",
    figures=(
        mappings.figure,
        tables.examples,
        figures.figures,
        readings.readings,
        readings.recordings,
    ),
    shortened=True,
    published=Numbers("wordline_studies.read_cache"),
)
