"""Jung 2013, chapter 6: physically addressed queueing."""

from wordline_studies.figure import Numbers, Study
from wordline_studies.paq import conflicts, performance, sensitivity, series

STUDY = Study(
    name="paq",
    title="Physically addressed queueing",
    source="M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania "
    "State University, 2013, chapter 6",
    figures=(performance.figures, conflicts.figures, series.figure, sensitivity.figures),
    published=Numbers("wordline_studies.paq"),
)
