"""Xia 2017, chapter 5: ECC by the access history of pages."""

from wordline_studies.ecc import costs, parameters, readings, schemes
from wordline_studies.figure import Numbers, Study

STUDY = Study(
    name="ecc",
    title="Workload-aware differentiated ECC",
    source="Q. Xia, Towards Design and Analysis for High-Performance and Reliable SSDs, PhD "
    "thesis, Virginia Commonwealth University, 2017, chapter 5",
    figures=(
        costs.figure,
        costs.memory,
        schemes.figures,
        parameters.figures,
        readings.figure,
    ),
    published=Numbers("wordline_studies.ecc"),
)
