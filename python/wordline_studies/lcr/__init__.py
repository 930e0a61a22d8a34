"""Liu et al. 2018: load-aware cache replacement."""

from wordline_studies.figure import Numbers, Study
from wordline_studies.lcr import balance, reasons, responses, sizes, traces, windows

STUDY = Study(
    name="lcr",
    title="Load-aware cache replacement",
    source="C. Liu, M. Lv, Y. Pan, H. Chen, Y. Li, C. Li and Y. Xu, LCR: Load-aware Cache "
    "Replacement Algorithm for Flash-based SSDs, NAS 2018",
    figures=(
        balance.figure,
        responses.figures,
        windows.figure,
        sizes.figures,
        reasons.figure,
        traces.figure,
    ),
    shortened=True,
    published=Numbers("wordline_studies.lcr"),
)
