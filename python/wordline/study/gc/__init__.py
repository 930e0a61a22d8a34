"""Jung 2013, chapter 7: garbage collection scheduling."""

from wordline.study.figure import Study
from wordline.study.gc import idleness, responses, traces, views, wear, worst

STUDY = Study(
    name="gc",
    title="Garbage collection scheduling",
    source="M. Jung, Design of a Smart Non-Volatile Memory Controller, PhD thesis, Pennsylvania "
    "State University, 2013, chapter 7",
    figures=(
        idleness.loads,
        views.figures,
        responses.figures,
        worst.figures,
        wear.figures,
        idleness.sections,
        traces.figure,
    ),
)
