"""Xia 2017: a flash write cache whose size follows the locality of writes."""

from wordline_studies.figure import Numbers, Study
from wordline_studies.write_cache import figures, recorded

STUDY = Study(
    name="write-cache",
    title="Flash as a write cache: locality-driven allocation",
    source="Q. Xia, Towards Design and Analysis for High-Performance and Reliable SSDs, PhD "
    "thesis, Virginia Commonwealth University, 2017, chapter 4",
    figures=(figures.figures, recorded.figure),
    shortened=True,
    published=Numbers("wordline_studies.write_cache"),
)
