"""Li et al.: read and write costs, and wear, by the access history of pages."""

from wordline_studies.agcr import costs, extremes, loads, readings, schemes, windows
from wordline_studies.figure import Numbers, Study

STUDY = Study(
    name="agcr",
    title="Access characteristic guided read and write regulation",
    source="Q. Li, L. Shi, C. Gao, Y. Di, C. J. Xue, Access Characteristic Guided Read and Write "
    "Regulation on Flash based Storage Systems",
    figures=(
        costs.figure,
        costs.models,
        costs.storage,
        loads.figures,
        extremes.figures,
        schemes.figures,
        windows.figures,
        readings.figure,
    ),
    published=Numbers("wordline_studies.agcr"),
)
